"""One stage's tests, collected by pytest and kept: what a judge is forked from, and what it runs."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import os
import sys
import time
import timeit
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from _pytest.assertion.rewrite import rewrite_asserts  # pytest has no public way to it
from _pytest.config import _prepareconfig  # pytest.main would run the tests at once, and unload them afterwards

from grader import testing
from grader.course.provided import named, serving_stage
from grader.course.stage import STAGES, Stage
from grader.judging import plugin
from grader.judging.content import TestFiles
from grader.outcome import KINDS, Kind, Outcome

CRITERION = pytest.StashKey[str]()  # that a test belongs to
UNJUDGED = pytest.StashKey[Outcome]()  # what is known of a test before anything came of it
PYTEST_INI = Path(__file__).parent / "pytest.ini"
TEXT_LIMIT = 1500
LIBRARIES = frozenset({"numpy", "pytest", "_pytest", "grader"}) | sys.stdlib_module_names  # whose clocks are not ours
NAMES_OF_CLOCKS = frozenset({"time", "timeit", "perf_counter", "monotonic", "process_time", "datetime", "getrusage"})
CLOCKS = {id(each) for each in (time, timeit, *filter(callable, vars(time).values()))}
UNUSED = "cacheprovider doctest junitxml logging pastebin nose faulthandler stepwise setuponly setupplan debugging"
UNUSED += " unraisableexception threadexception"
WITHOUT = [part for name in UNUSED.split() for part in ("-p", f"no:{name}")]  # in pytest.ini they would be loaded first


class Suite:
    """The tests of one stage, ready to be run by any number of judges; close ends it.

    expected is (test, criterion, hidden) of each test; faults are mistakes of the course itself.
    """

    def __init__(self, stage: Stage, files: TestFiles) -> None:
        self.stage = stage
        self.files = files
        self.items: list[pytest.Item] = []
        self.expected: list[tuple[str, str, bool]] = []
        self.faults: list[str] = []
        self._modules: dict[str, types.ModuleType] = {}
        testing.configure(stage.tolerance)
        paths = [str(path) for path in (*files.public, *files.hidden)]
        in_memory = MemoryFiles(stage.folder, files.sources)
        root = str(stage.folder.parent.parent)
        options = ["-c", str(PYTEST_INI), "--rootdir", root, "--noconftest", "-p", "grader.judging.plugin"]
        options += ["--confcutdir", str(stage.folder)]  # else pytest goes through all folders above the course's
        options += [*WITHOUT, "--tb=native"]  # the long form of a failure, seen by nobody, takes longer than its test
        with _alone(), self._imports(), noted():
            before = set(sys.modules)
            self.config = _prepareconfig([*options, *in_memory.places(paths)], [self, in_memory])
            self._collect()
            self._keep_modules(paths, before)

    def _collect(self) -> None:
        self.config.stash[plugin.DATA] = lambda name: named(self.files.data, name, self.stage.id)
        self.config._do_configure()
        session = pytest.Session.from_config(self.config)
        try:
            self.config.hook.pytest_sessionstart(session=session)
            self.config.hook.pytest_collection(session=session)
        except Exception as error:  # of pytest itself or of a plugin; a test file's own errors come as reports
            self.faults.append(f"the tests cannot be collected: {type(error).__name__}: {error}"[:TEXT_LIMIT])
        self.items = [] if session.testsfailed else list(session.items)
        if not self.items and not self.faults:
            self.faults.append("pytest collected no test")

    def _keep_modules(self, paths: list[str], before: set[str]) -> None:
        """Take what the tests imported out of the modules that are loaded: its names are the same in every course.

        So are the folders that pytest put in for the names of tests outside the course's own, unless they were there.
        """
        tops = self.stage.hidden_root.name, STAGES
        for name, module in list(sys.modules.items()):
            own = getattr(module, "__file__", None) in paths
            if own or name.partition(".")[0] in tops or name.startswith("sealed_"):
                self._modules[name] = module
                if own or name.startswith("sealed_"):
                    del sys.modules[name]
                while own and (name := name.rpartition(".")[0]):
                    if name not in before and not getattr(sys.modules.get(name), "__file__", None):
                        sys.modules.pop(name, None)

    def _imports(self) -> contextlib.AbstractContextManager[object]:
        return serving_stage(self.stage, self.files.modules)

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """Have everything that the tests import and ask for in place while the block lasts."""
        testing.configure(self.stage.tolerance)
        with self._imports(), noted():
            sys.modules.update(self._modules)
            try:
                yield
            finally:
                for name in self._modules:
                    sys.modules.pop(name, None)

    def in_order(self, first: tuple[str, ...] = ()) -> list[pytest.Item]:
        """Return the tests, those of the criteria that are to come first before the others."""
        rank = {criterion: place for place, criterion in enumerate(first)}
        return sorted(self.items, key=lambda item: rank.get(criterion_of(item), len(rank)))

    def is_hidden(self, item: pytest.Item) -> bool:
        return item.path in self.files.hidden

    def measures(self, item: pytest.Item) -> bool:
        """Say whether a test, a fixture that it takes, or a function of the tests that these call uses a clock."""
        fixtures = getattr(getattr(item, "_fixtureinfo", None), "name2fixturedefs", {})
        functions = [each.func for found in fixtures.values() for each in found]
        return any(_uses_clock(each, set()) for each in [getattr(item, "function", None), *functions])

    def unjudged(self, item: pytest.Item) -> Outcome:
        if UNJUDGED not in item.stash:
            found = Outcome(name_of(item), criterion_of(item), self.is_hidden(item), "failed", kind=kind_of(item))
            item.stash[UNJUDGED] = found
        return item.stash[UNJUDGED]

    def take_down(self) -> None:
        """End what tests have set up for those behind them, where none of these is run."""
        if self.items:
            self.items[0].session._setupstate.teardown_exact(None)

    def close(self) -> None:
        self.config._ensure_unconfigure()
        self.items = []
        self._modules.clear()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Iterator[None]:
        """A test file that cannot be collected is the course's fault, never the learner's."""
        report: Any = yield
        if report.failed or report.skipped:
            self.faults.append(f"{collector.path.name} cannot be collected: {str(report.longrepr)[-TEXT_LIMIT:]}")
        return report  # type: ignore[no-any-return]

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Note which tests a verdict must see; one without a criterion of its stage is the course's fault."""
        names = Counter(map(name_of, items))
        self.faults += [
            f"{name} exists twice: test files and tests need names of their own" for name, n in names.items() if n > 1
        ]
        empty = {*self.files.public, *self.files.hidden} - {item.path for item in items}
        self.faults += [f"{path.name} holds no test" for path in sorted(empty)]
        known = {each.id for each in self.stage.criteria}
        for item in items:
            criterion = criterion_of(item)
            if criterion not in known:
                said = criterion or "no criterion mark"
                self.faults.append(f"{name_of(item)} belongs to no criterion of the checklist: {said}")
            self.expected.append((name_of(item), criterion, self.is_hidden(item)))


