"""Pictures of stages s05 to s09: how a model learns from data, and what keeps it honest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from illustrations.canvas import NARROW, Canvas
from illustrations.plots import Axis, Frame, Table, ticks, written
from illustrations.references import reference

CURVATURE = np.array([1.0, 50.0])


def descents() -> list[tuple[str, str, Any]]:
    """Return the paths of three rules down the same valley, each about at the rate that is best for it: (21, 2)."""
    s05 = reference("s05")
    rules = (
        ("descent, rate 0.037", "a", s05.sgd_step, {"learning_rate": 0.037}),
        ("momentum 0.7, rate 0.046", "b", s05.momentum_step, {"learning_rate": 0.046, "momentum": 0.7}),
        ("Adam, rate 0.285", "c", s05.adam_step, {"learning_rate": 0.285}),
    )
    found = []
    for name, ink, rule, hyper in rules:
        params, places = {"x": np.array([-5.0, 1.6])}, [np.array([-5.0, 1.6])]
        state: dict[str, Any] = {}
        for _ in range(20):
            params, state = rule(params, {"x": CURVATURE * params["x"]}, state, **hyper)
            places.append(params["x"])
        found.append((name, ink, np.array(places)))
    return found


def height(place: Any) -> float:
    """Return the function that the rules descend, (x₁² + 50 x₂²) / 2."""
    return float(CURVATURE @ place**2 / 2)


def descent() -> Canvas:
    """Three rules of descent on the same valley, from the same place."""
    canvas = Canvas(536, "Paths of three rules of descent down the same valley", NARROW)
    canvas.text(220, 20, "f(x) = (x₁² + 50 x₂²) / 2")
    for row, (name, ink, path) in enumerate(descents()):
        up = Axis(-2.2, 2.2, ticks(-2, 0, 2), "x₂")
        across = Axis(-5.5, 2, ticks(-4, -2, 0, 2), "x₁" if row == 2 else "")
        frame = Frame(canvas, 44, 60 + row * 156, 382, 110, across, up)
        _contours(frame)
        frame.curve(path[:, 0], path[:, 1], ink)
        frame.points(path[:, 0], path[:, 1], ink, 2.6)
        canvas.text(62, 50 + row * 156, name, ink, 12, "start")
        canvas.text(426, 50 + row * 156, f"f after 20 steps: {height(path[-1]):.2g}", "m", 12, "end")
    return canvas


def _contours(frame: Frame) -> None:
    """Draw the lines of equal height, ellipses about the origin, as far as they lie in the frame."""
    for level in (0.5, 2.0, 6.0, 14.0):
        wide, high = np.sqrt(2 * level / CURVATURE)
        first = np.arccos(min(1.0, frame.across.high / wide))
        angle = np.linspace(first, 2 * np.pi - first, 97)
        frame.curve(wide * np.cos(angle), high * np.sin(angle), "m", 0.8)


def schedules() -> Canvas:
    """Four schedules of the rate, from the same base."""
    s05 = reference("s05")
    canvas = Canvas(408, "Four schedules", NARROW)
    steps = np.arange(0, 50)
    kinds: tuple[tuple[str, dict[str, float]], ...] = (
        ("step_decay", {}),
        ("exponential_decay", {"decay_rate": 0.07}),
        ("cosine_annealing", {"total_steps": 40, "min_rate": 0.1}),
        ("warmup_cosine", {"warmup_steps": 10, "total_steps": 50}),
    )
    for place, (name, hyper) in enumerate(kinds):
        x, y = 36 + 212 * (place % 2), 34 + 186 * (place // 2)
        frame = Frame(canvas, x, y, 176, 120, Axis(0, 50, ticks(0, 20, 40)), Axis(0, 0.9, ticks(0, 0.4, 0.8)), name)
        rates = [getattr(s05, name)(int(step), 0.8, **hyper) for step in steps]
        if place == 0:
            xs, ys = np.repeat(steps, 2)[1:], np.repeat(rates, 2)[:-1]
            frame.curve(xs, ys)
        else:
            frame.curve(steps, rates)
    canvas.text(220, 392, "rate by step: large strides first, small ones last", "m")
    return canvas


def slope_of_a_loss() -> Canvas:
    """The loss of four flats against one weight, and its slope where somebody guessed."""
    s06 = reference("s06")
    X, y = np.array([[3.0, 0], [5, 1], [6, 4], [9, 2]]), np.array([10.0, 15, 21, 25])
    guess, w = 2.0, np.linspace(1.4, 3.1, 69)
    slope = float(s06.mse_gradient(X, y, s06.predict(X, np.array([guess, 1.0]), 3.0))[0][0])
    canvas = Canvas(344, "The loss against one weight", NARROW)
    frame = Frame(
        canvas,
        44,
        34,
        382,
        234,
        Axis(1.4, 3.1, ticks(1.5, 2, 2.5, 3), "w₁, with w₂ = 1 and b = 3"),
        Axis(0, 16, ticks(0, 4, 8, 12, 16), "loss"),
    )
    frame.curve(w, [s06.mse_loss(y, s06.predict(X, np.array([each, 1.0]), 3.0)) for each in w])
    frame.curve(w, 2.5 + slope * (w - guess), "b", 2, "6 4")
    frame.points([guess], [2.5], "b", 6)
    frame.label(1.46, 4.2, "here: loss 2.5", "b", size=13)
    frame.label(1.46, 2.9, f"slope {written(slope)}", "b", size=13)
    start = frame.at(2.0, 0.7)
    canvas.arrow([start, (start[0] + 48, start[1])], "b", 2)
    frame.label(1.96, 0.5, "downhill", "b", "end", 13)
    canvas.text(235, 334, "a negative slope: a larger weight lowers the loss", "m")
    return canvas


def sigmoid_curve() -> Canvas:
    """The sigmoid, with a score and its opposite."""
    s07 = reference("s07")
    z = np.linspace(-6, 6, 121)
    canvas = Canvas(320, "The sigmoid", NARROW)
    frame = Frame(
        canvas,
        44,
        34,
        382,
        210,
        Axis(-6, 6, ticks(-6, -4, -2, 0, 2, 4, 6), "score z"),
        Axis(0, 1, ticks(0, 0.5, 1), "p of class 1"),
    )
    frame.curve(z, s07.sigmoid(z))
    for score, x, y, anchor in ((-2.0, -2.3, 0.2, "end"), (0.0, 0.4, 0.44, "start"), (2.0, 1.8, 0.93, "end")):
        p = float(s07.sigmoid(np.array([score]))[0])
        frame.points([score], [p], "b", 5)
        frame.label(x, y, f"{written(score)}: {written(p, '.2f')}", "b", anchor, 13)
    canvas.text(235, 310, "0.12 + 0.88 = 1: opposite scores, the two classes", "m")
    return canvas


def price() -> Canvas:
    """What cross-entropy charges for the probability of the truth."""
    canvas = Canvas(330, "What a probability of the truth costs", NARROW)
    frame = Frame(
        canvas,
        44,
        34,
        382,
        220,
        Axis(0, 1, ticks(0, 0.25, 0.5, 0.75, 1), "p of the true class"),
        Axis(0, 5, ticks(0, 1, 2, 3, 4, 5), "cost"),
    )
    p = np.linspace(0.006, 1, 200)
    costs = {each: _cost(each) for each in (0.9, 0.5, 1 / 3, 0.1)}
    frame.curve(p, [_cost(each) for each in p])
    for each, cost in costs.items():
        frame.points([each], [cost], "b", 5)
        name = "1/3" if each == 1 / 3 else written(each)
        x, anchor = (1.0, "end") if each == 0.9 else (each + 0.02, "start")
        frame.label(x, cost + 0.22, f"{name}: {written(cost, '.2f')}", "b", anchor, 13)
    canvas.text(220, 318, "sure and right is free, sure and wrong has no limit", "m")
    return canvas


def _cost(p: float) -> float:
    """Return the cross-entropy of one sample of two classes whose true class has a probability."""
    with np.errstate(divide="ignore"):
        logits = np.log(np.array([[p, 1 - p]]))
    return float(reference("s07").cross_entropy(np.maximum(logits, -700), np.array([0])))


def confused() -> Canvas:
    """A confusion matrix: a row gives recall, a column precision."""
    truth, said = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 0, 0])
    matrix = reference("s07").confusion_matrix(truth, said, 3)
    canvas = Canvas(338, "A row gives recall, a column precision", NARROW)
    names = tuple(f"class {label}" for label in range(3))
    table = Table(canvas, 88, 60, 64, matrix, "g", most=4, title="predicted", rows=names, columns=names, tall=48)
    table.mark(0, 0, 1, 3, "b")
    table.mark(0, 0, 3, 1, "d")
    canvas.text(14, 40, "true", anchor="start", bold=True)
    canvas.text(292, 78, "row 0: recall", "b", anchor="start")
    canvas.text(292, 98, f"{matrix[0, 0]} of {matrix[0].sum()} found", "b", anchor="start", size=14)
    canvas.text(88, 232, "column 0: precision", "d", anchor="start")
    canvas.text(88, 252, f"{matrix[0, 0]} of {matrix[:, 0].sum()} are true", "d", anchor="start", size=14)
    canvas.text(14, 292, f"{np.trace(matrix)} of {matrix.sum()} right, but class 2 was never found,", anchor="start")
    canvas.text(14, 312, "and always saying 0 would be right as often.", anchor="start")
    return canvas


def staircase() -> Canvas:
    """The ROC curve of four samples, as a stair, and its area."""
    y, scores = np.array([0, 0, 1, 1]), np.array([0.1, 0.4, 0.35, 0.8])
    area = float(reference("s07").roc_auc(y, scores))
    order = y[np.argsort(-scores)]
    found, alarms = np.append(0, np.cumsum(order) / 2), np.append(0, np.cumsum(1 - order) / 2)
    canvas = Canvas(380, "The ROC curve of four samples", NARROW)
    marks = ticks(0, 0.5, 1)
    frame = Frame(
        canvas,
        60,
        34,
        264,
        264,
        Axis(0, 1, marks, "share of class 0 alarmed"),
        Axis(0, 1, marks, "share of class 1 found"),
    )
    corners = [frame.at(x, up) for x, up in zip(alarms, found, strict=True)]
    canvas.area([*corners, frame.at(1, 0)], "a", 0.25)
    frame.curve([0, 1], [0, 1], "m", 1.2, "4 3")
    canvas.path(corners, "a", 3)
    for (x, up), score in zip(corners[1:], np.sort(scores)[::-1], strict=True):
        canvas.dot(x, up, "b", 5)
        canvas.text(x + 9, up + 16, written(score), "b", 13, "start")
    frame.label(0.5, 0.32, f"area {written(area)}", "a", "middle", 15)
    canvas.text(220, 366, "a threshold falls: up for class 1, right for class 0", "m")
    return canvas


def fitting() -> Canvas:
    """A line that gradient descent fits, after 0, 1, 3 and 60 steps, and the loss."""
    s06 = reference("s06")
    rng = np.random.default_rng(6)
    x = np.linspace(-1.5, 2.5, 14)
    y = 1.0 + 1.5 * x + 0.45 * rng.standard_normal(14)
    canvas = Canvas(540, "A line found by gradient descent, and its loss", NARROW)
    across, up = Axis(-2, 3, ticks(-2, -1, 0, 1, 2, 3), "x"), Axis(-2.5, 6, ticks(-2, 0, 2, 4, 6), "y")
    frame = Frame(canvas, 44, 34, 340, 200, across, up)
    frame.points(x, y, "t", 3)
    ends = np.array([-2.0, 3.0])
    for steps, ink, dash in ((0, "m", "2 3"), (1, "d", "3 3"), (3, "b", "8 4"), (60, "a", "")):
        weights, bias, losses = s06.fit_gradient_descent(x[:, np.newaxis], y, 0.1, steps)
        line = weights[0] * ends + bias
        frame.curve(ends, line, ink, dash=dash)
        canvas.text(392, frame.at(3, line[1])[1] + 4, f"{steps}", ink, 12, "start")
    canvas.text(392, 30, "steps", "m", 12, "start")
    steps_, height = Axis(0, 20, ticks(0, 5, 10, 15, 20), "steps"), Axis(0, 8, ticks(0, 2, 4, 6, 8), "loss")
    loss = Frame(canvas, 44, 318, 340, 170, steps_, height)
    loss.curve(np.arange(21), losses[:21], "a")
    loss.points(np.arange(21), losses[:21], "a", 2.4)
    return canvas


def borders() -> Canvas:
    """Where softmax regression decides for which of three classes."""
    s07 = reference("s07")
    X = np.array([[0.0, 2.0], [0.5, 2.5], [2.0, -1.0], [2.5, -0.5], [-2.0, -1.0], [-1.5, -1.5]])
    y = np.array([0, 0, 1, 1, 2, 2])
    weights, bias, _ = s07.fit_softmax_regression(X, y, 3, 0.5, 50)
    canvas = Canvas(392, "Decision borders of softmax regression with three classes", NARROW)
    across = Axis(-3.5, 3.5, ticks(-3, -2, -1, 0, 1, 2, 3), "x₁")
    frame = Frame(canvas, 44, 34, 382, 250, across, Axis(-2.2, 3.2, ticks(-2, -1, 0, 1, 2, 3), "x₂"))
    frame.regions(lambda points: np.argmax(points @ weights + bias, axis=1), 78, "abc", 0.3)
    for label, ink in enumerate("abc"):
        frame.points(X[y == label, 0], X[y == label, 1], "p", 7.5)
        frame.points(X[y == label, 0], X[y == label, 1], ink, 6)
        x, up = X[y == label].mean(axis=0)
        frame.label(x + 0.45, up + 0.3 if label else up, f"class {label}")
    canvas.text(235, 346, "colour: the class whose logit is the largest", "m")
    canvas.text(235, 370, "a border is a straight line: two logits are equal there", "m", 12)
    return canvas


def scales() -> Canvas:
    """The same five values raw, by min-max and by robust scaling: what one outlier does to the rest."""
    s08 = reference("s08")
    X = np.array([[2.0], [1.0], [9.0], [1.5], [2.5]])
    squeezed, robust = s08.min_max_scale(X)[0][:, 0], s08.robust_scale(X)[0][:, 0]
    canvas = Canvas(284, "One outlier, scaled in two ways", NARROW)
    frame = Frame(canvas, 92, 16, 334, 232, Axis(-1.6, 9.6, ticks(*range(-1, 10))), Axis(0, 232))
    for row, (name, values, ink) in enumerate(
        (("distances", X[:, 0], "t"), ("min-max", squeezed, "a"), ("robust", robust, "c"))
    ):
        y, ordered = 40 + 78 * row, sorted(map(float, values))
        places = [frame.at(value, 0)[0] for value in ordered]
        canvas.text(10, y + 4, name, anchor="start", bold=True)
        canvas.path([(frame.x, y), (frame.x + frame.width, y)], "m", 1)
        for x, mark in zip(places, [ink] * 4 + ["b"], strict=True):
            canvas.dot(x, y, mark, 4.5)
        canvas.path([(places[0], y + 13), (places[3], y + 13)], "t", 1.5)
        words = f"{ordered[0]:.2g} to {ordered[3]:.2g}".replace("-", "−")
        canvas.text((places[0] + places[3]) / 2, y + 30, words, "m", 12)
        canvas.text(places[4], y - 12, f"{ordered[4]:.2g}", "b", 12)
    return canvas


def fences() -> Canvas:
    """Tukey's fences about the middle half of five distances."""
    values = np.array([2.0, 1, 9, 1.5, 2.5])
    outside = reference("s08").detect_outliers_iqr(values[:, None])[:, 0]
    low, high = np.quantile(values, [0.25, 0.75])
    canvas = Canvas(212, "Tukey's fences", NARROW)
    frame = Frame(canvas, 20, 60, 400, 70, Axis(-0.6, 9.6, ticks(0, 2, 4, 6, 8)), Axis(0, 1))
    (left, top), (right, bottom) = frame.at(low, 0.85), frame.at(high, 0.15)
    canvas.rect(left, top, right - left, bottom - top, "a", 0.35)
    for fence in (low - 1.5 * (high - low), high + 1.5 * (high - low)):
        frame.curve([fence, fence], [0, 1], "b", 3)
    for value, far in zip(values, outside, strict=True):
        canvas.dot(*frame.at(value, 0.5), "b" if far else "t", 6 if far else 4.5)
    canvas.text((left + right) / 2, 44, "middle half", "a")
    canvas.text(frame.at(4, 0)[0], 44, "fence", "b")
    canvas.text(frame.at(9, 0)[0], 44, "outlier", "b")
    canvas.text(220, 178, f"width {written(high - low)}; fences 1.5 widths outside, at 0 and 4")
    canvas.text(220, 200, "9 lies beyond the fence", "m")
    return canvas


