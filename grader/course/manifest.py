"""A course's manifests: each stage.toml becomes a frozen Stage, or one error that lists every mistake in it.

A mistake is one line: the file relative to the course, the place in it, what stands there and what was expected.
Places count from 0, as in criteria[3].hints[0]. What no manifest shows alone is looked at last: ids that two stages
share, circles, uses that cannot be.
"""

from __future__ import annotations

import builtins
import functools
import math
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path
from typing import TypeVar

from grader.course.import_guard import GUARD
from grader.course.settings import PROJECT, UNSAID, Settings, read_settings
from grader.course.stage import (
    FEEDBACK,
    OPERATORS,
    Course,
    Criterion,
    Feedback,
    Forbidden,
    Limits,
    Stage,
    Tolerance,
    axes_of,
    contract_of,
)
from grader.course.table import Rule, Table, did_you_mean, listed, parsed, text_of
from grader.errors import CourseError


def between(stages: list[Stage], broken: set[str]) -> Iterator[str]:
    """Yield a line for each mistake; broken are the ids of stages whose manifest could not be read."""
    yield from _duplicate_ids(stages)
    yield from _unknown_requires(stages, broken)
    yield from _cycles(stages)
    yield from _uses(stages, broken)


def _duplicate_ids(stages: list[Stage]) -> Iterator[str]:
    first: dict[str, Stage] = {}
    for stage in stages:
        if first.setdefault(stage.id, stage) is not stage:
            yield f"{manifest_place(stage.folder)}: id: '{stage.id}' is already the id of stages/{first[stage.id].name}"


def _unknown_requires(stages: list[Stage], broken: set[str]) -> Iterator[str]:
    known = {stage.id for stage in stages} | broken
    for stage in stages:
        for place, name in enumerate(stage.requires):
            if name not in known:
                wrong = f"'{name}' is not a stage of this course, which has {', '.join(sorted(known))}"
                yield f"{manifest_place(stage.folder)}: requires[{place}]: {wrong}"


def _cycles(stages: list[Stage]) -> Iterator[str]:
    import graphlib

    requires = {stage.id: list(stage.requires) for stage in stages}
    files = {stage.id: manifest_place(stage.folder) for stage in stages}
    while True:
        try:
            graphlib.TopologicalSorter(requires).prepare()
            return
        except graphlib.CycleError as error:
            cycle: list[str] = error.args[1][::-1]
        yield f"{files[cycle[0]]}: requires: stages wait for each other in a circle: {' -> '.join(cycle)}"
        requires[cycle[0]].remove(cycle[1])


def _uses(stages: list[Stage], broken: set[str]) -> Iterator[str]:
    known = {stage.id: stage for stage in stages}
    for stage in stages:
        for place, name in enumerate(stage.uses):
            if name not in known and name not in broken:
                wrong = f"'{name}' is not a stage of this course, which has {', '.join(sorted({*known, *broken}))}"
            elif name not in known or not (wrong := _why_unusable(stage, known[name])):
                continue
            yield f"{manifest_place(stage.folder)}: uses[{place}]: {wrong}"


def _why_unusable(stage: Stage, used: Stage) -> str:
    """Return why a stage cannot use another; empty where it can."""
    if used.number >= stage.number:
        return f"'{used.id}' is not an earlier stage; a stage uses only stages before it"
    if not used.name.isidentifier():
        return f"'{used.id}' cannot be imported: its folder's name, '{used.name}', is no name in Python"
    if not used.lends and not stage.given_path(used).is_file():
        given = stage.given_path(used).relative_to(stage.folder.parent.parent).as_posix()
        return f"'{used.id}' does not say 'lends = true', and there is no {given} in its place"
    return ""


def linked(stages: Iterable[Stage]) -> tuple[Stage, ...]:
    """Return stages in their order, each with all that it builds on; what they use stands before them."""
    made: dict[str, Stage] = {}
    for stage in stages:
        used = [made[name] for name in stage.uses]
        ids = {each.id for near in used for each in (*near.builds_on, near)}
        made[stage.id] = replace(stage, builds_on=tuple(each for each in made.values() if each.id in ids))
    return tuple(made.values())


def manifest_place(folder: Path) -> str:
    return f"stages/{folder.name}/stage.toml"


SCHEMA = 1

_Numbers = TypeVar("_Numbers", Limits, Tolerance)
_STAGE_ID: Rule = r"s[0-9]{2,}", "a stage id: s and two digits or more"
_KEBAB: Rule = r"[a-z0-9]+(-[a-z0-9]+)*", "kebab-case, as in 'split-heads'"
_MODULE: Rule = r"[A-Za-z_][A-Za-z0-9_]*\.py", "the plain name of a Python file, as in 'topic.py'"
_DOTTED: Rule = r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", "a Python name, dotted or not"
_FORBIDDEN: Rule = (
    r"\.[A-Za-z_]\w*|[A-Za-z_]\w*(\.[A-Za-z_]\w*)*",
    "a Python name, dotted or not, or a method with its dot, as in '.sort'",
)
_OPERATOR: Rule = "|".join(map(re.escape, OPERATORS)), "an operator; known are " + " ".join(OPERATORS)


