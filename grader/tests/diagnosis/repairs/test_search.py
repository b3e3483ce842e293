"""What would put a learner's own line right names the slip, with its line, whichever way the module is written."""

from __future__ import annotations

import pytest

from grader.outcome import Diagnosis
from grader.tests.conftest import SmallCourse
from grader.verdict import Verdict

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small layers"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "line"
    text = "Line maps and has gradients"
    functions = ["Line", "Line.forward", "Line.backward"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "spread"
    text = "spread"
    functions = ["spread"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    import numpy as np


    class Line:
        """x W + b."""

        def __init__(self, W, b):
            self.params = {"W": W, "b": b}
            self.grads = {}

        def forward(self, x):
            """Return x W + b."""
            self.x = x
            return sum((self.x @ self.params["W"], self.params["b"]))

        def backward(self, grad):
            """Return the gradient of x."""
            for name, value in (("W", self.x.T @ grad), ("b", grad.sum(axis=0))):
                self.grads[name] = value
            return grad @ self.params["W"].T


    def spread(x):
        """Return the root of the mean square around the mean."""
        return np.std(x)
'''
LEARNERS = """
    import numpy as np


    class Line:
        def __init__(self, W, b):
            self.params = {"W": W, "b": b}
            self.grads = {}

        def forward(self, x):
            self.x = x
            weighted = x @ self.params["W"]
            return weighted + self.params["b"]

        def backward(self, grad):
            self.grads["W"] = self.x.T @ grad
            self.grads["b"] = grad.sum(axis=0)
            return grad @ self.params["W"].T


    def spread(x):
        centred = x - x.mean()
        square = centred * centred
        return np.sqrt(square.mean())
"""
PUBLIC = """
    @pytest.mark.criterion("line")
    @pytest.mark.parametrize("rows", [2, 3])
    def test_forward(learner, rows):
        x, W = np.arange(rows * 2.0).reshape(rows, 2), np.array([[1.0, 2.0], [3.0, 5.0]])
        assert_array(learner.Line(W, np.array([1.0, -1.0])).forward(x), x @ W + np.array([1.0, -1.0]))


    @pytest.mark.criterion("line")
    @pytest.mark.parametrize("rows", [2, 3])
    def test_backward(learner, rng, rows):
        x, W, grad = rng.standard_normal((rows, 2)), rng.standard_normal((2, 2)), rng.standard_normal((rows, 2))
        line = learner.Line(W, np.zeros(2))
        line.forward(x)
        assert_array(line.backward(grad), grad @ W.T)
        grads = line.grads
        assert_array(grads["W"], x.T @ grad)
        assert_array(grads["b"], grad.sum(axis=0))
"""
HIDDEN = """
    @pytest.mark.criterion("line")
    def test_forward_of_any_numbers(learner, rng):
        x, W, b = rng.standard_normal((4, 2)), rng.standard_normal((2, 2)), rng.standard_normal(2)
        assert_array(learner.Line(W, b).forward(x), x @ W + b)


    @pytest.mark.criterion("spread")
    @pytest.mark.parametrize("number", [3, 4, 7])
    def test_spread(learner, rng, number):
        x = rng.standard_normal(number)
        assert_array(learner.spread(x), np.std(x))
"""


@pytest.fixture
def course(small_course: SmallCourse, monkeypatch: pytest.MonkeyPatch) -> SmallCourse:
    monkeypatch.setattr("grader.judging.session.BENCH_SECONDS", 100)  # no test of these needs a quiet machine
    monkeypatch.setattr("grader.diagnosis.repairs.bench.CALL_SECONDS", 5)
    monkeypatch.setattr("grader.diagnosis.repairs.search.SECONDS", 10)
    monkeypatch.setattr("grader.diagnosis.evidence.SEARCH_SECONDS", 0)
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=HIDDEN, mistakes="")
    return small_course


def told(verdict: Verdict) -> dict[str, set[str]]:
    """Return by row what is told of its failures."""
    found: dict[str, list[Diagnosis]] = {
        row.id: [each.diagnosis for each in row.failures if each.diagnosis] for row in verdict.criteria
    }
    return {row: {each.text for each in diagnoses} for row, diagnoses in found.items() if diagnoses}


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
        "Line.backward answers as if W were not transposed in a matrix product (line 18).",
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


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("import numpy as np", f"import numpy as np  # {'long ' * 20_000}"),
        ("centred = x -", f"unused = [{'x, ' * 1500}]; centred = x -"),
    ],
    ids=["a long module", "a long function"],
)
def test_what_is_out_of_all_proportion_is_not_tried_or_told(course: SmallCourse, old: str, new: str) -> None:
    source = LEARNERS.replace("centred * centred", "centred * centred * 2").replace(old, new)
    verdict = course.grade(source).verdict
    assert [row.status for row in verdict.criteria] == ["passed", "failed"]
    assert not told(verdict)


def test_a_name_that_is_out_of_all_proportion_is_not_told(course: SmallCourse) -> None:
    source = LEARNERS.replace("centred * centred", "centred * centred * x").replace("centred", "c" * 2000)
    assert all(len(text) <= 1000 for text in told(course.grade(source).verdict).get("spread", ()))


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


def test_a_module_that_tells_lies_about_its_values_costs_the_explanation_alone(course: SmallCourse) -> None:
    lies = """
    import marshal

    marshal.loads = lambda code: LIE
    LIE = "import numpy as np\\n_slips = []\\nclass Line: pass\\ndef spread(x): return 1.0\\n_slips_noted = %s"
"""
    for noted in (
        "[{'1': ['array', 0, 'V2000000000', [1]]}, {'spread': {'x': ['array', 1, '<f8', [2**40] * 19]}}]",
        "{}",
        "[{'1': 7}, {'spread': 7}]",
    ):
        source = LEARNERS.replace("np.sqrt(square.mean())", "square.mean()") + lies.replace("%s", noted)
        verdict = course.grade(source).verdict
        assert [row.status for row in verdict.criteria] == ["passed", "failed"]
        assert not told(verdict)


def test_a_change_that_ends_the_process_costs_that_change(course: SmallCourse) -> None:
    ends = "if (centred == np.exp(x)).all():\n            __import__('os')._exit(3)\n        square ="
    found = told(
        course.grade(LEARNERS.replace("centred = x - x.mean()", "centred = x").replace("square =", ends)).verdict
    )
    assert found == {"spread": {"spread answers as if the mean of x were not subtracted from x (line 22)."}}


def test_a_change_that_hangs_is_given_up(course: SmallCourse) -> None:
    hanging = """
    def spread(x):
        left, total = len(x), 0.0
        while left > 0:
            left = left - 1
            total = total + (x[left] - x.mean()) ** 2
        return total / len(x)
"""
    verdict = course.grade(LEARNERS[: LEARNERS.index("    def spread")] + hanging).verdict
    assert [row.status for row in verdict.criteria] == ["passed", "failed"]
