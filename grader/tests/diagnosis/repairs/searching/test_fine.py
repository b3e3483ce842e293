"""A function that is right in its own answers is looked at where what it keeps, or gives to another, goes wrong."""

from __future__ import annotations

import pytest

from grader.tests.conftest import SmallCourse
from grader.tests.diagnosis.repairs.layers import told

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Kept"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "forward"
    text = "forward"
    functions = ["Scale", "Scale.forward"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "backward"
    text = "backward"
    functions = ["Scale.backward"]
    needs = []
    hints = ["a", "b", "c"]
"""
SOLUTION = '''
    import numpy as np


    class Scale:
        """x times w."""

        def __init__(self, w):
            self.w = w

        def forward(self, x):
            """Return x times w."""
            self.x = np.tanh(x)
            return np.multiply(self.x, self.w)

        def backward(self, grad):
            """Return the gradient of w."""
            return np.einsum("i,i->", grad, self.x)
'''
LEARNERS = """
    import numpy as np


    class Scale:
        def __init__(self, w):
            self.w = w

        def forward(self, x):
            hidden = np.tanh(x)
            self.x = hidden
            return hidden * self.w

        def backward(self, grad):
            return (grad * self.x).sum()
"""
HIDDEN = """
    @pytest.mark.criterion("forward")
    @pytest.mark.parametrize("number", [3, 4])
    def test_forward(learner, rng, number):
        x = rng.standard_normal(number)
        assert_array(learner.Scale(2.0).forward(x), 2.0 * np.tanh(x))


    @pytest.mark.criterion("backward")
    @pytest.mark.parametrize("number", [3, 4, 5])
    def test_backward(learner, rng, number):
        x, grad = rng.standard_normal(number), rng.standard_normal(number)
        layer = learner.Scale(2.0)
        layer.forward(x)
        assert_array(layer.backward(grad), grad @ np.tanh(x))
"""


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("self.x = hidden", "self.x = x", "Scale.forward answers as if x were used where hidden belongs (line 11)."),
        ("(grad * self.x).sum()", "(grad / self.x).sum()", "Scale.backward answers as if"),
    ],
    ids=["what forward keeps", "what backward does"],
)
def test_what_a_right_function_keeps_is_looked_at(course: SmallCourse, old: str, new: str, text: str) -> None:
    course.write(manifest=MANIFEST, solution=SOLUTION, hidden=HIDDEN)
    assert LEARNERS.count(old) == 1
    found = told(course.grade(LEARNERS.replace(old, new)).verdict)
    assert list(found) == ["backward"] and all(each.startswith(text) for each in found["backward"]), found
