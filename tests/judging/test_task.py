"""Messages between a judge and the process that watches it arrive whole, or the end is told."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator

import msgpack
import pytest

from grader.judging.task import LENGTH, MOST_BYTES, JudgeGone, Messages, TimeIsUp
from grader.outcome import Where

Pair = tuple[Messages, Messages]


@pytest.fixture
def pair() -> Iterator[Pair]:
    one, other = socket.socketpair()
    with one, other:
        yield Messages(one), Messages(other)


def test_messages_arrive_in_their_order_whatever_their_size(pair: Pair) -> None:
    large = "x" * (1 << 20)

    def send() -> None:
        pair[0].send("large", large)
        pair[0].send("small", Where("f.py", 1))

    sender = threading.Thread(target=send)
    sender.start()
    assert pair[1].receive(time.monotonic() + 30) == ("large", [large])
    kind, (plain,) = pair[1].receive(time.monotonic() + 30)
    sender.join()
    assert kind == "small" and plain["file"] == "f.py"


def test_what_is_held_goes_out_with_the_next_message_or_when_it_is_to(pair: Pair) -> None:
    pair[0].hold("first", 1)
    with pytest.raises(TimeIsUp):
        pair[1].receive(time.monotonic() + 0.01)
    pair[0].send("second")
    assert pair[1].receive(time.monotonic() + 30) == ("first", [1])
    assert pair[1].receive(time.monotonic() + 30) == ("second", [])
    pair[0].hold("third")
    pair[0].flush()
    assert pair[1].receive(time.monotonic() + 30) == ("third", [])


def test_nothing_before_the_deadline(pair: Pair) -> None:
    with pytest.raises(TimeIsUp):
        pair[1].receive(time.monotonic() + 0.01)
    with pytest.raises(TimeIsUp):
        pair[1].receive(time.monotonic() - 1)


def test_half_a_message_before_the_deadline_is_not_lost(pair: Pair) -> None:
    body = msgpack.packb(["kind", 1])
    for part in (LENGTH.pack(len(body))[:2], LENGTH.pack(len(body))[2:] + body[:3]):
        pair[0].socket.sendall(part)
        with pytest.raises(TimeIsUp):
            pair[1].receive(time.monotonic() + 0.01)
    pair[0].socket.sendall(body[3:])
    assert pair[1].receive(time.monotonic() + 30) == ("kind", [1])


def test_the_end_is_told_to_both(pair: Pair) -> None:
    pair[0].close()
    with pytest.raises(JudgeGone, match="the connection ended"):
        pair[1].receive()
    with pytest.raises(JudgeGone):
        for _ in range(3):
            pair[1].send("any")


def test_an_end_within_a_message_is_an_end(pair: Pair) -> None:
    pair[0].socket.sendall(LENGTH.pack(100) + b"part")
    pair[0].close()
    with pytest.raises(JudgeGone):
        pair[1].receive()


def test_a_length_beyond_all_bounds_ends_it(pair: Pair) -> None:
    pair[0].socket.sendall(LENGTH.pack(MOST_BYTES + 1))
    with pytest.raises(JudgeGone, match="a message of"):
        pair[1].receive()
