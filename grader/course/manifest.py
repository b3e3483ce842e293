"""A course's manifests: each stage.toml becomes a frozen Stage, or one error that lists every mistake in it.

This is the only reader of TOML. A mistake is one line: the file relative to the course, the place in it, what stands
there and what was expected. Places count from 0, as in criteria[3].hints[0].
"""

from __future__ import annotations

import ast
import math
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Literal, TypeVar, get_args

from grader.course.table import Rule, Table, did_you_mean, listed, near
from grader.errors import CourseError, UnknownStage, UsageError

SCHEMA = 1
Feedback = Literal["full", "hint", "verdict"]  # what is told of a hidden test, the most first
FEEDBACK: tuple[Feedback, ...] = get_args(Feedback)
HOUSE = Path(__file__).resolve().parents[1]
HIDDEN = HOUSE / "hidden"
OPERATORS: Mapping[str, type[ast.operator]] = {
    "+": ast.Add, "-": ast.Sub, "*": ast.Mult, "/": ast.Div, "//": ast.FloorDiv, "%": ast.Mod, "**": ast.Pow,
    "@": ast.MatMult, "<<": ast.LShift, ">>": ast.RShift, "&": ast.BitAnd, "|": ast.BitOr, "^": ast.BitXor,
}  # fmt: skip

_Numbers = TypeVar("_Numbers", "Limits", "Tolerance")
_STAGE_ID: Rule = re.compile(r"s[0-9]{2,}"), "a stage id such as 's15'"
_KEBAB: Rule = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*"), "kebab-case, as in 'split-heads'"
_MODULE: Rule = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.py"), "the plain name of a Python file, as in 'attention.py'"
_DOTTED: Rule = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*"), "a Python name, dotted or not"
_AXES: Rule = (
    re.compile(r"\s*\w+([*/+-]\w+)*(\s+\w+([*/+-]\w+)*)*\s*"),
    "names of axes with spaces between, as in 'batch seq d_model'",
)
_OPERATOR: Rule = re.compile("|".join(map(re.escape, OPERATORS))), "an operator; known are " + " ".join(OPERATORS)


@dataclass(frozen=True)
class Criterion:
    """A row of the checklist: the functions it is about, the earlier rows it builds on, three hints."""

    id: str
    text: str
    functions: tuple[str, ...]
    needs: tuple[str, ...]
    hints: tuple[str, str, str]


@dataclass(frozen=True)
class Limits:
    """Wall-clock seconds of all tests and of one call, and MiB of address space added for one test.

    result_mb is how many MiB one call may return, result_rows how many entries along an axis and in a container.
    """

    stage_seconds: float = 60.0
    call_seconds: float = 10.0
    memory_mb: int = 1024
    result_mb: int = 4
    result_rows: int = 65536


@dataclass(frozen=True)
class Tolerance:
    """Relative tolerance by the less precise dtype of the two arrays compared."""

    float64: float = 1e-9
    float32: float = 1e-4


@dataclass(frozen=True)
class Forbidden:
    """Operators and dotted names that a stage's module may not use, and the reason a learner reads."""

    operators: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Stage:
    """One stage of the course, as its stage.toml describes it; axes is function -> argument -> names of its axes."""

    id: str
    folder: Path
    title: str
    module: str
    requires: tuple[str, ...]
    criteria: tuple[Criterion, ...]
    limits: Limits = Limits()
    tolerance: Tolerance = Tolerance()
    forbidden: Forbidden = Forbidden()
    axes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict, hash=False)
    opaque: tuple[str, ...] = ()  # functions whose last result is a cache of the learner's own layout, never compared
    feedback: Feedback = "full"
    hidden_root: Path = HIDDEN  # holds, in a folder of this stage's name, its hidden tests and answers
    key_file: Path | None = None  # opens them where they are sealed, as in a learner's copy

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def number(self) -> int:
        return int(self.id[1:])

    @property
    def module_path(self) -> Path:
        return self.folder / self.module

    @property
    def readme_path(self) -> Path:
        return self.folder / "README.md"

    @property
    def tests_path(self) -> Path:
        return self.folder / "tests"

    def criterion(self, criterion_id: str) -> Criterion:
        """The row of that id; raises UsageError, with a near id, when there is none."""
        ids = [row.id for row in self.criteria]
        if criterion_id not in ids:
            alike = near(criterion_id, ids)
            hint = f"Did you mean {alike[0]}?" if alike else f"The rows are {', '.join(ids)}."
            raise UsageError(f"{criterion_id!r} is not a row of {self.name}", hint)
        return self.criteria[ids.index(criterion_id)]

    def criterion_of(self, function: str) -> Criterion | None:
        """The first row that names the function; for a method no row names, the first that names its class."""
        names = (function, function.partition(".")[0])
        return next((row for name in names for row in self.criteria if name in row.functions), None)


def public_names(stage: Stage) -> tuple[str, ...]:
    """The functions and classes that the rows are about, each once, in their order; a method counts as its class."""
    return tuple(dict.fromkeys(name.partition(".")[0] for row in stage.criteria for name in row.functions))


