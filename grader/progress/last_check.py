"""The last check of a stage, criterion by criterion: .grader/checks/STAGE.json, which hints are chosen by.

It helps only: a file that is missing, damaged or about another text counts as none, and one that cannot be written is
left out. It holds what the course's level of feedback lets a learner see, and nothing else.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from grader.atomic import write_atomically
from grader.course.stage import Stage
from grader.criterion import BESIDE_VALUES, KINDS, Counts, Kind, KindCount, Passes, Status, redecided
from grader.errors import ProgressError

if TYPE_CHECKING:
    from grader.verdict import CriterionResult, Failure, Verdict

VERSION = 1
MOST_BYTES = 1 << 20
MOST_TEXT = 2000  # characters of what a mistake is told as
STATUSES: tuple[Status, ...] = get_args(Status)


@dataclass(frozen=True)
class CriterionCheck:
    """How one criterion did: its status, the mistake that explains it, if one does, and what it waits for.

    lacking holds by kind how many tests of it pass and how many there are, of the kinds of which some do not pass.
    fix is what to do about the mistake; example is, where the values are right, a call that fails and what came of it.
    has_values says whether the criterion has tests of values.
    """

    id: str
    status: Status
    tests_passed: int = 0
    tests_total: int = 0
    mistake: str = ""
    lacking: Mapping[Kind, tuple[int, int]] | None = None
    waits_for: tuple[str, ...] = ()
    fix: str = ""
    example: str = ""
    has_values: bool = True

    @property
    def kinds(self) -> tuple[KindCount, ...]:
        """The kinds of which some tests do not pass."""
        return tuple(KindCount(kind, passed, total) for kind, (passed, total) in (self.lacking or {}).items())

    @property
    def values_right(self) -> bool:
        """Whether it fails although its values are right."""
        return self.status == "failed" and self.values_pass and all(each.kind in BESIDE_VALUES for each in self.kinds)

    @property
    def values_pass(self) -> bool:
        """Whether all its tests of values pass, and something else does not."""
        missing = sum(each.missing for each in self.kinds) if "values" not in (self.lacking or {}) else 0
        return self.has_values and 0 < missing == self.tests_total - self.tests_passed

    @property
    def is_nearly_done(self) -> bool:
        """Whether its values are right, and something beside them is not."""
        return self.values_right or (self.status == "passed" and not self.robust)

    @property
    def robust(self) -> bool:
        """Whether it passes and lacks nothing."""
        return self.status == "passed" and not self.lacking


@dataclass(frozen=True)
class LastCheck:
    """What a check found in all criteria of a stage; of these, those that do not pass, the first to work on first.

    asked is the criterion whose cause somebody wanted to read.
    """

    criteria: tuple[CriterionCheck, ...]
    asked: str = ""

    @property
    def open(self) -> tuple[CriterionCheck, ...]:
        left = [each for each in self.criteria if each.status != "passed"]
        return tuple(sorted(left, key=lambda each: each.status == "blocked"))

    def criterion(self, criterion: str) -> CriterionCheck | None:
        """Return what was found of a criterion that does not pass; None where it passes."""
        return next((each for each in self.open if each.id == criterion), None)

    def is_searched(self, criterion: str) -> bool:
        """Say whether a criterion's cause was found or looked for with a full share of the trials, or there is none."""
        found = self.criterion(criterion)
        if found is None or found.status != "failed" or found.mistake or found.is_nearly_done:
            return True
        first = next((each.id for each in self.criteria if each.status == "failed"), None)
        return criterion in (first, self.asked)

    @property
    def passed(self) -> int:
        """How many criteria pass."""
        return sum(each.status == "passed" for each in self.criteria)

    @property
    def robust(self) -> int:
        """How many criteria pass with every test of refusals and of the dtype."""
        return sum(each.robust for each in self.criteria)

    @property
    def not_robust(self) -> tuple[CriterionCheck, ...]:
        """The criteria that pass and lack some of their robustness."""
        return tuple(each for each in self.criteria if each.status == "passed" and not each.robust)


def of(verdict: Verdict, stage: Stage) -> LastCheck:
    """Return what of a verdict on all criteria is kept."""
    return LastCheck(tuple(_check_of(result, stage, bool(verdict.run.withheld)) for result in verdict.criteria))


def remember(folder: Path, stage: Stage, verdict: Verdict, asked: str | None = None) -> None:
    """Keep what a check of a whole module found, in folder; nothing where it came to nothing, or is a fault of ours.

    asked is the criterion whose cause somebody wanted to read.
    """
    if verdict.grader_fault or verdict.problem is not None or verdict.run.only is not None or not verdict.criteria:
        return
    criteria = [asdict(each) for each in of(verdict, stage).criteria]
    data = {"version": VERSION, "submission": verdict.run.submission, "course": verdict.run.course, "rows": criteria}
    data |= {"asked": asked} if asked is not None else {}
    with suppress(ProgressError):
        write_atomically(_path(folder, stage), json.dumps(data, indent=1), ProgressError, parents=True)


