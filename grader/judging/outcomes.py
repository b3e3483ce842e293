"""The outcome of one test: its exception, if any, and the part of the learner's process in it."""

from __future__ import annotations

import re
import time
import types
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property, partial
from statistics import median
from typing import TYPE_CHECKING

import pytest

from grader.course.provided import reference_texts
from grader.course.stage import Stage
from grader.criterion import ROBUSTNESS
from grader.diagnosis import calls
from grader.diagnosis.comparison import Difference, describe, name_axes
from grader.diagnosis.replay import Replay, usable
from grader.errors import IsolationRefused
from grader.judging.running import PHASES, Attempt
from grader.judging.task import EXPLAINED, JudgeTask
from grader.outcome import CUT, SEARCH, Call, Outcome, Status
from grader.protocol.codec import Unsendable
from grader.sandbox.connection import Connection, MissingName, RemoteModule, RequestLog
from grader.sandbox.exceptions import LearnerExit, WorkerFailed, deeper
from grader.sandbox.process import Job, LearnerProcess, LoadFailed
from grader.sandbox.record import Frame
from grader.submission.source import plain_text, reaches

if TYPE_CHECKING:  # what explains is imported when something fails
    from grader.diagnosis.answers import Answers
    from grader.diagnosis.pool import Pool
    from grader.diagnosis.runner import RemoteRunner


ASKED = ("call", "traced", "op")
SHARE_AGAIN, LEAST_AGAIN = 0.1, 1.0  # of a call's seconds, and in seconds: for one that took all of its time before


def charged(criterion: str, kind: str) -> str:
    """Return what is left out once a test of a criterion timed out: of robustness, nothing that counts without it."""
    return f"{criterion}, robustness" if kind in ROBUSTNESS else criterion


def called(stage: Stage, connection: Connection | None) -> tuple[str, ...]:
    """Return which of the stage's own functions and classes a test called."""
    records = connection.records if connection else []
    labels = dict.fromkeys(record.label for record in records if record.kind in ASKED)
    return tuple(label for label in labels if stage.criterion_of(label))


def times(
    stage: Stage, task: JudgeTask, process: LearnerProcess, outcome: Outcome, connection: Connection | None
) -> tuple[Call, ...]:
    """Return the calls of a test that passed, with their times, where these are asked for and known."""
    if not task.options.timed or outcome.status != "passed" or connection is None:
        return ()

    start = partial(process.open, task.ends_at) if process.fork else None
    try:
        return timed(stage, connection, start, process.done)
    except Exception:  # of values that a learner's process chose, or its end; the result stands without times
        return ()


class Late:
    """Functions that did not return in time, and what leads to one by the module's text."""

    def __init__(self, stage: Stage, source: bytes) -> None:
        self._stage = stage
        self._source = source
        self._reaches: Mapping[str, frozenset[str]] = {}
        self._endless: set[str] = set()  # those that took the whole time of a call

    def note(self, outcome: Outcome, connection: Connection | None) -> bool:
        """Remember the call that a test waited for in vain; say whether it took a call's whole time."""
        if outcome.status != "timed_out" or connection is None:
            return False
        late = connection.late_function
        is_whole = bool(late) and self.seconds(late) == self._stage.limits.call_seconds
        own = [name for each in self._stage.criteria if each.id == outcome.criterion for name in each.functions]
        if not self._endless:
            self._reaches = reaches(self._stage, plain_text(self._source))
        if late and (self._stage.criterion_of(late) or late in own):
            self._endless.add(late)
        return is_whole

    def seconds(self, label: str) -> float:
        """Return how long a call may take: less where its function, or one it leads to, once took all of its time."""
        whole = self._stage.limits.call_seconds
        names = {label, label.partition(".")[0]}  # a method, and its class, which is what the checklist names
        if self._endless.isdisjoint(names.union(*(self._reaches.get(name, ()) for name in names))):
            return whole
        return min(whole, max(LEAST_AGAIN, SHARE_AGAIN * whole))


MOST_CALLS = 2000  # of a test
TIMES = 5  # that a test is repeated, after once to warm up
SECONDS = 0.2  # in which it is repeated; a test that takes longer is not, since warming up is little beside that
LONG = 0.005  # seconds: a call that cannot be repeated counts from here on


