"""Figures of drawings: their panels, and labels that lie over no other."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from xml.etree import ElementTree

import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from grader.explore import picture
from grader.explore.cells import WORDS
from grader.explore.model import WRONG, Chart, Curves, Exploration, ExplorationRun, Image, Origin, Series
from grader.explore.painting import WIDTH
from grader.explore.panels import Block, Box, _planned, drawn_panels, names_beside, placed, spread
from tests.explore.test_terminal import ALL, CURVES, IMAGES

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


def test_a_figure_is_one_column_that_can_be_read_on_a_telephone() -> None:
    figure = drawn_panels(FOUND)
    assert figure.get_size_inches()[0] == WIDTH
    figure.canvas.draw()
    pixels = 360 / WIDTH / 72  # of a point, where the figure is as wide as a telephone
    assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()) * pixels > 7
    assert min(float(label.get_fontsize()) for axes in figure.axes for label in axes.get_xticklabels()) * pixels > 8


@pytest.mark.parametrize(("count", "columns"), [(1, 3), (2, 3), (3, 3), (4, 3), (5, 20), (6, 28), (3, 40), (7, 10)])
def test_rows_of_images_are_as_few_and_as_full_as_they_can_be(count: int, columns: int) -> None:
    image = Image("filter", ((0.0,) * columns,) * columns)
    block: Block = _planned(replace(IMAGES, panels=(image,) * count))
    rows = -(-count // block.across)
    assert rows * block.across - count < rows  # no row has room for more than one image less than the others
    assert block.across * (block.cell[0] + block.left) <= WIDTH


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


def test_names_of_series_are_at_them_and_there_is_no_legend() -> None:
    drawing = named(*(Series(f"line {place}", (0.0, 1.0), (place / 5, 0.5)) for place in range(6)))
    figure = drawn_panels(replace(FOUND, drawings=(drawing,)))
    assert figure.legends == [] and figure.axes[0].get_legend() is None
    found = {text.get_text(): text for text in figure.axes[0].texts}
    heights = [float(found[f"line {place}"].get_position()[1]) for place in range(6)]
    assert heights[:5] == sorted(heights[:5])
    assert [to_hex(found[f"line {place}"].get_color()) for place in range(6)] == list(WORDS)


def test_labels_that_are_spread_keep_their_order_and_stay_inside() -> None:
    found = spread([0.0, 1.0, 99.0, 98.0, 50.0], [10.0] * 5, 100.0)
    assert found == [5.0, 15.0, 95.0, 85.0, 50.0]


def test_that_a_step_is_wrong_stands_once_above_its_panels_and_covers_nothing() -> None:
    image = Image("feature 0", ((0.1, 0.2), (0.3, 0.4)))
    drawing = replace(IMAGES, panels=(image,) * 6)
    figure = drawn_panels(replace(FOUND, drawings=(drawing,), origins=(Origin(drawing.id, "one", True),)))
    figure.canvas.draw()
    said = [text.get_text() for text in figure.findobj(Text) if WRONG in text.get_text()]
    assert said == [f"{drawing.title} · {WRONG}"]
    titles = [axes.title if axes.title.get_text() else axes._left_title for axes in figure.axes]  # type: ignore[attr-defined]
    boxes = [title.get_window_extent() for title in titles]
    assert len(boxes) == 6 and not any(one.overlaps(other) for one, other in combinations(boxes, 2))