@dataclass(frozen=True)
class Course:
    """All stages below root/stages, in order."""

    root: Path
    stages: tuple[Stage, ...]

    def find(self, text: str) -> Stage:
        """The stage meant by s15, 15, attention, s15_attention, attention.py or a path into its folder, in any case.

        Raises UnknownStage, with near names, when none or several are meant.
        """
        wanted = text.strip().lower()
        at_path = self._at(wanted)
        found = [at_path] if at_path else [s for s in self.stages if wanted.replace("-", "_") in _spoken_names(s)]
        if len(found) > 1:
            raise UnknownStage(f"{text!r} may mean {listed(s.name for s in found)}", "Name the stage by its id.")
        if not found:
            raise UnknownStage(f"{text!r} is not a stage of this course", self._suggestion(wanted))
        return found[0]

    def _suggestion(self, wanted: str) -> str:
        names = {name: stage.name for stage in self.stages for name in _spoken_names(stage)}
        alike = [name for name in names if wanted in name] or near(wanted, names)
        if alike and not re.fullmatch(r"s?\d*", wanted):  # all numbers are alike
            return f"Did you mean {listed([*dict.fromkeys(names[name] for name in alike)][:3])}?"
        return f"The stages are {', '.join(stage.id for stage in self.stages)}."

    def _at(self, path: str) -> Stage | None:
        if not (set(path) & set("/\\") or path in {".", ".."}):
            return None
        parts = Path(os.path.abspath(path.replace("\\", "/"))).parts
        folders = {stage.name.lower(): stage for stage in self.stages}
        return next((folders[part.lower()] for part in reversed(parts) if part.lower() in folders), None)


def _spoken_names(stage: Stage) -> tuple[str, ...]:
    topic = stage.name.removeprefix(stage.id).lstrip("_")
    numbers = (stage.id, stage.id[1:], f"s{stage.number}", str(stage.number))
    names = (*numbers, stage.name, topic, stage.module, stage.module.removesuffix(".py"))
    return tuple(name.lower() for name in names if name)


def load_course(root: Path, hidden: Path = HIDDEN) -> Course:
    """Read every stage below root/stages, whose answers lie in hidden.

    Raises CourseError with every mistake of every manifest and between them.
    """
    folders = sorted(path.parent for path in root.glob("stages/*/stage.toml"))
    if not folders:
        raise CourseError(f"{root} has no stages: expected stages/<stage>/stage.toml in it")
    read = [_read_stage(folder) for folder in folders]
    stages = sorted((stage for stage, _ in read if stage), key=lambda stage: (stage.number, stage.name))
    broken = {folder.name.partition("_")[0] for folder, (stage, _) in zip(folders, read, strict=True) if not stage}
    mistakes = [line for _, lines in read for line in lines]
    mistakes += [*_duplicate_ids(stages), *_unknown_requires(stages, broken), *_cycles(stages)]
    if mistakes:
        raise CourseError("\n".join(mistakes))
    return Course(root, tuple(replace(stage, hidden_root=hidden) for stage in stages))


def load_stage(folder: Path) -> Stage:
    """Read folder/stage.toml; raises CourseError with a line for each mistake in it."""
    stage, mistakes = _read_stage(folder)
    if stage is None:
        raise CourseError("\n".join(mistakes))
    return stage


def find_course_root(start: Path) -> Path:
    """The nearest folder from start upwards that holds stages, else the one that this grader lies in."""
    start = start.resolve()
    for folder in (start, *start.parents, HOUSE.parent):
        if any(folder.glob("stages/*/stage.toml")):
            return folder
    raise CourseError(
        f"no course in {start} or above it: expected a folder with stages/<stage>/stage.toml",
        "Change to the course's folder and try again.",
    )


def _duplicate_ids(stages: list[Stage]) -> Iterator[str]:
    first: dict[str, Stage] = {}
    for stage in stages:
        if first.setdefault(stage.id, stage) is not stage:
            yield f"{_file(stage.folder)}: id: '{stage.id}' is already the id of stages/{first[stage.id].name}"


def _unknown_requires(stages: list[Stage], broken: set[str]) -> Iterator[str]:
    known = {stage.id for stage in stages} | broken
    for stage in stages:
        for place, name in enumerate(stage.requires):
            if name not in known:
                wrong = f"'{name}' is not a stage of this course, which has {', '.join(sorted(known))}"
                yield f"{_file(stage.folder)}: requires[{place}]: {wrong}"


def _cycles(stages: list[Stage]) -> Iterator[str]:
    import graphlib

    requires = {stage.id: list(stage.requires) for stage in stages}
    files = {stage.id: _file(stage.folder) for stage in stages}
    while True:
        try:
            graphlib.TopologicalSorter(requires).prepare()
            return
        except graphlib.CycleError as error:
            cycle: list[str] = error.args[1][::-1]
        yield f"{files[cycle[0]]}: requires: stages wait for each other in a circle: {' -> '.join(cycle)}"
        requires[cycle[0]].remove(cycle[1])


def _file(folder: Path) -> str:
    return f"stages/{folder.name}/stage.toml"


