"""Keys whose hashes can be chosen: counted by their forms, with what a comparison of them looks at."""

from __future__ import annotations

import time
from typing import Any

import pytest

from grader.protocol import codec
from grader.protocol.bounds import MAX_HARD_KEYS, MAX_HARD_WORK, HardKeys, TooLarge

PRIME = 2**61 - 1  # whole numbers are hashed modulo this


def alike(count: int) -> list[Any]:
    return [codec.Encoder().encode((n << 64) * PRIME) for n in range(1, count + 1)]


def test_plain_keys_are_not_counted() -> None:
    keys = HardKeys(TooLarge)
    keys.add(["a", 1, 2.5, None, True, b"x"] * 9999)
    assert keys.count == 0


def test_keys_are_counted_over_a_whole_frame() -> None:
    keys = HardKeys(TooLarge)
    keys.add(alike(MAX_HARD_KEYS))
    with pytest.raises(TooLarge, match="more than 2000 keys"):
        keys.add(alike(1))


def test_long_keys_count_by_what_they_hold() -> None:
    long = [codec.TUPLE, *range(MAX_HARD_WORK // 100**2)]
    keys = HardKeys(TooLarge)
    keys.add([long] * 99)
    with pytest.raises(TooLarge):
        keys.add([long])


@pytest.mark.parametrize(
    "forms",
    [alike(MAX_HARD_KEYS), [[codec.TUPLE, *[1] * 3, key] for key in alike(1300)]],
    ids=["numbers", "tuples"],
)
def test_the_worst_frame_takes_a_fraction_of_a_second(forms: Any) -> None:
    decoder = codec.Decoder(bounds=codec.Bounds())
    began = time.thread_time()
    assert len(decoder.decode([codec.SET, *forms])) == len(forms)
    assert time.thread_time() - began < 3  # a tenth of this on the slowest machine that was seen
