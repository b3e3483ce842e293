"""Frames over a socket: sent whole, received into one allocation, never past an absolute deadline.

Both ends use it, so it needs the standard library, NumPy and this room only.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from grader.protocol import codec

SMALL = 1 << 16  # bytes; a frame below this goes out, and comes in, with one system call
HELD_SECONDS = 0.002  # for which a frame is held at most while others follow: each that is sent wakes the other end
_NOTHING: np.ndarray[Any, Any] = np.empty(0, np.uint8)


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
        self._buffer = np.empty(SMALL, np.uint8).data.cast("B")  # a page is taken when something arrives in it
        self._start = self._end = 0  # of what has arrived and is not taken yet
        self._held = bytearray()  # of frames that go out together
        self._held_until = 0.0

    def hold(self, buffers: list[Any]) -> None:
        """Send the buffers of one frame with those behind it: at once where they are large, and before a wait."""
        if sum(map(_size, buffers)) > SMALL // 2:
            self.send(buffers)
            return
        if not self._held:
            self._held_until = time.monotonic() + HELD_SECONDS
        self._held += joined(buffers)  # a copy: a later call may write to an array
        if time.monotonic() >= self._held_until or len(self._held) > SMALL // 2:
            self.send([])

    def send(self, buffers: list[Any], deadline: float | None = None) -> None:
        """Send what is held and the buffers of one frame; ChannelClosed or DeadlinePassed where that fails."""
        buffers, self._held = [*([bytes(self._held)] if self._held else []), *buffers], bytearray()
        if len(buffers) > 1 and sum(map(_size, buffers)) <= SMALL:
            buffers = [joined(buffers)]
        for part in buffers:
            view = memoryview(part) if isinstance(part, bytes) else memoryview(part.reshape(-1).view(np.uint8))
            while view:
                view = view[self._done(self.socket.send, view, deadline) :]

    def receive(
        self, deadline: float | None = None, most: tuple[int, int] = (codec.MAX_BODY, codec.MAX_BLOB)
    ) -> tuple[memoryview, np.ndarray[Any, Any]]:
        """Return one frame's body, valid until the next call, and its blob.

        Raises WireError for a header past a cap of the wire, TooLarge for one past most, of a body and of a blob.
        """
        magic, body_size, blob_size = codec.HEADER.unpack(self._taken(codec.HEADER.size, deadline))
        if magic != codec.MAGIC:
            raise codec.WireError("what arrived is not a frame of ours")
        if body_size > codec.MAX_BODY or blob_size > codec.MAX_BLOB:
            raise codec.WireError(
                f"a frame of {body_size} + {blob_size} bytes; at most {codec.MAX_BODY} + {codec.MAX_BLOB}"
            )
        if body_size > most[0]:
            raise _too_large(body_size, "beside arrays", most[0])
        if body_size <= SMALL:
            body = self._taken(body_size, deadline)
        else:
            body = self._fill(memoryview(bytearray(body_size)), deadline)
        if not blob_size:
            return body, _NOTHING
        if blob_size > most[1]:
            expect_size(bytes(body), blob_size, most)
        if self._start + blob_size > self._end:
            body = memoryview(bytes(body))  # the buffer is about to be written over
        blob = np.empty(blob_size, np.uint8)
        self._fill(memoryview(blob), deadline)  # type: ignore[arg-type]
        return body, blob

    def pending(self) -> bool:
        """Say whether the other end has sent what nobody has taken yet; never waits."""
        if self._start < self._end:
            return True
        try:
            self.socket.settimeout(0)
            return bool(self.socket.recv(1, socket.MSG_PEEK))
        except OSError:  # nothing there, or nobody; whoever asks next is told
            return False

    def _taken(self, count: int, deadline: float | None) -> memoryview:
        """Return the next bytes, at most SMALL of them, in the buffer."""
        if self._start + count > SMALL:
            waiting = self._end - self._start
            self._buffer[:waiting] = bytes(self._buffer[self._start : self._end])
            self._start, self._end = 0, waiting
        while self._end - self._start < count:
            self._end += self._read(self._buffer[self._end :], deadline)
        taken = self._buffer[self._start : self._start + count]
        self._start += count
        if self._start == self._end:
            self._start = self._end = 0
        return taken

    def _fill(self, view: memoryview, deadline: float | None) -> memoryview:
        """Fill a view, first from the buffer, then straight from the socket, which copies nothing twice."""
        count = min(len(view), self._end - self._start)
        view[:count] = self._buffer[self._start : self._start + count]
        self._start += count
        rest = view[count:]
        while rest:
            rest = rest[self._read(rest, deadline) :]
        return view

    def _read(self, view: memoryview, deadline: float | None) -> int:
        if self._held:
            self.send([], deadline)
        count = self._done(self.socket.recv_into, view, deadline)
        if count == 0:
            raise ChannelClosed("the connection ended")
        return count

    def _done(self, action: Callable[[memoryview], int], view: memoryview, deadline: float | None) -> int:
        """Send or receive some bytes, and return how many."""
        left = None if deadline is None else deadline - time.monotonic()
        if left is not None and left <= 0:
            raise DeadlinePassed
        try:
            self.socket.settimeout(left)
            return action(view)
        except TimeoutError:
            raise DeadlinePassed from None
        except OSError as error:
            raise ChannelClosed(str(error)) from None

    def close(self) -> None:
        """End the connection; the other side meets end of file."""
        self.socket.close()


def expect_size(body: bytes, blob_size: int, most: tuple[int, int]) -> None:
    """Raise TooLarge where a frame's body, or the blob that comes with it, is past most."""
    if len(body) > most[0]:
        raise _too_large(len(body), "beside arrays", most[0])
    if blob_size > most[1]:
        error = _too_large(blob_size, "of arrays", most[1])
        error.body = body  # it tells of which shape they are
        raise error


def _too_large(size: int, what: str, most: int) -> codec.TooLarge:
    return codec.TooLarge(f"{-(-size >> 20)} MB {what}; this stage takes at most {most >> 20} MB")


def joined(buffers: list[Any]) -> bytes:
    """Return the bytes of a frame."""
    return b"".join([part if isinstance(part, bytes) else part.tobytes() for part in buffers])


def _size(part: Any) -> int:
    return len(part) if isinstance(part, bytes) else int(part.nbytes)
