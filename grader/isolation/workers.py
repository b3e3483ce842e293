"""A learner's process that has been started in a tier: the connection to it, what it takes, and its end."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from dataclasses import dataclass, field
from typing import Protocol

from grader.isolation import leftovers, users
from grader.isolation.bundle import OwnFolder
from grader.isolation.tier import Tier
from grader.isolation.zygote import Fork, Zygote
from grader.worker import kernel, supervisor
from grader.worker.confine import NOBODY


class Worker(Protocol):
    """A worker that has been started: the connection to it, and its end."""

    connection: socket.socket

    def running(self) -> bool:
        """Say whether it has not ended."""

    def excess(self) -> str | None:
        """Return which bound it went past, if that is why it ended."""

    def others(self) -> int:
        """Return how many tasks the kernel may count with those of this run, when it begins."""

    def own(self) -> int:
        """Return how many tasks the run has."""

    def kill(self) -> None:
        """End it and all that it started."""


class Workers(Protocol):
    """Where workers come from: the process that judges need not be the one that starts and ends them."""

    def start(self) -> Worker:
        """Return a new worker, or one that was started ahead; IsolationRefused where there is none."""

    def beside(self) -> Workers:
        """Return where workers come from that run beside those that were started."""


LEAVE_SECONDS = supervisor.END_SECONDS + 1
LEAVE_ALONE_SECONDS = 0.5  # where nobody has to be ended first
OVER = {
    supervisor.TOO_MUCH_WRITTEN: f"its files took more than {supervisor.SCRATCH_BYTES >> 20} MB",
    supervisor.TOO_MANY_FILES: f"it made more than {supervisor.SCRATCH_FILES} files",
    supervisor.TOO_MUCH_MEMORY: "it and the processes that it started took more memory than two of them may",
}


def close_to_others() -> None:
    """Let no process of this user look into this one from here on: it holds tests, or starts learners' code."""
    with contextlib.suppress(kernel.Unconfined):
        kernel.set_open(False)


@dataclass
class WorkerProcess:
    """A learner's process that has just been started: the connection to it, and how to end it.

    user is one that no other run has, where the grader is root; else 0.
    """

    process: subprocess.Popen[bytes] | Fork
    connection: socket.socket
    tier: Tier
    folder: OwnFolder | None
    guarded: bool = False
    user: int = 0
    zygote: Zygote | None = None  # that forked it, and stays as long as it runs
    _ended: bool = field(default=False, init=False)
    _since: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        close_to_others()
        if self.folder is not None:
            with contextlib.suppress(OSError):
                self._since = os.stat(self.folder.name).st_ctime_ns

    def kill(self) -> None:
        """End the process and all it started, and remove its scratch folder and what its own user left elsewhere."""
        self.connection.close()
        if not self.tier.ends_at_once:  # what it started is looked for
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(LEAVE_SECONDS if self.guarded else LEAVE_ALONE_SECONDS)
        number = self.process.pid if self.process.poll() is None else 0  # read once: 0 is the group of this process
        if hasattr(os, "killpg") and number > 1:
            with contextlib.suppress(OSError):
                os.killpg(number, signal.SIGKILL)
        with contextlib.suppress(OSError):
            self.process.kill()
        self.process.wait()
        if self.folder is not None:
            with contextlib.suppress(OSError):
                self.folder.cleanup()
        if not self._ended:
            self._ended = True
            self.zygote = None
            if self.user and self.tier.leaves_files:
                leftovers.remove(self.user, self._since)

    def running(self) -> bool:
        """Say whether the process has not ended."""
        return self.process.poll() is None

    def excess(self) -> str | None:
        """Return which bound the process and those that it started went past, if that is why they were ended."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return OVER.get(self.process.wait(LEAVE_ALONE_SECONDS))
        return None

    def others(self) -> int:
        """Return how many tasks the kernel may count with those of this run, when it begins."""
        if self.user or not hasattr(os, "getuid"):
            return 0
        return users.tasks_of(NOBODY if users.can_change() else os.getuid())

    def own(self) -> int:
        """Return how many tasks the run has: the supervisor's, the worker's, and all that stem from them."""
        return supervisor.tasks_below(self.process.pid)
