"""The gate: an edit that puts calls right and is not their cause is not told."""

from __future__ import annotations

import textwrap

import numpy as np

from tests.diagnosis.engine import Call, causes

X = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])


def told(
    right: str, wrong: str, failing: list[list[Call]], passing: list[list[Call]] | None = None,
    stub: str = "",
) -> list[tuple[str, int]]:  # fmt: skip
    """Return the ids and lines of the causes of a function f."""
    texts = ["import numpy as np\n\n\n" + textwrap.dedent(each).strip() + "\n" for each in (right, wrong)]
    found = causes(texts[0], texts[1], failing, passing or [], stub=stub)
    return [(each.id, each.line) for each in found]


def test_a_number_that_nobody_states_is_not_brought_in() -> None:
    right, wrong = "def f(x):\n    return x * 7.25", "def f(x):\n    return x * 3"
    calls: list[Call] = [("f", (X,)), ("f", (2 * X + 1,))]
    assert told(right, wrong, [calls]) == []
    assert told(right, wrong, [calls], stub='def f(x, scale=7.25):\n    """Return x by scale."""') != []


def test_a_name_that_nobody_states_is_not_brought_in() -> None:
    right, wrong = "def f(x, y):\n    return np.hypot(x, y)", "def f(x, y):\n    return np.add(x, y)"
    calls: list[Call] = [("f", (X, X[:1])), ("f", (2 * X + 1, X))]
    assert told(right, wrong, [calls]) == []
    assert told(right, wrong, [calls], stub='def f(x, y):\n    """As np.hypot does."""') != []


def test_a_term_that_an_edit_kills_is_no_cause() -> None:
    right = "def f(loss):\n    return loss.mean() * 1.0"
    wrong = "def f(loss):\n    return loss.mean() / np.log(2)"
    calls: list[Call] = [("f", (X,)), ("f", (2 * X + 1,))]
    assert told(right, wrong, [calls]) == [("term-superfluous", 5)]
    nested = "def f(loss):\n    scale = np.log(2)\n    return loss.mean() / scale"  # as log2, it does nothing
    assert all(id != "function-confused" for id, _ in told(right, nested, [calls]))


def test_an_operation_that_takes_back_the_one_before_it_is_no_cause() -> None:
    right, wrong = "def f(x, p):\n    return x.sum() * 1.5", "def f(x, p):\n    return (x.sum() - p + 1) * 1.5"
    calls: list[Call] = [("f", (X, 3)), ("f", (2 * X, 5)), ("f", (X + 0.5, 7))]
    assert [id for id, _ in told(right, wrong, [calls])] != ["number-for-name"]  # p for 1 would leave nothing of both


SCALED = """
    def f(x, known):
        scale = 1.5
        if x in known:
            scale = 2.5
        return scale * len(known)
"""


def test_an_edit_makes_no_branch_constant() -> None:
    wrong = SCALED.replace("x in known", "x == known[0]")
    failing: list[Call] = [("f", ("a", ["a", "b"])), ("f", ("b", ["a", "b", "c"])), ("f", ("d", ["d"]))]
    assert told(SCALED, wrong, [failing]) == []


def test_whether_a_bound_belongs_to_a_range_makes_no_branch_constant() -> None:
    right = """
    def f(x, low, high):
        if low <= x <= high:
            return x * 2.0
        return x - 1.0
    """
    failing: list[Call] = [("f", (3.5, 1.0, 3.5)), ("f", (2.5, 1.0, 2.5)), ("f", (2.0, 0.5, 2.0))]
    found = told(right, right.replace("x <= high", "x < high"), [failing], [[("f", (2.5, 1.0, 3.5))]])
    assert found == [("comparison-wrong", 5)]


def test_an_edit_makes_no_mask_all_true() -> None:
    right = "def f(table, y):\n    return np.linalg.lstsq(table, y, rcond=None)[0]"
    wrong = """
    def f(table, y):
        scale = np.sqrt((table * table).mean(axis=0))
        scale[scale == 0] = 1
        return np.linalg.lstsq(table / scale, y, rcond=None)[0] * scale
    """  # which is right where all scales are 1
    failing: list[Call] = [("f", (X.T + place, X[:, :1].sum() + X[0] * place)) for place in (1, 2, 3)]
    assert told(right, wrong, [failing]) == [("operator-confused", 7)]


def test_a_name_without_a_value_is_explained_at_its_line() -> None:
    right = """
    def f(values, date):
        total = 0.5
        if len(values) > 3:
            total += date * values[0]
        return total
    """
    wrong = right.replace("date * ", "today * ").replace("> 3", "> 1")
    calls: list[Call] = [("f", ([1.5, 2.0], 3.5)), ("f", ([2.5, 4.0], 2.5)), ("f", ([0.5, 3.0, 1.0], 1.5))]
    found = told(right, wrong, [calls])
    assert all(line != 6 for _, line in found)


