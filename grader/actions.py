"""What the commands do, between the command line and the rooms of the house: they decide and record, but print nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__
from grader.errors import CourseError, ProgressError, StageLocked, SubmissionError, UsageError
from grader.manifest import Course, Criterion, Stage, find_course_root, load_course
from grader.progress import Progress, State, Store, backup, current, state_of, waits_for
from grader.submission import Snapshot, take

if TYPE_CHECKING:
    from grader.run.outcome import Outcome
    from grader.verdict import Run, Verdict

    OnTest = Callable[[Outcome], None]


@dataclass(frozen=True)
class Desk:
    """A course and what its learner has reached in it."""

    course: Course
    store: Store


@dataclass(frozen=True)
class Standing:
    """Where a learner stands with one stage; waits_for holds the ids that come first."""

    stage: Stage
    state: State
    is_current: bool
    waits_for: tuple[str, ...]


@dataclass(frozen=True)
class Wish:
    """What to grade and how: someone's files instead of the learner's own, one row, the seed, the isolation."""

    submission: Path | None = None
    only: str | None = None
    seed: int | None = None
    isolation: str = "auto"


@dataclass(frozen=True)
class Hint:
    """One hint of a row: its text, and which of how many it is, from 1."""

    criterion: Criterion
    text: str
    number: int
    total: int


def open_desk(start: Path) -> Desk:
    """Find the course that a folder lies in."""
    root = find_course_root(start)
    return Desk(load_course(root), Store(root))


def standings(desk: Desk, progress: Progress) -> tuple[Standing, ...]:
    """Return where the learner stands, stage by stage."""
    here = current(desk.course, progress)
    return tuple(
        Standing(stage, state_of(stage, progress, _digest(stage, desk.course)), stage is here, waits_for(stage, progress))
        for stage in desk.course.stages
    )


def stage_or_current(desk: Desk, name: str | None) -> Stage:
    """Return the stage of that name or, without one, the one to work on; UsageError where no stage is left."""
    if name is not None:
        return desk.course.find(name)
    stage = current(desk.course, desk.store.read())
    if stage is None:
        raise UsageError("no stage is left to work on: each is passed or skipped", "Name one: `grader check s01`.")
    return stage


def locked_by(desk: Desk, stage: Stage, progress: Progress) -> tuple[Stage, ...]:
    """Return the stages that come before a locked one; none where it is not locked."""
    if state_of(stage, progress, None) != "locked":
        return ()
    return tuple(desk.course.find(each) for each in waits_for(stage, progress))


def locked_error(stage: Stage, first: tuple[Stage, ...]) -> StageLocked:
    """Return the error that says what comes first, and how to begin here all the same."""
    names = " and ".join(f"{each.id} ({each.title})" for each in first)
    verb = "comes" if len(first) == 1 else "come"
    hint = f"`grader check {first[0].id}` grades what comes first; `grader start {stage.id}` skips it and begins here."
    return StageLocked(f"{stage.id} is locked: {names} {verb} first", hint)


def locked_verdict(stage: Stage, wish: Wish) -> Verdict:
    """Return the verdict of a stage that was not graded because others come first."""
    from grader.verdict import Verdict

    return Verdict(stage.id, stage.title, False, (), _no_run(stage, wish), locked=True)


def check(desk: Desk, stage: Stage, wish: Wish, on_test: OnTest | None = None) -> Verdict:
    """Grade a stage; the learner's own is refused while it is locked, and a pass of it is recorded."""
    if wish.only is not None:
        stage.criterion(wish.only)
    if wish.submission is not None:
        return _graded(desk, stage, take(stage, wish.submission, desk.course.root), wish, on_test)
    if first := locked_by(desk, stage, desk.store.read()):
        raise locked_error(stage, first)
    return _own(desk, stage, take(stage, None, desk.course.root), wish, on_test)


def check_all(desk: Desk, wish: Wish, on_test: OnTest | None = None) -> Iterator[Verdict]:
    """Grade one stage after the other: all of someone's files, or the learner's own that are unlocked or begun."""
    for stage in desk.course.stages:
        if wish.submission is None and locked_by(desk, stage, desk.store.read()) and not _is_begun(desk, stage):
            continue
        try:
            snapshot = take(stage, wish.submission, desk.course.root)
        except SubmissionError as error:
            yield _ungraded(stage, wish, error)
            continue
        grade = _own if wish.submission is None else _graded
        yield grade(desk, stage, snapshot, wish, on_test)


def hint(desk: Desk, stage: Stage, criterion: str | None) -> Hint | None:
    """Return the next hint of a row; without one, of the first row that a check finds not passed, None where all pass."""
    row = stage.criterion(criterion) if criterion is not None else _first_not_passed(desk, stage)
    if row is None:
        return None
    number = desk.store.next_hint(stage.id, row.id, len(row.hints))
    return Hint(row, row.hints[number], number + 1, len(row.hints))


