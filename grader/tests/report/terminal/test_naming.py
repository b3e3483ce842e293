"""What is shown of the names that mutants of a second solution get."""

from __future__ import annotations

from grader.authoring.naming import Graded, Naming, Told
from grader.course.mutants import Mutant
from grader.outcome import Diagnosis
from grader.report.terminal.layout import Look
from grader.report.terminal.naming import naming_document, naming_lines

CAUSE = Diagnosis("term-missing-0a1b2c3d", "total", "total, line 7: A term is missing.", "Add it.", False, "total", 7)
HALVED = Mutant("half", 4, "return x / 2", "return x * 2", "")
THIRD = Mutant("half", 4, "return x / 2", "return x / 3", "")
FALSE, RIGHT, UNNAMED, PASSED = Told("false", (CAUSE,)), Told("right", (CAUSE,)), Told("unnamed"), Told("passed")


def of(mutant: Mutant, reference: Told, alternatives: Told, pool: Told) -> Graded:
    return Graded(mutant, (9,), {"reference": reference, "alternatives": alternatives, "pool": pool})


FOUND = Naming(
    "s01", "loops", 2, 40,
    (
        of(HALVED, FALSE, UNNAMED, FALSE),
        of(THIRD, UNNAMED, RIGHT, Told("in_function", (CAUSE,))),
        of(THIRD, PASSED, PASSED, PASSED),
        of(THIRD, UNNAMED, RIGHT, RIGHT),
    ),
)  # fmt: skip


def test_each_way_has_its_counts_and_what_is_false_is_shown_once() -> None:
    title, *lines = [line.plain for line in naming_lines([FOUND], Look(300))][1:]
    assert title == "mutants of a second solution"
    assert lines[:5] == [
        "    s01: loops.py has 40 mutants; 3 of 4 caught",
        "        known                 right  in the function  false  not named",
        "        reference alone           0                0      1          2",
        "        alternatives too          2                0      0          1",
        "        a pool of them            1                1      1          0",
    ]
    assert " ".join(" ".join(lines[5:]).split()) == (
        "false (reference alone, a pool of them): loops.py:4 half: return x / 2 -> return x * 2; "
        "told: term-missing (total, line 7)"
    )


def test_a_stage_without_a_second_solution() -> None:
    (*_, line) = naming_lines([Naming("s02", "", 0, 0, ())], Look(80))
    assert line.plain.strip() == "s02: no alternative solution, so nothing is measured"
    assert naming_document(Naming("s02", "", 0, 0, ()))["solution"] is None


def test_a_stage_with_one_alternative_says_that_the_ways_are_the_same() -> None:
    text = " ".join(line.plain.strip() for line in naming_lines([Naming("s02", "loops", 0, 9, ())], Look(200)))
    assert "it is the only alternative" in text


def test_the_document_has_each_mutant_in_each_way() -> None:
    found = naming_document(FOUND)
    assert {name: found[name] for name in ("others", "mutants", "graded", "caught")} == {
        "others": 2, "mutants": 40, "graded": 4, "caught": 3,
    }  # fmt: skip
    assert found["reference"] == {"right": 0, "in_function": 0, "false": 1, "unnamed": 2}
    assert found["pool"] == {"right": 1, "in_function": 1, "false": 1, "unnamed": 0}
    first = found["told"][0]
    assert (first["now"], first["changed_lines"], first["alternatives"]) == (
        "return x * 2", [9], {"state": "unnamed", "causes": []},
    )  # fmt: skip
    cause = {"id": "term-missing", "function": "total", "line": 7, "text": CAUSE.text}
    assert first["reference"] == {"state": "false", "causes": [cause]}
