"""The records of an exploration: steps as they are planned, drawings as values, and what came of each step.

`plans` finds the steps of a course's stages: the table PLANS in plans.py, in the folder of its drawings.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from grader.course.import_guard import load
from grader.course.stage import Course
from grader.criterion import Status
from grader.errors import CourseError
from grader.outcome import Where
from grader.submission.parsing import Problem

Numbers = tuple[float, ...]
Rows = tuple[Numbers, ...]
Limits = tuple[float, float]
MARGIN = 0.04  # of a range, left free at both ends


def numbers(values: NDArray[np.float64]) -> Numbers:
    """Return the values of an array of one axis as floats."""
    return tuple(float(value) for value in values)


def rows(values: NDArray[np.float64]) -> Rows:
    """Return the values of an array of two axes, row by row."""
    return tuple(numbers(row) for row in values)


@dataclass(frozen=True)
class Series:
    """Named values over x: a line or, where dots says so, a mark at each place."""

    name: str
    x: Numbers
    y: Numbers
    dots: bool = False


@dataclass(frozen=True)
class Chart:
    """One panel of curves; up bounds what is shown of y, where the values themselves should not.

    Of a logarithmic axis up holds powers of ten.
    """

    title: str
    series: tuple[Series, ...]
    up: Limits | None = None


@dataclass(frozen=True)
class Curves:
    """Curves in one or more panels with axes of the same names; caption says what to notice."""

    id: str
    title: str
    caption: str
    x_name: str
    y_name: str
    panels: tuple[Chart, ...]
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Points:
    """Points of one kind, such as a class; labels, if there are any, one for each."""

    name: str
    x: Numbers
    y: Numbers
    labels: tuple[str, ...] = ()


@dataclass(frozen=True)
class Path:
    """Places in the order in which they were visited."""

    name: str
    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class Field:
    """A number for each place of a grid: values[i][j] at x[j], y[i]; regions are numbered, levels are heights."""

    kind: Literal["regions", "levels"]
    x: Numbers
    y: Numbers
    values: Rows


@dataclass(frozen=True)
class Map:
    """One panel of a plane; across and up bound what is shown."""

    title: str
    across: Limits
    up: Limits
    points: tuple[Points, ...] = ()
    paths: tuple[Path, ...] = ()
    field: Field | None = None


@dataclass(frozen=True)
class Plane:
    """A plane in one or more panels, with axes of the same names; caption says what to notice."""

    id: str
    title: str
    caption: str
    x_name: str
    y_name: str
    panels: tuple[Map, ...]


@dataclass(frozen=True)
class Image:
    """One small image, values[row][column], NaN where there is no value yet; names of its rows and columns, if any."""

    title: str
    values: Rows
    row_names: tuple[str, ...] = ()
    column_names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Images:
    """Small images, shown from low to high; signed ones have a colour for each sign, and high = -low."""

    id: str
    title: str
    caption: str
    x_name: str
    y_name: str
    panels: tuple[Image, ...]
    low: float
    high: float
    signed: bool = False


@dataclass(frozen=True)
class Node:
    """A number that was computed: its name or expression, its value, its gradient, and its place in the picture.

    column counts from the left, row from the top, both from 0.
    """

    name: str
    column: int
    row: int
    value: float
    gradient: float


@dataclass(frozen=True)
class Graph:
    """Numbers and what they went into: an edge leads from one node to another, by their numbers in nodes.

    An edge runs along the row of its first node as far as the column before its second, where no node may stand.
    """

    title: str
    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Graphs:
    """Graphs of numbers that were computed from each other; caption says what to notice."""

    id: str
    title: str
    caption: str
    panels: tuple[Graph, ...]


Drawing = Curves | Plane | Images | Graphs
Panel = Chart | Map | Image | Graph


def names_of(panel: Panel) -> tuple[str, ...]:
    """Return the names that a legend of a panel has: of its series, or its paths and then its points."""
    if isinstance(panel, Chart):
        return tuple(each.name for each in panel.series)
    if isinstance(panel, Map):
        return (*(each.name for each in panel.paths), *(each.name for each in panel.points))
    return ()


def shares_names(drawing: Drawing) -> bool:
    """Say whether one legend serves all panels."""
    return len({names_of(panel) for panel in drawing.panels}) == 1


def evenly(count: int, rows: int) -> tuple[int, ...]:
    """Return how many of so many panels each row has.

    >>> evenly(7, 3), evenly(4, 2)
    ((3, 2, 2), (2, 2))
    """
    return tuple(count // rows + (row < count % rows) for row in range(rows))


def reach(values: tuple[Numbers, ...], log: bool = False) -> Limits:
    """Return from where to where an axis should reach, with a margin: in powers of ten where log says so.

    Where nothing lies below 0, the axis begins there or above.

    >>> reach(((0.0, 1.0), (2.0,))), reach(((-1.0, 1.0),))
    ((0.0, 2.08), (-1.08, 1.08))
    """
    found = np.concatenate([np.asarray(each, dtype=np.float64) for each in values])
    found = np.log10(found[found > 0]) if log else found
    if not found.size:
        return 0.0, 1.0
    low, high = float(found.min()), float(found.max())
    free = MARGIN * (high - low) or max(abs(high), 1.0) / 2
    begin = low - free if log or low < 0 else max(low - free, 0.0)
    return begin, high + free if high + free > begin else begin + 1.0


def ticks(limits: Limits, log: bool = False, whole: bool = False, most: int = 5) -> Numbers:
    """Return the round values within an axis's limits, of a logarithmic one as powers of ten; at least two of them.

    >>> ticks((-0.24, 6.3)), ticks((0.0, 3.1), whole=True), ticks((-2.4, 1.2), log=True)
    ((0.0, 2.0, 4.0, 6.0), (0.0, 1.0, 2.0, 3.0), (-2.0, -1.0, 0.0, 1.0))
    """
    low, high = limits
    if log and high - low < 2:  # 1, 2 and 5 of each power of ten
        near = [
            place + np.log10(digit) for place in range(int(np.floor(low)), int(np.ceil(high))) for digit in (1, 2, 5)
        ]
        inside = tuple(float(value) for value in near if low <= value <= high)
        return inside if len(inside) > 1 else (low, high)
    size = 10.0 ** np.floor(np.log10((high - low) / most))
    steps = [size * factor for factor in (1, 2, 5, 10, 20)]
    if whole or log:
        steps = [step for step in steps if step >= 1] or [1.0]
    found: list[float] = []
    for step in steps:
        first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
        found = [round(place * step, 12) + 0.0 for place in range(first, last + 1)]
        if len(found) <= most:
            break
    return tuple(found) if len(found) > 1 else (low, high)


def is_counted(values: Sequence[Numbers]) -> bool:
    """Say whether all values are whole numbers, so that nothing lies between two of them."""
    return all(float(value).is_integer() for each in values for value in each)


def node_lines(node: Node) -> tuple[str, str, str]:
    """Return what a box says of a node.

    >>> node_lines(Node("a = 3 x", 1, 0, 6.0, 13.0))
    ('a = 3 x', 'value 6', 'grad 13')
    """
    return node.name, f"value {node.value + 0.0:.4g}", f"grad {node.gradient + 0.0:.4g}"


def is_whole(drawing: Images) -> bool:
    """Say whether all values of all images are whole numbers."""
    cells = [value for image in drawing.panels for row in image.values for value in row]
    return all(float(value).is_integer() for value in cells if not np.isnan(value))


def cell_number(value: float, whole: bool) -> str:
    """Return the number in a cell, never as -0.

    >>> cell_number(-0.001, False), cell_number(39.0, True)
    ('0.00', '39')
    """
    return f"{value + 0.0:.0f}" if whole else f"{round(value, 2) + 0.0:.2f}"


def chart_limits(chart: Chart, drawing: Curves) -> tuple[Limits, Limits]:
    """Return the limits of x and y of a panel; of a logarithmic axis as powers of ten."""
    across = [np.asarray(each.x) for each in chart.series]
    found = [np.log10(x[x > 0]) if drawing.log_x else x for x in across]
    ends = np.concatenate([x for x in found if x.size] or [np.array([0.0, 1.0])])
    low, high = float(ends.min()), float(ends.max())
    free = MARGIN * (high - low) if all(each.dots for each in chart.series) else 0.0
    across_limits = (low - free, high + free) if high > low else (low - 0.5, high + 0.5)
    return across_limits, chart.up or reach(tuple(each.y for each in chart.series), drawing.log_y)


Array = NDArray[np.float64]
PartStatus = Status | Literal["warning"]  # a warning: the numbers are there, but what is always true does not hold
SEVERITY: tuple[PartStatus, ...] = (
    "passed", "blocked", "not_started", "warning", "over_limit", "timed_out", "crashed", "failed", "grader_fault",
)  # fmt: skip
Known = Mapping[str, Any]  # what is known so far, by the name that the steps give it


@dataclass(frozen=True)
class Fact:
    """Numbers that a step shows, and how they read."""

    name: str
    values: tuple[float, ...]
    text: str


@dataclass(frozen=True)
class Reading:
    """What one call gave: values for later calls, facts to show, and what does not hold although it always should.

    code says what was called, where that was not what was planned.
    """

    values: Mapping[str, Any]
    shape: tuple[int, ...] | None = None
    axes: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    wrong: tuple[str, ...] = ()
    code: str = ""


Run = Callable[[Any, Known], Reading]


@dataclass(frozen=True)
class Call:
    """One call of a learner's function: code as a learner would write it, needs the values that it starts from.

    criterion is the one that it is about, where the function alone does not tell.
    """

    id: str
    code: str
    function: str
    needs: tuple[str, ...]
    run: Run
    criterion: str = ""


@dataclass(frozen=True)
class Step:
    """A step and what it means; notice says what to see in the lesson's own example, own_notice in any other.

    Steps that follow each other and share a process work with the same objects of the learner's; else each call has a
    process of its own.
    """

    id: str
    title: str
    meaning: str
    calls: tuple[Call, ...]
    notice: Callable[[Known], str | None] = lambda known: None
    process: str = ""
    own_notice: Callable[[Known], str | None] = lambda known: None


@dataclass(frozen=True)
class Part:
    """What came of one call: facts or, in message, what came instead; waits_for is the function that comes first."""

    id: str
    code: str
    function: str
    status: PartStatus
    shape: tuple[int, ...] | None = None
    axes: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()
    message: str = ""
    waits_for: str | None = None
    where: Where | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class StepResult:
    """What came of a step."""

    id: str
    title: str
    meaning: str
    parts: tuple[Part, ...]
    notice: str | None = None

    @property
    def status(self) -> PartStatus:
        """The status of the part that went worst."""
        return max((part.status for part in self.parts), key=SEVERITY.index)


@dataclass(frozen=True)
class WeightMap:
    """Weights to be drawn: a row for each query, a column for each key."""

    id: str
    title: str
    causal: bool
    head: int | None
    weights: tuple[tuple[float, ...], ...]


def weight_map(title: str, causal: bool, head: int | None, weights: Array) -> WeightMap:
    """Return a map of an array of weights, (seq_q, seq_k)."""
    rows = tuple(tuple(float(weight) for weight in row) for row in weights)
    return WeightMap(title.lower().replace(" ", "-").replace(",", ""), title, causal, head, rows)


@dataclass(frozen=True)
class Example:
    """What is explored: words, and for each a row of Q, K and V, (seq, d_k), (seq, d_k) and (seq, d_v).

    is_lesson says that it is the sentence of the lesson; source says in words where the numbers come from. Where keys
    and values are about other words than the queries, key_words are theirs, one for each row of K and V.
    """

    words: tuple[str, ...]
    Q: Array
    K: Array
    V: Array
    heads: int
    is_lesson: bool
    source: str
    key_words: tuple[str, ...] | None = None

    @property
    def keys(self) -> tuple[str, ...]:
        """The words of the keys: those of the queries where there are no others."""
        return self.words if self.key_words is None else self.key_words

    @property
    def is_self(self) -> bool:
        """Whether queries, keys and values are one array."""
        return self.Q is self.K and self.K is self.V


@dataclass(frozen=True)
class ExplorationRun:
    """Where and how the learner's module ran."""

    file: str
    digest: str
    isolation: str
    isolation_note: str | None
    seed: int | None


