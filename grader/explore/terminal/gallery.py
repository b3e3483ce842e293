"""The drawings of a stage in a terminal: heading, what to notice, legend, and panels side by side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from grader.explore.drawing import (
    Chart,
    Curves,
    Drawing,
    Graphs,
    Images,
    Map,
    Panel,
    Plane,
    names_of,
    panels_of,
    shares_names,
)
from grader.explore.terminal.graphs import graph_block
from grader.explore.terminal.heatmap import View
from grader.explore.terminal.plotting import LABEL, LEAST, chart_block, plane_block
from grader.explore.terminal.raster import colour_of, mark_of
from grader.explore.terminal.tiles import image_block, image_width, scale_words
from grader.report.terminal.layout import INDENT, paragraph

if TYPE_CHECKING:
    from rich.text import Text

GAP = 3
PANEL = 34  # columns from which panels stand side by side
WIDEST = 76  # columns of a panel that stands alone
LOW, HIGH, UPRIGHT = 9, 12, 0.44  # lines of a chart beside others and alone; lines of a plane for each column
TALLEST = 20


def drawing_lines(drawing: Drawing, view: View) -> list[Text]:
    """Return one drawing whole; where it does not fit at all, a line that says so."""
    from rich.text import Text

    drawing = _readable(drawing, view)
    room = view.look.detail - INDENT
    lines = [Text(""), Text(view.look.clean(drawing.title), "bold")]
    lines += paragraph(view.look.prose(f"Notice: {drawing.caption}"), view.look, "cyan")
    lines += paragraph(_axes(drawing, view), view.look, "dim")
    if isinstance(drawing, Graphs):
        blocks = [graph_block(each, room, view) for each in drawing.panels]
        if max(block[0].cell_len for block in blocks) > room:
            return [*lines, *paragraph("This needs a wider terminal; --json has the numbers.", view.look, "yellow")]
        return lines + _flowing(blocks, room)
    if isinstance(drawing, Images):
        if max(map(image_width, drawing.panels)) > room:
            return [*lines, *paragraph("This needs a wider terminal; --json has the numbers.", view.look, "yellow")]
        return lines + _flowing([image_block(each, drawing, view) for each in drawing.panels], room)
    if room < LEAST:
        return [*lines, *paragraph("This needs a wider terminal; --json has the numbers.", view.look, "yellow")]
    shared = shares_names(drawing)
    if shared and len(names_of(drawing.panels[0])) > 1:
        lines += _legend(names_of(drawing.panels[0]), view)
    across = min(max((room + GAP) // (PANEL + GAP), 1), len(drawing.panels))
    width = min((room + GAP) // across - GAP, WIDEST)
    blocks = []
    for panel in panels_of(drawing):
        block = _block(panel, drawing, width, across, view)
        legend = [] if shared else [_fitted(line, width) for line in _legend(names_of(panel), view, width)]
        blocks.append(block + legend)
    return lines + _flowing(blocks, room)


def _readable(drawing: Drawing, view: View) -> Drawing:
    """Return a drawing whose panels have titles as the terminal can show them."""

    def shown(title: str) -> str:
        return view.look.clean(view.look.prose(title))

    panels: Any = tuple(replace(panel, title=shown(panel.title)) for panel in panels_of(drawing))
    return replace(drawing, panels=panels)


def _block(panel: Panel, drawing: Curves | Plane, width: int, across: int, view: View) -> list[Text]:
    if isinstance(panel, Chart):
        assert isinstance(drawing, Curves)
        return chart_block(panel, drawing, width, HIGH if across == 1 else LOW, view)
    assert isinstance(panel, Map) and isinstance(drawing, Plane)
    return plane_block(panel, drawing, width, min(round((width - LABEL) * UPRIGHT), TALLEST), view)


def _axes(drawing: Drawing, view: View) -> str:
    """Return what the axes are; of images also what the shades are, of graphs what boxes and lines are."""
    if isinstance(drawing, Graphs):
        return "Boxes are numbers with their gradients; lines lead from what went into them."
    if isinstance(drawing, Images):
        return f"Across: {drawing.x_name}. Down: {drawing.y_name}. {scale_words(drawing, view)}"
    logs = (drawing.log_x, drawing.log_y) if isinstance(drawing, Curves) else (False, False)
    names = ((drawing.x_name, logs[0]), (drawing.y_name, logs[1]))
    x, y = (f"{name} (logarithmic)" if log else name for name, log in names)
    return f"Across: {x}. Up: {y}."


def _legend(names: tuple[str, ...], view: View, width: int | None = None) -> list[Text]:
    """Return the marks and names of series, in as many lines as they need."""
    from rich.text import Text

    room = width or view.look.detail - INDENT
    lines = [Text("")]
    for place, name in enumerate(names):
        mark = mark_of(place, view.look.ascii), colour_of(place) if view.palette else ""
        item = Text.assemble(mark, f" {view.look.clean(name)}")
        if lines[-1].cell_len and lines[-1].cell_len + 3 + item.cell_len > room:
            lines.append(Text(""))
        lines[-1] = lines[-1] + Text("   " if lines[-1].cell_len else "") + item
    if width is not None:
        return [Text(" ") + line for line in lines]
    return [Text(" " * INDENT) + line for line in lines if line.cell_len]


def _fitted(line: Text, width: int) -> Text:
    line.truncate(width, pad=True)
    return line


def _flowing(blocks: list[list[Text]], room: int) -> list[Text]:
    """Return blocks beside each other as far as they fit, then below."""
    from rich.text import Text

    lines: list[Text] = []
    row: list[list[Text]] = []
    for block in [*blocks, None]:
        used = sum(each[0].cell_len + GAP for each in row)
        if row and (block is None or used + block[0].cell_len > room):
            lines += [*([Text("")] if lines else []), *_beside(row)]
            row = []
        if block is not None:
            row.append(block)
    return lines


def _beside(row: list[list[Text]]) -> list[Text]:
    from rich.text import Text

    height = max(map(len, row))
    lines = []
    for number in range(height):
        pieces = [each[number] if number < len(each) else Text(" " * each[0].cell_len) for each in row]
        line = Text(" " * INDENT) + Text(" " * GAP).join(pieces)
        lines.append(line)
    return lines
