"""The figures of a class's results: counted student by student, in memory that does not grow with their verdicts."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath
from typing import Any

from grader.gradebook.marks import Entry, entries
from grader.gradebook.records import Outcome
from grader.gradebook.store import Gradebook
from grader.report.terminal.layout import MARKS

Document = Mapping[str, Any]
BINS = 11  # of points: tenths of what there is to be earned, and all of it
MANY = 3  # attempts without a full pass, from which somebody is stuck
AGAIN = 2  # attempts from which a criterion that passed in none of them says so too
MOST_MISTAKES = 20_000  # that are counted apart: a hostile class can make up names
MOST_TEXT = 400
MOST_REASON = 160  # characters beside a student's name
MOST_NAMED = 3  # criteria there
_LINE = re.compile(  # differs between students who made the same mistake
    r" \(in line \d+(?: and \d+)* too\)|,? \(?(?:in |of )?line \d+\)?"
)
_NUMBERS = re.compile(r"-?\d[\d.e+-]*(?:, ?-?\d[\d.e+-]*)*,?")  # so do the inputs of a call that was not refused
STATES = {
    "passed": "passed", "failed": "failed", "values_right": "values right", "not_started": "not started",
    "blocked": "waits", "crashed": "crashed", "timed_out": "timed out", "over_limit": "over a limit",
    "grader_fault": "grader fault",
}  # fmt: skip
SIGNS = {state: MARKS[state][0] for state in STATES}
_REFUSAL = "refusal-"  # how the names of these mistakes begin


@dataclass(frozen=True)
class GradedAttempt:
    """A verdict on something that was handed in, and the seconds that it took."""

    verdict: Document
    seconds: float


@dataclass(frozen=True)
class StudentRecord:
    """All of one student: the entries that count, and by stage each attempt that was graded, the earliest first.

    texts holds the modules that count, by stage.
    """

    student: str
    entries: tuple[Entry, ...]
    tries: Mapping[str, tuple[GradedAttempt, ...]]
    texts: Mapping[str, bytes] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name that the roster has besides the one in the gradebook; empty for none."""
        name = next((each.member.name for each in self.entries if each.member), "")
        return "" if name == self.student else name

    @property
    def called(self) -> str:
        """The student by both names."""
        return f"{self.name} ({self.student})" if self.name else self.student

    @property
    def points(self) -> float:
        """The sum of the points that are known."""
        return sum(each.points or 0.0 for each in self.entries)

    @property
    def passed(self) -> int:
        """How many stages pass."""
        return sum(each.passed for each in self.entries)


def sheets(
    book: Gradebook, stages: frozenset[str] | None = None, student: str | None = None
) -> Iterator[StudentRecord]:
    """Yield the students in the order of their names, one in memory at a time; with stages, only what is of these.

    With student, that one alone.
    """
    for name, cells in groupby(entries(book, student), key=lambda entry: entry.student):
        mine = tuple(each for each in cells if stages is None or each.stage in stages)
        if mine:
            yield StudentRecord(name, mine, _tries(book, name), dict(_texts(book, mine)))


def _texts(book: Gradebook, mine: Iterable[Entry]) -> Iterator[tuple[str, bytes]]:
    for each in mine:
        if each.mark is not None and (text := book.source(each.mark.attempt)) is not None:
            yield each.stage, text


def _tries(book: Gradebook, student: str) -> Mapping[str, tuple[GradedAttempt, ...]]:
    found: dict[str, tuple[GradedAttempt, ...]] = {}
    for attempt, result in book.counting(student):
        if result.outcome == "graded":
            found[attempt.stage] = (*found.get(attempt.stage, ()), GradedAttempt(result.verdict, result.seconds))
    return found


@dataclass
class CriterionFigures:
    """One criterion of a stage: how many of those whose module ran pass it, are robust, or have not started it."""

    stage: str
    id: str
    text: str
    passed: int = 0
    robust: int = 0
    not_started: int = 0
    of: int = 0

    @property
    def share(self) -> float:
        """The part that passes, from 0 to 1."""
        return self.passed / self.of if self.of else 0.0


