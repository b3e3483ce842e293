"""The interface of stage tests: assertions whose messages a learner understands, and finite differences."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.course.stage import Tolerance
from grader.diagnosis.comparison import Difference, compare, compare_shape, describe
from grader.diagnosis.comparison.difference import Array, mutation
from grader.diagnosis.comparison.exact import inequality, likeness
from grader.diagnosis.comparison.wording import KIND_NAMES, NUMPY_SCALARS, SCALARS, Shape
from grader.sandbox.proxies import peak_memory as peak_memory
from grader.sandbox.values import Blank

EXPECTED_TYPES = {np.ndarray, list, tuple} | SCALARS | NUMPY_SCALARS
GRADIENT, SINGLE_GRADIENT = (1e-5, 1e-7), (1e-2, 1e-5)  # relative tolerance, and the least absolute one
DOUBLE_EPSILON, SINGLE_EPSILON = float(np.finfo(np.float64).eps), float(np.finfo(np.float32).eps)
MASK_SIZE = 1e6

_tolerance = Tolerance()


def configure(tolerance: Tolerance) -> None:
    """Use a stage's tolerances from here on; the pytest plugin calls this before a stage's tests."""
    global _tolerance  # one stage at a time is graded in a process
    _tolerance = tolerance


class Mismatch(AssertionError):
    """A value that a learner returned is not the expected one: name says which value, difference how.

    difference is None where no arrays were compared; actual is the value itself.
    """

    def __init__(
        self, message: str, name: str = "result", difference: Difference | None = None, actual: object = None
    ) -> None:
        super().__init__(message)
        self.name = name
        self.difference = difference
        self.actual = actual


def assert_array(
    actual: object,
    expected: object,
    *,
    name: str = "result",
    terms: float = 1,
    rtol: float | None = None,
    atol: float | None = None,
    dtype: object = None,
    equal_nan: bool = False,
    axes: str | None = None,
) -> None:
    """Assert that actual is expected, an array or a number, within what rounding allows.

    terms is how many numbers are added up for one value, since rounding grows with it; rtol and atol replace the
    tolerance that follows from the stage and the dtypes; axes names expected's axes, as in "batch seq d_model".
    Raises Mismatch; TypeError or ValueError if expected itself will not do, which is no fault of a learner's.
    """
    __tracebackhide__ = True
    if _is_blank(actual, expected):
        return
    right = _expected_array(expected, equal_nan)
    rtol = _default_rtol(actual, right, terms) if rtol is None else rtol
    atol = rtol * _scale(right) if atol is None else atol
    _refuse(compare(actual, right, rtol, atol, equal_nan, axes.split() if axes else None, dtype), name, actual)


def _is_blank(*values: object) -> bool:
    """Say whether answers are left out: the grader looks what a test asks without knowing any."""
    return any(type(value) is Blank for value in values)


def _refuse(difference: Difference | None, name: str, actual: object) -> None:
    __tracebackhide__ = True
    if difference is not None:
        raise Mismatch(("" if name == "result" else f"{name}: ") + describe(difference), name, difference, actual)


def _expected_array(expected: object, equal_nan: bool = False) -> Array:
    """expected as a plain array; lists of numbers will do, as literals in tests are."""
    if type(expected) not in EXPECTED_TYPES:
        raise TypeError(f"expected is a {type(expected).__name__}; give a plain array, a number or a list of numbers")
    try:
        array = np.asarray(expected)
    except ValueError as error:
        raise TypeError(f"expected is a ragged list: {error}") from error
    if array.dtype.kind not in KIND_NAMES:
        raise TypeError(f"expected has dtype {array.dtype}; only bool, integer, floating and complex can be compared")
    if array.dtype.kind in "fc" and not equal_nan and np.isnan(array).any():
        raise ValueError("expected holds NaN, which equals nothing: it comes of NaN, or needs equal_nan=True")
    return array


def _default_rtol(actual: object, expected: Array, terms: float) -> float:
    """The stage's tolerance for the less precise dtype, at least eight roundings a term; 0 for integers and bool.

    A learner's own choice of dtype widens it to that of float32 at most.
    """
    if expected.dtype.kind not in "fc":
        return 0.0
    dtypes = [expected.dtype]
    found = _dtype_of(actual)
    if found is not None and found.kind in "fc":  # no coarser than float32: half precision would hide what is wrong
        dtypes.append(found if np.finfo(found).eps <= SINGLE_EPSILON else np.dtype(np.float32))
    epsilon = max(float(np.finfo(dtype).eps) for dtype in dtypes)
    stage = _tolerance.float64 if epsilon <= DOUBLE_EPSILON else _tolerance.float32
    return max(stage, 8 * epsilon * terms)


def _dtype_of(actual: object) -> np.dtype[Any] | None:
    """The dtype of a plain array or of one of NumPy's numbers; a subclass may say what it likes."""
    plain = type(actual) is np.ndarray or type(actual) in NUMPY_SCALARS
    return actual.dtype if plain else None  # type: ignore[attr-defined]  # both have one


def _scale(expected: Array) -> float:
    """The size of expected's values, for the absolute tolerance; 1 if all are zero.

    Mask values such as -1e9, a millionfold of everything else, do not count: a tolerance of their size hides all else.
    """
    with np.errstate(all="ignore"):
        sizes = np.abs(expected.astype(np.float64) if expected.dtype.kind in "biu" else expected)
        sizes = sizes[np.isfinite(sizes)]
        largest = float(sizes.max(initial=0.0))
        if largest >= MASK_SIZE:
            rest = float(sizes[sizes < largest / 2].max(initial=0.0))
            largest = rest if 0 < rest * MASK_SIZE < largest else largest
    return largest or 1.0


