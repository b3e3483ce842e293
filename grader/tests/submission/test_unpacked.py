"""Unpacking a compressed file step by step, however it was made."""

from __future__ import annotations

import bz2
import gzip
import lzma
import random
import tracemalloc
from collections.abc import Callable

import pytest

from grader.errors import SubmissionError
from grader.submission import budget, unpacked
from grader.submission.unpacked import Unpacked

DATA = random.Random(7).randbytes(300_000) + bytes(300_000)
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "bzip2": bz2.compress,
    "xz": lzma.compress,
}


@pytest.fixture(params=PACKERS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def refused(data: bytes, count: int = 1 << 30) -> str:
    with pytest.raises(SubmissionError) as caught:
        Unpacked(data, "ada.tar").skip(count)
    return caught.value.message


def test_all_comes_out_in_pieces(name: str) -> None:
    stream = Unpacked(PACKERS[name](DATA), "ada.tar")
    pieces = []
    while piece := stream.read(99_991):
        pieces.append(piece)
    assert b"".join(pieces) == DATA


def test_what_is_passed_over_is_not_given(name: str) -> None:
    stream = Unpacked(PACKERS[name](DATA), "ada.tar")
    assert stream.skip(150_001)
    assert stream.read(1000) == DATA[150_001:151_001]
    assert not stream.skip(len(DATA))


def test_streams_that_follow_each_other_are_one(name: str) -> None:
    pack = PACKERS[name]
    assert Unpacked(pack(DATA[:1000]) + pack(DATA[1000:]), "ada.tar").read(1 << 30) == DATA


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_padding_after_the_end_is_left_alone(name: str) -> None:
    assert Unpacked(PACKERS[name](DATA) + bytes(1000), "ada.tar").read(1 << 30) == DATA


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_what_is_cut_off_is_refused(name: str) -> None:
    assert "cannot be unpacked" in refused(PACKERS[name](DATA)[:-20])


@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_what_is_damaged_is_refused(name: str) -> None:
    data = bytearray(PACKERS[name](DATA))
    data[len(data) // 2 : len(data) // 2 + 50] = bytes(50)
    assert refused(bytes(data)).startswith("ada.tar cannot be unpacked: ")


@pytest.mark.some_of(3)
@pytest.mark.parametrize("name", ["gzip", "bzip2", "xz"])
def test_a_bomb_is_refused_with_little_memory(name: str) -> None:
    bomb = PACKERS[name](bytes(30 << 20))
    tracemalloc.start()
    try:
        assert refused(bomb) == "ada.tar unpacks to more than 200 times its size"
        assert tracemalloc.get_traced_memory()[1] < 16 << 20  # of which xz takes eight
    finally:
        tracemalloc.stop()


def test_more_than_the_cap_is_refused_whatever_the_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "MAX_TOTAL", 500_000)
    assert refused(DATA) == "ada.tar unpacks to more than 500,000 bytes"


def test_too_many_streams_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacked, "MAX_STREAMS", 10)
    assert refused(gzip.compress(b"") * 11) == "ada.tar cannot be unpacked: it has more than 10 streams"


def test_a_decompressor_that_wants_much_memory_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unpacked, "MAX_MEMORY", 1 << 20)
    assert "Memory usage limit exceeded" in refused(lzma.compress(DATA, preset=6))
