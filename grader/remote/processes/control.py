"""The grader's end of the connection to the process that forks one for each test: orders, and what came of them.

The other end runs beside a learner's code, so that nothing is taken from it but what was asked for, in bounded time.
"""

from __future__ import annotations

import socket
import time

from grader.worker.main import CONTROL, TOLD

SEND_SECONDS = 5.0
MOST = 10_000  # what is heard while one answer is waited for
STARTED, NO_ROOM, ENDED = b"S", b"N", b"E"


class Control:
    """Has processes forked and ended, by number; OSError where the other end is gone."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._serial = 0
        self._expected: dict[int, bool | None] = {}  # of each that is not taken yet: whether it was started, if told

    def fork(self) -> tuple[int, socket.socket]:
        """Order a process; return its number and the connection that it will answer on."""
        self._serial += 1
        ours, theirs = socket.socketpair()
        with theirs:
            try:
                self._connection.settimeout(SEND_SECONDS)
                socket.send_fds(self._connection, [CONTROL.pack(b"F", self._serial)], [theirs.fileno()])
            except OSError:
                ours.close()
                raise
        self._expected[self._serial] = None
        return self._serial, ours

    def started(self, number: int, seconds: float) -> bool:
        """Say whether a process was started; where nothing is told in that time, its first answer will tell."""
        until = time.monotonic() + seconds
        try:
            for _ in range(MOST):
                if (told := self._expected[number]) is not None:
                    return told
                self._hear(until)
        except TimeoutError:
            pass
        finally:
            self._expected.pop(number, None)
        return True

    def end(self, number: int) -> None:
        """Order the end of a process."""
        self._connection.sendall(CONTROL.pack(b"K", number))

    def status(self, number: int, seconds: float) -> int | None:
        """Return the wait status of a process that was ended, if it is told in that time."""
        until = time.monotonic() + seconds
        for _ in range(MOST):
            kind, told, status = self._hear(until)
            if (kind, told) == (ENDED, number):
                return status
        return None

    def _hear(self, until: float) -> tuple[bytes, int, int]:
        if (left := until - time.monotonic()) <= 0:
            raise TimeoutError("nothing was told in time")
        self._connection.settimeout(left)
        data = self._connection.recv(TOLD.size, socket.MSG_WAITALL)
        if len(data) != TOLD.size:
            raise ConnectionResetError("the connection ended")
        kind, number, status = TOLD.unpack(data)
        if kind in (STARTED, NO_ROOM) and number in self._expected:
            self._expected[number] = kind == STARTED
        return kind, number, status
