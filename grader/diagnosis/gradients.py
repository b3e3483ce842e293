"""The gradients of the first backward pass of a test that went wrong, beside those of the reference."""

from __future__ import annotations

import inspect
import math
import re
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grader.course.stage import Stage
from grader.course.table import together
from grader.diagnosis.calls import parameter_names
from grader.diagnosis.comparison.wording import number_pair
from grader.diagnosis.replay import Replay, same_array, usable
from grader.outcome import Finding, Gradient
from grader.sandbox.record import Name, Record

LARGEST_COMPARED = 2_000_000  # values of an array that is compared
MOST = 12  # gradients that are told of
NAME = 40  # characters
CLOSE = 1e-5  # relative: as near as a factor has to be to the number that it is called
LARGEST_SIZE = 1 << 20  # of a size that a factor is named by
MOST_NAMES = 4  # past that a name says nothing
MOST_RECORDS = 60
BACKWARD = re.compile(r"(^|_)backward$|_gradient$|^gradient$")
ALL_KEPT = re.compile(r"^(get_)?grad(s|ient|ients)?$")  # an attribute or method that gives gradients
KEPT = re.compile(rf"{ALL_KEPT.pattern}|^grad(ient)?_\w+$")
DEEPEST = 3  # containers in one another
_PREFIX = re.compile(r"^(grad(ient)?_|d_)")
_NAMED = re.compile(r"\(\s*([A-Za-z_]\w*(?:\s*,\s*[A-Za-z_]\w*)+)\s*\)")
Array = NDArray[Any]
Found = tuple[Finding, str]
LARGEST = 200_000  # values of an array that is looked at for more than its shape
LEAST = 3  # values that differ from 0, below which agreement may be chance
RELATIVE = 1e-4
SIGN, NOTHING = "the sign is wrong: got = −expected", "all values are 0: no gradient arrives here"


@dataclass(frozen=True)
class _Test:
    """What a failing test asked of a learner's module, the stage, and the module of the reference."""

    stage: Stage
    module: types.ModuleType
    records: list[Record]
    names: dict[str, Name]


def gradients(
    stage: Stage,
    module: types.ModuleType,
    records: list[Record],
    names: dict[str, Name],
    criterion: str,
) -> tuple[Gradient, ...]:
    """Return the gradients of the first backward pass that is wrong in a test about gradients; else none.

    They are what the call returned, and what was read of its object before the next one. module is a right one.
    """
    functions = next((each.functions for each in stage.criteria if each.id == criterion), ())
    if not is_about_gradients(functions) or not any(map(is_backward, records)) or not usable(records):
        return ()
    test = _Test(stage, module, records, names)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        for call, group in _passes(test):
            found = _told(group, test, call)
            if any(each.finding for each in found):
                return found
    return ()


def _passes(test: _Test) -> Iterator[tuple[Record, list[Pair]]]:
    """Yield each backward call with the values that belong to it."""
    replay = Replay(test.module, test.stage, test.names, False)
    call: Record | None = None
    group: list[Pair] = []
    for place, record in enumerate(test.records):
        outcome = replay.perform(record)
        if outcome is None or outcome[1] is not None:
            break
        if is_backward(record):
            if call is not None:
                yield call, group
            call, group = record, []
        if record.error is None and (record is call or (call is not None and reads_gradients(record))):
            group += pairs(record, outcome[0], test.module, test.records[:place])
    if call is not None:
        yield call, group


def _told(group: list[Pair], test: _Test, call: Record) -> tuple[Gradient, ...]:
    known = {each.name: each for each in group if _is_number(each.expected)}
    right = {name: np.asarray(each.expected, dtype=np.float64) for name, each in known.items()}
    sizes = sizes_of(test.records, test.stage, test.module)
    told: list[Gradient] = []
    for name, each in known.items():
        others = {other: value for other, value in right.items() if other != name}
        given = Given(others, sizes, _incoming(call, test))
        told.append(_compared(each, given, test.stage))
    if len(told) > MOST:
        told.sort(key=lambda gradient: not gradient.finding)
    return tuple(told[:MOST])


