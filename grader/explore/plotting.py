"""Curves, planes and graphs of numbers in characters: text, dots of braille, and shades behind them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from grader.course.table import together
from grader.explore.cells import COLOURS, View, fitted, shade
from grader.explore.model import (
    Chart,
    Curves,
    Field,
    Graph,
    Limits,
    Map,
    Numbers,
    Plane,
    chart_limits,
    is_counted,
    node_lines,
    ticks,
)

if TYPE_CHECKING:
    from rich.text import Text

BRAILLE = 0x2800
BITS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a dot, by its row and column in a cell
DOTS = (2, 4)  # in a cell, across and up
MARKS = {False: "●○▲△■□◆◇", True: "o+x*#@%&"}
Place = tuple[int, int]


def mark_of(number: int, plain: bool) -> str:
    """Return the mark of the series of that number."""
    return MARKS[plain][number % len(MARKS[plain])]


def colour_of(number: int) -> str:
    """Return the colour of the series of that number."""
    return COLOURS[number % len(COLOURS)]


class Raster:
    """Cells by column and row, row 0 at the top."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._front: dict[Place, tuple[str, str]] = {}
        self._behind: dict[Place, str] = {}
        self._shades: dict[Place, str] = {}
        self._dots: dict[Place, tuple[int, str]] = {}

    def put(self, place: Place, character: str, style: str = "") -> None:
        """Set a cell's character; outside the surface nothing happens."""
        if 0 <= place[0] < self.width and 0 <= place[1] < self.height:
            self._front[place] = character, style

    def behind(self, place: Place, colour: str) -> None:
        """Set the colour behind a cell."""
        self._behind[place] = colour

    def shade(self, place: Place, character: str) -> None:
        """Set the character that a cell shows while nothing else stands in it."""
        self._shades[place] = character

    def dot(self, place: Place, style: str) -> None:
        """Set one dot of braille; place counts dots, not cells."""
        across, down = place
        cell = across // DOTS[0], down // DOTS[1]
        if 0 <= cell[0] < self.width and 0 <= cell[1] < self.height:
            bits = self._dots.get(cell, (0, ""))[0]
            self._dots[cell] = bits | BITS[down % DOTS[1]][across % DOTS[0]], style

    def write(self, place: Place, text: str, style: str = "") -> bool:
        """Write text from a place on, where every cell of it is there and free; say whether it was."""
        cells = [(place[0] + offset, place[1]) for offset in range(len(text))]
        if any(cell in self._front or not 0 <= cell[0] < self.width for cell in cells):
            return False
        for cell, character in zip(cells, text, strict=True):
            self.put(cell, character, style)
        return True

    def lines(self) -> list[Text]:
        """Return the rows from the top."""
        from rich.text import Text

        return [
            Text.assemble(*(self._cell((column, row)) for column in range(self.width))) for row in range(self.height)
        ]

    def _cell(self, place: Place) -> tuple[str, str]:
        character, style = self._front.get(place, (self._shades.get(place, " "), ""))
        if place in self._dots and place not in self._front:
            bits, style = self._dots[place]
            character = chr(BRAILLE + bits)
        if place in self._behind:
            style = f"{style or '#10233b'} on {self._behind[place]}"
        return character, style


def scaled(values: Numbers, limits: Limits, size: int, *, log: bool = False, down: bool = False) -> np.ndarray:
    """Return the places of values on an axis of so many cells, as whole numbers, far ones beyond both ends."""
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.log10(np.asarray(values)) if log else np.asarray(values, dtype=np.float64)
    share = (found - limits[0]) / (limits[1] - limits[0])
    share = 1 - share if down else share
    return (
        np.clip(np.nan_to_num(share * (size - 1), nan=-size, posinf=2 * size, neginf=-size), -size, 2 * size)
        .round()
        .astype(int)
    )


