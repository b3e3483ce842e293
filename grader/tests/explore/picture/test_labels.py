"""Labels of points: none over another, none outside, and somewhere even where there is no room."""

from __future__ import annotations

from itertools import combinations

from grader.explore.picture.labels import Box, placed

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
