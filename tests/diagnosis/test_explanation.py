"""What fails while gradients are compared costs that comparison, and nothing that is known already."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from grader.diagnosis import explanation
from grader.outcome import Gradient

GRADIENT = Gradient("grad_x", "x", (2,), (2,), 0.5, (0,), "1.0", "2.0", "values")


def explained(is_stub: bool = False, wrong: bool = True) -> explanation.Explanation:
    answers: Any = SimpleNamespace(stage=None, reference=None, is_stub=is_stub, compares=bool, compared=bool)
    connection: Any = SimpleNamespace(records=[], names={})
    return explanation.explained(answers, connection, None, wrong, "row")


def test_a_wrong_answer_has_its_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explanation, "gradients", lambda *asked: (GRADIENT,))
    assert explained() == explanation.Explanation(gradients=(GRADIENT,))
    assert explained(wrong=False).gradients == () == explained(is_stub=True).gradients


def test_a_comparison_that_fails_is_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*asked: Any) -> tuple[Gradient, ...]:
        raise MemoryError("no room")

    monkeypatch.setattr(explanation, "gradients", failing)
    assert explained() == explanation.Explanation(failure="MemoryError: no room")
