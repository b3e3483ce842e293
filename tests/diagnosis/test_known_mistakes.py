"""The line of a known mistake: one that the learner's own run tells, or none."""

from __future__ import annotations

import textwrap
from dataclasses import replace

import numpy as np
import pytest

from grader.course.answers import Mistake
from tests.diagnosis.engine import Call, causes

RIGHT = """
    import numpy as np


    def share(high, low):
        below = np.searchsorted(np.sort(low), high)
        up_to = np.searchsorted(np.sort(low), high, side="right")
        return np.mean(below + up_to) / (2 * len(low))
"""
SHARES: list[Call] = [
    ("share", (np.array([0.5, 0.25, 2.0, 0.5]), np.array([0.5, 0.125, 2.5]))),
    ("share", (np.array([1.5, 0.75, 1.5, 1.0, 3.0]), np.array([1.5, 0.75, 0.25, 1.5]))),
    ("share", (np.array([1.0, 0.5, 4.0]), np.array([1.0, 1.0, 0.5, 0.75]))),
]
COUNTED = """
    import numpy as np


    def share(high, low):
        wins = 0.0
        for one in high:
            for other in low:
                if one > other:
                    wins += 1.0
        return wins / (len(high) * len(low))
"""
AT_ONCE = """
    import numpy as np


    def share(high, low):
        pairs = len(high) * len(low)
        won = np.mean(high[:, None] >= low)
        return float(won * pairs / pairs)
"""
BODY = RIGHT[RIGHT.index("        below") :]


def known(id: str, function: str, old: str, new: str, text: str = RIGHT) -> Mistake:
    """Return a known mistake that is a small change of a function of a right module."""
    assert text.count(old) == 1
    changed = textwrap.dedent(text.replace(old, new))
    source = next(each for each in changed.split("\n\n\n") if each.startswith(f"def {function}("))
    return Mistake(id, "row", function, f"{id} is wrong.", "Mend it.", source)


TIES = (
    known("ties-won", "share", BODY, "        return np.mean(high[:, None] >= low)\n"),
    known("ties-lost", "share", BODY, "        return np.mean(high[:, None] > low)\n"),
)


def told(
    right: str, learners: str, calls: list[Call], mistakes: tuple[Mistake, ...], passing: list[Call] | None = None
) -> set[tuple[str, str, int]]:
    found = causes(right, learners, [[each] for each in calls], [[each] for each in passing or ()], mistakes)
    return {(each.id, each.function, each.line) for each in found}


@pytest.mark.parametrize(("sign", "id"), [(">", "ties-lost"), (">=", "ties-won")])
def test_an_answer_that_is_the_mistakes_proves_no_line(sign: str, id: str) -> None:
    """The count is wrong before the line that divides it, and any whole number is one that right modules have."""
    assert told(RIGHT, COUNTED.replace("one >", f"one {sign}"), SHARES, TIES) == {(id, "share", 0)}


def test_a_value_that_is_the_mistakes_and_made_of_right_parts_proves_its_line() -> None:
    assert told(RIGHT, AT_ONCE, SHARES, TIES) == {("ties-won", "share", 6)}


SIGNED = """
    import numpy as np


    def signed(A, swaps):
        rows = np.sort(A, axis=1)
        product = np.prod(np.diagonal(rows)) / 4
        return (-1.0) ** swaps * product


    def solved(A):
        identity = np.eye(len(A), dtype=A.dtype)
        return identity + A
"""
FORGOTTEN = known("sign-forgotten", "signed", "(-1.0) ** swaps * product", "product", SIGNED)
MATRICES = [np.array([[0.5, 1.5], [2.5, 3.25]]) + n for n in range(3)]


def test_the_line_that_answers_wrongly_with_right_parts_is_told() -> None:
    """What it answers is a value of right modules: of another line."""
    learners = SIGNED.replace("        return (-1.0) ** swaps * product", "        return abs(product)")
    calls: list[Call] = [("signed", (A, 1)) for A in MATRICES]
    assert told(SIGNED, learners, calls, (FORGOTTEN,)) == {("sign-forgotten", "signed", 7)}


def test_of_a_dtype_the_line_is_told_that_is_written_as_the_mistake_and_not_the_one_that_answers() -> None:
    double = known("identity-in-float64", "solved", ", dtype=A.dtype", "", SIGNED)
    learners = SIGNED.replace("np.eye(len(A), dtype=A.dtype)", "np.zeros(A.shape) + np.eye(len(A))")
    calls: list[Call] = [("solved", (A.astype(np.float32),)) for A in MATRICES]
    assert told(SIGNED, learners, calls, (double,)) == {("identity-in-float64", "solved", 11)}


STEPS = """
    import numpy as np


    def steps(A, v):
        for _ in range(3):
            w = A @ v
            v = w / np.linalg.norm(w)
        return v
"""


def test_in_a_loop_the_line_is_that_which_is_wrong_first() -> None:
    """The line before it runs first, and is wrong from the second round on."""
    largest = known("by-the-largest", "steps", "w / np.linalg.norm(w)", "w / np.max(np.abs(w))", STEPS)
    learners = STEPS.replace("v = w / np.linalg.norm(w)", "v = w / max(abs(w))")
    calls: list[Call] = [("steps", (A, np.array([0.5, 0.25]))) for A in MATRICES]
    assert told(STEPS, learners, calls, (largest,)) == {("by-the-largest", "steps", 7)}


SHARED = """
    import numpy as np


    def shares(values, is_whole):
        result = values * 2
        if is_whole:
            result = result / np.sum(result)
        return result
"""


