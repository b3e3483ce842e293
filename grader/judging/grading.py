"""One grading run from a learner's snapshot to a verdict: the only place where the rooms of the house meet."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from grader import __version__
from grader.course.sealed import public_only
from grader.course.stage import Course, Stage
from grader.isolation import tiers
from grader.submission import Snapshot
from grader.submission.source import Problem, check_source
from grader.verdict import Run, Verdict, decide

if TYPE_CHECKING:
    from grader.course.sealed import Content
    from grader.diagnosis.replay import Diagnostician
    from grader.judging.session import TestFiles
    from grader.outcome import Outcome
    from grader.remote.process import LearnerProcess

MAX_SEED = 100_000


@dataclass(frozen=True)
class Options:
    """How to grade: the seed of the random inputs, the isolation, the one row asked for, the least tier."""

    seed: int
    isolation: str = "auto"
    only: str | None = None
    fork: bool = tiers.FORKS
    require: str = "auto"


def fresh_seed() -> int:
    """Return a seed that nobody can foresee, short enough to type again."""
    return secrets.randbelow(MAX_SEED)


def grade(
    course: Course, stage: Stage, snapshot: Snapshot, options: Options, on_test: Callable[[Outcome], None] | None = None
) -> Verdict:
    """Grade a snapshot of one stage's module.

    Raises IsolationRefused where the requested isolation is unavailable, CourseError where the course lacks a file.
    """
    started = time.monotonic()
    tier, note = tiers.choose(options.isolation, options.require)
    problem = check_source(stage, snapshot)
    if problem is not None:
        run = _run(stage, options, tier, note, started, snapshot)
        return decide(stage, (), (), run, problem=problem)
    process = _start(course, stage, snapshot, tier, options)
    try:
        return _test(course, stage, snapshot, options, (tier, note), process, started, on_test)
    finally:
        process.kill()


def hunt(course: Course, stage: Stage, snapshot: Snapshot, options: Options, rows: tuple[str, ...]) -> Outcome | None:
    """Return the first test that a module does not pass, those of rows first; None where it passes all.

    Nothing is diagnosed, and whether the reference passes is not asked: this is for modules that are known to be wrong.
    """
    from grader.judging.session import Session
    from grader.outcome import Outcome
    from grader.remote.process import LoadFailed

    problem = check_source(stage, snapshot)
    if problem is not None:
        return Outcome("the source", "", False, "failed", problem.message)
    process = _start(course, stage, snapshot, tiers.choose(options.isolation)[0], options)
    try:
        process.load()
        found = Session(stage, process, _test_files(stage), options.seed, None, hunt=rows).run()
    except LoadFailed as failed:
        return Outcome("the import", "", False, "crashed", failed.problem.message)
    finally:
        process.kill()
    if found.faults:
        return Outcome("the run", "", False, "grader_fault", found.faults[0])
    return next((outcome for outcome in found.outcomes if outcome.status != "passed"), None)


def _start(course: Course, stage: Stage, snapshot: Snapshot, tier: tiers.Tier, options: Options) -> LearnerProcess:
    """Start the learner's process; pytest is imported meanwhile, for both take a quarter of a second."""
    importing = threading.Thread(target=_import_session, daemon=True)
    importing.start()
    started = tiers.start(tier, course.root, options.fork)
    from grader.remote.process import Job, LearnerProcess

    limits = stage.limits
    job = Job(snapshot.label, snapshot.source, limits.call_seconds, limits.stage_seconds, limits.memory_mb, course.root)
    process = LearnerProcess(job, tier, started, options.fork)
    importing.join()
    return process


def _import_session() -> None:
    import grader.judging.session  # noqa: F401


def _test(
    course: Course,
    stage: Stage,
    snapshot: Snapshot,
    options: Options,
    isolation: tuple[str, str | None],
    process: LearnerProcess,
    started: float,
    on_test: Callable[[Outcome], None] | None,
) -> Verdict:
    from grader.judging.session import Session
    from grader.remote.process import LoadFailed

    files = _test_files(stage)  # what is sealed is opened while the learner's process still starts
    try:
        process.load()
    except LoadFailed as failed:
        return decide(stage, (), (), _run(stage, options, *isolation, started, snapshot), problem=failed.problem)
    collected = Session(
        stage, process, files, options.seed, lambda: _answers(stage, snapshot), on_test, options.only
    ).run()
    run = _run(stage, options, *isolation, started, snapshot)
    missing = _missing(stage, process)
    return decide(stage, collected.expected, collected.outcomes, run, problem=missing, faults=collected.faults)


def _answers(stage: Stage, snapshot: Snapshot) -> Diagnostician:
    """Return the reference and the known mistakes; without the key to them what the stub tells."""
    from grader.course import sealed
    from grader.course.answers import load_mistakes, reference_source
    from grader.diagnosis.replay import Diagnostician

    if public_only(stage):
        return Diagnostician(stage, sealed.stub(stage), (), is_stub=True)
    return Diagnostician(stage, reference_source(stage), load_mistakes(stage), snapshot.source)


def _test_files(stage: Stage) -> TestFiles:
    from grader.course import sealed
    from grader.course.answers import hidden_folder
    from grader.judging.session import TestFiles

    if public_only(stage):
        return TestFiles(sealed.public_tests(stage), ())
    if sealed.is_sealed(stage):
        return _in_memory(stage, sealed.opened(stage))
    public, hidden = (sorted(folder.glob("test_*.py")) for folder in (stage.tests_path, hidden_folder(stage)))
    return TestFiles(tuple(public), tuple(hidden))


def _in_memory(stage: Stage, content: Content) -> TestFiles:
    """Return the tests that were sealed, under the names that they have in the author's copy."""
    from grader.course.answers import hidden_folder
    from grader.judging.session import TestFiles

    folder = hidden_folder(stage)
    tests = {name for name in content.hidden if name.startswith("test_")}
    public = {stage.tests_path / name: text for name, text in sorted(content.public.items())}
    hidden = {folder / name: content.hidden[name] for name in sorted(tests)}
    package = f"grader.hidden.{stage.name}"
    others = {
        f"{package}.{name.removesuffix('.py')}": text for name, text in content.hidden.items() if name not in tests
    }
    return TestFiles(tuple(public), tuple(hidden), public | hidden, others)


def _missing(stage: Stage, process: LearnerProcess) -> Problem | None:
    """Say so where the module loads and yet defines nothing that the stage asks for."""
    wanted = [name for row in stage.criteria for name in row.functions]
    if any(name in process.names for name in wanted):
        return None
    message = f"{process.job.label} defines none of this stage's functions ({', '.join(wanted[:3])}, …)"
    return Problem(
        "missing",
        message,
        None,
        f"`grader reset {stage.id}` puts the stub back and keeps your file in .grader/backups/.",
    )


def _run(stage: Stage, options: Options, tier: str, note: str | None, started: float, snapshot: Snapshot) -> Run:
    seconds = time.monotonic() - started
    return Run(
        options.seed,
        tier,
        note,
        seconds,
        __version__,
        snapshot.digest,
        snapshot.label,
        options.only,
        public_only(stage),
    )
