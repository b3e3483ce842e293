"""The loop that is named where a call does not return, from lines where the call was seen."""

from __future__ import annotations

import pytest

from grader.submission.source.loops import endless_loop

TEXT = """\
def search(x):
    while x > 0:
        for each in range(3):
            x = helper(x)
    return x


def helper(x):
    for each in range(9):
        x = x + 1
    return x


def drain(x):
    return sum(
        y for y in x
    )


def nested(n):
    def inner():
        return n
    for each in range(n):
        inner()
    return fib(n - 1)
"""


@pytest.mark.parametrize(
    ("seen", "expected"),
    [
        ([[3], [4], [4]], (2, "while x > 0")),  # the innermost while, since a for over a list ends
        ([[4, 9], [4], [3]], (2, "while x > 0")),  # helper had ended in between
        ([[4, 9], [4, 10]], (9, "for each in range(9)")),  # it is helper that does not return
        ([[4, 11], [4, 11]], (2, "while x > 0")),  # in no loop itself, called from one
        ([[16, 16]], (16, "y for y in x")),
        ([[23, 22]], (23, "for each in range(n)")),
        ([[25, 25, 25]], None),  # recursion has no loop
        ([[]], None),
        ([], None),
    ],
)
def test_the_loop_of_the_innermost_call_that_ran_all_the_time(
    seen: list[list[int]], expected: tuple[int, str] | None
) -> None:
    assert endless_loop(TEXT, seen) == expected


def test_a_text_that_python_does_not_read_names_no_loop() -> None:
    assert endless_loop("def (", [[1]]) is None
