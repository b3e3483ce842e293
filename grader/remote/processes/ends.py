"""How a test's process ended, in words, from its wait status."""

from __future__ import annotations

import signal

from grader.outcome import Status

MAX_FILE_BYTES = 16 << 20


def reading(status: int) -> tuple[Status, str] | None:
    """Return what an end says about the test; None for the end that it gets from the grader."""
    number = status & 0x7F
    if number == 0:
        return "crashed", f"it ended with exit code {status >> 8 & 0xFF}"
    limits: dict[int, tuple[Status, str]] = {
        getattr(signal, "SIGXCPU", -1): ("timed_out", "it used up its processor time"),
        getattr(signal, "SIGXFSZ", -1): ("over_limit", f"it wrote a file of more than {MAX_FILE_BYTES >> 20} MB"),
        getattr(signal, "SIGSEGV", -1): ("crashed", "segmentation fault"),
    }
    if number == getattr(signal, "SIGKILL", 9):
        return None  # the end that it gets from us says nothing
    return limits.get(number, ("crashed", f"ended by signal {number}"))
