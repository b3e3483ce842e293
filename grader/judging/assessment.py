"""What became of one test: its exception, if any, and what the learner's process did make its outcome."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from grader.course.stage import Stage
from grader.diagnosis import calls, expressions
from grader.diagnosis.evidence import Evidence
from grader.diagnosis.replay import Diagnostician
from grader.judging import plugin
from grader.outcome import Outcome, Status, Where
from grader.protocol.codec import WireError
from grader.remote.connection import Connection
from grader.remote.exceptions import LearnerExit, WorkerFailed
from grader.remote.module import MissingName
from grader.remote.process import Job, LoadFailed
from grader.remote.record import Frame

TEXT_LIMIT = 1500
PHASES = {"setup", "call", "teardown"}


@dataclass
class Attempt:
    """One run of a test: its first exception, the phases that came to their end, the arguments of its function.

    asked says whether what it saw was held against every known mistake.
    """

    item: pytest.Item
    connection: Connection | None = None
    error: BaseException | None = None
    phases: set[str] = field(default_factory=set)
    arguments: dict[str, Any] = field(default_factory=dict)
    asked: bool = False


class Judge:
    """Turns attempts at one stage's tests into outcomes; without answers nothing is explained or excused."""

    def __init__(self, stage: Stage, job: Job, seed: int, answers: Callable[[], Diagnostician] | None) -> None:
        self.stage = stage
        self.job = job
        self.seed = seed
        self._answers = answers
        self._made: Diagnostician | None = None
        self._evidence = Evidence()
        self._lines = calls.definition_lines(job.source)

    @property
    def answers(self) -> Diagnostician | None:
        """The reference and the known mistakes, loaded when the first test fails."""
        if self._made is None and self._answers is not None:
            self._made = self._answers()
        return self._made

    def outcome(self, base: Outcome, attempt: Attempt, ended: tuple[Status, str] | None) -> Outcome:
        """Return base with how the attempt ended; ended is what the end of the learner's process tells."""
        outcome = self._outcome(base, attempt, ended)
        if attempt.connection is not None and self._answers is not None:
            self._evidence.keep(outcome, attempt.connection, attempt.asked)
        return outcome

    def settled(self, outcomes: list[Outcome]) -> list[Outcome]:
        """Return the outcomes of a whole run, without explanations that some of them speak against."""
        return outcomes if self._made is None else self._evidence.settled(outcomes, self._made)

    def _outcome(self, base: Outcome, attempt: Attempt, ended: tuple[Status, str] | None) -> Outcome:
        connection, error = attempt.connection, attempt.error
        if connection is not None and connection.failure is not None:
            return self._described(base, attempt, *_failed_worker(connection.failure, ended))
        if error is None and attempt.phases != PHASES:
            return replace(base, status="grader_fault", message="the test did not run to its end")
        if (
            error is None
            and connection is not None
            and connection.changed
            and not attempt.item.get_closest_marker("changes_arguments")
        ):
            message = f"{connection.changed[0]} changed an argument in place; it is meant to leave it as it was"
            return self._described(base, attempt, "failed", message)
        if error is None:
            return self._described(base, attempt, "passed", "")
        return self._judged(base, attempt, error)

    def _judged(self, base: Outcome, attempt: Attempt, error: BaseException) -> Outcome:
        if isinstance(error, LoadFailed):
            return replace(base, status="crashed", message=error.problem.message)
        if isinstance(error, (pytest.skip.Exception, WireError)):
            return replace(base, status="grader_fault", message=f"{type(error).__name__}: {error}"[:TEXT_LIMIT])
        frames: list[Frame] = getattr(error, "learner_frames", [])
        if isinstance(error, NotImplementedError) and frames:
            return self._not_written(base, frames)
        if (fault := self._reference_fails(attempt)) is not None:
            message = f"the reference solution does not pass this test either: {fault}"
            return replace(base, status="grader_fault", message=message[:TEXT_LIMIT])
        if frames or isinstance(error, (MissingName, LearnerExit)):
            return self._raised(base, attempt, error, frames)
        if attempt.connection is None or not attempt.connection.records:
            message = f"the test fails before it calls the module: {type(error).__name__}: {error}"
            return replace(base, status="grader_fault", message=message[:TEXT_LIMIT])
        if isinstance(error, (AssertionError, pytest.fail.Exception)):
            return self._described(base, attempt, "failed", self._mismatch(attempt, error))
        said = f"{type(error).__name__}: {error}"
        call = calls.last_call(attempt.connection.records)
        if call is not None and attempt.connection.is_of_a_callback(error):
            message = f"{call.label} called the function that it was given in another way than agreed: {said}"
        else:
            message = f"what your function returned could not be used: {said}"
        return self._described(base, attempt, "failed", message[:TEXT_LIMIT])

    def _mismatch(self, attempt: Attempt, error: BaseException) -> str:
        text = str(error)
        if text.startswith("DID NOT RAISE"):
            wanted = " or ".join(re.findall(r"\w*(?:Error|Exception)\b", text)) or "an exception"
            return f"{wanted} was expected, but nothing was raised"
        difference = getattr(error, "difference", None)
        call = calls.last_call(attempt.connection.records) if attempt.connection else None
        if difference is not None and call is not None and difference.kind == "shape" and difference.axes is None:
            axes = self.stage.axes.get(call.label, {}).get("returns", ())
            if len(axes) == len(difference.expected_shape) and getattr(error, "name", "") == "result":
                from grader.diagnosis.comparison import describe

                return describe(replace(difference, axes=axes))
        return text[:TEXT_LIMIT] or "the test's assertion does not hold"

    def _not_written(self, base: Outcome, frames: list[Frame]) -> Outcome:
        """Tell a function that is not written yet from one that waits for another."""
        missing, row = frames[-1].function, self.stage.criterion(base.criterion)
        owner = missing.partition(".")[0]
        where = Where(self.job.label, frames[-1].line)
        elsewhere = {name for other in self.stage.criteria if other is not row for name in other.functions}
        is_own = missing in row.functions or (owner in row.functions and missing not in elsewhere)
        if is_own or (owner in row.functions and missing.endswith(".__init__")):
            return replace(base, status="not_started", message=f"{missing} is not written yet", where=where)
        return replace(base, status="blocked", message=f"{missing} is not written yet", waits_on=owner, where=where)

    def _raised(self, base: Outcome, attempt: Attempt, error: BaseException, frames: list[Frame]) -> Outcome:
        where = Where(self.job.label, frames[-1].line) if frames else None
        if isinstance(error, MissingName):
            return self._described(base, attempt, "failed", str(error))
        if isinstance(error, LearnerExit):
            return self._described(base, attempt, "failed", str(error), where)
        shown = getattr(error, "learner_type", type(error).__name__)
        if isinstance(error, MemoryError):
            shown = f"this wants more memory than the {self.stage.limits.memory_mb} MB that a stage may use"
        message = f"{shown}: {error.args[0] if isinstance(error, KeyError) and error.args else error}"
        if wanted := getattr(error, "expected_instead", ""):
            message = f"{wanted} was expected; raised was {message}"
        if frames:
            message += f"   (line {frames[-1].line}: {self._line(frames[-1].line)})"
        status: Status = "over_limit" if isinstance(error, MemoryError) else "failed"
        return self._described(base, attempt, status, message[:TEXT_LIMIT], where)

    def _line(self, number: int) -> str:
        lines = self.job.source.decode("utf-8", "replace").splitlines()
        return lines[number - 1].strip()[:100] if 0 < number <= len(lines) else "?"

    def _described(
        self, base: Outcome, attempt: Attempt, status: Status, message: str, where: Where | None = None
    ) -> Outcome:
        connection = attempt.connection
        if connection is None:
            return replace(base, status=status, message=message, where=where)
        notes = [f"printed: {connection.notes.printed.strip()}"] if connection.notes.printed.strip() else []
        notes += [f"{name}: {text} (line {line})" for name, text, line in connection.notes.warnings[:3]]
        if status == "passed":
            return replace(base, status=status, notes=tuple(notes))
        if self.answers is None:
            return replace(base, status=status, message=message)
        call, function = expressions.shown(
            connection.records, self.stage, self.answers.reference, getattr(attempt.error, "actual", None)
        )
        line = self._lines.get(function)
        label = self.job.label
        found = self.answers.explain(connection.records, connection.names) if status == "failed" else None
        attempt.asked = found is not None
        return replace(
            base,
            status=status,
            message=message,
            call=call,
            where=where or (Where(label, line) if line else None),
            explains=found or (),
            notes=tuple(notes),
        )

    def _reference_fails(self, attempt: Attempt) -> str | None:
        """Run a failed test's body with the reference here; return its error where even that fails."""
        item, answers = attempt.item, self.answers
        if answers is None or answers.is_stub or not isinstance(item, pytest.Function):
            return None
        if "learner" not in attempt.arguments:
            return None
        arguments = attempt.arguments | {"learner": answers.reference}
        if "rng" in arguments:
            arguments["rng"] = plugin.generator_for(self.seed, item.name)
        try:
            item.obj(**arguments)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            return f"{type(error).__name__}: {error}"
        return None


def _failed_worker(failure: WorkerFailed, ended: tuple[Status, str] | None) -> tuple[Status, str]:
    if failure.status == "crashed" and ended is not None:
        return ended[0], f"{failure}: {ended[1]}"
    return failure.status, str(failure)
