"""Marks: points of a verdict's criteria, then lateness, then the attempt that counts; what changes them; their table.

with Gradebook.open(folder) as book:
    for entry in table(book): ...
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from grader.criterion import PASSES, counts_in
from grader.gradebook.policy import Policy, StagePolicy
from grader.gradebook.records import Attempt, Mark, Member, Outcome, Override, Result, Waiting
from grader.gradebook.store import Gradebook
from grader.report.escape import joined
from grader.report.stored import criterion_passes
from grader.report.terminal.words import count, reached_of

_NEVER = datetime.max.replace(tzinfo=UTC)
_NOTHING: Mapping[str, Any] = {}
DIGITS = 2  # of points
MOST_CRITERIA = 3  # that are named in a reason


def credit(criterion: Mapping[str, Any], policy: StagePolicy) -> float:
    """Return which part of its points a criterion of a verdict earns, from 0 to 1.

    A criterion that passes earns all of them, however robust it is. One that does not earns something by kinds only if
    all its values are right, and by tests only if some are: a function that refuses everything passes all tests of
    refusals.
    """
    if criterion_passes(criterion, policy.passes):
        return 1.0
    kinds = criterion["kinds"]
    if policy.partial == "kinds":
        right_values = criterion["status"] in ("passed", "failed") and counts_in(criterion).values_pass
        weights = {kind: policy.kinds.get(kind, 0.0) for kind in kinds} if right_values else {}
        right = [kind for kind in weights if kinds[kind]["tests_passed"] == kinds[kind]["tests_total"]]
        whole = sum(weights.values())
        return sum(weights[kind] for kind in right) / whole if whole else 0.0
    if policy.partial == "none" or ("values" in kinds and not kinds["values"]["tests_passed"]):
        return 0.0
    return criterion["tests_passed"] / criterion["tests_total"] if criterion["tests_total"] else 0.0


Given = Mapping[str, float]  # points that a person gave, by criterion


def worth(verdict: Mapping[str, Any], policy: StagePolicy, given: Given = _NOTHING) -> dict[str, tuple[float, float]]:
    """Return by criterion the points that a verdict earns before lateness, and how many there are to be earned."""
    weights = {each["id"]: policy.criteria.get(each["id"], policy.criterion) for each in verdict["criteria"]}
    whole = sum(weights.values())
    scale = 1.0 if policy.points is None else policy.points / whole if whole else 0.0
    return {
        criterion["id"]: (given.get(criterion["id"], credit(criterion, policy) * most), most)
        for criterion in verdict["criteria"]
        for most in (weights[criterion["id"]] * scale,)
    }


def points(verdict: Mapping[str, Any], policy: StagePolicy, given: Given = _NOTHING) -> tuple[float, float]:
    """Return the points that a verdict earns before lateness, and how many there are to be earned."""
    found = worth(verdict, policy, given).values()
    out_of = sum(most for _, most in found) if policy.points is None else policy.points
    return round(sum(earned for earned, _ in found), DIGITS), round(out_of, DIGITS)


def marks(
    policy: Policy, counted: Iterable[tuple[Attempt, Result]], given: Mapping[str, Given] = _NOTHING
) -> tuple[Mark, ...]:
    """Return the marks of one student; counted holds each attempt that has a result, in order.

    given holds, by stage, the criteria of which a person gave the points: they count in every attempt.

    The budget of late days is used in the order of the deadlines, by the attempt that counts in each stage.
    """
    by_stage: dict[str, list[tuple[Attempt, Result]]] = {}
    for attempt, result in counted:
        if result.outcome != "fault":
            by_stage.setdefault(attempt.stage, []).append((attempt, result))
    left = policy.budget
    found: list[Mark] = []
    for stage in sorted(by_stage, key=lambda stage: (policy.of(stage).deadline or _NEVER, stage)):
        handed_in = [each for each in by_stage[stage] if each[1].outcome != "missing"] or by_stage[stage]
        tries = handed_in[-1:] if policy.of(stage).attempts == "last" else handed_in
        possible = [_mark(policy, *each, left, given.get(stage, _NOTHING)) for each in reversed(tries)]
        # The most points; among equals the fewest days of the budget, then the latest.
        found.append(max(possible, key=lambda mark: (mark.points, -mark.budget_days)))
        left -= found[-1].budget_days
    return tuple(sorted(found, key=lambda mark: mark.stage))


def _mark(policy: Policy, attempt: Attempt, result: Result, left: int, given: Given) -> Mark:
    raw, out_of = points(result.verdict, policy.of(attempt.stage), given)
    if result.outcome != "graded":
        raw = 0.0
    days = policy.late_days(attempt.student, attempt.stage, attempt.submitted)
    covered = min(days, left) if raw else 0  # what earns nothing uses no budget
    factor = policy.factor(days - covered) if raw else 1.0
    assert attempt.result is not None
    return Mark(
        attempt.student, attempt.stage, round(raw * factor, DIGITS), out_of, raw, factor, days, covered,
        attempt.digest, attempt.result,
    )  # fmt: skip


def update_marks(book: Gradebook, policy: Policy, student: str, why: str, now: datetime) -> None:
    """Bring the automatic marks of one student up to date with the results that count."""
    book.keep_marks(student, marks(policy, book.counting(student), given(book.overrides(student))), why, now)


def given(overrides: Iterable[Override]) -> dict[str, dict[str, float]]:
    """Return by stage and criterion the points that a person gave to one student."""
    found: dict[str, dict[str, float]] = {}
    for each in overrides:
        if each.criterion:
            found.setdefault(each.stage, {})[each.criterion] = each.points
    return found


@dataclass(frozen=True)
class MarkChange:
    """How a mark would change, and why; override says what counts instead of either, if anything does.

    Its criteria, or what it is made of, may change without its points.
    """

    student: str
    stage: str
    before: Mark | None
    after: Mark
    why: str
    override: float | None = None

    @property
    def changes_points(self) -> bool:
        """Whether the automatic points would be others."""
        return self.before is None or round(self.after.points - self.before.points, 2) != 0


def differences(
    book: Gradebook, policy: Policy, found: Mapping[tuple[str, str, str], int], students: Iterable[str] | None = None
) -> Iterator[MarkChange]:
    """Yield what would change if these results counted; found is the number of a result by student, stage, digest.

    With students, of theirs alone.
    """
    by_hand = book.overrides()
    overrides = {(each.student, each.stage): each.points for each in by_hand if not each.criterion}
    corrected: dict[str, list[Override]] = {}
    for each in by_hand:
        corrected.setdefault(each.student, []).append(each)
    for student in book.students() if students is None else students:
        old = book.counting(student)
        before = {mark.stage: mark for mark in book.marks(student)}
        new = []
        for attempt, result in old:
            number = found.get((student, attempt.stage, attempt.digest))
            new.append((attempt, result) if number is None else (replace(attempt, result=number), book.result(number)))
        by_criterion = given(corrected.get(student, ()))
        for after in marks(policy, new, by_criterion):
            cell = student, after.stage
            known = before.get(after.stage)
            results = [_of(each, one) for each, one in ((old, known), (new, after))]
            was, now = map(_statuses, results)
            if known is None or replace(known, result=after.result) != after or was != now:
                why = _why(known, after, *results) or _by_policy(
                    known, after, results[0], policy.of(after.stage), by_criterion.get(after.stage, _NOTHING)
                )
                yield MarkChange(student, after.stage, known, after, why, overrides.get(cell))


def _of(all_of: Iterable[tuple[Attempt, Result]], mark: Mark | None) -> Result | None:
    return next((result for attempt, result in all_of if mark is not None and attempt.result == mark.result), None)


def _statuses(result: Result | None) -> dict[str, str]:
    """Return the status of each criterion, in a result."""
    return {} if result is None else {each["id"]: each["status"] for each in result.verdict["criteria"]}


def _why(known: Mark | None, after: Mark, old: Result | None, new: Result | None) -> str:
    """Return in words what differs between the results of two marks: the criteria, and what they were graded with."""
    if known is None or old is None or new is None:
        return "graded for the first time"
    reasons = _of_course(old.key.course, new.key.course)
    if old.key.isolation != new.key.isolation:
        reasons.append(f"isolation {old.key.isolation} → {new.key.isolation}")
    if known.attempt != after.attempt:
        reasons.append("another attempt counts")
    elif old.key.digest != new.key.digest:
        reasons.append("other modules of earlier stages")
    statuses = _statuses(old)
    moved = [
        f"{each['id']}: {statuses.get(each['id'], 'new')} → {each['status']}"
        for each in new.verdict["criteria"]
        if statuses.get(each["id"]) != each["status"]
    ]
    more = [f"{len(moved) - MOST_CRITERIA} more criteria"] if len(moved) > MOST_CRITERIA else []
    changed = [f"changed: {', '.join(reasons)}"] if reasons else []
    return "; ".join([*moved[:MOST_CRITERIA], *more, *changed])


def _of_course(before: str, after: str) -> list[str]:
    """Return in words what differs between two versions of a course, as `course_version` writes them."""
    grader, _, old = before.rpartition("+")
    grader_now, _, new = after.rpartition("+")
    names = ["the tests", "other files of the course"]
    if old.count(".") != new.count("."):  # older graders had one digest of all
        names = ["the tests or other files of the course"]
    files = [name for name, was, now in zip(names, old.split("."), new.split("."), strict=False) if was != now]
    return [*([f"the grader {grader} → {grader_now}"] if grader != grader_now else []), *files]


def _by_policy(known: Mark | None, after: Mark, result: Result | None, policy: StagePolicy, by_hand: Given) -> str:
    """Return in words what differs between two marks of one result: which part of class.toml, or of the course."""
    assert known is not None and result is not None
    found = []
    if (known.raw, known.out_of) != (after.raw, after.out_of):
        others = [replace(policy, passes=each) for each in PASSES if each != policy.passes]
        by_tests = (known.raw, known.out_of) in [points(result.verdict, each, by_hand) for each in others]
        found.append("which tests make a criterion pass" if by_tests else "the points in class.toml")
    if known.late_days != after.late_days:
        found.append(f"days late by class.toml: {known.late_days} → {after.late_days}")
    elif known.budget_days != after.budget_days:
        found.append(f"late days that are free: {known.budget_days} → {after.budget_days}")
    elif known.factor != after.factor:
        found.append("what lateness costs by class.toml")
    return f"changed: {', '.join(found)}"


@dataclass(frozen=True)
class Entry:
    """One cell of the table, of a student and a stage.

    mark is the automatic part, None where it waits for an earlier stage or the grader failed so far; override the
    manual part, if any. outcome, verdict (the published document) and submitted are of the attempt that counts;
    attempts says how many there are. identity is the student's number on a learning platform, where one is known; label
    says where that attempt was found, graded when it was graded. fault is why the grader failed, where it did: for
    those who grade, and not for students. member is what the roster knows of the student, if one was given.
    corrections are the points that a person gave for single criteria, which the mark has.
    """

    student: str
    stage: str
    identity: str
    outcome: Outcome
    mark: Mark | None
    override: Override | None
    verdict: Mapping[str, Any] | None
    submitted: datetime | None
    attempts: int
    label: str = ""
    graded: datetime | None = None
    fault: str = ""
    member: Member | None = None
    corrections: tuple[Override, ...] = ()

    @property
    def reason(self) -> str:
        """Why the points are what they are: what the person who gave them said, else the problem."""
        return self.override.reason if self.override is not None else self.problem or self.by_hand

    @property
    def by_hand(self) -> str:
        """The points that a person gave, of the stage or of some criteria, and why; empty where nobody did."""
        if self.override is not None:
            return f"{count(self.override.points, 'point')} given by hand: {self.override.reason}"
        return "; ".join(
            f"{each.criterion}: {count(each.points, 'point')} given by hand, {each.reason}" for each in self.corrections
        )

    @property
    def problem(self) -> str:
        """Why there is no verdict on criteria, in one line, since it goes into cells of tables; else empty.

        Without the folders that things were found in, which are of no concern to students.
        """
        problem = (self.verdict or {}).get("problem")
        told = " ".join(joined(str(problem["message"])).split()) if problem else ""
        at = [place for place, sign in enumerate(self.label) if sign == "@"]  # of repository@revision
        for place in [self.label, *(self.label[:end] for end in reversed(at))]:
            told = told.replace(place, PurePath(place).name) if len(PurePath(place).parts) > 1 else told
        return told

    @property
    def points(self) -> float | None:
        """What counts: the points of a person before those of the grader; None where there are none yet."""
        if self.override is not None:
            return self.override.points
        return None if self.mark is None else self.mark.points

    @property
    def passed(self) -> bool:
        """Whether every criterion of the attempt that counts passes."""
        return self.outcome == "graded" and bool(self.verdict and self.verdict["passed"])

    @property
    def counts(self) -> Mapping[str, int]:
        """How many criteria there are, pass and are robust, of the attempt that counts; nothing without a verdict."""
        found = (self.verdict or {}).get("counts") if self.outcome == "graded" else None
        return found or {}

    @property
    def reached(self) -> str:
        """The same in words; empty without a verdict."""
        found = self.counts
        return reached_of(found["passed"], found["criteria"], found["robust"]) if found.get("criteria") else ""

    @property
    def is_late(self) -> bool:
        """Whether the attempt that counts was handed in after the deadline and its grace."""
        return self.mark is not None and self.mark.late_days > 0


def table(book: Gradebook) -> tuple[Entry, ...]:
    """Return the marks of all students, by student and then by stage."""
    return tuple(entries(book))


def entries(book: Gradebook, student: str | None = None) -> Iterator[Entry]:
    """Yield the same one by one, so that a large class's verdicts are never all in memory; all, or one student's."""
    marks = {(mark.student, mark.stage): mark for mark in book.marks(student)}
    by_hand = book.overrides(student)
    overrides = {(each.student, each.stage): each for each in by_hand if not each.criterion}
    corrections: dict[tuple[str, str], tuple[Override, ...]] = {}
    for each in by_hand:
        if each.criterion:
            cell = each.student, each.stage
            corrections[cell] = (*corrections.get(cell, ()), each)
    faults, waiting = book.faults(), book.waiting()
    roster = {member.student: member for member in book.roster()}
    attempts: dict[tuple[str, str], list[Attempt]] = {}
    for attempt in book.attempts(student):
        attempts.setdefault((attempt.student, attempt.stage), []).append(attempt)
    for cell in sorted({*attempts, *overrides}):
        mark, mine = marks.get(cell), attempts.get(cell, [])
        waits = [waiting[key] for each in mine if (key := (*cell, each.digest)) in waiting]
        counts = next((each for each in mine if mark and each.digest == mark.attempt), mine[-1] if mine else None)
        result = book.result(mark.result) if mark else None
        if waits and result is not None and result.outcome != "graded":  # a zero for nothing gives way to what waits
            counts, mark, result = mine[-1], None, None
        outcome: Outcome = result.outcome if result else _ungraded(mine, waits)
        yield Entry(
            *cell,
            identity=next((each.identity for each in reversed(mine) if each.identity), ""),
            outcome=outcome,
            mark=mark,
            override=overrides.get(cell),
            verdict=result.verdict if result else waits[-1].verdict if outcome == "waits" else None,
            submitted=counts.submitted if counts else None,
            attempts=sum(bool(each.label) for each in mine),  # who handed in nothing made none
            label=counts.label if counts else "",
            graded=result.at if result else None,
            fault=faults.get(cell, "") if outcome == "fault" else "",
            member=roster.get(cell[0]),
            corrections=corrections.get(cell, ()),
        )


def _ungraded(attempts: Sequence[Attempt], waits: Sequence[Waiting]) -> Outcome:
    """Return what came of attempts of which none has a result that counts."""
    if waits and all(each.result is not None or each.digest in {one.digest for one in waits} for each in attempts):
        return "waits"
    return "fault" if attempts else "missing"
