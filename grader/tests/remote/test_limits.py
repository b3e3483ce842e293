"""What one test may ask for and take: counted down, and over a limit below zero."""

from __future__ import annotations

import pytest

from grader.remote.limits import PLAIN_COST, OverLimit, UsageLimits, cost


@pytest.mark.parametrize("what", ["request", "callback", "handle"])
def test_as_many_as_are_allowed_and_no_more(what: str) -> None:
    limits = UsageLimits(1, requests=2, callbacks=2, handles=2)
    for _ in range(2):
        getattr(limits, what)()
    with pytest.raises(OverLimit):
        getattr(limits, what)()


def test_plain_values_weigh_what_they_take_in_memory() -> None:
    assert cost(10, 7) == 10 * PLAIN_COST + 7


def test_what_arrives_is_counted_in_sum() -> None:
    limits = UsageLimits(1, received=100 + PLAIN_COST)
    limits.frame(1, 50)
    limits.frame(0, 50)
    with pytest.raises(OverLimit, match="more data"):
        limits.frame(0, 1)


def test_what_does_not_fit_is_not_kept_and_takes_no_room() -> None:
    limits = UsageLimits(1, kept=100)
    assert [limits.keep(0, size) for size in (60, 60, 40, 1)] == [True, False, True, False]


def test_warnings_end_without_an_error() -> None:
    limits = UsageLimits(1, warnings=1)
    assert [limits.warning() for _ in range(3)] == [True, False, False]
