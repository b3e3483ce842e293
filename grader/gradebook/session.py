"""A run over a class from its beginning to its end: the lock, the gradebook, the pool, and a clean stop."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from types import FrameType

from filelock import FileLock, Timeout

from grader import __version__
from grader.course.provenance import provenance_of
from grader.course.sealed import expect_key
from grader.course.stage import Course, Stage
from grader.errors import GradebookError
from grader.gradebook.database import FILE as GRADEBOOK
from grader.gradebook.intake.roster import FILE as ROSTER
from grader.gradebook.intake.roster import merged, read_roster
from grader.gradebook.job import MOST_PATIENCE, plan_of, prepare
from grader.gradebook.pool.bundle import packed
from grader.gradebook.pool.cluster import Cluster, Order
from grader.gradebook.pool.executor import Pool
from grader.gradebook.records import Member
from grader.gradebook.seeds import Seeds
from grader.gradebook.setting import Setting
from grader.gradebook.store import Gradebook
from grader.gradebook.worth.policy import Policy
from grader.gradebook.worth.reading import FILE, read_policy
from grader.isolation import tiers

LOCK = "gradebook.lock"
SPARE_SECONDS = 60.0  # beyond the time of both tries, until a process that grades is taken for dead


@dataclass(frozen=True)
class Wishes:
    """What a command asks for: the gradebook's folder, class.toml, rosters, isolation, jobs or a cluster."""

    folder: Path
    policy: Path | None = None
    roster: tuple[Path, ...] = ()
    isolation: str = "auto"
    require: str = "landlock"
    jobs: int | None = None
    cluster: str | None = None


def policy_of(course: Course, wishes: Wishes) -> Policy:
    """Return what class.toml says: the one that was named, else the one beside the gradebook, else the defaults."""
    beside = wishes.folder / FILE
    return read_policy(wishes.policy or (beside if beside.is_file() else None), course)


def roster_of(wishes: Wishes, zone: tzinfo) -> tuple[Member, ...]:
    """Return who is in the class: by the rosters that were named, else class.csv beside the gradebook, else by it."""
    beside = wishes.folder / ROSTER
    found: tuple[Member, ...] = ()
    for path in wishes.roster or ((beside,) if beside.is_file() else ()):
        found = merged(found, read_roster(path, zone))
    if found or not (wishes.folder / GRADEBOOK).is_file():
        return found
    with Gradebook.open(wishes.folder) as book:
        return book.roster()


@contextmanager
def opened(
    course: Course, stages: tuple[Stage, ...], wishes: Wishes, create: bool
) -> Iterator[tuple[Gradebook, Setting]]:
    """Open the gradebook for one run that grades; a second one is refused as long as it lasts.

    What a run needs is looked at first, so that nothing is made by one that cannot grade.
    """
    policy = policy_of(course, wishes)
    for stage in stages:
        expect_key(stage, "what somebody handed in")
    tier, _ = tiers.choose(wishes.isolation, wishes.require)
    with ExitStack() as stack:
        if create:
            _make(wishes.folder)
        else:
            Gradebook.open(wishes.folder).__exit__()  # says that there is none before a lock is made
        stack.enter_context(_locked(wishes.folder / LOCK))
        book = stack.enter_context(Gradebook.open(wishes.folder, create))
        book.decide_by(policy.passes(course.stages))
        yield book, Setting(course, policy, tier, Seeds.drawn(), provenance_of(course))


@contextmanager
def pool(course: Course, setting: Setting, stages: tuple[Stage, ...], wishes: Wishes) -> Iterator[Pool | Cluster]:
    """Give processes that know the course, here or on a cluster; they end with the block."""
    longest = max(stage.limits.stage_seconds for stage in stages)
    seconds = longest * (1 + MOST_PATIENCE) + SPARE_SECONDS
    found: Pool | Cluster
    if wishes.cluster is None:
        found = Pool(wishes.jobs or _cores(), seconds, prepare, (course, setting.made), plan_of)
    else:
        order = Order(__version__, setting.isolation, seconds, prepare, (setting.made,), plan_of)
        found = Cluster(wishes.cluster, packed(course), order)
    try:
        yield found
    finally:
        found.shutdown(cancel_futures=True)


def _cores() -> int:
    """Return how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def stoppable() -> Iterator[None]:
    """Let SIGTERM stop the block as Ctrl-C does."""

    def stop(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradebookError(f"{folder} cannot be made: {error.strerror}", "Name another folder with --out.") from error


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    lock = FileLock(path, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        what = f"another run is grading into {path.parent}"
        raise GradebookError(what, "Wait until it has ended; what both would grade is graded once.") from error
    except OSError as error:
        what = f"{path.parent} cannot be written to: {error.strerror}"
        raise GradebookError(what, "Name another folder with --out, or free some space.") from error
    try:
        yield
    finally:
        lock.release()
