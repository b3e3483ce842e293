"""The memory of one judge: what it writes down of tests that pass, and which need not be run for what it knows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.judging.attempt import Attempt
from grader.judging.calls import Involved, called
from grader.judging.phases import is_plain
from grader.judging.processes.marks import UNTOLD, Mark, Marks
from grader.judging.recall.inquiry import Inquiry
from grader.judging.recall.memory import Book
from grader.judging.sharing import Sharing
from grader.judging.suite import Suite, kind_of, name_of
from grader.outcome import Outcome
from grader.remote.module import looked_up
from grader.remote.processes.process import LearnerProcess
from grader.remote.transcripts.questions import Differs
from grader.remote.transcripts.recording import Recording, Step


class Recall:
    """The memory of one judge, after the book that it is given."""

    def __init__(
        self, suite: Suite, process: LearnerProcess, sharing: Sharing, involved: Involved, marks: Marks, book: Book
    ) -> None:
        self.is_alone = True  # no second judge takes part
        self._book = book
        self._marks = marks
        self._suite = suite
        self._process = process
        self._involved = involved
        self._inquiry = Inquiry(suite, process, sharing, involved, marks)

    def mark(self, items: Sequence[pytest.Item], places: Sequence[int], ends_at: float) -> None:
        """Mark the tests that are known to pass."""
        self._inquiry.mark(self._book, items, [each for each in places if not self._stands(items, each)], ends_at)

    def _stands(self, items: Sequence[pytest.Item], place: int) -> bool:
        """Mark a test that passed a moment ago, and that nothing which was changed since then has a part in."""
        memory, test = self._book.memory, name_of(items[place])
        known = memory.of(test, self._process.names) if self._marks.is_open(place) else None
        if known is None or not memory.passed_last(known, self._process.job):
            return False
        self._marks.passed(place, Mark(0.0, UNTOLD))
        self._book.pages.again(test)
        return True

    def leave_out(self, functions: int) -> None:
        """Ask about no test that involves one of these functions, given as bits."""
        self._inquiry.left_out |= functions

    def differs(self, item: pytest.Item) -> bool:
        """Say whether one of a test's questions was answered otherwise than in a test that passed."""
        return name_of(item) in self._inquiry.differs

    def involved(self, item: pytest.Item) -> int:
        """Return the bits of what a test involves that is known to pass; 0 where nothing is known of it."""
        known = self._book.memory.of(name_of(item), self._process.names)
        return 0 if known is None else self._involved.by(known.called)

    def record(self, attempt: Attempt) -> None:
        """Keep what a test asks and is answered, if it may be of use to another grading."""
        follows = is_plain(attempt.item) and kind_of(attempt.item) != "speed" and not self._suite.measures(attempt.item)
        if attempt.connection is not None and follows:
            attempt.connection.channel = Recording(attempt.connection.channel)  # type: ignore[assignment]

    def recorded(self, attempt: Attempt) -> list[Step] | None:
        """Return what a test asked and was answered; from now on its channel is nobody's but the process's."""
        recording = None if attempt.connection is None else attempt.connection.channel
        if not isinstance(recording, Recording):
            return None
        attempt.connection.channel = recording.channel
        return recording.steps

    def keep(self, outcome: Outcome, attempt: Attempt) -> None:
        """Note a test that passed; where its module answers now so, now otherwise, let no mark count."""
        steps, module, connection = attempt.steps, attempt.module, attempt.connection
        if outcome.status != "passed":
            self._book.pages.failed(outcome.test)
        if outcome.status != "passed" or not steps or module is None or connection is None:
            return
        differs, was_steady = self._inquiry.differs.get(outcome.test, (None, False))
        if _contradicts(differs, steps):
            self._book.pages.unsteady(outcome.test)
            if was_steady:
                self._marks.doubt()
        elif not outcome.notes:
            labels = iter(record.label for record in connection.records)
            labelled = [(step, next(labels, "") if step.is_question else "") for step in steps]
            told = outcome.called or called(self._suite.stage, connection)
            self._book.pages.passed(outcome.test, looked_up(module), told, labelled)


def _contradicts(differs: Differs | None, steps: Sequence[Step]) -> bool:
    """Say whether a test was answered otherwise than a moment before, when it was asked the same."""
    if differs is None or not differs.digest or differs.step >= len(steps):
        return False
    step = steps[differs.step]
    return step.sent == differs.sent and step.digest != differs.digest