def criterion_of(item: pytest.Item) -> str:
    """Return the criterion of the checklist that a test belongs to; empty where it names none, or several."""
    if CRITERION not in item.stash:
        marks = [str(mark.args[0]) for mark in item.iter_markers("criterion") if mark.args]
        item.stash[CRITERION] = marks[0] if len(marks) == 1 else ""
    return item.stash[CRITERION]


def kind_of(item: pytest.Item) -> Kind | Literal[""]:
    """Return what a test asks of an answer, by the closest mark that says so: its parameters' before its function's,
    then its class's and its file's; empty where none does, or where the closest are several.
    """
    spec = getattr(item, "callspec", None)
    levels = [list(spec.marks)] if spec is not None else []
    for marks in [*levels, *(node.own_markers for node in reversed(item.listchain()))]:
        names = {mark.name for mark in marks}
        found = [kind for kind in KINDS if kind in names]
        if found:
            return found[0] if len(found) == 1 else ""
    return ""


def name_of(item: pytest.Item) -> str:
    """Return a test's name in outcomes and verdicts: test_topic.py::test_shape[2]."""
    return f"{item.path.name}::{item.nodeid.partition('::')[2]}"


def _uses_clock(value: object, met: set[int]) -> bool:
    """Say whether a function, or what it calls of its own module or of one that this one imports, uses a clock."""
    if isinstance(value, type):
        return any(_uses_clock(each, met) for each in vars(value).values() if isinstance(each, types.FunctionType))
    function = getattr(value, "__wrapped__", value)
    if not isinstance(function, types.FunctionType) or id(function) in met:
        return False
    met.add(id(function))
    if (function.__module__ or "").partition(".")[0] in LIBRARIES:
        return False
    names = _names(function.__code__)
    used = [function.__globals__[name] for name in names if name in function.__globals__]
    has_clock = not NAMES_OF_CLOCKS.isdisjoint(names) or any(id(each) in CLOCKS for each in used)
    return has_clock or any(_uses_clock(each, met) for each in used)