def padded() -> Canvas:
    """Three sequences padded to one length, and the mask that tells a token 0 from padding."""
    rows = [[5, 3, 0], [7], [8, 9]]
    array, mask = reference("s08").pad_sequences(rows)
    canvas = Canvas(244, "Padding, and the mask that knows it", NARROW)
    names = tuple(str(row) for row in rows)
    table = Table(canvas, 96, 60, 46, array, "g", inks="aa", most=14, title="array", rows=names)
    for i, j in np.argwhere(~mask.astype(bool)):
        x, y = table.corner(i, j)
        canvas.rect(x + 1, y + 1, 44, 44, "g", 0.5)
        canvas.outline(x + 4, y + 4, 38, 38, "m", 1.2, dash="4 3")
    Table(canvas, 274, 60, 46, mask, "g", inks="cc", title="mask")
    canvas.text(220, 226, "the 0 of [5, 3, 0] is a token; dashed ones are padding", "m", 12)
    return canvas


def thresholded() -> Canvas:
    """Soft thresholding: everything moves towards 0 by t, and what is nearer stays there."""
    s09 = reference("s09")
    z = np.linspace(-4, 4, 161)
    canvas = Canvas(340, "Soft thresholding with t = 1", NARROW)
    marks = ticks(-4, -2, 0, 2, 4)
    frame = Frame(canvas, 44, 30, 382, 236, Axis(-4, 4, marks, "z"), Axis(-4, 4, marks))
    frame.curve([-4, 4], [-4, 4], "m", 1.5, "5 4")
    frame.curve(z, s09.soft_threshold(z, 1.0), "a", 3)
    for value, x, y, anchor in ((3.0, 3.15, 1.3, "start"), (-1.5, -1.6, 0.3, "end"), (0.5, 0.5, -1.0, "start")):
        result = float(s09.soft_threshold(np.array([value]), 1.0)[0])
        canvas.arrow([frame.at(value, value), frame.at(value, result + (0.15 if value > 0 else -0.15))], "b", 1.8)
        frame.points([value], [result], "b", 5)
        frame.label(x, y, f"{written(value)} → {written(result)}", "b", anchor, 13)
    canvas.text(235, 326, "flat from −1 to 1: small weights become exactly 0", "m")
    return canvas


