"""Where a test accepts several answers, causes are looked for beside right modules of the learner's own convention."""

from __future__ import annotations

import numpy as np
import pytest

from grader.course.answers import Mistake
from grader.diagnosis.checks import Checks
from grader.outcome import Outcome
from grader.sandbox.connection import Ended
from grader.sandbox.record import Record
from tests.diagnosis.engine import STAGE, Call, causes, module_of
from tests.diagnosis.test_causes import X

RIGHT = """
    import numpy as np


    def softmax(x):
        return x / (1 + np.abs(x))


    def both(x, w, b):
        return softmax(x @ w) + b
"""
BY_TANH = RIGHT.replace("x / (1 + np.abs(x))", "np.tanh(x)")
ARGUMENTS = (X, X.T, 0.5)
PASSING: list[list[Call]] = [[("softmax", (X,))], [("softmax", (X / 3,))]]
FAILING: list[list[Call]] = [[("both", ARGUMENTS)], [("both", (X / 2, X.T, 2.0))]]


def test_a_fault_beside_another_convention_is_found() -> None:
    (found,) = causes(RIGHT, BY_TANH.replace("+ b", "- b"), FAILING, PASSING, others=[BY_TANH])
    assert (found.function, found.line, found.id) == ("both", 9, "operator-confused")


def test_without_a_right_module_of_that_convention_there_is_none() -> None:
    assert causes(RIGHT, BY_TANH.replace("+ b", "- b"), FAILING, PASSING) == []


def test_a_convention_shows_in_more_inputs_than_the_smallest() -> None:
    passing: list[list[Call]] = [[("softmax", (0 * X[0],))], [("softmax", (X,))]]
    source = "def both(x, w, b):\n    return softmax(x @ w)\n"
    known = Mistake("no-bias", "row", "both", "The bias is missing.", "Add b.", source)
    (found,) = causes(RIGHT, BY_TANH.replace(" + b", ""), FAILING, passing, (known,), others=[BY_TANH])
    assert found.id == "no-bias"


@pytest.mark.parametrize("others", [[], [BY_TANH]])
def test_a_known_mistake_is_told_by_the_convention_of_what_it_calls(others: list[str]) -> None:
    source = "def both(x, w, b):\n    return softmax(x @ w)\n"
    known = Mistake("no-bias", "row", "both", "The bias is missing.", "Add b.", source)
    wrong = BY_TANH.replace(" + b", "")
    found = causes(RIGHT, wrong, FAILING, PASSING, (known,), others=others)
    assert [each.id for each in found] == ["no-bias"] * len(others)


def test_where_the_reference_answers_alike_no_other_convention_counts() -> None:
    (found,) = causes(RIGHT, RIGHT.replace("+ b", "- b"), FAILING, PASSING, others=[BY_TANH])
    assert (found.function, found.line) == ("both", 9)


def test_a_known_mistake_is_told_of_the_very_function_of_a_convention() -> None:
    source = "def softmax(x):\n    return np.tanh(x) if x.ndim == 2 else x\n"
    known = Mistake("tables-only", "row", "softmax", "Only tables are bounded.", "Bound each.", source)
    wrong = BY_TANH.replace("return np.tanh(x)", "return np.tanh(x) if x.ndim == 2 else x")
    failing: list[list[Call]] = [[("softmax", (X[0],))], [("softmax", (X[1],))]]
    found = causes(RIGHT, wrong, failing, PASSING, (known,), others=[BY_TANH])
    assert [each.id for each in found] == ["tables-only"]


SPREAD = """

    def spread(x):
        rest = x - x.mean(axis=0)
        return np.sqrt((rest**2).sum(axis=0))
"""


def test_values_of_every_right_module_count_where_it_answers_alike() -> None:
    by_tanh = BY_TANH + "\n\n    def spread(x):\n        return np.std(x, axis=0) * np.sqrt(len(x))\n"
    source = "def spread(x):\n    rest = x - x.mean(axis=0)\n    return np.abs(rest).sum(axis=0)\n"
    known = Mistake("sizes-added", "row", "spread", "The sizes were added.", "Square.", source)
    lines = SPREAD.replace(
        "return np.sqrt((rest**2).sum(axis=0))", "sizes = np.abs(rest)\n        return sizes.sum(axis=0)"
    )
    failing: list[list[Call]] = [[("spread", (X,))], [("spread", (X.T,))]]
    (found,) = causes(RIGHT + SPREAD, BY_TANH + lines, failing, PASSING, (known,), others=[by_tanh])
    assert (found.id, found.function, found.line) == ("sizes-added", "spread", 14)


def test_a_known_mistake_that_calls_the_references_own_form_is_told_beside_another_convention() -> None:
    source = "def both(x, w, b):\n    return softmax(x @ w)\n"
    known = Mistake("no-bias", "row", "both", "The bias is missing.", "Add b.", source)
    wrong = BY_TANH.replace("softmax(x @ w) + b", "x @ w / (1 + np.abs(x @ w))")
    found = causes(RIGHT, wrong, FAILING, PASSING, (known,), others=[BY_TANH])
    assert [each.id for each in found] == ["no-bias"]


