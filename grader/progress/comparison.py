"""The reference of a stage that has passed, beside the learner's own module: each function, and its time."""

from __future__ import annotations

import ast
import hashlib
import textwrap
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING

from grader.course.stage import Course, Stage
from grader.errors import GraderError, SubmissionError
from grader.progress.actions import Workspace, solution
from grader.progress.workspace import equipped
from grader.submission import Snapshot, take
from grader.submission.source import plain_text

if TYPE_CHECKING:
    from grader.outcome import Outcome

Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Piece:
    """One function: its text without docstring, its first line in the module, and what it is made of.

    lines counts those with code; tools are the functions of NumPy that it uses and, as @, the matrix product; form is
    equal for two functions that differ in layout and comments only.
    """

    name: str
    text: str
    line: int
    lines: int
    loops: int
    comprehensions: int
    tools: tuple[str, ...]
    form: str


def pieces(text: str) -> dict[str, Piece]:
    """Return the functions and, as Class.method, the methods of a module, in their order.

    Raises SyntaxError or ValueError where it is no Python, RecursionError or MemoryError where it is too deep.
    """
    tree = ast.parse(text)
    lines = text.splitlines()
    numpy = _names_of_numpy(tree)
    return {name: _piece(name, node, lines, numpy) for name, node in _functions(tree.body)}


def _functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{owner}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{owner}{node.name}.")


def _piece(name: str, node: Function, lines: list[str], numpy: dict[str, str]) -> Piece:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    said = range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1) if body is not node.body else range(0)
    kept = [lines[n - 1] for n in range(first, (node.end_lineno or first) + 1) if n not in said and n <= len(lines)]
    inner = [each for statement in body for each in ast.walk(statement)]
    return Piece(
        name,
        textwrap.dedent("\n".join(kept)).strip("\n"),
        node.lineno,
        sum(bool(line.strip()) and not line.strip().startswith("#") for line in kept),
        sum(isinstance(each, LOOPS) for each in inner),
        sum(isinstance(each, COMPREHENSIONS) for each in inner),
        tuple(dict.fromkeys(_tools(body, numpy))),
        "\n".join([ast.dump(node.args), *map(ast.dump, node.decorator_list), *map(ast.dump, body)]),
    )


def _names_of_numpy(tree: ast.Module) -> dict[str, str]:
    """Return what the module calls NumPy and its functions, and what each of these names stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "numpy":
                    found[alias.asname or "numpy"] = alias.name.replace("numpy", "np", 1) if alias.asname else "np"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            module = (node.module or "").replace("numpy", "np", 1)
            found |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
    return found


def _tools(body: list[ast.stmt], numpy: dict[str, str]) -> Iterator[str]:
    queue: list[ast.AST] = list(reversed(body))
    while queue:
        node = queue.pop()
        if isinstance(node, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.Attribute) and (name := _dotted(node, numpy)):
            yield name
            continue
        elif isinstance(node, ast.Attribute) and node.attr == "dot":
            yield ".dot"
        elif isinstance(node, ast.Name) and numpy.get(node.id, "np") != "np":
            yield numpy[node.id]
        queue += reversed(list(ast.iter_child_nodes(node)))


def _dotted(node: ast.Attribute, numpy: dict[str, str]) -> str:
    """Return an attribute of NumPy in full, as np.linalg.solve; empty for any other."""
    parts: list[str] = []
    owner: ast.expr = node
    while isinstance(owner, ast.Attribute):
        parts.append(owner.attr)
        owner = owner.value
    if not isinstance(owner, ast.Name) or owner.id not in numpy:
        return ""
    return ".".join([numpy[owner.id], *reversed(parts)])


ROUNDS = 3
RUN_SECONDS = 12.0  # that the tests of one module may take; what they do not come to has no times
SECONDS = 2 * RUN_SECONDS  # that all rounds may take: a further one is begun only if it is likely to fit
LEAST = 1e-7  # seconds: no call takes less
Times = Mapping[str, list[tuple[str, float]]]  # by test: its calls, in order


@dataclass(frozen=True)
class Timing:
    """The median time of one call, in seconds, of a learner's function and of the reference's.

    Both were called alike, calls times in each of so many rounds; ratio, the learner's over the reference's time, is
    the median of the rounds'.
    """

    own: float
    reference: float
    ratio: float
    calls: int
    rounds: int


def measured(
    course: Course,
    stage: Stage,
    both: tuple[Snapshot, Snapshot],
    isolation: str = "auto",
    on_test: Callable[[Outcome], None] | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> dict[str, Timing]:
    """Return how long the functions of a learner's module and of the reference take, in the tests that both pass.

    However loaded the machine is, and however long the stage's tests may take, it ends after about SECONDS.
    Raises IsolationRefused where the requested isolation is unavailable, CourseError where the course lacks a file.
    """
    from grader.judging.grading import Grader, Options, fresh_seed

    began = clock()
    rounds: list[tuple[Times, Times]] = []
    with Grader(course, hurried(stage)) as grader:

        def run(snapshot: Snapshot, seed: int) -> Times:
            found: dict[str, list[tuple[str, float]]] = {}

            def keep(outcome: Outcome) -> None:
                found[outcome.test] = [(call.function, call.seconds) for call in outcome.calls]
                if on_test is not None:
                    on_test(outcome)

            grader.grade(snapshot, Options(seed, isolation, timed=True), keep)
            return found

        while len(rounds) < ROUNDS and fits(clock() - began, len(rounds)):
            seed = fresh_seed()
            rounds.append((run(both[0], seed), run(both[1], seed)))
    return timings(rounds)


def hurried(stage: Stage) -> Stage:
    """Return a stage of which the tests take no longer than a run may."""
    limits = stage.limits
    seconds = min(limits.stage_seconds, RUN_SECONDS)
    limits = replace(limits, stage_seconds=seconds, call_seconds=min(limits.call_seconds, seconds))
    return replace(stage, limits=limits)


def fits(taken: float, rounds: int) -> bool:
    """Say whether another round is likely to end in time, as long as those before it took; the first one always.

    >>> fits(0.0, 0), fits(10.0, 1), fits(13.0, 1)
    (True, True, False)
    """
    return not rounds or taken + taken / rounds <= SECONDS


def timings(rounds: list[tuple[Times, Times]]) -> dict[str, Timing]:
    """Return by function how two modules compare; tests in which they were not called alike do not count.

    >>> timings([({"t": [("f", 0.2), ("f", 0.4)]}, {"t": [("f", 0.1), ("f", 0.2)]})])["f"].ratio
    2.0
    """
    found: dict[str, list[tuple[float, float, int]]] = defaultdict(list)
    for own, reference in rounds:
        totals: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0, 0])
        for test in own.keys() & reference.keys():
            if [name for name, _ in own[test]] != [name for name, _ in reference[test]]:
                continue
            for (name, mine), (_, theirs) in zip(own[test], reference[test], strict=True):
                total = totals[name]
                total[0], total[1], total[2] = total[0] + max(mine, LEAST), total[1] + max(theirs, LEAST), total[2] + 1
        for name, (mine, theirs, calls) in totals.items():
            found[name].append((mine / calls, theirs / calls, int(calls)))
    return {name: _timing(each) for name, each in found.items()}


def _timing(rounds: list[tuple[float, float, int]]) -> Timing:
    ratio = median(mine / theirs for mine, theirs, _ in rounds)
    own, reference = median(mine for mine, _, _ in rounds), median(theirs for _, theirs, _ in rounds)
    return Timing(own, reference, ratio, max(calls for _, _, calls in rounds), len(rounds))


@dataclass(frozen=True)
class FunctionPair:
    """A function in the learner's module and in the reference; timing where both were called alike."""

    name: str
    own: Piece | None
    reference: Piece | None
    timing: Timing | None = None

    @property
    def same(self) -> bool:
        """Whether both are written alike, but for layout and comments."""
        return self.own is not None and self.reference is not None and self.own.form == self.reference.form


