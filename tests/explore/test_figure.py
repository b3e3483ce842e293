"""The figure of an exploration: blocks of drawings, their rows, and that all of it can be read."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations, pairwise
from xml.etree import ElementTree

import pytest
from matplotlib.colors import to_hex
from matplotlib.text import Text

from grader.explore import picture
from grader.explore.cells import WORDS
from grader.explore.figure import WIDTH, figure_of, planned
from grader.explore.model import WRONG, Exploration, ExplorationRun, Image, Origin, Series
from grader.explore.panels import Weights
from tests.explore.test_panels import named
from tests.explore.test_terminal import ALL, IMAGES

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
    figure = figure_of(FOUND)
    figure.canvas.draw()
    box, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert box.x0 >= 0
    assert box.y0 >= 0
    assert box.x1 <= width
    assert box.y1 <= height


def test_no_panel_lies_over_another() -> None:
    figure = figure_of(FOUND)
    boxes = [axes.get_position() for axes in figure.axes]
    assert len(boxes) == sum(len(each.panels) for each in ALL)
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert one.x0 >= other.x1 or other.x0 >= one.x1 or one.y0 >= other.y1 or other.y0 >= one.y1


def test_a_figure_is_one_column_that_can_be_read_on_a_telephone() -> None:
    figure = figure_of(FOUND)
    assert figure.get_size_inches()[0] == WIDTH
    figure.canvas.draw()
    pixels = 360 / WIDTH / 72  # of a point, where the figure is as wide as a telephone
    assert min(float(text.get_fontsize()) for text in figure.findobj(Text) if text.get_text()) * pixels > 7
    assert min(float(label.get_fontsize()) for axes in figure.axes for label in axes.get_xticklabels()) * pixels > 8


@pytest.mark.parametrize(("count", "columns"), [(1, 3), (2, 3), (3, 3), (4, 3), (5, 20), (6, 28), (3, 40), (7, 10)])
def test_rows_of_images_are_as_few_and_as_even_as_they_can_be(count: int, columns: int) -> None:
    image = Image("filter", ((0.0,) * columns,) * columns)
    block = planned(replace(IMAGES, panels=(image,) * count), (False,) * count)
    assert sum(block.rows) == count and max(block.rows) - min(block.rows) <= 1
    places = block.places()
    assert all(left + width <= WIDTH for left, _, width in places)
    assert all(one[0] + one[2] < other[0] or one[1] < other[1] for one, other in pairwise(places))


def test_three_heads_of_three_words_fill_their_row_and_one_alone_is_wider() -> None:
    def widths(count: int, words: int) -> list[tuple[int, float]]:
        image = Image("Head 0", ((0.25,) * words,) * words, ("word",) * words, ("word",) * words)
        block = planned(Weights("", "", "", "", "", (image,) * count, 0.0, 1.0), (False,) * count)
        return [(each, round(width, 1)) for each, width in zip(block.rows, block.widths, strict=True)]

    assert [each for each, _ in widths(3, 3)] == [3]
    assert [each for each, _ in widths(6, 4)] == [2, 2, 2]  # plain and causal stay beside each other
    (two, narrow), (one, wide) = widths(3, 5)
    assert (two, one) == (2, 1) and wide > 1.5 * narrow


def test_a_figure_without_its_head_begins_with_the_first_drawing() -> None:
    whole, own = figure_of(FOUND), figure_of(FOUND, headed=False)
    assert own.texts[0].get_text() == ALL[0].title
    assert [each.get_text() for each in whole.texts][-len(own.texts) :] == [each.get_text() for each in own.texts]
    assert own.get_size_inches()[1] < whole.get_size_inches()[1]


def test_no_line_of_the_head_begins_with_a_dot() -> None:
    for length in range(20, 70):
        lines = [
            text.get_text() for text in figure_of(replace(FOUND, given=("a few " * 12)[:length], drawings=())).texts
        ]
        assert not [line for line in lines if line.startswith(("·", "3"))]


def test_names_of_rows_stand_once_where_all_images_have_the_same() -> None:
    image = Image("one", ((0.0, 1.0),) * 2, ("first", "second"), ("a", "b"))
    same = replace(IMAGES, panels=(image, image))
    other = replace(IMAGES, panels=(image, replace(image, row_names=("third", "fourth"))))
    names = [[label.get_text() for label in axes.get_yticklabels()] for drawing in (same, other)
             for axes in figure_of(replace(FOUND, drawings=(drawing,))).axes]  # fmt: skip
    assert names == [["first", "second"], ["", ""], ["first", "second"], ["third", "fourth"]]


def test_numbers_fit_their_cells() -> None:
    values = ((-10.25, 0.5, -0.25, 0.75, 1.0),) * 5
    figure = figure_of(replace(FOUND, drawings=(replace(IMAGES, panels=(Image("one", values),) * 2),)))
    figure.canvas.draw()
    cell = figure.axes[0].get_window_extent().width / 5
    assert max(text.get_window_extent().width for text in figure.axes[0].texts) < cell


def test_names_of_series_are_at_them_and_there_is_no_legend() -> None:
    drawing = named(*(Series(f"line {place}", (0.0, 1.0), (place / 5, 0.5)) for place in range(6)))
    figure = figure_of(replace(FOUND, drawings=(drawing,)))
    assert figure.legends == [] and figure.axes[0].get_legend() is None
    found = {text.get_text(): text for text in figure.axes[0].texts}
    heights = [float(found[f"line {place}"].get_position()[1]) for place in range(6)]
    assert heights[:5] == sorted(heights[:5])
    assert [to_hex(found[f"line {place}"].get_color()) for place in range(6)] == list(WORDS)


def test_that_a_step_is_wrong_stands_once_above_its_panels_and_covers_nothing() -> None:
    image = Image("feature 0", ((0.1, 0.2), (0.3, 0.4)))
    drawing = replace(IMAGES, panels=(image,) * 6)
    figure = figure_of(replace(FOUND, drawings=(drawing,), origins=(Origin(drawing.id, "one", True),)))
    figure.canvas.draw()
    said = [text.get_text() for text in figure.findobj(Text) if WRONG in text.get_text()]
    assert said == [f"{drawing.title} · {WRONG}"]
    titles = [axes.title if axes.title.get_text() else axes._left_title for axes in figure.axes]  # type: ignore[attr-defined]
    boxes = [title.get_window_extent() for title in titles]
    assert len(boxes) == 6 and not any(one.overlaps(other) for one, other in combinations(boxes, 2))
