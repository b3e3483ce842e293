"""`grader hint`: one step further each time, of which row, and what the last check found first."""

from __future__ import annotations

import json

from grader.tests.support.command import (
    NUMBERS,
    WRONG,
    Here,
    Place,
)


def test_a_hint_goes_one_step_further_each_time(here: Here) -> None:
    texts = [here("hint", "s02", "total").out for _ in range(4)]
    assert ["a nudge" in texts[0], "the idea" in texts[1], "nearly" in texts[2], "nearly" in texts[3]] == [True] * 4
    assert "hint 1 of 3" in texts[0]
    assert "one step further: grader hint s02 total" in texts[0]
    assert "grader show s02" in texts[3]


def test_a_hint_without_a_row_is_for_the_first_that_does_not_pass(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("double(double(x))", "x"), encoding="utf-8")
    found = place.run("hint", "s01")
    assert (found.code, found.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 1 of 3, a question")
    done = place.run("hint", "s01")
    assert (done.code, done.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 2 of 3, the idea")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out) == (0, "")
    assert "no hint is needed" in done.err


def test_a_hint_after_a_check_says_first_what_was_found(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    broken = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    broken.write_text("not python", encoding="utf-8")  # whoever grades again meets it
    steps = ("hint 1 of 3, a question", "hint 2 of 3, the idea", "hint 3 of 3, almost the answer")
    for step in (*steps, "what to write", "what to write"):
        title, about, *_ = place.run("hint", "s01").out.splitlines()
        assert title == f"s01 · double is right · {step}"
        assert about == "    The last check: This is the square."
    assert "The last check: This is the square." in place.run("hint", "s01", "double()").out
    assert "The last check: This row waits for double." in place.run("hint", "s01", "quadruple").out
    place.numbers.write_text(WRONG + "\n", encoding="utf-8")  # of this text no check is known
    assert "The last check" not in place.run("hint", "s01", "double").out


def test_a_hint_and_a_reset_are_for_where_one_is_without_a_stage(place: Place, here: Here) -> None:
    place.passed("s01")
    assert here("reset", "--yes").err.startswith("stages/s02_sums/sums.py is the stub again.")
    assert place.run("hint").out.startswith("s02 · total is right · hint 1 of 3")
    place.passed("s02")
    done = here("reset", "--yes")
    assert (done.code, place.recorded) == (2, {"s01", "s02"})
    assert "no stage is left to work on" in done.err


def test_where_a_cause_is_named_what_to_write_is_the_last_step(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    texts = [place.run("hint", "s01", "double").out for _ in range(2)]
    assert all("This is the square." in each and "Multiply by 2." not in each for each in texts)
    assert "a nudge" in texts[0] and "one step further: grader hint s01 double" in texts[0]
    assert "1 hint is left" in place.run("solution", "s01", "double", "--give-up", "--yes").err
    third, last = (place.run("hint", "s01", "double").out for _ in range(2))
    assert "nearly the answer" in third and "fix it: grader hint s01 double --fix" in third
    assert "Multiply by 2." in last and "nearly the answer" not in last
    assert place.run("solution", "s01", "double", "--give-up", "--yes").code == 0


def test_what_to_write_is_shown_at_once_where_it_is_asked_for(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    checked = place.run("check", "s01").out
    assert "This is the square." in checked and "Multiply by 2." not in checked
    assert "fix it: grader hint s01 double --fix" in checked
    for _ in range(2):
        told = place.run("hint", "s01", "double", "--fix").out
        assert told.splitlines()[0] == "s01 · double is right · what to write" and "Multiply by 2." in told
    assert "a nudge" in place.run("hint", "s01", "double").out
    place.numbers.write_text(WRONG + "\n", encoding="utf-8")  # of this text no check is known
    assert "Multiply by 2." in place.run("hint", "s01", "double", "--fix").out


def test_where_no_cause_is_named_there_is_nothing_to_write(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01", "double", "--fix")
    assert done.code == 2 and "no cause in double of s01" in " ".join(done.err.split())
    assert "grader hint s01 double" in done.err


EDGES = """\
import pytest
from grader.testing import assert_equal


@pytest.mark.values
@pytest.mark.criterion("double")
def test_of_numbers(learner):
    assert_equal(learner.double(3), 6)


@pytest.mark.{kind}
@pytest.mark.criterion("double")
def test_of_something_else(learner):
    assert_equal(learner.double(0), {right})
"""


def write_edges(place: Place, kind: str) -> None:
    """Put tests of values and of another kind in place of those of a row, and a module that fails the other kind."""
    hidden = place.root / "hidden" / "s01_numbers"
    (hidden / "solution.py").write_text(NUMBERS.replace("2 * x", "2 * x if x else 7"), encoding="utf-8")
    (hidden / "mistakes.py").write_text("", encoding="utf-8")
    for file in (hidden / "test_hidden_double.py", place.root / "stages/s01_numbers/tests/test_double.py"):
        file.write_text(EDGES.format(kind=kind, right=7), encoding="utf-8")
    place.numbers.write_text(NUMBERS.replace("2 * x", "x + x"), encoding="utf-8")


def test_where_only_edges_fail_a_hint_is_about_them_and_not_about_the_idea(place: Place) -> None:
    write_edges(place, "edges")
    assert place.run("check", "s01").code == 1
    left = place.run("solution", "s01", "double", "--give-up", "--yes")
    assert left.code == 3 and "2 hints are left" in left.err
    texts = [place.run("hint", "s01", "double").out for _ in range(2)]
    assert "double(x=0)" in texts[0] and "a nudge" not in texts[0] and "the idea" not in texts[0]
    assert "hint 3 of 3" in texts[1] and "nearly the answer" in texts[1]
    assert place.run("solution", "s01", "double", "--give-up", "--yes").code == 0


def test_where_only_robustness_is_missing_a_hint_is_about_that(place: Place) -> None:
    write_edges(place, "dtype")
    place.run("check", "s01")
    texts = [place.run("hint", "s01", "double").out for _ in range(2)]
    assert "dtype" in texts[0] and "the idea" not in texts[0] and "nearly the answer" in texts[1]


def test_a_row_whose_cause_had_a_small_share_of_trials_is_graded_once_more(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("double(double(x))", "x"), encoding="utf-8")
    place.run("check", "s01")
    kept = place.root / ".grader" / "checks" / "s01.json"
    data = json.loads(kept.read_text(encoding="utf-8"))
    data["rows"][0] |= {"status": "failed", "tests_passed": 0, "lacking": {"values": [0, 2]}}  # another row fails first
    kept.write_text(json.dumps(data), encoding="utf-8")
    place.run("hint", "s01")
    assert json.loads(kept.read_text(encoding="utf-8")) == data
    place.run("hint", "s01", "quadruple")
    graded = json.loads(kept.read_text(encoding="utf-8"))
    assert (graded["asked"], graded["rows"][0]["status"]) == ("quadruple", "passed")
    broken = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    broken.write_text("not python", encoding="utf-8")  # whoever grades again meets it
    assert place.run("hint", "s01", "quadruple").code == 0


def test_checks_that_an_earlier_grader_kept_are_read(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    kept = place.root / ".grader" / "checks" / "s01.json"
    data = json.loads(kept.read_text(encoding="utf-8"))
    for row in data["rows"]:
        for name in ("fix", "example", "has_values"):
            del row[name]
    kept.write_text(json.dumps(data), encoding="utf-8")
    found = place.run("hint", "s01", "double").out
    assert "The last check: This is the square." in found and "hint 1 of 3" in found


def test_a_hint_says_why_tests_failed_before_they_called_anything(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("def double(", "def duoble("), encoding="utf-8")
    place.run("check", "s01")
    told = " ".join(place.run("hint", "s01", "double").out.split())
    assert "The last check: stages/s01_numbers/numbers_.py does not define double: it defines duoble" in told
