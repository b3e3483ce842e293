"""Mistakes that no manifest shows alone: ids that two stages share, stages that are not there, and circles."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from grader.course.stage import Stage


def between(stages: list[Stage], broken: set[str]) -> Iterator[str]:
    """Yield a line for each mistake; broken are the ids of stages whose manifest could not be read."""
    yield from _duplicate_ids(stages)
    yield from _unknown_requires(stages, broken)
    yield from _cycles(stages)


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


def manifest_place(folder: Path) -> str:
    return f"stages/{folder.name}/stage.toml"