@dataclass(frozen=True)
class SolutionComparison:
    """All functions of both modules, those of the reference first, in its order.

    problem says why the learner's own module is not there, unmeasured why there are no times.
    """

    stage: str
    title: str
    label: str
    pairs: tuple[FunctionPair, ...] = field(default=())
    problem: str = ""
    unmeasured: str = ""


def compared(
    workspace: Workspace,
    stage: Stage,
    timed: bool = True,
    isolation: str = "auto",
    on_test: Callable[[Outcome], None] | None = None,
) -> SolutionComparison:
    """Return the reference beside the learner's own module, and how long both take; StageLocked before it has passed.

    What is wrong with the learner's module, or with measuring, is told in the result, with the reference all the same.
    """
    text = solution(workspace, stage)
    label = f"stages/{stage.name}/{stage.module}"
    reference = pieces(text)
    try:
        snapshot = take(stage, None, workspace.course.root)
        own = _read(snapshot)
    except SubmissionError as error:
        alone = tuple(FunctionPair(name, None, each) for name, each in reference.items())
        return SolutionComparison(
            stage.id, stage.title, label, alone, error.message, "there is nothing to measure it with"
        )
    pairs = paired(own, reference)
    if not timed:
        return SolutionComparison(stage.id, stage.title, label, pairs, "", "not asked for")
    try:
        snapshot = equipped(workspace.course, workspace.store, stage, snapshot, None, {})
        other = _snapshot_of(stage, text, snapshot)  # what it is run with may see it: it is shown here anyway
        times = measured(workspace.course, stage, (snapshot, other), isolation, on_test)
    except GraderError as error:
        return SolutionComparison(stage.id, stage.title, label, pairs, "", error.message)
    found = tuple(replace(pair, timing=times.get(pair.name.removesuffix(".__init__"))) for pair in pairs)
    none = "" if any(pair.timing for pair in found) else f"no test of {stage.id} passes with both modules"
    return SolutionComparison(stage.id, stage.title, label, found, "", none)


def paired(own: dict[str, Piece], reference: dict[str, Piece]) -> tuple[FunctionPair, ...]:
    """Return the functions of two modules by name: those of the reference, then those that only the learner's has."""
    pairs = [FunctionPair(name, own.get(name), piece) for name, piece in reference.items()]
    return tuple(pairs + [FunctionPair(name, piece, None) for name, piece in own.items() if name not in reference])


def _read(snapshot: Snapshot) -> dict[str, Piece]:
    text = plain_text(snapshot.source)
    try:
        if text is not None:
            return pieces(text)
        why = "it is no text that Python reads at once"
    except SyntaxError as error:
        why = f"line {error.lineno}: {error.msg}"
    except (ValueError, RecursionError, MemoryError) as error:
        why = f"{type(error).__name__}: {error}"
    raise SubmissionError(f"{snapshot.label} cannot be read: {why}")


def _snapshot_of(stage: Stage, text: str, like: Snapshot) -> Snapshot:
    source = text.encode()
    return replace(like, source=source, digest=hashlib.sha256(source).hexdigest(), label=f"the reference of {stage.id}")
