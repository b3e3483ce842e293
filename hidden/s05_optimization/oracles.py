"""What the functions of this stage should return, worked out entry by entry from sums over all gradients so far."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array, assert_equal

Array = npt.NDArray[Any]
Arrays = dict[str, Array]

SHAPES = {"weights": (3, 4), "bias": (4,), "table": (2, 3, 2)}
PLACES = ("outside", "inside", "before")  # of eps: sqrt(s/q) + eps, sqrt(s/q + eps), (sqrt(s) + eps) / sqrt(q)


def blended(share: float, weight: float, values: Sequence[float]) -> float:
    """Return what v <- share * v + weight * value, begun at 0, is after all values."""
    return math.fsum(weight * value * share ** (len(values) - 1 - i) for i, value in enumerate(values))


def scale_of(square: float, correction: float, eps: float, place: str) -> float:
    """Return what a gradient is divided by, for a (running) sum of squares and the place of eps."""
    if place == "inside":
        return math.sqrt(square / correction + eps)
    if place == "before":
        return (math.sqrt(square) + eps) / math.sqrt(correction)
    return math.sqrt(square / correction) + eps


def sgd(seen: Sequence[float], place: str, learning_rate: float = 0.01) -> float:
    """Return how far an entry moves down in the last step, from its gradients so far; likewise below."""
    return learning_rate * seen[-1]


def momentum(seen: Sequence[float], place: str, learning_rate: float = 0.01, momentum: float = 0.9) -> float:
    return learning_rate * blended(momentum, 1, seen)


def nesterov(seen: Sequence[float], place: str, learning_rate: float = 0.01, momentum: float = 0.9) -> float:
    return learning_rate * (seen[-1] + momentum * blended(momentum, 1, seen))


def adagrad(seen: Sequence[float], place: str, learning_rate: float = 0.01, eps: float = 1e-8) -> float:
    return learning_rate * seen[-1] / scale_of(math.fsum(g * g for g in seen), 1, eps, place)


def rmsprop(
    seen: Sequence[float], place: str, learning_rate: float = 0.01, decay: float = 0.9, eps: float = 1e-8
) -> float:
    square = blended(decay, 1 - decay, [g * g for g in seen])
    return learning_rate * seen[-1] / scale_of(square, 1, eps, place)


def adam(
    seen: Sequence[float],
    place: str,
    learning_rate: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    eps: float = 1e-8,
) -> float:
    mean = blended(beta1, 1 - beta1, seen) / (1 - beta1 ** len(seen))
    square = blended(beta2, 1 - beta2, [g * g for g in seen])
    return learning_rate * mean / scale_of(square, 1 - beta2 ** len(seen), eps, place)


@dataclass(frozen=True)
class Rule:
    """One update rule: its row, the least and largest of each hyperparameter, and what makes it converge."""

    row: str
    change: Callable[..., float]
    ranges: dict[str, tuple[float, float]]
    converges: dict[str, float]
    rtol: float | None = None  # of the rules with eps: it accepts each of the three places
    decays: bool = False

    @property
    def name(self) -> str:
        return f"{self.row}_step"

    def path(
        self, params: Arrays, gradients: Sequence[Arrays], place: str = "outside", **hyper: float
    ) -> Iterator[Arrays]:
        """Yield params, in float64, after each of the gradients."""
        decay = hyper.pop("weight_decay", 0.01) if self.decays else 0.0
        shrink = 1 - decay * hyper.get("learning_rate", 0.001)
        params = {name: value.astype(np.float64) for name, value in params.items()}
        for count in range(1, len(gradients) + 1):
            after = {}
            for name, value in params.items():
                after[name] = np.empty(value.shape)
                for place_in in np.ndindex(value.shape):
                    seen = [float(grads[name][place_in]) for grads in gradients[:count]]
                    after[name][place_in] = value[place_in] * shrink - self.change(seen, place, **hyper)
            yield after
            params = after

    def draw(self, rng: np.random.Generator) -> dict[str, float]:
        """Draw hyperparameters."""
        return {name: float(rng.uniform(*bounds)) for name, bounds in self.ranges.items()}


RATE, SHARE, EPS = (0.05, 0.3), (0.5, 0.95), 1e-5
RULES = (
    Rule("sgd", sgd, {"learning_rate": RATE}, {"learning_rate": 0.2}),
    Rule("momentum", momentum, {"learning_rate": RATE, "momentum": SHARE}, {"learning_rate": 0.1, "momentum": 0.6}),
    Rule("nesterov", nesterov, {"learning_rate": RATE, "momentum": SHARE}, {"learning_rate": 0.1, "momentum": 0.6}),
    Rule("adagrad", adagrad, {"learning_rate": RATE}, {"learning_rate": 0.7}, EPS),
    Rule("rmsprop", rmsprop, {"learning_rate": RATE, "decay": SHARE}, {"learning_rate": 0.06}, EPS),
    Rule(
        "adam", adam, {"learning_rate": RATE, "beta1": (0.5, 0.8), "beta2": (0.85, 0.95)}, {"learning_rate": 0.15}, EPS
    ),
    Rule(
        "adamw",
        adam,
        {"learning_rate": RATE, "beta1": (0.5, 0.8), "beta2": (0.85, 0.95), "weight_decay": (0.2, 0.8)},
        {"learning_rate": 0.15, "weight_decay": 0.001},
        EPS,
        decays=True,
    ),
)


def draw_arrays(rng: np.random.Generator, dtype: Any = np.float64) -> Arrays:
    """Draw an array of each of SHAPES, each value between 1/4 and 4 in size and of either sign."""
    return {
        name: (rng.choice([-1.0, 1.0], shape) * 2 ** rng.uniform(-2, 2, shape)).astype(dtype)
        for name, shape in SHAPES.items()
    }


def unpack(result: object, *names: str) -> Any:
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def assert_arrays(actual: object, expected: Arrays, name: str, **options: Any) -> None:
    """Assert that actual is a dict of the arrays that are expected."""
    __tracebackhide__ = True
    if not isinstance(actual, dict):
        raise AssertionError(f"{name}: expected a dict of arrays, got one {type(actual).__name__}")
    assert_equal(sorted(map(str, actual)), sorted(expected), name=f"the names in {name}")
    for key, value in expected.items():
        assert_array(actual[key], value, name=f"{name}[{key!r}]", **options)


def clipped(grads: Arrays, max_norm: float) -> tuple[Arrays, float]:
    """Return gradients scaled down together to max_norm, and their common length, each entry a Python number."""
    entries = [abs(float(entry)) for value in grads.values() for entry in value.flat]
    norm = math.hypot(*entries)
    share = max_norm / norm if norm > max_norm else 1.0
    return {name: value.astype(np.float64) * share for name, value in grads.items()}, norm


def line_search(
    f: Callable[[Array], float], slope: float, x: Array, direction: Array, step: float, shrink: float, c: float
) -> tuple[float, float]:
    """Return the step size that is enough, and by how much the closest decision was made."""
    margin = math.inf
    while True:
        gap = f(x) + c * step * slope - f(x + step * direction)
        margin = min(margin, abs(gap))
        if gap >= 0:
            return step, margin
        step *= shrink
