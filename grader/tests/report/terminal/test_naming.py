"""What is shown of the names that mutants of a second solution get."""

from __future__ import annotations

from grader.authoring.naming import Naming, Told
from grader.course.mutants import Mutant
from grader.report.terminal.layout import Look
from grader.report.terminal.naming import naming_document, naming_lines

WRONG = Told(Mutant("half", 4, "return x / 2", "return x * 2", ""), "false", ("total answers as if 1 were added.",))
RIGHT = Told(Mutant("half", 4, "return x / 2", "return x / 3", ""), "right", ("half answers as if 3 stood there.",))
FOUND = Naming("s01", "loops", 40, (WRONG, RIGHT, Told(RIGHT.mutant, "passed", ()), Told(RIGHT.mutant, "unnamed", ())))


def test_counts_and_false_sentences_are_shown() -> None:
    text = " ".join(line.plain for line in naming_lines([FOUND], Look(200)))
    assert "s01: loops.py has 40 mutants; 3 of 4 caught: 1 right, 1 false, 1 not named" in text
    text = " ".join(text.split())
    assert "false: loops.py:4 half: return x / 2 -> return x * 2; told: total answers as if 1 were added." in text


def test_a_stage_without_a_second_solution() -> None:
    (*_, line) = naming_lines([Naming("s02", "", 0, ())], Look(80))
    assert line.plain.strip() == "s02: no alternative solution, so nothing is measured"
    assert naming_document(Naming("s02", "", 0, ()))["solution"] is None


def test_the_document_has_each_mutant() -> None:
    found = naming_document(FOUND)
    assert {name: found[name] for name in ("mutants", "graded", "caught", "right", "false", "unnamed")} == {
        "mutants": 40, "graded": 4, "caught": 3, "right": 1, "false": 1, "unnamed": 1,
    }  # fmt: skip
    assert found["told"][0]["now"] == "return x * 2"
