"""Where a stage says alone, its tests start no process and no thread, and meet none that loading the module left."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Learner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="where tests run in forks")

STARTS = """
import os
import threading


def fork():
    process = os.fork()
    if process == 0:
        os._exit(0)
    return os.waitpid(process, 0)[1]


def thread():
    done = []
    started = threading.Thread(target=lambda: done.append(1))
    started.start()
    started.join()
    return done
"""
HELPED = """
import os
import time

asked, ask = os.pipe()
answer, answered = os.pipe()
if os.fork() == 0:
    os.close(ask)
    os.close(answer)
    while number := os.read(asked, 1):
        os.write(answered, number)
    os._exit(0)
os.close(asked)
os.close(answered)


def helped():
    try:
        os.write(ask, b"7")
        return os.read(answer, 1).decode()
    except OSError:
        return ""
"""


@pytest.mark.parametrize(("name", "error"), [("fork", BlockingIOError), ("thread", RuntimeError)])
def test_it_starts_none(worker: Callable[..., Learner], name: str, error: type[Exception]) -> None:
    learner = worker(STARTS, alone=True)
    for _ in range(2):
        remote: Any = learner.open()
        with pytest.raises(error):
            getattr(remote, name)()
        learner.done()


def test_elsewhere_it_may(worker: Callable[..., Learner]) -> None:
    remote: Any = worker(STARTS).open()
    assert remote.fork() == 0 and remote.thread() == [1]


def test_what_began_with_the_module_has_ended(worker: Callable[..., Learner]) -> None:
    remote: Any = worker(HELPED).open()
    assert remote.helped() == "7"
    remote = worker(HELPED, alone=True).open()
    assert remote.helped() == ""
