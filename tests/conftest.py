"""What the tests of the engine share: learner's processes in every tier, and a small throw-away course."""

from __future__ import annotations

import gc
import os
import shutil
import textwrap
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, settings

from grader import testing
from grader.course.stage import NO_CONTRACT, Contract, Tolerance
from grader.isolation import tiers
from grader.outcome import Status
from grader.sandbox.connection import Connection, RemoteModule
from grader.sandbox.process import Job, LearnerProcess
from tests.order.process_state import pytest_runtest_protocol, pytest_runtest_teardown
from tests.pace import changed, forked, kept
from tests.pace.matrix import BRIEF, sampled, search_times, why_missing
from tests.pace.memory import pytest_collection_finish
from tests.pace.shared import compiled_once, made_once
from tests.support.command import NUMBERS, PACKAGE, PROJECT, SUMS, Command, Here, Place, write_stage
from tests.support.small_course import Graded, SmallCourse

__all__ = ["Graded", "SmallCourse", "pytest_collection_finish", "pytest_runtest_protocol", "pytest_runtest_teardown"]
LABEL = "stages/s90_small/small.py"
PACE = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])  # others may use the machine, too
settings.register_profile("full", PACE)
settings.register_profile("sample", PACE, max_examples=25)
settings.load_profile("sample")
os.environ.pop("UV_RUN_RECURSION_DEPTH", None)  # commands are suggested as `grader …`, however the tests were started
collect_ignore = ["courses/words"]  # a course: its tests are a grader's to run


def pytest_configure(config: pytest.Config) -> None:
    kept.keep()
    forked.fork_pools()
    setattr(os, "fsync", lambda descriptor: None)  # noqa: B010  # what tests write need not outlive a loss of power
    config.addinivalue_line("markers", "every_tier: the test is run in all its tiers, without --all-tiers as well")
    config.addinivalue_line("markers", "full_matrix(*paths): run with --all-tiers, or where what it is about changed")
    config.addinivalue_line("markers", "some_of(n, *paths): each nth set of parameters is run; all, as above")
    if config.getoption("--all-tiers"):
        settings.load_profile("full")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection(session: pytest.Session) -> Iterator[None]:
    """Look for no garbage while tests are collected, since they stay; one worker compiles what all import."""
    is_worker = hasattr(session.config, "workerinput")
    if is_worker or not session.config.getoption("numprocesses", None):  # else workers collect, and not this one
        gc.disable()
    if not is_worker:
        return (yield)
    with compiled_once(session.config.cache.mkdir("collecting") / "lock"):
        return (yield)


@pytest.hookimpl(tryfirst=True)  # each nth set of parameters is counted in the order of the file, not in a random one
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let no warning pass unseen in the grader's own tests; a stage's tests under plain pytest are the learner's."""
    if not config.getoption("--all-tiers"):
        commit = config.getoption("--changed-since")
        items[:], left = sampled(items, changed.since(commit) if commit else frozenset())
        config.hook.pytest_deselected(items=left)
    for item in items:
        if item.path.is_relative_to(Path(__file__).parent):
            item.add_marker(pytest.mark.filterwarnings("error"), append=False)


def pytest_sessionfinish() -> None:
    kept.close()


def need(tier: tiers.Tier) -> tiers.Tier:
    """Return the tier; skip the test, with the reason, where this machine lacks it."""
    if reason := why_missing(tier):
        pytest.skip(f"tier {tier} is missing here: {reason}")
    return tier


@pytest.fixture(scope="module", params=tiers.TIERS)
def tier(request: pytest.FixtureRequest) -> tiers.Tier:
    """Each tier in turn."""
    return need(request.param)


@dataclass
class Learner:
    """A learner's process and the connections that were opened to it."""

    process: LearnerProcess
    connections: list[Connection] = field(default_factory=list)

    def open(self, seconds: float = 60) -> RemoteModule:
        """Return the `learner` of a new test; the test before it, if any, has ended."""
        self.done()
        self.connections.append(self.process.open(time.monotonic() + seconds))
        return RemoteModule(self.connections[-1], self.process.job.label)

    def done(self) -> tuple[Status, str] | None:
        """End the test that runs, if any, and return what its end tells."""
        return self.process.done(self.connections.pop()) if self.connections else None

    @property
    def connection(self) -> Connection:
        return self.connections[-1]

    @property
    def started(self) -> tiers.WorkerProcess:
        """What was started for the process."""
        return cast(tiers.WorkerProcess, self.process._started)


