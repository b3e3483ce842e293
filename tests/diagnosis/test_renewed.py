"""What is missing in a loop, in what is returned, on a diagonal or in one case: found there, and not elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnosis.engine import Call, causes

X = np.array([[1.0, 2.0, 0.5], [3.0, 5.0, 1.0], [0.25, 1.0, 2.0]])
Y = np.array([0.5, 2.25, 1.75])
FIT: list[Call] = [("fit", (X, Y, 0.0625, 3)), ("fit", (X + 1, Y, 0.03125, 4))]
RENEWED = [
    (
        """
        def fit(x, y, rate, rounds):
            w = y * 0.0
            error = x @ w - y
            for _ in range(rounds):
                w = w - rate * (x.T @ error)
                error = x @ w - y
            return w
        """,
        "                error = x @ w - y\n            return",
        "            return",
        FIT,
        4,
    ),
    (
        """
        def fit(x, y, rate, rounds):
            w, losses = y * 0.0, []
            guess = x @ w
            while len(losses) < rounds:
                w = w + rate * (x.T @ (y - guess))
                guess = x @ w
                losses.append(((y - guess) ** 2).sum())
            return losses
        """,
        "                guess = x @ w\n                losses",
        "                losses",
        FIT,
        4,
    ),
]


@pytest.mark.parametrize(("right", "old", "new", "calls", "line"), RENEWED)
def test_what_is_never_set_again_in_a_loop(right: str, old: str, new: str, calls: list[Call], line: int) -> None:
    found = causes(right, right.replace(old, new), [[each] for each in calls])
    assert [cause.line for cause in found] == [line - 1]
    assert {cause.id for cause in found} <= {"value-not-renewed", "line-outside-loop"}


def test_a_loop_whose_step_has_another_sign_is_told_that() -> None:
    right, old, _, calls, _ = RENEWED[0]
    assert old in right
    (cause,) = causes(right, right.replace("w - rate", "w + rate"), [[each] for each in calls])
    assert cause.id != "value-not-renewed"


@pytest.mark.parametrize("kept", ["a, c", "a", "b, c"])
def test_a_part_that_is_computed_and_not_returned(kept: str) -> None:
    right = """
    def parts(x):
        a = x + 1.5
        b = x * 2.25
        c = x - 0.75
        return a, b, c
    """
    whole = {"a": "a, b", "a, c": "a, b, c", "b, c": "a, b, c"}[kept]
    right = right.replace("a, b, c", whole)
    (cause,) = causes(right, right.replace(f"return {whole}", f"return {kept}"), [[("parts", (X,))]] * 2)
    assert (cause.id, cause.line) == ("part-not-returned", 5)


@pytest.mark.parametrize("sign", ["+", "-"])
def test_a_number_belongs_on_the_diagonal(sign: str) -> None:
    right = f"""
    import numpy as np
    def table(x, alpha):
        return x.T @ x {sign} alpha * np.eye(len(x.T))
    """
    calls: list[Call] = [("table", (X, 0.5)), ("table", (X + 1, 0.25)), ("table", (X * 3, 1.5))]
    (cause,) = causes(right, right.replace(" * np.eye(len(x.T))", ""), [[each] for each in calls])
    assert (cause.id, cause.line) == ("identity-missing", 3)


def test_a_number_that_is_missing_everywhere_is_not_put_on_the_diagonal() -> None:
    right = """
    def table(x, alpha):
        return x.T @ x + 2 * alpha
    """
    calls: list[Call] = [("table", (X, 0.5)), ("table", (X + 1, 0.25)), ("table", (X * 3, 1.5))]
    found = causes(right, right.replace("2 * alpha", "alpha"), [[each] for each in calls])
    assert "identity-missing" not in {cause.id for cause in found}


@pytest.mark.parametrize("branch", ["alpha * np.exp(x)", "alpha * x", "x * alpha"])
def test_a_factor_that_is_missing_in_one_case(branch: str) -> None:
    right = f"""
    import numpy as np
    def curve(x, alpha):
        return np.where(x > 1, x, {branch})
    """
    bare = branch.replace("alpha * ", "").replace(" * alpha", "")
    calls: list[Call] = [("curve", (X, 0.5)), ("curve", (X - 1.25, 0.25)), ("curve", (-X, 1.5))]
    (cause,) = causes(right, right.replace(branch, bare), [[each] for each in calls])
    assert (cause.id.split("-")[0], cause.line) in {("term", 3), ("value", 3)}
    assert "factor" in cause.text


def test_a_condition_beside_the_line_that_it_decides() -> None:
    right = """
    def signed(x, turns):
        total = x.sum() + 0.25
        if turns % 2 == 1:
            total = -total
        return total
    """
    calls: list[Call] = [("signed", (X, 1)), ("signed", (X + 1, 2)), ("signed", (X, 3)), ("signed", (X * 2, 4))]
    (cause,) = causes(right, right.replace("== 1", "== 0"), [[each] for each in calls])
    assert cause.line == 3
