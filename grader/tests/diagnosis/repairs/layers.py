"""A small stage of a layer and a function, a learner's module unlike its reference, and what a verdict tells."""

from __future__ import annotations

from grader.outcome import Diagnosis
from grader.verdict import Verdict

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small layers"
    module = "small.py"
    requires = []

    [members]
    Line = ["grads"]

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


def told(verdict: Verdict) -> dict[str, set[str]]:
    """Return by row what is told of its failures."""
    found: dict[str, list[Diagnosis]] = {
        row.id: [each.diagnosis for each in row.failures if each.diagnosis] for row in verdict.criteria
    }
    return {row: {each.text for each in diagnoses} for row, diagnoses in found.items() if diagnoses}
