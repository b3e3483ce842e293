"""What is told of slips is what their golden file holds, and reads as a learner needs it.

By default a slip of a few stages is graded, with --all-tiers all of them; `tests/diagnosis/reader.py` has the rules of
what is said.
"""

from __future__ import annotations

import json
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path

import pytest

from grader.authoring.cases import CaseResult
from grader.course.answers import stub_source
from grader.course.formulas import in_words
from grader.course.manifest import load_course
from tests.diagnosis.reader import complaints
from tests.slips.bank import Slip, slips_of, stages_with_slips
from tests.slips.golden import Told, all_slips, difference, golden_path, read_golden, runs, told, write_golden
from tests.support.places import ROOT

COURSE = load_course(ROOT)
SAMPLE = ("s01", "s05", "s22")  # of these stages, by default, a slip that is told something is graded
SLIP = slips_of("s01")[0]
TOLD = (("term-missing", "dot_product", 21), ("refusal-missing", "", 0))


@pytest.mark.parametrize(
    "stage",
    [
        pytest.param(each, marks=[] if each in SAMPLE else [pytest.mark.full_matrix("grader/diagnosis")])
        for each in stages_with_slips()
    ],
)
def test_slips_are_told_what_the_golden_file_holds_in_words_that_read_well(
    stage: str, executor: Executor, pytestconfig: pytest.Config
) -> None:
    golden = read_golden(stage)
    slips = all_slips(stage) if pytestconfig.getoption("--all-tiers") else known(stage)[:1]
    found = list(runs(slips, executor))
    assert found or stage not in SAMPLE
    wrong = [each for slip, result in found if (each := differs(slip, result, golden.get(slip.id)))]
    assert not wrong, "\n".join(wrong)
    unread = {slip.id: complained for slip, result in found if (complained := misread(slip, result))}
    assert not unread


def differs(slip: Slip, result: CaseResult, before: Told | None) -> str:
    """Return what is told otherwise of a slip than before, or why it is not known; empty where it is the same."""
    now = told(result, slip)
    return f"{slip.stage} {slip.id}: {now}" if isinstance(now, str) else difference(slip, before, now)


def misread(slip: Slip, result: CaseResult) -> list[str]:
    """Return what is wrong with the sentences that a slip's failures are told."""
    stage = COURSE.find(slip.stage)
    published = in_words(stage.readme_path.read_text(encoding="utf-8")) + stub_source(stage)
    rows = result.verdict.criteria if result.verdict is not None else ()
    causes = {each.diagnosis for row in rows for each in row.failures if each.diagnosis is not None}
    return [
        each
        for cause in causes
        for each in complaints(cause.text, cause.fix, slip.source, published, is_known=not cause.is_edit)
    ]


def known(stage: str) -> list[Slip]:
    """Return the slips of a stage of which something is written down, those first that are told something."""
    golden = read_golden(stage)
    return sorted((each for each in slips_of(stage) if each.id in golden), key=lambda each: not golden[each.id])


@pytest.mark.parametrize("stage", [each for each in stages_with_slips() if golden_path(each).exists()])
def test_a_golden_file_holds_slips_of_its_stage(stage: str) -> None:
    assert not read_golden(stage).keys() - {each.id for each in all_slips(stage)}


def test_a_golden_file_is_read_as_it_was_written(tmp_path: Path) -> None:
    (tmp_path / "s90").mkdir()
    assert read_golden("s90", tmp_path) == {}
    write_golden("s90", {"two": TOLD, "none": ()}, tmp_path)
    assert read_golden("s90", tmp_path) == {"two": TOLD, "none": ()}
    assert list(json.loads(golden_path("s90", tmp_path).read_text(encoding="utf-8"))) == ["none", "two"]


def test_a_difference_says_which_slip_what_was_and_is_told_and_the_command_that_writes_it() -> None:
    slip = replace(SLIP, id="a-slip")
    assert difference(slip, TOLD, TOLD) == difference(slip, (), ()) == ""
    assert difference(slip, TOLD, ()) == (
        "s01 a-slip is told nothing; it was term-missing (dot_product, line 21), refusal-missing (-, line 0) in "
        "golden.json. `python -m tests.slips.golden s01 a-slip --write` writes it anew; the commit has to say "
        "why it changed."
    )
    assert difference(slip, None, TOLD[:1]).startswith(
        "s01 a-slip is told term-missing (dot_product, line 21); nothing is written down in golden.json. "
    )
