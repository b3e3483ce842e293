"""What checks add up to: attempts are texts that differ, and a long pause is no work."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from grader.progress.work import PAUSE, Work, checked, last_time, read_work, written

NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)
SAID = "2026-11-21T08:38:02+00:00"


def test_the_first_check_is_an_attempt_of_no_known_length() -> None:
    assert checked(Work(), None, "abc", NOW, False) == Work(1, 0, 0, SAID, SAID, "", "abc")


def test_the_same_text_again_is_no_further_attempt() -> None:
    again = checked(checked(Work(), None, "abc", NOW, False), NOW, "abc", NOW + timedelta(seconds=9), False)
    assert (again.attempts, again.seconds) == (1, 9)


@pytest.mark.parametrize(
    ("gap", "counted"), [(timedelta(seconds=PAUSE), PAUSE), (timedelta(seconds=PAUSE + 1), 0), (timedelta(-1), 0)]
)
def test_time_counts_up_to_a_pause_and_never_backwards(gap: timedelta, counted: int) -> None:
    assert checked(Work(), NOW, "abc", NOW + gap, False).seconds == counted


def test_attempts_until_the_first_pass_stay_known() -> None:
    passed = checked(Work(attempts=3, text="a"), None, "b", NOW, True)
    later = checked(passed, None, "c", NOW + timedelta(days=1), True)
    assert (passed.until, later.attempts, later.until, later.passed) == (4, 5, 4, SAID)


def test_the_last_check_of_any_stage_is_known() -> None:
    works = [Work(), Work(last="2026-11-21T08:00:00+00:00"), Work(last=SAID)]
    assert last_time(works) == NOW
    assert last_time([Work()]) is None


def test_what_was_written_is_read_back() -> None:
    works = {"s01": checked(Work(), None, "abc", NOW, True)}
    assert read_work(written(works)) == works


@pytest.mark.parametrize(
    "entry",
    [None, 7, {"attempts": "1"}, {"attempts": True}, {"seconds": -1}, {"last": "yesterday"}, {"last": "2026-11-21"}],
)
def test_an_entry_of_another_form_is_left_out(entry: Any) -> None:
    assert read_work({"s01": entry, "s02": {"attempts": 2}, 3: {}}) == {"s02": Work(attempts=2)}
    assert read_work(entry) == {}
