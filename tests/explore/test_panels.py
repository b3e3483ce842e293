"""Panels of drawings: labels lie over no other, and names stand at their curves."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import pytest

from grader.explore.model import Chart, Curves, Series
from grader.explore.panels import Box, names_beside, placed, spread
from tests.explore.test_terminal import CURVES

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


def named(*series: Series) -> Curves:
    return replace(CURVES, panels=(Chart("", series, (0.0, 1.0)),), log_x=False, log_y=False)


def test_a_name_stands_beside_the_end_of_its_curve() -> None:
    one, other = Series("one", (0.0, 1.0), (0.0, 0.9)), Series("other", (0.0, 1.0), (1.0, 0.2))
    drawing = named(one, other)
    assert names_beside(drawing.panels[0], drawing) == pytest.approx({0: 0.9, 1: 0.2})


def test_names_of_curves_that_end_alike_stand_in_the_panel() -> None:
    drawing = named(*(Series(f"line {place}", (0.0, 1.0), (place / 5, 0.5)) for place in range(6)))
    assert names_beside(drawing.panels[0], drawing) == {}


def test_the_name_of_a_curve_that_ends_early_stands_in_the_panel() -> None:
    drawing = named(Series("long", (0.0, 1.0), (0.0, 0.9)), Series("short", (0.0, 0.5), (1.0, 0.2)))
    assert list(names_beside(drawing.panels[0], drawing)) == [0]


def test_labels_that_are_spread_keep_their_order_and_stay_inside() -> None:
    found = spread([0.0, 1.0, 99.0, 98.0, 50.0], [10.0] * 5, 100.0)
    assert found == [5.0, 15.0, 95.0, 85.0, 50.0]
