"""An executor whose processes may die: each call that dies ends as WorkerDied, and the other calls go on.

concurrent.futures.ProcessPoolExecutor and loky fail every call when one process dies. pebble's ProcessPool limits each
call, but it fails as a whole when an idle process dies, and hands calls to all of its processes in turn, so that each
of them loads the tests.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Hashable, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import Any

from grader import children
from grader.course.import_guard import GUARD
from grader.errors import GraderFault
from grader.judging.grading import MOST_PLANS
from grader.worker import kernel

EXTRA = 4  # processes for each job at most; they start as calls that only wait make room for more
START_SECONDS = 120.0
END_SECONDS = 10.0
STOPPED = "the grading was stopped"
WINDOW_SECONDS = 0.5  # over which processor use is measured
IDLE = 0.6  # of a core has to be idle before one more is let in
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


@dataclass(frozen=True, eq=False)
class _Call:
    """A call that waits."""

    future: Future[Any]
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    kind: Hashable


class WorkerDied(GraderFault):
    """The process that worked on a call ended, or had to be ended, before it answered."""


class ProcessPool(Executor):
    """Runs calls in processes of its own; `prepare(*given)` is called first in each of them.

    jobs is how many calls run at once while all of them compute; with one, calls run one after the other. Another
    process starts only while all that have started are busy. A call that takes longer than `seconds` dies.

    A process keeps what it has made for a call, of the last few kinds of calls; kind(*arguments) says of which kind a
    call is. Of the calls that wait, a process gets the first of a kind that it knows, else of the kind that the fewest
    know. Without kinds, calls are done in their order.
    """

    def __init__(
        self,
        jobs: int,
        seconds: float,
        prepare: Callable[..., None],
        given: tuple[Any, ...] = (),
        kind: Callable[..., Hashable] | None = None,
    ) -> None:
        self._seconds = seconds
        self._kind = kind or (lambda *arguments: None)
        self._calls: list[_Call] = []
        self._changing = threading.Lock()  # of the calls that wait and the processes that are idle
        self._waiting = threading.Semaphore(0)  # how many of the calls no thread has promised to take
        self._stopped = threading.Event()
        most = 1 if jobs == 1 else jobs * EXTRA
        self._admission = Admission(jobs, most)
        self._starting = threading.Lock()  # of a process, which is to have all that it needs before anything ends
        self._processes = [_PoolWorker((prepare, given), self._starting) for _ in range(most)]
        self._idle = self._processes.copy()  # the last is taken first
        self._leaving = threading.Barrier(most)  # a process is killed when the thread that started it ends
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(most)]
        self.width = most
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Have a function of a module called in one of the processes; arguments and result are pickled."""
        assert not named, "only what stands in place"
        future: Future[Any] = Future()
        with self._changing:
            if self._stopped.is_set():
                raise RuntimeError("the pool is shut down")
            self._calls.append(_Call(future, function, arguments, self._kind(*arguments)))
        self._waiting.release()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes; calls that run now are cut off, and those that wait are cancelled."""
        self._stopped.set()
        self._admission.wake()
        with self._changing:
            while self._calls:
                self._calls.pop().future.cancel()
        with self._starting:
            pass
        for thread in self._threads if wait else ():
            thread.join()

    def _work(self) -> None:
        """Give one call after the other to a process."""
        if hasattr(signal, "pthread_sigmask"):  # a new process inherits it, and is not stopped while it starts
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            while (taken := self._next()) is not None:
                call, process = taken
                try:
                    if call.future.set_running_or_notify_cancel():
                        done, value = process.call(call.function, call.arguments, self._seconds, self._stopped)
                        (call.future.set_result if done else call.future.set_exception)(value)
                except BaseException as error:
                    call.future.set_exception(error)
                finally:
                    with self._changing:
                        if process.has_started:
                            self._idle.append(process)
                        else:
                            process.known.clear()
                            self._idle.insert(0, process)
                    self._admission.leave()
        finally:
            with suppress(IndexError):
                while True:
                    self._idle.pop().end()
            self._leaving.wait()

    def _next(self) -> tuple[_Call, _PoolWorker] | None:
        """Wait for a call and for admission, and return a call and its process; None once everything is stopped."""
        while not self._stopped.is_set():
            if self._waiting.acquire(timeout=0.2) and self._admission.enter(self._stopped):
                with self._changing:
                    if self._calls:  # else everything was stopped meanwhile
                        return self._matched()
        return None

    def _matched(self) -> tuple[_Call, _PoolWorker]:
        """Take the call and the process that suit each other best; of equals, the last used process and first call."""
        processes = [process for process in reversed(self._idle) if process.has_started] or self._idle[-1:]
        knowing = Counter(kind for process in self._processes for kind in process.known)

        def strangeness(pair: tuple[_Call, _PoolWorker]) -> int:
            call, process = pair
            return 0 if call.kind in process.known else 1 + knowing[call.kind]

        call, process = min(((call, process) for process in processes for call in self._calls), key=strangeness)
        self._calls.remove(call)
        self._idle.remove(process)
        if call.kind not in process.known:
            process.known.append(call.kind)
        return call, process


class _PoolWorker:
    """One process at a time, started when it is needed."""

    def __init__(self, first: tuple[Callable[..., None], tuple[Any, ...]], starting: threading.Lock) -> None:
        self._first = first
        self._starting = starting
        self.known: deque[Hashable] = deque(maxlen=MOST_PLANS)  # kinds of calls that it was given
        self._process: SpawnProcess | None = None
        self._pipe: Connection | None = None
        self._is_busy = False

    @property
    def has_started(self) -> bool:
        """Whether it was started, and has not been ended since."""
        return self._process is not None

    def call(
        self, function: Callable[..., Any], arguments: tuple[Any, ...], seconds: float, stopped: threading.Event
    ) -> tuple[bool, Any]:
        """Return whether a call ended well, and its result or exception; WorkerDied where the process ends instead."""
        try:
            if self._process is None or not self._process.is_alive():
                self._start(stopped)
                self._wait(START_SECONDS, stopped)
            assert self._pipe is not None
            self._is_busy = True
            self._pipe.send((function, arguments))
            answer: tuple[bool, Any] = self._wait(seconds, stopped)
            self._is_busy = False
            return answer
        except (EOFError, OSError) as error:
            code = self.end()
            raise WorkerDied(f"the process that graded ended unexpectedly (exit code {code})") from error
        except WorkerDied:
            self.end()
            raise

    def _start(self, stopped: threading.Event) -> None:
        self.end()
        self._is_busy = True  # with its own start
        context = get_context("spawn")
        with self._starting:
            if stopped.is_set():
                raise WorkerDied(STOPPED)
            self._pipe, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs, *self._first), daemon=False)
            with children.spawning():
                self._process.start()
        theirs.close()

    def _wait(self, seconds: float, stopped: threading.Event) -> Any:
        assert self._pipe is not None
        left = seconds
        while not self._pipe.poll(min(0.2, left)):
            left -= 0.2
            if stopped.is_set():
                raise WorkerDied(STOPPED)
            if left <= 0:
                raise WorkerDied(f"the process that graded did not answer within {seconds:g} s")
        return self._pipe.recv()

    def end(self) -> int | None:
        """End the process, if one runs, and return its exit code."""
        process, self._process = self._process, None
        if self._pipe is not None:
            self._pipe.close()
            self._pipe = None
        if process is None:
            return None
        process.join(0 if self._is_busy else END_SECONDS)  # one that waits ends as its pipe closes
        for stop in (process.terminate, process.kill):
            if process.is_alive():
                stop()
                process.join(END_SECONDS)
        return process.exitcode  # not closed: at its end the interpreter joins every process that it knows


def serve(pipe: Connection, prepare: Callable[..., None], given: tuple[Any, ...]) -> None:
    """Answer each call with whether it ended well, and its result or exception."""
    GUARD.install()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that coordinates
    signal.signal(signal.SIGTERM, _leave)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT, signal.SIGTERM})
    with suppress(kernel.Unconfined):
        kernel.end_with_parent()
    with suppress(EOFError, BrokenPipeError, ConnectionResetError):  # the other end is gone
        prepare(*given)
        pipe.send(None)
        while True:
            function, arguments = pipe.recv()
            try:
                answer: tuple[bool, Any] = True, function(*arguments)
            except Exception as error:
                answer = False, error
            pipe.send(answer)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends already, and cleans up


def _leave(number: int, frame: FrameType | None) -> None:
    """End as a program that comes to its end, so that what was started is ended, too."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    sys.exit(128 + number)


