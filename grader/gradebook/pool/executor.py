"""An executor whose processes may die: each call that dies ends as WorkerDied, and the other calls go on.

concurrent.futures.ProcessPoolExecutor and loky fail every call when one process dies. pebble's ProcessPool limits each
call, but it fails as a whole when an idle process dies, and hands calls to all of its processes in turn, so that each
of them loads the tests.
"""

from __future__ import annotations

import queue
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from typing import Any

from grader import children
from grader.errors import GraderFault
from grader.gradebook.pool.admission import Admission
from grader.gradebook.pool.serving import serve

EXTRA = 4  # processes for each job at most; they start as calls that only wait make room for more
START_SECONDS = 120.0
END_SECONDS = 10.0
STOPPED = "the grading was stopped"
_Call = tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]


class WorkerDied(GraderFault):
    """The process that worked on a call ended, or had to be ended, before it answered."""


class Pool(Executor):
    """Runs calls in processes of its own; `prepare(*given)` is called first in each of them.

    jobs is how many calls run at once while all of them compute; with one, calls run one after the other. A call goes
    to the process that was used last, and another one starts only while all that have started are busy. A call that
    takes longer than `seconds` dies.
    """

    def __init__(self, jobs: int, seconds: float, prepare: Callable[..., None], given: tuple[Any, ...] = ()) -> None:
        self._seconds = seconds
        self._calls: queue.Queue[_Call] = queue.Queue()  # a SimpleQueue whose time is up as it wakes waits for ever
        self._stopped = threading.Event()
        most = 1 if jobs == 1 else jobs * EXTRA
        self._admission = Admission(jobs, most)
        self._starting = threading.Lock()  # of a process, which is to have all that it needs before anything ends
        self._idle = [_Process((prepare, given), self._starting) for _ in range(most)]  # the last is taken first
        self._leaving = threading.Barrier(most)  # a process is killed when the thread that started it ends
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(most)]
        self.width = most
        for thread in self._threads:
            thread.start()

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Have a function of a module called in one of the processes; arguments and result are pickled."""
        assert not named, "only what stands in place"
        if self._stopped.is_set():
            raise RuntimeError("the pool is shut down")
        future: Future[Any] = Future()
        self._calls.put((future, function, arguments))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End all processes; calls that run now are cut off, and those that wait are cancelled."""
        self._stopped.set()
        self._admission.wake()
        while True:
            try:
                self._calls.get_nowait()[0].cancel()
            except queue.Empty:
                break
        with self._starting:
            pass
        for thread in self._threads if wait else ():
            thread.join()

    def _work(self) -> None:
        """Give one call after the other to a process."""
        if hasattr(signal, "pthread_sigmask"):  # a new process inherits it, and is not stopped while it starts
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
        try:
            while (call := self._next()) is not None:
                future, function, arguments = call
                process = self._idle.pop()
                try:
                    if future.set_running_or_notify_cancel():
                        _answer(future, process.call(function, arguments, self._seconds, self._stopped))
                except BaseException as error:
                    future.set_exception(error)
                finally:
                    if process.has_started:
                        self._idle.append(process)
                    else:
                        self._idle.insert(0, process)
                    self._admission.leave()
        finally:
            with suppress(IndexError):
                while True:
                    self._idle.pop().end()
            self._leaving.wait()

    def _next(self) -> _Call | None:
        """Wait for a call and for admission; None once everything is stopped."""
        while not self._stopped.is_set():
            with suppress(queue.Empty):
                call = self._calls.get(timeout=0.2)
                if self._admission.enter(self._stopped):
                    return call
                call[0].cancel()
        return None


def _answer(future: Future[Any], answer: tuple[bool, Any]) -> None:
    done, value = answer
    if done:
        future.set_result(value)
    else:
        future.set_exception(value)


class _Process:
    """One process at a time, started when it is needed."""

    def __init__(self, first: tuple[Callable[..., None], tuple[Any, ...]], starting: threading.Lock) -> None:
        self._first = first
        self._starting = starting
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