def timed(
    stage: Stage, test: Connection, start: Callable[[], Connection] | None, end: Callable[[Connection], object]
) -> tuple[Call, ...]:
    """Return the calls of a test that passed, each with the median of its times.

    start opens a connection to a fresh process of the module, end ends it; without start the test's own times are told.
    """
    calls = [record for record in test.records if record.kind == "call"]
    own = [record.seconds for record in calls]
    if start is not None and usable(test.records) and sum(own) < SECONDS:
        found = _repeated(stage, test, start, end)
        own = found if len(found) == len(calls) else []
    elif start is not None and sum(own) < LONG * len(own):
        own = []
    return tuple(Call(record.label, seconds) for record, seconds in list(zip(calls, own, strict=False))[:MOST_CALLS])


def _repeated(
    stage: Stage, test: Connection, start: Callable[[], Connection], end: Callable[[Connection], object]
) -> list[float]:
    """Return the median time of each call; none where a request cannot be repeated."""
    connection = start()
    rounds: list[list[float]] = []
    ends_at = time.monotonic() + SECONDS
    try:
        while len(rounds) <= TIMES and (len(rounds) < 2 or time.monotonic() < ends_at):
            connection.records.clear()
            replay = Replay(RemoteModule(connection, ""), stage, test.names, False)  # type: ignore[arg-type]  # it has the names of one
            if any(replay.perform(record) is None for record in test.records):
                return []
            rounds.append([record.seconds for record in connection.records if record.kind == "call"])
    finally:
        end(connection)
    alike = [each for each in rounds[1:] if len(each) == len(rounds[0])]
    return [median(times) for times in zip(*alike, strict=True)]


TEXT_LIMIT = 1500
MOST_WARNINGS = 3  # of different ones, that are told of a test


