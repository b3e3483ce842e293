"""Known mistakes of which a module holds several: each is told, whatever else is wrong in the same calls."""

from __future__ import annotations

import textwrap

import numpy as np

from grader.course.answers import Mistake
from tests.diagnosis.engine import Call, causes

RIGHT = """
    import numpy as np


    def attend(x, keys=None, values=None, mask=None):
        keys = x if keys is None else keys
        values = keys if values is None else values
        scores = x @ keys.T
        if mask is not None:
            scores = scores + mask
        return np.tanh(scores / 50) @ values


    def inner(x):
        return np.maximum(x, 0)


    def outer(x, b):
        return inner(x) @ b + b.sum(axis=0)
"""
DEFAULT = "        values = keys if values is None else values\n"
SORTED = "        values = np.cumsum(np.sort(x), axis=0) ** 2 - x if values is None else values\n"
X = np.array([[1.0, 2.0, 0.5], [0.25, 3.0, 1.0]])
B = np.array([[0.5, -1.0], [2.0, 0.25], [1.5, 1.0]])


def replaced(old: str, new: str, text: str = RIGHT) -> str:
    assert text.count(old) == 1
    return text.replace(old, new)


def mistake(id: str, function: str, old: str, new: str) -> Mistake:
    """Return a known mistake that is a small change of a function."""
    changed = textwrap.dedent(replaced(old, new))
    source = next(each for each in changed.split("\n\n\n") if each.startswith(f"def {function}("))
    return Mistake(id, "row", function, f"{id} is wrong.", "Mend it.", source)


def told(learners: str, failing: list[Call], known: tuple[Mistake, ...]) -> set[tuple[str, str]]:
    found = causes(RIGHT, learners, [[each] for each in failing], mistakes=known)
    return {(each.id, each.function) for each in found}


def test_a_known_mistake_is_told_of_the_calls_that_an_edit_of_its_function_leaves() -> None:
    known = (
        mistake("size-of-mask", "attend", "scores + mask", "scores - np.abs(mask)"),
        mistake("sorted-values", "attend", DEFAULT, SORTED),
    )
    learners = replaced("scores + mask", "scores - mask", replaced(DEFAULT, SORTED))
    masked: list[Call] = [
        ("attend", (X + n, X, X + 1, M)) for n, M in enumerate((X[:, :2], X[:, 1:], X[::-1, :2], -X[:, :2]))
    ]
    crossed: list[Call] = [("attend", (X + n, X[::-1] * 0.5)) for n in range(2)]
    assert told(learners, [*masked, *crossed], known) == {
        ("operator-confused", "attend"),
        ("sorted-values", "attend"),
    }


def test_a_known_mistake_is_told_in_calls_that_another_one_makes_wrong_too() -> None:
    known = (
        mistake("absolute", "inner", "np.maximum(x, 0)", "np.abs(x)"),
        mistake("no-sum", "outer", " + b.sum(axis=0)", ""),
    )
    learners = replaced("np.maximum(x, 0)", "np.abs(x)", replaced(" + b.sum(axis=0)", ""))
    calls: list[Call] = [("inner", (X - n,)) for n in (1, 2, 3)]
    calls += [("outer", (X - n, B)) for n in (0, 1, 2, 3)]
    assert told(learners, calls, known) == {("absolute", "inner"), ("no-sum", "outer")}


def test_of_answers_that_are_nearly_right_a_mistake_says_which_digits() -> None:
    right = "import numpy as np\n\n\ndef inner(x):\n    return np.log1p(-x)\n"
    wrong = right.replace("np.log1p(-x)", "np.log(1 - x)")
    known = [
        Mistake("right-there", "row", "inner", "Large ones are wrong.", "Bound x.", "def inner(x):\n"
                "    return np.log1p(-x) if x.max() < 0.5 else x\n"),
        Mistake("digits", "row", "inner", "Digits are lost.", "Use it.", "def inner(x):\n    return np.log(1 - x)\n"),
    ]  # fmt: skip
    call: list[Call] = [("inner", (np.array([1e-17, 3e-18, 2e-19]),))]
    for order in (known, known[::-1]):
        assert [each.id for each in causes(right, wrong, [call], [], tuple(order))] == ["digits"]


def test_a_mistake_of_a_function_that_yields_is_told_where_nothing_ran_yet() -> None:
    right = "def inner(x):\n    for each in x:\n        yield 2 * each\n"
    wrong = "def inner(x):\n    return [2 * each for each in x]\n"
    known = Mistake("a-list", "row", "inner", "All came at once.", "Yield each.", wrong)
    found = causes(right, wrong, [[("inner", ([1.5, 2.5],))], [("inner", ([3.0],))]], [], (known,))
    assert [each.id for each in found] == ["a-list"]


def test_a_known_mistake_is_told_where_the_fault_of_a_helper_hides_it() -> None:
    known = (mistake("no-sum", "outer", " + b.sum(axis=0)", ""),)
    learners = replaced("np.maximum(x, 0)", "np.maximum(x, 0).T", replaced(" + b.sum(axis=0)", ""))
    calls: list[Call] = [("inner", (X - n,)) for n in (1, 2, 3)]
    calls += [("outer", (X - n, B)) for n in (0, 1, 2, 3)]
    assert told(learners, calls, known) == {("transpose-superfluous", "inner"), ("no-sum", "outer")}


def test_an_edit_is_looked_for_where_a_broken_function_is_only_called_by_another_way() -> None:
    right = """
        import numpy as np


        def inner(x):
            return np.maximum(x, 0)


        def other(x, b=None):
            if b is not None:
                return inner(x @ b)
            return np.tanh(x.sum(axis=0) / 3)
    """
    odd = "np.cumsum(np.sort(x), axis=0) ** 2 - x"
    known = (Mistake("odd", "row", "inner", "It is.", "Mend it.", f"def inner(x):\n    return {odd}\n"),)
    learners = right.replace("np.maximum(x, 0)", odd).replace("x.sum(axis=0)", "x.sum(axis=1)")
    calls: list[Call] = [("inner", (X - n,)) for n in (1, 2, 3)]
    calls += [("other", (X - n,)) for n in (0, 1, 2, 3)]
    found = causes(right, learners, [[each] for each in calls], mistakes=known)
    assert {(each.id, each.function) for each in found} == {("odd", "inner"), ("axis-wrong", "other")}


def test_a_known_mistake_stands_in_the_line_of_an_edit_that_puts_it_right_too() -> None:
    right = """
        import numpy as np


        def soft(K, smoothing):
            return smoothing / K


        def loss(p, smoothing):
            return -np.sum(np.log(p) * soft(p.size, smoothing))


        def gradient(p, smoothing):
            return p - soft(p.size, smoothing)
        """
    learners = textwrap.dedent(right.replace("smoothing / K", "smoothing / (K - 1)")).lstrip("\n")
    source = "def loss(p, smoothing):\n    return -np.sum(np.log(p) * smoothing / (p.size - 1))\n"
    known = (Mistake("one-less", "row", "loss", "It was divided by K - 1.", "Divide by K.", source),)
    calls: list[Call] = [(name, (p, 0.3)) for name in ("loss", "gradient") for p in (X[0] / 4, X[1] / 5)]
    found = causes(right, learners, [[each] for each in calls], mistakes=known)
    assert [(each.declared, each.function, each.line) for each in found] == [(True, "soft", 5)]
    assert {each.label for each in found[0].checks} == {"loss", "gradient"}
