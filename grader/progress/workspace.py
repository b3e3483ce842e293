"""A course with its learner's progress, what a command asks to be graded in it, and the grading of one module there.

A module is graded with those of earlier stages that it builds on: the learner's own where their very text has passed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader import __version__, shell
from grader.course import sealed
from grader.course.formulas import in_words
from grader.course.manifest import load_course
from grader.course.sealed import is_self_paced, public_only
from grader.course.settings import find_course_root
from grader.course.stage import Course, Feedback, Stage
from grader.course.table import together
from grader.errors import GraderFault, StageLocked, StageWaits, SubmissionError
from grader.progress.state import Progress, current, state_of, waits_for
from grader.progress.store import Store

if TYPE_CHECKING:
    from grader.judging.grading import Options
    from grader.outcome import Outcome
    from grader.submission import Snapshot
    from grader.submission.earlier import Lending
    from grader.verdict import Run, Verdict

    OnTest = Callable[[Outcome], None]
    OnDecided = Callable[[Verdict], None]
    Grade = Callable[[Course, Stage, Snapshot, Options, OnTest | None, OnDecided | None], Verdict]


def lending_for(
    course: Course, stage: Stage, path: Path | None, since: datetime | None, now: datetime
) -> Lending | None:
    """Return when references serve what lies at path; None where they always do, and nothing is held back.

    That is beside one's own files, and in a copy for self-study, whose key travels along.
    """
    if path is None or is_self_paced(stage):
        return None
    from grader.submission.earlier import Lending

    folder = shell.quoted(str(path))
    return Lending(lambda used: since, now, lambda used: beside(course, used, path) is not None, folder=folder)


def equipped(
    course: Course,
    store: Store,
    stage: Stage,
    snapshot: Snapshot,
    path: Path | None,
    passed: Mapping[str, str],
    lending: Lending | None = None,
) -> Snapshot:
    """Return a snapshot, taken from path, with the modules that it may import.

    One that was handed in beside it serves where its very text has passed: as recorded here, or earlier in the same
    run, of which passed holds the digests by stage. Without lending every reference serves, as in one's own copy.
    """
    if not stage.builds_on:
        return snapshot
    from grader.submission.earlier import used_modules  # which `grader status` does without

    progress = store.read()

    def own(used: Stage) -> Snapshot | None:
        recorded = {**progress.public, **progress.passed}
        if not (public_only(used) or used.id in recorded or used.id in passed):
            return None
        return beside(course, used, path)

    def has_passed(used: Stage, digest: str) -> bool:
        known = [passed.get(used.id), *(each.digest for each in (progress.passed.get(used.id),) if each)]
        if public_only(used) and used.id in progress.public:  # of what can be seen without the key, it is all
            known.append(progress.public[used.id].digest)
        return digest in known

    return replace(snapshot, uses=used_modules(stage, own, has_passed, lending))


def beside(course: Course, used: Stage, path: Path | None) -> Snapshot | None:
    """Return what path holds for an earlier stage; None where that is nothing, or cannot be accepted."""
    from grader.submission import holds_stages, take

    if path is not None and not holds_stages(path):
        return None
    try:
        return take(used, path, course.root)
    except SubmissionError:
        return None


@dataclass(frozen=True)
class Workspace:
    """A course and what its learner has reached in it; grade is what grades, by default a new grader each time.

    within is the stage in whose folder the learner works, if it is one.
    """

    course: Course
    store: Store
    grade: Grade | None = None
    within: Stage | None = None


@dataclass(frozen=True)
class GradingRequest:
    """What to grade and how: someone's files, one criterion, the seed, the isolation, the least, and whose work it is.

    passed holds, by stage, the digest of what passed earlier in the same run; ahead the criteria to begin with. lent
    says from when on references serve someone's files, None for never; one's own they always serve, and ours, the
    course's. asked is a criterion that somebody wants to read, of a whole check; feedback how much is told at most.
    now is the one moment with which all of the command is compared. anyway grades the learner's own where it is locked.
    """

    submission: Path | None = None
    only: str | None = None
    seed: int | None = None
    isolation: str = "auto"
    require: str = "auto"
    student: str | None = None
    passed: Mapping[str, str] = field(default_factory=dict)
    ahead: tuple[str, ...] = ()
    lent: datetime | None = None
    ours: bool = False
    anyway: bool = False
    asked: str | None = None
    feedback: Feedback = "full"
    now: datetime = field(default_factory=lambda: datetime.now(UTC))


def open_workspace(start: Path, key_file: Path | None = None) -> Workspace:
    """Find the course that a folder lies in; key_file opens hidden tests that are sealed."""
    root = find_course_root(start)
    course = load_course(root)
    if (key := sealed.wanted_key(key_file)) is not None:
        course = replace(course, stages=tuple(stage.with_key(key) for stage in course.stages))
    here, top = start.resolve(), root.resolve()  # a link may lead out of the course
    place = here.relative_to(top).parts[:2] if here.is_relative_to(top) else ()
    within = next((stage for stage in course.stages if place == (stage.folder.parent.name, stage.name)), None)
    return Workspace(course, Store(root), within=within)


def graded(
    workspace: Workspace,
    stage: Stage,
    snapshot: Snapshot,
    request: GradingRequest,
    on_test: OnTest | None = None,
    on_decided: OnDecided | None = None,
) -> Verdict:
    """Grade a snapshot of one stage's module, and record nothing."""
    from grader.judging.grading import Options, fresh_seed, grade

    path = None if request.ours else request.submission
    lending = lending_for(workspace.course, stage, path, request.lent, request.now)
    try:
        snapshot = equipped(
            workspace.course, workspace.store, stage, snapshot, request.submission, request.passed, lending
        )
    except StageWaits as why:
        run = replace(no_run(stage, request), label=snapshot.label, revision=snapshot.revision)
        return waiting(stage, run, why)
    seed = fresh_seed() if request.seed is None else request.seed
    asked = () if request.asked is None else (request.asked,)
    options = Options(
        seed, request.isolation, request.only, require=request.require, ahead=request.ahead, asked=asked,
        feedback=request.feedback,
    )  # fmt: skip
    return (workspace.grade or grade)(workspace.course, stage, snapshot, options, on_test, on_decided)


