"""The gradients of the first backward pass of a test that went wrong, beside those of the reference."""

from __future__ import annotations

import time
import types
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.calls import parameter_names
from grader.diagnosis.comparison.wording import number_pair
from grader.diagnosis.gradients.factors import sizes_of
from grader.diagnosis.gradients.names import Pair, is_about_gradients, is_backward, pairs, reads_gradients
from grader.diagnosis.gradients.patterns import Array, Given, finding
from grader.diagnosis.replay import Replay, same_array, usable
from grader.outcome import Gradient
from grader.sandbox.record import Name, Record

SECONDS = 0.02  # of processor time: what takes longer is left out
LARGEST = 2_000_000  # values of an array that is compared
MOST = 12  # gradients that are told of
NAME = 40  # characters


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
    row: str,
    seconds: float = SECONDS,
) -> tuple[Gradient, ...]:
    """Return the gradients of the first backward pass that is wrong in a test of a row about gradients; else none.

    They are what the call returned, and what was read of its object before the next one. module is the reference;
    seconds are of processor time.
    """
    functions = next((each.functions for each in stage.criteria if each.id == row), ())
    if not is_about_gradients(functions) or not any(map(is_backward, records)) or not usable(records):
        return ()
    ends_at = time.process_time() + seconds
    test = _Test(stage, module, records, names)
    with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
        for call, group in _passes(test, ends_at):
            found = _told(group, test, call, ends_at)
            if any(each.finding for each in found):
                return found if time.process_time() <= ends_at else ()
    return ()


def _passes(test: _Test, ends_at: float) -> Iterator[tuple[Record, list[Pair]]]:
    """Yield each backward call with the values that belong to it, as far as the time allows."""
    replay = Replay(test.module, test.stage, test.names, False)
    call: Record | None = None
    group: list[Pair] = []
    for place, record in enumerate(test.records):
        outcome = replay.perform(record)
        if outcome is None or outcome[1] is not None or time.process_time() > ends_at:
            break
        if is_backward(record):
            if call is not None:
                yield call, group
            call, group = record, []
        if record.error is None and (record is call or (call is not None and reads_gradients(record))):
            group += pairs(record, outcome[0], test.module, test.records[:place])
    if call is not None:
        yield call, group


def _told(group: list[Pair], test: _Test, call: Record, ends_at: float) -> tuple[Gradient, ...]:
    known = {each.name: each for each in group if _is_number(each.expected)}
    right = {name: np.asarray(each.expected, dtype=np.float64) for name, each in known.items()}
    sizes = sizes_of(test.records, test.stage, test.module)
    told: list[Gradient] = []
    for name, each in known.items():
        if time.process_time() > ends_at:
            break
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
        return value.dtype.kind in "fiu" and value.size <= LARGEST
    return type(value) in (int, float)