@dataclass(frozen=True)
class Origin:
    """Where a picture comes from: the last step whose values it shows, and whether any of its values are wrong.

    picture is the id of a map or a drawing, step that of a step.
    """

    picture: str
    step: str
    wrong: bool


WRONG = "of a wrong step"  # what stands beside the title of such a picture


@dataclass(frozen=True)
class Exploration:
    """All of it; next_function comes next, and look_at is the first function that does not do what it should.

    look_criterion is the one that this function fails, where the step says which.
    example is the sentence that was explored; where a stage has its own data instead, given says which.
    """

    stage: str
    title: str
    example: Example | None
    ran: ExplorationRun
    steps: tuple[StepResult, ...] = ()
    maps: tuple[WeightMap, ...] = ()
    next_function: str | None = None
    look_at: str | None = None
    look_criterion: str = ""
    problem: Problem | None = None
    given: str = ""
    drawings: tuple[Drawing, ...] = ()
    origins: tuple[Origin, ...] = ()

    def is_wrong(self, picture: WeightMap | Drawing) -> bool:
        """Say whether a map or a drawing shows values that are wrong."""
        return any(each.wrong for each in self.origins if each.picture == picture.id)

    def of_step(self, step: StepResult) -> Exploration:
        """Return of this the one step and its pictures."""
        own = {each.picture for each in self.origins if each.step == step.id}
        maps = tuple(each for each in self.maps if each.id in own)
        drawings = tuple(each for each in self.drawings if each.id in own)
        return replace(self, steps=(step,), maps=maps, drawings=drawings)

    @property
    def fine(self) -> bool:
        """Whether every step did what it should."""
        return self.problem is None and all(step.status == "passed" for step in self.steps)