def recall(folder: Path, stage: Stage, submission: str | None, course: str) -> LastCheck | None:
    """Return what the last check found of this very text in this version of the course; None where that is unknown.

    Without a submission it is what the last check found, of whatever text.
    """
    try:
        with _path(folder, stage).open("rb") as file:
            data = json.loads(file.read(MOST_BYTES))
        wanted = data["submission"] if submission is None else submission
        if (data["version"], data["submission"], data["course"]) != (VERSION, wanted, course):
            return None
        criteria, asked = tuple(_read(each, stage.passes) for each in data["rows"]), str(data.get("asked", ""))
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    are_known = [each.id for each in criteria] == [each.id for each in stage.criteria]
    return LastCheck(criteria, asked) if are_known else None


def _path(folder: Path, stage: Stage) -> Path:
    return folder / "checks" / f"{stage.id}.json"


def _check_of(result: CriterionResult, stage: Stage, withheld: bool) -> CriterionCheck:
    deciding = _deciding(result, stage)
    causes = (each.diagnosis for each in deciding if _may_tell(each, stage))
    cause = next((each for each in causes if each is not None), None)
    mistake, fix = (cause.text, cause.fix) if cause is not None else (_told_without_a_call(deciding, stage), "")
    lacking = {each.kind: (each.passed, each.total) for each in result.kinds if each.passed < each.total}
    names = {name for each in stage.criteria for name in each.functions}
    names |= {name.partition(".")[0] for name in names}
    waits_for = tuple(name for name in result.waits_for if name in names)
    tests, texts = (result.tests_passed, result.tests_total), (mistake[:MOST_TEXT], fix[:MOST_TEXT])
    values = not result.kinds or any(each.kind == "values" for each in result.kinds)
    found = CriterionCheck(result.id, result.status, *tests, texts[0], lacking, waits_for, texts[1], has_values=values)
    if not found.is_nearly_done or withheld:
        return found
    return replace(found, example=next(map(_example, (each for each in deciding if _is_open(each, stage))), ""))


def _deciding(result: CriterionResult, stage: Stage) -> list[Failure]:
    """Return the failures that a criterion is about now: of its values or, where they are right, those that count."""
    values = [each for each in result.failures if each.kind not in BESIDE_VALUES]
    count = [each for each in result.failures if result.counts.counts(each.kind, stage.passes)]
    return values or count or list(result.failures)


def _told_without_a_call(failures: list[Failure], stage: Stage) -> str:
    """Return why tests failed before they called anything: a name that is missing, or something not allowed here."""
    told = next((each for each in failures if _is_open(each, stage)), None)
    return told.message if told is not None and not told.call and told.status == "failed" else ""


def _example(failure: Failure) -> str:
    said = next(iter(failure.message.splitlines()), "")
    return ": ".join(filter(None, (failure.call, said)))[:MOST_TEXT]


def _may_tell(failure: Failure, stage: Stage) -> bool:
    """Say whether a learner is told the mistake that explains a failure, if one does, as a report would."""
    declared = failure.diagnosis is not None and failure.diagnosis.declared
    return stage.feedback == "full" or (declared and (stage.feedback == "hint" or not failure.hidden))


def _is_open(failure: Failure, stage: Stage) -> bool:
    """Say whether a learner is told the call of a failure, as a report would."""
    return stage.feedback == "full" or not failure.hidden


def _read(data: Any, passes: Passes) -> CriterionCheck:
    """Return a criterion as it was kept, decided by the tests that count now.

    Raises ValueError, TypeError or KeyError for anything else.
    """
    numbers = (data["tests_passed"], data["tests_total"])
    lacking = {kind: (passed, total) for kind, (passed, total) in data["lacking"].items()}
    counts = [*numbers, *(number for pair in lacking.values() for number in pair)]
    more = (data.get("fix", ""), data.get("example", ""))  # which an earlier grader did not keep
    has_values = data.get("has_values", True) is True
    texts = [data["id"], data["mistake"], *data["waits_for"], *more]
    if (
        data["status"] not in STATUSES
        or not set(lacking) <= set(KINDS)
        or not all(type(each) is int for each in counts)
    ):
        raise ValueError("a criterion of another form")
    if not all(type(each) is str for each in texts):
        raise ValueError("a criterion of another form")
    waits_for = tuple(data["waits_for"])
    found = CriterionCheck(data["id"], data["status"], *numbers, data["mistake"], lacking, waits_for, *more, has_values)
    return replace(found, status=redecided(found.status, Counts(*numbers, found.kinds), passes))