def test_answers_of_which_each_is_right_in_another_right_module_are_wrong_together() -> None:
    rights = [module_of(f"first, second = {each}") for each in ("1.5, 2.5", "2.5, 1.5")]

    def failing(first: float, second: float) -> list[str]:
        read = [Record("getattr", 0, name, name, (), {}, True, ()) for name in ("first", "second")]
        for record, value in zip(read, (first, second), strict=True):
            record.result = record.returned = value
        test = Ended(Outcome("test", "row", False, "failed"), read, {})
        return [each.label for each in Checks.of(STAGE, [test], [], rights, b"").failing]

    assert failing(1.5, 1.5) == ["second"]
    assert failing(2.5, 1.5) == failing(1.5, 2.5) == []


CURVE = """
    import numpy as np


    def softmax(x):
        return x / (1 + np.abs(x))


    def both(x):
        return 1 / (1 + np.abs(x)) ** 2
"""
BY_FORM = {
    "softmax": ("x / (1 + np.abs(x))", "np.tanh(x)"),
    "both": ("1 / (1 + np.abs(x)) ** 2", "1 - np.tanh(x) ** 2"),
}
CURVE_BY_TANH = CURVE.replace(*BY_FORM["both"]).replace(*BY_FORM["softmax"])


@pytest.mark.parametrize("function", ["softmax", "both"])
def test_of_two_forms_in_one_module_the_known_one_is_told(function: str) -> None:
    """Each call is right by itself in some right module, and a test asks for both together."""
    own, other = BY_FORM[function]
    known = Mistake(
        "two-forms", "row", function, "Two forms.", "Take one.", f"def {function}(x):\n    return {other}\n"
    )
    beside = Mistake("sign", "row", function, "A sign.", "Turn it.", f"def {function}(x):\n    return -({own})\n")
    failing: list[list[Call]] = [[("softmax", (X,)), ("softmax", (X / 2,)), ("both", (X,))]]
    wrong = CURVE.replace(own, other)
    found = causes(CURVE, wrong, failing, PASSING, (beside, known), others=[CURVE_BY_TANH])
    assert [each.id for each in found] == ["two-forms"]


DRAWN = """
    import numpy as np


    def softmax(x, rng):
        return x[rng.permutation(len(x))]
"""
OTHERWISE_DRAWN = DRAWN.replace("rng.permutation(len(x))", "np.argsort(rng.random(len(x)))")


def test_to_draw_in_another_order_is_no_convention() -> None:
    """The wrong module passes a test by chance, as the other right one does."""
    pair, source = np.array([1.0, 2.0]), "def softmax(x, rng):\n    return x\n"
    rngs = [[np.random.default_rng(seed) for _ in range(2)] for seed in range(100)]
    is_by_chance = [one.permutation(2)[0] == 1 and other.random(2).argsort()[0] == 0 for one, other in rngs]
    passing: list[list[Call]] = [[("softmax", (pair, np.random.default_rng(is_by_chance.index(True))))]]
    failing: list[list[Call]] = [[("softmax", (np.arange(8.0) + each, np.random.default_rng(each)))] for each in (1, 2)]
    known = Mistake("not-shuffled", "row", "softmax", "Nothing is shuffled.", "Draw.", source)
    wrong = DRAWN.replace("x[rng.permutation(len(x))]", "x")
    found = causes(DRAWN, wrong, failing, passing, (known,), others=[OTHERWISE_DRAWN])
    assert [each.id for each in found] == ["not-shuffled"]


def test_a_share_that_is_counted_from_the_other_end_draws_alike() -> None:
    right = "\n\n\ndef softmax(x, keep, rng):\n    return x * (rng.random(x.shape) >= 1 - keep) / keep\n"
    source = "def softmax(x, keep, rng):\n    return x * (rng.random(x.shape) >= 1 - keep)\n"
    wrong = "\n\n\ndef softmax(x, keep, rng):\n    return 1.0 * np.where(rng.random(x.shape) < keep, x, 0)\n"
    known = Mistake("not-enlarged", "row", "softmax", "What is kept is not enlarged.", "Divide.", source)
    failing: list[list[Call]] = [[("softmax", (X + seed, 0.625, np.random.default_rng(seed)))] for seed in (1, 2, 3)]
    found = causes("import numpy as np" + right, "import numpy as np" + wrong, failing, [], (known,))
    assert [each.id for each in found] == ["not-enlarged"]


def test_a_right_call_in_another_form_speaks_against_no_known_mistake() -> None:
    source = "def both(x, w, b):\n    return softmax(x @ w) + abs(b)\n"
    known = Mistake("sign-lost", "row", "both", "The sign of b is lost.", "Add b.", source)
    wrong = BY_TANH.replace("+ b", "+ np.sqrt(b * b)")
    right = BY_TANH.replace("softmax(x @ w) + b", "b + softmax(x @ w)")
    failing: list[list[Call]] = [[("both", (0 * X, X.T, -0.5))], [("both", (0 * X, X.T, -2.0))]]
    found = causes(RIGHT, wrong, failing, [[("both", ARGUMENTS)]], (known,), others=[right])
    assert [each.id for each in found] == ["sign-lost"]
