"""A stage with its known mistakes, and modules whose calls they may explain."""

from __future__ import annotations

import textwrap
from typing import Any

import pytest

from grader.course.answers import load_mistakes
from grader.diagnosis.answers import Answers
from tests.conftest import SmallCourse, Start
from tests.diagnosis.replay.replayed import MANIFEST, MISTAKES, SOLUTION, Module


@pytest.fixture(scope="module")
def answers(small_course: SmallCourse) -> Answers:
    small_course.write(manifest=MANIFEST, solution=SOLUTION, mistakes=MISTAKES)
    stage = small_course.stage
    return Answers(stage, (small_course.hidden / "solution.py").read_text(), load_mistakes(stage))


@pytest.fixture
def module(start: Start, answers: Answers) -> Any:
    def make(replacement: str = "") -> Module:
        source = textwrap.dedent(SOLUTION) + textwrap.dedent(replacement)
        answers.learner = source.encode()
        return Module(start(source, contract=answers.stage.contract), answers)

    return make
