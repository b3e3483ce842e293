"""A learner's module that breaks its process in every way, and what a test learns of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from grader.judging.outcomes import _failed_worker
from grader.outcome import Status
from grader.sandbox.exceptions import WorkerFailed
from tests.conftest import Learner

SOURCE = """
import gc
import os
import signal
import socket
import sys
import threading
import time
import numpy as np

loads = []
loads.append(1)


def fine(x):
    return x + 1


def count():
    loads.append(1)
    return len(loads)


def leave(code):
    os._exit(code)


def kill(number):
    os.kill(os.getpid(), number)


def crash():
    import ctypes
    ctypes.string_at(0)


def hang():
    while True:
        time.sleep(0.05)


def spin():
    while True:
        pass


def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 32))
    hang()


def recurse(n=0):
    return recurse(n + 1)


def connection():
    return next(s for s in gc.get_objects() if isinstance(s, socket.socket) and s.fileno() >= 0)


def close():
    connection().close()
    for number in range(3, 20):
        try:
            os.close(number)
        except OSError:
            pass


def garbage(data):
    connection().sendall(data)
    hang()


def flood_socket():
    found = connection()
    found.settimeout(None)
    while True:
        found.sendall(b"AGW1" + b"x" * 65536)


def endless_answers():
    import struct
    found = connection()
    found.settimeout(None)
    while True:
        found.sendall(struct.pack("<4sIQ", b"AGW1", 1 << 22, 0) + bytes(1 << 22))


def flood_output():
    for _ in range(2000):
        print("x" * 10_000)
        os.write(1, b"y" * 10_000)
        sys.stderr.write("z" * 1000)
    return "done"


def deep():
    value = []
    for _ in range(50_000):
        value = [value]
    return value


def gigabytes(n):
    return np.ones(n * (1 << 27))


def many(n):
    return "x" * n


def write_file(megabytes):
    with open("big", "wb") as file:
        for _ in range(megabytes):
            file.write(bytes(1 << 20))


def open_files():
    return len([open(os.devnull) for _ in range(200)])


def fork_many():
    made = 0
    try:
        while made < 120:
            if os.fork() == 0:
                hang()
            made += 1
    except OSError:
        pass
    return made


def leave_a_child():
    process = os.fork()
    if process == 0:
        hang()
    return os.getpid(), process


def leave_a_daemon():
    if os.fork() == 0:
        os.setsid()
        hang()


def threads():
    for _ in range(4):
        threading.Thread(target=hang, daemon=False).start()
    return "started"


def at_exit():
    import atexit
    atexit.register(hang)


def kill_the_parent():
    os.kill(os.getppid(), signal.SIGKILL)
    os._exit(0)


def kill_everything():
    os.kill(-1, signal.SIGKILL)
    return "nothing else ran"


def stop_everything_that_is_left():
    for ignored in (True, False):
        if os.fork() == 0:
            os.setsid()
            if os.fork():
                os._exit(0)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            if ignored:
                hang()
            os.kill(os.getpid(), signal.SIGSTOP)


def fork_for_ever():
    while True:
        try:
            if os.fork() == 0:
                os.setsid()
        except OSError:
            pass


def fill(files, bytes_each):
    for number in range(files):
        with open("f%d" % number, "wb") as file:
            file.write(bytes(bytes_each))
    time.sleep(1)
    return files


def fork_and_fill_memory(processes):
    for _ in range(processes):
        if os.fork() == 0:
            kept = np.ones(80 << 17)
            hang()
    time.sleep(15)


def meddle():
    sys.modules["numpy"] = None
    sys.modules["grader.protocol.codec"] = None
    del sys.modules["msgpack"]
    np.zeros = np.array = np.ndarray = None
    __builtins__["isinstance"] = None
"""
HANG_SECONDS = 0.7
PATIENCE = 20.0


def failure(learner: Learner, call: Callable[[Any], object], seconds: float = PATIENCE) -> tuple[Status, str]:
    """Return the status and message of a test in which the worker fails, as a session puts them together."""
    remote = learner.open()
    learner.connection.call_seconds = seconds
    with pytest.raises(WorkerFailed) as caught:
        call(remote)
    with pytest.raises(WorkerFailed) as again:  # a test cannot swallow it and go on
        remote.fine(1)
    assert again.value is caught.value
    return _failed_worker(caught.value, learner.done())
