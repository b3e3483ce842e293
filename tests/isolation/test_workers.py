"""A worker that ends by itself while it is being ended."""

from __future__ import annotations

import os
import socket
from types import SimpleNamespace
from typing import Any

import pytest

from grader.isolation import tier
from grader.isolation.workers import WorkerProcess


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
