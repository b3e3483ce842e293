"""Whose processes leave no room is told from counts; where none is left, few tests try."""

from __future__ import annotations

import socket
import time
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox.process import MOST_NOT_BEGUN, Control, Job, LearnerProcess, no_room


@pytest.mark.parametrize(
    ("own", "others", "most", "status", "said"),
    [
        (61, 0, 64, "over_limit", "m.py holds about 61 processes and threads, where a run may have 64"),
        (61, 100, 164, "over_limit", "a run may have 64"),
        (5, 160, 164, "grader_fault", "take up all room \\(160 of 164\\)"),
        (5, 0, 64, "crashed", "did not start this test"),
    ],
)
def test_the_reason(own: int, others: int, most: int, status: str, said: str) -> None:
    found = no_room(own, others, most, "m.py")
    assert found.status == status
    with pytest.raises(type(found), match=said):
        raise found


class _Parent:
    """A worker whose parent of the tests finds no room, whatever it is asked."""

    def __init__(self) -> None:
        self.connection, self._theirs = socket.socketpair()

    def running(self) -> bool:
        return True

    def others(self) -> int:
        return 0

    own = others

    def kill(self) -> None:
        self.connection.close()
        self._theirs.close()


class _Parents:
    def __init__(self) -> None:
        self.started = 0

    def start(self) -> _Parent:
        self.started += 1
        return _Parent()


def test_a_module_that_lets_no_test_begin_costs_a_few_workers_and_not_one_for_each_test(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(LearnerProcess, "load", lambda self: None)
    monkeypatch.setattr(Control, "started", lambda *asked: False)
    workers: Any = _Parents()
    process = LearnerProcess(Job("m.py", b"", 1.0, 9.0, 64, tmp_path), "process", workers, fork=True)
    begun = [process.open(ends_at=time.monotonic() + 60) for _ in range(20)]
    assert {str(each.failure) for each in begun} == {"the process that loaded m.py did not start this test"}
    assert workers.started == 1 + MOST_NOT_BEGUN
    for each in begun:
        process.done(each)
    process.kill()