def test_a_line_that_does_not_run_in_each_wrong_call_is_none() -> None:
    source = "def shares(values, is_whole):\n    all = values * 2\n    return all if is_whole else all / np.sum(all)\n"
    other = Mistake("other-way", "row", "shares", "It is the other way round.", "Mend it.", source)
    calls: list[Call] = [("shares", (A, bool(number % 2))) for number, A in enumerate(MATRICES)]
    assert told(SHARED, SHARED.replace("if is", "if not is"), calls, (other,)) == {("other-way", "shares", 6)}


HELPED = """
    import numpy as np


    def a(x):
        return _shares(x) + 1


    def b(x):
        return 2 * _shares(x)


    def c(x):
        return a(x) * b(x)


    def _shares(x):
        return x / x.sum(axis=-1, keepdims=True)
"""
OF_ITS_OWN = """
    import numpy as np


    def a(x):
        return 1 + x / np.sum(x, axis=-1, keepdims=True)


    def b(x):
        parts = 2 * x
        return parts / x.sum()


    def c(x):
        return a(x) * b(x)
"""
SQUARES: list[Call] = [("b", (np.array([[1.0, 2.5], [4.0, 0.5]]),)), ("b", (np.array([[3.0, 1.25], [2.0, 7.5]]),))]


def test_what_a_mistake_changes_in_a_helper_is_asked_wherever_the_helper_runs() -> None:
    change = known("one-sum-for-all", "_shares", "axis=-1, keepdims=True", "", HELPED)
    of_a = replace(change, replaces="a")
    assert told(HELPED, OF_ITS_OWN, SQUARES, (of_a,)) == {("one-sum-for-all", "b", 10)}
    assert told(HELPED, OF_ITS_OWN, [*SQUARES, ("c", SQUARES[0][1])], (of_a,)) == {("one-sum-for-all", "b", 10)}


def test_the_functions_own_mistake_comes_before_one_of_a_helper() -> None:
    change = known("one-sum-for-all", "_shares", "axis=-1, keepdims=True", "", HELPED)
    own = replace(change, id="own", replaces="b", text="It is b's own.")
    assert told(HELPED, OF_ITS_OWN, SQUARES, (replace(change, replaces="a"), own)) == {("own", "b", 10)}


WEIGHED = """
    import numpy as np


    def mean(x, kept):
        return x.sum() if kept is None else _weighed(x, kept)


    def _weighed(x, kept):
        return (x * kept).sum() / kept.sum()
"""
SOMETIMES = """
    import numpy as np


    def mean(x, kept):
        if kept is None:
            return x.sum()
        part = (x * kept).sum()
        return part if kept.sum() > 2 else part / kept.sum()
"""


def test_right_calls_in_which_nothing_of_a_mistake_runs_keep_none_of_the_others_away() -> None:
    never = replace(known("not-divided", "_weighed", " / kept.sum()", "", WEIGHED), replaces="mean")
    x, kept = np.array([1.5, 2.25, 4.0]), np.array([1.0, 1.0, 1.0])
    failing: list[Call] = [("mean", (x, kept)), ("mean", (x**2, kept))]
    plain: list[Call] = [("mean", (np.array([0.5 + each]), None)) for each in range(12)]
    divided: Call = ("mean", (x, np.array([1.0, 0.0, 1.0])))
    assert ("not-divided", "mean", 8) in told(WEIGHED, SOMETIMES, failing, (never,), plain)
    assert not any(each[0] == "not-divided" for each in told(WEIGHED, SOMETIMES, failing, (never,), [*plain, divided]))


def test_a_whole_number_that_is_the_mistakes_by_chance_proves_no_line() -> None:
    right = """
        import numpy as np


        def pairs(ids, window):
            found = []
            for i in range(len(ids)):
                for j in range(max(0, i - window), min(len(ids), i + window + 1)):
                    if j != i:
                        found.append((ids[i], ids[j]))
            return found
    """
    learners = """
        import numpy as np


        def pairs(ids, window):
            found = []
            for here in range(len(ids)):
                first, last = max(0, here - window), min(len(ids), here + window + 1)
                for there in range(first, last):
                    if there != here:
                        found.append((here, there))
            return found
    """
    places = known("places", "pairs", "(ids[i], ids[j])", "(i, j)", right)
    calls: list[Call] = [("pairs", ([7, 8, 9, 6], 2)), ("pairs", ([5, 3, 5], 1))]
    assert all(line in (0, 11) for _, _, line in told(right, learners, calls, (places,)))


def test_a_helper_that_is_given_what_is_wrong_is_not_where_it_is_made() -> None:
    right = """
        import numpy as np


        def spread(values, size):
            return np.repeat(values, size) / size**2
    """
    learners = """
        import numpy as np


        def laid_out(parts, size):
            return np.repeat(parts, size)


        def spread(values, size):
            share = values / size
            return laid_out(share, size)
    """
    once = known("once", "spread", "size**2", "size", right)
    calls: list[Call] = [("spread", (np.array([1.5, 0.5, 4.25]), 3)), ("spread", (np.array([0.75, 2.5]), 2))]
    assert told(right, learners, calls, (once,)) == {("once", "spread", 9)}


def test_what_nothing_is_known_of_proves_no_line_that_reads_it() -> None:
    right = """
        import numpy as np


        def joined(words, order):
            data = b""
            for place in order:
                data += words[place]
            return data.decode("utf-8")
    """
    learners = """
        import numpy as np


        def joined(words, order):
            data = b""
            for place in order:
                data = words[place] + data
            return data.decode("utf-8")
    """
    turned = known("turned", "joined", "data += words[place]", "data = words[place] + data", right)
    calls: list[Call] = [("joined", ([b"ab", b"c", b"def"], [0, 1, 2])), ("joined", ([b"x", b"yz"], [1, 0]))]
    found = told(right, learners, calls, (turned,))
    assert found and all(line in (0, 7) for _, _, line in found)
