"""What `grader course verify` shows: the proof, and the naming of mutants."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from rich.text import Text

from grader.authoring.cases import Planned
from grader.authoring.claims import Shortfall
from grader.authoring.evaluation import Mutation, Ratio
from grader.authoring.naming import GradedMutant, NamedCauses, Naming
from grader.authoring.verify import StageProof
from grader.course.mutants import Mutant
from grader.outcome import Diagnosis
from grader.report.document import dumps
from grader.report.terminal.layout import Look
from grader.report.terminal.verification import naming_document, naming_lines, proof_document, proof_lines, summary

SURVIVOR = Mutant("half", 24, "return total(x) / 2", "return 2 / total(x)", "…")
SHORTFALL = Shortfall(
    "s02",
    "hidden/s02_sums/mistakes.py:33",
    "mean-of-terms is not caught: criterion half is passed (seed 1000)",
    "sharpen a test of half",
)
GOOD = StageProof(
    "s01", "Numbers", 12, 240, Ratio(20, 20), Ratio(12, 12), Ratio(100, 100), Ratio(124, 124), Ratio(124, 124),
    Mutation(1250, 10, ()), (),
)  # fmt: skip
WEAK = StageProof(
    "s02", "Sums", 2, 4, Ratio(1, 1), Ratio(2, 2), Ratio(3, 3), Ratio(5, 6), Ratio(4, 6),
    Mutation(12, 1, (SURVIVOR,)), (SHORTFALL,),
)  # fmt: skip
PLANNED = Planned(230, {"loops": 12, "einsum": 0}, {"test_a.py::test_trains": 1.249})
PICTURE = """\
stage  rows  tests  reference   stub  alternatives  mistakes    named    mutants caught
s01      12    240      20/20  12/12       100/100   124/124  124/124  1240/1240 100.0%
s02       2      4        1/1    2/2           3/3       5/6      4/6       10/11 90.9%

s02: mutants that no test notices
    solution.py:24 half: return total(x) / 2  ->  return 2 / total(x)

s02: 1 shortfall
    hidden/s02_sums/mistakes.py:33: mean-of-terms is not caught: criterion half is passed (seed 1000); sharpen a
        test of half