def _names(code: types.CodeType | None) -> set[str]:
    inner = [] if code is None else [each for each in code.co_consts if isinstance(each, types.CodeType)]
    return set().union([] if code is None else code.co_names, *map(_names, inner))


@contextlib.contextmanager
def _alone() -> Iterator[None]:
    """Keep plugins that happen to be installed, options from the environment, and output out of a collection."""
    names = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": "", "PYTEST_PLUGINS": ""}
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(names)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Noting:
    """A `with pytest.raises(…)` that lets another exception pass, as pytest's own does, with a note on it."""

    def __init__(self, context: Any, expected: Any) -> None:
        self._context = context
        self._expected = expected if isinstance(expected, tuple) else (expected,)

    def __enter__(self) -> Any:
        return self._context.__enter__()

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> Any:
        swallowed = self._context.__exit__(kind, error, trace)
        if isinstance(error, Exception) and not swallowed:
            names = [getattr(each, "__name__", str(each)) for each in self._expected]
            error.expected_instead = " or ".join(names)  # type: ignore[attr-defined]
        return swallowed


@contextlib.contextmanager
def noted() -> Iterator[None]:
    """Have `pytest.raises` note what it expected while the block lasts."""
    original: Any = pytest.raises

    def raises(*args: Any, **kwargs: Any) -> Any:
        made = original(*args, **kwargs)
        return _Noting(made, args[0]) if len(args) == 1 else made

    pytest.raises = raises
    try:
        yield
    finally:
        pytest.raises = original


class MemoryModule(pytest.Module):
    """A test module whose source is a text; its asserts tell what they compared, as those of a file do."""

    source = ""

    def _getobj(self) -> types.ModuleType:
        module = types.ModuleType(f"sealed_{self.path.stem}")
        module.__file__ = str(self.path)
        try:
            tree = ast.parse(self.source)
            rewrite_asserts(tree, self.source.encode(), str(self.path), self.config)
            sys.modules[module.__name__] = module  # dataclasses look their module up
            exec(compile(tree, str(self.path), "exec", dont_inherit=True), module.__dict__)
        except Exception as error:
            raise self.CollectError(f"{type(error).__name__}: {error}") from error
        return module


class FileModule(pytest.Module):
    """A test module from its file alone: pytest itself would import the `__init__.py` of every folder around it."""

    def _getobj(self) -> types.ModuleType:
        root, path = self.config.rootpath, self.path.with_suffix("")
        name = ".".join(path.relative_to(root).parts if path.is_relative_to(root) else path.parts[-3:])
        rewriting = self.config.pluginmanager.rewrite_hook
        spec = importlib.util.spec_from_file_location(name, self.path, loader=rewriting)  # type: ignore[arg-type]
        assert spec is not None and spec.loader is not None
        module = sys.modules[name] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except Exception as error:
            raise self.CollectError(f"{type(error).__name__}: {error}") from error
        return module


class MemoryFolder(pytest.Directory):
    """Stands for a folder, and holds modules that are not in it."""

    sources: Mapping[Path, str] = {}

    def collect(self) -> Iterator[MemoryModule]:
        for path, source in self.sources.items():
            module = MemoryModule.from_parent(self, path=path)
            module.source = source
            yield module


class MemoryFiles:
    """A pytest plugin that collects sources, by the path that each is known by, in place of what lies in a folder.

    Other folders hold test files, and are never packages.
    """

    def __init__(self, folder: Path, sources: Mapping[Path, str]) -> None:
        self.folder = folder
        self.sources = sources

    def places(self, files: Iterable[str]) -> Iterator[str]:
        """Yield what pytest is to collect: the folder for all that lies in memory, and files."""
        if self.sources:
            yield str(self.folder)
        kept = {str(path) for path in self.sources}
        yield from (file for file in files if file not in kept)

    @pytest.hookimpl(tryfirst=True)
    def pytest_collect_directory(self, path: Path, parent: pytest.Collector) -> pytest.Collector:
        """Take over the one folder, and keep the others from being packages."""
        if path != self.folder or not self.sources:
            return pytest.Dir.from_parent(parent, path=path)
        folder = MemoryFolder.from_parent(parent, path=path)
        folder.sources = self.sources
        return folder

    @pytest.hookimpl(tryfirst=True)
    def pytest_pycollect_makemodule(self, module_path: Path, parent: pytest.Collector) -> pytest.Module:
        return FileModule.from_parent(parent, path=module_path)
