"""Names the loops that calls were still in: after the verdict, a call that did not return in time is made once more.

It has a process of its own, and a budget of lines instead of seconds: the same text and seed name the same loop on any
machine. Nothing says that the loop has no end; it may only be long.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from grader.course.stage import Stage, public_names
from grader.diagnosis.calls import definition_lines
from grader.judging.attempt import LearnerProvider
from grader.judging.task import JudgeTask
from grader.outcome import Diagnosis, Outcome
from grader.sandbox.connection import STEPS, Connection
from grader.sandbox.module import RemoteModule
from grader.sandbox.process import LearnerProcess
from grader.submission.source import plain_text
from grader.submission.source.loops import Loop, Loops, Span

LONG_LOOP = "long-loop"
FAR_SECONDS = 10.0  # after which a call is given up whose lines take long: 50 microseconds for each


@dataclass(frozen=True)
class Hung:
    """A test whose call did not return in time: its outcome, the call's label, and how many requests came before."""

    item: pytest.Item
    outcome: Outcome
    label: str
    before: int


class LongLoops:
    """The calls of one run that did not return in time, one of each function, and the loops that they were in."""

    def __init__(self, stage: Stage, task: JudgeTask, process: LearnerProcess, provider: LearnerProvider) -> None:
        self._stage = stage
        self._task = task
        self._process = process
        self._provider = provider
        self._hung: dict[str, Hung] = {}

    def note(self, item: pytest.Item, outcome: Outcome, connection: Connection, is_whole: bool) -> None:
        """Remember the call that a test waited for in vain: one of a function, if possible in a test of its own row.

        is_whole says that it took all of its time: one that did not leads to another that did.
        """
        label = connection.late
        places = [place for place, record in enumerate(connection.records) if record.failed]
        known = self._hung.get(label)
        is_better = known is not None and self._is_own(label, outcome) > self._is_own(label, known.outcome)
        if places and label and (is_better or (is_whole and known is None)):
            self._hung[label] = Hung(item, outcome, label, places[-1])

    def _is_own(self, label: str, outcome: Outcome) -> bool:
        names = {label, label.partition(".")[0]}
        return not names.isdisjoint(self._stage.criterion(outcome.criterion).functions)

    def explained(self) -> Iterator[Outcome]:
        """Yield the outcomes of the tests whose loop can be named, with it as their cause: each loop once.

        Of calls that were in one loop, that of the function which holds it is told.
        """
        text = plain_text(self._process.job.source) if self._hung else None
        if text is None:
            return
        loops, found = Loops(text), dict[int, tuple[Loop, Hung]]()
        for each in self._hung.values():
            if time.monotonic() >= self._task.ends_at:
                break
            loop = loops.of(self._spans(each))
            if loop is not None and (loop.line not in found or each.label == self._holder(loop.line)):
                found[loop.line] = loop, each
        for loop, each in found.values():
            yield self._with(loop, each)

    def _spans(self, hung: Hung) -> tuple[Span, ...]:
        """Make the call once more, and return which lines ran at the end of its budget; none where steps are left."""
        ends_at = min(self._task.ends_at, time.monotonic() + FAR_SECONDS)
        with suppress(Exception):  # what explains is an aid: the process may not start, or not load the module again
            connection = self._process.open(ends_at)
            connection.count_steps(hung.before, hung.label, FAR_SECONDS)
            module = RemoteModule(connection, self._process.job.label, public_names(self._stage))
            try:
                self._provider.attempted_with(module, hung.item, None)
            finally:
                self._process.done(connection)
            return connection.spans
        return ()

    def _with(self, loop: Loop, hung: Hung) -> Outcome:
        said = f"{hung.label} was still in the loop of line {loop.line} after {STEPS:,} steps: `{loop.header}`."
        holder = self._holder(loop.line)
        own = self._stage.criterion_of(holder)
        criterion = own.id if own is not None else hung.outcome.criterion
        cause = Diagnosis(LONG_LOOP, criterion, said, loop.advice, function=holder or hung.label, line=loop.line)
        return replace(hung.outcome, explains=(cause,), where=self._process.job.place(loop.line))

    def _holder(self, line: int) -> str:
        """Return the function that a line of the module stands in."""
        begun = {at: name for name, at in definition_lines(self._process.job.source).items() if at <= line}
        return begun[max(begun)] if begun else ""
