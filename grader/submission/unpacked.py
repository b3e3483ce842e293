"""The bytes of a compressed file, one after the other, within a budget, and with a bound on the memory it takes."""

from __future__ import annotations

import bz2
import lzma
import zlib
from typing import Protocol

from grader.errors import SubmissionError
from grader.submission.budget import ArchiveBudget

MAX_MEMORY = 64 << 20  # of the decompressor: an xz file says how much it wants
MAX_STREAMS = 10_000  # one after the other in one file, as pigz and bgzip write them
_CHUNK = 1 << 16


class _Decompressor(Protocol):
    @property
    def eof(self) -> bool: ...

    @property
    def unused_data(self) -> bytes: ...

    def decompress(self, data: bytes, max_length: int, /) -> bytes: ...


def _decompressor(data: bytes) -> _Decompressor | None:
    """What unpacks data that begins like this; None where it is not compressed."""
    if data.startswith(b"\x1f\x8b"):
        return zlib.decompressobj(wbits=31)
    if data.startswith(b"BZh"):
        return bz2.BZ2Decompressor()
    if data.startswith(b"\xfd7zXZ\0"):
        return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=MAX_MEMORY)
    return None


class Unpacked:
    """A file of bytes that is read once, from its beginning."""

    def __init__(self, data: bytes, label: str) -> None:
        self._data = data
        self._label = label
        self._machine = _decompressor(data)
        self._position = 0  # in data
        self._pending = b""  # taken from data, and not yet unpacked
        self._ready = b""
        self._budget = ArchiveBudget(label, len(data))
        self._streams = 1

    def read(self, count: int) -> bytes:
        """The next bytes; fewer only at the end."""
        pieces: list[bytes] = []
        while count > 0 and (self._ready or self._fill()):
            pieces.append(self._ready[:count])
            self._ready = self._ready[count:]
            count -= len(pieces[-1])
        return b"".join(pieces)

    def skip(self, count: int) -> bool:
        """Pass over bytes, keeping none; False where the end comes before."""
        while count > 0 and (self._ready or self._fill()):
            passed = min(count, len(self._ready))
            self._ready = self._ready[passed:]
            count -= passed
        return count == 0

    def _fill(self) -> bool:
        """Unpack the next piece; False at the end."""
        while not self._ready:
            try:
                more = self._step()
            except (zlib.error, lzma.LZMAError, OSError, EOFError, ValueError, MemoryError) as error:
                raise SubmissionError(
                    f"{self._label} cannot be unpacked: {error}", "Create the archive again."
                ) from error
            if not more and not self._ready:
                return False
        self._budget.spend(len(self._ready))
        return True

    def _step(self) -> bool:
        """One call of the decompressor, or one piece of a file that is not compressed."""
        hungry = getattr(self._machine, "needs_input", True)  # else it has more to give of what it was given
        if hungry and not self._pending:
            self._pending = self._data[self._position : self._position + _CHUNK]
            self._position += len(self._pending)
        if self._machine is None:
            self._ready, self._pending = self._pending, b""
            return bool(self._ready)
        if self._machine.eof:
            return self._next_stream()
        given = self._pending if hungry else b""
        self._ready = self._machine.decompress(given, _CHUNK)
        if self._machine.eof:
            self._pending = self._machine.unused_data
        elif hungry:
            self._pending = getattr(self._machine, "unconsumed_tail", b"")
            if not given and not self._ready:
                raise EOFError("it is truncated")
        return True

    def _next_stream(self) -> bool:
        """Begin the stream that follows in the same file, if one does; padding ends it."""
        following = _decompressor(self._pending + self._data[self._position : self._position + 6])
        if following is None:
            return False
        self._streams += 1
        if self._streams > MAX_STREAMS:
            raise EOFError(f"it has more than {MAX_STREAMS:,} streams")
        self._machine = following
        return True
