"""An exploration in a terminal: its drawings and its steps, within its width, with colour, without, and in ASCII."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from rich.console import Console
from rich.text import Text

from grader.explore.cells import View
from grader.explore.example import example
from grader.explore.model import (
    Chart,
    Curves,
    Drawing,
    Exploration,
    ExplorationRun,
    Fact,
    Field,
    Graph,
    Graphs,
    Image,
    Images,
    Map,
    Node,
    Part,
    Path,
    Plane,
    Points,
    Series,
    StepResult,
    WeightMap,
)
from grader.explore.plotting import mark_of
from grader.explore.terminal import drawing_lines, exploration_lines
from grader.outcome import Where
from grader.report.terminal.layout import Look
from grader.submission.parsing import Problem
from tests.explore.maps import attention, both, plain

X = tuple(number / 10 for number in range(41))
SQUARES = Series("squares", X, tuple(x * x for x in X))
LINE = Series("lïne", X, X)
DOTS = Series("data", X[::4], tuple(x + 1 for x in X[::4]), dots=True)
CURVES = Curves("curves", "Curves", "They rise.", "x", "y", (Chart("both", (SQUARES, LINE)), Chart("dots", (DOTS,))))
LOGS = Curves("logs", "Logs", "They fall.", "x", "y", (Chart("one", (SQUARES,)),), log_x=True, log_y=True)
GRID = tuple(float(number) for number in range(5))
REGIONS = Field("regions", GRID, GRID, tuple(tuple(float(a > b) for a in GRID) for b in GRID))
LEVELS = Field("levels", GRID, GRID, tuple(tuple(a + b for a in GRID) for b in GRID))
POINTS = (Points("class 0", (3.0,), (0.5,), ("low",)), Points("class 1", (0.5,), (3.0,)))
PATHS = (Path("walk", (0.0, 1.0, 4.0), (0.0, 3.0, 4.0)),)
PLANE = Plane(
    "plane", "Plane", "Two sides.", "first", "second",
    (Map("sides", (0, 4), (0, 4), POINTS, field=REGIONS), Map("valley", (0, 4), (0, 4), (), PATHS, LEVELS)),
)  # fmt: skip
SMALL = Image("filter", ((-1.0, 0.0, 1.0),) * 3)
LARGE = Image("picture", tuple(tuple(float((a + b) % 2) for a in range(16)) for b in range(16)))
NAMED = Image("memory", ((0.5, -0.5), (1.0, 0.0)), ("unit 1", "unit 2"), ("a", "b"))
IMAGES = Images("images", "Images", "See.", "steps", "units", (SMALL, LARGE, NAMED), -1.0, 1.0, signed=True)
SHADES = Images("shades", "Shades", "See.", "x", "y", (LARGE, Image("few", ((0.0, 1.0),))), 0.0, 1.0)
NONE_YET = float("nan")
BLANKS = Images(
    "blanks", "Blanks", "Fill.", "x", "y", (Image("one", ((19.0, NONE_YET), (NONE_YET, NONE_YET))),), 0.0, 50.0
)
NODES = (Node("x", 0, 1, 2.0, 39.0), Node("a = 3·x", 1, 1, 6.0, 13.0), Node("b = a·a", 2, 0, 36.0, 1.0),
         Node("y = a + b", 3, 1, 42.0, 1.0))  # fmt: skip
GRAPHS = Graphs("graphs", "Graphs", "Back.", (Graph("y", NODES, ((0, 1), (1, 2), (1, 2), (1, 3), (2, 3))),))
ALL = (CURVES, LOGS, PLANE, IMAGES, SHADES, BLANKS, GRAPHS)
COLOUR, NONE, ASCII = View(Look(80), "truecolor"), View(Look(80), None), View(Look(80, ascii=True), None)


def styles(lines: list[Text]) -> set[str]:
    return {str(span.style) for line in lines for span in line.spans}


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.id)
def test_every_drawing_stays_within_the_terminal(each: Drawing) -> None:
    for width, view in product((24, 40, 60, 80, 100, 120, 200), (COLOUR, NONE, ASCII)):
        lines = drawing_lines(each, View(Look(width, view.look.ascii), view.palette))
        assert max(line.cell_len for line in lines) <= min(width, 120)
        assert lines[1].plain == each.title


@pytest.mark.parametrize("each", ALL, ids=lambda each: each.id)
def test_a_plain_terminal_gets_ascii_and_no_style_of_its_own(each: Drawing) -> None:
    assert all(line.isascii() for line in plain(drawing_lines(each, ASCII)))
    for view in (NONE, ASCII):
        assert not [style for style in styles(drawing_lines(each, view)) if "#" in style]


def test_curves_are_told_apart_by_marks_without_colour() -> None:
    text = "\n".join(plain(drawing_lines(CURVES, ASCII)))
    assert "o squares" in text
    assert "+ line" in text
    assert text.count("o") > 20
    assert text.count("+") > 15


def test_curves_are_braille_with_marks_where_there_is_colour() -> None:
    lines = drawing_lines(CURVES, COLOUR)
    text = "\n".join(plain(lines))
    assert any("\u2801" <= character <= "\u28ff" for character in text)
    assert {"●", "○"} <= set(text)
    assert {"#0072b2", "#d55e00"} <= styles(lines)


def test_the_ends_of_the_axes_are_told() -> None:
    text = plain(drawing_lines(LOGS, NONE))
    assert "Across: x (logarithmic). Up: y (logarithmic)." in text[3]
    assert text[-1].split() == ["0.1", "0.2", "0.5", "x", "1", "2"]


def test_two_panels_stand_side_by_side_at_80_columns_and_below_each_other_at_60() -> None:
    assert any(line.split() == ["sides", "valley"] for line in plain(drawing_lines(PLANE, NONE)))
    narrow = plain(drawing_lines(PLANE, View(Look(60), None)))
    assert [line.strip() for line in narrow if line.strip() in ("sides", "valley")] == ["sides", "valley"]


def test_regions_points_labels_and_paths_are_there_without_colour() -> None:
    text = "\n".join(plain(drawing_lines(PLANE, ASCII)))
    for piece in ("....", "low", "o class 0", "+ class 1", "o walk"):
        assert piece in text
    assert any(" on #c3e0fa" in style for style in styles(drawing_lines(PLANE, COLOUR)))


def test_small_images_have_numbers_and_large_ones_two_rows_in_a_line() -> None:
    lines = plain(drawing_lines(IMAGES, NONE))
    assert any("-1.00  0.00 ▲1.00" in line for line in lines), lines
    counted = Images("table", "Table", "See.", "x", "y", (Image("counts", ((39.0, 1.0), (0.0, 40.0))),), 0.0, 40.0)
    assert any("█  39     1" in line for line in plain(drawing_lines(counted, NONE)))
    assert sum(bool({*"▼▽△▲"} & {*line}) for line in lines) >= 8
    assert "Cells: ▼ and ▽ below 0, △ and ▲ above, from -1 to 1." in " ".join(" ".join(lines).split())
    assert "▀" in "\n".join(plain(drawing_lines(IMAGES, COLOUR)))


def test_rows_and_columns_of_an_image_may_have_names() -> None:
    lines = plain(drawing_lines(IMAGES, NONE))
    assert any("unit 1" in line for line in lines)


def test_what_does_not_fit_is_said() -> None:
    wide = Images("w", "Wide", "See.", "x", "y", (Image("row", (tuple(range(90)),)),), 0.0, 90.0)
    assert any("wider terminal" in line for line in plain(drawing_lines(wide, NONE)))
    assert any("wider" in line for line in plain(drawing_lines(CURVES, View(Look(24), None))))


def test_nothing_at_all_and_single_values_can_be_drawn() -> None:
    flat = Chart("flat", (Series("one", (1.0,), (5.0,)), Series("none", (), ())))
    still = Plane("p", "Still", "One place.", "x", "y", (Map("m", (0, 1), (0, 1), (), (Path("p", (0.5,), (0.5,)),)),))
    for view in (COLOUR, NONE, ASCII):
        assert drawing_lines(Curves("c", "Flat", "Nothing.", "x", "y", (flat,)), view)
        assert drawing_lines(still, view)


@pytest.mark.parametrize("view", [COLOUR, NONE, ASCII])
def test_points_lie_on_lines(view: View) -> None:
    x = (0.0, 1.0, 2.0, 3.0)
    series = (Series("loss", x, (3.0, 2.0, 1.0, 0.0)), Series("best", (2.0,), (1.0,), dots=True))
    lines = plain(drawing_lines(Curves("a", "A", "", "step", "size", (Chart("a", series),)), view))
    mark = mark_of(1, view.look.ascii)
    assert any(mark in line.partition("|" if view.look.ascii else "│")[2] for line in lines)


@pytest.mark.parametrize("view", [COLOUR, NONE, ASCII])
def test_rows_with_names_have_a_line_each_and_stand_in_line(view: View) -> None:
    names = tuple(f"{'日本' if row % 2 else 'word'}{row}" for row in range(12))
    image = Image("named", tuple((0.0, 1.0) for _ in names), names, ("a", "b"))
    lines = drawing_lines(Images("named", "Named", "See.", "x", "y", (image,), 0.0, 1.0), view)[-12:]
    assert [line.plain.split()[0] for line in lines] == [view.look.clean(name) for name in names]
    assert len({line.cell_len for line in lines}) == 1


def test_a_cell_without_a_value_is_no_number() -> None:
    for view, mark in ((COLOUR, "·"), (NONE, "·"), (ASCII, ".")):
        first, second = plain(drawing_lines(BLANKS, view))[-2:]
        assert first.split()[-2:] == ["19", mark] and second.split() == [mark, mark]


def test_a_graph_is_boxes_with_values_and_gradients_and_lines_between_them() -> None:
    lines = plain(drawing_lines(GRAPHS, NONE))
    assert lines[-5:] == [
        "    ┌─────────┐   ┌─────────┐ │             │ ┌─────────┐",
        "    │x        │   │a = 3·x  │ │             │ │y = a + b│",
        "    │value 2  │──>│value 6  │─┴─────────────┴>│value 42 │",
        "    │grad 39  │   │grad 13  │                 │grad 1   │",
        "    └─────────┘   └─────────┘                 └─────────┘",
    ]
    assert plain(drawing_lines(GRAPHS, ASCII))[-3] == "    |value 2  |-->|value 6  |-+-------------+>|value 42 |"


def test_a_graph_that_is_too_wide_for_boxes_is_a_line_for_each_number() -> None:
    lines = plain(drawing_lines(GRAPHS, View(Look(52), None)))
    assert lines[-4:] == [
        "    x, value 2, grad 39; into a",
        "    a = 3·x, value 6, grad 13; into b and y",
        "    b = a·a, value 36, grad 1; into y",
        "    y = a + b, value 42, grad 1",
    ]


def test_a_product_stays_a_product_in_ascii_and_a_title_is_readable() -> None:
    chart = Chart("|QᵀQ − I| of a·b", (SQUARES,))
    text = "\n".join(plain(drawing_lines(Curves("c", "C", "It is 1·6 + 2·8.", "x", "y", (chart,)), ASCII)))
    assert "|Q^T Q - I| of a * b" in text and "It is 1 * 6 + 2 * 8." in text and text.isascii()
    assert any("|b = a * a" in line for line in plain(drawing_lines(GRAPHS, ASCII)))


RAN = ExplorationRun("attention.py", "0" * 64, "process", None, None)
PART = Part(
    "raw", "scores(Q, K)", "scores", "passed", (4, 4), ("seq_q", "seq_k"), (Fact("range", (0, 1), "range [0, 1]"),)
)
EVIL = "\x1b[2J[red]\u202e"


def step(part: Part, notice: str | None = None) -> StepResult:
    return StepResult("raw-scores", "Raw scores", "What it means.", (part,), notice)


def exploration(*steps: StepResult, maps: tuple[WeightMap, ...] = (), words: str | None = None) -> Exploration:
    return Exploration("s15", "Attention", example(words, None, None), RAN, steps, maps)


def test_a_step_shows_call_numbers_shape_meaning_and_notice() -> None:
    lines = plain(exploration_lines(exploration(step(PART, "see this.")), View(Look(80), None)))
    assert lines[0].startswith("s15 · Attention, step by step")
    assert "1 of 1 steps" in lines[0]
    assert lines[1] == "    “The cat sat down”"
    assert lines[2] == "    4 words · 6 features each · 2 heads · words are queries, keys and values"
    assert "    down     0.5       0       0     0.5       1       1" in lines
    assert lines[-5:] == [
        "✓ 1 Raw scores",
        "    scores(Q, K)",
        "    range [0, 1]    shape (seq_q 4, seq_k 4)",
        "    What it means.",
        "    Notice: see this.",
    ]


def test_a_product_stays_a_product_in_ascii() -> None:
    part = replace(
        PART, code="dY · W_Oᵀ", facts=(Fact("a", (1,), "v · w 1"),), status="warning", message="it is 1·5 + 2·7"
    )
    lines = plain(exploration_lines(exploration(step(part)), View(Look(80, ascii=True), None)))
    assert "    dY * W_O^T" in lines
    assert any(line.startswith("    v * w 1") for line in lines) and "    it is 1 * 5 + 2 * 7" in lines


def test_what_comes_next_waits_or_went_wrong_is_said_at_the_right() -> None:
    where = Where("attention.py", 7)
    bare = replace(PART, shape=None, facts=())
    steps = [
        step(replace(bare, status="not_started", message="scores is not written yet", waits_for="scores", where=where)),
        step(replace(bare, status="not_started", message="mask is not written yet", waits_for="mask", where=where)),
        step(replace(bare, status="blocked", message="waits for scores", waits_for="scores")),
        step(replace(bare, status="timed_out", message="scores did not return within 10 s")),
        step(replace(PART, status="warning", message="rows should sum to 1", where=where)),
    ]
    found = replace(exploration(*steps), next_function="scores")
    lines = plain(exploration_lines(found, View(Look(80), None)))
    heads = [line.split("Raw scores")[1].strip() for line in lines if "Raw scores" in line]
    assert heads == ["comes next", "not written yet", "waits for scores", "timed out", "look here"]
    assert sum("scores is not written yet" in line for line in lines) == 1
    assert "    waits for scores" not in lines
    assert any(line.endswith("attention.py:7") for line in lines)


def test_nothing_that_a_module_says_controls_the_terminal() -> None:
    part = replace(PART, status="failed", message=EVIL, notes=(f"printed: {EVIL}",), where=Where(f"{EVIL}.py", 1))
    found = exploration(step(part), maps=(attention(1),), words=f"a{EVIL}")
    found = replace(found, title=EVIL)
    console = Console(width=80, markup=False, emoji=False, highlight=False, soft_wrap=True, color_system=None)
    with console.capture() as captured:
        for line in exploration_lines(found, View(Look(80), None)):
            console.print(line)
    text = captured.get()
    assert all(char == "\n" or char.isprintable() for char in text)
    assert "\\x1b[2J[red]" in text


def test_a_long_message_is_cut() -> None:
    part = replace(PART, status="failed", shape=None, facts=(), message="\n".join(["x" * 1000] * 50))
    assert len(exploration_lines(exploration(step(part)), View(Look(80), None))) < 45


def test_a_module_that_cannot_be_run_is_one_message() -> None:
    problem = Problem("syntax", "line 3: expected ':'", 3, "Add it.")
    lines = plain(exploration_lines(replace(exploration(), problem=problem), View(Look(80), None)))
    assert lines[-3:] == [
        "✗ attention.py:3 cannot be explored as it is", "    line 3: expected ':'", "    Add it.",
    ]  # fmt: skip


@pytest.mark.parametrize("ascii_only", [True, False])
@pytest.mark.parametrize("width", [24, 80, 120])
def test_the_whole_keeps_to_the_width(width: int, ascii_only: bool) -> None:
    found = exploration(step(PART, "see this"), maps=both(4))
    lines = exploration_lines(found, View(Look(width, ascii_only), None))
    assert max(line.cell_len for line in lines) <= width
    assert not ascii_only or all(line.plain.isascii() for line in lines)
