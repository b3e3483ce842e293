"""The references of the stages, which the pictures are drawn from."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from types import ModuleType

from grader.course.answers import module_from, reference_source
from grader.course.manifest import load_course
from grader.course.provided import serving_stage
from grader.course.stage import Course

ROOT = Path(__file__).resolve().parents[1]


@cache
def course() -> Course:
    """Return the author's course."""
    return load_course(ROOT)


@cache
def reference(stage_id: str) -> ModuleType:
    """Return the reference of a stage as a module."""
    stage = course().find(stage_id)
    with serving_stage(stage):
        return module_from(reference_source(stage), f"{stage.name}_drawn")


def data(stage_id: str, name: str) -> bytes:
    """Return a file of a stage's data."""
    return (course().find(stage_id).folder / "data" / name).read_bytes()
