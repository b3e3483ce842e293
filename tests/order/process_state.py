"""State of the process that all of its tests share: a test that leaves it changed fails, and says what it changed."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from types import ModuleType

import numpy as np
import pytest
from _pytest.assertion.rewrite import AssertionRewritingHook

PYTESTS_OWN = "PYTEST_CURRENT_TEST"  # in the environment, set anew for each phase of a test
ABSENT = "(absent)"
DASKS_FINDERS = ("tlz", "importlib_metadata")  # modules that add one as they are imported
TIMERS = {  # each ends a process; Windows has none
    f"{name}, running": getattr(signal, name) for name in dir(signal) if name.startswith("ITIMER_")
}
SIGNALS = {f"the handler of {each.name}": each for each in signal.Signals}


@dataclass(frozen=True)
class ProcessState:
    """Settings of the process, each by what Python calls it, and the modules that were imported.

    The state of `random` is no part of it: Rich draws from it for a link.
    """

    settings: dict[str, object]
    modules: dict[str, ModuleType]

    @classmethod
    def current(cls) -> ProcessState:
        """Read the state of this process."""
        settings: dict[str, object] = {
            "os.getcwd()": _folder(),
            "the umask": _umask(),
            "tempfile.tempdir": tempfile.gettempdir(),  # sets it where nobody has asked yet
            "sys.path": tuple(sys.path),
            "sys.meta_path": tuple(each for each in sys.meta_path if not _belongs_here(each)),
            "sys.path_hooks": tuple(sys.path_hooks),
            "sys.argv": tuple(sys.argv),
            "sys.getrecursionlimit()": sys.getrecursionlimit(),
            "numpy.geterr()": np.geterr(),
            "numpy.get_printoptions()": np.get_printoptions(),
            "numpy.random's state": _drawn(),
        }
        settings |= {name: signal.getitimer(timer)[0] > 0 for name, timer in TIMERS.items()}
        settings |= {name: signal.getsignal(each) for name, each in SIGNALS.items()}
        settings |= {f"os.environ[{name!r}]": value for name, value in os.environ.items() if name != PYTESTS_OWN}
        return cls(settings, dict(sys.modules))

    def changes(self, later: ProcessState) -> Iterator[str]:
        """Yield a line for each setting that differs later, and for each imported module that is gone or replaced.

        A module that was made by hand may be replaced: the grader makes some of the course's texts, which have no spec.
        """
        if self.settings != later.settings:
            for name in sorted(self.settings.keys() | later.settings.keys()):
                before, after = self.settings.get(name, ABSENT), later.settings.get(name, ABSENT)
                if before != after:
                    yield f"{name} was {before!r} and is {after!r}"
        if not self.modules.items() <= later.modules.items():
            for name, module in sorted(self.modules.items()):
                now = later.modules.get(name)
                if now is not module and getattr(module, "__spec__", None) is not None:
                    yield f"sys.modules[{name!r}] was {module!r} and is {now or ABSENT!r}"


def _belongs_here(finder: object) -> bool:
    """Whether a test may leave a finder: the hook of a suite that the grader keeps loaded, and what Dask brings."""
    return isinstance(finder, AssertionRewritingHook) or type(finder).__module__.partition(".")[0] in DASKS_FINDERS


def _folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # somebody has removed it
        return ABSENT


def _umask() -> str:
    found = os.umask(0o077)
    os.umask(found)
    return oct(found)


def _drawn() -> tuple[int, int]:
    """Return a digest of what a generator of one's own (`np.random.default_rng`) leaves as it is."""
    state = np.random.get_state(legacy=False)
    assert isinstance(state, dict)
    return zlib.crc32(state["state"]["key"]), state["state"]["pos"]


LEFT = pytest.StashKey[ProcessState]()  # how the last test has left it; one is kept, since it holds all modules' names


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Read the state before the first test, and before the fixtures that are made for it."""
    if LEFT not in item.session.stash:
        item.session.stash[LEFT] = ProcessState.current()
    return (yield)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """Fail a test that leaves the state changed; a fixture of a module or a session may not change it either."""
    before = item.session.stash[LEFT]
    try:
        done = yield
    finally:
        now = item.session.stash[LEFT] = ProcessState.current()
    if changes := list(before.changes(now)):
        told = "\n  ".join(changes)
        pytest.fail(
            f"this test, or a fixture made for it, leaves changed what all tests share:\n  {told}", pytrace=False
        )
    return done
