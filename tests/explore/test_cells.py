"""Shaded cells: how dark a weight is, and maps that fit a terminal with colour, without, and in ASCII."""

from __future__ import annotations

import numpy as np
import pytest
from rich.color import Color, ColorSystem

from grader.explore.cells import (
    FIXED,
    SIGNED,
    Palette,
    View,
    cell_text,
    colours,
    depth,
    fitted,
    image_block,
    legend,
    map_lines,
    shade,
    shade_of,
    signed_colours,
)
from grader.explore.model import Image, Images, weight_map
from grader.explore.plotting import LEVELS, REGIONS
from grader.report.terminal.layout import Look
from tests.explore.maps import WORDS, attention, both, plain


def test_depth_rises_from_none_to_all() -> None:
    for count in (1, 4, 32):
        weights = [0, 0.01, 0.1, 0.3, 0.7, 1]
        depths = [depth(weight, count) for weight in weights]
        assert depths == sorted(depths)
        assert (depths[0], depths[-1]) == (0, 1)


def luminance(colour: str) -> float:
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return float(np.dot(linear, [0.2126, 0.7152, 0.0722]))


@pytest.mark.parametrize("palette", ["truecolor", "256"])
def test_every_number_can_be_read_on_its_colour_and_more_is_darker(palette: Palette) -> None:
    pairs = [colours(weight / 40, 4, palette) for weight in range(41)]
    fills = [luminance(fill) for _, fill in pairs]
    assert fills == sorted(fills, reverse=True)
    for text, fill in zip([luminance(text) for text, _ in pairs], fills, strict=True):
        assert (max(text, fill) + 0.05) / (min(text, fill) + 0.05) >= 3.9


def test_a_terminal_of_256_colours_has_all_that_cells_are_drawn_in() -> None:
    for colour in FIXED:
        found = Color.from_rgb(*colour).downgrade(ColorSystem.EIGHT_BIT).get_truecolor()
        assert max(abs(one - other) for one, other in zip(found, colour, strict=True)) <= 10  # greys are a step darker
    cells = {colours(weight / 20, 4, "256")[1] for weight in range(21)}
    signed = {signed_colours(share / 20, "256")[1] for share in range(-20, 21)}
    assert (len(cells), len(signed)) == (6, 11)
    assert cells | signed <= {"#{:02x}{:02x}{:02x}".format(*each) for each in FIXED}


@pytest.mark.parametrize("palette", ["truecolor", "256"])
def test_every_number_of_an_image_can_be_read_on_its_colour(palette: Palette) -> None:
    for share in range(-20, 21):
        text, cell = map(luminance, signed_colours(share / 20, palette))
        assert (max(text, cell) + 0.05) / (min(text, cell) + 0.05) >= 3.9


def test_bands_and_regions_of_a_plane_differ_in_256_colours() -> None:
    for given in (LEVELS, REGIONS):
        assert len({shade(colour, "256") for colour in given}) == len(given)


def test_two_maps_of_four_words_stand_side_by_side_at_80_columns() -> None:
    assert plain(map_lines(both(4), WORDS, View(Look(80), None))) == [
        "    Plain                                Causal",
        "            The    cat    sat   down             The    cat    sat   down",
        "    The  ██0.64 ░░0.24   0.09   0.03     The  ██1.00      0      0      0",
        "    cat  ░░0.20 ██0.53 ░░0.20   0.07     cat  ▒▒0.27 ██0.73      0      0",
        "    sat    0.07 ░░0.20 ██0.53 ░░0.20     sat    0.09 ░░0.24 ██0.67      0",
        "    down   0.03   0.09 ░░0.24 ██0.64     down   0.03   0.09 ░░0.24 ██0.64",
        "",
    ]


def test_plain_and_causal_of_a_head_stay_together() -> None:
    lines = plain(map_lines((*both(4), *both(4)), WORDS, View(Look(120), None)))
    assert [line.split() for line in lines if "Causal" in line] == [["Plain", "Causal"]] * 2