@dataclass(frozen=True)
class Plan:
    """What the exploration of one stage consists of; random says whether the seed makes a difference.

    start gives what the steps begin with, from the sentence (None for a stage that has its own data) and the seed;
    given says what a stage's own data are, and drawings makes of what is known what can be drawn. Where data is set,
    start gets the files of the stage's data folder as well: their bytes by name. Where prompt is set, the stage
    continues a text: start gets its words, those of prompt where nobody gave others.
    """

    steps: tuple[Step, ...]
    start: Callable[..., Known]
    random: bool
    of_sentence: bool = False
    given: str = ""
    maps: Callable[[Known], tuple[WeightMap, ...]] = lambda known: ()
    drawings: Callable[[Known], tuple[Drawing, ...]] = lambda known: ()
    data: bool = False
    prompt: str = ""


def may_draw(course: Course, stage: str) -> bool:
    """Say whether a stage can be explored, without importing a drawing: read from the table, which takes a millisecond.

    True as well where the table is not written out, so that only `plans` knows.
    """
    folder = course.settings.drawings
    if folder is None:
        return False
    try:
        tree = ast.parse((course.root / folder / "plans.py").read_bytes())
    except (OSError, SyntaxError, ValueError):
        return True
    for node in tree.body:
        if isinstance(node, ast.AnnAssign | ast.Assign) and isinstance(node.value, ast.Dict) and _names(node, "PLANS"):
            keys = [key.value if isinstance(key, ast.Constant) else None for key in node.value.keys]
            return stage in keys or None in keys
    return True


def _names(node: ast.AnnAssign | ast.Assign, name: str) -> bool:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def plans(course: Course) -> Mapping[str, Plan]:
    """Return the plan of each stage that can be explored, by its id; none where the course has no drawings.

    Raises CourseError where they cannot be imported, or are no plans of stages.
    """
    folder = course.settings.drawings
    if folder is None:
        return {}
    found: Any = getattr(load(course.root / folder, "plans"), "PLANS", None)
    if not isinstance(found, Mapping) or not all(isinstance(plan, Plan) for plan in found.values()):
        raise CourseError(f"{folder}/plans.py defines no PLANS: expected the Plan of each stage by its id")
    return found
