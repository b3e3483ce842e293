"""What the functions of this stage should return: textbook formulas in sixty decimal digits, and counting by hand.

With so many digits and exponents the plain formulas neither overflow nor lose anything next to a 1. Shares are counted
one sample, or one pair of samples, after the other as fractions of whole numbers.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Iterable, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

DIGITS = decimal.Context(prec=60, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def _probability(z: float) -> Decimal:
    return 1 / (1 + (-Decimal(z)).exp())


def _probabilities(logits: Iterable[float]) -> list[Decimal]:
    powers = [Decimal(z).exp() for z in logits]
    return [power / sum(powers) for power in powers]


def sigmoid(z: Array | float) -> Array:
    """Return the probability of each logit."""
    values = np.asarray(z, dtype=np.float64)
    result = np.zeros(values.shape)
    with decimal.localcontext(DIGITS):
        for index in np.ndindex(values.shape):
            result[index] = float(_probability(float(values[index])))
    return result


def softmax(z: Array, axis: int = -1, logarithm: bool = False) -> Array:
    """Return the probabilities, or their logarithms, along an axis."""
    rows = np.moveaxis(np.asarray(z, dtype=np.float64), axis, -1)
    result = np.zeros(rows.shape)
    with decimal.localcontext(DIGITS):
        for index in np.ndindex(rows.shape[:-1]):
            found = _probabilities(rows[index].tolist())
            result[index] = [float(p.ln() if logarithm else p) for p in found]
    return np.moveaxis(result, -1, axis)


def binary_loss(logits: Array, targets: Array) -> float:
    """Return the mean of -log of the probability of the true class, of two."""
    with decimal.localcontext(DIGITS):
        losses = [
            -(_probability(float(z)) if target else _probability(-float(z))).ln()
            for z, target in zip(logits, targets, strict=True)
        ]
        return float(sum(losses, Decimal(0)) / len(losses))


def binary_gradient(logits: Array, targets: Array) -> Array:
    """Return the slope of binary_loss along each logit."""
    with decimal.localcontext(DIGITS):
        slopes = [_probability(float(z)) - (1 if target else 0) for z, target in zip(logits, targets, strict=True)]
        return np.array([float(slope / len(slopes)) for slope in slopes])


def loss(logits: Array, targets: Array) -> float:
    """Return the mean of -log of the probability of the true class, of several."""
    with decimal.localcontext(DIGITS):
        losses = [
            -_probabilities(row)[target].ln()
            for row, target in zip(logits.astype(float).tolist(), targets.tolist(), strict=True)
        ]
        return float(sum(losses, Decimal(0)) / len(losses))


def gradient(logits: Array, targets: Array) -> Array:
    """Return the slope of loss along each logit."""
    result = softmax(logits)
    for sample, target in enumerate(targets.tolist()):
        result[sample, target] = -sum(p for column, p in enumerate(result[sample].tolist()) if column != target)
    return result / len(result)


def accuracy(y_true: Array, y_pred: Array) -> float:
    """Return how many of the pairs are of equal classes."""
    pairs = list(zip(y_true.tolist(), y_pred.tolist(), strict=True))
    return float(Fraction(sum(1 for true, predicted in pairs if true == predicted), len(pairs)))


def confusion(y_true: Array, y_pred: Array, num_classes: int) -> Array:
    """Return the counts, each cell looked up by itself."""
    pairs = list(zip(y_true.tolist(), y_pred.tolist(), strict=True))
    return np.array([[pairs.count((row, column)) for column in range(num_classes)] for row in range(num_classes)])


def _quotient(part: Fraction | int, whole: Fraction | int) -> Fraction:
    return Fraction(part) / Fraction(whole) if whole else Fraction(0)


def _three(hits: int, num_given: int, num_has: int) -> tuple[Fraction, Fraction, Fraction]:
    precision, recall = _quotient(hits, num_given), _quotient(hits, num_has)
    return precision, recall, _quotient(2 * precision * recall, precision + recall)


def precision_recall_f1(y_true: Array, y_pred: Array, average: str) -> list[float]:
    """Return the three, from the positions of each class."""
    truth, guess = y_true.tolist(), y_pred.tolist()
    counts = []
    for each in sorted(set(truth) | set(guess)):
        has = {place for place, value in enumerate(truth) if value == each}
        given = {place for place, value in enumerate(guess) if value == each}
        counts.append((len(has & given), len(given), len(has)))
    if average == "micro":
        counts = [(sum(c[0] for c in counts), sum(c[1] for c in counts), sum(c[2] for c in counts))]
    results = [_three(*count) for count in counts]
    return [float(sum((result[k] for result in results), Fraction(0)) / len(results)) for k in range(3)]


def roc_auc(y_true: Array, scores: Array) -> float:
    """Return the share of won pairs, half of the drawn ones included."""
    positive = [score for label, score in zip(y_true.tolist(), scores.tolist(), strict=True) if label == 1]
    negative = [score for label, score in zip(y_true.tolist(), scores.tolist(), strict=True) if label == 0]
    halves = sum(2 if high > low else 1 if high == low else 0 for high in positive for low in negative)
    return float(Fraction(halves, 2 * len(positive) * len(negative)))


def fit(
    X: Array, y: Array, num_classes: int, rate: float, num_iterations: int
) -> tuple[list[list[float]], list[float], list[float]]:
    """Return (weights, bias, losses), every sum written out; for logits of moderate size."""
    samples, labels = X.tolist(), y.tolist()
    weights, bias = [[0.0] * num_classes for _ in samples[0]], [0.0] * num_classes
    losses = [_step(samples, labels, weights, bias, 0.0)]
    for _ in range(num_iterations):
        _step(samples, labels, weights, bias, rate)
        losses.append(_step(samples, labels, weights, bias, 0.0))
    return weights, bias, losses


def _step(
    samples: Sequence[Sequence[float]],
    labels: Sequence[int],
    weights: list[list[float]],
    bias: list[float],
    rate: float,
) -> float:
    """Take one step and return the loss before it."""
    num_samples, total, changes = len(samples), 0.0, []
    for sample, label in zip(samples, labels, strict=True):
        logits = [b + sum(x * row[k] for x, row in zip(sample, weights, strict=True)) for k, b in enumerate(bias)]
        powers = [math.exp(z) for z in logits]
        total -= math.log(powers[label] / sum(powers))
        changes.append([power / sum(powers) - (k == label) for k, power in enumerate(powers)])
    for sample, change in zip(samples, changes, strict=True):
        for k, each in enumerate(change):
            bias[k] -= rate * each / num_samples
            for x, row in zip(sample, weights, strict=True):
                row[k] -= rate * each * x / num_samples
    return total / num_samples


def draw_logits(rng: np.random.Generator, *shape: int) -> Array:
    """Return logits of both signs up to 5, where no exponential is large."""
    return rng.uniform(-5, 5, shape)


def draw_classes(rng: np.random.Generator, num_samples: int, num_classes: int) -> Array:
    """Return classes in random order, of which each occurs, as there are samples enough."""
    return rng.permutation(np.append(np.arange(num_classes), rng.integers(0, num_classes, num_samples - num_classes)))


def unpack(result: object, *names: str) -> Sequence[Any]:
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result