def assert_shape(actual: object, shape: tuple[int, ...], *, name: str = "result", axes: str | None = None) -> None:
    """Assert that actual is a plain array of that shape (or a number, where shape is ())."""
    __tracebackhide__ = True
    if not _is_blank(actual):
        _refuse(compare_shape(actual, tuple(shape), axes.split() if axes else None), name, actual)


def plain_array(value: Any, *, name: str = "result") -> Any:
    """Return a learner's value that is a plain array or a number, to calculate with; raises Mismatch for any other."""
    __tracebackhide__ = True
    if _is_blank(value):
        return value
    is_number = type(value) in SCALARS or type(value) in NUMPY_SCALARS
    shape = value.shape if type(value) is np.ndarray else () if is_number else (1,)
    _refuse(compare_shape(value, shape), name, value)
    return value


def numerical_gradient(f: Callable[[Array], object], x: Array, h: float = 1e-6) -> NDArray[np.float64]:
    """The gradient of scalar f at x by central differences in float64, (f(x + h) - f(x - h)) / 2h an element.

    h grows with an element above 1. f gets a fresh array of x's shape each time, so x is left as it was.
    Raises Mismatch if f returns no single number.

    >>> numerical_gradient(lambda x: (x**2).sum(), np.array([1.0, 3.0])).round(6)
    array([2., 6.])
    """
    start = np.array(x, dtype=np.float64)
    gradient = np.zeros_like(start)
    for index in np.ndindex(start.shape):
        above, below = start.copy(), start.copy()
        step = h * max(1.0, abs(float(start[index])))
        above[index] += step
        below[index] -= step
        width = above[index] - below[index]  # twice the step, as rounded
        gradient[index] = (_number(f(above)) - _number(f(below))) / width
    return gradient


def _number(value: object) -> float:
    if not _is_blank(value):
        _refuse(compare_shape(value, ()), "f(x)", value)
    return float(value)  # type: ignore[arg-type]  # a single number, as was seen above


def assert_gradient(actual: object, numerical: object, *, name: str) -> None:
    """Assert that actual agrees with finite differences: within 1e-5 of the largest value, 1e-2 for float32.

    Both zero counts as agreement: finite differences of a constant are rounding noise, up to 1e-7.
    """
    __tracebackhide__ = True
    if _is_blank(actual, numerical):
        return None
    right = _expected_array(numerical).astype(np.float64)
    dtype = _dtype_of(actual)
    single = dtype is not None and dtype.kind == "f" and dtype.itemsize == 4
    rtol, least = SINGLE_GRADIENT if single else GRADIENT
    difference = compare(actual, right, rtol, max(rtol * _scale(right), least), equal_nan=False)
    if difference is None or difference.kind != "values":
        return _refuse(difference, name, actual)
    lead = f"{name}: relative error {difference.relative:.1e} against finite differences, at most {rtol:.0e} is allowed"
    raise Mismatch(f"{lead}\n{describe(replace(difference, first=None))}", name, difference, actual)


@contextmanager
def unchanged(*arrays: Array) -> Iterator[None]:
    """Assert that the arrays hold the same bytes, dtype and shape after the block as before it.

    One that is not is called by the name that it has around the block.
    """
    __tracebackhide__ = True
    before = [(array.copy(), array.shape, array.dtype) for array in map(_plain_array, arrays)]
    frame = sys._getframe(2)  # past contextlib
    around = {**frame.f_globals, **frame.f_locals}
    unknown = "the argument" if len(arrays) == 1 else "one of the arguments"
    names = [next((name for name, value in around.items() if value is array), unknown) for array in arrays]
    yield
    for name, array, (copy, shape, dtype) in zip(names, arrays, before, strict=True):
        change = mutation(array, copy, shape, dtype)
        if change:
            raise Mismatch(f"{name} was changed in place: {change}", name, actual=array)


def _plain_array(value: object) -> Array:
    if not isinstance(value, np.ndarray):
        raise TypeError(f"unchanged takes arrays, not a {type(value).__name__}")
    return value


def assert_equal(actual: object, expected: object, *, name: str = "result") -> None:
    """Assert that actual is exactly expected: numbers, text, None, lists and tuples (alike), dicts, sets, arrays.

    NumPy's single numbers count as Python's; True is not 1 and 1.0 is not 1.
    """
    __tracebackhide__ = True
    if _is_blank(actual, expected):
        return
    try:
        found = inequality(actual, expected, name)
    except RecursionError:
        raise Mismatch(f"{name} contains itself, or is nested too deeply to be compared", name) from None
    if found is not None:
        prefix = "" if found.path == "result" else f"{found.path}: "
        raise Mismatch(f"{prefix}{found.text}", found.path, found.difference, actual)


def assert_differ(
    one: object, other: object, *, shape: Shape, name: str, dtype: object = float, everywhere: bool = False
) -> None:
    """Assert that two answers are plain arrays of that shape, of finite numbers of dtype's kind, and that they differ.

    One value that differs is enough; with everywhere, each must. name says which two, as in "W1 of two new layers".
    """
    __tracebackhide__ = True
    if _is_blank(one, other):
        return
    found = likeness(one, other, tuple(shape), dtype, everywhere)
    if found is not None:
        raise Mismatch(f"{name}: {found.text}", name, found.difference, found.actual)
