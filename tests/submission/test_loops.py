"""The loop that holds the lines which a call ran, by the text alone."""

from __future__ import annotations

import ast

import pytest

from grader.submission.loops import Loops, Span, unchanged

TEXT = """\
def search(x):
    while x > 0:
        for each in range(3):
            x = helper(x)
    return x


def drain(x):
    for each in sorted(x):
        print(each)
    return sum(
        y for y in x
    )


def outer(n):
    for each in range(n):
        def inner():
            return inner()
        inner()
    while sum(range(n)): n = 0
    while n: n += 1
    while (
        n
        < 3
    ):
        n = 1
"""


@pytest.mark.parametrize(
    ("span", "line", "header"),
    [
        (Span(1, False, 3, 4), 3, "for each in range(3)"),
        (Span(1, False, 2, 4), 2, "while x > 0"),
        (Span(1, False, 2, 5), None, ""),  # it came out of the loop
        (Span(8, False, 9, 9), None, ""),  # what it goes over is still made
        (Span(8, False, 9, 10), 9, "for each in sorted(x)"),
        (Span(11, True, 12, 12), 12, "(y for y in x)"),
        (Span(18, False, 19, 19), None, ""),  # the loop around it is of another call
        (Span(16, False, 20, 20), 17, "for each in range(n)"),
        (Span(16, False, 21, 21), None, ""),  # the condition may be what takes long
        (Span(16, False, 22, 22), 22, "while n"),
        (Span(16, False, 23, 27), 23, "while n < 3"),
    ],
)
def test_the_loop(span: Span, line: int | None, header: str) -> None:
    found = Loops(TEXT).of([span])
    assert (found.line, found.header) == (line, header) if found else (line, header) == (None, "")


def test_the_first_call_in_a_loop_counts() -> None:
    found = Loops(TEXT).of([Span(18, False, 19, 19), Span(1, False, 2, 4), Span(16, False, 22, 22)])
    assert found is not None and found.line == 2


def test_a_text_that_python_does_not_read_has_no_loop() -> None:
    assert Loops("def (").of([Span(1, False, 1, 1)]) is None


def test_a_loop_that_is_all_of_an_endless_one_may_have_begun_anew() -> None:
    text = "def f(step):\n    while True:\n        while step():\n            x = 1\n"
    loop = Loops(text).of([Span(1, False, 3, 4)])
    assert loop is not None and (loop.line, loop.header) == (2, "while True")


@pytest.mark.parametrize(
    ("head", "body", "names"),
    [
        ("low < high", "total += low", ["low", "high"]),
        ("low < high", "low += 1", []),
        ("low < high", "if total: high = 2", []),
        ("rows[0] < 3", "rows[0] += 1", []),
        ("len(rows) > 2", "rows.pop()", []),
        ("len(rows) > 2", "total += 1", ["rows"]),
        ("rows", "shrink(rows)", []),
        ("is_open(rows)", "total += 1", []),
        ("rows.left", "rows.left = 0", []),
        ("rows.any()", "total += 1", []),
        ("(line := read()) > 0", "total += 1", []),
        ("low < high", "global low", []),
    ],
)
def test_what_no_line_of_a_loop_changes(head: str, body: str, names: list[str]) -> None:
    (loop,) = ast.parse(f"while {head}:\n    {body}").body
    assert isinstance(loop, ast.While) and unchanged(loop) == names


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("while n < 3:\n    total = 1", "No line in it changes `n`, so that `n < 3` stays as it is."),
        ("while n < 3:\n    if f(): break", "stays as it is, and only a `return` or `break` ends it."),
        ("while n < 3:\n    n += 0", "Check that `n < 3` becomes false in time."),
        ("while True:\n    n = 1", "Nothing in it ends it: it needs a `return` or a `break`."),
        ("while True:\n    if f(): break", "check that one is reached in time."),
    ],
)
def test_what_ends_a_loop(text: str, advice: str) -> None:
    found = Loops(text).of([Span(1, False, 1, 2)])
    assert found is not None and found.advice.endswith(advice)
