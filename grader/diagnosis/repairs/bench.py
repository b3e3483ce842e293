"""Where changed forms of a learner's module run: a process of its own, in which switches choose what is changed."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from grader.diagnosis.repairs.batch import TRY
from grader.diagnosis.repairs.held.seen import CLOCK, NOTED
from grader.diagnosis.slips.schema import SWITCH
from grader.sandbox.connection import Connection
from grader.sandbox.exceptions import WorkerFailed
from grader.sandbox.proxies import RemoteValue

STARTS = 12  # processes that one diagnosis may use up: a change may well run for ever
CALL_SECONDS = 0.25  # of one call of a changed module
ASKED_EVERY = 8  # choices, its process is asked how much processor time it took


class BenchGone(Exception):
    """No process is left to try changes in."""


class Bench(Protocol):
    """Runs a module and hands out what stands for its names; loads counts the codes that ran, modules the modules."""

    loads: int
    modules: int

    @property
    def seconds(self) -> float:
        """How much processor time its processes took."""

    def load(self, code: bytes) -> None:
        """Run a module's code, as marshal has it, in place of the one before; BenchGone where that fails."""

    def extend(self, code: bytes) -> None:
        """Run more code in the names of the module; BenchGone where that fails."""

    def restart(self) -> None:
        """Run the module once more, in another process; BenchGone where none is left."""

    def choose(self, numbers: Sequence[int]) -> None:
        """Put the changes of these numbers in force, and no others."""

    def attempt(self, groups: Sequence[Sequence[int]], requests: Sequence[Any]) -> Any:
        """Make requests with each group of changes in force, or with the first groups where they take long.

        None where one hung, ended the process, or was refused.
        """

    def passes(self, numbers: Sequence[int], test: str, again: int = 0) -> bool:
        """Run a test of the suite with the changes of these numbers in force, and say whether it passes.

        again is how many seeds further on its inputs are drawn.
        """

    def named(self, name: str) -> Any:
        """Return what stands for a function, a class or a plain value of it."""

    def noted(self) -> Any:
        """Return what the functions of a module that takes notes held."""

    def is_gone(self) -> bool:
        """Say whether the process has ended or hung, so that its last answers say nothing."""


class Module:
    """Stands for the module on a bench: for a test's `learner`, or where a test asked for a plain value of it."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench

    def __getattr__(self, name: str) -> Any:
        return self._bench.named(name)


class RemoteBench:
    """A bench in a process of the learner's, one of those that run tests; started anew when a change ends it."""

    def __init__(
        self,
        start: Callable[[], Connection],
        end: Callable[[Connection], object],
        ends_at: float = math.inf,
        run: Callable[[str, Any, int], bool] = lambda test, learner, again: False,
    ) -> None:
        self._start = start
        self._run = run
        self._end = end
        self._ends_at = ends_at  # by time.monotonic
        self._before = self._taken = 0.0
        self._started: float | None = None
        self._chosen = 0
        self._connection: Connection | None = None
        self._module = 0
        self._codes: list[bytes] = []
        self._waiting: list[bytes] = []  # of these, what is to run before the next request
        self._starts = 0
        self.loads = self.modules = 0

    def load(self, code: bytes) -> None:
        """Run a module's code, as marshal has it, in place of the one before; BenchGone where that fails."""
        self._codes, self._waiting = [code], []
        self._module = 0
        self.modules += 1
        self.loads += 1
        self._ran(code)

    def extend(self, code: bytes) -> None:
        """Run more code in the names of the module, before the next request; BenchGone then where that fails."""
        self._codes.append(code)
        self._waiting.append(code)
        self.loads += 1

    def _ran(self, code: bytes) -> None:
        try:
            made = self._opened().request("load", self._module, "", (code,), label="a changed form")
        except WorkerFailed as error:
            raise BenchGone from error
        except Exception as error:  # what running it raised: the lines outside of functions
            raise BenchGone from error
        if not isinstance(made, RemoteValue):
            raise BenchGone
        self._module = made.__dict__["_number"]

    def restart(self) -> None:
        """Run the module once more, in another process; BenchGone where none is left."""
        first, *more = self._codes
        self.load(first)
        for each in more:
            self.extend(each)

    @property
    def seconds(self) -> float:
        """How much processor time its processes took, as they told last."""
        return self._before + self._taken

    def _opened(self) -> Connection:
        if time.monotonic() > self._ends_at:
            raise BenchGone
        if self._connection is None or self._connection.failure is not None:
            if self._starts == STARTS:
                raise BenchGone
            self.close()
            self._starts += 1
            self._connection = self._start()
            self._connection.call_seconds = CALL_SECONDS
            self._connection.on_request = None
        self._connection.records.clear()
        return self._connection

    def choose(self, numbers: Sequence[int]) -> None:
        """Put the changes of these numbers in force, and no others."""
        self._measure()
        self._asked("setattr", SWITCH, (list(numbers),))

    def _measure(self) -> None:
        """Ask the process, every few times, how much processor time it took."""
        if self._chosen % ASKED_EVERY == 0 or self._started is None:
            self._took(self._asked("call", CLOCK))
        self._chosen += 1

    def _took(self, told: Any) -> None:
        if isinstance(told, float):
            self._started = told if self._started is None else self._started
            self._taken = max(0.0, told - self._started)

    def attempt(self, groups: Sequence[Sequence[int]], requests: Sequence[Any]) -> Any:
        """Make requests with each group of changes in force; None where one hung, ended the process, or was refused."""
        try:
            if self._started is None:
                self._measure()
            codes = list(self._waiting)
            args = ([list(each) for each in groups], list(requests), codes)
            told, seconds = self._asked("call", TRY, args, len(codes))
            self._waiting = self._waiting[len(codes) :]
            self._took(seconds)
            return told
        except BenchGone:
            return None
        except Exception:  # an answer that cannot be sent, or a lie
            return None

    def passes(self, numbers: Sequence[int], test: str, again: int = 0) -> bool:
        """Run a test of the suite with the changes of these numbers in force, and say whether it passes.

        again is how many seeds further on its inputs are drawn.
        """
        if self.is_gone():
            self.restart()
        self.choose(numbers)
        return self._run(test, Module(self), again)

    def named(self, name: str) -> Any:
        """Return what stands for a function, a class or a plain value of it."""
        return self._asked("getattr", name)

    def noted(self) -> Any:
        """Return what the functions of a module that takes notes held."""
        return self._asked("getattr", NOTED)

    def _asked(self, kind: str, name: str, args: tuple[Any, ...] = (), waiting: int = 0) -> Any:
        """Ask for one thing, after what waits has run; so much of it may go on waiting, as it goes over with this."""
        while len(self._waiting) > waiting:
            self._ran(self._waiting.pop(0))
        try:
            return self._opened().request(kind, self._module, name, args, label=name)
        except WorkerFailed as error:
            raise BenchGone from error

    def is_gone(self) -> bool:
        """Say whether the process has ended or hung, so that its last answers say nothing."""
        return self._connection is None or self._connection.failure is not None

    def close(self) -> None:
        """End the process."""
        if self._connection is not None:
            self._before, self._taken, self._started = self.seconds, 0.0, None
            self._end(self._connection)
            self._connection = None
