"""Two texts are alike where they call the same functions and loop alike."""

from __future__ import annotations

import time

from grader.diagnosis.slips.likeness import asks, likeness, manner_of, passes

LOOPS = '''
def total(x):
    """Sum (with np.sum)."""
    result = 0
    for value in x:
        result += value
    return result


class A:
    def forward(self, x):
        return np.exp(x) @ x
'''


def test_the_manner_of_a_function_is_what_stands_in_its_lines() -> None:
    assert manner_of(LOOPS, "total") == {"for", "+=", "return"}
    assert {"exp", "@"} <= manner_of(LOOPS, "A.forward") and "for" not in manner_of(LOOPS, "A.forward")


def test_a_function_that_is_not_there_has_none() -> None:
    assert manner_of(LOOPS, "missing") == manner_of(LOOPS, "A.missing") == frozenset()


def test_what_a_call_passes_is_read_in_the_lines_of_its_function_alone() -> None:
    text = 'def best(x):\n    """min(x, key=len)"""\n    return max(x)\n\ndef least(x):\n    return min(x, key=len)\n'
    assert passes(text, "least", "min", "key")
    assert not passes(text, "least", "min", "default")
    assert not passes(text, "best", "min", "key")


def test_a_condition_asks_for_names_in_one_line_of_its_function() -> None:
    text = "def f(x, least):\n    if x > least:\n        return 1\n    return other\n\ndef g(x):\n    return x\n"
    assert asks(text, "f", ["x", "least"]) and asks(text, "f", ["x"])
    assert not asks(text, "f", ["x", "other"]) and not asks(text, "g", ["x"]) and not asks(text, "f", [])


def test_likeness_is_the_share_of_what_both_have() -> None:
    assert likeness(frozenset("abc"), frozenset("bcd")) == 0.5
    assert likeness(frozenset("a"), frozenset("a")) == 1.0
    assert likeness(frozenset(), frozenset("a")) == 0.0


def test_a_long_name_takes_a_time_that_grows_as_it_does() -> None:
    def took(length: int) -> float:
        began = time.process_time()
        assert manner_of(f"def f(x):\n    {'n' * length} = x\n", "f") == frozenset()
        return time.process_time() - began

    assert took(20_000) < 40 * max(took(2_000), 1e-3)