@dataclass(frozen=True)
class Used:
    """Processor seconds up to a moment: what these processes have used, and what no process of the machine has."""

    own: float
    idle: float


class Admission:
    """Lets `jobs` in at once, and more, up to `most`, one in each window, while cores are idle."""

    def __init__(
        self,
        jobs: int,
        most: int,
        used: Callable[[], Used | None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._jobs, self._most = jobs, most
        self._used = used or measured
        self._clock = clock
        self._changed = threading.Condition()
        self._inside = 0
        self._before: tuple[float, Used] | None = None  # the last measurement, and when that was

    def enter(self, stopped: threading.Event) -> bool:
        """Wait to be let in; False where everything is stopped before."""
        with self._changed:
            while not stopped.is_set():
                if self._inside < self._jobs or (self._inside < self._most and self._is_idle()):
                    self._inside += 1
                    self._before = None  # what was let in shows its use in the next window only
                    return True
                self._changed.wait(WINDOW_SECONDS / 2)
            return False

    def leave(self) -> None:
        """Make room for another."""
        with self._changed:
            self._inside -= 1
            self._changed.notify()

    def wake(self) -> None:
        """Let all that wait look whether everything is stopped."""
        with self._changed:
            self._changed.notify_all()

    def _is_idle(self) -> bool:
        now = self._clock()
        if self._before is not None and now - self._before[0] < WINDOW_SECONDS:
            return False
        if (used := self._used()) is None:
            return False
        before, self._before = self._before, (now, used)
        if before is None:
            return False
        seconds = now - before[0]
        own, idle = used.own - before[1].own, used.idle - before[1].idle
        return own <= (self._jobs - IDLE) * seconds and idle >= IDLE * seconds


def measured() -> Used | None:
    """Return what this process and those below it have used; None where the system does not tell."""
    own, idle = tree_seconds(os.getpid()), idle_seconds()
    return None if own is None or idle is None else Used(own, idle)


def idle_seconds(path: Path = Path("/proc/stat")) -> float | None:
    """Return for how many seconds, summed over its processors, the machine had nothing to do."""
    try:
        fields = path.read_bytes().partition(b"\n")[0].split()
        return (int(fields[4]) + int(fields[5])) / _TICKS  # nothing to do, and waiting for a disk
    except (OSError, ValueError, IndexError):
        return None


def tree_seconds(process: int, folder: Path = Path("/proc")) -> float | None:
    """Return the processor seconds that a process and all below it have used; None where the system does not tell."""
    rows: dict[int, tuple[int, int]] = {}
    with suppress(OSError):
        for entry in os.scandir(folder):
            if entry.name.isdigit() and (row := _row(folder / entry.name / "stat")) is not None:
                rows[int(entry.name)] = row
    return _sum(process, rows) / _TICKS if process in rows else None


def _row(path: Path) -> tuple[int, int] | None:
    """Return the parent of a process, and the ticks that it and the children that it waited for have used."""
    try:
        fields = path.read_bytes().rpartition(b")")[2].split()  # its name may hold anything
        return int(fields[1]), sum(map(int, fields[11:15]))
    except (OSError, ValueError, IndexError):  # it has ended
        return None


def _sum(process: int, rows: Mapping[int, tuple[int, int]]) -> int:
    children: dict[int, list[int]] = {}
    for each, (parent, _) in rows.items():
        children.setdefault(parent, []).append(each)
    total, queue = 0, [process]
    while queue:
        each = queue.pop()
        total += rows[each][1]
        queue += children.get(each, [])
    return total
