"""Curves and planes as characters: braille where there is colour to tell lines apart, marks where there is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.explore.drawing import Chart, Curves, Field, Limits, Map, Numbers, Plane, chart_limits
from grader.explore.terminal.heatmap import View, fitted
from grader.explore.terminal.raster import DOTS, Raster, colour_of, line_places, mark_of, scaled

if TYPE_CHECKING:
    from rich.text import Text

LABEL = 7  # columns left of a panel's axis
LEAST = 24  # columns that a panel needs
REGIONS = ("#dbe9f6", "#fde0c8", "#d5efdf", "#f3dcea")
LEVELS = ("#eef4fa", "#dbe7f3", "#c6d9ec", "#b0cae3", "#9abbda", "#86adD1")
REGION_MARKS = {False: " ·:⁘", True: " .:'"}
APART = 9  # columns between the marks on a line of braille


def short(value: float) -> str:
    """Return the end of an axis in at most six characters.

    >>> short(0.0), short(-2.08), short(1234567.0), short(-1.2e-33)
    ('0', '-2.1', '1.2e6', '-1e-33')
    """
    fixed = f"{value:.0f}" if 10 <= abs(value) < 10_000 else f"{value + 0.0:.2g}"
    if value == 0 or 0.001 <= abs(value) < 10_000:
        return fixed if len(fixed) < LABEL else f"{value:.1g}"
    found = [f"{value:.{digits}e}".replace("e+0", "e").replace("e+", "e").replace("e-0", "e-") for digits in (1, 0)]
    return found[0] if len(found[0]) < LABEL else found[1]


def chart_block(chart: Chart, drawing: Curves, width: int, height: int, view: View) -> list[Text]:
    """Return a panel of curves: title, rows with the ends of y, axis, and the ends of x."""
    across, up = chart_limits(chart, drawing)
    raster = Raster(width - LABEL - 1, height)
    backwards = reversed(list(enumerate(chart.series)))  # so that the first lies on top, and points on lines
    for number, series in sorted(backwards, key=lambda pair: pair[1].dots):
        if not series.x:
            continue
        lines = not series.dots and (view.palette is not None or (len(chart.series) == 1 and not view.look.ascii))
        size = (raster.width * DOTS[0], height * DOTS[1]) if lines else (raster.width, height)
        x = scaled(series.x, across, size[0], log=drawing.log_x)
        y = scaled(series.y, up, size[1], log=drawing.log_y, down=True)
        how = "dots" if series.dots else "braille" if lines else "marks"
        _stroke(raster, number, x, y, view, how, len(chart.series) > 1)
    ends = (across, up)
    return _framed(chart.title, raster, ends, drawing, view, (drawing.log_x, drawing.log_y))


def _stroke(
    raster: Raster, number: int, x: np.ndarray, y: np.ndarray, view: View, how: str, several: bool = True
) -> None:
    style = colour_of(number) if view.palette else ""
    mark = mark_of(number, view.look.ascii)
    if how == "dots":
        for place in zip(x.tolist(), y.tolist(), strict=True):
            raster.put(place, mark, style)
        return
    places = line_places(x, y)
    if how == "marks":
        for place in places:
            raster.put(place, mark, style)
        return
    for place in places:
        raster.dot(place, style)
    told = {place[0] // DOTS[0]: place for place in places}
    for column in range(2 + number * 3, raster.width, APART):
        if column in told and several:
            raster.put((column, told[column][1] // DOTS[1]), mark, style)


def plane_block(panel: Map, drawing: Plane, width: int, height: int, view: View) -> list[Text]:
    """Return a panel of a plane: what lies behind, then points, paths and labels."""
    raster = Raster(width - LABEL - 1, height)
    if panel.field is not None:
        _field(raster, panel, panel.field, view)
    for number, points in enumerate(panel.points, start=len(panel.paths)):
        x = scaled(points.x, panel.across, raster.width)
        y = scaled(points.y, panel.up, height, down=True)
        _stroke(raster, number, x, y, view, "dots")
        for place, label in zip(zip(x.tolist(), y.tolist(), strict=True), points.labels, strict=False):
            _label(raster, place, view.look.clean(label))
    for number, path in enumerate(panel.paths):
        _path(raster, number, path.x, path.y, panel, view)
    return _framed(panel.title, raster, (panel.across, panel.up), drawing, view)


def _label(raster: Raster, place: tuple[int, int], text: str) -> None:
    column, row = place
    for at in ((column + 1, row), (column - len(text), row), (column - len(text) // 2, row - 1),
               (column - len(text) // 2, row + 1)):  # fmt: skip
        if 0 <= at[1] < raster.height and raster.write(at, text):
            return


def _path(raster: Raster, number: int, x: Numbers, y: Numbers, panel: Map, view: View) -> None:
    style = colour_of(number) if view.palette else ""
    mark = mark_of(number, view.look.ascii)
    places = list(zip(scaled(x, panel.across, raster.width).tolist(),
                      scaled(y, panel.up, raster.height, down=True).tolist(), strict=True))  # fmt: skip
    if view.palette:
        fine = scaled(x, panel.across, raster.width * DOTS[0]), scaled(y, panel.up, raster.height * DOTS[1], down=True)
        for place in line_places(*fine):
            raster.dot(place, style)
        places = places[-1:]
    for place in places:
        raster.put(place, mark, style)


def _field(raster: Raster, panel: Map, field: Field, view: View) -> None:
    """Shade the cells by what the field has nearest to them; without colour, mark them, or where a level ends."""
    x = np.linspace(*panel.across, raster.width)
    y = np.linspace(panel.up[1], panel.up[0], raster.height)
    columns = np.abs(np.asarray(field.x)[:, None] - x).argmin(axis=0)
    lines = np.abs(np.asarray(field.y)[:, None] - y).argmin(axis=0)
    values = np.asarray(field.values)[np.ix_(lines, columns)]
    bands = levelled(values, len(LEVELS)) if field.kind == "levels" else values.astype(int)
    shades = LEVELS if field.kind == "levels" else REGIONS
    for row, column in np.ndindex(*bands.shape):
        place, band = (column, row), int(bands[row, column])
        if view.palette:
            raster.behind(place, shades[band % len(shades)])
        elif field.kind == "regions":
            raster.shade(place, REGION_MARKS[view.look.ascii][band % 4])
        elif (bands[row : row + 2, column : column + 2] != band).any():
            raster.shade(place, "." if view.look.ascii else "·")


def levelled(values: np.ndarray, count: int) -> np.ndarray:
    """Return heights as bands from 0 (low), each of them of about as many places."""
    edges = np.quantile(values, np.arange(1, count) / count)
    found: np.ndarray = np.searchsorted(edges, values)
    return found


def _framed(
    title: str, raster: Raster, ends: tuple[Limits, Limits], drawing: Curves | Plane, view: View,
    logs: tuple[bool, bool] = (False, False),
) -> list[Text]:  # fmt: skip
    """Return a raster with its title, its axes and their ends."""
    from rich.text import Text

    upright, corner, flat = ("|", "+", "-") if view.look.ascii else ("│", "└", "─")
    width = raster.width + LABEL + 1
    (left, right), (low, high) = (
        tuple(short(10**end if log else end) for end in pair) for pair, log in zip(ends, logs, strict=True)
    )
    rows = raster.lines()
    lines = [Text(fitted(title, width, view.look), "bold")]
    for number, row in enumerate(rows):
        label = high if number == 0 else low if number == len(rows) - 1 else ""
        lines.append(Text.assemble((f"{label:>{LABEL - 1}} ", "dim"), (upright, "dim"), row))
    name = fitted(view.look.clean(drawing.x_name), max(raster.width - len(left) - len(right) - 2, 1), view.look).strip()
    middle = f"{name:^{raster.width - len(left) - len(right)}}"[: max(raster.width - len(left) - len(right), 0)]
    lines.append(Text(" " * LABEL + corner + flat * raster.width, "dim"))
    lines.append(Text(f"{' ' * (LABEL + 1)}{left}{middle}{right}"[:width].ljust(width), "dim"))
    return lines
