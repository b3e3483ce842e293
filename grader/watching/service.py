"""The process that grades for `grader watch`: it keeps the tests of one stage loaded, and a worker started ahead.

Run by `grading_process.py` with the course's folder as its only argument. It is a process of its own because judges are
forks of it: one with threads and a screen cannot be forked safely. Orders come as lines of JSON on stdin, ["check",
ticket, stage, criterion]; answers go to stdout. SIGINT breaks a check off.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from grader import __version__
from grader.course.sealed import public_only
from grader.course.stage import Course, Stage, public_names
from grader.errors import GraderError
from grader.judging.grading import MAX_SEED, Grader
from grader.judging.task import packed
from grader.process import end_in_order
from grader.progress import actions
from grader.progress.workspace import open_workspace
from grader.report import feedback
from grader.submission import take
from grader.submission.source import check_source, missing_names, plain_text, reaches, refused_criteria
from grader.verdict import Run, decide

if TYPE_CHECKING:
    from grader.judging.grading import OnDecided, OnTest, Options
    from grader.outcome import Outcome
    from grader.submission import Snapshot
    from grader.verdict import Verdict

Tell = Callable[..., None]
PIECE = 1 << 16


class Service:
    """Checks stages as `grader check` does, with a grader that is kept from check to check."""

    def __init__(self, workspace: actions.Workspace, tell: Tell) -> None:
        self._workspace = replace(workspace, grade=self._grade)
        self._tell = tell
        self._kept: Grader | None = None
        self._tests: dict[str, str] = {}  # and their criteria
        self._snapshot: Snapshot | None = None  # of the module that is graded
        self._options: Options | None = None  # of the last grading
        self._text: bytes | None = None  # of the module then; None where the next grading has inputs of its own
        self.busy = False

    def check(self, ticket: int, name: str, criterion: str | None = None) -> None:
        """Check a stage and tell each outcome, then the verdict; an error is told as one.

        The tests of criterion are run first, and what they found is told at once to whoever works on it; only the
        verdict counts. So is what all tests found, before it is explained.
        """
        told: dict[str, Outcome] = {}
        is_told = criterion is None

        def on_test(outcome: Outcome) -> None:
            nonlocal is_told
            self._tell("tested", ticket, outcome.criterion, outcome.status)
            told[outcome.test] = outcome
            if not is_told and (outcome.criterion != criterion or self._is_all_of(criterion, told)):
                is_told = True
                self._glimpse(ticket, stage, [each for each in told.values() if each.criterion == criterion])
            if self._is_all_of(None, told):
                self._decide(ticket, stage, list(told.values()))

        try:
            self.busy = True
            stage = self._workspace.course.find(name)
            request = actions.GradingRequest(ahead=() if criterion is None else (criterion,))
            verdict = actions.check(self._workspace, stage, request, on_test)
            self.busy = False
            self._tell("judged", ticket, _shown(stage, verdict))
            self._prepare()
        except KeyboardInterrupt:
            self.close()  # a grader that was stopped anywhere is not relied on
        except GraderError as error:
            self._tell("failed", ticket, error.message, error.hint)
        except Exception as error:  # the next save gets another chance
            self.close()
            self._tell("failed", ticket, f"the grader failed: {type(error).__name__}: {error}", None)
        finally:
            self.busy = False

    def _is_all_of(self, criterion: str | None, told: Mapping[str, Outcome]) -> bool:
        """Say whether all tests of a criterion, or all, have ended: what comes after that may take its time."""
        if not self._tests and self._kept is not None:
            self._tests = self._kept.tests()
        if criterion is None:
            return len(told) == len(self._tests)
        return sum(each.criterion == criterion for each in told.values()) == list(self._tests.values()).count(criterion)

    def _glimpse(self, ticket: int, stage: Stage, found: list[Outcome]) -> None:
        """Tell what one criterion's tests found, unexplained: the others' evidence may speak against an explanation."""
        verdict = self._unexplained(stage, found, found[0].criterion) if found else None
        if verdict is not None and not verdict.grader_fault:
            self._tell("glimpsed", ticket, verdict.criteria[0])

    def _decide(self, ticket: int, stage: Stage, found: list[Outcome]) -> None:
        """Tell what all tests found, where not all pass: those that do are run once more before a pass is told."""
        verdict = self._unexplained(stage, found)
        if verdict is None or verdict.grader_fault or _is_recorded(verdict):
            return
        if any(each.status not in ("not_started", "blocked") for each in verdict.criteria):
            self._tell("decided", ticket, verdict)

    def _unexplained(self, stage: Stage, found: list[Outcome], criterion: str | None = None) -> Verdict | None:
        """Return what is shown of the module by what some tests found, of a criterion or all, without explanations.

        None where a text that is forbidden fails the criterion, or where the module defines nothing that the stage asks
        for.
        """
        snapshot = self._snapshot or take(stage, None, self._workspace.course.root)
        refused = refused_criteria(stage, check_source(stage, snapshot))
        is_empty = not any(outcome.status == "passed" for outcome in found) and _defines_nothing(stage, snapshot)
        if is_empty or criterion in refused:
            return None
        places = {test: place for place, test in enumerate(self._tests)}
        found = sorted(found, key=lambda outcome: places.get(outcome.test, 0))  # as in a verdict
        run = Run(0, "none", None, 0.0, __version__, "", snapshot.label, criterion, public_only(stage))
        expected = [(outcome.test, outcome.criterion, outcome.hidden) for outcome in found]
        plain = [replace(outcome, explains=(), unexplained="") for outcome in found]
        known = reaches(stage, plain_text(snapshot.source))
        return _shown(stage, decide(stage, expected, plain, run, refused=refused, reaches=known))

    def close(self) -> None:
        """Forget the tests, and end the worker that was started ahead."""
        kept, self._kept, self._text = self._kept, None, None
        self._tests, self._snapshot = {}, None
        if kept is not None:
            kept.close()

    def _grade(
        self,
        course: Course,
        stage: Stage,
        snapshot: Snapshot,
        options: Options,
        on_test: OnTest | None,
        on_decided: OnDecided | None = None,
    ) -> Verdict:
        """Grade with the inputs of the last grading, until a module passes with them or is checked again unchanged.

        With the same inputs what is answered as it was is not run again. So whatever passes then is graded once more,
        with inputs of its own: what is recorded rests on no memory.
        """
        if self._kept is None or self._kept.stage is not stage:
            self.close()
            self._kept = Grader(course, stage, warm=True)
        self._snapshot = snapshot
        if self._options is not None and self._text not in (None, snapshot.source):
            self._options, self._text = replace(options, seed=self._options.seed), snapshot.source
            verdict = self._kept.grade(snapshot, self._options, on_test, on_decided)
            if not _is_recorded(verdict):
                return verdict
            on_test = on_decided = None  # all have been told
            if options.seed == self._options.seed:  # drawn once more
                options = replace(options, seed=(options.seed + 1) % MAX_SEED)
        self._options, self._text = options, snapshot.source
        verdict = self._kept.grade(snapshot, options, on_test, on_decided)
        if _is_recorded(verdict):
            self._text = None
        return verdict

    def _prepare(self) -> None:
        """Start what the next check needs, while the learner reads what this one found."""
        if self._kept is not None and self._options is not None:
            with suppress(Exception):  # the next check tells what does not work
                self._kept.prepare(self._options)


def _is_recorded(verdict: Verdict) -> bool:
    """Say whether a verdict opens other stages: as a pass, or in a copy without a key as one of the public tests."""
    return verdict.passed or verdict.public_passed


def _defines_nothing(stage: Stage, snapshot: Snapshot) -> bool:
    return set(missing_names(stage, snapshot)) >= set(public_names(stage))


def _shown(stage: Stage, verdict: Verdict) -> Verdict:
    return feedback.shown(verdict, stage.feedback, feedback.known_names(stage))


class MessageWriter:
    """Writes what is told, a line of JSON each, and each line whole: a check that is broken off is so after it."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._is_writing = self._is_broken_off = False

    def __call__(self, *fields: Any) -> None:
        self._is_writing = True
        try:
            self._stream.write(json.dumps(packed(fields)) + "\n")
            self._stream.flush()
        finally:
            self._is_writing = False
        if self._is_broken_off:
            self._is_broken_off = False
            raise KeyboardInterrupt

    def break_off(self) -> None:
        """Raise KeyboardInterrupt, now or at the end of the line that is being written."""
        if not self._is_writing:
            raise KeyboardInterrupt
        self._is_broken_off = True


def main() -> None:
    """Take orders until stdin ends."""
    answers = MessageWriter(os.fdopen(os.dup(1), "w", encoding="utf-8"))
    os.dup2(2, 1)  # whatever prints has no part in the answers

    service = Service(open_workspace(Path(sys.argv[1])), answers)

    def interrupt(*_: object) -> None:
        if service.busy:
            service.busy = False
            answers.break_off()

    signal.signal(signal.SIGINT, interrupt)
    end_in_order()
    try:
        serve(service, lambda: os.read(0, PIECE))
    except BrokenPipeError:  # nobody watches any more
        pass
    finally:
        service.close()


def serve(service: Service, read: Callable[[], bytes]) -> None:
    """Do what was asked for last, until nothing more can be read."""
    rest = b""
    while piece := read():
        *lines, rest = (rest + piece).split(b"\n")
        if lines:
            _, ticket, stage, criterion = json.loads(lines[-1])
            with suppress(KeyboardInterrupt):  # one that came as a check ended
                service.check(int(ticket), str(stage), criterion)
