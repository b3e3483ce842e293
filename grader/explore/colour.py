"""The colour of a weight, in the terminal and in a picture alike: an equal share lies near the middle of the scale."""

from __future__ import annotations

from typing import Literal

Colour = tuple[int, int, int]
Palette = Literal["truecolor", "256"]

SCALE: tuple[Colour, ...] = ((240, 245, 251), (189, 212, 236), (121, 169, 214), (58, 116, 180), (18, 66, 128))
# Where a terminal has 256 colours only, their nearest ones would be of many hues: these are blue and ever darker.
STEPS: tuple[Colour, ...] = (
    (215, 215, 255),
    (175, 215, 255),
    (135, 175, 215),
    (95, 135, 215),
    (0, 95, 175),
    (0, 0, 135),
)
LIGHT_STEP = 4  # from which light text is easier to read
DARK_TEXT, LIGHT_TEXT = (16, 35, 59), (255, 255, 255)
BELOW, ABOVE = (33, 102, 172), (178, 24, 43)  # the strongest blue and red of signed values
LIGHT_FROM = 0.68  # depth from which light text is easier to read than dark
CURVE = 1.8  # above 1, it sets weights around an equal share further apart


def depth(weight: float, count: int) -> float:
    """Return how dark a weight among so many words is: 0 for none, 1 for all, near the middle for an equal share.

    >>> round(depth(0.25, 4), 2), depth(0.0, 4), depth(1.0, 4)
    (0.43, 0.0, 1.0)
    """
    weight = min(max(weight, 0.0), 1.0)
    share: float = weight * (count + 1) / (1 + weight * count)
    return float(share**CURVE)


def weight_at(deep: float, count: int) -> float:
    """Return the weight of a depth: the inverse of depth."""
    share: float = deep ** (1 / CURVE)
    return share / (count + 1 - share * count)


def colours(weight: float, count: int, palette: Palette = "truecolor") -> tuple[str, str]:
    """Return the colours of the text and of the cell, as #rrggbb."""
    deep = depth(weight, count)
    if palette == "256":
        step = min(int(deep * len(STEPS)), len(STEPS) - 1)
        return _hex((255, 255, 255) if step >= LIGHT_STEP else (0, 0, 0)), _hex(STEPS[step])
    return _hex(LIGHT_TEXT if deep >= LIGHT_FROM else DARK_TEXT), _hex(_mixed(deep))


def signed_colours(share: float) -> tuple[str, str]:
    """Return the colours of the text and of the cell for a value from -1 (blue) to 1 (red); 0 is white."""
    end = BELOW if share < 0 else ABOVE
    size = min(abs(share), 1.0)
    cell = tuple(round(white + size * (part - white)) for white, part in zip(LIGHT_TEXT, end, strict=True))
    return _hex(LIGHT_TEXT if size > LIGHT_FROM else DARK_TEXT), _hex((cell[0], cell[1], cell[2]))


def _mixed(deep: float) -> Colour:
    """Return the colour of a depth, between the two of the scale that it lies between."""
    place = deep * (len(SCALE) - 1)
    first = min(int(place), len(SCALE) - 2)
    red, green, blue = (round(a + (place - first) * (b - a)) for a, b in zip(*SCALE[first : first + 2], strict=True))
    return red, green, blue


def _hex(colour: Colour) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)