def passed_beside(
    workspace: Workspace, stage: Stage, request: GradingRequest, on_test: OnTest | None
) -> Mapping[str, str]:
    """Return, by stage, the digests of what has passed, with those of the earlier modules that came with a stage's.

    These are graded here. Raises GraderFault where the grader fails at one.
    """
    path = None if request.ours else request.submission
    known = dict(request.passed)
    for used in () if path is None or is_self_paced(stage) else stage.builds_on:
        module = None if used.id in known else beside(workspace.course, used, path)
        if module is None:
            continue
        verdict = graded(workspace, used, module, replace(request, only=None, asked=None, passed=known), on_test)
        if verdict.grader_fault:
            raise GraderFault(f"{used.id}, which {stage.id} builds on, could not be graded")
        if verdict.passed:
            known[used.id] = module.digest
    return known


def no_run(stage: Stage, request: GradingRequest) -> Run:
    """Return what is known of a run in which no test was run."""
    from grader.verdict import Run

    return Run(
        request.seed or 0, "none", None, 0.0, __version__, "", f"stages/{stage.name}/{stage.module}", request.only
    )


def waiting(stage: Stage, run: Run, why: StageWaits) -> Verdict:
    """Return the verdict of a module that waits for earlier stages: no criterion of it was graded."""
    from grader.submission.parsing import Problem
    from grader.verdict import Verdict

    problem = Problem("waits", why.message, None, why.hint)
    return Verdict(stage.id, stage.title, False, (), run, problem, waits_for=why.stages)


_NEEDED = r"(?ms)^\*\*You need\*\* (?P<text>.+?)(?:\n\n|\Z)"
_LONGEST = 480  # characters of a README that fit on one screen beside the ways


def locked_by(workspace: Workspace, stage: Stage, progress: Progress) -> tuple[Stage, ...]:
    """Return the stages that come before a locked one; none where it is not locked."""
    if state_of(stage, progress, None) != "locked":
        return ()
    return tuple(workspace.course.find(each) for each in waits_for(stage, progress))


def locked_error(workspace: Workspace, stage: Stage, progress: Progress) -> StageLocked:
    """Return the error that names what comes first, what the stage builds on, and how to work on it all the same."""
    first = locked_by(workspace, stage, progress)
    names = _named(first)
    verb = "comes" if len(first) == 1 else "come"
    here = current(workspace.course, progress)
    ways = [
        f"`grader start {stage.id}` begins here; earlier stages are recorded as skipped.",
        f"`grader check {stage.id} --anyway` grades it as it is; nothing is recorded.",
    ]
    if here is not None:  # what comes first may be locked as well
        ways.insert(0, f"`grader check {here.id}` grades the stage where you are.")
    hint = "\n".join([builds_on(stage), *(f"- {way}" for way in ways)])
    return StageLocked(f"{stage.id} is locked: {names} {verb} first", hint)


def builds_on(stage: Stage) -> str:
    """Return what a stage builds on, in a few sentences: what its README asks for, and the code that it imports."""
    try:
        found = re.search(_NEEDED, in_words(stage.readme_path.read_text(encoding="utf-8")))
    except (OSError, ValueError):
        found = None
    needed = " ".join(found["text"].split()) if found is not None else ""
    asks = f"To work on {stage.id} you need {_first_sentences(needed)}\n" if needed else ""
    used = [each for each in stage.builds_on if each.id in stage.uses]
    if not used:
        return f"{asks}Its module imports no earlier stage."
    return f"{asks}Its module may import {_named(used)}: your own once that has passed."


def _named(stages: Sequence[Stage]) -> str:
    return together(f"{each.id} ({each.title})" for each in stages)


def _first_sentences(text: str) -> str:
    """Return as many whole sentences as fit on a screen; at least one."""
    if text.endswith(":"):  # a formula or a list follows
        text = text[: text.rfind(". ") + 1] or f"{text[:-1]}."
    while len(text) > _LONGEST and ". " in text[:-1]:
        text = text[: text.rstrip(".").rfind(". ") + 1]
    return text


def locked_verdict(stage: Stage, request: GradingRequest, why: StageLocked) -> Verdict:
    """Return the verdict of a stage that was not graded because others come first."""
    from grader.submission.parsing import Problem
    from grader.verdict import Verdict

    problem = Problem("locked", why.message, None, why.hint)
    return Verdict(stage.id, stage.title, False, (), no_run(stage, request), problem, locked=True)
