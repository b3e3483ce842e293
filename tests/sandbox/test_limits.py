"""What one test may ask for and take: counted down, and over a limit below zero."""

from __future__ import annotations

import time

import pytest

from grader.protocol.codec import Bounds
from grader.sandbox.limits import PLAIN_COST, OverLimit, UsageLimits, cost


@pytest.mark.parametrize("what", ["requests", "callbacks", "handles"])
def test_as_many_as_are_allowed_and_no_more(what: str) -> None:
    limits = UsageLimits(1, requests=2, callbacks=2, handles=2)
    for _ in range(2):
        limits.spend(what)
    with pytest.raises(OverLimit):
        limits.spend(what)


def test_plain_values_weigh_what_they_take_in_memory() -> None:
    assert cost(10, 7) == 10 * PLAIN_COST + 7


def test_what_arrives_is_counted_in_sum() -> None:
    limits = UsageLimits(1, received=100 + PLAIN_COST)
    limits.frame(1, 50)
    limits.frame(0, 50)
    with pytest.raises(OverLimit, match="more data"):
        limits.frame(0, 1)


def test_a_test_may_be_sent_so_many_results_of_full_size() -> None:
    small, large = UsageLimits.of(2, Bounds(4 << 20)), UsageLimits.of(2, Bounds(256 << 20))
    assert (small.seconds, small.received, small.kept) == (6, 128 << 20, 96 << 20)
    assert (large.received, large.kept) == (1 << 30, 512 << 20)


def test_the_time_for_reading_has_an_end() -> None:
    limits = UsageLimits(1, reading=0.5)
    assert limits.until() - time.thread_time() <= 0.5
    limits.read(time.thread_time())
    with pytest.raises(OverLimit, match="longer to read"):
        limits.read(time.thread_time() - 1)


def test_what_does_not_fit_is_not_kept_and_takes_no_room() -> None:
    limits = UsageLimits(1, kept=100)
    assert [limits.keep(0, size) for size in (60, 60, 40, 1)] == [True, False, True, False]


def test_warnings_end_without_an_error() -> None:
    limits = UsageLimits(1, warnings=1)
    assert [limits.warning() for _ in range(3)] == [True, False, False]


def test_after_a_new_beginning_as_much_may_arrive_as_at_first() -> None:
    limits = UsageLimits(1, received=100, kept=100)
    limits.frame(0, 80)
    assert limits.keep(0, 80)
    limits.renew()
    limits.frame(0, 80)
    assert limits.keep(0, 80) and limits.held == 80