def line_places(x: np.ndarray, y: np.ndarray) -> list[Place]:
    """Return every place on the lines between places."""
    found: list[Place] = []
    for start, end in zip(zip(x, y, strict=True), zip(x[1:], y[1:], strict=True), strict=False):
        steps = max(abs(int(end[0] - start[0])), abs(int(end[1] - start[1])), 1)
        shares = np.arange(steps + 1) / steps
        across = np.rint(start[0] + shares * (end[0] - start[0])).astype(int)
        down = np.rint(start[1] + shares * (end[1] - start[1])).astype(int)
        found += zip(across.tolist(), down.tolist(), strict=True)
    return found or [(int(a), int(b)) for a, b in zip(x, y, strict=True)]


LABEL = 7  # columns left of a panel's axis
LEAST = 24  # columns that a panel needs
REGIONS = (195, 224, 250), (253, 224, 200), (213, 239, 223), (248, 216, 244)
LEVELS = (247, 250, 253), (233, 239, 246), (213, 226, 239), (188, 213, 236), (148, 205, 240), (134, 178, 216)
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
    marked = (
        ticks(across, drawing.log_x, is_counted([each.x for each in chart.series])),
        ticks(up, drawing.log_y, is_counted([each.y for each in chart.series])),
    )
    return _framed(chart.title, raster, (across, up), marked, drawing, view, (drawing.log_x, drawing.log_y))


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
    return _framed(panel.title, raster, (panel.across, panel.up), (ticks(panel.across), ticks(panel.up)), drawing, view)


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
            raster.behind(place, "#{:02x}{:02x}{:02x}".format(*shade(shades[band % len(shades)], view.palette)))
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
    title: str, raster: Raster, ends: tuple[Limits, Limits], marked: tuple[Numbers, Numbers],
    drawing: Curves | Plane, view: View, logs: tuple[bool, bool] = (False, False),
) -> list[Text]:  # fmt: skip
    """Return a raster with its title and its axes, on which values are marked, at the place of each."""
    from rich.text import Text

    upright, corner, flat = ("|", "+", "-") if view.look.ascii else ("│", "└", "─")
    width = raster.width + LABEL + 1
    across, up = ([(10**value if log else value) for value in values] for values, log in zip(marked, logs, strict=True))
    places = scaled(tuple(up), ends[1], raster.height, log=logs[1], down=True).tolist()
    beside = {place: short(value) for place, value in reversed(list(zip(places, up, strict=True)))}
    lines = [Text(fitted(title, width, view.look), "bold")]
    for number, row in enumerate(raster.lines()):
        lines.append(Text.assemble((f"{beside.get(number, ''):>{LABEL - 1}} ", "dim"), (upright, "dim"), row))
    columns = scaled(tuple(across), ends[0], raster.width, log=logs[0]).tolist()
    below = _below(list(zip(columns, map(short, across), strict=True)), view.look.clean(drawing.x_name), raster.width)
    lines.append(Text(" " * LABEL + corner + flat * raster.width, "dim"))
    lines.append(Text(" " * (LABEL + 1) + below, "dim"))
    return lines


