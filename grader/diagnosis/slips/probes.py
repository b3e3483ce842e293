"""Failing tests, and the shortest form of one: what is asked up to the first answer that differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.diagnosis.replay import Replay
from grader.diagnosis.slips.state import State
from grader.diagnosis.slips.trace import Trace
from grader.sandbox.log import called_by
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Name, Record

FEW = 4  # whole numbers, and fewer, that another cause may give as well


@dataclass(frozen=True)
class Failing:
    """A test that failed: what it asked of the learner's module, and what came back."""

    test: str
    records: list[Record]
    names: dict[str, Name]

    @property
    def called(self) -> set[str]:
        """What the test called; an object that it made counts where it called nothing else."""
        return called_by(self.records, self.names)


@dataclass
class Probe:
    """One failing test in its shortest form: what is asked up to the first answer that differs."""

    place: int  # of the source that this is about
    failing: Failing
    records: list[Record]
    seconds: float
    exact: bool
    trace: Trace  # of the last request
    before: Trace  # of those that come before it
    start: Replay  # that has repeated those
    state: State  # of the objects that it made

    @property
    def label(self) -> str:
        return self.records[-1].label


def probe_of(
    place: int, file: str, failing: Failing, replay_of: Callable[[bool], Replay], clock: Callable[[], float]
) -> Probe | None:
    """Return the shortest form of a test, with what a source does in it; None where the source agrees.

    replay_of makes a replay on that source, exact or not; file is the name by which its lines are known.
    """
    for exact in (False, True):
        replay = replay_of(exact)
        first = replay.first_difference(failing.records)
        if first is None:
            continue
        record = failing.records[first]
        records = [record] if replay.stands_alone(record) else failing.records[: first + 1]
        before, trace = Trace(file), Trace(file)
        start = replay_of(exact)
        with before.running():
            start.agrees(records[:-1])
        state = State(start.made())
        started = clock()
        start.copied().agrees(records[-1:])
        seconds = clock() - started
        state.restore()
        with trace.running():
            start.copied().agrees(records[-1:])
        return Probe(place, failing, records, seconds, exact, trace, before, start, state)
    return None


def holds_numbers(record: Record) -> bool:
    """Say whether an answer tells one cause from another: of NaN and infinities alone, many changes make as much."""
    parts = _parts(record.result)
    floats = [each for each in parts if each.dtype.kind == "f" and each.size]
    return not floats or len(floats) < len(parts) or any(bool(np.isfinite(each).any()) for each in floats)


def is_of_bits(result: object) -> bool:
    """Say whether an answer is one or several floats that are all 0 or 1: many formulas give these."""
    if not isinstance(result, (float, np.ndarray)) or np.asarray(result).dtype.kind != "f":
        return False
    return bool(np.isin(result, (0.0, 1.0)).all())


def is_poor(record: Record) -> bool:
    """Say whether an answer tells little: a bool, a text, one or a few whole numbers and no array."""
    parts = _parts(record.result)
    plain = all(each.ndim == 0 and (each.dtype.kind != "f" or bool(np.mod(each, 1) == 0)) for each in parts)
    return record.error is None and not isinstance(record.result, RemoteValue) and len(parts) < FEW and plain


def _parts(found: object) -> list[np.ndarray[Any, Any]]:
    """Return the numbers of an answer, or of the parts of one."""
    several = found if isinstance(found, (list, tuple)) else found.values() if isinstance(found, dict) else [found]
    return [np.asarray(each) for each in several if isinstance(each, (np.ndarray, np.generic, bool, int, float))]


def size_of(failing: Failing) -> int:
    """Return about how much is to be computed to repeat a test: requests, and the numbers in their arguments.

    An object of the learner's is not asked for its size: its process may be gone.
    """
    values = (value for record in failing.records for value in (*record.args, *record.kwargs.values()))
    sizes = (value.size if isinstance(value, np.ndarray) else 1 for value in values)
    return sum(sizes) + 50 * len(failing.records)
