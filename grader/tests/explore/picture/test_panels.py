"""Drawings as pictures: every kind, as PNG and SVG, with nothing outside the figure or over another panel."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest

from grader.explore.model import Exploration, Ran
from grader.explore.picture import files
from grader.explore.picture.panels import WIDTH, arranged, drawn_panels
from grader.tests.explore.terminal.test_gallery import ALL, CURVES, IMAGES, LOGS, PLANE

RAN = Ran("module.py", "0" * 64, "process", None, 3)
FOUND = Exploration("s11", "Activations", None, RAN, given="some data", drawings=ALL)


@pytest.mark.full_matrix
def test_a_png_and_an_svg_are_drawn_of_every_kind() -> None:
    assert files.drawn(FOUND, "png").startswith(b"\x89PNG")
    root = ElementTree.fromstring(files.drawn(FOUND, "svg"))
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("s11 · Activations", "some data · drawn with seed 3", "They rise.", "both", "valley", "class 0", "low",
                 "filter", "unit 1", "-0.50", "first", "squares", "b = a·a", "grad 13"):  # fmt: skip
        assert text in texts, text


def test_the_same_exploration_gives_the_same_file() -> None:
    assert files.drawn(FOUND, "svg") == files.drawn(FOUND, "svg")


def test_everything_lies_within_the_figure() -> None:
    figure = drawn_panels(FOUND)
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height


def test_no_panel_lies_over_another() -> None:
    figure = drawn_panels(FOUND)
    boxes = [axes.get_position() for axes in figure.axes]
    assert len(boxes) == sum(len(each.panels) for each in ALL)
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert one.x0 >= other.x1 or other.x0 >= one.x1 or one.y0 >= other.y1 or other.y0 >= one.y1


def test_drawings_of_one_panel_share_a_row() -> None:
    rows = arranged((LOGS, LOGS, CURVES, LOGS, PLANE, IMAGES))
    assert [[block.drawing.id for block in row] for row in rows] == [
        ["logs", "logs"], ["curves"], ["logs"], ["plane"], ["images"],
    ]  # fmt: skip
    assert all(sum(block.width for block in row) <= WIDTH for row in rows)