def load_course(root: Path, hidden: Path | None = None) -> Course:
    """Read a course's own table and every stage below root/stages.

    hidden holds the answers, where that is not the course's own folder for them: such a course needs no table. Raises
    CourseError with every mistake of every manifest and between them.
    """
    root = root.absolute()  # whoever grades works in folders of its own
    folders = sorted(path.parent for path in root.glob("stages/*/stage.toml"))
    if not folders:
        raise CourseError(f"{root} has no stages: expected stages/<stage>/stage.toml in it")
    own = read_settings(root) if hidden is None or (root / PROJECT).is_file() else Settings(root.name, packages=UNSAID)
    read = [_read_stage(folder, own.packages) for folder in folders]
    stages = sorted((stage for stage, _ in read if stage), key=lambda stage: (stage.number, stage.name))
    broken = {folder.name.partition("_")[0] for folder, (stage, _) in zip(folders, read, strict=True) if not stage}
    mistakes = [line for _, lines in read for line in lines]
    mistakes += between(stages, broken)
    place = root / own.hidden if hidden is None else hidden
    if mistakes:
        from grader.course.sealed import missing_stages  # which reads a course by this module

        raise CourseError(*missing_stages(root, place, mistakes))
    whole = linked(replace(each, hidden_root=place, packages=own.packages, passes=own.passes) for each in stages)
    course = Course(root, whole, own)
    GUARD.know(course.packages)
    return course


def load_stage(folder: Path) -> Stage:
    """Read folder/stage.toml; raises CourseError with a line for each mistake in it."""
    stage, mistakes = _read_stage(folder)
    if stage is None:
        raise CourseError("\n".join(mistakes))
    return stage


def _read_stage(folder: Path, packages: tuple[str, ...] = UNSAID) -> tuple[Stage | None, tuple[str, ...]]:
    """The stage, or None and what is wrong with its manifest."""
    try:
        return _understood(folder, text_of(folder / "stage.toml", manifest_place(folder)), packages)
    except CourseError as error:
        return None, (error.message,)


@functools.lru_cache(64)  # one course's, for whoever reads it again and again: at each save, for each submission
def _understood(folder: Path, text: str, packages: tuple[str, ...]) -> tuple[Stage | None, tuple[str, ...]]:
    mistakes: list[str] = []
    place = manifest_place(folder)
    values = parsed(text, place)
    schema = values.get("schema", SCHEMA)
    if schema != SCHEMA:
        return None, (f"{place}: schema: {schema!r} is not {SCHEMA}, the schema that this grader reads",)
    stage = _stage(folder, Table(values, f"{place}: ", mistakes), packages)
    return (None if mistakes else stage), tuple(mistakes)


def _stage(folder: Path, top: Table, packages: tuple[str, ...]) -> Stage:
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
        forbidden=_forbidden(top.table("forbidden"), packages),
        axes=(axes := axes_of(top.table("axes"), named := [name for each in criteria for name in each.functions])),
        contract=contract_of(top.table("members"), top.table("values"), [*named, *axes]),
        opaque=top.texts("opaque", _DOTTED),
        feedback=_feedback(top),
        uses=top.texts("uses", _STAGE_ID),
        lends=bool(top.value("lends", bool, False)),
        hidden_root=folder.parent.parent / Settings.hidden,
        milestone=top.text("milestone") if "milestone" in top.values else "",
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
    criteria = tuple(_criterion(table) for table in tables)
    ids = [each.id for each in criteria]
    for place, (table, criterion) in enumerate(zip(tables, criteria, strict=True)):
        if criterion.id and criterion.id in ids[:place]:
            table.wrong("id", f"'{criterion.id}' is already the id of criteria[{ids.index(criterion.id)}]")
        for i, need in enumerate(criterion.needs):
            if need in ids[place:]:
                table.wrong(f"needs[{i}]", f"'{need}' is not an earlier criterion; one needs only those above it")
            elif need not in ids:
                table.wrong(f"needs[{i}]", f"'{need}' is not the id of a criterion{did_you_mean(need, ids[:place])}")
    return criteria


def _criterion(table: Table) -> Criterion:
    hints = table.texts("hints")
    if len(hints) != 3:
        table.wrong("hints", f"has {len(hints)} texts; expected exactly 3")
    criterion = Criterion(
        id=table.text("id", _KEBAB),
        text=table.text("text"),
        functions=table.texts("functions", _DOTTED, required=True),
        needs=table.texts("needs", _KEBAB),
        hints=hints if len(hints) == 3 else ("", "", ""),
    )
    table.close()
    return criterion


def _limits(table: Table) -> Limits:
    alone = bool(table.value("alone", bool, Limits.alone))
    limits = replace(_numbers(table, Limits(), math.inf), alone=alone)
    if 0 < limits.stage_seconds < limits.call_seconds:
        table.wrong("call_seconds", f"{limits.call_seconds:g} is more than stage_seconds, {limits.stage_seconds:g}")
    return limits


def _numbers(table: Table, default: _Numbers, below: float) -> _Numbers:
    """A table whose keys are the fields of a dataclass of numbers; keys left out keep their default."""
    names = [each.name for each in fields(default) if not isinstance(getattr(default, each.name), bool)]
    values = {name: table.number(name, getattr(default, name), below) for name in names}
    table.close()
    return replace(default, **values)


def _forbidden(table: Table, packages: tuple[str, ...]) -> Forbidden:
    if not table.values:
        return Forbidden()
    forbidden = Forbidden(table.texts("operators", _OPERATOR), table.texts("names", _FORBIDDEN), table.text("reason"))
    modules = {*packages, *sys.stdlib_module_names}
    for place, name in enumerate(forbidden.names):
        known = modules if "." in name else {*modules, *dir(builtins)}
        if re.fullmatch(_FORBIDDEN[0], name) and name[0] != "." and (top := name.partition(".")[0]) not in known:
            what = "none of Python's modules or the course's packages" + ("" if "." in name else ", and no builtin")
            alike = f"; a method begins with a dot: '.{name}'" if hasattr(list, name) else did_you_mean(top, known)
            table.wrong(f"names[{place}]", f"'{top}' is {what}{alike}")
    table.close()
    return forbidden