def test_without_unicode_the_shades_are_ascii() -> None:
    lines = plain(map_lines(both(4), ("Thé", "cat", "sat", "日"), View(Look(80, ascii=True), None)))
    assert all(line.isascii() for line in lines)
    assert lines[2].startswith("    The ##0.64 ..0.24")


def test_colour_is_behind_the_numbers_which_stand_where_they_stand_without() -> None:
    coloured = map_lines(both(4), WORDS, View(Look(80), "truecolor"))
    bare = map_lines(both(4), WORDS, View(Look(80), None))
    for one, other in zip(plain(coloured), plain(bare), strict=True):
        assert one.split() == [word.strip("░▒▓█") for word in other.split()]
        assert len(one) == len(other)
    styles = {str(span.style) for line in coloured for span in line.spans}
    assert "{} on {}".format(*colours(1.0, 4)) in styles
    assert "dim" in styles  # nothing at all has no colour of its own


@pytest.mark.parametrize("palette", ["truecolor", "256", None])
@pytest.mark.parametrize("count", [1, 2, 4, 6, 8, 10, 12, 18, 20, 25, 32])
def test_no_line_is_wider_than_the_terminal(count: int, palette: Palette | None) -> None:
    words = tuple(f"word{'日' * (place % 5)}{place}" for place in range(count))
    for width in (40, 60, 80, 100, 120):
        lines = map_lines(both(count), words, View(Look(width), palette))
        assert max(line.cell_len for line in lines) <= width
        assert any(line.plain.strip() for line in lines)


@pytest.mark.parametrize(
    ("count", "width", "row"),
    [
        (6, 80, "w2    0.07 ▒▒0.18 ██0.49"),
        (12, 80, "w2  ░0.06 █0.18 █0.48 █0.18 ░0.06  0.02"),
        (12, 60, "w2  ░ 6 █18 █48 █18 ░ 6   2   1  <1"),
        (20, 80, "2 w2  ▒ 6█18█48█18▒ 6  2  1 <1"),
        (32, 80, "2 w2  ██████████░░"),
    ],
)
def test_longer_sentences_get_narrower_cells(count: int, width: int, row: str) -> None:
    words = tuple(f"w{place}" for place in range(count))
    lines = plain(map_lines((attention(count),), words, View(Look(width), None)))
    assert lines[4].strip().startswith(row)
    assert [next(each for each in line.split() if each[0] == "w") for line in lines[2:-1]] == list(words)


def test_words_of_narrow_cells_are_numbered_and_long_ones_abbreviated_beside_their_row() -> None:
    words = ("attention", "extraordinarily", *("word",) * 10)
    lines = plain(map_lines((attention(12),), words, View(Look(80), None)))
    assert lines[1].split()[:3] == ["0", "1", "2"]
    assert [line.split()[:2] for line in lines[2:4]] == [["0", "attent…"], ["1", "extrao…"]]


def test_many_words_in_a_narrow_terminal_are_refused_in_one_line() -> None:
    lines = plain(map_lines(both(32), ("word",) * 32, View(Look(40), None)))
    assert " ".join(line.strip() for line in lines).startswith("The maps need a wider terminal")


def test_weights_that_are_none_do_not_break_their_cells() -> None:
    odd = weight_map("Odd", False, None, np.array([[1e300, -5.0], [0.001, 0.999]]))
    lines = plain(map_lines((odd,), ("a", "b"), View(Look(80), None)))
    assert [line.split() for line in lines[2:4]] == [["a", "██", ">1", "<0"], ["b", "0.00", "██1.00"]]


@pytest.mark.parametrize(
    ("weight", "cell", "text"),
    [
        (0.0, 7, "0"),
        (0.004, 7, "0.00"),
        (0.004, 4, "<1"),
        (1.0, 4, "100"),
        (1.0, 3, "100"),
        (0.994, 3, "99"),
        (0.5, 3, "50"),
        (0.5, 2, ""),
        (1.004, 6, "1.00"),
    ],
)
def test_a_cell_shows_its_weight_as_far_as_there_is_room(weight: float, cell: int, text: str) -> None:
    assert cell_text(weight, cell) == text


