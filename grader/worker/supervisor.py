"""The parent of a learner's process: it outlives it, bounds what all of them take together, and leaves none behind.

It runs nothing of the learner's. Where a tier lets it, it is out of reach of the learner's signals: as another user,
outside of their Landlock, or as the process that a namespace ends with. It needs the standard library only.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import time
from collections.abc import Iterator, Set
from contextlib import suppress

from grader.worker import kernel

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


BEGUN, REFUSED, ENDED = b"B", b"R", struct.Struct("<i")  # reports: with a process' descriptor; why; an exit code
TOO_MUCH_WRITTEN, TOO_MANY_FILES, TOO_MUCH_MEMORY = 71, 72, 73  # exit codes
SCRATCH_BYTES = 64 << 20
SCRATCH_FILES = 2000
LOOK_SECONDS = 0.1
END_SECONDS = 5.0


def supervise(control: socket.socket, scratch: str, reports: socket.socket | None = None) -> None:
    """Fork: the child returns and becomes the learner's process; this one stays until the connection or the child ends.

    Whatever the child started and is left then is killed, daemons and stopped processes too. The exit code is reported
    as well where the grader is not the parent.
    """
    kernel.adopt_orphans()  # before there is a child that could end: what it leaves then goes to this process
    worker = os.fork()
    if worker == 0:
        if reports is not None:
            reports.close()
        return
    code = 0
    try:
        kernel.set_open(False)
        if os.getpid() == 1:  # its end ends all that a namespace has, for which it needs no right
            kernel.give_up_capabilities()
        children = Children()
        code = _watch(control, worker, scratch)
        children.end(seconds=END_SECONDS)
    finally:
        with suppress(OSError):
            if reports is not None:
                reports.sendall(ENDED.pack(code))
        os._exit(code)


def _watch(control: socket.socket, worker: int, scratch: str) -> int:
    """Wait for the end of the connection or of the worker; return an exit code where something goes past its bound."""
    poll = select.poll()
    poll.register(control, 0)  # its end is told without being asked for
    with suppress(OSError, AttributeError):
        poll.register(os.pidfd_open(worker), select.POLLIN)
    while not poll.poll(LOOK_SECONDS * 1000) and os.waitpid(worker, os.WNOHANG)[0] == 0:
        if code := excess(worker, scratch):
            return code
    return 0


def excess(worker: int, scratch: str) -> int:
    """Return the exit code for what the worker and what it started have too much of; 0 where all is within bounds."""
    files = size = 0
    for bytes_of_one in _sizes(scratch):
        files, size = files + 1, size + bytes_of_one
        if files > SCRATCH_FILES:
            return TOO_MANY_FILES
        if size > SCRATCH_BYTES:
            return TOO_MUCH_WRITTEN
    bound = address_space_of(worker)
    own = memory_of(worker)
    more = sum(max(0, memory_of(each) - own) for each in below(worker))  # after a fork, what both have counts once
    return TOO_MUCH_MEMORY if bound is not None and own + more > 2 * bound else 0


def _sizes(folder: str) -> Iterator[int]:
    """Yield what each file and folder below a folder takes on its disk; no link is followed, nor what is mounted."""
    disk = _disk(folder)
    folders = [folder]
    while folders:
        with suppress(OSError), os.scandir(folders.pop()) as entries:
            for entry in entries:
                with suppress(OSError):
                    found = entry.stat(follow_symlinks=False)
                    yield found.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False) and found.st_dev == disk:
                        folders.append(entry.path)


def _disk(folder: str) -> int | None:
    with suppress(OSError):
        return os.stat(folder).st_dev
    return None
