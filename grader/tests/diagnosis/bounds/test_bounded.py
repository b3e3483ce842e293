"""An end to what runs too long."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from grader.diagnosis.bounds.bounded import TooLong, bounded, can_bound


def test_an_endless_loop_is_ended() -> None:
    assert can_bound()
    with pytest.raises(TooLong), bounded(0.02):
        while True:
            pass


def test_what_ends_in_time_is_left_alone() -> None:
    with bounded(5.0):
        assert sum(range(3)) == 3


@pytest.mark.skipif(not can_bound(), reason="nothing can be interrupted here")
def test_a_block_within_another_ends_with_it_and_leaves_it_its_time() -> None:
    with pytest.raises(TooLong), bounded(0.05), suppress(KeyError), bounded(60):
        while True:
            pass
    ends: list[str] = []
    with suppress(TooLong), bounded(0.2):
        with suppress(TooLong), bounded(0.02):
            while True:
                pass
        ends.append("inner")
        while True:
            pass
    assert ends == ["inner"]
    spent = time.process_time()
    with bounded(0.02):
        pass
    while time.process_time() < spent + 0.05:  # nothing is left that would end this
        pass
