"""Colours of pictures are told apart by colour-blind readers: by arithmetic, for three kinds of colour blindness."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from grader.explore import cells
from grader.explore.cells import COLOURS, NEGATIVE, POSITIVE
from grader.explore.figure import WARNING
from grader.explore.panels import INK, QUIET
from grader.explore.picture import mirrored
from illustrations.canvas import INKS, WORDS

# What of linear red, green and blue is seen: Machado, Oliveira and Fernandes 2009, severity 1.
SEEN = {
    "all cones": np.eye(3),
    "no red cones": np.array(
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]]
    ),
    "no green cones": np.array(
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]]
    ),
    "no blue cones": np.array(
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]]
    ),
}
APART = 15.0  # distance in CIE Lab of two marks; 2.3 is just noticed when they touch
READ = 4.5  # contrast of text, WCAG 2 AA


def linear(colour: str) -> np.ndarray:
    """Return red, green and blue as amounts of light, from 0 to 1."""
    parts = np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255
    found: np.ndarray = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return found


def lab(light: np.ndarray) -> np.ndarray:
    """Return CIE Lab under daylight (D65)."""
    matrix = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
    x, y, z = np.cbrt(matrix @ np.clip(light, 1e-4, 1) / np.array([0.9505, 1, 1.089]))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def contrast(colour: str, behind: str) -> float:
    """Return the contrast of two colours as WCAG counts it."""
    bright, dark = sorted(float(np.array([0.2126, 0.7152, 0.0722]) @ linear(each)) for each in (colour, behind))
    return (dark + 0.05) / (bright + 0.05)


def dark(colour: str) -> str:
    """Return the colour that stands for it in a dark picture of explore."""
    parts = mirrored(np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)]) / 255)
    return "#" + "".join(f"{round(part * 255):02x}" for part in parts)


def hexed(colour: tuple[int, int, int]) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


SIGNS = [hexed(NEGATIVE), hexed(POSITIVE), "#ffffff"]
SERIES = {
    "pictures, light": [INKS[name][0] for name in "abcd"],
    "pictures, dark": [INKS[name][1] for name in "abcd"],
    "explore, light": COLOURS,
    "explore, dark": [*map(dark, COLOURS)],
    "signs, light": SIGNS,
    "signs, dark": [*map(dark, SIGNS)],
}


@pytest.mark.parametrize("eyes", list(SEEN))
@pytest.mark.parametrize("where", list(SERIES))
def test_two_series_differ_for_all_eyes(where: str, eyes: str) -> None:
    seen = [lab(SEEN[eyes] @ linear(colour)) for colour in SERIES[where]]
    assert min(float(np.linalg.norm(one - other)) for one, other in combinations(seen, 2)) > APART


def test_blue_and_violet_that_only_red_tells_apart_are_found() -> None:
    one, other = (lab(SEEN["no green cones"] @ linear(colour)) for colour in ("#0969da", "#8250df"))
    assert np.linalg.norm(one - other) < APART


def test_words_in_the_colour_of_a_series_can_be_read() -> None:
    paper, night = INKS["p"]
    for name in "abcdtm":
        light, dark = INKS[name]
        assert contrast(WORDS.get(name, light), paper) >= READ and contrast(dark, night) >= READ


@pytest.mark.parametrize("colour", [*cells.WORDS, INK, QUIET, WARNING])
def test_words_of_explore_can_be_read_on_light_and_on_dark(colour: str) -> None:
    assert contrast(colour, "#ffffff") >= READ and contrast(dark(colour), dark("#ffffff")) >= READ


@pytest.mark.parametrize("eyes", list(SEEN))
def test_values_of_equal_size_and_other_signs_are_of_equal_strength(eyes: str) -> None:
    white, *ends = (lab(SEEN[eyes] @ linear(colour)) for colour in ("#ffffff", *SIGNS[:2]))
    below, above = (float(np.linalg.norm(end - white)) for end in ends)
    assert 0.7 < below / above < 1.5


def test_numbers_in_cells_can_be_read_in_light_and_in_dark_pictures() -> None:
    for share in np.linspace(0, 1, 101):
        for cell in (cells.colours(share, 4)[1], cells.signed_colours(share)[1], cells.signed_colours(-share)[1]):
            red, green, blue = (int(cell[place : place + 2], 16) for place in (1, 3, 5))
            text = "#ffffff" if cells.text_on((red, green, blue), cells.BRIGHT_BOTH) == cells.LIGHT_TEXT else INK
            assert min(contrast(text, cell), contrast(dark(text), dark(cell))) > 2.7, cell  # the best there is is 3
