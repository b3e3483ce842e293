"""Graphs of numbers as boxes and lines of characters; where they are too wide for that, a line for each number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader.explore.drawing import Graph, node_lines
from grader.explore.terminal.heatmap import View

if TYPE_CHECKING:
    from rich.text import Text

GAP = 3  # columns between boxes: a line, a turn, and a head
HIGH, PITCH, MIDDLE = 5, 6, 2  # lines of a box, and from box to box; the line of a box at which edges leave and enter
LEFT, RIGHT, UP, DOWN = 1, 2, 4, 8
STROKES = (  # by the sides of a cell that a line leads to
    "", "─", "─", "─", "│", "┘", "└", "┴", "│", "┐", "┌", "┬", "│", "┤", "├", "┼",
)  # fmt: skip
IN_ASCII = str.maketrans("─│┘┐└┌┴┬┤├┼", "-|+++++++++")
HEAD = ">"
Place = tuple[int, int]


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
        lines.append(Text(", ".join(lines_of) + (f"; into {' and '.join(into)}" if into else "")))
    return lines
