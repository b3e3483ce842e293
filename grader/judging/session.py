"""Drives pytest over one stage's tests: one connection to the learner's process a test, one outcome a test."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from grader import testing
from grader.course.stage import Stage
from grader.diagnosis.replay import Diagnostician
from grader.judging import plugin
from grader.judging.assessment import TEXT_LIMIT, Attempt, Judge
from grader.judging.expectations import noted
from grader.judging.memory_files import MemoryFiles, importable, set_aside
from grader.outcome import Outcome
from grader.remote.exceptions import WorkerFailed
from grader.remote.module import RemoteModule
from grader.remote.process import LearnerProcess

PYTEST_INI = Path(__file__).parent / "pytest.ini"


@dataclass(frozen=True)
class TestFiles:
    """The test files of one stage that the grader vouches for.

    sources holds the text of those that lie in memory only; modules what they import, by full name.
    """

    __test__ = False
    public: tuple[Path, ...]
    hidden: tuple[Path, ...]
    sources: Mapping[Path, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Collected:
    """What pytest found and what came of it; faults are mistakes of the course itself."""

    expected: tuple[tuple[str, str, bool], ...]  # test, criterion, hidden
    outcomes: tuple[Outcome, ...]
    faults: tuple[str, ...]


class Session:
    """A pytest plugin object that grades one stage; it is also the provider of the `learner` fixture."""

    def __init__(
        self,
        stage: Stage,
        process: LearnerProcess,
        files: TestFiles,
        seed: int,
        answers: Callable[[], Diagnostician] | None,
        on_test: Callable[[Outcome], None] | None = None,
        only: str | None = None,
        hunt: tuple[str, ...] | None = None,
    ) -> None:
        self.stage = stage
        self.process = process
        self.files = files
        self.seed = seed
        self.only = only
        self.hunt = hunt  # rows to run first; the first test that does not pass ends the run, and nothing is explained
        self.on_test = on_test
        self.outcomes: list[Outcome] = []
        self.expected: list[tuple[str, str, bool]] = []
        self.faults: list[str] = []
        self.ends_at = time.monotonic() + stage.limits.stage_seconds
        self._judge = Judge(stage, process.job, seed, answers)
        self._attempt: Attempt | None = None
        self._interrupted = False
        self._left_out = ""
        self._too_slow: set[str] = set()

    def run(self) -> Collected:
        """Run every test to its end and return what happened."""
        testing.configure(self.stage.tolerance)
        root = str(self.stage.folder.parent.parent)
        options = ["-c", str(PYTEST_INI), "--rootdir", root, "--noconftest", "-p", "grader.judging.plugin"]
        files = [str(path) for path in (*self.files.public, *self.files.hidden)]
        in_memory = MemoryFiles(self.stage.folder, self.files.sources)
        places = list(in_memory.places(files))
        with _no_other_plugins(), _modules_of(files), importable(self.files.modules), noted():
            code = pytest.main([*options, *places], plugins=[self, in_memory])
        if self._interrupted:
            raise KeyboardInterrupt
        caught = self.hunt is not None and any(outcome.status != "passed" for outcome in self.outcomes)
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not caught:
            self.faults.append(f"pytest ended with {pytest.ExitCode(code).name} instead of running the tests")
        return Collected(tuple(self.expected), tuple(self._judge.settled(self.outcomes)), tuple(self.faults))

    def learner(self, item: pytest.Item) -> Any:
        """Return the remote module of one test."""
        criterion = self._criterion(item)
        connection = self.process.open(criterion, self.ends_at)
        if self._attempt is not None:
            self._attempt.connection = connection
        return RemoteModule(connection, self.process.job.label)

    def pytest_configure(self, config: pytest.Config) -> None:
        """Become the provider of the fixtures."""
        config.stash[plugin.PROVIDER] = self
        config.option.tbstyle = "native"  # the long form of a failure, seen by nobody here, takes longer than its test

    def pytest_keyboard_interrupt(self, excinfo: pytest.ExceptionInfo[BaseException]) -> None:
        """Note that the user ended the run; pytest's own interruptions are of a class derived from this one."""
        self._interrupted = type(excinfo.value) is KeyboardInterrupt

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A test file that cannot be collected is the course's fault, never the learner's."""
        if report.failed or report.skipped:
            self.faults.append(f"{Path(report.nodeid).name} cannot be collected: {str(report.longrepr)[-TEXT_LIMIT:]}")

    def pytest_internalerror(self, excrepr: object, excinfo: pytest.ExceptionInfo[BaseException]) -> bool:
        """Keep an error inside pytest, or in this class, as a fault of ours instead of printing it."""
        what = f"{excinfo.typename}: {excinfo.value}"
        self.faults.append(f"the grader failed: {what[:TEXT_LIMIT]}\n{str(excrepr)[-TEXT_LIMIT:]}")
        return True

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which tests the verdict must see; one without a row of the checklist is the course's fault."""
        names = Counter(map(self._name, items))
        self.faults += [
            f"{name} is there twice: test files and tests need names of their own" for name, n in names.items() if n > 1
        ]
        empty = {*self.files.public, *self.files.hidden} - {item.path for item in items}
        self.faults += [f"{path.name} holds no test" for path in sorted(empty)]
        for item in list(items):
            criterion = self._criterion(item)
            if criterion not in {row.id for row in self.stage.criteria}:
                self.faults.append(
                    f"{self._name(item)} belongs to no row of the checklist: {criterion or 'no criterion mark'}"
                )
            if self.only is not None and criterion != self.only:
                items.remove(item)
            else:
                self.expected.append((self._name(item), criterion, self._is_hidden(item)))
        if self.hunt is not None:
            rank = {row: place for place, row in enumerate(self.hunt)}
            items.sort(key=lambda item: rank.get(self._criterion(item), len(rank)))

    @staticmethod
    def _criterion(item: pytest.Item) -> str:
        marks = [str(mark.args[0]) for mark in item.iter_markers("criterion") if mark.args]
        return marks[0] if len(marks) == 1 else ""

    @staticmethod
    def _name(item: pytest.Item) -> str:
        return f"{item.path.name}::{item.nodeid.partition('::')[2]}"

    def _is_hidden(self, item: pytest.Item) -> bool:
        return item.path in self.files.hidden

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Give one test its connection, end it afterwards, and record its outcome."""
        attempt = self._attempt = Attempt(item)
        started = time.perf_counter()
        self._left_out = self._no_time_for(item)
        result = yield
        base = Outcome(self._name(item), self._criterion(item), self._is_hidden(item), "failed")
        if self._left_out:
            self._record(replace(base, status="timed_out", message=self._left_out))
            return result
        ended = None if attempt.connection is None else self.process.done(attempt.connection)
        outcome = self._judge.outcome(base, attempt, ended)
        self._record(replace(outcome, seconds=time.perf_counter() - started))
        if self.hunt is not None and outcome.status != "passed":
            item.session.shouldstop = "a test that does not pass was found"
        if outcome.status == "timed_out":
            self._too_slow.add(outcome.criterion)
        return result

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Stop a test that there is no time for before it begins; pytest still takes down what the last one set up."""
        if self._left_out:
            raise WorkerFailed("timed_out", self._left_out)

    def _no_time_for(self, item: pytest.Item) -> str:
        """Return why a test is left out; empty where it is run. A hanging function costs its row one wait, not six."""
        if time.monotonic() >= self.ends_at:
            return f"the stage's {self.stage.limits.stage_seconds:g} s were used up before this test"
        if self._criterion(item) in self._too_slow:
            return "left out, since an earlier test of this row did not come to its end in time"
        return ""

    def _record(self, outcome: Outcome) -> None:
        self.outcomes.append(outcome)
        if self.on_test is not None:
            self.on_test(outcome)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        """Keep the first exception of a test and which phases came to their end."""
        report: Any = yield
        if (attempt := self._attempt) is None:
            return report  # type: ignore[no-any-return]
        if call.excinfo is not None and attempt.error is None:
            attempt.error = call.excinfo.value
        if call.when == "call" and isinstance(item, pytest.Function):
            attempt.arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
        if report.passed and not hasattr(report, "wasxfail"):
            attempt.phases.add(report.when)
        return report  # type: ignore[no-any-return]


@contextlib.contextmanager
def _modules_of(files: list[str]) -> Iterator[None]:
    """Forget test files after their run, and what they import: its name is the same in every course."""
    try:
        with set_aside({"grader.hidden"}):
            yield
    finally:
        for name, module in list(sys.modules.items()):
            if getattr(module, "__file__", None) in files:
                del sys.modules[name]


@contextlib.contextmanager
def _no_other_plugins() -> Iterator[None]:
    """Keep plugins that happen to be installed, and options from the environment, out of a grading run."""
    names = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in (*names, "PYTEST_CURRENT_TEST", "PYTEST_VERSION")}
    os.environ.update(names)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
