"""What a value is to whoever walks over it: counted with bounds, and keys told apart within a time."""

from __future__ import annotations

import time

import pytest

from grader.protocol import codec
from grader.protocol.bounds import Refused, TooLarge

BOUNDS = codec.Bounds(1 << 20, 100)


def test_entries_within_the_bounds_are_read_and_one_more_is_not() -> None:
    for tag, count in ((codec.LIST, 100), (codec.TUPLE, 100), (codec.SET, 100), (codec.DICT, 200)):
        assert len(codec.Decoder(bounds=BOUNDS).decode([tag, *range(count)])) == 100
        with pytest.raises(TooLarge, match="101 entries; this stage takes at most 100"):
            codec.Decoder(bounds=BOUNDS).decode([tag, *range(count + count // 100)])


def test_without_bounds_nothing_is_refused_for_its_entries() -> None:
    assert len(codec.Decoder().decode([codec.LIST, *range(100_000)])) == 100_000
    found = codec.Decoder().decode([codec.LIST, [codec.REFERENCE, 0]])
    assert found[0] is found


def test_what_grows_deep_by_references_is_refused() -> None:
    chain = [[codec.LIST], *([codec.LIST, [codec.REFERENCE, n]] for n in range(1, 80))]
    assert len(codec.Decoder(bounds=BOUNDS).decode([codec.LIST, *chain[:50]])) == 50
    with pytest.raises(Refused, match="64 deep"):
        codec.Decoder(bounds=BOUNDS).decode([codec.LIST, *chain])


def test_keys_that_take_too_long_to_tell_apart_are_refused() -> None:
    late = codec.Decoder(bounds=codec.Bounds(), until=time.thread_time() - 1)
    for form in ([codec.SET, *range(2000)], [codec.DICT, *range(4000)], [codec.FROZENSET, *range(2000)]):
        with pytest.raises(TooLarge, match="too long to tell apart"):
            late.decode(form)
    assert late.decode([codec.SET, 1, 2]) == {1, 2}