def test_the_line_that_raised_still_runs() -> None:
    right = """
    def f(table, key):
        found = 0.25
        if key in table:
            found = table[key] * 2.5
        return found
    """
    wrong = right.replace("table[key]", "table[key + key]")
    calls: list[Call] = [("f", ({"a": 1.5}, "a")), ("f", ({"a": 1.5, "b": 2.5}, "b"))]
    found = told(right, wrong, [calls], [[("f", ({"a": 1.5}, "c"))]])
    assert found and all(line == 7 for _, line in found)


def test_an_edit_after_which_all_answers_are_one_is_no_cause() -> None:
    right = "def f(values):\n    return [0.5 * len(values[:3]), 2.25, 0.125, 1.5]"
    wrong = "def f(values):\n    return [0.5 * sum(values), 2.25, 0.125, 1.5]"
    failing: list[Call] = [("f", ([1, 2, 4],)), ("f", ([2, 2, 2],)), ("f", ([5, 1, 2],))]
    assert told(right, wrong, [failing], [[("f", ([1, 1, 1],))]]) == []
    failing.append(("f", ([3, 4],)))
    assert told(right, wrong, [failing], [[("f", ([1, 1, 1],))]]) != []


def test_an_edit_in_whose_line_another_call_stays_wrong_is_no_cause() -> None:
    right = "def f(x, p):\n    return x.sum() * 2.5 if p > 0 else x.sum() * 3.75"
    wrong = "def f(x, p):\n    return x.sum() / 2.5"
    failing: list[Call] = [("f", (factor * X, 1)) for factor in (1, 2, 3, 5)]
    assert told(right, wrong, [failing]) == [("operator-confused", 5)]
    assert told(right, wrong, [failing, [("f", (X, -1))]]) == []


def test_a_call_that_goes_wrong_in_another_line_is_another_fault() -> None:
    right = """
    def f(x, kind):
        if kind == "sum":
            return x.sum() * 1.5
        return x.mean() * x.max() + 0.25
    """
    wrong = right.replace("* 1.5", "/ 1.5").replace("x.mean() *", "np.partition(x.ravel(), 1)[1] ** 1.25 /")
    failing: list[Call] = [("f", (factor * X, "sum")) for factor in (1, 2, 3)]
    found = told(right, wrong, [failing, [("f", (X, "mean"))]])
    assert ("operator-confused", 6) in found


def test_the_first_of_two_edits_brings_in_nothing_that_nobody_states() -> None:
    right = """
    def f(x, y):
        scale = x.max() * 7.25
        total = (x + y).sum()
        return total, scale
    """
    wrong = right.replace("7.25", "3").replace("x + y", "x - y")
    calls: list[Call] = [("f", (X, X[:1])), ("f", (2 * X + 1, X)), ("f", (X + 0.5, 3 * X))]
    assert told(right, wrong, [calls]) == []


def test_an_edit_takes_no_root_of_a_number_below_0() -> None:
    """A comparison with what is no number is false, and puts a branch right by accident."""
    right = """
    def f(x):
        large = np.array([each > 1 for each in x.tolist()])
        return np.where(large, x * 2.5, 0.75 - x)
    """
    wrong = right.replace("np.array([each > 1 for each in x.tolist()])", "np.linalg.norm(x[:, None], axis=1) > 1")
    failing: list[Call] = [("f", (np.array([-4.5, 1.25, size]),)) for size in (2.25, -8.5, 0.5)]
    found = told(right, wrong, [[each] for each in failing], [[("f", (np.array([2.5, 0.5]),))]])
    assert "power-wrong" not in [id for id, _ in found]


DRAWN = """
    def even(x, rng):
        reach = np.sqrt(x.sum() / 3)
        return rng.uniform(-reach, reach, 4)


    def near(x, rng):
        return rng.normal(0, x.mean() / 5, 4)


    def f(x, kind, rng):
        if kind:
            weight = near(x, rng)
        else:
            weight = even(x, rng)
        return weight
"""


def test_a_function_that_answers_rightly_may_be_left_out_for_another() -> None:
    failing: list[Call] = [("f", (X + n, True, np.random.default_rng(n))) for n in (1, 2, 3)]
    passing: list[Call] = [(name, (X, np.random.default_rng(3))) for name in ("even", "near")]
    found = told(DRAWN, DRAWN.replace("weight = near", "weight = even"), [failing], [[each] for each in passing])
    assert found == [("function-confused", 15)]