Start = Callable[..., Learner]


@pytest.fixture(scope="module")
def start(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Start]:
    """Start a learner's process in a tier from a module's text; all are ended with the test module."""
    hide = tmp_path_factory.mktemp("course")
    running: list[Learner] = []

    def begin(
        source: str,
        tier: tiers.Tier = "process",
        *,
        call_seconds: float = 10,
        cpu_seconds: float = 60,
        memory_mb: int = 1024,
        result_mb: int = 4,
        result_rows: int = 65536,
        packages: tuple[str, ...] = ("numpy",),
        fork: bool = tiers.FORKS,
        load: bool = True,
        alone: bool = False,
        contract: Contract = NO_CONTRACT,
        lent: tuple[tuple[str, str, bytes], ...] = (),
    ) -> Learner:
        text = textwrap.dedent(source).encode()
        limits = (call_seconds, cpu_seconds, memory_mb, hide, result_mb, result_rows)
        job = Job(LABEL, text, *limits, packages, lent, alone=alone, contract=contract)
        process = LearnerProcess(job, tier, tiers.LocalWorkerFactory(tier, hide, fork, packages=packages), fork)
        running.append(Learner(process))
        if load:
            process.load()
        return running[-1]

    yield begin
    for learner in running:
        learner.done()
        learner.process.kill()


@pytest.fixture
def worker(tier: tiers.Tier, start: Start) -> Iterator[Callable[..., Learner]]:
    """Start a learner's process from a module's text in each tier in turn; it is ended with the test."""
    made: list[Learner] = []

    def begin(source: str, **options: Any) -> Learner:
        made.append(start(source, tier, **options))
        return made[-1]

    yield begin
    for learner in made:
        learner.done()
        learner.process.kill()


@pytest.fixture(scope="module")
def small_course(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallCourse]:
    """A small course with a hidden folder of its own."""
    yield SmallCourse(tmp_path_factory.mktemp("small"))
    testing.configure(Tolerance())


@pytest.fixture(scope="session")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The grader apart from its own stages; no test writes to it."""

    def make(folder: Path) -> None:
        shutil.copytree(PACKAGE, folder / "grader", ignore=shutil.ignore_patterns("classroom"))

    return made_once(tmp_path_factory, "code", make) / "grader"


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Place:
    """The place as it is before any test: two small stages, and the grader beside them."""
    root = tmp_path_factory.mktemp("original")
    (root / "hidden").mkdir()
    (root / "hidden" / "__init__.py").touch()
    (root / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    (root / "demo").mkdir()
    (root / "demo" / "numbers_.py").write_text(NUMBERS, encoding="utf-8")
    write_stage(root, 1, "numbers_", "Numbers", NUMBERS, [])
    write_stage(root, 2, "sums", "Sums", SUMS, ["s01"])
    return Place(root, package)


@pytest.fixture
def place(original: Place, tmp_path: Path) -> Place:
    """A course of the test's own; the grader is shared, and may not be written to."""
    shutil.copytree(original.root, tmp_path / "course")
    return Place(tmp_path / "course", original.package)


@pytest.fixture
def command(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command, in this process and in whatever folder the test changes to."""
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("LANG", "LC_ALL", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(capsys, monkeypatch)


@pytest.fixture
def here(place: Place, command: Command) -> Here:
    command.monkeypatch.chdir(place.root)
    return Here(place, command.capsys, command.monkeypatch)


@pytest.fixture
def brief_search(monkeypatch: pytest.MonkeyPatch, is_full: bool) -> None:
    """Look for the causes of wrong answers, but not for long: for tests of something else; in full with --all-tiers."""
    for place, name, seconds in search_times(1.0 if is_full else BRIEF):
        monkeypatch.setattr(place, name, seconds)


@pytest.fixture(scope="session")
def is_full(pytestconfig: pytest.Config) -> bool:
    """Whether the full matrix is run: what is proven at length by it alone may be sampled otherwise."""
    return bool(pytestconfig.getoption("--all-tiers"))
