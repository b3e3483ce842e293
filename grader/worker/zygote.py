"""A clean process that forks one worker for each submission, so that NumPy is imported once for all of them.

It holds the interpreter, NumPy, msgpack and the rooms `protocol` and `worker`, and one descriptor: the channel to the
grader. A request is one byte with two descriptors, which the fork takes along and the zygote closes: the worker's
connection, over which all that is about the submission comes, and the one on which its supervisor reports. The zygote
reads nothing that comes from a fork.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
from contextlib import suppress
from typing import Any

from grader.worker import kernel
from grader.worker.kernel import Unconfined
from grader.worker.supervisor import BEGUN, REFUSED, SCRATCH_BYTES, SCRATCH_FILES

MOST_FILES = 10 * SCRATCH_FILES  # at which a folder in memory is full; before, the supervisor ends what makes so many
MOST_DESCRIPTORS = 1 << 16
TEXT_BYTES = 500
FORK, END = b"F", b"E"
ABLE = b"A"  # what a probe reports; else it is the reason


def begin(channel: socket.socket, scratch: str | None, and_user: bool) -> None:
    """Become a parent that waits for no fork, and that adopts the first process of a namespace, whose own ends at once.

    Where a folder is given, a fork reports to the grader whether it can enter the namespaces that its tier promises.
    """
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    kernel.adopt_orphans()
    if scratch is None:
        return
    try:
        if os.fork():
            return
    except OSError as error:
        channel.sendall(str(error).encode())
        return
    try:
        kernel.enter_name_spaces(scratch, SCRATCH_BYTES, MOST_FILES, and_user)
        channel.sendall(ABLE)
    except Unconfined as error:
        channel.sendall(str(error).encode()[:TEXT_BYTES])
    finally:
        os._exit(0)


def serve(channel: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Fork for each request; return its two descriptors in the fork. The zygote ends with the grader and all forks."""
    gc.collect()
    gc.freeze()  # the collector of a fork need not touch, and so copy, these pages
    kernel.set_open(False)
    while True:
        data, descriptors, _, _ = socket.recv_fds(channel, len(FORK), 2)
        if data != FORK:  # the grader wants no more of them, or is gone
            _end()
        connection, reports = (socket.socket(fileno=each) for each in descriptors)
        try:
            forked = os.fork()
        except OSError as error:
            with suppress(OSError):
                reports.sendall(REFUSED + str(error).encode()[:TEXT_BYTES])
            forked = -1
        if forked == 0:
            return connection, reports
        connection.close()
        reports.close()


def _end() -> None:
    with suppress(ChildProcessError):
        while True:
            os.wait()
    os._exit(0)


def settle(connection: socket.socket, reports: socket.socket) -> None:
    """Keep nothing in a fork that belongs to the zygote, and be as open as a process that has just been started."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    kept = sorted((connection.fileno(), reports.fileno()))
    for first, last in ((3, kept[0]), (kept[0] + 1, kept[1]), (kept[1] + 1, MOST_DESCRIPTORS)):
        os.closerange(first, last)
    os.setsid()
    kernel.set_open(True)


def report_begun(reports: socket.socket) -> None:
    """Hand the grader a descriptor of this process, whose number is another one in the grader's namespace."""
    own = os.pidfd_open(os.getpid())
    socket.send_fds(reports, [BEGUN], [own])
    os.close(own)


def separate(spec: dict[str, Any]) -> None:
    """Enter the namespaces that a tier promises; the reason stands in the settings where that fails."""
    if spec["name_spaces"]:
        try:
            kernel.enter_name_spaces(spec["guard"], SCRATCH_BYTES, MOST_FILES, not spec["user"])
        except Unconfined as error:
            spec["unconfined"] = str(error)
    os.chdir(spec["guard"])