def _compared(pair: Pair, given: Given, stage: Stage) -> Gradient:
    expected = np.asarray(pair.expected, dtype=np.float64)
    name, of = pair.name[:NAME], pair.of[:NAME]
    if not _is_number(pair.got):
        nothing = f"a {type(pair.got).__name__} came back, not an array of numbers"
        return Gradient(name, of, (), expected.shape, None, finding="shape", text=nothing)
    got = np.asarray(pair.got, dtype=np.float64)
    told = Gradient(name, of, got.shape, expected.shape, None)
    if same_array(pair.got, pair.expected, stage.tolerance, exact=False):
        return replace(told, relative=_worst(got, expected)[1])
    kind, text = finding(got, expected, given)
    told = replace(told, finding=kind, text=text)
    if got.shape != expected.shape or not got.size:
        return told
    index, relative = _worst(got, expected)
    shown = number_pair(float(expected[index]), float(got[index]))
    return replace(told, relative=relative, index=index, expected=shown[0], got=shown[1])


def _worst(got: Array, expected: Array) -> tuple[tuple[int, ...], float | None]:
    """Return where two arrays of one shape differ most, and the error there over the largest value in either."""
    if got.shape != expected.shape or not got.size:
        return (), None
    error = np.abs(got - expected)
    error = np.where(np.isfinite(error), error, np.inf)
    index = tuple(int(i) for i in np.unravel_index(int(error.argmax()), error.shape))
    scale = max(float(np.abs(each[np.isfinite(each)]).max(initial=0.0)) for each in (got, expected))
    worst = float(error[index])
    return index, (worst / scale if scale else worst) if np.isfinite(worst) else None


def _incoming(call: Record, test: _Test) -> tuple[str, ...]:
    """Return the names of the axes of the gradient that a backward call was given."""
    names = parameter_names(test.module, call.label)
    return test.stage.axes.get(call.label, {}).get(names[0], ()) if names else ()


def _is_number(value: object) -> bool:
    """Say whether a value is an array, or a single one, of real numbers that can be compared in time."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.dtype.kind in "fiu" and value.size <= LARGEST_COMPARED
    return type(value) in (int, float)


def named(factor: float, sizes: Mapping[str, int]) -> str:
    """Return in words which sizes give a factor; empty where none does.

    >>> named(0.25, {"batch": 4, "seq": 6}), named(6**0.5, {"batch": 4, "seq": 6}), named(0.3, {"batch": 4})
    ('1/batch', '√seq', '')
    """
    found = [name for name, value in _candidates(sizes) if math.isclose(factor, value, rel_tol=CLOSE)]
    return " or ".join(dict.fromkeys(found)) if len(found) <= MOST_NAMES else ""


def _candidates(sizes: Mapping[str, int]) -> Iterator[tuple[str, float]]:
    for name, length in sizes.items():
        if length > 1:
            shown = f"({name})" if "/" in name else name
            yield from ((name, length), (f"1/{shown}", 1 / length))
            yield from ((f"√{shown}", length**0.5), (f"1/√{shown}", length**-0.5))


def sizes_of(records: list[Record], stage: Stage, module: types.ModuleType) -> dict[str, int]:
    """Return the sizes that a test's calls name: axes of arguments, whole numbers, and quotients of the two.

    A name that stands for several sizes in one test says nothing, and is left out.
    """
    seen: dict[str, set[int]] = {}
    numbers: dict[str, set[int]] = {}
    for record in records[:MOST_RECORDS]:
        axes = stage.axes.get(record.label, {})
        names = parameter_names(module, record.label) if record.kind == "call" else []
        given = [*zip(names, record.args, strict=False), *record.kwargs.items()]
        for name, value in given:
            if isinstance(value, np.ndarray) and len(axes.get(name, ())) == value.ndim:
                for axis, size in zip(axes[name], value.shape, strict=True):
                    seen.setdefault(axis, set()).add(size)
            elif type(value) is int and 1 < value <= LARGEST_SIZE:
                numbers.setdefault(name, set()).add(value)
    sizes = {name: next(iter(found)) for name, found in (numbers | seen).items() if len(found) == 1}
    whole = {name: next(iter(found)) for name, found in numbers.items() if len(found) == 1}
    parts = {
        f"{name}/{other}": sizes[name] // count
        for name in seen
        for other, count in whole.items()
        if name in sizes and name != other and sizes[name] % count == 0 and sizes[name] > count
    }
    return sizes | parts


@dataclass(frozen=True)
class Pair:
    """One value that a backward pass gave, beside the reference's; of is what it is the gradient of, where known."""

    name: str
    of: str
    got: Any
    expected: Any


def is_about_gradients(functions: tuple[str, ...]) -> bool:
    """Say whether a criterion is about gradients, by the names of its functions.

    >>> is_about_gradients(("Dense.backward", "Dense")), is_about_gradients(("backward_elimination",))
    (True, False)
    """
    last = [name.rpartition(".")[2] for name in functions]
    return any(BACKWARD.search(name) or ALL_KEPT.search(name) for name in last)


