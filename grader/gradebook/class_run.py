"""A run over a class: what it is asked for, the lock and the gradebook, what all its gradings share, how far it is."""

from __future__ import annotations

import ctypes
import hmac
import secrets
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, tzinfo
from pathlib import Path
from types import FrameType
from typing import Self

from filelock import FileLock, Timeout

from grader.course.provenance import Provenance, provenance_of
from grader.course.sealed import expect_key
from grader.course.stage import Course, Stage
from grader.errors import GradebookError, Lacking
from grader.gradebook.policy import FILE as POLICY
from grader.gradebook.policy import Policy, read_policy
from grader.gradebook.records import Member, Result
from grader.gradebook.roster import FILE as ROSTER
from grader.gradebook.roster import read_rosters
from grader.gradebook.store import FILE as GRADEBOOK
from grader.gradebook.store import Gradebook
from grader.isolation import tiers
from grader.judging.grading import MAX_SEED
from grader.report.terminal.words import count

LOCK = "gradebook.lock"
M_ARENA_MAX = -8  # of glibc's malloc.h
MANY = 5  # modules that ran, from which on a criterion that none passes is told
POOL = 16  # seeds of a run; submissions that share one share what is computed for it


@dataclass(frozen=True)
class Seeds:
    """The secret pool of a run, and the key of the hash that chooses one of it for each submission.

    Both stay in the process that coordinates. Another run has another pool, so that inputs which a report shows are of
    no use for what is handed in later.
    """

    pool: tuple[int, ...] = field(repr=False)
    key: bytes = field(repr=False)

    @classmethod
    def drawn(cls) -> Self:
        """Return a pool and a key that nobody can foresee."""
        pool = secrets.SystemRandom().sample(range(MAX_SEED), POOL)
        return cls(tuple(pool), secrets.token_bytes(32))

    def of(self, student: str, stage: str, digest: str) -> int:
        """Return the seed of a submission; digest is that of its text.

        >>> Seeds((7,), b"key").of("ada", "first", "0" * 64)
        7
        """
        chosen = hmac.digest(self.key, "\0".join((student, stage, digest)).encode(), "sha256")
        return self.pool[int.from_bytes(chosen, "big") % len(self.pool)]


@dataclass(frozen=True)
class RunContext:
    """What all gradings of a run share; isolation is the tier that was chosen."""

    course: Course
    policy: Policy
    isolation: str
    seeds: Seeds
    made: Provenance
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


@dataclass
class Tally:
    """How far a stage's gradings are; kept counts those that an earlier run has graded."""

    stage: str
    total: int
    kept: int = 0
    passed: int = 0
    failed: int = 0
    missing: int = 0
    rejected: int = 0
    waits: int = 0
    faults: list[tuple[str, str]] = field(default_factory=list)  # whose grading failed, and why, each time
    waiting: dict[str, tuple[Lacking, ...]] = field(default_factory=dict)  # who waits, and for which earlier stages
    lacking: list[str] = field(default_factory=list)  # who handed in nothing, or nothing that can be accepted
    without_text: list[str] = field(default_factory=list)  # of a regrade: whose module the gradebook does not hold
    tries: Counter[str] = field(default_factory=Counter)  # of each criterion, by modules that ran
    passes: Counter[str] = field(default_factory=Counter)

    def count(self, result: Result, fault: str = "") -> None:
        """Count a result by what came of it; fault says why the grader failed."""
        ran = result.outcome == "graded" and not result.verdict.get("problem")
        for criterion in result.verdict.get("criteria") or () if ran else ():
            self.tries[criterion["id"]] += criterion["status"] not in ("not_started", "blocked")
            self.passes[criterion["id"]] += criterion["status"] == "passed" or bool(criterion.get("values_right"))
        match result.outcome:
            case "missing":
                self.missing += 1
                self.lacking.append(result.key.student)
            case "rejected":
                self.rejected += 1
                self.lacking.append(result.key.student)
            case "fault":
                self.faults.append((result.key.student, fault))
            case _ if result.passed:
                self.passed += 1
            case _:
                self.failed += 1

    def wait(self, student: str, lacking: tuple[Lacking, ...]) -> None:
        """Count what waits for earlier stages."""
        self.waits += 1
        self.waiting[student] = lacking

    @property
    def graded(self) -> int:
        """How many this run has graded, or found that they cannot be."""
        return self.passed + self.failed + self.missing + self.rejected + self.waits + len(self.faults)

    @property
    def done(self) -> int:
        """How many have a result, or failed."""
        return self.kept + self.graded

    @property
    def unreached(self) -> list[str]:
        """The criteria that many tried and nobody passes."""
        return [each for each, tries in self.tries.items() if tries >= MANY and not self.passes[each]]

    @property
    def summary(self) -> str:
        """What came of it, in words."""
        if self.kept and not self.graded:
            return f"nothing is new; {self.kept} had a result before"
        found = [f"{self.passed} passed", f"{self.failed} did not"]
        found += [f"{self.missing} handed in nothing"] if self.missing else []
        found += [f"{self.rejected} cannot be accepted"] if self.rejected else []
        found += [f"{self.waits} wait{'s' if self.waits == 1 else ''} for an earlier stage"] if self.waits else []
        found += [count(len(self.faults), "grader fault")] if self.faults else []
        return ", ".join(found) + (f"; {self.kept} had a result before" if self.kept else "")

    def words(self, seconds: float, with_rest: bool = True) -> str:
        """What came of it after so many seconds, in words, and the rate; with_rest, the time that is left, too."""
        if not self.graded:
            return f"{self.stage}: {self.kept} kept"
        ran = self.passed + self.failed + len(self.faults)  # what was not run says nothing of the speed
        rate = ran / seconds if seconds > 0 else 0.0
        waits = f"{self.waits} waiting, " if self.waits else ""
        failed = self.failed + self.missing + self.rejected
        counts = f"{self.passed} passed, {failed} not, {waits}{count(len(self.faults), 'fault')}"
        if not rate:
            return f"{self.stage}: {counts}"
        pace = f"{rate:.1f}/s" if rate >= 1 else f"{60 * rate:.0f}/min"
        left = f", {_duration((self.total - self.done) / rate)} left" if with_rest else ""
        return f"{self.stage}: {counts}, {pace}{left}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(max(seconds, 0.0)), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"


