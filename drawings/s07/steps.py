"""Stage 7: probabilities from scores, what they cost, and the borders that softmax regression draws."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.explore.model import Array, Call, Fact, Known, Reading, Step
from grader.explore.values import agree, array, bounded, fall, listing, number, scalar, several, span, told

Z = np.linspace(-6, 6, 121)
CLASSES, EACH = 3, 40
CENTRES = np.array([[-1.6, -0.8], [1.6, -0.9], [0.1, 1.7]])
LEAN = np.array([[1.3, 0.55], [0.0, 0.4]])  # clouds are longer than wide, and lean
RATE, ITERATIONS = 0.5, 150
GRID = np.linspace(-4, 4, 49)
LOOKS = (1, 10, ITERATIONS)
ENOUGH = 0.8  # of the samples right at the end
SLACK = 1e-6
GIVEN = f"{CLASSES} classes of {EACH} points in the plane"


def start(example: None, seed: int) -> Known:
    """Return three clouds of points, (CLASSES * EACH, 2), and their classes."""
    rng = np.random.default_rng(seed=seed)
    y = np.repeat(np.arange(CLASSES), EACH)
    return {"X": CENTRES[y] + rng.standard_normal((len(y), 2)) @ LEAN, "y": y, "seed": seed}


def _curve(learner: Any, known: Known) -> Reading:
    found = bounded(array(learner.sigmoid(Z), Z.shape, ("points",)))
    ends = array(learner.sigmoid(np.array([-1000.0, 1000.0])), (2,), name="at -1000 and 1000")
    wrong = []
    if not agree(found + found[::-1], np.ones_like(found)):
        wrong.append("sigmoid(z) and sigmoid(-z) should add up to 1")
    if (np.diff(found) <= 0).any():
        wrong.append("it should rise everywhere")
    return Reading(
        {"sigmoid": found}, Z.shape, ("points",), (span(found), told("at -1000 and 1000", ends)), tuple(wrong)
    )


def _costs(learner: Any, known: Known) -> Reading:
    values = {}
    for target in (1, 0):
        costs = [scalar(learner.binary_cross_entropy(np.array([z]), np.array([target])), f"target {target}") for z in Z]
        values[target] = np.array(costs)
    wrong = []
    if abs(values[1][len(Z) // 2] - np.log(2)) > SLACK:
        wrong.append("without any preference, at logit 0, it costs log 2 = 0.693")
    if (np.diff(values[1]) > 0).any() or (np.diff(values[0]) < 0).any():
        wrong.append("the surer of what is right, the less it should cost")
    return Reading({"costs": values}, None, (), (span(values[1], "target 1"),), tuple(wrong))


def _shares(learner: Any, known: Known) -> Reading:
    logits = np.stack([Z, np.zeros_like(Z), -Z], axis=1)
    found = bounded(array(learner.softmax(logits), logits.shape, ("samples", "classes")))
    logs = bounded(array(learner.log_softmax(logits), logits.shape, ("samples", "classes"), name="log_softmax"))
    wrong = []
    off = np.abs(found.sum(axis=1) - 1)
    if off.max() > SLACK:
        row = int(off.argmax())
        wrong.append(f"probabilities should sum to 1, row {row} sums to {number(float(found[row].sum()))}")
    elif not agree(np.exp(logs), found):
        wrong.append("exp of log_softmax should be softmax")
    facts = (span(found), told("rows' sums", (found.sum(axis=1).min(), found.sum(axis=1).max())))
    return Reading({"softmax": found}, logits.shape, ("samples", "classes"), facts, tuple(wrong))


def _fit(learner: Any, known: Known, count: int) -> tuple[Array, Array, object]:
    names = ("weights", "bias", "losses")
    first, second, losses = several(learner.fit_softmax_regression(known["X"], known["y"], CLASSES, RATE, count), names)
    weights = bounded(array(first, (2, CLASSES), ("features", "classes"), name="weights"), "weights", 1e6)
    return weights, bounded(array(second, (CLASSES,), ("classes",), name="bias"), "bias", 1e6), losses


def _trained(learner: Any, known: Known) -> Reading:
    x, y = np.meshgrid(GRID, GRID)
    grid = np.stack([x.ravel(), y.ravel()], axis=1)
    borders = {}
    for count in LOOKS:
        weights, bias, told_losses = _fit(learner, known, count)
        borders[count] = (grid @ weights + bias).argmax(axis=1).reshape(x.shape)
    losses = listing(told_losses, ITERATIONS + 1, "losses")
    logits = known["X"] @ weights + bias
    wrong = []
    if abs(losses[0] - np.log(CLASSES)) > SLACK:
        wrong.append(
            f"from zeros the first loss is log {CLASSES} = {number(float(np.log(CLASSES)))}, not {number(losses[0])}"
        )
    if not losses[-1] < losses[0]:
        wrong.append(f"the loss should fall: it was {number(losses[0])}, then {number(losses[-1])}")
    elif (logits.argmax(axis=1) == known["y"]).mean() < ENOUGH:
        wrong.append("more of the samples should be right by now")
    values = {"borders": borders, "losses": losses, "logits": logits, "weights": weights}
    return Reading(values, weights.shape, ("features", "classes"), (fall("loss", losses),), tuple(wrong))


def _entropy(learner: Any, known: Known) -> Reading:
    logits, y = known["logits"], known["y"]
    loss = scalar(learner.cross_entropy(logits, y), "loss")
    grad = bounded(
        array(learner.cross_entropy_gradient(logits, y), logits.shape, ("samples", "classes"), name="gradient")
    )
    wrong = []
    if abs(loss - known["losses"][-1]) > 1e-6 * max(1.0, abs(loss)):
        wrong.append(f"it should be the last loss of the fit, {number(known['losses'][-1])}, not {number(loss)}")
    if np.abs(grad.sum(axis=1)).max() > SLACK:
        wrong.append("each row of the gradient should sum to 0: what one class gains the others lose")
    return Reading({}, None, (), (told("loss", (loss,)), span(grad, "gradient")), tuple(wrong))


def _judged(learner: Any, known: Known) -> Reading:
    y, guess = known["y"], known["logits"].argmax(axis=1)
    right = scalar(learner.accuracy(y, guess), "accuracy")
    table = bounded(array(learner.confusion_matrix(y, guess, CLASSES), (CLASSES, CLASSES), ("true", "predicted")))
    parts = several(learner.precision_recall_f1(y, guess, "macro"), ("precision", "recall", "f1"))
    values = [scalar(part, name) for part, name in zip(parts, ("precision", "recall", "f1"), strict=True)]
    area = scalar(learner.roc_auc((y == 0).astype(int), known["logits"][:, 0]), "roc_auc")
    wrong = []
    if table.sum() != len(y) or not np.array_equal(table.sum(axis=1), np.bincount(y)):
        wrong.append(f"each row of the confusion matrix should sum to its class's {EACH} samples")
    elif abs(np.trace(table) / len(y) - right) > SLACK:
        wrong.append("the diagonal of the confusion matrix, as a share, should be the accuracy")
    if not all(0 <= value <= 1 for value in (*values, area)):
        wrong.append("precision, recall, f1 and the area are shares, from 0 to 1")
    facts = (
        Fact("accuracy", (right,), f"accuracy {right:.3f}"),
        told("precision, recall, f1", values), told("area under the curve, class 1", (area,)),
    )  # fmt: skip
    return Reading({"table": table}, table.shape, ("true", "predicted"), facts, tuple(wrong))


FIT, LOSS = "fit_softmax_regression", "cross_entropy"
STEPS = (
    Step("sigmoid", "Two classes", "A score becomes a probability, and a probability a cost.", (
        Call("sigmoid", "sigmoid(z)", "sigmoid", (), _curve),
        Call("costs", "binary_cross_entropy(z, target)", "binary_cross_entropy", (), _costs),
    )),
    Step("softmax", "Several classes", "Scores become shares: the highest takes most.",
         (Call("softmax", "softmax(z), log_softmax(z)", "softmax", (), _shares),)),
    Step("fit", "Softmax regression", "Weights move until the true classes get large shares.", (
        Call("losses", f"{FIT}(X, y, {CLASSES}, {RATE}, n)", FIT, (), _trained),
        Call("entropy", f"{LOSS}(logits, y), and its gradient", LOSS, ("losses",), _entropy),
    )),
    Step("judging", "Judging", "What is right, what is taken for what, and how well scores rank.",
         (Call("table", "accuracy, confusion_matrix, precision_recall_f1, roc_auc", "confusion_matrix", ("losses",),
               _judged),)),
)  # fmt: skip
