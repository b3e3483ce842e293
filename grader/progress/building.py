"""What a submission builds on: the modules of earlier stages, the learner's own where their very text has passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader import shell
from grader.course.sealed import is_self_paced, public_only
from grader.course.stage import Course, Stage
from grader.errors import GraderFault, SubmissionError
from grader.progress.store import Store
from grader.submission import Snapshot, holds_stages, take
from grader.submission.earlier import Lending, used_modules

if TYPE_CHECKING:
    from grader.verdict import Verdict


def lending(course: Course, stage: Stage, path: Path | None, since: datetime | None, now: datetime) -> Lending | None:
    """Return when references serve what lies at path; None where they always do, and nothing is held back.

    That is beside one's own files, and in a copy for self-study, whose key travels along.
    """
    if path is None or is_self_paced(stage):
        return None
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


def passed_beside(
    course: Course,
    stage: Stage,
    path: Path | None,
    passed: Mapping[str, str],
    grade: Callable[[Stage, Snapshot, Mapping[str, str]], Verdict],
) -> Mapping[str, str]:
    """Return, by stage, the digests of what has passed, with those of the modules at path that a stage builds on.

    grade grades one of these, given what has passed so far. Raises GraderFault where the grader fails at one.
    """
    known = dict(passed)
    for used in () if path is None or is_self_paced(stage) else stage.builds_on:
        module = None if used.id in known else beside(course, used, path)
        if module is None:
            continue
        verdict = grade(used, module, known)
        if verdict.grader_fault:
            raise GraderFault(f"{used.id}, which {stage.id} builds on, could not be graded")
        if verdict.passed:
            known[used.id] = module.digest
    return known


def beside(course: Course, used: Stage, path: Path | None) -> Snapshot | None:
    """Return what path holds for an earlier stage; None where that is nothing, or cannot be accepted."""
    if path is not None and not holds_stages(path):
        return None
    try:
        return take(used, path, course.root)
    except SubmissionError:
        return None
