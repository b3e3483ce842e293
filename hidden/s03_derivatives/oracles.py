"""What the functions of this stage should return: closed forms of the quotients, and derivatives by complex steps.

A complex step needs no rule of differentiation: the imaginary part of f(x + 1e-30 i) is 1e-30 f'(x), to every digit.
"""

from __future__ import annotations

import cmath
import math
import operator
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt

from grader.testing import assert_array

Array = npt.NDArray[Any]

FOUR = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
FAST = 7e4  # sin(7e4 x) turns by 0.7 within a step of 1e-5, so that the quotient shows which step was taken
Build = Callable[..., Any]  # (functions, *numbers) -> number, for numbers of any kind that has the operators

COMPLEX_STEP = 1e-30
CLOSE = 1e-6  # relative tolerance of finite differences, whose rounding is divided by the step


def sine_quotient(k: float, x: Array | float, h: float, method: str = "central") -> Any:
    """Return the difference quotient of sin(k x) by the formula for the difference of two sines."""
    middle = {"forward": x + h / 2, "backward": x - h / 2, "central": x}[method]
    half = h if method == "central" else h / 2
    return np.cos(k * middle) * math.sin(k * half) / half


def waves(weights: Array, coupling: Array, k: float) -> Callable[[Array], Array]:
    """Return f(x) = sum_j weights_ij sin(k x_j) + x^T coupling_i x: a vector, or a number without the leading axis."""

    def f(x: Array) -> Array:
        return np.asarray(np.sin(k * x) @ weights.T + (coupling @ x) @ x)

    return f


def waves_jacobian(weights: Array, coupling: Array, k: float, x: Array, h: float) -> Array:
    """Return what central differences of waves give: those of a quadratic form are exact."""
    return np.asarray(weights * sine_quotient(k, x, h) + (coupling + np.swapaxes(coupling, -1, -2)) @ x)


def bumps(centre: Array, widths: Array) -> tuple[Callable[[Array], float], Callable[[Array], Array]]:
    """Return f(x) = exp(u) with u = sum_i widths_i sin(x_i - centre_i), and its Hessian by hand."""

    def f(x: Array) -> float:
        return float(np.exp((widths * np.sin(x - centre)).sum()))

    def hessian(x: Array) -> Array:
        first, second = widths * np.cos(x - centre), -widths * np.sin(x - centre)
        return np.asarray(f(x) * (np.outer(first, first) + np.diag(second)))

    return f, hessian


COMPLEX = SimpleNamespace(
    sin=cmath.sin,
    cos=cmath.cos,
    exp=cmath.exp,
    log=cmath.log,
    tanh=cmath.tanh,
    relu=lambda x: x if x.real > 0 else 0 * x,
)


def complex_step(build: Build, numbers: Sequence[float]) -> tuple[float, list[float]]:
    """Return the value of build(functions, *numbers), and its derivative by each of the numbers."""
    slopes = []
    for place in range(len(numbers)):
        moved = [complex(x, COMPLEX_STEP if i == place else 0.0) for i, x in enumerate(numbers)]
        result = complex(build(COMPLEX, *moved))
        slopes.append(result.imag / COMPLEX_STEP)
    return result.real, slopes


STEPS: tuple[Build, ...] = (
    lambda f, a, b: a + b,
    lambda f, a, b: a - b,
    lambda f, a, b: 1.5 - a,
    lambda f, a, b: a - 0.25,
    lambda f, a, b: 0.5 + a * 0.75,
    lambda f, a, b: f.tanh(a) * b,
    lambda f, a, b: a / (f.sin(b) + 3),
    lambda f, a, b: 2 / (f.cos(a) + 2.5),
    lambda f, a, b: -a / 4,
    lambda f, a, b: f.exp(f.sin(a)),
    lambda f, a, b: f.log(a * a + 1),
    lambda f, a, b: f.relu(a) + f.relu(-b),
    lambda f, a, b: (f.sin(a) + 2) ** -1.5,
    lambda f, a, b: f.cos(a) ** 3,
    lambda f, a, b: 1.75 ** f.tanh(a),
    lambda f, a, b: (f.cos(b) + 2) ** f.sin(a),
)


def draw_expression(rng: np.random.Generator, num_steps: int) -> Build:
    """Return a random expression of numbers, in which most intermediate results are used more than once."""
    kinds = [int(kind) for kind in rng.choice(len(STEPS), size=num_steps, replace=False)]
    places = [(int(rng.integers(100)), int(rng.integers(100))) for _ in kinds]

    def build(functions: Any, *numbers: Any) -> Any:
        known = list(numbers)
        for kind, (one, other) in zip(kinds, places, strict=True):
            known.append(STEPS[kind](functions, known[-1 - one % min(3, len(known))], known[other % len(known)]))
        total = known[-1] * known[-2]
        for number in numbers:
            total = total + f_of(functions, number)
        return total

    return build


def f_of(functions: Any, number: Any) -> Any:
    """Return a term that uses a number once more, so that no derivative is zero by chance."""
    return functions.sin(number) * 0.5 + number


def draw_numbers(rng: np.random.Generator, count: int) -> list[float]:
    """Return numbers between 0.5 and 2 of either sign."""
    return [float(x) for x in rng.uniform(0.5, 2.0, size=count) * rng.choice([-1, 1], size=count)]


def takes_longer(one: Callable[[], object], other: Callable[[], object], times: int) -> bool:
    """Say whether one() took longer than `times` times other() in each of twenty rounds.

    A busy machine may hold up one() in some of the rounds, but not in all, and holds up other() as well.
    """
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(5):
            other()
        between = time.perf_counter()
        one()
        if time.perf_counter() - between <= times * (between - started) / 5:
            return False
    return True


def assert_number(actual: object, expected: float, **options: Any) -> None:
    """Assert a number in double precision; an int of the right value will do, as the 0 and 1 of micrograd are."""
    __tracebackhide__ = True
    is_whole = isinstance(actual, (int, np.integer)) and not isinstance(actual, bool)
    assert_array(float(actual) if is_whole else actual, expected, dtype="float64", **options)  # type: ignore[arg-type]


def check_variables(learner, build, numbers, name="f"):
    """Compare value and grads of build(functions, *variables) with complex steps; return the variables and the result.

    Rounding in a sum of gradients is of the size of the largest, hence the common absolute tolerance.
    """
    value, slopes = complex_step(build, numbers)
    variables = [learner.Variable(number) for number in numbers]
    result = build(learner, *variables)
    assert_number(result.value, value, name=f"value of {name}", atol=1e-9)
    result.backward()
    for place, (variable, slope) in enumerate(zip(variables, slopes, strict=True)):
        assert_number(variable.grad, slope, name=f"grad of number {place} in {name}", atol=1e-8)
    assert_array(result.grad, 1.0, name=f"grad of {name} itself")
    return variables, result
