"""An exploration as a learner reads it in a terminal: the example, the steps with their numbers, maps and drawings."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from grader.diagnosis.comparison.wording import shape_text
from grader.explore.cells import View, image_block, legend, map_lines, scale_words
from grader.explore.model import (
    Chart,
    Curves,
    Drawing,
    Example,
    Exploration,
    Graphs,
    Images,
    Map,
    Panel,
    Part,
    Plane,
    StepResult,
    evenly,
    names_of,
    shares_names,
)
from grader.explore.plotting import LABEL, LEAST, chart_block, colour_of, graph_block, mark_of, plane_block
from grader.report.terminal.layout import INDENT, Look, heading, paragraph, row, side_by_side, with_place

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
    elif isinstance(drawing, Images):
        blocks = [image_block(each, drawing, view) for each in drawing.panels]
    else:
        shared = shares_names(drawing)
        lines += _legend(names_of(drawing.panels[0]), view) if shared and len(names_of(drawing.panels[0])) > 1 else []
        across = min(max((room + GAP) // (PANEL + GAP), 1), len(drawing.panels))
        width = max(min((room + GAP) // across - GAP, WIDEST), LEAST)
        blocks = []
        for panel in drawing.panels:
            legend = [] if shared else [_fitted(line, width) for line in _legend(names_of(panel), view, width)]
            blocks.append(_block(panel, drawing, width, across, view) + legend)
    if max(block[0].cell_len for block in blocks) > room:
        return [*lines, *paragraph("This needs a wider terminal; --json has the numbers.", view.look, "yellow")]
    return lines + _flowing(blocks, room)


def _readable(drawing: Drawing, view: View) -> Drawing:
    """Return a drawing whose panels have titles as the terminal can show them."""

    def shown(title: str) -> str:
        return view.look.clean(view.look.prose(title))

    panels: Any = tuple(replace(panel, title=shown(panel.title)) for panel in drawing.panels)
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
    """Return blocks in as few rows as fit, as evenly as it goes."""
    from rich.text import Text

    groups = [blocks]
    for rows in range(1, len(blocks) + 1):
        left = iter(blocks)
        groups = [list(islice(left, count)) for count in evenly(len(blocks), rows)]
        if all(sum(block[0].cell_len + GAP for block in group) <= room + GAP for group in groups):
            break
    lines: list[Text] = []
    for group in groups:
        lines += [*([Text("")] if lines else []), *_beside(group)]
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


TABLE_ROWS, TABLE_FEATURES = 12, 8  # of embeddings that are shown in full
MESSAGE_LINES, LINE_LENGTH = 6, 300
WORDS = {
    "failed": "something else came",
    "crashed": "crashed",
    "timed_out": "timed out",
    "over_limit": "over a limit",
    "warning": "look here",
}


def exploration_lines(found: Exploration, view: View, only: int | None = None) -> list[Text]:
    """Return the whole of it, each picture below its step; only is the number of the one step to show."""
    look = view.look
    done = sum(step.status == "passed" for step in found.steps)
    total = len(found.steps)
    title = f"{found.stage} · {found.title}, step by step"
    if found.problem is not None:
        return [*heading(title, "", "", look), *_problem_lines(found, look)]
    lines = heading(title, f"{done} of {total} steps", look.bar(done, total), look)
    lines += paragraph(_given(found), look) if found.example is None else _example_lines(found.example, found, look)
    for number, step in enumerate(found.steps, start=1):
        if only in (None, number):
            lines += _step_lines(number, step, found.next_function, look)
            lines += _picture_lines(found.of_step(step), view)
    return lines


def _picture_lines(found: Exploration, view: View) -> list[Text]:
    """Return the pictures of one step; what is wrong stands between hatched lines that say so."""
    from rich.text import Text

    hatch = Text(("/" if view.look.ascii else "╱") * (view.look.detail - INDENT), "yellow")
    lines: list[Text] = []
    for is_wrong in (False, True):
        maps = tuple(each for each in found.maps if found.is_wrong(each) == is_wrong)
        drawings = [each for each in found.drawings if found.is_wrong(each) == is_wrong]
        shown = _map_lines(replace(found, maps=maps), view) if maps else []
        shown += [line for each in drawings for line in drawing_lines(each, view)]
        if shown and is_wrong:
            said = paragraph("Drawn of values that are wrong: this is not what the step is about.", view.look, "yellow")
            shown = [Text(""), Text(" " * INDENT) + hatch, *said, *shown, Text(" " * INDENT) + hatch]
        lines += shown
    return lines


def _given(found: Exploration) -> str:
    """Return what a stage's own data are."""
    seed = "" if found.ran.seed is None else f" · drawn with seed {found.ran.seed}"
    return f"{found.given}{seed}"


