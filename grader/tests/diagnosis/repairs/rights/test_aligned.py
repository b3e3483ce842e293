"""What a right module has in the place of a wrong value is written in the learner's own names, the nearest formula."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.rights.aligned import Alignment
from grader.diagnosis.repairs.words.told import told
from grader.diagnosis.slips.schema import Change
from grader.tests.diagnosis.repairs.made import written

CALL = "f(np.arange(6.0).reshape(2, 3) ** 2 + 1, np.array([0.5, 2.0, 3.0]))"
RIGHT = """
def f(x, w):
    centred = x - x.mean(axis=-1, keepdims=True)
    share = centred * w
    back = (share * centred).mean(axis=-1, keepdims=True)
    return share - centred * back
"""
LEARNERS = """
def f(x, w):
    z = x - x.mean(axis=-1, keepdims=True)
    g = z * w
    m = (g * z).mean(axis=-1, keepdims=True)
    return g - z * m
"""
CASES = {
    "a term that is a product": ("g - z * m", "g", "g - z * m", "were not subtracted from g"),
    "two slips in one formula": (
        "(g * z).mean(axis=-1, keepdims=True)",
        "g.sum(axis=-1, keepdims=True)",
        "(g * z).mean(axis=-1, keepdims=True)",
        "g were not multiplied by z",
    ),
    "one of two names": ("g - z * m", "g - g * m", "g - z * m", "g were used where z belongs"),
}


def instead(learners: str, right: str = RIGHT, call: str = CALL) -> dict[str, dict[str, str]]:
    """Return by a learner's expression what may have to stand there, each with what is said of it."""
    ours = written(learners, call)
    found = Alignment(ours, [written(right, call)]).of("f")
    said: dict[str, dict[str, str]] = {}
    for statement in ours.definitions["f"].body:
        for node in ast.walk(statement):
            for new in found.get(id(node), ()):
                change = Change(1, "f", node, new, statement, statement, "aligned")
                clause = told(change, ours.vocabulary("f"))
                text = ast.unparse(ast.fix_missing_locations(new))
                said.setdefault(ast.unparse(node), {})[text] = clause.said if clause else ""
    return said


@pytest.mark.parametrize(("right", "wrong", "new", "text"), CASES.values(), ids=CASES)
def test_what_is_wrong_is_written_with_what_is_at_hand(right: str, wrong: str, new: str, text: str) -> None:
    assert LEARNERS.count(right) == 1
    found = instead(LEARNERS.replace(right, wrong))
    assert any(text in said.get(new, "") for said in found.values()), found


def test_where_all_is_right_nothing_has_to_stand_elsewhere() -> None:
    assert instead(LEARNERS) == {}


def test_a_name_that_has_no_value_yet_is_not_used() -> None:
    late = "def f(x, w):\n    y = x + 1\n    z = x * w\n    return y, z"
    right = "def f(x, w):\n    a = x * w\n    return a + x, a"
    assert not any("z" in text for text in instead(late, right).get("x + 1", ()))


def test_what_is_a_wholly_different_formula_is_left_alone() -> None:
    right = "def f(x, w):\n    return np.linalg.norm(x * w, axis=-1) ** 2 / np.abs(x).sum(axis=-1) + np.ptp(w) * 7"
    assert not instead("def f(x, w):\n    return x[:, 0]", right)


def test_what_has_no_name_in_common_is_told_by_its_text() -> None:
    head = "def f(x, w):\n    order = np.argsort(-w)\n"
    found = instead(f"{head}    return x[:, :2]", f"{head}    return x[:, order[:2]]")
    assert "`:2` stood where `order[:2]` belongs" in found["x[:, :2]"].values()


def test_of_several_formulas_of_one_value_the_one_like_the_learners_is_among_them() -> None:
    right = "def f(x, w):\n    return x / max(int((x > 2).sum()), 1)"
    found = instead("def f(x, w):\n    n, rows = x > 2, len(x)\n    return x / max(rows, 1)", right)
    assert "`rows` stood where `int(n.sum())` belongs" in found["max(rows, 1)"].values()


def test_a_slice_with_other_bounds_has_another_shape() -> None:
    found = instead("def f(x, w):\n    return x[:, 1:2] * 2", "def f(x, w):\n    return x[:, 1:3] * 2")
    assert "x[:, 1:3]" in found["x[:, 1:2]"]


def test_of_two_places_one_may_be_enough() -> None:
    own = "def twice(x):\n    return (x * 4 + 0 * x) / 2\n\ndef double(x):\n    return x * 2\n\n"
    found = instead(f"{own}def f(x, w):\n    return double(x)", f"{own}def f(x, w):\n    return twice(x * w)")
    texts = list(found["double(x)"])
    assert texts.index("double(x * w)") < texts.index("twice(x * w)")


def test_a_function_that_a_learner_does_not_have_is_not_called() -> None:
    right = "def own(x):\n    return x * 3\n\ndef f(x, w):\n    return own(x) + w"
    texts = [text for found in instead("def f(x, w):\n    return x + w", right).values() for text in found]
    assert texts and not any("own" in text for text in texts)


def test_a_function_that_is_given_is_called_by_its_name() -> None:
    own = "def f(g, x, h):\n    return {}\n\n"
    call = "f(np.exp, 1.0, 0.5)"
    found = instead(own.format("(g(x) - g(x - h)) / h"), own.format("(g(x + h) - g(x)) / h"), call)
    assert "g(x + h) - g(x)" in found["g(x) - g(x - h)"]


def test_sizes_are_values_as_well() -> None:
    learners = "def f(x, w):\n    axes = x.shape[:1]\n    return np.zeros(axes)"
    found = instead(learners, "def f(x, w):\n    return np.zeros(x.shape[1:])")
    assert "x.shape[1:]" in found["x.shape[:1]"]
