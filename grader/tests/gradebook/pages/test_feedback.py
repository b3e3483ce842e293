"""A stored verdict is told as far as class.toml allows now, and never further than it was stored."""

from __future__ import annotations

import pytest

from grader.course.stage import Feedback
from grader.gradebook.pages.feedback import MOST_FAILURES, rows
from grader.report.feedback import HELD_BACK
from grader.tests.gradebook.pages.made import TEXT, failure, verdict


def test_everything_is_told_in_full_but_no_folder_of_the_machine() -> None:
    (told,) = rows(verdict(double=False), "full")[0].failures
    assert (told.call, told.message, told.mistake, told.fix) == ("double(3)", "got 9", TEXT, "Multiply by 2.")
    assert told.where == "ada.py:7"


def test_what_was_stored_in_full_is_told_as_a_hint_without_inputs_or_explanation() -> None:
    (told,) = rows(verdict(double=False), "hint")[0].failures
    assert (told.test, told.message) == ("test_two", HELD_BACK)
    assert not told.call and not told.mistake and not told.where


@pytest.mark.parametrize(("stored", "asked"), [("hint", "full"), ("hint", "hint")])
def test_a_stored_hint_keeps_its_declared_mistake_and_becomes_no_more(stored: str, asked: Feedback) -> None:
    (told,) = rows(verdict(double=False, feedback=stored), asked)[0].failures
    assert (told.message, told.mistake, told.call) == (HELD_BACK, TEXT, "")


def test_the_level_verdict_tells_nothing_of_hidden_tests() -> None:
    row = rows(verdict(double=False), "verdict")[0]
    assert (row.status, row.total, row.failures) == ("failed", 1, ())


def test_public_tests_are_told_without_what_may_come_from_the_reference() -> None:
    document = verdict(double=False)
    document["criteria"][0] |= {"failures": [failure(hidden=False)], "waits_for": ["secret"]}
    row = rows(document, "verdict")[0]
    assert [(each.message, each.mistake) for each in row.failures] == [("got 9", "")]
    assert row.waits_for == ()


def test_a_failure_of_which_nothing_is_known_counts_as_hidden() -> None:
    document = verdict(double=False)
    document["criteria"][0]["failures"] = [{"test": "x", "message": "secret"}]
    assert "secret" not in str(rows(document, "hint"))


def test_many_failures_of_a_row_are_cut_and_counted() -> None:
    document = verdict(double=False)
    document["criteria"][0]["failures"] = [failure()] * 10
    row = rows(document, "full")[0]
    assert (len(row.failures), row.more) == (MOST_FAILURES, 10 - MOST_FAILURES)
