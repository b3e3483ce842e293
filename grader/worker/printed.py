"""What a learner's code prints during one test."""

from __future__ import annotations

OUTPUT_LIMIT = 16 << 10  # characters of printed output kept for one test


class Printed:
    """A text stream that keeps what one test prints, up to a limit."""

    encoding = "utf-8"
    errors = "replace"

    def __init__(self) -> None:
        self.parts: list[str] = []
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

    def isatty(self) -> bool:
        return False

    def take(self) -> str:
        """Return what was printed since the last call."""
        text = "".join(self.parts)
        if self.dropped:
            text += f"\n[{self.dropped} more characters were printed]"
        self.parts.clear()
        self.dropped = 0
        return text
