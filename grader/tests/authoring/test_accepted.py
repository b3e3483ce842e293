"""equivalent.toml: what is read, and that each mistake in it is named."""

from __future__ import annotations

import re

import pytest

from grader.authoring.accepted import Equivalent, load_equivalents, unused
from grader.course.mutants import Mutant
from grader.errors import CourseError
from grader.tests.conftest import SmallCourse
from grader.tests.support.good_stage import write_stage

ENTRY = """\
[[mutant]]
function = "half"
was = "return total(x) / 2"
now = "return 2 / total(x)"
reason = "no total is anything but 2"
"""
HALF = Mutant("half", 24, "return total(x) / 2", "return 2 / total(x)", "…")
ACCEPTED = Equivalent("half", "return total(x) / 2", "return 2 / total(x)", "no total is anything but 2")


def load(course: SmallCourse, text: str | None) -> tuple[Equivalent, ...]:
    write_stage(course.stage_folder.parent, course.hidden.parent, course.hidden.name, {"hidden/equivalent.toml": text})
    return load_equivalents(course.stage)


def test_without_the_file_nothing_is_accepted(small_course: SmallCourse) -> None:
    assert load(small_course, None) == ()


def test_each_entry_is_read_in_its_order(small_course: SmallCourse) -> None:
    found = load(small_course, f"{ENTRY}\n{ENTRY.replace('half', 'total')}")
    assert found == (ACCEPTED, Equivalent("total", ACCEPTED.was, ACCEPTED.now, ACCEPTED.reason))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "mutant: is missing"),
        ("mutant = []", "mutant: is empty; expected at least one entry"),
        ("mutant = [1]", "mutant[0]: 1 is not a table"),
        (f'{ENTRY}because = "x"', "mutant[0].because: is not a key of this table"),
        (f"{ENTRY}[[mutants]]", "mutants: is not a key of this table; did you mean 'mutant'?"),
        (ENTRY.replace('reason = "no total is anything but 2"', ""), "mutant[0].reason: is missing"),
        (ENTRY.replace('"no total is anything but 2"', '" "'), "mutant[0].reason: ' ' is not a text that says"),
        (ENTRY.replace('"half"', "3"), "mutant[0].function: 3 is not a text"),
        (f"{ENTRY}\n[[mutant", "Expected ']]'"),
    ],
    ids=["nothing", "no entry", "no table", "other key", "other table", "no reason", "empty", "number", "no TOML"],
)
def test_a_mistake_is_named_with_its_place(small_course: SmallCourse, text: str, said: str) -> None:
    with pytest.raises(CourseError, match=re.escape(said)) as caught:
        load(small_course, text)
    assert caught.value.message.startswith("s90_small/equivalent.toml: ")


def test_every_mistake_of_the_file_is_named_at_once(small_course: SmallCourse) -> None:
    with pytest.raises(CourseError) as caught:
        load(small_course, "[[mutant]]\nwas = 1\n")
    places = [line.split(": ")[1] for line in caught.value.message.splitlines()]
    assert places == [f"mutant[0].{key}" for key in ("function", "was", "now", "reason")]


@pytest.mark.parametrize(
    ("mutant", "covered"),
    [
        (HALF, True),
        (Mutant("half", 99, HALF.was, HALF.now, "another line"), True),
        (Mutant("total", 24, HALF.was, HALF.now, "…"), False),
        (Mutant("half", 24, "return total(x) / 3", HALF.now, "…"), False),
        (Mutant("half", 24, HALF.was, "return total(x)", "…"), False),
    ],
    ids=["the same", "moved", "another function", "another statement", "another change"],
)
def test_an_entry_covers_a_mutant_by_function_and_statement(mutant: Mutant, covered: bool) -> None:
    assert ACCEPTED.covers(mutant) is covered


def test_an_entry_that_covers_no_survivor_is_unused() -> None:
    stale = Equivalent("total", "return 1", "return 2", "it was so once")
    assert unused([ACCEPTED, stale], [HALF, HALF]) == [stale]
    assert unused([ACCEPTED], iter([])) == [ACCEPTED]
    assert unused([], [HALF]) == []
