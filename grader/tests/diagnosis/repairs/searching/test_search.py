"""What would put a learner's own line right names the slip, with its line, whichever way the module is written."""

from __future__ import annotations

import pytest

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import LEARNERS, told

CASES = {
    "a term that is missing": (
        'weighted + self.params["b"]',
        "weighted",
        "line",
        "Line.forward answers as if b were not added to ",
    ),
    "one key for another": (
        'self.grads["b"] = grad.sum(axis=0)',
        'self.grads["b"] = grad.sum(axis=1)',
        "line",
        "Line.backward answers as if it worked along the second axis instead of the first axis (line 17).",
    ),
    "a transpose that is missing": (
        'grad @ self.params["W"].T',
        'grad @ self.params["W"]',
        "line",
        "Line.backward answers as if W were not transposed",
    ),
    "a root that is missing": (
        "np.sqrt(square.mean())",
        "square.mean()",
        "spread",
        "spread answers as if the square root",
    ),
    "a mean that is not subtracted": (
        "centred = x - x.mean()",
        "centred = x",
        "spread",
        "spread answers as if the mean of x were not subtracted from x (line 22).",
    ),
    "a step too many": (
        "square = centred * centred",
        "square = centred * centred * 2",
        "spread",
        "spread answers as if (centred * centred) were multiplied by 2, where (centred * centred) alone belongs",
    ),
}


@pytest.mark.parametrize(("old", "new", "row", "text"), CASES.values(), ids=CASES)
def test_a_slip_in_code_unlike_the_reference_is_named_with_its_line(
    course: SmallCourse, old: str, new: str, row: str, text: str
) -> None:
    assert LEARNERS.count(old) == 1
    found = told(course.grade(LEARNERS.replace(old, new)).verdict)
    assert list(found) == [row]
    assert all(each.startswith(text) for each in found[row]), found


def test_two_slips_in_one_row_are_told_together(course: SmallCourse) -> None:
    source = LEARNERS.replace('weighted + self.params["b"]', "weighted").replace('"W"].T', '"W"]')
    found = " ".join(told(course.grade(source).verdict)["line"])
    assert "b were not added" in found and "W were not transposed" in found


def test_a_slip_is_named_in_a_class_whose_parameters_can_be_set(course: SmallCourse) -> None:
    properties = """
        @property
        def params(self):
            return self.own

        @params.setter
        def params(self, given):
            self.own = given

        def backward("""
    source = LEARNERS.replace("\n        def backward(", properties).replace('weighted + self.params["b"]', "weighted")
    found = told(course.grade(source).verdict)
    assert list(found) == ["line"] and all("as if b were not added to" in each for each in found["line"])


def test_a_right_module_is_told_nothing(course: SmallCourse) -> None:
    verdict = course.grade(LEARNERS).verdict
    assert verdict.passed, [(each.test, each.message) for row in verdict.criteria for each in row.failures]