def _below(marked: list[tuple[int, str]], name: str, width: int) -> str:
    """Return the line below an axis: the first and the last value, its name in the middle, and what else has room."""
    line = " " * width

    def put(column: int, text: str) -> None:
        nonlocal line
        start = min(max(column - len(text) // 2, 0), max(width - len(text), 0))
        around = line[max(start - 1, 0) : start + len(text) + 1]
        if len(text) <= width and not around.strip():
            line = line[:start] + text + line[start + len(text) :]

    put(*marked[-1])
    put(*marked[0])
    put(width // 2, name)
    for each in marked[1:-1]:
        put(*each)
    return line


GAP = 3  # columns between boxes: a line, a turn, and a head
HIGH, PITCH, MIDDLE = 5, 6, 2  # lines of a box, and from box to box; the line of a box at which edges leave and enter
LEFT, RIGHT, UP, DOWN = 1, 2, 4, 8
STROKES = (  # by the sides of a cell that a line leads to
    "", "─", "─", "─", "│", "┘", "└", "┴", "│", "┐", "┌", "┬", "│", "┤", "├", "┼",
)  # fmt: skip
IN_ASCII = str.maketrans("─│┘┐└┌┴┬┤├┼", "-|+++++++++")
HEAD = ">"


def graph_block(graph: Graph, room: int, view: View) -> list[Text]:
    """Return a graph's title and its boxes, or a line for each number where so many columns are too few for boxes."""
    from rich.cells import cell_len
    from rich.text import Text

    told = [[view.look.clean(view.look.prose(line)) for line in node_lines(node)] for node in graph.nodes]
    inner = max(cell_len(line) for lines in told for line in lines)
    step = inner + 2 + GAP
    width = step * (1 + max(node.column for node in graph.nodes)) - GAP
    lines = _boxes(graph, told, inner, view) if width <= room else _listed(graph, told)
    title = Text(graph.title, "bold")
    widest = max(line.cell_len for line in (title, *lines))
    return [line + Text(" " * (widest - line.cell_len)) for line in (title, *lines)]


def _boxes(graph: Graph, told: list[list[str]], inner: int, view: View) -> list[Text]:
    """Return every node as a box, and edges as lines between them."""
    from rich.cells import cell_len
    from rich.text import Text

    step = inner + 2 + GAP
    cells: dict[Place, str] = {}
    for (left, line), sides in _edges(graph, step).items():
        cells[left, line] = STROKES[sides]
    for node, lines in zip(graph.nodes, told, strict=True):
        left, top = node.column * step, node.row * PITCH
        rows = [
            f"┌{'─' * inner}┐",
            *(f"│{line}{' ' * (inner - cell_len(line))}│" for line in lines),
            f"└{'─' * inner}┘",
        ]
        for down, row in enumerate(rows):
            cells.update({(left + across, top + down): character for across, character in enumerate(row)})
    for _, end in graph.edges:
        cells[graph.nodes[end].column * step - 1, graph.nodes[end].row * PITCH + MIDDLE] = HEAD
    wide, high = (1 + max(place[axis] for place in cells) for axis in (0, 1))
    drawn = ["".join(cells.get((across, down), " ") for across in range(wide)) for down in range(high)]
    return [Text(line.translate(IN_ASCII) if view.look.ascii else line) for line in drawn]


def _edges(graph: Graph, step: int) -> dict[Place, int]:
    """Return for each cell that edges run through the sides to which they lead.

    An edge goes along the row of its first node, turns in the gap before its second, and goes up or down to it.
    """
    found: dict[Place, int] = {}

    def run(start: Place, end: Place) -> None:
        across, down = end[0] - start[0], end[1] - start[1]
        there, back = (RIGHT, LEFT) if across else (DOWN, UP) if down > 0 else (UP, DOWN)
        for number in range(abs(across) + abs(down) + 1):
            place = (
                (start[0] + number, start[1]) if across else (start[0], start[1] + (number if down > 0 else -number))
            )
            sides = (back if place != start else 0) | (there if place != end else 0)
            found[place] = found.get(place, 0) | sides

    for first, second in graph.edges:
        source, target = graph.nodes[first], graph.nodes[second]
        turn = target.column * step - GAP + 1
        leaves, enters = source.row * PITCH + MIDDLE, target.row * PITCH + MIDDLE
        run((source.column * step + step - GAP - 1, leaves), (turn, leaves))
        if leaves != enters:
            run((turn, leaves), (turn, enters))
        run((turn, enters), (target.column * step - 1, enters))
    return found


def _listed(graph: Graph, told: list[list[str]]) -> list[Text]:
    """Return a line for each node: its lines, and what it goes into."""
    from rich.text import Text

    lines = []
    for place, lines_of in enumerate(told):
        into = dict.fromkeys(told[end][0].partition(" = ")[0] for start, end in graph.edges if start == place)
        lines.append(Text(", ".join(lines_of) + (f"; into {together(into)}" if into else "")))
    return lines
