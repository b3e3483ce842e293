"""A course of three rows about doubling, and what its tests and its solution become where a test changes them."""

from __future__ import annotations

from tests.conftest import SmallCourse

MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [limits]
    stage_seconds = 30
    call_seconds = 1
    memory_mb = 256

    [axes]
    double = { x = "batch features", returns = "batch features" }

    [[criteria]]
    id = "double"
    text = "double doubles"
    functions = ["double"]
    needs = []
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "quadruple"
    text = "quadruple doubles twice"
    functions = ["quadruple"]
    needs = ["double"]
    hints = ["a", "b", "c"]

    [[criteria]]
    id = "fill"
    text = "fill changes its argument"
    functions = ["fill"]
    needs = []
    hints = ["a", "b", "c"]
"""

SOLUTION = '''
    import numpy as np


    def double(x):
        """Twice x."""
        return 2 * x


    def quadruple(x):
        return double(double(x))


    def fill(out):
        out[...] = 1
'''

PUBLIC = """
    X = np.arange(6.0).reshape(2, 3)


    @pytest.mark.criterion("double")
    class TestDouble:
        def test_array(self, learner):
            assert_array(learner.double(X), [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]])

        def test_constant_is_as_it_was(self, learner):
            assert_array(X, [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
            assert_array(learner.double(X) * 1, [[0.0, 2.0, 4.0], [6.0, 8.0, 10.0]])

        @pytest.mark.parametrize("x", [np.ones(3)])
        def test_parameter(self, learner, x):
            assert_array(learner.double(x) + 1, [3.0, 3.0, 3.0])
"""

HIDDEN = """
    @pytest.mark.criterion("double")
    def test_random(learner, rng):
        x = rng.normal(size=(2, 3))
        assert_array(learner.double(x), x + x)


    @pytest.mark.criterion("quadruple")
    def test_quadruple(learner):
        assert_array(learner.quadruple(np.ones(2)), [4.0, 4.0])


    @pytest.mark.criterion("fill")
    @pytest.mark.changes_arguments
    def test_fill(learner):
        out = np.zeros(2)
        learner.fill(out)
        assert_array(out, [1.0, 1.0])
"""


def with_hidden(course: SmallCourse, text: str) -> SmallCourse:
    """Replace the hidden tests."""
    course.write(manifest=MANIFEST, solution=SOLUTION, public=PUBLIC, hidden=text)
    return course


def changed(old: str, new: str) -> str:
    assert old in SOLUTION
    return SOLUTION.replace(old, new)


REST = HIDDEN.replace('"double"', '"fill"').replace("test_random", "test_rest")


def joined(*texts: str) -> str:
    import textwrap

    return "\n\n".join(textwrap.dedent(text) for text in texts)
