"""The pytest plugin: the fixtures of stage tests, under plain pytest and under `grader check` alike.

Under plain pytest `learner` is the stage's module itself (for a hidden test: the reference). Under `grader check` a
session has put a provider into the configuration, and `learner` is what that provider gives.
"""

from __future__ import annotations

import importlib.util
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from grader.outcome import KINDS

if TYPE_CHECKING:
    import numpy as np

PUBLIC_SEED = 0


class Provider(Protocol):
    """Gives each test its `learner` and its seed."""

    seed: int

    def learner(self, item: pytest.Item) -> Any:
        """Return the object whose attributes are the stage module's functions and classes."""


PROVIDER: pytest.StashKey[Provider] = pytest.StashKey()
UNWRITTEN = "grader_unwritten"  # the attribute of a report that names the stub which a test called
DATA: pytest.StashKey[Callable[[str], bytes]] = pytest.StashKey()  # set where the grader collects, with own imports


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("grader", "stages of a course")
    group.addoption("--seed", type=int, default=PUBLIC_SEED, help="seed of the random inputs of a stage's tests")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "criterion(id): the criterion of the stage's checklist that a test belongs to")
    config.addinivalue_line(
        "markers", "changes_arguments: the tested function is meant to change its arguments in place"
    )
    config.addinivalue_line(
        "markers", "live: the test asks the learner's process as it runs, whatever is known of what it will ask"
    )
    for kind in KINDS:
        config.addinivalue_line("markers", f"{kind}: the kind of a test, what it asks of an answer; the closest counts")


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector) -> Iterator[None]:
    """Let a plain run's test file itself import what its stage builds on."""
    if isinstance(collector, pytest.Module) and DATA not in collector.config.stash:
        _lend(collector.path)
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Report a stub that a plain run's test calls in one line, in place of a traceback through its docstring."""
    name = None if DATA in item.config.stash or call.excinfo is None else _stub(call.excinfo.value)
    if name is None:
        return (yield)
    item.repr_failure = lambda *_, **__: f"{name} is not written yet"  # type: ignore[method-assign]
    try:
        report = yield
    finally:
        del item.repr_failure
    setattr(report, UNWRITTEN, name)
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, tuple[str, dict[str, bool]]] | None:
    """Count tests of stubs apart from those that failed; the exit code is that of a failure."""
    name = getattr(report, UNWRITTEN, None)
    return None if name is None else ("not written yet", "n", (f"NOT WRITTEN YET: {name}", {"yellow": True}))


def _stub(error: BaseException) -> str | None:
    """Return the name of the function whose stub raised this error; None if another line did."""
    if type(error) is not NotImplementedError or (at := error.__traceback__) is None:
        return None
    while at.tb_next is not None:
        at = at.tb_next
    name = at.tb_frame.f_code.co_qualname
    return name if str(error) == name else None


@pytest.fixture
def learner(request: pytest.FixtureRequest) -> Any:
    """The stage module under test: its functions and classes are attributes."""
    provider = request.config.stash.get(PROVIDER, None)
    return provider.learner(request.node) if provider else plain_module(request.path)


@pytest.fixture
def data(request: pytest.FixtureRequest) -> Callable[[str], bytes]:
    """What reads a file of the stage's data by its name: data("corpus.txt") -> bytes."""
    if (given := request.config.stash.get(DATA, None)) is not None:
        return given
    from grader.judging.plain_pytest import plain_data

    return plain_data(request.path)


@pytest.fixture
def seed(request: pytest.FixtureRequest) -> int:
    """The seed of this run; printed with every verdict and replayed by --seed."""
    provider = request.config.stash.get(PROVIDER, None)
    return provider.seed if provider else int(request.config.getoption("--seed"))


@pytest.fixture
def rng(seed: int, request: pytest.FixtureRequest) -> np.random.Generator:
    """A random generator of this test's own: it depends on the run's seed and the test's name only."""
    return generator_for(seed, request.node.name)


def generator_for(seed: int, name: str) -> np.random.Generator:
    import numpy as np

    return np.random.default_rng([seed, zlib.crc32(name.encode())])


def plain_module(test: Path) -> Any:
    """Return the module that a test file is about: the one beside tests/, or the reference beside a hidden test."""
    folder = test.parent.parent if test.parent.name == "tests" else test.parent
    found = folder / "solution.py" if test.parent.name != "tests" else _stage_module(folder)
    _lend(test)
    name = f"{folder.name}_{found.stem}"
    if name in sys.modules and getattr(sys.modules[name], "__file__", None) == str(found):
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, found)
    if spec is None or spec.loader is None or not found.exists():
        raise pytest.UsageError(f"`learner` is for a stage's tests; {test} has no stage module near it")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _lend(test: Path) -> None:
    """Let the module under test import those of earlier stages."""
    from grader.errors import GraderError, NoCourse
    from grader.judging.plain_pytest import lend, stage_folder

    try:
        lend(stage_folder(test), hidden=test.parent.name != "tests")
    except NoCourse:
        return
    except GraderError as error:
        raise pytest.UsageError(str(error)) from error


def _stage_module(folder: Path) -> Path:
    """Return the module named in a stage's manifest, and let comparisons use the stage's tolerance."""
    from grader import testing
    from grader.course.manifest import load_stage
    from grader.errors import CourseError

    try:
        stage = load_stage(folder)
    except CourseError as error:
        raise pytest.UsageError(str(error)) from error
    testing.configure(stage.tolerance)
    return stage.module_path
