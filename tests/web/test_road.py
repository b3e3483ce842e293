"""The road: what is recorded of each stage, and what is known of its rows, of the very text that was checked."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from grader.criterion import KindCount
from grader.progress.actions import Workspace
from grader.progress.last_check import remember
from grader.progress.workspace import open_workspace
from grader.submission import take
from grader.verdict import Verdict
from grader.web.road import CHANGED, UNCHECKED, Road, lasted, road
from tests.support.command import NUMBERS, WRONG, Place
from tests.watching.fakes import verdict

NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)


@pytest.fixture
def workspace(place: Place) -> Workspace:
    return open_workspace(place.root)


def found(workspace: Workspace) -> Road:
    return road(workspace, NOW)


def checked(workspace: Workspace, *statuses: str, kinds: tuple[KindCount, ...] = ()) -> Verdict:
    """Keep a check of the first stage as it is now; kinds counts the tests of its first row."""
    from dataclasses import replace

    from grader import __version__

    stage = workspace.course.stages[0]
    made = verdict(stage, *statuses)
    if kinds:
        done, total = sum(each.passed for each in kinds), sum(each.total for each in kinds)
        first = replace(made.criteria[0], kinds=kinds, failures=(), tests_passed=done, tests_total=total)
        made = replace(made, criteria=(first, *made.criteria[1:]))
    digest = take(stage, None, workspace.course.root).digest
    made = replace(made, run=replace(made.run, submission=digest, course=__version__, only=None))
    remember(workspace.store.folder, stage, made)
    return made


def test_somebody_who_has_begun_nothing_is_at_the_first_stage(workspace: Workspace) -> None:
    begun = found(workspace)
    assert begun.is_fresh and begun.passed == 0 and begun.current is not None
    assert begun.current.stage.id == "s01"
    assert [(stop.state, stop.words) for stop in begun.stops] == [("open", "open"), ("locked", "locked, waits for s01")]
    assert {row.status for stop in begun.stops for row in stop.criteria} == {"not_started"}


def test_a_pass_has_its_date_and_every_row_passes(place: Place, workspace: Workspace) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    digest = take(workspace.course.stages[0], None, place.root).digest
    workspace.store.record_pass("s01", digest, 7, "0.1.0", NOW)
    stop = found(workspace).stops[0]
    assert (stop.state, stop.passed_at, stop.passed, stop.work.attempts) == ("passed", NOW, 2, 1)
    assert not found(workspace).is_fresh


def test_a_pass_says_how_robust_it_is_as_recorded_or_as_the_last_check_found(
    place: Place, workspace: Workspace
) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    digest = take(workspace.course.stages[0], None, place.root).digest
    workspace.store.record_pass("s01", digest, 7, "0.1.0", NOW)
    assert found(workspace).stops[0].robust is None  # as an earlier grader recorded it
    workspace.store.record_pass("s01", digest, 7, "0.1.0", NOW, criteria=2, robust=1)
    stop = found(workspace).stops[0]
    assert (stop.robust, stop.passed, {row.robust for row in stop.criteria}) == (1, 2, {None})
    missing = (KindCount("values", 3, 3), KindCount("refusals", 1, 2))
    checked(workspace, "passed", "passed", kinds=missing)
    stop = found(workspace).stops[0]
    assert (stop.robust, stop.passed) == (1, 2)
    assert [(row.status, row.robust, row.words) for row in stop.criteria] == [
        ("passed", False, "4 of 5 tests · 1 of 2 refusals missing"), ("passed", True, "2 tests"),
    ]  # fmt: skip


def test_the_first_pass_is_the_one_that_counts(place: Place, workspace: Workspace) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    workspace.store.record_pass("s01", "a" * 64, 7, "0.1.0", NOW)
    workspace.store.record_pass("s01", "b" * 64, 7, "0.1.0", NOW.replace(year=2027))
    stop = found(workspace).stops[0]
    assert (stop.passed_at, stop.state, stop.note) == (NOW, "changed", CHANGED.format("s01"))


def test_what_the_last_check_found_is_told_with_its_cause(place: Place, workspace: Workspace) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    checked(workspace, "failed", "passed")
    double, quadruple = found(workspace).stops[0].criteria
    assert (double.status, double.said, quadruple.status, quadruple.said) == (
        "failed",
        "This is the square.",
        "passed",
        "",
    )


def test_a_criterion_that_waits_does_not_repeat_a_cause(place: Place, workspace: Workspace) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    checked(workspace, "failed", "blocked")
    double, quadruple = found(workspace).stops[0].criteria
    assert (double.said, quadruple.status, quadruple.said) == ("This is the square.", "blocked", "")


def test_a_text_that_was_changed_since_is_not_told_anything_of(place: Place, workspace: Workspace) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    checked(workspace, "failed", "passed")
    place.numbers.write_text(WRONG + "# more\n", encoding="utf-8")
    stop = found(workspace).stops[0]
    assert (stop.criteria, stop.note) == ((), UNCHECKED.format("s01"))
    workspace.store.record_check("s01", "abc", NOW)
    assert found(workspace).stops[0].note == CHANGED.format("s01")


def test_a_date_that_somebody_wrote_by_hand_is_left_out(place: Place, workspace: Workspace) -> None:
    workspace.store.record_pass("s01", "a" * 64, 7, "0.1.0", NOW)
    file = workspace.store.file
    file.write_text(file.read_text(encoding="utf-8").replace("2026-11-21T08:38:02", "someday"), encoding="utf-8")
    assert found(workspace).stops[0].passed_at is None


def test_hints_and_time_are_counted(workspace: Workspace) -> None:
    workspace.store.next_hint("s01", "double", 3)
    workspace.store.next_hint("s01", "quadruple", 3)
    workspace.store.record_check("s01", "a", NOW)
    workspace.store.record_check("s01", "b", NOW.replace(minute=48))
    whole = found(workspace)
    assert (whole.stops[0].hints, whole.stops[0].time, whole.attempts, whole.time) == (2, "10 min", 2, "10 min")


@pytest.mark.parametrize(("seconds", "words"), [(0, ""), (3599, "59 min"), (3600, "1 h"), (90061, "25 h 1 min")])
def test_a_time_is_told_in_hours_and_minutes(seconds: int, words: str) -> None:
    assert lasted(seconds) == words


def test_nothing_is_written(place: Place, workspace: Workspace) -> None:
    found(workspace)
    assert not Path(place.root, ".grader").exists()


def test_a_stage_that_changed_since_it_passed_is_counted_apart(place: Place, workspace: Workspace) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    workspace.store.record_pass("s01", "a" * 64, 7, "0.1.0", NOW)
    changed = found(workspace)
    assert (changed.stops[0].state, changed.passed, changed.reached) == (
        "changed", 0, "0 of 2 stages passed · 1 changed since",
    )  # fmt: skip
