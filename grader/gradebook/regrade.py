"""Grading again, with the course and the policy of now: who would change, by how much and why, before anything does.

Results are kept, since they are true, but count only once they are applied; so applying does not grade again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.gradebook.intake.taking import Taken
from grader.gradebook.marking import counted, mark
from grader.gradebook.records import Attempt, Mark, Result
from grader.gradebook.running import Coordinator
from grader.gradebook.setting import Setting
from grader.gradebook.store import Gradebook
from grader.gradebook.worth.credit import Counted, marks
from grader.submission import Snapshot

MOST_ROWS = 3  # that are named in a reason


@dataclass(frozen=True)
class Difference:
    """How a mark would change, and why; override says what counts instead of either, if anything does.

    Its rows, or what it is made of, may change without its points.
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


def again(book: Gradebook, stages: tuple[Stage, ...]) -> dict[str, list[Taken]]:
    """Return, by stage, every attempt that has a result, from the texts that the gradebook keeps."""
    by_id = {stage.id: stage for stage in stages}
    found: dict[str, list[Taken]] = {stage.id: [] for stage in stages}
    for attempt in book.attempts():
        if attempt.stage in by_id and attempt.result is not None:
            found[attempt.stage].append(_taken(book, attempt, by_id[attempt.stage]))
    return found


def _taken(book: Gradebook, attempt: Attempt, stage: Stage) -> Taken:
    assert attempt.result is not None
    text = book.source(attempt.digest)
    if text is not None:
        return Taken(attempt, Snapshot(stage.module, text, attempt.digest, stage.module_path, attempt.label))
    before = book.result(attempt.result)
    problem = before.verdict.get("problem") or {}
    error = SubmissionError(str(problem.get("message", "nothing was handed in")), problem.get("hint"))
    return Taken(attempt, None, before.outcome, error)


def differences(book: Gradebook, setting: Setting, found: Mapping[tuple[str, str, str], int]) -> Iterator[Difference]:
    """Yield what would change if these results counted; found is the number of a result by student, stage, digest."""
    before = {(mark.student, mark.stage): mark for mark in book.marks()}
    overrides = {(each.student, each.stage): each.points for each in book.overrides()}
    for student in dict.fromkeys(attempt.student for attempt in book.attempts()):
        old = counted(book, student)
        new = [_with(book, each, found) for each in old]
        for after in marks(setting.policy, new):
            cell = student, after.stage
            known = before.get(cell)
            results = [_of(each, one) for each, one in ((old, known), (new, after))]
            if known is None or _worth(known) != _worth(after) or _rows(results[0]) != _rows(results[1]):
                yield Difference(student, after.stage, known, after, _why(*results), overrides.get(cell))


def apply(book: Gradebook, setting: Setting, found: Mapping[tuple[str, str, str], int], reason: str) -> None:
    """Let results count, and bring all marks up to date: all of it, or nothing."""
    with book.changing():
        book.keep_passes(setting.policy.passes(setting.course.stages))
        for (student, stage, digest), number in found.items():
            book.count_for(student, stage, digest, number)
        for student in dict.fromkeys(attempt.student for attempt in book.attempts()):
            mark(book, setting.policy, student, reason, setting.now())


def results(coordinator: Coordinator, book: Gradebook, stages: tuple[Stage, ...]) -> dict[tuple[str, str, str], int]:
    """Grade every attempt of stages again, where that has not been done; return the results that are no faults."""
    found: dict[tuple[str, str, str], int] = {}
    for stage_id, taken in again(book, stages).items():
        stage = next(stage for stage in stages if stage.id == stage_id)
        found |= coordinator.regrade(stage, taken)
    return found


def _with(book: Gradebook, each: Counted, found: Mapping[tuple[str, str, str], int]) -> Counted:
    attempt = each.attempt
    number = found.get((attempt.student, attempt.stage, attempt.digest))
    return each if number is None else replace(each, result=book.result(number), number=number)


def _of(all_of: list[Counted], mark: Mark | None) -> Result | None:
    return next((each.result for each in all_of if mark is not None and each.number == mark.result), None)


def _worth(mark: Mark) -> Mark:
    return replace(mark, result=0)


def _rows(result: Result | None) -> dict[str, str]:
    """Return which row is how, in a result."""
    return {} if result is None else {row["id"]: row["status"] for row in result.verdict["criteria"]}


def _why(old: Result | None, new: Result | None) -> str:
    """Return in words what differs between two results: the rows, and what they were graded with."""
    if old is None or new is None:
        return "graded for the first time"
    changed = [(name, getattr(old.key, name), getattr(new.key, name)) for name in ("course", "isolation", "digest")]
    reasons = [
        "another attempt, or other modules with it" if name == "digest" else f"{name} {before} → {after}"
        for name, before, after in changed
        if before != after
    ]
    rows = _rows(old)
    moved = [
        f"{row['id']}: {rows.get(row['id'], 'new')} → {row['status']}"
        for row in new.verdict["criteria"]
        if rows.get(row["id"]) != row["status"]
    ]
    if not moved and not reasons:
        return "class.toml, what makes a criterion pass, or when it was handed in"
    more = [f"{len(moved) - MOST_ROWS} more rows"] if len(moved) > MOST_ROWS else []
    return "; ".join([*moved[:MOST_ROWS], *more, *reasons])