@dataclass
class StageFigures:
    """One stage; counts are of students, by what counts for them, and seconds of every grading."""

    id: str
    title: str = ""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    passed: int = 0
    late: int = 0
    attempts: int = 0
    criteria: dict[str, CriterionFigures] = field(default_factory=dict)
    bins: list[int] = field(default_factory=lambda: [0] * BINS)
    seconds: array[float] = field(default_factory=lambda: array("d"))
    matrix: list[MatrixLine] = field(default_factory=list)

    @property
    def students(self) -> int:
        """Everyone of whom something is known: without faults, and without who waits for an earlier stage."""
        return sum(self.outcomes[each] for each in ("graded", "missing", "rejected"))

    @property
    def share(self) -> float:
        """The part of the students who pass, from 0 to 1."""
        return self.passed / self.students if self.students else 0.0

    @property
    def times(self) -> tuple[float, float, float] | None:
        """The median, the 95th percentile and the most of the seconds; None where nothing was graded."""
        if not self.seconds:
            return None
        ordered = sorted(self.seconds)
        last = len(ordered) - 1
        return ordered[last // 2], ordered[round(0.95 * last)], ordered[last]


@dataclass
class MistakeFigures:
    """A mistake that verdicts name, the criteria that it hits, and how many students made it in any attempt."""

    stage: str
    criterion: str
    text: str
    fix: str
    students: int = 0
    hits: set[str] = field(default_factory=set)


@dataclass(frozen=True)
class StuckStudent:
    """Someone without a full pass: the number of attempts, the criteria that passed in none, and if any module ran."""

    student: str
    stage: str
    attempts: int
    criteria: tuple[str, ...]
    ran: bool = True


@dataclass(frozen=True)
class StudentSummary:
    """A student in the list of all; reason says what lacks of a full pass."""

    student: str
    passed: int
    stages: int
    points: float
    page: str
    reason: str = ""


@dataclass(frozen=True)
class MatrixLine:
    """A student's line in a stage's matrix: how it came out in a few words, and a sign for each criterion.

    signs stand in the order of the stage's criteria, a space where there is none; they are empty where no module ran.
    reason says what lacks, by_hand what a person gave.
    """

    student: str
    page: str
    outcome: str
    signs: str
    points: float | None
    reason: str
    by_hand: str

    @property
    def order(self) -> tuple[bool, int, str]:
        """Who passes most comes first, who cannot be graded last, equal ones together."""
        return not self.signs, -self.signs.count(SIGNS["passed"]), self.outcome


@dataclass
class ZeroFigures:
    """Why modules earn nothing: of one stage and one cause, without its numbers if they differ, and whose they are."""

    stage: str
    kind: str
    cause: str
    students: list[str] = field(default_factory=list)


@dataclass
class Figures:
    """The whole class; add() takes one student after the other. names are those that the roster adds to a login."""

    stages: dict[str, StageFigures] = field(default_factory=dict)
    mistakes: dict[tuple[str, str, str], MistakeFigures] = field(default_factory=dict)
    zeros: dict[tuple[str, str, str], ZeroFigures] = field(default_factory=dict)
    stuck: list[StuckStudent] = field(default_factory=list)
    lines: list[StudentSummary] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)

    def add(self, sheet: StudentRecord, page: str = "") -> None:
        """Count a student; page is the name of the file with their feedback."""
        reason = "; ".join(filter(None, (f"{each.stage}: {why}" for each in sheet.entries if (why := lacks(each)))))
        line = StudentSummary(sheet.student, sheet.passed, len(sheet.entries), round(sheet.points, 2), page, reason)
        self.lines.append(line)
        if sheet.name:
            self.names[sheet.student] = sheet.name
        for entry in sheet.entries:
            if (zero := zero_of(entry)) is not None and (own := zero_of(entry, as_one=False)) is not None:
                found = self.zeros.setdefault((entry.stage, *zero), ZeroFigures(entry.stage, *own))
                found.students.append(sheet.student)
                if found.cause != own[1]:
                    found.cause = zero[1]
            stage = self.stages.setdefault(entry.stage, StageFigures(entry.stage))
            tries = sheet.tries.get(entry.stage, ())
            _count(stage, entry, tries)
            stage.matrix.append(_matrix_line(entry, page, stage.criteria))
            self._name(entry.stage, tries)
            if (slow := stuck(entry, tries)) is not None:
                self.stuck.append(slow)

    def _name(self, stage: str, tries: Sequence[GradedAttempt]) -> None:
        """Count each mistake once that any of a student's verdicts on a stage names."""
        seen: set[tuple[str, str, str]] = set()
        causes = [
            (str(failure["cause"].get("criterion") or result["id"]), failure["cause"], str(result["id"]))
            for each in tries
            for result in _criteria(each.verdict)
            for failure in result.get("failures") or ()
            if failure.get("cause")
        ]
        for criterion, told, hit in causes:
            text = _LINE.sub("", str(told["text"]))[:MOST_TEXT]
            is_refusal = str(told["id"]).startswith(_REFUSAL)
            key = stage, criterion, _NUMBERS.sub("#", text) if is_refusal else text
            if key not in self.mistakes and len(self.mistakes) >= MOST_MISTAKES:
                continue
            made = MistakeFigures(stage, criterion, text, str(told["fix"] or "")[:MOST_TEXT])
            found = self.mistakes.setdefault(key, made)
            found.hits.add(hit)
            found.students += key not in seen
            seen.add(key)

    def nothing_earned(self, most: int) -> list[ZeroFigures]:
        """Return why modules earn nothing, the reason of the most students first."""
        return sorted(self.zeros.values(), key=lambda each: -len(each.students))[:most]

    def commonest(self, most: int) -> list[MistakeFigures]:
        """Return the mistakes of the most students."""
        return sorted(self.mistakes.values(), key=lambda each: -each.students)[:most]

    def longest(self, most: int) -> list[StuckStudent]:
        """Return who is stuck, the most attempts first."""
        return sorted(self.stuck, key=lambda each: (-each.attempts, each.student))[:most]