def start(desk: Desk, stage: Stage) -> tuple[str, ...]:
    """Make a stage the current one and return the ids that are skipped now; what is passed stays passed.

    Only stages before it, and those that it waits for, are skipped: from it on, what was skipped earlier is open again.
    """
    progress = desk.store.read()
    before = {each.id for each in desk.course.stages if each.number < stage.number} | _needed(desk.course, stage)
    skipped = [each.id for each in desk.course.stages if each.id in before and each.id not in progress.passed]
    for each in desk.course.stages:
        if each.id in progress.skipped and each.id not in before:
            desk.store.forget(each.id)
    desk.store.record_skip(skipped)
    desk.store.record_last(stage.id)
    return tuple(skipped)


def reset(desk: Desk, stage: Stage) -> Path | None:
    """Put the stub back in place of the learner's module; return where the old file is kept, None if nothing was lost."""
    stub = stub_text(stage)
    path = stage.module_path
    kept = None if is_stub(stage) else backup(desk.course.root, path, datetime.now(UTC))
    fresh = path.with_name(f".{path.name}.new")
    try:
        fresh.write_text(stub, encoding="utf-8", newline="\n")
        fresh.replace(path)
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise ProgressError(f"{path} cannot be written: {error.strerror}") from error
    desk.store.forget(stage.id)
    return kept


def solution(desk: Desk, stage: Stage) -> str:
    """Return the reference solution of a stage that the learner has passed; StageLocked before that."""
    from grader.mistakes import reference_source

    if stage.id not in desk.store.read().passed:
        more = f"`grader hint {stage.id}` helps one step further, and `grader show {stage.id}` explains the stage."
        raise StageLocked(f"the solution of {stage.id} is shown once {stage.id} has passed", more)
    return reference_source(stage)


def write_new(path: Path, text: str) -> None:
    """Write a file that does not exist yet; UsageError where something of that name does."""
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError as error:
        raise UsageError(f"{path} exists already, and is not overwritten", "Name another file.") from error
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def readme(stage: Stage) -> str:
    """Return the text of a stage's README."""
    try:
        return stage.readme_path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"stages/{stage.name}/README.md cannot be read: {error}") from error


def stub_text(stage: Stage) -> str:
    """Return what a stage's module is before anyone has worked on it."""
    from grader.course.stub import stub_of
    from grader.mistakes import reference_source

    return stub_of(reference_source(stage))


def is_stub(stage: Stage) -> bool:
    """Say whether the learner's module is still the stub, or not there at all."""
    try:
        return stage.module_path.read_bytes().replace(b"\r\n", b"\n") == stub_text(stage).encode()
    except OSError:
        return True


def _is_begun(desk: Desk, stage: Stage) -> bool:
    return stage.id in desk.store.read().passed or not is_stub(stage)


def _graded(desk: Desk, stage: Stage, snapshot: Snapshot, wish: Wish, on_test: OnTest | None) -> Verdict:
    from grader.check import Options, fresh_seed, grade

    seed = fresh_seed() if wish.seed is None else wish.seed
    return grade(desk.course, stage, snapshot, Options(seed, wish.isolation, wish.only), on_test)


def _own(desk: Desk, stage: Stage, snapshot: Snapshot, wish: Wish, on_test: OnTest | None) -> Verdict:
    """Grade the learner's own module; record that it was worked on and, if all of it passes, the pass."""
    verdict = _graded(desk, stage, snapshot, wish, on_test)
    if not verdict.passed or verdict.grader_fault or wish.only is not None:
        desk.store.record_last(stage.id)
        return verdict
    before = desk.store.read()
    after = desk.store.record_pass(stage.id, snapshot.digest, verdict.run.seed, __version__, datetime.now(UTC))
    closed = [each for each in desk.course.stages if state_of(each, before, None) == "locked"]
    return replace(verdict, unlocked=tuple(each.id for each in closed if state_of(each, after, None) == "open"))


def _first_not_passed(desk: Desk, stage: Stage) -> Criterion | None:
    """Grade without recording; a row that waits for another is not the first, unless nothing else is left."""
    verdict = _graded(desk, stage, take(stage, None, desk.course.root), Wish(), None)
    if verdict.problem is not None:
        hint = verdict.problem.hint or f"`grader check {stage.id}` shows where."
        raise SubmissionError(f"{verdict.run.label}: {verdict.problem.message}", hint)
    left = [row for row in verdict.criteria if row.status != "passed"]
    left.sort(key=lambda row: row.status == "blocked")
    return stage.criterion(left[0].id) if left else None


def _ungraded(stage: Stage, wish: Wish, error: SubmissionError) -> Verdict:
    """Return the verdict of a stage whose module cannot be taken."""
    from grader.source_check import Problem
    from grader.verdict import decide

    return decide(stage, (), (), _no_run(stage, wish), problem=Problem("missing", error.message, None, error.hint))


def _no_run(stage: Stage, wish: Wish) -> Run:
    from grader.verdict import Run

    return Run(wish.seed or 0, "none", None, 0.0, __version__, "", f"stages/{stage.name}/{stage.module}", wish.only)


def _needed(course: Course, stage: Stage) -> set[str]:
    """Return the ids of all stages that a stage builds on, however far away."""
    found: set[str] = set()
    queue = list(stage.requires)
    while queue:
        if (each := queue.pop()) not in found:
            found.add(each)
            queue += course.find(each).requires
    return found


def _digest(stage: Stage, course: Course) -> str | None:
    try:
        return take(stage, None, course.root).digest
    except SubmissionError:
        return None
