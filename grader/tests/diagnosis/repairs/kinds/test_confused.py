"""What is easily taken for another is tried early, and told by the learner's own names."""

from __future__ import annotations

import ast

import pytest

from grader.diagnosis.repairs.kinds.confused import is_quick
from grader.diagnosis.repairs.kinds.missing import QUICK
from grader.tests.diagnosis.repairs.made import repairs, written

LAYER = """
class L:
    def __init__(self):
        self.weights = np.ones(3)
        self.params = {"weights": np.zeros(3), "bias": np.zeros(2)}

    def forward(self, x):
        return x * self.weights
"""
CASES = {
    "an array for what is left without its mean": (
        "def f(y):\n    y_mean = y.mean()\n    return (y - 2) * y_mean",
        "f(np.arange(3.0))",
        "y_mean = y.mean()\nreturn (y - y_mean - 2) * y_mean",
        "y_mean were not subtracted from y",
    ),
    "any for all": (
        "def f(a):\n    return any(each > 0 for each in a)",
        "f([1.0, 2.0])",
        "return all((each > 0 for each in a))",
        "`any` stood where `all` belongs",
    ),
    "either for both": (
        "def f(a, b):\n    return (a > 0) | (b > 0)",
        "f(np.ones(3), np.ones(3))",
        "return (a > 0) & (b > 0)",
        "`|` stood where `&` belongs",
    ),
    "both for either": (
        "def f(a, b):\n    return (a > 0) & (b > 0)",
        "f(np.ones(3), np.ones(3))",
        "return (a > 0) | (b > 0)",
        "`&` stood where `|` belongs",
    ),
    "or for and": (
        "def f(a, b):\n    return a > 0 or b > 0",
        "f(1, 2)",
        "return a > 0 and b > 0",
        "`or` stood where `and` belongs",
    ),
    "and for or": (
        "def f(a, b):\n    return a > 0 and b > 0",
        "f(1, 2)",
        "return a > 0 or b > 0",
        "`and` stood where `or` belongs",
    ),
    "the smallest for the largest": (
        "def f(a):\n    return np.argmin(a)",
        "f(np.ones(3))",
        "return np.argmax(a)",
        "the place of the minimum were taken instead of the place of the maximum",
    ),
    "the smallest for the largest, of plain numbers": (
        "def f(a, b):\n    return min(a, b)",
        "f(1, 2)",
        "return max(a, b)",
        "`min` stood where `max` belongs",
    ),
    "a name like another": (
        "def f(grad_query, grad_key):\n    return grad_query + 1",
        "f(np.ones(3), np.zeros(3))",
        "return grad_key + 1",
        "grad_query were used where grad_key belongs",
    ),
    "what an object kept from its start": (
        LAYER,
        "L().forward(np.ones(3))",
        "return x * self.params['weights']",
        "weights",
    ),
    "the first entry for the sum": (
        "def f(g):\n    return g[0]",
        "f(np.ones((2, 3)))",
        "return g.sum(axis=0)",
        "one entry of g were taken where the sum of g along the first axis belongs",
    ),
    "the first step for the last": (
        "def f(hs):\n    return hs[:, 0]",
        "f(np.ones((2, 3, 4)))",
        "return hs[:, -1]",
        "`hs[:, 0]` stood where `hs[:, -1]` belongs",
    ),
    "the last layer for the first": (
        "def f(widths):\n    return widths[-1]",
        "f([1, 2, 3])",
        "return widths[0]",
        "`widths[-1]` stood where `widths[0]` belongs",
    ),
    "one of two terms that are called alike": (
        "def f(g, x, eye):\n    return g(x + eye[0]) - g(x - eye[0])",
        "f(np.sum, np.ones(2), np.eye(2))",
        "return g(x + eye[0]) + g(x - eye[0])",
        "`g(x - eye[0])` were subtracted instead of added",
    ),
    "a slope without the one": (
        "def f(t):\n    return t**2",
        "f(0.5)",
        "return 1 - t ** 2",
        "1 were left out",
    ),
    "numbers in another arrangement": (
        "def f(grad):\n    flat = grad.reshape(-1, 2)\n    return grad.sum(axis=0)",
        "f(np.ones((2, 3, 2)))",
        "flat = grad.reshape(-1, 2)\nreturn flat.sum(axis=0)",
        "grad were used where flat belongs",
    ),
    "a length for an end": (
        "def f(a, start, n):\n    return a[start:n]",
        "f(np.arange(9.0), 1, 3)",
        "return a[start:start + n]",
        "a slice ended at n where it ends at start + n",
    ),
    "a condition the wrong way round": (
        "def f(x, most):\n    if x > most:\n        x = most\n    return x",
        "f(1.0, 2.0)",
        "if x <= most:\n    x = most\nreturn x",
        "`>` stood where `<=` belongs in the comparison of x",
    ),
    "what is kept of draws": (
        "def f(rng, p, n):\n    keep = rng.random(n) < p\n    return keep * 1.0",
        "f(np.random.default_rng(1), 0.3, 3)",
        "keep = rng.random(n) >= p\nreturn keep * 1.0",
        "`<` stood where `>=` belongs in the comparison of p",
    ),
    "an array that a function is given": (
        "def helper(x, g):\n    return x * g\n\n\ndef f(x, g):\n    total = x + 1\n    hidden = total * 2\n"
        "    return helper(hidden, g)",
        "f(np.ones((2, 3)), np.ones(3))",
        "total = x + 1\nhidden = total * 2\nreturn helper(total, g)",
        "hidden were used where total belongs",
    ),
    "a side of a product": (
        "def f(A, mean, scale):\n    solution = mean * scale\n    weights = solution / 3\n    return A @ solution",
        "f(np.ones((2, 3)), np.ones(3), 2.0)",
        "solution = mean * scale\nweights = solution / 3\nreturn A @ weights",
        "solution were used where weights belongs",
    ),
}


