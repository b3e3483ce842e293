"""One grading as data, and the function that does it in a process of the pool: nothing of it needs a shared disk.

An executor as in concurrent.futures calls `grade_job` in processes that `prepare` has told the course.
"""

from __future__ import annotations

import hashlib
import os
import platform
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from grader import __version__
from grader.course.provenance import Provenance
from grader.course.stage import Course, Feedback, Stage
from grader.errors import GraderError, GraderFault, StageWaits
from grader.gradebook.records import Attempt, Key
from grader.judging.grading import Grader, Options
from grader.progress.workspace import waiting
from grader.report.document import verdict_document
from grader.report.feedback import known_names, lower, shown
from grader.submission import Snapshot
from grader.submission.parsing import Problem
from grader.verdict import Run, Verdict, decide

DIGEST = 8  # characters of each digest in a course version
_course: list[tuple[Course, Provenance]] = []  # of this process
_warm: dict[str, Grader] = {}
_versions: dict[str, str] = {}  # as they were when a stage's tests were loaded


@dataclass(frozen=True)
class GradingJob:
    """What to grade; the seed and the tier of isolation stand in key.

    pool holds texts of others that passed, whose values steer the search for causes. recurs says that others have the
    same seed.
    """

    key: Key
    attempt: Attempt
    snapshot: Snapshot
    feedback: Feedback
    pool: tuple[bytes, ...] = ()
    recurs: bool = False


@dataclass(frozen=True)
class Done:
    """What came of a job: the verdict's document, whether the grader failed, seconds, and the process that did it.

    fault is what failed, in full, for those who grade; the document says only what feedback allows.
    """

    verdict: Mapping[str, Any]
    is_fault: bool
    seconds: float
    worker: str
    fault: str = ""


def course_version(stage: Stage) -> str:
    """Return the version of the grader, a digest of a stage's tests, and one of its manifest, answers and uses."""
    tests, others = hashlib.sha256(), hashlib.sha256()
    for each in (stage, *stage.builds_on):
        for folder in (each.folder, each.hidden_root / each.name):
            for path in sorted(folder.rglob("*")):
                own = path.name in (each.module, "README.md") and path.parent == each.folder
                if path.is_file() and not own and "__pycache__" not in path.parts:
                    is_test = each is stage and path.name.startswith("test_")
                    found = tests if is_test else others
                    found.update(f"{path.relative_to(folder).as_posix()}\0".encode())
                    found.update(hashlib.sha256(path.read_bytes()).digest())
    return f"{__version__}+{tests.hexdigest()[:DIGEST]}.{others.hexdigest()[:DIGEST]}"


def ungraded(stage: Stage, key: Key, feedback: Feedback, why: GraderError, made: Provenance) -> Mapping[str, Any]:
    """Return the document of what could not be graded: by the submission's fault, by the grader's, or not yet."""
    run = Run(key.seed, "none", None, 0.0, __version__, key.digest, f"stages/{stage.name}/{stage.module}")
    if isinstance(why, GraderFault):
        verdict = decide(stage, (), (), run, faults=(why.message,))
    elif isinstance(why, StageWaits):
        verdict = waiting(stage, run, why)
    else:
        problem = Problem("missing", why.message, None, why.hint)
        verdict = decide(stage, (), (), run, problem=problem)
    return _document(stage, verdict, feedback, made)


def _document(stage: Stage, verdict: Verdict, feedback: Feedback, made: Provenance) -> Mapping[str, Any]:
    told = shown(verdict, lower(stage.feedback, feedback), known_names(stage))
    provenance = replace(made, revision=verdict.run.revision)
    return verdict_document(replace(told, run=replace(told.run, provenance=provenance)))


def prepare(course: Course, made: Provenance) -> None:
    """Tell this process the course that it grades, and what results are made with."""
    _course[:] = [(course, made)]


def plan_of(job: GradingJob) -> tuple[str, int]:
    """Return what tells the plan of a job's tests from others: a process that has made it can use it again."""
    return job.key.stage, job.key.seed


def grade_job(job: GradingJob) -> Done:
    """Grade one submission; the tests of the stage stay loaded for the next."""
    started = time.monotonic()
    ((course, made),) = _course
    stage = course.find(job.key.stage)
    if stage.id not in _versions:
        _versions[stage.id] = course_version(stage)
    if _versions[stage.id] != job.key.course:
        raise GraderFault(f"the course here is {_versions[stage.id]}, expected {job.key.course}")
    options = Options(job.key.seed, job.key.isolation, feedback=job.feedback, pool=job.pool, recurs=job.recurs)
    verdict = _grader(course, stage).grade(job.snapshot, options)
    seconds = time.monotonic() - started
    document = _document(stage, verdict, job.feedback, made)
    fault = "; ".join(faults(verdict)) if verdict.grader_fault else ""
    return Done(document, verdict.grader_fault, seconds, f"{platform.node()}:{os.getpid()}", fault)


def faults(verdict: Verdict) -> Iterator[str]:
    """Yield what failed on our side, for those who grade: of the whole run, and the first test of each criterion.

    Beside a reference that is held back a test's message is, too.
    """
    yield from verdict.faults
    for criterion in verdict.criteria:
        told = next((each for each in criterion.failures if each.status == "grader_fault"), None)
        if told is not None:
            yield f"criterion {criterion.id}, {told.test}" + ("" if verdict.run.withheld else f": {told.message}")


def _grader(course: Course, stage: Stage) -> Grader:
    """Return the grader of a stage; that of another stage is closed, since a class is graded stage by stage."""
    for name in [name for name in _warm if name != stage.id]:
        _warm.pop(name).close()
    return _warm.setdefault(stage.id, Grader(course, stage, warm=True))
