"""Stage 6: a line through points, the way down to it, and what more features do to fit and test error."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Known, Reading, Step
from grader.explore.values import Unfit, agree, array, bounded, fall, listing, number, scalar, several, told

SAMPLES, NOISE = 40, 0.25
RATE, ITERATIONS, LOOKS = 0.4, 60, 30
DEGREES = (1, 2, 3, 4, 5, 6, 8, 10, 12)
SHOWN = (1, 3, 12)
GRID = np.linspace(-1, 1, 121)
SHARE = 0.3  # of the samples, to test with
NEAR = 1.1  # times the least loss, where gradient descent should end
GIVEN = f"{SAMPLES} samples of one feature, along a bent curve"


def start(example: None, seed: int) -> Known:
    """Return one feature, (SAMPLES, 1), and targets along a bent curve with noise."""
    rng = np.random.default_rng(seed=seed)
    X = rng.uniform(-1, 1, (SAMPLES, 1))
    y = np.sin(2.5 * X[:, 0]) + 0.5 * X[:, 0] + NOISE * rng.standard_normal(SAMPLES)
    return {"X": X, "y": y, "seed": seed}


def mean_square(y: Array, predicted: Array) -> float:
    return float(((y - predicted) ** 2).mean())


def _model(returned: object, count: int) -> tuple[Array, float]:
    first, second = several(returned, ("weights", "bias"))
    weights = bounded(array(first, (count,), ("features",), name="weights"), "weights", 1e8)
    return weights, scalar(second, "bias", most=1e8)


def _line(learner: Any, known: Known) -> Reading:
    X, y = known["X"], known["y"]
    weights, bias = _model(learner.normal_equation(X, y), 1)
    predicted = bounded(array(learner.predict(X, weights, bias), y.shape, ("samples",), name="predict"))
    wrong = []
    if not agree(X @ weights + bias, predicted):
        wrong.append("predict should give X weights + bias")
    left = y - predicted
    if abs(left.mean()) > 1e-6 or abs((left * X[:, 0]).mean()) > 1e-6:
        wrong.append("at the least loss, what is left has mean 0 and nothing to do with the feature")
    return Reading(
        {"line": (weights, bias), "predicted": predicted},
        weights.shape,
        ("features",),
        (told("weight and bias", (*weights, bias)),),
        tuple(wrong),
    )


def _loss(learner: Any, known: Known) -> Reading:
    X, y, predicted = known["X"], known["y"], known["predicted"]
    loss = scalar(learner.mse_loss(y, predicted), "mse_loss")
    score = scalar(learner.r2_score(y, predicted), "r2_score")
    grad, slope = _model(learner.mse_gradient(X, y, np.zeros_like(y)), 1)
    wrong = []
    if abs(loss - mean_square(y, predicted)) > 1e-9:
        wrong.append(f"the mean of the squared errors is {number(mean_square(y, predicted))}, not {number(loss)}")
    if abs(score - (1 - loss / y.var())) > 1e-6:
        wrong.append("r2_score should be the share of the variance that is explained")
    if not np.allclose((*grad, slope), (-2 * (X[:, 0] * y).mean(), -2 * y.mean()), rtol=1e-6):
        wrong.append("the gradient at weights 0 should be -2 mean(x y) and -2 mean(y)")
    return Reading(
        {"least": loss},
        None,
        (),
        (told("loss", (loss,)), told("R²", (score,)), told("gradient at 0", (*grad, slope))),
        tuple(wrong),
    )


def _descent(learner: Any, known: Known) -> Reading:
    X, y = known["X"], known["y"]
    path = []
    for count in range(LOOKS + 1):
        first, second, _ = several(learner.fit_gradient_descent(X, y, RATE, count), ("weights", "bias", "losses"))
        path.append((*_model((first, second), 1)[0], scalar(second, "bias")))
    last = several(learner.fit_gradient_descent(X, y, RATE, ITERATIONS), ("weights", "bias", "losses"))[2]
    losses = listing(last, ITERATIONS + 1, "losses")
    wrong = []
    if (np.diff(losses) > 1e-12).any():
        wrong.append("with steps this small no step should raise the loss")
    elif losses[-1] > NEAR * known["least"]:
        wrong.append(f"it should end near the least loss {number(known['least'])}, not at {number(losses[-1])}")
    return Reading({"path": np.array(path), "losses": losses}, None, (), (fall("loss", losses),), tuple(wrong))


def _degrees(learner: Any, known: Known) -> Reading:
    X, y = known["X"], known["y"]
    names = ("X_train", "X_test", "y_train", "y_test")
    parts = several(learner.train_test_split(X, y, SHARE, np.random.default_rng(known["seed"])), names)
    test = round(SHARE * SAMPLES)
    sizes = (SAMPLES - test, test)
    found = [array(part, (size, 1), name=name) for part, size, name in zip(parts[:2], sizes, names[:2], strict=True)]
    targets = [array(part, (size,), name=name) for part, size, name in zip(parts[2:], sizes, names[2:], strict=True)]
    rows_now = np.concatenate([np.column_stack([a, b]) for a, b in zip(found, targets, strict=True)])
    if not np.allclose(
        rows_now[np.lexsort(rows_now.T)], np.column_stack([X, y])[np.lexsort(np.column_stack([X, y]).T)]
    ):
        raise Unfit("every sample should be in one of the parts, once, with its own target")
    errors: list[list[float]] = []
    curves: dict[int, Array] = {}
    for degree in DEGREES:
        made = [_features(learner, each, degree) for each in (*found, GRID[:, None])]
        mean, std = _standard(learner, made[0])
        scaled = [(each - mean) / std for each in made]
        weights, bias = _model(learner.normal_equation(scaled[0], targets[0]), degree)
        errors.append(
            [mean_square(target, each @ weights + bias) for target, each in zip(targets, scaled, strict=False)]
        )
        if degree in SHOWN:
            curves[degree] = bounded(scaled[2] @ weights + bias, "the curve")
    table = bounded(np.array(errors), "the test error")
    values = {"errors": table, "curves": curves, "split": (found, targets)}
    train = table[:, 0]
    wrong = () if (np.diff(train) < 1e-6).all() else ("more features never fit the training samples worse",)
    return Reading(values, None, (), (fall("training error", train), told("test error", table[:, 1])), wrong)


def _features(learner: Any, X: Array, degree: int) -> Array:
    made = bounded(
        array(
            learner.polynomial_features(X, degree), (len(X), degree), ("samples", "features"), name=f"degree {degree}"
        )
    )
    if not agree(X ** np.arange(1, degree + 1), made):
        raise Unfit(f"degree {degree}: of one feature x the new ones are x, x², x³ …, in this order")
    return made


def _standard(learner: Any, X: Array) -> tuple[Array, Array]:
    count = X.shape[1]
    Z, mean, std = several(learner.standardize(X), ("Z", "mean", "std"))
    made = bounded(array(Z, X.shape, name="Z"))
    if np.abs(made.mean(axis=0)).max() > 1e-6 or np.abs(made.std(axis=0) - 1).max() > 1e-6:
        raise Unfit("standardize: each feature should have mean 0 and standard deviation 1 afterwards")
    spread = bounded(array(std, (count,), name="std"))
    if spread.min() <= 0:
        raise Unfit("std: a number above 0 was expected for each feature")
    return bounded(array(mean, (count,), name="mean")), spread


STEPS = (
    Step("line", "A line", "The model of least squared error, in one step.",
         (Call("line", "normal_equation(X, y), predict(X, weights, bias)", "normal_equation", (), _line),)),
    Step("loss", "Loss and gradient", "How bad a line is, and which way is better.",
         (Call("least", "mse_loss, r2_score, mse_gradient", "mse_loss", ("line",), _loss),)),
    Step("descent", "Gradient descent", "The same line, found step by step.",
         (Call("losses", f"fit_gradient_descent(X, y, {RATE:g}, n)", "fit_gradient_descent", ("least",), _descent),)),
    Step("degrees", "More features", "Powers of x bend the line; samples held back show what that is worth.",
         (Call("errors", "polynomial_features, standardize, train_test_split", "polynomial_features", (), _degrees),)),
)  # fmt: skip