KINDS: Mapping[str, str] = {
    "missing": "nothing handed in", "rejected": "cannot be accepted", "import": "imports what is not there",
    "import-error": "cannot be loaded", "syntax": "Python cannot read it", "encoding": "Python cannot read it",
    "forbidden": "uses what is forbidden",
}  # fmt: skip


def zero_of(entry: Entry, as_one: bool = True) -> tuple[str, str] | None:
    """Return the kind and the cause of a mark that nothing could be graded for; None where the module ran.

    as_one leaves out the numbers, in which students with the same cause differ.
    """
    problem = (entry.verdict or {}).get("problem") or {}
    if entry.outcome in ("waits", "fault") or not (problem or entry.outcome in ("missing", "rejected")):
        return None
    kind = entry.outcome if entry.outcome != "graded" else str(problem.get("kind") or "")
    file = PurePath(entry.label).name
    message = entry.problem.removeprefix(f"{entry.student}: ")
    message = message.replace(file, "the module") if file else message
    if entry.outcome == "missing" and "expected" not in message and "another name" not in message:
        message = ""
    cause = _LINE.sub("", message)
    cause = (_NUMBERS.sub("#", cause) if as_one else cause)[:MOST_REASON]
    return KINDS.get(kind, "cannot be graded"), cause


def lacks(entry: Entry) -> str:
    """Return in a few words why an entry has no full pass; empty where it has."""
    if entry.passed:
        return ""
    if entry.outcome == "waits":
        return "waits for an earlier stage"
    if entry.outcome == "fault":
        return "the grader failed"
    if (zero := zero_of(entry, as_one=False)) is not None:
        return ": ".join(filter(None, zero))
    left = [each for each in _criteria(entry.verdict or {}) if each["status"] != "passed"]
    if left and all(each["status"] == "not_started" for each in _criteria(entry.verdict or {})):
        return "not started"
    failing = [each for each in left if each["status"] not in ("not_started", "blocked")]
    caused = (failure["cause"] for each in failing for failure in each.get("failures") or () if failure.get("cause"))
    told = next((str(cause["text"]) for cause in caused), "")
    named = ", ".join(each["id"] for each in (failing or left)[:MOST_NAMED])
    more = f" and {len(failing or left) - MOST_NAMED} more" if len(failing or left) > MOST_NAMED else ""
    return (f"{named}{more}" + (f": {told}" if told else ""))[:MOST_REASON]


