"""What those who use workers know of them: a connection, an end, and what they take."""

from __future__ import annotations

import socket
from typing import Protocol


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

    def beside(self) -> Worker:
        """Return one more worker, which runs beside those that were started; IsolationRefused where there is none."""
