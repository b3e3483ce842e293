"""Pictures of stages s05 to s09: how a model learns from data, and what keeps it honest."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from illustrations.canvas import Canvas
from illustrations.plots import Axis, Frame, ticks
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
    canvas = Canvas(560, "Paths of three rules of descent down the same valley")
    canvas.text(520, 54, "f(x) = (x₁² + 50 x₂²) / 2", size=12, anchor="start")
    for row, (name, ink, path) in enumerate(descents()):
        up = Axis(-2.2, 2.2, ticks(-2, 0, 2), "x₂")
        across = Axis(-5.5, 2, ticks(-4, -2, 0, 2), "x₁" if row == 2 else "")
        frame = Frame(canvas, 60, 34 + row * 166, 440, 126, across, up)
        _contours(frame)
        frame.curve(path[:, 0], path[:, 1], ink)
        frame.points(path[:, 0], path[:, 1], ink, 2.6)
        canvas.text(520, 84 + row * 166, name, ink, anchor="start")
        canvas.text(520, 104 + row * 166, f"f after 20 steps: {height(path[-1]):.2g}", "m", 12, "start")
    return canvas


def _contours(frame: Frame) -> None:
    """Draw the lines of equal height, ellipses about the origin, as far as they lie in the frame."""
    for level in (0.5, 2.0, 6.0, 14.0):
        wide, high = np.sqrt(2 * level / CURVATURE)
        first = np.arccos(min(1.0, frame.across.high / wide))
        angle = np.linspace(first, 2 * np.pi - first, 97)
        frame.curve(wide * np.cos(angle), high * np.sin(angle), "m", 0.8)


def fitting() -> Canvas:
    """A line that gradient descent fits, after 0, 1, 3 and 60 steps, and the loss."""
    s06 = reference("s06")
    rng = np.random.default_rng(6)
    x = np.linspace(-1.5, 2.5, 14)
    y = 1.0 + 1.5 * x + 0.45 * rng.standard_normal(14)
    canvas = Canvas(290, "A line found by gradient descent, and its loss")
    frame = Frame(
        canvas, 56, 34, 330, 200, Axis(-2, 3, ticks(-2, -1, 0, 1, 2, 3), "x"), Axis(-2.5, 6, ticks(-2, 0, 2, 4, 6), "y")
    )
    frame.points(x, y, "t", 3)
    ends = np.array([-2.0, 3.0])
    for steps, ink, dash in ((0, "m", "2 3"), (1, "d", "3 3"), (3, "b", "8 4"), (60, "a", "")):
        weights, bias, losses = s06.fit_gradient_descent(x[:, np.newaxis], y, 0.1, steps)
        line = weights[0] * ends + bias
        frame.curve(ends, line, ink, dash=dash)
        canvas.text(394, frame.at(3, line[1])[1] + 4, f"{steps}", ink, 12, "start")
    canvas.text(394, 34, "steps", "m", 12, "start")
    loss = Frame(
        canvas,
        488,
        34,
        206,
        200,
        Axis(0, 20, ticks(0, 5, 10, 15, 20), "steps"),
        Axis(0, 8, ticks(0, 2, 4, 6, 8), "loss"),
    )
    loss.curve(np.arange(21), losses[:21], "a")
    loss.points(np.arange(21), losses[:21], "a", 2.4)
    return canvas


def borders() -> Canvas:
    """Where softmax regression decides for which of three classes."""
    s07 = reference("s07")
    X = np.array([[0.0, 2.0], [0.5, 2.5], [2.0, -1.0], [2.5, -0.5], [-2.0, -1.0], [-1.5, -1.5]])
    y = np.array([0, 0, 1, 1, 2, 2])
    weights, bias, _ = s07.fit_softmax_regression(X, y, 3, 0.5, 50)
    canvas = Canvas(310, "Decision borders of softmax regression with three classes")
    frame = Frame(
        canvas,
        60,
        34,
        400,
        224,
        Axis(-3.5, 3.5, ticks(-3, -2, -1, 0, 1, 2, 3), "x₁"),
        Axis(-2.2, 3.2, ticks(-2, -1, 0, 1, 2, 3), "x₂"),
    )
    frame.regions(lambda points: np.argmax(points @ weights + bias, axis=1), 78, "abc")
    for label, ink in enumerate("abc"):
        frame.points(X[y == label, 0], X[y == label, 1], ink, 6)
        x, up = X[y == label].mean(axis=0)
        frame.label(x + 0.45, up + 0.3 if label else up, f"class {label}")
    canvas.text(482, 70, "colour: the class whose", anchor="start")
    canvas.text(482, 88, "logit is the largest", anchor="start")
    canvas.text(482, 122, "Each border is a straight line:", "m", 12, "start")
    canvas.text(482, 139, "two logits are equal there.", "m", 12, "start")
    return canvas


def scales() -> Canvas:
    """The same five values raw, by min-max and by robust scaling: what one outlier does to the rest."""
    s08 = reference("s08")
    X = np.array([[2.0], [1.0], [9.0], [1.5], [2.5]])
    squeezed, robust = s08.min_max_scale(X)[0][:, 0], s08.robust_scale(X)[0][:, 0]
    canvas = Canvas(284, "One outlier, scaled in two ways")
    frame = Frame(canvas, 116, 16, 580, 232, Axis(-1.6, 9.6, ticks(*range(-1, 10))), Axis(0, 232))
    for row, (name, values, ink) in enumerate(
        (("distances", X[:, 0], "t"), ("min-max", squeezed, "a"), ("robust", robust, "c"))
    ):
        y, ordered = 40 + 78 * row, sorted(map(float, values))
        places = [frame.at(value, 0)[0] for value in ordered]
        canvas.text(20, y + 4, name, anchor="start", bold=True)
        canvas.path([(frame.x, y), (frame.x + frame.width, y)], "m", 1)
        for x, mark in zip(places, [ink] * 4 + ["b"], strict=True):
            canvas.dot(x, y, mark, 4.5)
        canvas.path([(places[0], y + 13), (places[3], y + 13)], "t", 1.5)
        words = f"{ordered[0]:.2g} to {ordered[3]:.2g}".replace("-", "−")
        canvas.text((places[0] + places[3]) / 2, y + 30, words, "m", 12)
        canvas.text(places[4], y + 30, f"{ordered[4]:.2g}", "b", 12)
    return canvas


def shrinking() -> Canvas:
    """The weights of ridge and lasso against the strength of the penalty."""
    s09 = reference("s09")
    rng = np.random.default_rng(9)
    X = rng.standard_normal((60, 4))
    y = X @ np.array([2.0, -1.2, 0.6, 0.0]) + 0.5 * rng.standard_normal(60)
    alphas = 10.0 ** np.linspace(-1, 4, 41)
    canvas = Canvas(300, "Weights of ridge and lasso against the strength of the penalty")
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
        frame = Frame(canvas, 50 + 340 * column, 44, 290, 200, across, Axis(-1.6, 2.4, ticks(-1, 0, 1, 2)), title)
        frame.curve(grid[[0, -1]], [0, 0], "m", 1)
        for feature, (ink, dash) in enumerate((("a", ""), ("b", "8 4"), ("c", "4 3"), ("d", "2 3"))):
            frame.curve(grid, weights[:, feature], ink, dash=dash)
            frame.label(float(grid[1]), float(weights[0, feature]) + 0.1, f"w{'₁₂₃₄'[feature]}", ink)
    return canvas


PICTURES = {
    "s05": {"descent": descent},
    "s06": {"fitting": fitting},
    "s07": {"borders": borders},
    "s08": {"scales": scales},
    "s09": {"shrinking": shrinking},
}
