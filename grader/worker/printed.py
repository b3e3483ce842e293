"""What a learner's code prints during one test."""

from __future__ import annotations

from collections.abc import Iterable

OUTPUT_LIMIT = 16 << 10  # characters of printed output kept for one test


class Printed:
    """A text stream that keeps what one test prints, up to a limit; it has what programs ask of standard output."""

    encoding = "utf-8"
    errors = "replace"
    newlines = None
    closed = False
    line_buffering = True
    mode = "w"
    name = "<stdout>"

    def __init__(self) -> None:
        self.parts: list[str] = []
        self.buffer = PrintedBytes(self)
        self.begin()

    def begin(self) -> None:
        """Be what another test prints into."""
        self.parts.clear()
        self.left = OUTPUT_LIMIT
        self.dropped = 0

    def write(self, text: str) -> int:
        if self.left > 0:
            self.parts.append(text[: self.left])
        self.dropped += max(0, len(text) - max(0, self.left))
        self.left -= len(text)
        return len(text)

    def flush(self) -> None:
        """Nothing is buffered."""

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def isatty(self) -> bool:
        return False

    def readable(self) -> bool:
        return False

    def seekable(self) -> bool:
        return False

    def writable(self) -> bool:
        return True

    def close(self) -> None:
        """It stays open: what is printed later is kept, too."""

    def reconfigure(self, **settings: object) -> None:
        """Whatever encoding is asked for, text is kept as it is."""

    def fileno(self) -> int:
        """Return the descriptor of the process's own standard output, of which nothing is kept."""
        return 1

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = "".join(self.parts)
        if self.dropped:
            text += f"\n[{self.dropped} more characters were printed]"
        self.parts.clear()
        self.dropped = 0
        return text


class PrintedBytes:
    """The same stream for bytes; what is no UTF-8 is shown as signs that stand for it."""

    closed = False
    mode = "wb"
    name = "<stdout>"

    def __init__(self, text: Printed) -> None:
        self.raw = self
        self._text = text

    def write(self, data: bytes) -> int:
        self._text.write(bytes(data[: 4 * OUTPUT_LIMIT]).decode("utf-8", "replace"))
        return len(data)

    def flush(self) -> None:
        """Nothing is buffered."""

    def fileno(self) -> int:
        return 1

    def isatty(self) -> bool:
        return False

    def writable(self) -> bool:
        return True
