"""What a judge is at, in memory that it shares with the process that watches it: all that is left when it dies."""

from __future__ import annotations

import mmap
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Phase = Literal["loading", "test", "reference", "explaining", "settling"]
PHASES: tuple[Phase, ...] = ("loading", "test", "reference", "explaining", "settling")
HEAD = struct.Struct("<BIH")  # phase, number of the test, bytes of the label
SIZE = 512


@dataclass(frozen=True)
class At:
    """The phase, the number of the test, and the last call that the test made."""

    phase: Phase
    test: int
    label: str


class Slate:
    """One note, written over and over, in memory that forks share; where nothing forks, in a file that both map."""

    def __init__(self, file: Path | None = None) -> None:
        if file is None:
            self._memory = mmap.mmap(-1, SIZE)
        else:
            with file.open("r+b") as opened:
                self._memory = mmap.mmap(opened.fileno(), SIZE)
        self._phase = 0
        self._test = 0

    def at(self, phase: Phase, test: int) -> None:
        """Note the phase and the test that begin."""
        self._phase, self._test = PHASES.index(phase), test
        self._write(b"")

    def call(self, label: str) -> None:
        """Note the call that is made."""
        self._write(label.encode("utf-8", "replace")[: SIZE - HEAD.size])

    def _write(self, label: bytes) -> None:
        self._memory[: HEAD.size + len(label)] = HEAD.pack(self._phase, self._test, len(label)) + label

    def read(self) -> At:
        """Return what was noted last."""
        phase, test, length = HEAD.unpack_from(self._memory)
        label = bytes(self._memory[HEAD.size : HEAD.size + length]).decode("utf-8", "ignore")
        return At(PHASES[phase], test, label)
