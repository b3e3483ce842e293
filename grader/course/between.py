"""What no manifest shows alone: ids that two stages share, circles, uses that cannot be; then, what each builds on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from grader.course.stage import Stage


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
