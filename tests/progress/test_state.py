"""Where a learner stands with each stage: open, locked, skipped, passed, or passed with another file."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader.course.stage import Course, Stage
from grader.progress.state import (
    PAUSE,
    Pass,
    Progress,
    Work,
    checked,
    current,
    last_time,
    read_work,
    state_of,
    waits_for,
    written,
)


def stage(stage_id: str, *requires: str) -> Stage:
    return Stage(stage_id, Path("stages") / f"{stage_id}_topic", "Topic", "topic.py", requires, ())


def passed(*ids: str, digest: str = "abc") -> Mapping[str, Pass]:
    return {each: Pass(each, digest, 7, "0.1.0", "2026-11-21T08:38:02+00:00") for each in ids}


class TestState:
    def test_a_stage_that_requires_nothing_is_open(self) -> None:
        assert state_of(stage("s01"), Progress(), None) == "open"

    def test_a_stage_is_locked_while_one_it_requires_is_open(self) -> None:
        progress = Progress(passed("s01"))
        assert state_of(stage("s03", "s01", "s02"), progress, None) == "locked"
        assert waits_for(stage("s03", "s01", "s02"), progress) == ("s02",)

    def test_a_stage_opens_when_all_it_requires_is_passed_or_skipped(self) -> None:
        progress = Progress(passed("s01"), frozenset({"s02"}))
        assert state_of(stage("s03", "s01", "s02"), progress, None) == "open"

    def test_a_pass_of_the_same_file_is_passed(self) -> None:
        assert state_of(stage("s01"), Progress(passed("s01")), "abc") == "passed"

    @pytest.mark.parametrize("digest", ["def", None])
    def test_a_pass_of_another_file_or_of_none_is_changed(self, digest: str | None) -> None:
        assert state_of(stage("s01"), Progress(passed("s01")), digest) == "changed"

    def test_a_pass_outlives_a_requirement(self) -> None:
        assert state_of(stage("s03", "s02"), Progress(passed("s03")), "abc") == "passed"

    def test_a_skipped_stage_is_skipped_even_if_it_would_be_locked(self) -> None:
        assert state_of(stage("s03", "s02"), Progress(skipped=frozenset({"s03"})), None) == "skipped"

    @pytest.mark.parametrize(("digest", "state"), [("abc", "public"), ("def", "open"), (None, "open")])
    def test_public_tests_count_for_the_file_that_passed_them(self, digest: str | None, state: str) -> None:
        assert state_of(stage("s03", "s02"), Progress(public=passed("s03")), digest) == state

    def test_a_pass_goes_before_public_tests(self) -> None:
        assert state_of(stage("s01"), Progress(passed("s01"), public=passed("s01")), "abc") == "passed"

    def test_public_tests_that_pass_open_what_follows(self) -> None:
        progress = Progress(public=passed("s01"))
        course = Course(Path(), (stage("s01"), stage("s02", "s01")))
        assert state_of(course.stages[1], progress, None) == "open"
        found = current(course, progress)
        assert found is not None
        assert found.id == "s02"

    def test_the_current_stage_is_the_first_open_one(self) -> None:
        course = Course(Path(), (stage("s01"), stage("s02"), stage("s03", "s04"), stage("s04")))
        found = current(course, Progress(passed("s01"), frozenset({"s02"})))
        assert found is not None
        assert found.id == "s04"

    def test_at_the_end_no_stage_is_current(self) -> None:
        assert current(Course(Path(), (stage("s01"),)), Progress(passed("s01"))) is None


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