@pytest.mark.parametrize(("text", "call", "body", "said"), CASES.values(), ids=CASES)
def test_it_is_tried_and_told(text: str, call: str, body: str, said: str) -> None:
    found = repairs(text, call)
    assert body in found, sorted(found)
    assert any(said in each for each in found[body]), found[body]


def test_it_is_tried_at_its_level_alone() -> None:
    source = written("def f(a, b):\n    return (a > 0) | (b > 0)", "f(np.ones(3), np.ones(3))")
    joined = "(a > 0) & (b > 0)"
    levels = {
        level: [ast.unparse(each.new) for each in source.schema("f", level, 1, frozenset())[1]]  # type: ignore[arg-type]
        for level in (QUICK, 0, 1, 2)
    }
    assert [level for level, texts in levels.items() if joined in texts] == [QUICK]


def test_an_end_that_is_counted_from_the_start_or_from_the_back_is_no_length() -> None:
    for part in ("a[start:start + n]", "a[start:-n]", "a[:n]", "a[1:n]"):
        found = repairs(f"def f(a, start, n):\n    return {part}", "f(np.arange(9.0), 1, 3)")
        assert not any("ends at" in each for said in found.values() for each in said)


def test_of_two_entries_the_other_is_told_by_its_number() -> None:
    found = repairs("def f(x):\n    return x[0]", "f(np.ones(2))")
    assert found["return x[1]"] == ["index 0 of x were used where index 1 belongs"]
    assert not any("`x[0]`" in each for said in found.values() for each in said)


def test_a_name_of_one_letter_is_taken_for_one_of_its_kind() -> None:
    """A step h is no index i, however short both names are."""
    values = {"h": 0.5, "i": 1, "j": 2}
    one, other, step = (ast.Name(name, ast.Load()) for name in "ijh")
    assert is_quick(one, other, ast.Return(one), values)
    assert not is_quick(one, step, ast.Return(one), values)


def test_the_entry_of_another_shape_is_no_candidate() -> None:
    found = repairs(LAYER.replace("np.zeros(3)", "np.zeros(4)"), "L().forward(np.ones(3))")
    assert "return x * self.params['weights']" not in found


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [("a & b", "a | b", False), ("count", "total", False), ("grad_Q", "grad_K", True), ("a and b", "a or b", True)],
)
def test_what_is_easily_confused_shares_its_operands_or_a_part_of_its_name(old: str, new: str, expected: bool) -> None:
    one, other = (ast.parse(each, mode="eval").body for each in (old, new))
    assert is_quick(one, other, ast.Return(one), {}) is expected