def is_backward(record: Record) -> bool:
    """Say whether a request runs a backward pass or computes a gradient."""
    return record.kind == "call" and bool(BACKWARD.search(record.label.rpartition(".")[2]))


def reads_gradients(record: Record) -> bool:
    """Say whether a request reads gradients that an earlier one left behind."""
    last = record.label.rpartition(".")[2]
    return record.kind in ("getattr", "call") and bool(KEPT.search(last)) and not is_backward(record)


def pairs(record: Record, local: Any, module: types.ModuleType, earlier: list[Record]) -> Iterator[Pair]:
    """Yield what one request gave beside the reference's answer, each array by its name."""
    if is_backward(record):
        yield from _returned(record, local, module, earlier)
        return
    name = record.label.rpartition(".")[2]
    yield from _parts(name, "" if isinstance(local, dict) else _belongs(name), record.result, local)


def _returned(record: Record, local: Any, module: types.ModuleType, earlier: list[Record]) -> Iterator[Pair]:
    if not isinstance(local, tuple):
        of = _only_input(record, local, module, earlier)
        yield from _parts(f"grad_{of}" if of else "result", of, record.result, local)
        return
    if not isinstance(record.result, (tuple, list)) or len(record.result) != len(local):
        return
    names = documented(_target(module, record.label), len(local))
    for name, got, expected in zip(names, record.result, local, strict=True):
        yield from _parts(name, _belongs(name), got, expected)


def _parts(name: str, of: str, got: Any, expected: Any, depth: int = 0) -> Iterator[Pair]:
    """Yield a value, or those of a dict by their keys; what has no counterpart is left out."""
    if isinstance(expected, dict):
        if not isinstance(got, dict) or depth == DEEPEST:
            return
        for key, value in expected.items():
            if key in got:
                yield from _parts(f"{name}[{key!r}]", str(key), got[key], value, depth + 1)
    elif isinstance(expected, (tuple, list)):
        if isinstance(got, (tuple, list)) and len(got) == len(expected) and depth < DEEPEST:
            for place, each in enumerate(zip(got, expected, strict=True)):
                yield from _parts(f"{name}[{place}]", of, *each, depth + 1)
    else:
        yield Pair(name, of, got, expected)


def documented(target: Any, count: int) -> list[str]:
    """Return the names of what a function returns, from its docstring; where it names none, their places.

    >>> def backward(grad_output, cache):
    ...     "Return (grad_x, grad_W) of the last call."
    >>> documented(backward, 2), documented(backward, 3)
    (['grad_x', 'grad_W'], ['result[0]', 'result[1]', 'result[2]'])
    """
    for found in _NAMED.finditer(inspect.getdoc(target) or ""):
        names = [name.strip() for name in found[1].split(",")]
        if len(names) == count and all(_PREFIX.match(name) for name in names):
            return names
    return [f"result[{place}]" for place in range(count)]


def _belongs(name: str) -> str:
    """Return what a gradient is of by its name, as grad_W is of W; empty where the name does not say."""
    return _PREFIX.sub("", name) if _PREFIX.match(name) else ""


def _target(module: types.ModuleType, label: str) -> Any:
    target: Any = module
    for part in label.split("."):
        target = getattr(target, part, None)
    return target


def _only_input(record: Record, local: Any, module: types.ModuleType, earlier: list[Record]) -> str:
    """Return the first argument of the forward call before a backward one, where the gradient has its shape.

    A single gradient is that of what comes first: the others are parameters, and kept apart.
    """
    owner, dot, last = record.label.rpartition(".")
    stem = last.removesuffix("_backward")
    forwards = (
        {f"{owner}{dot}forward"} if last == "backward" else {f"{owner}{dot}{stem}", f"{owner}{dot}{stem}_forward"}
    )
    call = next((each for each in reversed(earlier) if each.kind == "call" and each.label in forwards), None)
    first = call.args[0] if call is not None and call.args else None
    names = parameter_names(module, call.label) if call is not None else []
    alike = isinstance(first, np.ndarray) and isinstance(local, np.ndarray) and first.shape == local.shape
    return names[0] if alike and names else ""


