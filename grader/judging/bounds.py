"""The bounds that a judge sets itself: address space, and processor time for one test. What passes them ends it."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress

from grader.worker.confine import limit

# Of processor time of a judge for one test: of ours, since calls of the learner's take none of it. A training with the
# reference takes 3 s, and three times as much where others keep the machine busy.
TEST_SECONDS = 30.0
BLAS_MB = 80  # of address space for each thread of NumPy's libraries: its stack and its own part of the heap
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
POSIX = hasattr(signal, "setitimer")


def one_thread() -> None:
    """Have NumPy's libraries start no threads of their own, if they have not been loaded yet.

    Each thread reserves address space, which a judge has little of, and a fork carries none of them over.
    """
    if "numpy" not in sys.modules:
        for name in THREADS:
            os.environ.setdefault(name, "1")


def bound_memory(megabytes: int) -> None:
    """Let this process take so much address space on top of what it has; past that MemoryError is raised."""
    threads = 0 if os.environ.get(THREADS[0]) == "1" else os.cpu_count() or 1
    limit({"AS": (megabytes + threads * BLAS_MB) << 20, "CORE": 0})


def bound_time(seconds: float) -> None:
    """End this process by SIGPROF once it has used so much processor time from now on; 0 lifts the bound."""
    if POSIX:
        signal.setitimer(signal.ITIMER_PROF, seconds)


def die_of_it() -> None:
    """Let the signal that bound_time sends end this process, whatever was made of it before."""
    if POSIX:
        signal.signal(signal.SIGPROF, signal.SIG_DFL)
        with suppress(AttributeError):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGPROF})


def why_ended(status: int) -> str | None:
    """Return what the wait status of a judge says of the bound that it passed; None where it says nothing of one."""
    number = status & 0x7F
    if POSIX and number == signal.SIGPROF:
        return f"more than {TEST_SECONDS:g} s of processor time"
    return None
