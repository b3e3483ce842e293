"""Frames over a socket: sent whole, received into one allocation, never past an absolute deadline.

Both ends use it, so it needs the standard library, NumPy and wire only.
"""

from __future__ import annotations

import socket
import time
from typing import Any

import numpy as np

from grader.run import wire

SMALL = 1 << 16  # bytes; below this a frame goes out in one system call


class ChannelClosed(Exception):
    """The other end is gone, or what it sent ends in the middle of a frame."""


class DeadlinePassed(Exception):
    """The other end did not send, or did not take, a whole frame in time."""


class Channel:
    """One end of a connection. Deadlines are on the clock of time.monotonic(); None waits for ever."""

    def __init__(self, connection: socket.socket) -> None:
        self.socket = connection
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):  # a hint; the system may grant less
            connection.setsockopt(socket.SOL_SOCKET, option, 1 << 20)
        self._head = bytearray(wire.HEADER.size)

    def _arm(self, deadline: float | None) -> None:
        if deadline is None:
            self.socket.settimeout(None)
            return
        left = deadline - time.monotonic()
        if left <= 0:
            raise DeadlinePassed
        self.socket.settimeout(left)

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        """Send the buffers of one frame; ChannelClosed or DeadlinePassed where that fails."""
        try:
            if sum(memoryview(part).nbytes for part in buffers) <= SMALL:
                buffers = [b"".join(bytes(memoryview(part).cast("B") if _flat(part) else part) for part in buffers)]
            for part in buffers:
                self._arm(deadline)
                self.socket.sendall(memoryview(part).cast("B") if _flat(part) else b"")
        except TimeoutError:
            raise DeadlinePassed from None
        except OSError as error:
            raise ChannelClosed(str(error)) from None

    def receive(self, deadline: float | None = None) -> tuple[bytearray, np.ndarray[Any, Any]]:
        """Return one frame's body and blob; WireError for a header that is not ours or past a cap."""
        self._fill(memoryview(self._head), deadline)
        magic, body_size, blob_size = wire.HEADER.unpack(self._head)
        if magic != wire.MAGIC:
            raise wire.WireError("what arrived is not a frame of ours")
        if body_size > wire.MAX_BODY or blob_size > wire.MAX_BLOB:
            raise wire.WireError(f"a frame of {body_size} + {blob_size} bytes; at most {wire.MAX_BODY} + {wire.MAX_BLOB}")
        body = bytearray(body_size)
        self._fill(memoryview(body), deadline)
        blob = np.empty(blob_size, np.uint8)
        if blob_size:
            self._fill(memoryview(blob), deadline)  # type: ignore[arg-type]
        return body, blob

    def _fill(self, view: memoryview, deadline: float | None) -> None:
        while view:
            try:
                self._arm(deadline)
                count = self.socket.recv_into(view)
            except TimeoutError:
                raise DeadlinePassed from None
            except OSError as error:
                raise ChannelClosed(str(error)) from None
            if count == 0:
                raise ChannelClosed("the connection ended")
            view = view[count:]

    def close(self) -> None:
        """End the connection; the other side meets end of file."""
        self.socket.close()


def _flat(part: Any) -> bool:
    """Say whether a buffer can be viewed as bytes (an empty array cannot)."""
    return bool(memoryview(part).nbytes)