class Assessor:
    """Turns attempts at one stage's tests into outcomes; without answers nothing is explained or excused."""

    def __init__(self, stage: Stage, job: Job, answers: Callable[[], Answers] | None) -> None:
        self.stage = stage
        self.job = job
        self._answers = answers
        self._made: Answers | None = None

    @cached_property
    def _lines(self) -> dict[str, int]:
        return calls.definition_lines(self.job.source)

    @property
    def explains(self) -> bool:
        """Whether there is anything to explain wrong answers with."""
        return self._answers is not None and not self.job.withheld

    @property
    def answers(self) -> Answers | None:
        """The reference and the known mistakes, loaded when the first test fails."""
        if self._made is None and self._answers is not None:
            self._made = self._answers()
        return self._made

    @property
    def reference(self) -> types.ModuleType | None:
        """The module that decides whose fault a failure is; None where there is none that can be run."""
        return None if self.answers is None or self.answers.is_stub else self.answers.reference

    def outcome(
        self,
        base: Outcome,
        attempt: Attempt,
        ended: tuple[Status, str] | None,
        reference: Callable[[], str | None] = lambda: None,
    ) -> Outcome:
        """Return base with how the attempt ended, not yet explained.

        ended is what the end of the learner's process tells; reference runs the test with the reference and returns
        its error, where even that fails: then the fault is ours, whatever the learner's module did.
        """
        connection, error = attempt.connection, attempt.error
        if connection is not None and connection.failure is not None:
            status, message = _failed_worker(connection.failure, ended)
        elif error is None and attempt.phases == PHASES:
            status, message = self._passed(attempt)
            base = replace(base, changed=status != "passed")
        elif isinstance(error, LoadFailed):
            return replace(base, status="crashed", message=error.problem.message)
        elif isinstance(error, (IsolationRefused, Unsendable)):  # nothing of the learner's took part yet
            said = f"this test could not be run: {error}"
            return replace(base, status="grader_fault", message=said[:TEXT_LIMIT])
        elif isinstance(error, NotImplementedError) and _frames(error) and deeper(error) is None:
            return self._not_written(base, _frames(error))
        elif (fault := reference()) is not None:
            message = f"the reference solution does not pass this test either: {fault}"
            return replace(base, status="grader_fault", message=message[:TEXT_LIMIT])
        else:
            status, message = self._judged(attempt, error)
        where = self.job.place(_frames(error)[-1].line) if _frames(error) and status != "passed" else None
        own = status == "failed" and deeper(error) is None  # what is told of a line is about this module's own
        if own and error is not None:
            from grader.diagnosis.exceptions import help_with

            base = replace(base, help=help_with(error, self.job.source, self.stage))
        if (pattern := self._pattern(attempt, error)) in message.splitlines():
            base = replace(base, pattern=pattern)
        return replace(base, status=status, message=message[:TEXT_LIMIT], where=where, notes=_notes(connection))

    def explained(self, outcome: Outcome, attempt: Attempt) -> Outcome:
        """Return an outcome with the call that gave it, its line, and its gradients.

        What goes wrong here costs the explanation alone, and is noted.
        """
        if attempt.connection is None or outcome.status not in EXPLAINED:
            return outcome
        answers, actual = self.answers, getattr(attempt.error, "actual", None)
        if answers is None:
            return outcome
        from grader.diagnosis.explanation import explained

        shown = explained(answers, attempt.connection, actual, outcome.status == "failed", outcome.criterion)
        line = self._lines.get(shown.function)
        where = outcome.where or (self.job.place(line) if line else None)
        return replace(outcome, call=shown.call, where=where, unexplained=shown.failure, gradients=shown.gradients)

    def settled(
        self,
        outcomes: list[Outcome],
        log: RequestLog,
        runner: RemoteRunner | None = None,
        asked: tuple[str, ...] = (),
        pool: Pool | None = None,
        start: Callable[[], Connection] | None = None,
    ) -> list[Outcome]:
        """Return the outcomes of a whole run with the causes of its failures, each in the line of its fault.

        asked holds criteria whose causes are looked for as long as that of the first that fails; pool holds right
        modules of a class. start gives a process of the module, in which its own modules of earlier stages are asked.
        """
        if self._made is None or self._made.is_stub:
            return outcomes
        try:
            from grader.diagnosis.causes import settled

            tell = partial(settled, outcomes, log, runner=runner, asked=asked, pool=pool)
            found = self._with_own_beneath(tell, start) if start is not None and self._builds_on_own() else None
            return [self._at_fault(each) for each in found or tell(answers=self._made)]
        except Exception as error:
            is_cut = isinstance(error, WorkerFailed) and error.status == "timed_out"
            said = CUT if is_cut else f"{SEARCH} failed: {type(error).__name__}: {error}"[:TEXT_LIMIT]
            return [replace(each, unexplained=said) if each.status == "failed" else each for each in outcomes]

    def _builds_on_own(self) -> bool:
        """Say whether a module of an earlier stage that comes with the learner's is not the reference."""
        references = reference_texts(self.stage)
        return any(text != references[name]().encode() for name, _, text in self.job.lent if name in references)

    def _with_own_beneath(
        self, tell: Callable[..., list[Outcome]], start: Callable[[], Connection]
    ) -> list[Outcome] | None:
        """Return what is told where right modules have the learner's own beneath them; None where its process fails.

        Where a far bound of time ended it, all that is told is that.
        """
        from grader.diagnosis.beneath import own_beneath

        assert self._made is not None
        try:
            connection = start()
            with own_beneath(connection, [name for name, _, _ in self.job.lent]):
                found = tell(answers=self._made.anew())
            failure = connection.failure
        except WorkerFailed as error:
            failure = error
        except Exception:  # what it has for a name may be no class, and end what a right module does
            return None
        if failure is not None and failure.status == "timed_out":
            raise failure
        return found if failure is None else None

    def _at_fault(self, outcome: Outcome) -> Outcome:
        line = next((each.line for each in outcome.explains if each.line), 0)
        return replace(outcome, where=self.job.place(line)) if line else outcome

    def _passed(self, attempt: Attempt) -> tuple[Status, str]:
        """Return passed, unless a call changed what it was given; a test may say that it is meant to."""
        connection = attempt.connection
        if connection is None or not attempt.changed():
            return "passed", ""
        reference = self.answers.reference if self.answers is not None else None
        return "failed", calls.changed_argument(connection.records, reference)

    def _judged(self, attempt: Attempt, error: BaseException | None) -> tuple[Status, str]:
        """Return status and message of a test that the reference passes."""
        try:
            return self._said(attempt, error)
        except Exception as inner:  # the message holds values of the learner's, and some cannot be shown
            return "failed", f"what came back cannot be shown: {type(error).__name__}, then {type(inner).__name__}"

    def _said(self, attempt: Attempt, error: BaseException | None) -> tuple[Status, str]:
        if _frames(error) or isinstance(error, (MissingName, LearnerExit)):
            return self._raised(error)
        from grader.diagnosis.exceptions import is_of_a_call

        if attempt.connection is not None and is_of_a_call(attempt.connection.records, error):
            return self._raised(error)
        if isinstance(error, (AssertionError, pytest.fail.Exception)):
            return "failed", self._mismatch(attempt, error)
        said = "it did not finish" if error is None else f"{type(error).__name__}: {error}"
        connection = attempt.connection
        call = calls.last_call(connection.records) if connection else None
        if connection is None or call is None:
            return "failed", f"the test fails with this module, and passes with the reference: {said}"
        if error is not None and connection.is_of_a_callback(error):
            return "failed", f"{call.label} called the function that it was given in another way than agreed: {said}"
        return "failed", f"what your function returned could not be used: {said}"

    def _mismatch(self, attempt: Attempt, error: BaseException) -> str:
        text = str(error)
        if text.startswith("DID NOT RAISE"):
            wanted = " or ".join(re.findall(r"\w*(?:Error|Exception)\b", text)) or "an exception"
            return f"{wanted} was expected, but nothing was raised"
        difference: Difference | None = getattr(error, "difference", None)
        axes = self._axes(attempt, error, difference)
        if axes and difference is not None and difference.kind == "shape":
            return describe(replace(difference, axes=axes))
        if attempt.connection is not None and self.answers is not None:
            actual, reference = getattr(error, "actual", None), self.answers.reference
            text = calls.with_parameter(text, actual, attempt.connection.records, reference)
        text = name_axes(text, axes) if axes else text
        return text[:TEXT_LIMIT] or "the test's assertion does not hold"

    def _pattern(self, attempt: Attempt, error: BaseException | None) -> str:
        """Return what the numbers of a difference look like, as the message says it; empty where nothing is plain."""
        difference: Difference | None = getattr(error, "difference", None)
        if difference is None or not difference.pattern:
            return ""
        axes = self._axes(attempt, error, difference)
        return name_axes(difference.pattern, axes) if axes else difference.pattern

    def _axes(self, attempt: Attempt, error: BaseException | None, difference: Difference | None) -> tuple[str, ...]:
        """Return the names of the axes of what the last call returned, where a message about it has none."""
        call = calls.last_call(attempt.connection.records) if attempt.connection else None
        if difference is None or call is None or difference.axes or getattr(error, "name", "") != "result":
            return ()
        axes = self.stage.axes.get(call.label, {}).get("returns", ())
        return axes if len(axes) == len(difference.expected_shape) else ()

    def _not_written(self, base: Outcome, frames: list[Frame]) -> Outcome:
        """Tell a function that is not written yet from one that waits for another."""
        missing, criterion = frames[-1].function, self.stage.criterion(base.criterion)
        owner = missing.partition(".")[0]
        where = self.job.place(frames[-1].line)
        elsewhere = {name for other in self.stage.criteria if other is not criterion for name in other.functions}
        is_own = missing in criterion.functions or (owner in criterion.functions and missing not in elsewhere)
        if is_own or (owner in criterion.functions and missing.endswith(".__init__")):
            return replace(base, status="not_started", message=f"{missing} is not written yet", where=where)
        return replace(base, status="blocked", message=f"{missing} is not written yet", waits_on=owner, where=where)

    def _raised(self, error: BaseException | None) -> tuple[Status, str]:
        if isinstance(error, (MissingName, LearnerExit)):
            return "failed", str(error)
        frames = _frames(error)
        said = str(error.args[0] if isinstance(error, KeyError) and error.args else error)
        message = getattr(error, "learner_type", type(error).__name__) + (f": {said}" if said else "")
        if isinstance(error, MemoryError):
            from grader.diagnosis.exceptions.help import too_much

            message = too_much(str(error), self.stage.limits.memory_mb)
        elif wanted := getattr(error, "expected_instead", ""):
            message = f"{wanted} was expected, but the call raised {message}"
        places = [f"line {frame.line}: {self.job.place(frame.line).text}" for frame in frames[-1:]]
        if deeper(error) is not None:
            places.append(str(deeper(error)))
        if places:
            message += f"   ({'; '.join(places)})"
        return "over_limit" if isinstance(error, MemoryError) else "failed", message


def _frames(error: BaseException | None) -> list[Frame]:
    found: list[Frame] = getattr(error, "learner_frames", [])
    return found


def _notes(connection: Connection | None) -> tuple[str, ...]:
    if connection is None:
        return ()
    notes = [f"printed: {connection.notes.printed.strip()}"] if connection.notes.printed.strip() else []
    warned = dict.fromkeys(f"{name}: {text} (line {line})" for name, text, line in connection.notes.warnings)
    return (*notes, *list(warned)[:MOST_WARNINGS])


def _failed_worker(failure: WorkerFailed, ended: tuple[Status, str] | None) -> tuple[Status, str]:
    if failure.status == "crashed" and ended is not None:
        return ended[0], f"{failure}: {ended[1]}"
    return failure.status, str(failure)
