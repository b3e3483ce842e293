"""A wrong backward pass, graded: its gradients arrive in the verdict, and its feedback level is respected."""

from __future__ import annotations

from grader.report.document import verdict_document
from grader.report.feedback import shown
from tests.conftest import SmallCourse

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small"
    module = "small.py"
    requires = []

    [members]
    Layer = ["forward", "grads"]

    [axes]
    "Layer.backward" = { grad_output = "batch outputs" }

    [[criteria]]
    id = "layer"
    text = "Layer.backward gives gradients"
    functions = ["Layer", "Layer.backward"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = """
    class Layer:
        def __init__(self, W):
            self.W = W
            self.grads = {}

        def forward(self, x):
            self.x = x
            return x @ self.W

        def backward(self, grad_output):
            self.grads = {"W": self.x.T @ grad_output}
            return grad_output @ self.W.T
"""
TEST = """
    @pytest.mark.criterion("layer")
    def test_backward_{name}(learner, rng):
        x, W, grad = rng.normal(size=(7, 4)), rng.normal(size=(4, 3)), rng.normal(size=(7, 3))
        layer = learner.Layer(W)
        layer.forward(x)
        assert_array(layer.backward(grad), grad @ W.T, name="grad_x")
        assert_array(layer.grads["W"], x.T @ grad, name="grad_W")
"""


def test_a_wrong_backward_pass_is_told_gradient_by_gradient(small_course: SmallCourse) -> None:
    public, hidden = TEST.format(name="public"), TEST.format(name="hidden")
    small_course.write(manifest=MANIFEST, solution=SOLUTION, public=public, hidden=hidden)
    graded = small_course.grade(SOLUTION.replace("self.x.T @ grad_output", "self.x.T @ grad_output / len(self.x)"))
    failures = verdict_document(graded.verdict)["criteria"][0]["failures"]
    assert [failure["unexplained"] for failure in failures] == [None, None]
    for failure in failures:
        x, weights = failure["gradients"]
        assert (x["name"], x["of"], x["right"], x["shape"]) == ("grad_x", "x", True, [7, 4])
        assert (weights["name"], weights["of"], weights["right"]) == ("grads['W']", "W", False)
        assert weights["text"] == "got = 0.142857 × expected; 0.142857 is 1/batch"
        assert f"expected {weights['worst']['expected']}, got {weights['worst']['got']}" in failure["message"]
    for level in ("hint", "verdict"):
        rows = verdict_document(shown(graded.verdict, level, ("Layer",)))["criteria"]
        assert not any(failure["gradients"] for failure in rows[0]["failures"])
