"""The orders to a worker and what is heard of them, whatever a worker sends."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest

from grader.sandbox import process as control
from grader.sandbox.process import Control
from grader.worker.main import TOLD


@pytest.fixture
def ends() -> Iterator[tuple[Control, socket.socket]]:
    """Our end, and a worker's that the test plays."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield Control(ours), theirs


def test_what_was_started_and_what_found_no_room(ends: tuple[Control, socket.socket]) -> None:
    ours, theirs = ends
    (first, one), (second, two) = ours.fork(), ours.fork()
    theirs.sendall(TOLD.pack(b"S", first, 0) + TOLD.pack(b"E", first, 9) + TOLD.pack(b"N", second, 0))
    assert ours.started(first, 5) and not ours.started(second, 5)
    one.close()
    two.close()


def test_an_answer_that_comes_late_is_passed_over(ends: tuple[Control, socket.socket]) -> None:
    ours, theirs = ends
    first, one = ours.fork()
    assert ours.started(first, 0.01)
    second, two = ours.fork()
    theirs.sendall(TOLD.pack(b"N", first, 0) + TOLD.pack(b"S", second, 0) + TOLD.pack(b"E", first, 256))
    assert ours.started(second, 5)
    ours.end(first)
    assert ours.status(first, 5) == 256
    one.close()
    two.close()


def test_silence_is_no_refusal(ends: tuple[Control, socket.socket]) -> None:
    number, socket_of_test = ends[0].fork()
    assert ends[0].started(number, 0.01)
    socket_of_test.close()


def test_a_flood_ends(ends: tuple[Control, socket.socket], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control, "MOST", 100)
    ours, theirs = ends
    number, socket_of_test = ours.fork()
    theirs.sendall(TOLD.pack(b"S", 77, 0) * 101)
    assert ours.started(number, 60)
    theirs.sendall(TOLD.pack(b"E", 77, 0) * 101)
    assert ours.status(number, 60) is None
    socket_of_test.close()


def test_an_end_that_is_gone_is_told(ends: tuple[Control, socket.socket]) -> None:
    ours, theirs = ends
    number, socket_of_test = ours.fork()
    theirs.close()
    with pytest.raises(OSError):
        ours.started(number, 5)
    with pytest.raises(OSError):
        ours.fork()
    socket_of_test.close()
