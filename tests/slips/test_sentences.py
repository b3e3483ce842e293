"""No known mistake is told in a phrase that is no English; `test_golden.py` reads what is said of slips."""

from __future__ import annotations

import re

import pytest

from grader.course.answers import load_mistakes
from grader.course.manifest import load_course
from tests.diagnosis.reader import FORBIDDEN, QUOTED
from tests.support.places import ROOT

COURSE = load_course(ROOT)


@pytest.mark.some_of(6, "stages", "hidden")
@pytest.mark.parametrize("stage", [each.id for each in COURSE.stages])
def test_no_known_mistake_has_a_phrase_that_is_no_english(stage: str) -> None:
    said = {each.id: QUOTED.sub("", f"{each.text} {each.fix}") for each in load_mistakes(COURSE.find(stage))}
    found = {id: [each for each in FORBIDDEN if re.search(each, text, re.IGNORECASE)] for id, text in said.items()}
    assert not {id: each for id, each in found.items() if each}
