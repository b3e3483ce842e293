"""What is drawn on a canvas lies where its numbers say, and is written alike on every machine."""

from __future__ import annotations

import re

import numpy as np
import pytest

from illustrations.canvas import Canvas, number
from illustrations.diagrams import Box
from illustrations.plots import Axis, Frame, Table, ticks


@pytest.mark.parametrize(("value", "text"), [(1.0, "1"), (0.04, "0"), (-0.04, "0"), (-1.26, "-1.3"), (12.34, "12.3")])
def test_a_coordinate_has_one_decimal_at_most(value: float, text: str) -> None:
    assert number(value) == text


def test_text_is_escaped() -> None:
    canvas = Canvas(10, "a < b & c")
    canvas.text(1, 2, "<x> & y")
    assert "<title>a &lt; b &amp; c</title>" in canvas.svg() and ">&lt;x&gt; &amp; y</text>" in canvas.svg()


def test_a_point_lies_by_its_share_of_the_axes() -> None:
    frame = Frame(Canvas(100, ""), 10, 20, 100, 50, Axis(0, 4), Axis(1e-2, 1e2, log=True))
    assert frame.at(1, 1) == (35.0, 45.0)
    assert frame.at(4, 100) == (110.0, 20.0)


def test_a_curve_ends_where_it_leaves_the_frame() -> None:
    canvas = Canvas(100, "")
    frame = Frame(canvas, 0, 0, 40, 20, Axis(0, 4), Axis(-1, 1))
    frame.curve([0, 1, 2, 3, 4], [0, 0, 4, 0, 0])
    lines = re.findall(r'class="sa" points="([^"]*)"', canvas.svg())
    assert lines == ["0,10 10,10 12.5,0", "27.5,0 30,10 40,10"]


def test_regions_are_rows_of_one_class() -> None:
    canvas = Canvas(100, "")
    frame = Frame(canvas, 0, 0, 40, 20, Axis(0, 1), Axis(0, 1))
    frame.regions(lambda points: (points[:, 0] > 0.5).astype(int), 2, "ab")
    assert re.findall(r'class="f([ab])" x="(\S+)" y="(\S+)"', canvas.svg()) == [
        ("a", "0", "0"), ("b", "20", "0"), ("a", "0", "10"), ("b", "20", "10"),
    ]  # fmt: skip


def test_a_table_colours_by_size_and_sign() -> None:
    canvas = Canvas(100, "")
    Table(canvas, 0, 0, 10, np.array([[2.0, -1.0, 0.0, -np.inf]]), "g")
    svg = canvas.svg()
    assert re.findall(r'class="f([ab])".*fill-opacity="(\S+)"', svg) == [("a", "0.62"), ("b", "0.31")]
    assert re.findall(r">([^<>]+)</text>", svg) == ["2", "−1", "0", "−∞"]


def test_ticks_have_a_true_minus() -> None:
    assert ticks(-0.5, 2) == ((-0.5, "−0.5"), (2, "2"))


def test_arrows_meet_the_sides_of_a_box() -> None:
    box = Box(Canvas(100, ""), 10, 20, 40, 30, "words", "more")
    assert (box.top, box.bottom, box.left, box.right) == ((30, 20), (30, 50), (10, 35), (50, 35))


def test_an_arrow_ends_in_its_tip() -> None:
    canvas = Canvas(100, "")
    canvas.arrow([(0, 0), (20, 0)])
    assert 'points="20,0 ' in canvas.svg()
