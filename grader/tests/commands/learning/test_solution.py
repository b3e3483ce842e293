"""`grader solution`: after passing only, alone or beside one's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.stub import stub_of
from grader.tests.support.command import (
    NUMBERS,
    Here,
    Place,
)


def test_a_solution_is_shown_after_passing_only(here: Here, tmp_path: Path) -> None:
    done = here("solution", "s01")
    assert (done.code, done.out) == (3, "")
    assert "once s01 has passed" in done.err
    here("start", "s02")
    assert here("solution", "s01").code == 3
    here.place.passed("s01")
    assert here("solution", "s01").out == NUMBERS
    target = tmp_path / "solution.py"
    assert here("solution", "s01", "--output", str(target)).out == ""
    assert target.read_text(encoding="utf-8") == NUMBERS


def test_a_solution_without_a_stage_is_that_of_the_last_that_has_passed(here: Here) -> None:
    none = here("solution")
    assert (none.code, none.out) == (2, "")
    assert "no stage has passed yet, and none was named" in none.err
    here.place.passed("s01")
    assert here("solution").out == NUMBERS


def test_a_solution_stands_beside_ones_own_with_times(place: Place) -> None:
    own = NUMBERS.replace("2 * x", "sum(x for _ in range(2))")
    place.numbers.write_text(own, encoding="utf-8")
    assert place.run("solution", "s01", "--json").code == 3
    place.passed("s01")
    document = place.run("solution", "s01", "--json").json
    assert (document["problem"], document["unmeasured"]) == (None, None)
    double, quadruple = document["functions"]
    assert (double["name"], double["same"], quadruple["same"]) == ("double", False, True)
    assert double["own"]["comprehensions"] == 1 and double["reference"]["text"].endswith("return 2 * x")
    assert double["time"]["ratio"] > 0 and double["time"]["calls"] >= 2
    assert place.recorded == {"s01"}


def test_a_solution_is_shown_where_ones_own_cannot_be(here: Here) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text("def (", encoding="utf-8")
    done = here("solution", "s01", "--compare", "--no-time")
    assert done.code == 0
    assert "Your own module is left out" in done.out and "return 2 * x" in done.out
    here.place.numbers.unlink()
    assert here("solution", "s01", "--json").json["problem"].startswith("stages/s01_numbers/numbers_.py")
    here.place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = here("solution", "s01", "--compare", "--no-time")
    assert "No times: not asked for." in done.out and "double · as in the reference" in done.out


@pytest.mark.parametrize("other", [["--reference"], ["--output", "x.py"]])
def test_a_document_and_the_reference_alone_exclude_each_other(here: Here, other: list[str]) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--json", *other)
    assert (done.code, done.out) == (2, "")
    assert f"{other[0]} asks for the reference alone" in done.err


def test_a_solution_overwrites_nothing(here: Here) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--output", str(here.place.numbers))
    assert done.code == 2
    assert "already exists; it was not replaced" in " ".join(done.err.split())
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    assert here("solution", "s01", "-o", str(here.place.root / "no" / "folder.py")).code == 2
