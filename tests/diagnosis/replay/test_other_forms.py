"""A right answer of another form contradicts no known mistake, unless the mistake would change that answer."""

from __future__ import annotations

from typing import Any

import pytest

from grader.course.answers import module_from
from grader.diagnosis.checks import Checks, evidence_of
from grader.diagnosis.known_mistakes import KnownMistakes
from grader.outcome import Outcome
from grader.sandbox.connection import Ended
from tests.diagnosis.replay.replayed import X

OTHER = """
class Layer:
    def __init__(self, b):
        self._b = b

    @property
    def b(self):
        return self._b + 0.5

    def forward(self, x):
        return x {sign} self._b

    def __add__(self, b):
        return Layer(self._b + b)
"""


@pytest.mark.parametrize(("read", "named"), [("b", True), ("forward", False)])
def test_an_object_is_compared_by_what_it_answers(module: Any, read: str, named: bool) -> None:
    found = module(OTHER.format(sign="-"))
    found.remote.Layer(2.0).forward(X)
    names, failing = found.learner.connection.names, list(found.learner.connection.records)
    again = module(OTHER.format(sign="+"))
    layer = again.remote.Layer(2.0)
    assert layer.b == 2.5
    if read == "forward":
        layer.forward(X)
    ended = Ended(Outcome("passed", "layer", False, "passed"), again.learner.connection.records, names)
    passed = evidence_of(ended)
    assert passed is not None
    answers = found.answers
    rights = [answers.reference, module_from(OTHER.format(sign="+"), "other")]
    failed = Ended(Outcome("failed", "layer", False, "failed"), failing, names)
    checks = Checks.of(answers.stage, [failed], [passed], rights, answers.learner)
    known = KnownMistakes(answers.stage, answers.reference_text, answers.mistakes, answers.learner)
    matches = known.matches(checks.failing, checks)
    assert ("layer-subtracts" in {each.mistakes[0].id for each in matches}) == named