def stopped() -> Canvas:
    """Losses of five epochs, the best so far, and where patience ends."""
    losses = [5.0, 3.0, 4.0, 3.5, 1.0]
    stop, best = reference("s09").early_stopping(losses, patience=2)
    canvas = Canvas(330, "Early stopping with patience 2", NARROW)
    frame = Frame(
        canvas, 44, 34, 382, 210, Axis(-0.3, 4.6, ticks(0, 1, 2, 3, 4), "epoch"), Axis(0, 6, ticks(0, 2, 4, 6), "loss")
    )
    frame.curve(range(stop + 1), losses[: stop + 1], "a")
    frame.curve([stop, 4], losses[stop:], "m", 1.5, "3 4")
    frame.curve([0, stop], [losses[best]] * 2, "c", 1.2, "5 3")
    frame.points(range(stop + 1), losses[: stop + 1], "a", 5)
    canvas.ring(*frame.at(4, losses[4]), "m", 5, 2)
    canvas.ring(*frame.at(best, losses[best]), "c", 10, 2.5)
    frame.label(best, 2.1, "best: kept", "c", "middle", 13)
    frame.label(stop, 4.3, "stop", "b", "middle", 14)
    frame.label(4.0, 0.3, "never seen", "m", "middle", 12)
    canvas.text(235, 318, f"two epochs without a better one: the weights of epoch {best}", "m", 12)
    return canvas


