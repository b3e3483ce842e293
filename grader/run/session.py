"""Drives pytest over one stage's tests: one connection to the learner's process a test, one outcome a test."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from grader import testing
from grader.diagnose import Diagnostician
from grader.manifest import Stage
from grader.run import calls, plugin
from grader.run.connection import Connection
from grader.run.outcome import Outcome, Status, Where
from grader.run.process import LearnerProcess, LoadFailed
from grader.run.raised import LearnerExit, WorkerFailed
from grader.run.record import Frame
from grader.run.remote import MissingName, RemoteModule
from grader.run.wire import WireError

PYTEST_INI = Path(__file__).parent / "pytest.ini"
TEXT_LIMIT = 1500


@dataclass(frozen=True)
class TestFiles:
    """The test files of one stage that the grader vouches for."""

    __test__ = False
    public: tuple[Path, ...]
    hidden: tuple[Path, ...]


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
        answers: Callable[[], Diagnostician],
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
        self._answers = answers
        self._made: Diagnostician | None = None
        self._lines = calls.definition_lines(process.job.source)
        self._connection: Connection | None = None
        self._error: BaseException | None = None
        self._phases: set[str] = set()
        self._interrupted = False
        self._left_out = ""
        self._arguments: dict[str, Any] = {}
        self._too_slow: set[str] = set()

    @property
    def answers(self) -> Diagnostician:
        """The reference and the known mistakes, loaded when the first test fails."""
        if self._made is None:
            self._made = self._answers()
        return self._made

    def run(self) -> Collected:
        """Run every test to its end and return what happened."""
        testing.configure(self.stage.tolerance)
        options = [
            "-c",
            str(PYTEST_INI),
            "--rootdir",
            str(self.stage.folder.parent.parent),
            "--noconftest",
            "-p",
            "grader.run.plugin",
        ]
        files = [str(path) for path in (*self.files.public, *self.files.hidden)]
        with _no_other_plugins(), _modules_of(files):
            code = pytest.main([*options, *files], plugins=[self])
        if self._interrupted:
            raise KeyboardInterrupt
        caught = self.hunt is not None and any(outcome.status != "passed" for outcome in self.outcomes)
        if code not in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED) and not caught:
            self.faults.append(f"pytest ended with {pytest.ExitCode(code).name} instead of running the tests")
        return Collected(tuple(self.expected), tuple(self.outcomes), tuple(self.faults))

    def learner(self, item: pytest.Item) -> Any:
        """Return the remote module of one test."""
        criterion = self._criterion(item)
        self._connection = self.process.open(criterion, self.ends_at)
        return RemoteModule(self._connection, self.process.job.label)

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

    def pytest_internalerror(self, excrepr: object) -> bool:
        """Keep an error inside pytest, or in this class, as a fault of ours instead of printing it."""
        self.faults.append(f"the grader failed: {str(excrepr)[-TEXT_LIMIT:]}")
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
        self._connection, self._error, self._phases, self._arguments = None, None, set(), {}
        started = time.perf_counter()
        self._left_out = self._no_time_for(item)
        result = yield
        if self._left_out:
            name, row, hidden = self._name(item), self._criterion(item), self._is_hidden(item)
            self._record(Outcome(name, row, hidden, "timed_out", self._left_out))
            return result
        ended = None if self._connection is None else self.process.done(self._connection)
        outcome = self._outcome(item, ended)
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
        if call.excinfo is not None and self._error is None:
            self._error = call.excinfo.value
        if call.when == "call" and isinstance(item, pytest.Function):
            self._arguments = {name: item.funcargs[name] for name in item._fixtureinfo.argnames}
        if report.passed and not hasattr(report, "wasxfail"):
            self._phases.add(report.when)
        return report  # type: ignore[no-any-return]

    def _outcome(self, item: pytest.Item, ended: tuple[Status, str] | None) -> Outcome:
        connection, error = self._connection, self._error
        base = Outcome(self._name(item), self._criterion(item), self._is_hidden(item), "failed")
        if connection is not None and connection.failure is not None:
            return self._described(base, *_failed_worker(connection.failure, ended))
        if error is None and self._phases != {"setup", "call", "teardown"}:
            return replace(base, status="grader_fault", message="the test did not run to its end")
        if (
            error is None
            and connection is not None
            and connection.changed
            and not item.get_closest_marker("changes_arguments")
        ):
            return self._described(
                base,
                "failed",
                f"{connection.changed[0]} changed an argument in place; it is meant to leave it as it was",
            )
        if error is None:
            return self._described(base, "passed", "")
        return self._judged(item, base, error)

    def _judged(self, item: pytest.Item, base: Outcome, error: BaseException) -> Outcome:
        if isinstance(error, LoadFailed):
            return replace(base, status="crashed", message=error.problem.message)
        if isinstance(error, (pytest.skip.Exception, WireError)):
            return replace(base, status="grader_fault", message=f"{type(error).__name__}: {error}"[:TEXT_LIMIT])
        frames: list[Frame] = getattr(error, "learner_frames", [])
        if isinstance(error, NotImplementedError) and frames:
            return self._not_written(base, frames)
        if (fault := self._reference_fails(item)) is not None:
            message = f"the reference solution does not pass this test either: {fault}"
            return replace(base, status="grader_fault", message=message[:TEXT_LIMIT])
        if frames or isinstance(error, (MissingName, LearnerExit)):
            return self._raised(base, error, frames)
        if self._connection is None or not self._connection.records:
            message = f"the test fails before it calls the module: {type(error).__name__}: {error}"
            return replace(base, status="grader_fault", message=message[:TEXT_LIMIT])
        if isinstance(error, (AssertionError, pytest.fail.Exception)):
            return self._described(base, "failed", self._mismatch(error))
        message = f"what your function returned could not be used: {type(error).__name__}: {error}"
        return self._described(base, "failed", message[:TEXT_LIMIT])

    def _mismatch(self, error: BaseException) -> str:
        text = str(error)
        if text.startswith("DID NOT RAISE"):
            wanted = " or ".join(re.findall(r"\w*(?:Error|Exception)\b", text)) or "an exception"
            return f"{wanted} was expected, but nothing was raised"
        difference = getattr(error, "difference", None)
        call = calls.last_call(self._connection.records) if self._connection else None
        if difference is not None and call is not None and difference.kind == "shape" and difference.axes is None:
            axes = self.stage.axes.get(call.label, {}).get("returns", ())
            if len(axes) == len(difference.expected_shape) and getattr(error, "name", "") == "result":
                from grader.compare import describe

                return describe(replace(difference, axes=axes))
        return text[:TEXT_LIMIT] or "the test's assertion does not hold"

    def _not_written(self, base: Outcome, frames: list[Frame]) -> Outcome:
        """Tell a function that is not written yet from one that waits for another."""
        missing, row = frames[-1].function, self.stage.criterion(base.criterion)
        owner = missing.partition(".")[0]
        own = owner in row.functions or len({frame.function.partition(".")[0] for frame in frames}) == 1
        where = Where(self.process.job.label, frames[-1].line)
        if own and owner in row.functions:
            return replace(base, status="not_started", message=f"{missing} is not written yet", where=where)
        return replace(base, status="blocked", message=f"{missing} is not written yet", waits_on=owner, where=where)

    def _raised(self, base: Outcome, error: BaseException, frames: list[Frame]) -> Outcome:
        where = Where(self.process.job.label, frames[-1].line) if frames else None
        if isinstance(error, MissingName):
            return self._described(base, "failed", str(error))
        if isinstance(error, LearnerExit):
            return self._described(base, "failed", str(error), where)
        shown = getattr(error, "learner_type", type(error).__name__)
        if isinstance(error, MemoryError):
            shown = f"this wants more memory than the {self.stage.limits.memory_mb} MB that a stage may use"
        message = f"{shown}: {error.args[0] if isinstance(error, KeyError) and error.args else error}"
        if frames:
            message += f"   (line {frames[-1].line}: {self._line(frames[-1].line)})"
        status: Status = "over_limit" if isinstance(error, MemoryError) else "failed"
        return self._described(base, status, message[:TEXT_LIMIT], where)

    def _line(self, number: int) -> str:
        lines = self.process.job.source.decode("utf-8", "replace").splitlines()
        return lines[number - 1].strip()[:100] if 0 < number <= len(lines) else "?"

    def _described(self, base: Outcome, status: Status, message: str, where: Where | None = None) -> Outcome:
        connection = self._connection
        if connection is None:
            return replace(base, status=status, message=message, where=where)
        call = calls.last_call(connection.records)
        notes = [f"printed: {connection.notes.printed.strip()}"] if connection.notes.printed.strip() else []
        notes += [f"{name}: {text} (line {line})" for name, text, line in connection.notes.warnings[:3]]
        if status == "passed":
            return replace(base, status=status, notes=tuple(notes))
        if self.hunt is not None:
            return replace(base, status=status, message=message)
        line = None if call is None else self._lines.get(call.label)
        label = self.process.job.label
        return replace(
            base,
            status=status,
            message=message,
            call=calls.described(call, self.stage, self.answers.reference) if call else "",
            where=where or (Where(label, line) if line else None),
            explains=self.answers.explain(connection.records, connection.names) if status == "failed" else (),
            notes=tuple(notes),
        )

    def _reference_fails(self, item: pytest.Item) -> str | None:
        """Run a failed test's body with the reference here; return its error where even that fails."""
        if self.hunt is not None or not isinstance(item, pytest.Function) or "learner" not in self._arguments:
            return None
        arguments = self._arguments | {"learner": self.answers.reference}
        if "rng" in arguments:
            arguments["rng"] = plugin.generator_for(self.seed, item.name)
        try:
            item.obj(**arguments)
        except (Exception, pytest.fail.Exception, pytest.skip.Exception) as error:
            return f"{type(error).__name__}: {error}"
        return None


def _failed_worker(failure: WorkerFailed, ended: tuple[Status, str] | None) -> tuple[Status, str]:
    if failure.status == "crashed" and ended is not None:
        return ended[0], f"{failure}: {ended[1]}"
    return failure.status, str(failure)


@contextlib.contextmanager
def _modules_of(files: list[str]) -> Iterator[None]:
    """Forget test files after their run: pytest knows a module by its name, which is the same in every course."""
    try:
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
