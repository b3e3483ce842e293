"""A worker that ends by itself while it is being ended, and a grader that is closed to others beside it."""

from __future__ import annotations

import os
import socket
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from grader.isolation import tier, workers
from grader.isolation.workers import WorkerProcess
from grader.worker import kernel
from tests.support.alone import alone


class Ending:
    """A process whose number is known once, and no longer when it is asked for again."""

    def __init__(self) -> None:
        self._numbers = [4242]

    @property
    def pid(self) -> int:
        return self._numbers.pop() if self._numbers else 0

    def poll(self) -> None:
        return None

    def wait(self, timeout: float | None = None) -> int:
        return 0

    def kill(self) -> None:
        """It has ended."""


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="needs groups of processes")
def test_the_group_of_the_grader_is_never_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    killed: list[int] = []
    monkeypatch.setattr(os, "killpg", lambda group, number: killed.append(group))
    ours, theirs = socket.socketpair()
    process: Any = Ending()
    folder: Any = SimpleNamespace(name="/", cleanup=lambda: None)
    with theirs:
        WorkerProcess(process, ours, tier.find("process"), folder).kill()
    assert killed == [4242]


@pytest.mark.skipif(sys.platform != "linux", reason="a guard of Linux")
def test_the_grader_is_closed_to_others_once_it_has_started_a_process() -> None:
    found = alone("""
        import pathlib, tempfile
        from grader.isolation import tiers
        with tempfile.TemporaryDirectory() as folder:
            seen = [is_open()]
            started = tiers.start("process", pathlib.Path(folder))
            seen.append(is_open())
            started.kill()
        print([*seen, is_open()])
    """)
    assert found == [True, False, False]


def test_where_it_cannot_be_closed_grading_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(whether: bool) -> None:
        raise kernel.Unconfined("not here")

    monkeypatch.setattr(kernel, "set_open", fails)
    workers.close_to_others()
