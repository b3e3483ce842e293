"""The parent of a learner's process: it outlives it, bounds what all of them take together, and leaves none behind.

It runs nothing of the learner's. Where a tier lets it, it is out of reach of the learner's signals: as another user,
outside of their Landlock, or as the process that a namespace ends with. It needs the standard library only.
"""

from __future__ import annotations

import os
import select
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress

from grader.worker import kernel
from grader.worker.process_tree import Children, address_space_of, below, memory_of

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
