"""A weight's colour: deeper with the weight, readable under its number, and in each palette."""

from __future__ import annotations

import numpy as np
import pytest
from rich.color import Color, ColorSystem

from grader.explore.colour import Palette, colours, depth, weight_at


def test_depth_rises_from_none_to_all_and_can_be_undone() -> None:
    for count in (1, 4, 32):
        weights = [0, 0.01, 0.1, 0.3, 0.7, 1]
        depths = [depth(weight, count) for weight in weights]
        assert depths == sorted(depths)
        assert (depths[0], depths[-1]) == (0, 1)
        np.testing.assert_allclose([weight_at(each, count) for each in depths], weights, atol=1e-12)


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


@pytest.mark.parametrize("weight", [0.0, 0.1, 0.2, 0.3, 0.5, 0.6, 1.0])
def test_a_terminal_of_256_colours_has_these(weight: float) -> None:
    for colour in colours(weight, 4, "256"):
        found = Color.parse(colour)
        assert found.downgrade(ColorSystem.EIGHT_BIT).get_truecolor() == found.get_truecolor()
