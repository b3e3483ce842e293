"""Lints of tests: values that are not yet known to be plain, and inputs that are drawn anew."""

from __future__ import annotations

import ast
import textwrap

import pytest

from grader.authoring.learner_values import fresh_tests, unplain_uses, uses
from grader.course.manifest import load_course
from grader.course.stage import Contract, Stage
from tests.conftest import SmallCourse
from tests.support.good_stage import HIDDEN, write_stage
from tests.support.places import ROOT

CONTRACT = Contract(
    {"Layer": frozenset({"forward", "params", "loss"}), "Dual": frozenset({"value", "__add__", "__mul__"})},
    {"params": "dict of arrays", "gelu": "array"},
)


def found(body: str) -> list[tuple[str, str]]:
    source = f"def test_it(learner, x, f):\n{textwrap.indent(textwrap.dedent(body), '    ')}"
    return [(use.value, use.by) for use in uses(ast.parse(source), CONTRACT)]


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("assert_array(learner.f(x) / 2, x)", [("learner.f(x)", "an operator")]),
        ("y = learner.f(x)\ny -= 1", [("y", "an operator")]),
        ("y = learner.f(x)\nassert_array(-y, x)", [("y", "an operator")]),
        ("y, cache = learner.f(x)\nassert y[0] < 1", [("y[0]", "a comparison")]),
        ("assert_array(np.std(learner.f(x)), 1)", [("learner.f(x)", "np.std")]),
        ("assert_array(float(learner.Layer(2).loss), 1)", [("learner.Layer(2).loss", "float")]),
        ("assert_array(learner.f(x).mean(), 1)", [("learner.f(x)", ".mean")]),
        ("numerical_gradient(lambda z: np.sum(learner.f(z) * x), x)", [("learner.f(z)", "an operator")]),
        ("for each in learner.f(x):\n    total = each + 1", [("each", "an operator")]),
        (
            "a, b = (learner.f(x) for _ in range(2))\nassert a != b",
            [("a", "a comparison"), ("b", "a comparison")],
        ),
        ("if learner.f(x):\n    pass", [("learner.f(x)", "a condition")]),
        ("assert not learner.f(x)", [("learner.f(x)", "a condition")]),
        ("assert x in learner.f(x)", [("learner.f(x)", "in")]),
        ("assert_equal(learner.Layer(2).secret, 1)", [("learner.Layer(2)", ".secret")]),
        ("assert_array(getattr(learner.Layer(2), x) + 1, x)", [("getattr(learner.Layer(2), x)", "an operator")]),
        ("assert learner.Dual(1) < 2", [("learner.Dual(1)", "a comparison")]),
        ("y = learner.f(x)\nassert_shape(y, (2,))\ny = learner.f(x)\nz = y + 1", [("y", "an operator")]),
    ],
)  # fmt: skip
def test_a_use_is_found(body: str, expected: list[tuple[str, str]]) -> None:
    assert found(body) == expected


@pytest.mark.parametrize(
    "body",
    [
        "assert_array(learner.f(x), x)",
        "y = learner.f(x)\nassert_shape(y, (2,))\nassert_array(y + 1, x)",
        "y = plain_array(learner.f(x))\nassert_array(y.mean(), 1)",
        "assert_array(plain_array(learner.f(x)) * 2, x)",
        "assert isinstance(learner.f(x), np.ndarray) and learner.f(x) is not x\nz = learner.f(x) + 1",
        "p = learner.Layer(2).params\nassert_array(p['W'] + 1, x)\nassert sorted(p) == ['W']",
        "for name, value in learner.Layer(2).params.items():\n    total = value + 1",
        "assert_array(learner.gelu(x) / 2, x)",
        "y, cache = learner.f(x)\nassert cache is not None\nlearner.g(cache)",
        "d = learner.Dual(1) * 2 + learner.Dual(3)\nassert_array(d.value, 5)",
        "d = learner.sin(learner.Dual(1))\nassert_array((d + 1).value, 5)",
        "assert f(x) < 1 and np.std(x) > 0 and x.mean() + 1",
        "y = learner.f(x)\ny = x\nz = y + 1",
        "with pytest.raises(ValueError):\n    learner.f(x)",
    ],
)
def test_what_is_no_use_is_left_alone(body: str) -> None:
    assert found(body) == []


def test_a_helper_that_returns_a_learners_object() -> None:
    source = """
        def made(learner):
            return learner.Layer(2)

        def test_it(learner):
            assert made(learner).loss < 1
    """
    (use,) = uses(ast.parse(textwrap.dedent(source)), CONTRACT)
    assert (use.line, use.value, use.by) == (6, "made(learner).loss", "a comparison")
    assert "plain_array()" in use.fix and "before the test has seen that it is a plain value" in use.message


@pytest.mark.some_of(22, "grader/authoring")
@pytest.mark.parametrize("stage", load_course(ROOT).stages, ids=lambda stage: stage.id)
def test_the_tests_of_this_course_have_none(stage: Stage) -> None:
    """`course verify` looks at each stage that has changed."""
    assert not list(unplain_uses(stage))


FIXTURES = """
@pytest.fixture
def numbers(rng):
    return rng.normal(size=3)

@pytest.fixture(scope="function")
def rows(numbers):
    return [numbers]

@pytest.fixture
def learner(learner):
    return learner

@pytest.fixture
def fixed():
    return [1.0]
"""


def fresh(course: SmallCourse, tests: str) -> frozenset[str]:
    write_stage(course.stage_folder.parent, course.hidden.parent, "s90_small", {"hidden/test_hidden.py": tests})
    return fresh_tests(course.stage)


def test_the_tests_of_a_good_stage_are(small_course: SmallCourse) -> None:
    names = {f"test_hidden.py::{name}" for name in ("test_total_of_any_rows", "test_half_of_any_rows")}
    assert fresh(small_course, HIDDEN) == names


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(learner, rng):\n    rng.random()\n",
        "def test_it(learner, *, rng):\n    helper(learner, rng)\n",
        "def test_it(learner, numbers):\n    pass\n",
        "def test_it(learner, fixed, rows):\n    pass\n",
    ],
    ids=["argument", "handed to a helper", "fixture", "fixture of a fixture"],
)
def test_one_that_draws_is(small_course: SmallCourse, test: str) -> None:
    assert fresh(small_course, FIXTURES + test) == {"test_hidden.py::test_it"}


@pytest.mark.parametrize(
    "test",
    [
        "def test_it(learner):\n    pass\n",
        "def test_it(learner, fixed):\n    pass\n",
        "def test_it(learner, rng):\n    learner.total([1.0])\n",
        "def draw(rng):\n    return rng.random()\n\ndef test_it(learner):\n    pass\n",
    ],
    ids=["no argument", "fixed fixture", "argument that is not used", "another function"],
)
def test_one_with_fixed_inputs_is_not(small_course: SmallCourse, test: str) -> None:
    assert fresh(small_course, FIXTURES + test) == frozenset()


def test_a_method_is_named_with_its_class(small_course: SmallCourse) -> None:
    tests = "class TestTotal:\n    def test_it(self, learner, rng):\n        rng.random()\n"
    assert fresh(small_course, tests) == {"test_hidden.py::TestTotal::test_it"}
