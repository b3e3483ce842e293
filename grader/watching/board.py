"""The board, a frozen record that every screen reads, and the events that change it; threads post these."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.stage import Stage
from grader.criterion import Status
from grader.progress.standings import Standing
from grader.verdict import CriterionResult, Verdict


@dataclass(frozen=True)
class FileSaved:
    """A module, or another file that its checks depend on, has other content than before, or is gone."""

    path: Path


@dataclass(frozen=True)
class CountedTest:
    """One test of a check has ended; ticket is the number of the check."""

    ticket: int
    criterion: str
    status: Status


@dataclass(frozen=True)
class EarlyCriterion:
    """The criterion that failed first before has been graded again, ahead of the others and not explained yet."""

    ticket: int
    result: CriterionResult


@dataclass(frozen=True)
class EarlyVerdict:
    """Every test of a check has ended, and not all pass: its verdict, not explained yet and not recorded."""

    ticket: int
    verdict: Verdict


@dataclass(frozen=True)
class FinalVerdict:
    """A check has come to its verdict."""

    ticket: int
    verdict: Verdict


@dataclass(frozen=True)
class CheckFailed:
    """A check came to no verdict: the error, and what to do."""

    ticket: int
    message: str
    hint: str | None


Pictures = tuple[tuple[str, bytes], ...]


@dataclass(frozen=True)
class StepWeights:
    """Weights that the learner's functions gave in a step: a row for each query, a column for each key.

    criterion is the one that the step is about; is_wrong says that the step is not right yet.
    """

    criterion: str
    title: str
    weights: tuple[tuple[float, ...], ...]
    is_wrong: bool


@dataclass(frozen=True)
class Sentence:
    """The sentence that was explored, and all its weights; missing is the function that has to be written next."""

    words: tuple[str, ...]
    keys: tuple[str, ...]
    weights: tuple[StepWeights, ...] = ()
    missing: str = ""


@dataclass(frozen=True)
class Explored:
    """What `grader explore` printed for a stage; where that is nothing, why says the reason.

    pictures are SVGs, each with the criterion of the checklist that its step is about, in the order of the steps. typed
    holds the learner's own sentence, and sentence what came of it, or of the lesson's.
    """

    stage: str
    text: str
    why: str = ""
    pictures: Pictures = ()
    typed: str = ""
    sentence: Sentence | None = None


@dataclass(frozen=True)
class LineTyped:
    """A key, or a line of plain mode."""

    text: str


Event = FileSaved | CountedTest | EarlyCriterion | EarlyVerdict | FinalVerdict | CheckFailed | Explored | LineTyped


_LATER = {"not_started": 1, "blocked": 2}  # what is wrong comes before what was not begun


@dataclass(frozen=True)
class Board:
    """The stage that is watched, its last verdict, or why there is none, and the check that runs.

    since is when that check began, on the monotonic clock; tests counts its tests, at is the criterion of the last one.
    searches says that all tests have ended, and that the cause of what failed is being looked for.
    trouble holds an error and what to do. drawn is what `grader explore` printed once the stage had passed or, where
    asked, since a key was pressed for it. pictures are those of the last text that was explored, and sentence what was
    explored; typed is the learner's own, and refused says why it was not taken.
    """

    stage: Stage
    standings: tuple[Standing, ...]
    verdict: Verdict | None = None
    trouble: tuple[str, str | None] | None = None
    since: float | None = None
    tests: int = 0
    at: str = ""
    note: str = ""
    drawn: str = ""
    asked: bool = False
    searches: bool = False
    pictures: Pictures = ()
    typed: str = ""
    refused: str = ""
    sentence: Sentence | None = None

    @property
    def first(self) -> CriterionResult | None:
        """The criterion to look at: the first that is wrong, else the first that was not begun, else one that waits."""
        results = () if self.verdict is None else self.verdict.criteria
        left = [each for each in results if each.status != "passed"]
        return min(left, key=lambda each: (_LATER.get(each.status, 0), each.values_right), default=None)

    @property
    def seen(self) -> tuple[str, ...]:
        """The criteria whose function of the reference was shown to the learner."""
        return next((each.seen for each in self.standings if each.stage.id == self.stage.id), ())

    @property
    def complete(self) -> bool:
        """Whether the last check found nothing wrong."""
        return self.verdict is not None and (self.verdict.passed or self.verdict.public_passed)

    @property
    def failing(self) -> str | None:
        """The criterion that does not pass first and waits for no other; None where none is known."""
        return self.first.id if self.first is not None and self.first.status != "blocked" else None

    def with_criterion(self, result: CriterionResult) -> Verdict | None:
        """Return the last verdict with a criterion that is known anew."""
        if self.verdict is None:
            return None
        results = tuple(result if each.id == result.id else each for each in self.verdict.criteria)
        return replace(self.verdict, criteria=results, problem=None, passed=False)

    def criterion(self, name: str | None) -> CriterionResult | None:
        """Return the criterion of that id or, without one, the first that does not pass."""
        results = () if self.verdict is None else self.verdict.criteria
        return self.first if name is None else next((result for result in results if result.id == name), None)

    def place(self, name: str | None = None) -> tuple[str, int]:
        """Return the file and line to look at: of the module's problem, of a criterion's failure, or its beginning."""
        file = f"stages/{self.stage.name}/{self.stage.module}"
        if self.verdict is None:
            return file, 1
        if self.verdict.problem is not None:
            return file, self.verdict.problem.line or 1
        result = self.criterion(name)
        failures = () if result is None else result.failures
        wheres = [failure.where for failure in failures if failure.where is not None]
        return next(((where.file, where.line) for where in wheres if where.file == file), (file, 1))
