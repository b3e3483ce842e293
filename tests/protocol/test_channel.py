"""Frames over a socket: caps, deadlines, and every way in which the other end can misbehave."""

from __future__ import annotations

import socket
import threading
import time
import tracemalloc
from collections.abc import Iterator

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.channel import SMALL, Channel, ChannelClosed, DeadlinePassed
from grader.protocol.codec import HEADER, MAGIC, MAX_BLOB, MAX_BODY, WireError

Pair = tuple[Channel, socket.socket]


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A channel and the bare socket at its other end."""
    ours, theirs = socket.socketpair()
    channel = Channel(ours)
    yield channel, theirs
    channel.close()
    theirs.close()


def soon(seconds: float = 0.2) -> float:
    return time.monotonic() + seconds


class TestReceive:
    def test_a_frame_arrives_whole(self, pair: Pair) -> None:
        channel, theirs = pair
        theirs.sendall(HEADER.pack(MAGIC, 3, 4) + b"abcwxyz")
        body, blob = channel.receive(soon())
        assert (bytes(body), blob.tobytes()) == (b"abc", b"wxyz")

    def test_an_empty_frame(self, pair: Pair) -> None:
        channel, theirs = pair
        theirs.sendall(HEADER.pack(MAGIC, 0, 0))
        body, blob = channel.receive(soon())
        assert (len(body), blob.size) == (0, 0)

    def test_two_frames_in_one_piece_stay_two(self, pair: Pair) -> None:
        channel, theirs = pair
        theirs.sendall((HEADER.pack(MAGIC, 1, 0) + b"a") + (HEADER.pack(MAGIC, 1, 0) + b"b"))
        assert [bytes(channel.receive(soon())[0]) for _ in range(2)] == [b"a", b"b"]

    @pytest.mark.parametrize("sizes", [(MAX_BODY + 1, 0), (0, MAX_BLOB + 1), (2**32 - 1, 2**64 - 1)])
    def test_a_size_past_the_cap_is_refused_before_memory_is_taken(self, pair: Pair, sizes: tuple[int, int]) -> None:
        channel, theirs = pair
        theirs.sendall(HEADER.pack(MAGIC, *sizes))
        tracemalloc.start()
        try:
            with pytest.raises(WireError, match="at most"):
                channel.receive(soon())
            assert tracemalloc.get_traced_memory()[1] < 1 << 20
        finally:
            tracemalloc.stop()

    @pytest.mark.parametrize("garbage", [b"\0" * 40, b"HTTP/1.1 200 OK\r\n\r\n", b"AGW2" + b"\0" * 12])
    def test_garbage_is_no_frame(self, pair: Pair, garbage: bytes) -> None:
        channel, theirs = pair
        theirs.sendall(garbage)
        with pytest.raises(WireError, match="not a frame"):
            channel.receive(soon())

    @pytest.mark.parametrize("sent", [b"", b"AG", HEADER.pack(MAGIC, 9, 0), HEADER.pack(MAGIC, 2, 9) + b"abc"], ids=len)
    def test_the_end_in_the_middle_of_a_frame(self, pair: Pair, sent: bytes) -> None:
        channel, theirs = pair
        theirs.sendall(sent)
        theirs.close()
        with pytest.raises(ChannelClosed):
            channel.receive(soon())

    @pytest.mark.parametrize("sent", [b"", b"AG", HEADER.pack(MAGIC, 9, 0) + b"abc", HEADER.pack(MAGIC, 0, 9)], ids=len)
    def test_silence_ends_at_the_deadline(self, pair: Pair, sent: bytes) -> None:
        channel, theirs = pair
        theirs.sendall(sent)
        with pytest.raises(DeadlinePassed):
            channel.receive(soon(0.1))

    def test_a_deadline_that_has_passed_waits_for_nothing(self, pair: Pair) -> None:
        channel, theirs = pair
        theirs.sendall(HEADER.pack(MAGIC, 0, 0))
        with pytest.raises(DeadlinePassed):
            channel.receive(time.monotonic() - 1)

    def test_a_slow_drip_does_not_move_the_deadline(self, pair: Pair) -> None:
        channel, theirs = pair
        stop = threading.Event()

        def drip() -> None:
            theirs.sendall(HEADER.pack(MAGIC, 1000, 0))
            while not stop.wait(0.02):
                theirs.sendall(b"x")

        dripping = threading.Thread(target=drip)
        dripping.start()
        try:
            with pytest.raises(DeadlinePassed):
                channel.receive(soon(0.3))
        finally:
            stop.set()
            dripping.join()


class TestSend:
    def test_what_is_sent_is_received(self, pair: Pair) -> None:
        channel, theirs = pair
        other = Channel(theirs)
        for value in ([1, "x"], np.arange(5), np.arange(100_000.0), np.empty(0)):
            sending = threading.Thread(target=channel.send, args=(codec.Encoder().frame([], [value]),))
            sending.start()
            decoder = codec.Decoder()
            (form,) = decoder.message(*other.receive(soon(5)))
            assert (
                np.array_equal(decoder.decode(form), value)
                if isinstance(value, np.ndarray)
                else decoder.decode(form) == value
            )
            sending.join()

    def test_a_reader_that_takes_nothing_ends_at_the_deadline(self, pair: Pair) -> None:
        channel, _ = pair
        with pytest.raises(DeadlinePassed):
            channel.send(codec.Encoder().frame([], [np.zeros(4 << 20)]), soon(0.1))

    def test_a_reader_that_is_gone(self, pair: Pair) -> None:
        channel, theirs = pair
        theirs.close()
        with pytest.raises(ChannelClosed):
            channel.send(codec.Encoder().frame([], [1]), soon())

    def test_a_channel_that_was_closed(self, pair: Pair) -> None:
        channel, _ = pair
        channel.close()
        with pytest.raises(ChannelClosed):
            channel.send(codec.Encoder().frame([], [1]))
        with pytest.raises(ChannelClosed):
            channel.receive()


class TestHold:
    def test_frames_go_out_together_in_their_order(self, pair: Pair) -> None:
        channel, theirs = pair
        channel.hold([b"one", b"two"])
        channel.hold([b"three"])
        channel.send([b"four"])
        assert theirs.recv(100) == b"onetwothreefour"

    def test_before_it_waits_for_the_other_end(self, pair: Pair) -> None:
        channel, theirs = pair
        channel.hold([b"an answer"])
        with pytest.raises(DeadlinePassed):
            channel.receive(soon())
        assert theirs.recv(100) == b"an answer"

    def test_none_is_held_for_long(self, pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
        channel, theirs = pair
        monkeypatch.setattr("grader.protocol.channel.HELD_SECONDS", 0.0)
        channel.hold([b"an answer"])
        assert theirs.recv(100, socket.MSG_DONTWAIT) == b"an answer"

    def test_a_large_one_is_not_held(self, pair: Pair) -> None:
        channel, theirs = pair
        channel.hold([b"small"])
        channel.hold([b"head", np.zeros(SMALL)])
        assert theirs.recv(9, socket.MSG_DONTWAIT) == b"smallhead"

    def test_what_is_done_to_an_array_afterwards_is_not_sent(self, pair: Pair) -> None:
        channel, theirs = pair
        array = np.zeros(3, np.uint8)
        channel.hold([b"head", array])
        array += 1
        channel.send([])
        assert theirs.recv(100) == b"head" + bytes(3)