def shrinking() -> Canvas:
    """The weights of ridge and lasso against the strength of the penalty."""
    s09 = reference("s09")
    rng = np.random.default_rng(9)
    X = rng.standard_normal((60, 4))
    y = X @ np.array([2.0, -1.2, 0.6, 0.0]) + 0.5 * rng.standard_normal(60)
    alphas = 10.0 ** np.linspace(-1, 4, 41)
    canvas = Canvas(580, "Weights of ridge and lasso against the strength of the penalty", NARROW)
    fits: tuple[tuple[str, Callable[[float], Any]], ...] = (
        ("ridge: all fade together", lambda alpha: s09.fit_ridge(X, y, alpha)[0]),
        ("lasso: one after another reaches 0", lambda alpha: s09.fit_lasso(X, y, alpha, 100)[0]),
    )
    for column, (title, fit) in enumerate(fits):
        grid = alphas if column == 0 else 10.0 ** np.linspace(-2, 0.7, 41)
        weights = np.array([fit(float(alpha)) for alpha in grid])
        decades = (-1, 1, 3) if column == 0 else (-2, -1, 0)
        labels = [(10.0**power, f"{10.0**power:g}") for power in decades]
        across = Axis(float(grid[0]), float(grid[-1]), labels, "alpha", log=True)
        frame = Frame(canvas, 44, 40 + 282 * column, 382, 200, across, Axis(-1.6, 2.4, ticks(-1, 0, 1, 2)), title)
        frame.curve(grid[[0, -1]], [0, 0], "m", 1)
        for feature, (ink, dash) in enumerate((("a", ""), ("b", "8 4"), ("c", "4 3"), ("d", "2 3"))):
            frame.curve(grid, weights[:, feature], ink, dash=dash)
            frame.label(float(grid[1]), float(weights[0, feature]) + 0.1, f"w{'₁₂₃₄'[feature]}", ink)
    return canvas


PICTURES = {
    "s05": {"descent": descent, "schedules": schedules},
    "s06": {"slope": slope_of_a_loss, "fitting": fitting},
    "s07": {"sigmoid": sigmoid_curve, "price": price, "confused": confused, "roc": staircase, "borders": borders},
    "s08": {"scales": scales, "fences": fences, "padded": padded},
    "s09": {"thresholded": thresholded, "shrinking": shrinking, "stopped": stopped},
}
