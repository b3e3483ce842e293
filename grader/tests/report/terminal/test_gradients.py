"""The table of gradients: it fits a terminal, reads in ASCII, and says what is wrong with each."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.outcome import Gradient
from grader.report.terminal.gradients import gradient_lines
from grader.report.terminal.layout import Look

X = Gradient("grad_x", "x", (5, 4), (5, 4), 0.0)
WEIGHTS = Gradient(
    "grad_W", "W", (4, 3), (4, 3), 0.8, (3, 0), "2.5", "0.5", "factor", "got = 0.2 × expected; 0.2 is 1/batch"
)
BIAS = Gradient("grad_b", "b", (5, 3), (3,), None, finding="missing-sum", text="a sum over axis 0 (batch) is missing")
ALL = (X, WEIGHTS, BIAS)
TABLE = """\
    gradient  of  shape   rel. error  worst at  expected  got
    grad_x    x   (5, 4)  right
    grad_W    W   (4, 3)  8.0e-01     [3, 0]    2.5       0.5
      got = 0.2 × expected; 0.2 is 1/batch
    grad_b    b   (5, 3)
      shape (3,) was expected; a sum over axis 0 (batch) is missing"""
LINES = """\
    grad_x of x, (5, 4), right
    grad_W of W, (4, 3), relative error
      8.0e-01
      worst at [3, 0]: expected 2.5, got 0.5
      got = 0.2 × expected; 0.2 is 1/batch
    grad_b of b, (5, 3)
      shape (3,) was expected; a sum over axis
        0 (batch) is missing"""


def shown(gradients: tuple[Gradient, ...], width: int = 80, ascii: bool = False) -> str:
    return "\n".join(line.plain for line in gradient_lines(gradients, Look(width, ascii)))


def test_each_gradient_has_a_row_and_below_it_what_is_wrong() -> None:
    assert shown(ALL) == TABLE
    assert shown(ALL, 120) == TABLE
    assert shown(()) == ""


def test_a_narrow_terminal_has_lines_in_place_of_the_table() -> None:
    assert shown(ALL, 48) == LINES


@pytest.mark.parametrize("name", ["grads['weights']", "grad_weights['a_long_name_of_a_parameter']"])
@pytest.mark.parametrize("width", [24, 40, 80, 120])
def test_nothing_is_wider_than_the_terminal(name: str, width: int) -> None:
    long = replace(WEIGHTS, name=name, of=name[6:-2], index=(12, 3, 4, 55), expected="-0.000123457", got="1.23457e+20")
    assert max(map(len, shown((X, long, BIAS), width).splitlines())) <= width


def test_what_a_name_says_already_makes_room_for_the_table() -> None:
    long = replace(WEIGHTS, name="grad_weights['W_Q']", of="W_Q", shape=(4, 4, 4), expected="-0.315059", got="-0.63011")
    head, *_ = shown((long,)).splitlines()
    assert head.split() == ["gradient", "shape", "rel.", "error", "worst", "at", "expected", "got"]


def test_it_reads_in_ascii() -> None:
    text = shown(
        (replace(WEIGHTS, text="got = expectedᵀ"), replace(X, finding="factor", text="got = −expected")), 80, True
    )
    assert text.isascii() and "expected^T" in text and "got = -expected" in text
