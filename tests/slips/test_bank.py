"""The bank of slips is well formed; its solutions pass their stages, and each slip fails the row that it names.

By default a few of the solutions and of the slips are graded; with --all-tiers all slips, and with --seeds N all
solutions so many times.
"""

from __future__ import annotations

import re
from concurrent.futures import Executor
from pathlib import Path

import pytest

from grader.authoring.cases import ProofCase
from grader.authoring.proof import results
from grader.course.manifest import load_course
from tests.slips.bank import HOLDOUT, SLIPS, BankError, slips_of, solution_of, stages_with_slips
from tests.support.places import ROOT

COURSE = load_course(ROOT)
STAGES = stages_with_slips()
EVERY = 11  # of the stages, by default, one in so many is graded
LEAST = {SLIPS: 12, HOLDOUT: 8}  # slips of a stage
FILES = [(stage, file) for file in (SLIPS, HOLDOUT) for stage in stages_with_slips(file=file)]
SOLUTION = "def double(x):\n    return x + x\n\n\ndef half(x):\n    return x / 2\n"
SLIP = {
    "id": '"halved"',
    "what": '"It halves."',
    "row": '"double"',
    "find": '"x + x"',
    "replace": '"x / 2"',
}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give the stages to grade: all, or every eleventh, other ones for solutions and for slips."""
    is_whole = metafunc.config.getoption("--all-tiers")
    for name, first in (("right", 0), ("wrong", EVERY // 2)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, STAGES if is_whole else STAGES[first::EVERY] or STAGES[:1])


@pytest.mark.full_matrix("stages", "hidden")
@pytest.mark.parametrize(("stage", "file"), FILES)
def test_slips_are_of_rows_of_their_stage(stage: str, file: str) -> None:
    slips = slips_of(stage, file=file)
    rows = {row.id for row in COURSE.find(stage).criteria}
    assert not [slip.id for slip in slips if slip.row not in rows]
    assert len(slips) >= LEAST[file]


@pytest.mark.full_matrix("stages", "hidden")
@pytest.mark.parametrize("stage", stages_with_slips(file=HOLDOUT))
def test_a_holdout_has_slips_of_its_own(stage: str) -> None:
    known = {slip.source for slip in slips_of(stage)}
    assert not [slip.id for slip in slips_of(stage, file=HOLDOUT) if slip.source in known]


@pytest.mark.full_matrix("stages", "hidden")
def test_a_solution_passes(right: str, executor: Executor, pytestconfig: pytest.Config) -> None:
    seeds = range(pytestconfig.getoption("--seeds"))
    cases = [ProofCase("slips/solution", right, solution_of(right), seed) for seed in seeds]
    for result in results(executor, cases):
        assert result.verdict is not None and result.verdict.passed, (result.case.seed, result.verdict)


def test_a_slip_fails_its_row(wrong: str, executor: Executor, pytestconfig: pytest.Config) -> None:
    slips = (*slips_of(wrong), *(slips_of(wrong, file=HOLDOUT) if (wrong, HOLDOUT) in FILES else ()))
    number = STAGES.index(wrong) % len(slips)
    chosen = slips if pytestconfig.getoption("--all-tiers") else slips[number : number + 1]
    cases = [ProofCase(f"slips/{slip.id}", wrong, slip.source, 1, first_failure=(slip.row,)) for slip in chosen]
    wanted = {f"slips/{slip.id}": slip.row for slip in chosen}
    found = {
        result.case.name: "nowhere" if not result.outcomes else result.outcomes[0].criterion or result.outcomes[0].test
        for result in results(executor, cases)
    }
    assert found == wanted


def written(folder: Path, *slips: dict[str, str], solution: str = SOLUTION) -> Path:
    """Write a bank of one stage, s90, from slips whose values are TOML already."""
    (folder / "s90").mkdir()
    (folder / "s90" / "solution.py").write_text(solution, encoding="utf-8")
    text = "\n".join("[[slip]]\n" + "\n".join(f"{key} = {value}" for key, value in slip.items()) for slip in slips)
    (folder / "s90" / "slips.toml").write_text(text, encoding="utf-8")
    return folder


def test_a_slip_is_its_solution_with_every_edit_made(tmp_path: Path) -> None:
    (slip,) = slips_of("s90", written(tmp_path, {**SLIP, "also": '[{ find = "x / 2", replace = "x" }]'}))
    assert slip.source == "def double(x):\n    return x / 2\n\n\ndef half(x):\n    return x\n"
    assert (slip.stage, slip.id, slip.what, slip.row) == ("s90", "halved", "It halves.", "double")
    assert len(slip.edits) == 2


def test_text_may_be_replaced_by_nothing(tmp_path: Path) -> None:
    (slip,) = slips_of("s90", written(tmp_path, {**SLIP, "find": '" + x"', "replace": '""'}))
    assert "return x\n" in slip.source


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("id", '"Not Kebab"', "slip[0].id: 'Not Kebab' is not kebab-case"),
        ("what", '" "', "slip[0].what: ' ' is not a text that says something"),
        ("find", '"x * x"', "slip[0].find: 'x * x' occurs 0 times in solution.py; expected once"),
        ("find", '"return x"', "slip[0].find: 'return x' occurs 2 times in solution.py; expected once"),
        ("replace", '"x + x"', "slip[0].replace: is the same text as find"),
        ("replace", '"x +"', "slip[0].replace: makes text that is no Python: invalid syntax"),
        ("replaces", '"x"', "slip[0].replaces: is not a key of this table; did you mean 'replace'?"),
        ("also", '[{ find = "x +", replace = "" }]', "slip[0].also[0].find: 'x +' overlaps with another find"),
        ("also", "[]", "slip[0].also: is empty; expected at least one entry"),
    ],
)
def test_what_is_wrong_with_a_slip_is_told_with_its_place(tmp_path: Path, key: str, value: str, message: str) -> None:
    with pytest.raises(BankError, match=re.escape(f"s90/slips.toml: {message}")):
        slips_of("s90", written(tmp_path, {**SLIP, key: value}))


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    with pytest.raises(BankError) as told:
        slips_of("s90", written(tmp_path, SLIP, {key: SLIP[key] for key in SLIP if key != "row"}))
    lines = ("slip[1].row: is missing; expected a text", "slip[1].id: 'halved' is already the id of slip[0]")
    assert str(told.value).splitlines() == [f"s90/slips.toml: {line}" for line in lines]


def test_a_stage_without_slips_is_told_with_those_that_have_some(tmp_path: Path) -> None:
    with pytest.raises(BankError) as told:
        slips_of("s91", written(tmp_path, SLIP))
    assert told.value.message.startswith("s91/solution.py: cannot be read: ")
    assert told.value.hint == "The bank has slips of s90."
