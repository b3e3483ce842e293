"""The premises of the course's known mistakes hold in the reference with the mistake in it, helpers included."""

from __future__ import annotations

import pytest

from grader.course.answers import load_mistakes, reference_source
from grader.course.manifest import load_course
from grader.diagnosis.known_mistakes import KnownMistakes
from tests.support.places import ROOT

COURSE = load_course(ROOT)


@pytest.mark.some_of(5, "hidden", "grader/diagnosis/known_mistakes.py")
@pytest.mark.parametrize("stage", [each.id for each in COURSE.stages])
def test_a_mistake_is_named_where_it_is_made(stage: str) -> None:
    found = COURSE.find(stage)
    reference = reference_source(found)
    for each in load_mistakes(found):
        if each.premise:
            learners = f"{reference}\n\n\n{each.source}".encode()
            assert KnownMistakes(found, reference, [each], learners).mistakes, each.id
