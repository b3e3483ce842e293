"""While learners' code runs as the grader's own user, no process of that user may look into the grader."""

from __future__ import annotations

import threading
from contextlib import suppress

from grader.worker import kernel


class PtraceGuard:
    """Closes this process to others as long as somebody holds it, and is as it was before when nobody does."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held = 0
        self._was_open = False

    def hold(self) -> None:
        """Close the process to others, if it is not."""
        with self._lock, suppress(kernel.Unconfined):
            if self._held == 0:
                self._was_open = kernel.is_open()
                kernel.set_open(False)
            self._held += 1

    def release(self) -> None:
        """Let go; the last one opens the process again, if it was open."""
        with self._lock, suppress(kernel.Unconfined):
            self._held -= 1
            if self._held == 0 and self._was_open:
                kernel.set_open(True)


PTRACE_GUARD = PtraceGuard()
