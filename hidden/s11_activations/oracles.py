"""What the functions of this stage should return: textbook formulas in arithmetic of a hundred decimal digits.

With so many digits and exponents nothing overflows and nothing cancels, and a central difference with a step of 1e-30
gives a slope that is right to far more than float64's digits, without any derivative worked out by hand.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array

Array = npt.NDArray[Any]

DIGITS = decimal.Context(prec=100, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
STEP = Decimal("1e-30")
PI = Decimal(
    "3.14159265358979323846264338327950288419716939937510"
    "58209749445923078164062862089986280348253421170680"
)  # fmt: skip
NAMES = ("relu", "leaky_relu", "elu", "tanh", "softplus", "swish", "gelu", "mish")
SMOOTH = ("tanh", "softplus", "swish", "gelu", "mish")
BOTH = tuple(name + ending for name in NAMES for ending in ("", "_derivative"))


def _sigmoid(z: Decimal) -> Decimal:
    return 1 / (1 + (-z).exp())


def _tanh(z: Decimal) -> Decimal:
    return ((2 * z).exp() - 1) / ((2 * z).exp() + 1)


def _softplus(z: Decimal) -> Decimal:
    return (1 + z.exp()).ln()


def _erf(x: Decimal) -> Decimal:
    """Return 2/sqrt(pi) exp(-x^2) times the sum of 2^n x^(2n+1) / (1 3 5 ... (2n+1)); beyond 15 that is 1."""
    if abs(x) > 15:
        return Decimal(1).copy_sign(x)
    term, total, n = x, x, 1
    while abs(term) > Decimal("1e-110"):
        term *= 2 * x * x / (2 * n + 1)
        total += term
        n += 1
    return 2 / PI.sqrt() * (-x * x).exp() * total


def _gelu_tanh(z: Decimal) -> Decimal:
    return z / 2 * (1 + _tanh((2 / PI).sqrt() * (z + Decimal("0.044715") * z**3)))


_CURVES: dict[str, Callable[..., Decimal]] = {
    "relu": lambda z: max(z, Decimal(0)),
    "leaky_relu": lambda z, alpha=0.01: z if z > 0 else Decimal(alpha) * z,
    "elu": lambda z, alpha=1.0: z if z > 0 else Decimal(alpha) * (z.exp() - 1),
    "tanh": _tanh,
    "softplus": _softplus,
    "swish": lambda z, beta=1.0: z * _sigmoid(Decimal(beta) * z),
    "gelu": lambda z: z * (1 + _erf(z / Decimal(2).sqrt())) / 2,
    "gelu_tanh": _gelu_tanh,
    "mish": lambda z: z * _tanh(_softplus(z)),
}


def expected(name: str, z: Array | float, **hyper: float) -> Array:
    """Return what a function or a derivative of this stage (or gelu_tanh and its derivative) is for each entry of z."""
    values = np.asarray(z, dtype=np.float64)
    result = np.zeros(values.shape)
    curve = _CURVES[name.removesuffix("_derivative")]
    with decimal.localcontext(DIGITS):
        for index in np.ndindex(values.shape):
            at = Decimal(float(values[index]))
            if name.endswith("_derivative"):
                result[index] = float((curve(at + STEP, **hyper) - curve(at - STEP, **hyper)) / (2 * STEP))
            else:
                result[index] = float(curve(at, **hyper))
    return result


def forms(name: str, z: Array | float, **hyper: float) -> list[Array]:
    """Return every right answer: one, but two for gelu, by erf and by its approximation."""
    names = [name, name.replace("gelu", "gelu_tanh")] if name.startswith("gelu") else [name]
    return [expected(each, z, **hyper) for each in names]


def nearest(actual: object, answers: list[Array]) -> Array:
    """Return the answer that actual comes nearest to; the first where it is no array of that shape."""
    if len(answers) == 1 or not isinstance(actual, (np.ndarray, np.generic, float, int)):
        return answers[0]
    values = np.asarray(actual)
    if values.shape != answers[0].shape or values.dtype.kind not in "fiu":
        return answers[0]
    with np.errstate(all="ignore"):
        return min(answers, key=lambda each: float(np.abs(values - each).max(initial=0.0)))


def assert_curve(
    actual: object, name: str, z: Array | float, *, atol: float | None = None, dtype: object = None, **hyper: float
) -> None:
    """Assert that actual is what the function called name gives for z, in any of its right forms."""
    __tracebackhide__ = True
    assert_array(actual, nearest(actual, forms(name, z, **hyper)), name=name, atol=atol, dtype=dtype)


def as_floats(values: Any) -> Any:
    """Return an array (or number) of integers as floats, anything else as it is, where not the dtype is asked for."""
    is_whole = isinstance(values, (np.ndarray, np.generic)) and values.dtype.kind in "iu"
    return values.astype(np.float64) if is_whole else values


def draw_points(rng: np.random.Generator, size: int = 16) -> Array:
    """Return points of both signs up to 6, none nearer to 0 than 0.05, in random order."""
    sizes = rng.uniform(0.05, 6.0, size)
    return sizes * rng.permutation(np.resize([-1.0, 1.0], size))


def draw_samples(rng: np.random.Generator, num_samples: int, num_features: int) -> Array:
    """Return whole eighths from -4 to 4: their products and sums are exact in whatever order they are taken."""
    return rng.integers(-32, 33, (num_samples, num_features)) / 8


def predict(X: Array, weights: list[float], bias: float) -> list[int]:
    """Return the class of each sample, one product after the other."""
    sums = [sum(x * w for x, w in zip(sample, weights, strict=True)) + bias for sample in X.tolist()]
    return [1 if total > 0 else 0 for total in sums]


def train(X: Array, y: list[int], rate: float, num_epochs: int) -> tuple[list[float], float, list[int]]:
    """Return (weights, bias, errors) of Rosenblatt's rule, told as cases: too low, too high, right."""
    weights, bias, errors = [0.0] * X.shape[1], 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X.tolist(), y, strict=True):
            answer = predict(np.array([sample]), weights, bias)[0]
            if answer != label:
                step = rate if label == 1 else -rate
                weights = [w + step * x for w, x in zip(weights, sample, strict=True)]
                bias += step
                errors[-1] += 1
    return weights, bias, errors
