"""What the commands do: they decide, grade and record, but print nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__, sealed
from grader.errors import StageLocked, SubmissionError, UsageError
from grader.manifest import Course, Stage, find_course_root, load_course
from grader.progress import Progress, State, Store, current, state_of, waits_for
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
    """What to grade and how: someone's files, not the learner's own, one row, the seed, the isolation, the least."""

    submission: Path | None = None
    only: str | None = None
    seed: int | None = None
    isolation: str = "auto"
    require: str = "auto"


def open_desk(start: Path, key_file: Path | None = None) -> Desk:
    """Find the course that a folder lies in; key_file opens hidden tests that are sealed."""
    root = find_course_root(start)
    course = load_course(root)
    if (key := sealed.wanted_key(key_file)) is not None:
        course = replace(course, stages=tuple(replace(stage, key_file=key) for stage in course.stages))
    return Desk(course, Store(root))


def standings(desk: Desk, progress: Progress) -> tuple[Standing, ...]:
    """Return where the learner stands, stage by stage."""
    here = current(desk.course, progress)
    found: list[Standing] = []
    for stage in desk.course.stages:
        state = state_of(stage, progress, _digest(stage, desk.course))
        found.append(Standing(stage, state, stage is here, waits_for(stage, progress)))
    return tuple(found)


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
        sealed.expect_key(stage, "what somebody handed in")
        return graded(desk, stage, take(stage, wish.submission, desk.course.root), wish, on_test)
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
        grade = _own if wish.submission is None else graded
        yield grade(desk, stage, snapshot, wish, on_test)


def stub_text(stage: Stage) -> str:
    """Return what a stage's module is before anyone has worked on it."""
    if sealed.is_sealed(stage):
        return sealed.stub(stage)
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


def graded(desk: Desk, stage: Stage, snapshot: Snapshot, wish: Wish, on_test: OnTest | None = None) -> Verdict:
    from grader.check import Options, fresh_seed, grade

    seed = fresh_seed() if wish.seed is None else wish.seed
    return grade(desk.course, stage, snapshot, Options(seed, wish.isolation, wish.only, require=wish.require), on_test)


def _own(desk: Desk, stage: Stage, snapshot: Snapshot, wish: Wish, on_test: OnTest | None) -> Verdict:
    """Grade the learner's own module; record that it was worked on and, if all of it passes, the pass.

    Where the hidden tests are sealed there is none to record, but that the public ones pass.
    """
    verdict = graded(desk, stage, snapshot, wish, on_test)
    if not (verdict.passed or verdict.public_passed) or verdict.grader_fault or wish.only is not None:
        desk.store.record_last(stage.id)
        return verdict
    before = desk.store.read()
    record = desk.store.record_pass if verdict.passed else desk.store.record_public
    after = record(stage.id, snapshot.digest, verdict.run.seed, __version__, datetime.now(UTC))
    closed = [each for each in desk.course.stages if state_of(each, before, None) == "locked"]
    return replace(verdict, unlocked=tuple(each.id for each in closed if state_of(each, after, None) == "open"))


def _ungraded(stage: Stage, wish: Wish, error: SubmissionError) -> Verdict:
    """Return the verdict of a stage whose module cannot be taken."""
    from grader.source_check import Problem
    from grader.verdict import decide

    return decide(stage, (), (), _no_run(stage, wish), problem=Problem("missing", error.message, None, error.hint))


def _no_run(stage: Stage, wish: Wish) -> Run:
    from grader.verdict import Run

    return Run(wish.seed or 0, "none", None, 0.0, __version__, "", f"stages/{stage.name}/{stage.module}", wish.only)


def _digest(stage: Stage, course: Course) -> str | None:
    try:
        return take(stage, None, course.root).digest
    except SubmissionError:
        return None