@pytest.mark.parametrize("ascii_only", [True, False])
def test_all_of_a_row_stands_apart_from_its_neighbours(ascii_only: bool) -> None:
    weights = np.full((20, 20), 0.0)
    weights[:, 1], weights[:, 0] = 0.998, 0.002
    wide, narrow = (
        map_lines((weight_map("One", False, None, weights),), ("w",) * 20, View(Look(width, ascii=ascii_only), None))
        for width in (100, 80)
    )
    block = "###" if ascii_only else "███"
    assert plain(wide)[2].split()[:4] == ["w", "<1", "100", "0"]
    assert plain(narrow)[2].strip().startswith(f"w    <1{block}  0  0")
    assert f"A cell that is all {block[0]} is 100." in legend(1, ("w",) * 20, View(Look(80, ascii=ascii_only), None))
    coloured = map_lines((weight_map("One", False, None, weights),), ("w",) * 20, View(Look(80), "truecolor"))
    assert plain(coloured)[2].strip().startswith("w    <1100  0")


def test_queries_stand_beside_rows_and_keys_above_columns() -> None:
    weights = weight_map("Cross", False, None, np.full((2, 3), 1 / 3))
    lines = plain(map_lines((weights,), ("who", "what"), View(Look(80), None), ("the", "dog", "bit")))
    assert [line.split() for line in lines[1:4]] == [
        ["the", "dog", "bit"], ["who", *["▒▒0.33"] * 3], ["what", *["▒▒0.33"] * 3],
    ]  # fmt: skip


def test_shades_follow_an_equal_share() -> None:
    assert [shade_of(weight / 8, 4, False) for weight in range(6)] == [" ", "░", "▒", "▓", "█", "█"]
    assert shade_of(1.0, 32, True) == "#"
    assert "░ from 0.125, ▒ from 0.250, ▓ from 0.375, █ from 0.500" in legend(2, WORDS, View(Look(80), None))
    assert "Darker" in legend(2, WORDS, View(Look(80), "truecolor"))
    assert "in percent" in legend(2, WORDS * 3, View(Look(70), None))
    assert "░ from 4.2 %, ▒ from 8.3 %" in legend(2, WORDS * 3, View(Look(70), None))
    assert "each half of an equal share" in legend(2, WORDS * 3, View(Look(70), None))
    assert "as shades" in legend(2, WORDS * 8, View(Look(80), None))


def test_cutting_counts_columns() -> None:
    assert fitted("日本語日本語", 6, Look(80)) == "日本 …"
    assert fitted("attention", 6, Look(80, ascii=True)) == "atten."
    assert fitted("日", 3, Look(80)) == "日 "


def test_words_that_do_not_fit_above_their_columns_are_numbered() -> None:
    words = tuple(f"{name}ish" for name in "abcdefghijklmnopqrst")
    lines = plain(map_lines(both(20), words, View(Look(80), None)))
    assert lines[1].split() == [str(place) for place in range(20)]
    assert lines[2].split()[:2] == ["0", "aish"] and lines[21].split()[:2] == ["19", "tish"]
    crossed = plain(map_lines(tuple(attention(20) for _ in range(2)), words, View(Look(80), None), words[::-1]))
    assert crossed[0].strip().startswith("Keys: 0 tish, 1 sish,")


def test_signs_of_both_ends_are_of_equal_strength() -> None:
    for low, less, middle, more, high in map(list, SIGNED.values()):
        assert middle == " " and len({low, less, more, high}) == 4
        assert low.isalpha() == high.isalpha() and (low, less) != (high, more)


def test_words_of_an_image_that_do_not_fit_above_narrow_cells_are_numbered() -> None:
    words = ("the", "cows", "near", "the", "old", "barn")
    weights = tuple(tuple(float(row == column) for column in range(6)) for row in range(6))
    drawing = Images("heads", "Heads", "", "key", "query", (Image("head 0", weights, words, words),), 0.0, 1.0)
    lines = [line.plain.rstrip() for line in image_block(drawing.panels[0], drawing, View(Look(80), None))]
    assert lines[1:4] == ["       0 1 2 3 4 5", "0 the  ██", "1 cows   ██"]