def _problem_lines(found: Exploration, look: Look) -> list[Text]:
    assert found.problem is not None
    problem, file = found.problem, found.ran.file
    place = f"{file}:{problem.line}" if problem.line else file
    lines = row("failed", f"{place} cannot be explored as it is", "", look)
    lines += paragraph(_short(problem.message), look)
    return lines + (paragraph(problem.hint, look, "yellow") if problem.hint else [])


def _example_lines(example: Example, found: Exploration, look: Look) -> list[Text]:
    features = f"{_count(example.Q.shape[1], 'feature')} each"
    roles = "words are queries, keys and values" if example.is_self else "Q, K and V are given"
    if found.ran.seed is not None:
        roles += f" · weights drawn with seed {found.ran.seed}"
    words, count = f"“{' '.join(example.words)}”", _count(len(example.words), "word")
    if example.key_words is not None:
        words = f"{words} looks at “{' '.join(example.key_words)}”"
        count = f"{_count(len(example.words), 'query', 'queries')} · {_count(len(example.keys), 'key')}"
    told = f"{count} · {features} · {_count(example.heads, 'head')} · {roles}"
    return [
        *paragraph(words, look, "bold"),
        *paragraph(told, look),
        *paragraph(f"from {example.source}", look, "dim"),
        *_table_lines(example, look),
    ]


def _table_lines(example: Example, look: Look) -> list[Text]:
    """Return the embeddings, where they are small enough to be read."""
    rows, features = example.Q.shape
    if not example.is_self or rows > TABLE_ROWS or features > TABLE_FEATURES:
        return []
    from rich.cells import cell_len
    from rich.text import Text

    labels = [look.clean(word) for word in example.words]
    width = max(map(cell_len, labels))
    lines = []
    for label, values in zip(labels, example.Q, strict=True):
        numbers = "".join(f"{value:8.4g}" for value in values)
        lines.append(Text(f"{' ' * INDENT}{label}{' ' * (width - cell_len(label))}{numbers}", "dim"))
    return lines if all(line.cell_len <= look.detail for line in lines) else []


def _step_lines(number: int, step: StepResult, following: str | None, look: Look) -> list[Text]:
    from rich.text import Text

    status = _status(step, following)
    lines = [Text(""), *row(step.status, f"{number} {step.title}", status, look)]
    told = {f"waits for {step.parts[0].waits_for}"} if step.status == "blocked" else set()
    for part in step.parts:
        lines += _part_lines(part, told, look)
    if step.status in ("passed", "warning"):
        lines += paragraph(look.prose(step.meaning), look)
    if step.notice is not None:
        lines += paragraph(look.prose(f"Notice: {step.notice}"), look, "cyan")
    return lines


def _status(step: StepResult, following: str | None) -> str:
    part = next(part for part in step.parts if part.status == step.status)
    if part.status == "not_started":
        return "comes next" if part.waits_for == following else "not written yet"
    return f"waits for {part.waits_for}" if part.status == "blocked" else WORDS.get(part.status, "")


def _part_lines(part: Part, told: set[str], look: Look) -> list[Text]:
    """Return the call and its numbers, or what came instead; told holds messages of this step that stand already."""
    facts = [look.prose(fact.text) for fact in part.facts]
    if part.shape is not None:
        facts.append(f"shape {shape_text(part.shape, part.axes)}")
    lines = paragraph(look.prose(part.code), look, "bold" if facts else "dim", hanging=4)
    lines += side_by_side(facts, look, "") if facts else []
    if part.message and part.message not in told:
        told.add(part.message)
        waits = part.status in ("not_started", "blocked")
        lines += paragraph(look.prose(_short(part.message)), look, "dim" if waits else "yellow")
        if part.where is not None:
            lines = with_place(lines, f"{part.where.file}:{part.where.line}", look)
    for note in part.notes:
        lines += paragraph(_short(note), look, "dim")
    return lines


def _map_lines(found: Exploration, view: View) -> list[Text]:
    """Return plain and causal beside each other, and then the heads."""
    from rich.text import Text

    assert found.example is not None
    words, keys = found.example.words, found.example.keys
    lines = [Text("")]
    lines += paragraph(legend(2, words, view, keys), view.look, "dim")
    whole = tuple(each for each in found.maps if each.head is None)
    heads = tuple(each for each in found.maps if each.head is not None)
    for group in (whole, heads):
        if group:
            lines += [Text(""), *map_lines(group, words, view, keys)[:-1]]
    return lines


def _count(number: int, noun: str, several: str = "") -> str:
    return f"{number} {noun if number == 1 else several or f'{noun}s'}"


def _short(text: str) -> str:
    """Return the lines of a text that are not blank, shortened, and not too many."""
    lines = [line[:LINE_LENGTH] for line in text.splitlines() if line.strip()]
    return "\n".join([*lines[:MESSAGE_LINES], *(["…"] if len(lines) > MESSAGE_LINES else [])])
