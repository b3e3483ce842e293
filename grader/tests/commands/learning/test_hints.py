"""`grader hint`: one step further each time, of which row, and what the last check found first."""

from __future__ import annotations

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
    done = place.run("hint", "s01")
    assert (done.code, done.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 1 of 3, a question")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out) == (0, "")
    assert "no hint is needed" in done.err


def test_a_hint_after_a_check_says_first_what_was_found(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.run("check", "s01")
    broken = place.root / "hidden" / "s01_numbers" / "test_hidden_double.py"
    broken.write_text("not python", encoding="utf-8")  # whoever grades again meets it
    for step in ("1 of 3, a question", "2 of 3, the idea", "3 of 3, almost the answer"):
        title, about, *_ = place.run("hint", "s01").out.splitlines()
        assert title == f"s01 · double is right · hint {step}"
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
