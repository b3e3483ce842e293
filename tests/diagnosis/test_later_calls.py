"""A test that makes wrong calls one after the other: what mends the first may leave the last one wrong."""

from __future__ import annotations

import pytest

from tests.conftest import SmallCourse
from tests.support.small_course import manifest

MANIFEST = manifest({"forward": ["Layer", "Layer.forward"], "measure": ["measure"]}, measure=["forward"])
SOLUTION = """
    import numpy as np


    class Layer:
        def __init__(self, weights):
            self.weights = weights

        def forward(self, x):
            return x * self.weights


    def measure(layer, x):
        y = layer.forward(x)
        return np.sqrt(np.mean(y**2))
"""
PUBLIC = """
    @pytest.mark.criterion("forward")
    @pytest.mark.parametrize("size", [2, 3])
    def test_forward(learner, rng, size):
        x, weights = rng.standard_normal((4, size)), rng.standard_normal(size)
        assert_close(learner.Layer(weights).forward(x), x * weights)


    @pytest.mark.criterion("measure")
    @pytest.mark.parametrize("size", [2, 3])
    def test_measure(learner, rng, size):
        x, weights = rng.standard_normal((4, size)), rng.standard_normal(size)
        layer = learner.Layer(weights)
        layer.forward(x)
        assert_close(learner.measure(layer, x), np.sqrt(np.mean((x * weights) ** 2)))


    def assert_close(result, expected):
        assert np.abs(plain_array(result) - expected).max() < 1e-9
"""
KNOWN = """
    import numpy as np


    @mistake(criterion="forward", replaces="Layer.forward", text="The weights were added.", fix="Multiply by them.")
    def added(self, x):
        return x + self.weights


    @mistake(criterion="measure", replaces="measure", text="The root is missing.", fix="Take the root of the mean.")
    def without_a_root(layer, x):
        y = layer.forward(x)
        return np.mean(y**2)
"""
WRONG = SOLUTION.replace("x * self", "x + self")


def told(small_course: SmallCourse, learners: str, mistakes: str = "") -> dict[str, set[str]]:
    """Return the functions, or the ids of known mistakes, that each row's failures are told."""
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, mistakes=mistakes)
    rows = small_course.grade(learners, seed=1).verdict.criteria
    found = {row.id: [each.diagnosis for each in row.failures] for row in rows}
    return {
        row: {each.mistake if each.declared else each.function for each in own if each is not None}
        for row, own in found.items()
    }


def test_a_later_call_with_no_other_fault_has_the_cause_of_the_first(small_course: SmallCourse) -> None:
    assert told(small_course, WRONG) == {"forward": {"Layer.forward"}, "measure": {"Layer.forward"}}


def test_a_later_call_with_a_fault_of_its_own_is_told_that(small_course: SmallCourse) -> None:
    found = told(small_course, WRONG.replace("np.mean(", "np.sum("))
    assert found == {"forward": {"Layer.forward"}, "measure": {"measure"}}


def test_a_later_call_that_stays_wrong_is_not_told_the_cause_of_the_first(small_course: SmallCourse) -> None:
    found = told(small_course, WRONG.replace("np.sqrt(np.mean(y**2))", "np.median(np.cos(y)) ** 3 + y[0, 0]"))
    assert found == {"forward": {"Layer.forward"}, "measure": set()}


@pytest.mark.parametrize(("old", "id"), [("", "added"), ("np.sqrt(np.mean(y**2))", "without-a-root")])
def test_known_mistakes_are_told_beside_each_other(small_course: SmallCourse, old: str, id: str) -> None:
    learners = WRONG.replace(old, "np.mean(y**2)") if old else WRONG
    assert told(small_course, learners, KNOWN) == {"forward": {"added"}, "measure": {id}}


AVERAGES = """
    class Layer:
        def __init__(self, decay):
            self.decay, self.kept, self.count = decay, 0.0, 0

        def forward(self, x):
            self.count += 1
            self.kept = self.decay * self.kept + (1 - self.decay) * x
            return self.kept


    def measure(layer, x):
        return layer.forward(x)
"""
AVERAGED = """
    @pytest.mark.criterion("forward")
    def test_forward(learner, rng):
        layer, kept = learner.Layer(0.75), 0.0
        found = [layer.forward(x) for x in (2.0, 1.0, 4.0)]
        assert found == pytest.approx([0.5, 0.625, 1.46875])
"""
ALIKE_AT_FIRST = """
    @mistake(criterion="forward", replaces="Layer.forward", text="The new one has full weight.", fix="Weigh it.")
    def whole(self, x):
        self.count += 1
        self.kept = self.decay * self.kept + x
        return self.kept


    @mistake(criterion="forward", replaces="Layer.forward", text="The start was corrected.", fix="Leave it.")
    def corrected(self, x):
        self.count += 1
        self.kept = self.decay * self.kept + (1 - self.decay) * x
        return self.kept / (1 - self.decay**self.count)
"""


@pytest.mark.parametrize(
    ("id", "old", "new"),
    [
        ("whole", "(1 - self.decay) * x", "x"),
        ("corrected", "return self.kept\n\n\n", "return self.kept / (1 - self.decay**self.count)\n\n\n"),
    ],
)
def test_of_known_mistakes_that_explain_a_first_wrong_call_alike_the_last_call_decides(
    small_course: SmallCourse, id: str, old: str, new: str
) -> None:
    small_course.write(manifest=MANIFEST, solution=AVERAGES, public=AVERAGED, mistakes=ALIKE_AT_FIRST)
    assert old in AVERAGES
    rows = small_course.grade(AVERAGES.replace(old, new), seed=1).verdict.criteria
    told = {each.test.rpartition("::")[2]: each.diagnosis for each in rows[0].failures}
    assert told["test_forward"] is not None and told["test_forward"].mistake == id, told


def test_a_call_that_input_ended_is_told_no_edit(small_course: SmallCourse) -> None:
    asking = SOLUTION.replace("return np.sqrt", 'n = int(input("n? "))\n        return np.sqrt')
    assert told(small_course, asking) == {"forward": set(), "measure": set()}