"""


def text_of(lines: list[Text]) -> str:
    return "".join(f"{line.plain}\n" for line in lines)


def shown(*proofs: StageProof, width: int = 120, ascii: bool = False) -> str:
    return text_of(proof_lines(proofs or (GOOD, WEAK), Look(width, ascii)))


def test_the_report_as_a_whole() -> None:
    assert shown() == PICTURE


@pytest.mark.parametrize("width", [80, 95, 96, 120])
def test_it_fits_the_terminal(width: int) -> None:
    assert max(map(len, shown(width=width).splitlines())) <= width


def test_at_80_columns_the_table_has_every_number() -> None:
    wide, narrow = (shown(width=width).splitlines()[:3] for width in (120, 80))
    assert [line.split() for line in wide] == [line.split() for line in narrow]


def test_what_a_plan_gains_nothing_for_is_listed() -> None:
    assert shown(replace(GOOD, planned=PLANNED)).splitlines()[2:] == [
        "",
        "s01: of 230 planned tests some ask something else",
        "    12 with loops",
        "",
        "s01: tests that could be marked live, since one answer takes them long",
        "    test_a.py::test_trains: 1.2 s",
    ]


def test_the_table_is_of_one_width() -> None:
    assert len({len(line) for line in shown().splitlines()[:3]}) == 1


def test_a_stage_that_falls_short_is_red_and_another_green() -> None:
    assert [str(line.style) for line in proof_lines((GOOD, WEAK), Look(120))[:3]] == ["bold", "green", "red"]


def test_what_was_not_graded_is_a_dash() -> None:
    proof = replace(GOOD, mistakes=Ratio(0, 0), named=Ratio(0, 0), mutation=None)
    assert shown(proof).splitlines()[1].split()[-4:] == ["100/100", "-", "-", "-"]


def test_a_stage_without_shortfall_has_its_row_alone() -> None:
    assert len(shown(GOOD).splitlines()) == 2


def test_a_survivor_within_bounds_is_listed_without_a_shortfall() -> None:
    lines = shown(replace(WEAK, shortfalls=())).splitlines()
    assert lines[-2:] == PICTURE.splitlines()[4:6]


def test_the_columns_stand_apart_where_there_is_room() -> None:
    assert [shown(width=width).startswith("stage  rows  tests") for width in (95, 96)] == [False, True]


def test_a_long_line_goes_on_further_in() -> None:
    lines = shown(width=60).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines[5:8]] == [4, 8, 0]
    assert {len(line) - len(line.lstrip()) for line in lines[9:]} == {4, 8}


def test_long_lines_keep_all_their_words() -> None:
    words = " ".join(shown(width=60).split())
    assert f"{SHORTFALL.place}: {SHORTFALL.message}; {SHORTFALL.fix}" in words
    assert "half: return total(x) / 2 -> return 2 / total(x)" in words


def test_several_shortfalls_are_counted_and_have_a_line_each() -> None:
    lines = shown(replace(WEAK, mutation=None, shortfalls=(SHORTFALL, replace(SHORTFALL, message="no")))).splitlines()
    assert "s02: 2 shortfalls" in lines and f"    {SHORTFALL.place}: no; {SHORTFALL.fix}" in lines


def test_survivors_of_all_stages_stand_before_the_shortfalls() -> None:
    titles = [line for line in shown(WEAK, replace(WEAK, stage="s03")).splitlines() if line.startswith("s0")]
    assert [title.split(": ")[-1] for title in titles[2:]] == ["mutants that no test notices"] * 2 + ["1 shortfall"] * 2


def test_where_only_ascii_can_be_shown_nothing_else_is() -> None:
    proof = replace(WEAK, shortfalls=(replace(SHORTFALL, message="expected √2 … got é"),))
    text = shown(proof, ascii=True)
    assert text.isascii() and "expected sqrt 2 ... got e" in text


def test_what_a_module_wrote_into_a_message_does_not_act() -> None:
    proof = replace(WEAK, shortfalls=(replace(SHORTFALL, message="\x1b[2Jgone"),))
    assert "\x1b" not in shown(proof) and "\\x1b[2Jgone" in shown(proof)


@pytest.mark.parametrize(
    ("proofs", "line"),
    [
        ((GOOD,), "1 stage, no shortfall."),
        ((GOOD, GOOD), "2 stages, no shortfall."),
        ((GOOD, WEAK), "2 stages, 1 shortfall."),
        ((WEAK, WEAK), "2 stages, 2 shortfalls."),
        ((), "0 stages, no shortfall."),
    ],
)
def test_the_last_line_counts(proofs: tuple[StageProof, ...], line: str) -> None:
    assert summary(proofs) == line


class TestDocument:
    def test_it_is_json_with_every_field(self) -> None:
        document = json.loads(dumps(proof_document([GOOD, replace(WEAK, mutation=None)], 20, "0.1.0")))
        stages = document.pop("stages")
        assert document == {"schema": 1, "course": "0.1.0", "seeds": 20, "proven": False}
        assert stages[0] == {
            "stage": "s01",
            "title": "Numbers",
            "criteria": 12,
            "tests": 240,
            "reference": {"good": 20, "total": 20},
            "stub": {"good": 12, "total": 12},
            "alternatives": {"good": 100, "total": 100},
            "mistakes": {"good": 124, "total": 124},
            "named": {"good": 124, "total": 124},
            "mistakes_of_robustness": 0,
            "planned": None,
            "mutants": {"total": 1250, "equivalent": 10, "caught": 1240, "rate": 1.0, "survivors": []},
            "shortfalls": [],
        }
        assert stages[1]["mutants"] is None
        assert stages[1]["shortfalls"] == [
            {"file": SHORTFALL.place, "message": SHORTFALL.message, "fix": SHORTFALL.fix}
        ]

    def test_how_well_tests_can_be_planned_is_told(self) -> None:
        (stage,) = proof_document([replace(GOOD, planned=PLANNED)], 1, "0.1.0")["stages"]
        slow = {"test_a.py::test_trains": 1.25}
        assert stage["planned"] == {"tests": 230, "strayed": {"loops": 12, "einsum": 0}, "slow": slow}

    def test_survivors_are_told_with_line_and_statement(self) -> None:
        (stage,) = proof_document([WEAK], 1, "0.1.0")["stages"]
        assert stage["mutants"] == {
            "total": 12,
            "equivalent": 1,
            "caught": 10,
            "rate": 0.9091,
            "survivors": [{"line": 24, "function": "half", "was": SURVIVOR.was, "now": SURVIVOR.now}],
        }

    @pytest.mark.parametrize(("proofs", "proven"), [((GOOD,), True), ((GOOD, WEAK), False), ((), True)])
    def test_it_says_whether_all_is_proven(self, proofs: tuple[StageProof, ...], proven: bool) -> None:
        assert proof_document(proofs, 1, "0.1.0")["proven"] is proven


CAUSE = Diagnosis("term-missing-0a1b2c3d", "total", "total, line 7: A term is missing.", "Add it.", False, "total", 7)
HALVED = Mutant("half", 4, "return x / 2", "return x * 2", "")
THIRD = Mutant("half", 4, "return x / 2", "return x / 3", "")
FALSE, RIGHT, UNNAMED, PASSED = (
    NamedCauses("false", (CAUSE,)),
    NamedCauses("right", (CAUSE,)),
    NamedCauses("unnamed"),
    NamedCauses("passed"),
)


def of(mutant: Mutant, reference: NamedCauses, alternatives: NamedCauses, pool: NamedCauses) -> GradedMutant:
    return GradedMutant(mutant, (9,), {"reference": reference, "alternatives": alternatives, "pool": pool})


FOUND = Naming(
    "s01", "loops", 2, 40,
    (
        of(HALVED, FALSE, UNNAMED, FALSE),
        of(THIRD, UNNAMED, RIGHT, NamedCauses("in_function", (CAUSE,))),
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