@dataclass(frozen=True)
class Given:
    """What an error is held against: the right values of the other gradients, sizes by name, names of axes.

    A factor is named by the sizes; the axes are those of the gradient that came in.
    """

    others: Mapping[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    axes: tuple[str, ...] = ()


def finding(got: Array, expected: Array, given: Given) -> Found:
    """Return what the error of a gradient looks like, and that in words; the kind alone where nothing is known.

    >>> right = np.array([[1.0, 2.0], [3.0, 4.0]])
    >>> finding(right / 5, right, Given(sizes={"batch": 5}))
    ('factor', 'got = 0.2 × expected; 0.2 is 1/batch')
    """
    kind: Finding = "values" if got.shape == expected.shape else "shape"
    strange = int((~np.isfinite(got)).sum())
    if strange:
        return "non-finite", f"{strange} of {got.size} values {'is' if strange == 1 else 'are'} NaN or infinite"
    if got.size and not got.any() and expected.any():
        return "zeros", NOTHING
    if max(got.size, expected.size) > LARGEST:
        return kind, ""
    found = list(
        _same_shape(got, expected, given.sizes) if kind == "values" else _other_shape(got, expected, given.axes)
    )
    found += [
        ("swapped", f"these are the right values of {name}") for name in given.others if _alike(got, given.others[name])
    ]
    return _the_one(found) if found else (kind, "")


def _the_one(found: list[Found]) -> Found:
    """Return the first of what an error may look like; of which axis a sum is, only where no other will do."""
    kind, text = found[0]
    if kind in ("missing-sum", "extra-sum") and len({said for each, said in found if each == kind}) > 1:
        return kind, f"a sum over an axis is {'missing' if kind == 'missing-sum' else 'too many'}"
    if kind == "swapped" and len(found) > 1:
        return kind, "these are the right values of another gradient"
    return kind, text


def _alike(one: Array, other: Array) -> bool:
    """Say whether two arrays hold the same values, enough of them that it is no chance."""
    if one.shape != other.shape or np.count_nonzero(other) < LEAST:
        return False
    scale = float(np.abs(other).max(initial=0.0))
    return bool(np.all(np.abs(one - other) <= RELATIVE * scale))


def _same_shape(got: Array, expected: Array, sizes: Mapping[str, int]) -> Iterator[Found]:
    if (factor := _factor(got, expected)) is not None:
        name = named(factor, sizes)
        times = f"got = {factor:.6g} × expected" + (f"; {factor:.6g} is {name}" if name else "")
        yield "factor", SIGN if np.isclose(factor, -1, rtol=RELATIVE) else times
    if got.ndim >= 2 and _alike(got, np.swapaxes(expected, -1, -2)):
        yield "transposed", "got = expectedᵀ: the product has its factors the wrong way round"
    for axis in range(got.ndim):
        if expected.shape[axis] > 1:
            total = expected.sum(axis=axis, keepdims=True)
            if _alike(got, np.broadcast_to(total, got.shape)):
                yield "extra-sum", f"a sum over axis {axis} is too many: the same values stand along all of it"


def _factor(got: Array, expected: Array) -> float | None:
    """Return c where got = c · expected throughout; None where there is no such number."""
    if np.count_nonzero(expected) < LEAST:
        return None
    factor = float((got * expected).sum() / (expected * expected).sum())
    return factor if factor and _alike(got, factor * expected) else None


def _other_shape(got: Array, expected: Array, axes: tuple[str, ...]) -> Iterator[Found]:
    if got.ndim >= 2 and _alike(np.swapaxes(got, -1, -2), expected):
        yield "transposed", "got = expectedᵀ: the product has its factors the wrong way round"
    if got.size == expected.size and _alike(got.reshape(expected.shape), expected):
        yield "shape", "the values are right, in another shape"
    for several in _some_axes(got.ndim):
        for keep in (False, True):
            total = got.sum(axis=several, keepdims=keep)
            if max(got.shape[axis] for axis in several) > 1 and _alike(total, expected):
                yield "missing-sum", f"a sum over {_axes(several, axes, got.ndim)} is missing"
    for several in _some_axes(expected.ndim):
        for keep in (False, True):
            if _alike(got, expected.sum(axis=several, keepdims=keep)):
                yield "extra-sum", f"a sum over {_axes(several, (), expected.ndim)} is too many"


def _some_axes(ndim: int) -> list[tuple[int, ...]]:
    """Return each axis alone, and the first ones together: (0,), (1,), (2,), (0, 1)."""
    return [*((axis,) for axis in range(ndim)), *(tuple(range(most)) for most in range(2, ndim))]


def _axes(several: tuple[int, ...], names: tuple[str, ...], ndim: int) -> str:
    """Return axes in words, by their names where these are known: axis 0 (batch)."""
    numbers = together(several)
    known = [names[axis] for axis in several] if len(names) == ndim else []
    return f"{'axis' if len(several) == 1 else 'axes'} {numbers}" + (f" ({', '.join(known)})" if known else "")