def read_toml(path: Path, place: str) -> dict[str, object]:
    """Return what a TOML file holds; CourseError, which begins with place, where it cannot be read."""
    import tomllib  # `grader --help` reads no manifest

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (.*)\)", str(error), re.DOTALL)
        what, where = found.groups() if found else (str(error), "TOML")
        raise CourseError(f"{place}: {where}: {what}") from error
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{place}: cannot be read: {error}") from error


def _read_stage(folder: Path) -> tuple[Stage | None, list[str]]:
    """The stage, or None and what is wrong with its manifest."""
    mistakes: list[str] = []
    try:
        values = read_toml(folder / "stage.toml", _file(folder))
    except CourseError as error:
        return None, [error.message]
    schema = values.get("schema", SCHEMA)
    if schema != SCHEMA:
        return None, [f"{_file(folder)}: schema: {schema!r} is not {SCHEMA}, the schema that this grader reads"]
    stage = _stage(folder, Table(values, f"{_file(folder)}: ", mistakes))
    return (None if mistakes else stage), mistakes


def _stage(folder: Path, top: Table) -> Stage:
    top.value("schema", int)
    stage = Stage(
        id=top.text("id", _STAGE_ID),
        folder=folder,
        title=top.text("title"),
        module=top.text("module", _MODULE),
        requires=top.texts("requires", _STAGE_ID),
        criteria=(criteria := _criteria(top)),
        limits=_limits(top.table("limits")),
        tolerance=_numbers(top.table("tolerance"), Tolerance(), 1),
        forbidden=_forbidden(top.table("forbidden")),
        axes=_axes(top.table("axes"), {name.partition(".")[0] for row in criteria for name in row.functions}),
        opaque=top.texts("opaque", _DOTTED),
        feedback=_feedback(top),
    )
    prefix = folder.name.partition("_")[0]
    if stage.id and prefix != stage.id:
        top.wrong("id", f"'{stage.id}' is not what the folder's name begins with, '{prefix}'")
    top.close()
    return stage


def _feedback(top: Table) -> Feedback:
    value = top.value("feedback", str, "full")
    found = next((level for level in FEEDBACK if level == value), None)
    if value is not None and found is None:
        top.wrong("feedback", f"{value!r} is not {listed(FEEDBACK)}")
    return found or "full"


def _criteria(top: Table) -> tuple[Criterion, ...]:
    tables = top.tables("criteria")
    rows = tuple(_criterion(table) for table in tables)
    ids = [row.id for row in rows]
    for place, (table, row) in enumerate(zip(tables, rows, strict=True)):
        if row.id and row.id in ids[:place]:
            table.wrong("id", f"'{row.id}' is already the id of criteria[{ids.index(row.id)}]")
        for i, need in enumerate(row.needs):
            if need in ids[place:]:
                table.wrong(f"needs[{i}]", f"'{need}' is not an earlier row; a row needs only rows above it")
            elif need not in ids:
                table.wrong(f"needs[{i}]", f"'{need}' is not the id of a row{did_you_mean(need, ids[:place])}")
    return rows


def _criterion(table: Table) -> Criterion:
    hints = table.texts("hints")
    if len(hints) != 3:
        table.wrong("hints", f"has {len(hints)} texts; expected exactly 3")
    row = Criterion(
        id=table.text("id", _KEBAB),
        text=table.text("text"),
        functions=table.texts("functions", _DOTTED, required=True),
        needs=table.texts("needs", _KEBAB),
        hints=hints if len(hints) == 3 else ("", "", ""),
    )
    table.close()
    return row


def _limits(table: Table) -> Limits:
    limits = _numbers(table, Limits(), math.inf)
    if 0 < limits.stage_seconds < limits.call_seconds:
        table.wrong("call_seconds", f"{limits.call_seconds:g} is more than stage_seconds, {limits.stage_seconds:g}")
    return limits


def _numbers(table: Table, default: _Numbers, below: float) -> _Numbers:
    """A table whose keys are the fields of a dataclass of numbers; keys left out keep their default."""
    names = [each.name for each in fields(default)]
    values = {name: table.number(name, getattr(default, name), below) for name in names}
    table.close()
    return replace(default, **values)


def _forbidden(table: Table) -> Forbidden:
    if not table.values:
        return Forbidden()
    forbidden = Forbidden(table.texts("operators", _OPERATOR), table.texts("names", _DOTTED), table.text("reason"))
    table.close()
    return forbidden


def _axes(table: Table, functions: set[str]) -> dict[str, dict[str, tuple[str, ...]]]:
    axes: dict[str, dict[str, tuple[str, ...]]] = {}
    for function in table.values:
        if function.partition(".")[0] not in functions:
            table.wrong(function, f"is not in a row's functions{did_you_mean(function, functions)}")
        arguments = table.table(function)
        axes[function] = {name: tuple(arguments.text(name, _AXES).split()) for name in arguments.values}
        for name in axes[function]:
            if not name.isidentifier():
                arguments.wrong(name, "is not the name of an argument")
    return axes
