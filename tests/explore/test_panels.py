"""Figures of drawings: their panels, and labels that lie over no other."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

import pytest

from grader.explore import picture
from grader.explore.model import Exploration, ExplorationRun
from grader.explore.panels import WIDTH, Box, arranged, drawn_panels, placed
from tests.explore.test_terminal import ALL, CURVES, IMAGES, LOGS, PLANE

SIZE, ROOM = (40.0, 10.0), (0.0, 0.0, 300.0, 200.0)


def box(middle: tuple[float, float]) -> Box:
    return middle[0] - 20, middle[1] - 5, middle[0] + 20, middle[1] + 5


def test_labels_of_near_points_do_not_overlap_and_stay_inside() -> None:
    points = [(150.0, 100.0), (153.0, 101.0), (150.0, 104.0), (149.0, 97.0), (297.0, 3.0)]
    boxes = [box(middle) for middle in placed(points, [SIZE] * 5, ROOM)]
    for one, other in combinations(boxes, 2):
        assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]
    assert all(each[0] >= 0 and each[1] >= 0 and each[2] <= 300 and each[3] <= 200 for each in boxes)


def test_a_point_alone_has_its_label_beside_it() -> None:
    ((x, y),) = placed([(100.0, 100.0)], [SIZE], ROOM)
    assert 115 <= x <= 130
    assert 100 < y < 120


def test_where_there_is_no_room_the_first_place_is_taken() -> None:
    assert len(placed([(5.0, 5.0)] * 3, [SIZE] * 3, (0.0, 0.0, 10.0, 10.0))) == 3


RAN = ExplorationRun("module.py", "0" * 64, "process", None, 3)
FOUND = Exploration("s11", "Activations", None, RAN, given="some data", drawings=ALL)


@pytest.mark.full_matrix
def test_a_png_and_an_svg_are_drawn_of_every_kind() -> None:
    assert picture.drawn(FOUND, "png").startswith(b"\x89PNG")
    root = ElementTree.fromstring(picture.drawn(FOUND, "svg"))
    texts = ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]
    for text in ("s11 · Activations", "some data · drawn with seed 3", "They rise.", "both", "valley", "class 0", "low",
                 "filter", "unit 1", "-0.50", "first", "squares", "b = a·a", "grad 13"):  # fmt: skip
        assert text in texts, text


def test_the_same_exploration_gives_the_same_file() -> None:
    assert picture.drawn(FOUND, "svg") == picture.drawn(FOUND, "svg")


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