OnProgress = Callable[[Tally], None]


@dataclass(frozen=True)
class RunOptions:
    """What a command asks for: the gradebook's folder, class.toml, rosters, isolation, jobs or a cluster."""

    folder: Path
    policy: Path | None = None
    roster: tuple[Path, ...] = ()
    isolation: str = "auto"
    require: str = "landlock"
    jobs: int | None = None
    cluster: str | None = None


def policy_of(course: Course, options: RunOptions) -> Policy:
    """Return what class.toml says: the one that was named, else the one beside the gradebook, else the defaults."""
    beside = options.folder / POLICY
    return read_policy(options.policy or (beside if beside.is_file() else None), course)


def roster_of(options: RunOptions, zone: tzinfo) -> tuple[Member, ...]:
    """Return who is in the class: by class.csv beside the gradebook and the rosters that were named, else by it.

    class.csv comes first, so that a list that has times changes nobody's name.
    """
    beside = options.folder / ROSTER
    found = read_rosters((*((beside,) if beside.is_file() else ()), *options.roster), zone)
    if found or not (options.folder / GRADEBOOK).is_file():
        return found
    with Gradebook.open(options.folder) as book:
        return book.roster()


@contextmanager
def opened(
    course: Course, stages: tuple[Stage, ...], options: RunOptions, create: bool
) -> Iterator[tuple[Gradebook, RunContext]]:
    """Open the gradebook for one run that grades; a second one is refused as long as it lasts.

    What a run needs is looked at first, so that nothing is made by one that cannot grade.
    """
    policy = policy_of(course, options)
    for stage in stages:
        expect_key(stage, "what somebody handed in")
    tier, _ = tiers.choose(options.isolation, options.require)
    with ExitStack() as stack:
        if not create:
            Gradebook.open(options.folder).__exit__()  # says that there is none before a lock is made
        stack.enter_context(locked(options.folder))
        book = stack.enter_context(Gradebook.open(options.folder, create))
        book.decide_by(policy.passes(course.stages))
        yield book, RunContext(course, policy, tier, Seeds.drawn(), provenance_of(course))


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


def share_one_heap() -> None:
    """Let the threads of this process share one heap, where the C library is glibc.

    Else each thread that receives results has a heap of its own, whose gaps grow with every result.
    """
    with suppress(OSError, TypeError, AttributeError):  # no glibc
        ctypes.CDLL(None).mallopt(M_ARENA_MAX, 1)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other runs, and whoever changes names, out of a gradebook as long as the block lasts."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise GradebookError(f"{folder} cannot be made: {error.strerror}", "Name another folder with --out.") from error
    lock = FileLock(folder / LOCK, timeout=0)
    try:
        lock.acquire()
    except Timeout as error:
        what = f"another run is grading into {folder}"
        raise GradebookError(what, "Wait until it has ended; what both would grade is graded once.") from error
    except OSError as error:
        what = f"{folder} cannot be written to: {error.strerror}"
        raise GradebookError(what, "Name another folder with --out, or free some space.") from error
    try:
        yield
    finally:
        lock.release()
