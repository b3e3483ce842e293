"""What is said of the slips of the bank reads as a learner needs it: `tests/diagnosis/reader.py` has the rules.

By default a slip of a few stages is read; with --all-tiers all of them.
"""

from __future__ import annotations

import re
from concurrent.futures import Executor

import pytest

from grader.authoring.cases import ProofCase
from grader.authoring.proof import results
from grader.course.answers import load_mistakes, stub_source
from grader.course.formulas import in_words
from grader.course.manifest import load_course
from tests.diagnosis.reader import FORBIDDEN, QUOTED, complaints
from tests.slips.bank import slips_of, stages_with_slips
from tests.slips.golden import all_slips
from tests.support.places import ROOT

COURSE = load_course(ROOT)
STAGES = stages_with_slips()
EVERY = 17  # of the stages, by default, a slip of one in so many is read


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give the stages whose slips are read: all, or one in EVERY."""
    if "read" in metafunc.fixturenames:
        is_whole = metafunc.config.getoption("--all-tiers")
        metafunc.parametrize("read", STAGES if is_whole else STAGES[4::EVERY])


def test_what_is_said_of_slips_reads_well(read: str, executor: Executor, pytestconfig: pytest.Config) -> None:
    is_whole = pytestconfig.getoption("--all-tiers")
    slips = all_slips(read) if is_whole else list(slips_of(read))[3:4]
    stage = COURSE.find(read)
    published = in_words(stage.readme_path.read_text(encoding="utf-8")) + stub_source(stage)
    sources = {f"slips/{each.id}": each.source for each in slips}
    cases = [ProofCase(name, read, source, 1) for name, source in sources.items()]
    wrong = {}
    for result in results(executor, cases):
        rows = result.verdict.criteria if result.verdict is not None else ()
        for found in {each.diagnosis for row in rows for each in row.failures if each.diagnosis is not None}:
            source = sources[result.case.name]
            wrong[result.case.name] = complaints(found.text, found.fix, source, published, is_known=not found.is_edit)
    assert not {name: each for name, each in wrong.items() if each}


@pytest.mark.some_of(6, "stages", "hidden")
@pytest.mark.parametrize("stage", [each.id for each in COURSE.stages])
def test_no_known_mistake_has_a_phrase_that_is_no_english(stage: str) -> None:
    said = {each.id: QUOTED.sub("", f"{each.text} {each.fix}") for each in load_mistakes(COURSE.find(stage))}
    found = {id: [each for each in FORBIDDEN if re.search(each, text, re.IGNORECASE)] for id, text in said.items()}
    assert not {id: each for id, each in found.items() if each}
