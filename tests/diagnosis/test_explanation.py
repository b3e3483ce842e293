"""What fails while gradients are compared costs that comparison, and nothing that is known already."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from grader.diagnosis import explanation
from grader.outcome import Gradient
from tests.conftest import SmallCourse
from tests.support.small_course import manifest

GRADIENT = Gradient("grad_x", "x", (2,), (2,), 0.5, (0,), "1.0", "2.0", "values")
RIGHT = Gradient("grad_w", "w", (2,), (2,), 0.0)


def explained(is_stub: bool = False, wrong: bool = True, others: Sequence[str] = ()) -> explanation.Explanation:
    rights = dict(enumerate(("the reference", *others)))
    answers: Any = SimpleNamespace(stage=None, reference="the reference", is_stub=is_stub, rights=rights)
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


@pytest.mark.parametrize(("agrees", "shown"), [(False, (GRADIENT, RIGHT)), (True, ())])
def test_gradients_stand_beside_the_right_module_that_answers_most_alike(
    monkeypatch: pytest.MonkeyPatch, agrees: bool, shown: tuple[Gradient, ...]
) -> None:
    tables = {"the reference": (GRADIENT, GRADIENT), "nearer": (GRADIENT, RIGHT), "without": ()}
    monkeypatch.setattr(explanation, "gradients", lambda stage, module, *asked: tables[module])
    monkeypatch.setattr(explanation, "Replay", lambda *asked: SimpleNamespace(agrees=lambda records: agrees))
    assert explained(others=["nearer", "without"]).gradients == shown


LAYERS = """
    class Layer:
        def backward(self, grad):
            self.grads = {"w": 2.0 * grad}
            return grad


    class Last:
        def backward(self, grad):
            return grad
"""
OF_LAYERS = manifest(
    {"row": ["Layer", "Layer.backward", "Last", "Last.backward"]},
    '[members]\nLayer = ["grads"]\n',
)
BACKWARDS = """
    @pytest.mark.criterion("row")
    def test_backward(learner, rng):
        layer, last, grad = learner.Layer(), learner.Last(), rng.standard_normal(3)
        layer.backward(grad)
        last.backward(grad)
        assert_array(layer.grads["w"], 2.0 * grad)
"""


def test_a_value_that_is_read_in_an_object_is_shown_with_the_last_call_of_that_object(
    small_course: SmallCourse,
) -> None:
    small_course.write(manifest=OF_LAYERS, solution=LAYERS, public=BACKWARDS)
    (row,) = small_course.grade(LAYERS.replace("2.0 * grad", "grad.sum() ** 2 + 0 * grad"), seed=1).verdict.criteria
    failure = row.failures[0]
    assert failure.call.startswith("Layer.backward(")
    assert failure.where is not None and failure.where.line in (3, 4)
