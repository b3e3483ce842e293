"""The processes that stem from this one: which they are, what memory they take, and their end.

A worker runs it, so that it needs the standard library only.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Set
from contextlib import suppress

LONG = 1 << 16  # bytes; more than the numbers of all processes that the limits allow
A_MOMENT = 0.0005  # seconds


class Children:
    """The children of this process. The file that names them is opened at once: later, /proc may be out of reach."""

    def __init__(self) -> None:
        self._file: int | None = None
        with suppress(OSError):  # not every kernel has it
            self._file = os.open(f"/proc/self/task/{os.getpid()}/children", os.O_RDONLY | os.O_CLOEXEC)

    def numbers(self) -> set[int]:
        """Return the processes whose parent this one is, also by adoption."""
        if self._file is None:
            return {each for each in everyone() if parent_of(each) == os.getpid()}
        return set(map(int, os.pread(self._file, LONG, 0).split()))

    def end(self, but: Set[int] = frozenset(), seconds: float = 1.0) -> bool:
        """Kill all that stems from this process but some children; say whether none is left.

        They are stopped first: what is stopped forks no more, and leaves no room for others to fork into.
        """
        until = time.monotonic() + seconds
        while self.numbers() - but:
            stopped: set[int] = set()
            while new := self._descendants(but) - stopped:
                if time.monotonic() > until or not all(_sent(signal.SIGSTOP, each) for each in new):
                    return False
                stopped |= new
            for process in stopped:
                _sent(signal.SIGKILL, process)
            time.sleep(A_MOMENT)  # until then most have ended
            for process in self.numbers() - but:
                with suppress(OSError):
                    os.waitpid(process, os.WNOHANG)
        return True

    def _descendants(self, but: Set[int]) -> set[int]:
        children = self.numbers() - but
        return children.union(*map(below, children))

    def close(self) -> None:
        """Forget the file; a process that is forked has no use for its parent's children."""
        if self._file is not None:
            os.close(self._file)


def _sent(number: signal.Signals, process: int) -> bool:
    """Send a signal; say whether that is allowed. A process that has ended meanwhile needs none."""
    try:
        os.kill(process, number)
    except PermissionError:
        return False
    except OSError:
        pass
    return True


def everyone() -> set[int]:
    """Return the processes that can be seen; none where there is no /proc."""
    with suppress(OSError):
        return {int(name) for name in os.listdir("/proc") if name.isdigit()}
    return set()


def parent_of(process: int) -> int:
    """Return a process' parent; 0 where it has ended."""
    with suppress(OSError), open(f"/proc/{process}/stat", "rb") as file:
        return int(file.read().rpartition(b")")[2].split()[1])
    return 0


def below(process: int) -> set[int]:
    """Return the processes that stem from one, as far as their parents still run."""
    found: set[int] = set()
    new = {process}
    while new:
        new = {child for each in new for child in children_of(each)} - found
        found |= new
    return found


def tasks_below(process: int) -> int:
    """Return how many tasks a process and those that stem from it have."""
    found = 0
    for each in {process, *below(process)}:
        with suppress(OSError):
            found += len(os.listdir(f"/proc/{each}/task"))
    return found


def children_of(process: int) -> set[int]:
    """Return the children of all threads of a process; none where the kernel does not say."""
    found: set[int] = set()
    with suppress(OSError):
        for task in os.listdir(f"/proc/{process}/task"):
            with open(f"/proc/{process}/task/{task}/children", "rb") as file:
                found.update(map(int, file.read().split()))
    return found


def memory_of(process: int) -> int:
    """Return the bytes that a process has in memory; 0 where it has ended."""
    with suppress(OSError), open(f"/proc/{process}/statm", "rb") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    return 0


def address_space_of(process: int) -> int | None:
    """Return the limit on a process' address space in bytes; None where it has none."""
    with suppress(OSError, ValueError), open(f"/proc/{process}/limits", "rb") as file:
        line = next((line for line in file if line.startswith(b"Max address space")), b"")
        return int(line.split()[3])
    return None