def stuck(entry: Entry, tries: Sequence[GradedAttempt]) -> StuckStudent | None:
    """Return that somebody is stuck: many attempts and no full pass, or a criterion, or all, that no attempt passes."""
    if entry.passed or entry.outcome in ("waits", "fault") or any(each.verdict.get("passed") for each in tries):
        return None
    if all(each.verdict.get("problem") for each in tries):
        return StuckStudent(entry.student, entry.stage, entry.attempts, (), False) if entry.attempts >= AGAIN else None
    passing = [{result["id"] for result in _criteria(each.verdict) if result["status"] == "passed"} for each in tries]
    never = [result["id"] for result in _criteria(tries[-1].verdict)] if tries else []
    never = [name for name in never if not any(name in found for found in passing)]
    if len(tries) >= MANY or (len(tries) >= AGAIN and never):
        return StuckStudent(entry.student, entry.stage, len(tries), tuple(never))
    return None


def _matrix_line(entry: Entry, page: str, known: Iterable[str]) -> MatrixLine:
    """Return a student's line; known are the stage's criteria, in their order."""
    zero = zero_of(entry)
    criteria = _criteria(entry.verdict or {}) if entry.outcome == "graded" and zero is None else ()
    states = {each["id"]: _state(each) for each in criteria}
    signs = "".join(SIGNS.get(states.get(each, ""), " ") for each in known) if states else ""
    reached = f"{sum(each == 'passed' for each in states.values())} of {len(states)}"
    outcome = "passed" if entry.passed else zero[0] if zero else reached if states else lacks(entry)
    return MatrixLine(entry.student, page, outcome, signs, entry.points, lacks(entry), entry.by_hand)


def _state(criterion: Document) -> str:
    status = str(criterion["status"])
    return "values_right" if criterion.get("values_right") and status == "failed" else status


def _count(stage: StageFigures, entry: Entry, tries: Sequence[GradedAttempt]) -> None:
    verdict = entry.verdict or {}
    stage.outcomes[entry.outcome] += 1
    ran = entry.outcome == "graded" and zero_of(entry) is None
    for criterion in _criteria(verdict) if ran else ():
        id, text = criterion["id"], str(criterion.get("text") or criterion["id"])
        found = stage.criteria.setdefault(id, CriterionFigures(stage.id, id, text))
        found.of += 1
        found.passed += criterion["status"] == "passed"
        found.robust += criterion.get("robust") is True
        found.not_started += criterion["status"] == "not_started"
    stage.title = stage.title or str(verdict.get("title") or "")
    stage.passed += entry.passed
    stage.late += entry.is_late
    stage.attempts += entry.attempts
    stage.seconds.extend(each.seconds for each in tries if each.verdict.get("duration_s", 0.0) is not None)
    if entry.points is not None and entry.mark is not None and entry.mark.out_of > 0:
        stage.bins[min(int((BINS - 1) * entry.points / entry.mark.out_of + 1e-9), BINS - 1)] += 1


def _criteria(verdict: Document) -> Sequence[Document]:
    found: Sequence[Document] = verdict.get("criteria") or ()
    return found
