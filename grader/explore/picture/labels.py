"""Where labels of points stand so that none lies over another: beside the point, or further off on a short line."""

from __future__ import annotations

from math import cos, pi, sin

Box = tuple[float, float, float, float]
ANGLES = (0.25, 1.75, 0.75, 1.25, 0.0, 1.0, 0.5, 1.5)  # of a half turn, the better places first
RADII = (7.0, 16.0, 27.0, 40.0)  # points
NEAR = RADII[0]


def placed(points: list[tuple[float, float]], sizes: list[tuple[float, float]], room: Box) -> list[tuple[float, float]]:
    """Return for each point the middle of its label: the first place that is free, else the first of all.

    points and room (left, bottom, right, top) and sizes (width, height) are in points of 1/72 inch.
    """
    taken: list[Box] = [(x - 3, y - 3, x + 3, y + 3) for x, y in points]
    found = []
    for point, size in zip(points, sizes, strict=True):
        places = [_middle(point, size, angle * pi, radius) for radius in RADII for angle in ANGLES]
        free = [place for place in places if _fits(_box(place, size), taken, room)]
        chosen = (free or places)[0]
        taken.append(_box(chosen, size))
        found.append(chosen)
    return found


def _middle(point: tuple[float, float], size: tuple[float, float], angle: float, radius: float) -> tuple[float, float]:
    across, up = cos(angle), sin(angle)
    return point[0] + across * (radius + size[0] / 2), point[1] + up * (radius + size[1] / 2)


def _box(middle: tuple[float, float], size: tuple[float, float]) -> Box:
    (x, y), (width, height) = middle, size
    return x - width / 2, y - height / 2, x + width / 2, y + height / 2


def _fits(box: Box, taken: list[Box], room: Box) -> bool:
    inside = room[0] <= box[0] and room[1] <= box[1] and box[2] <= room[2] and box[3] <= room[3]
    return inside and all(
        box[0] >= other[2] or other[0] >= box[2] or box[1] >= other[3] or other[1] >= box[3] for other in taken
    )
