"""The engine knows no course: what is about one subject stands in the course, and no file of the engine names it."""

from __future__ import annotations

import re
from pathlib import Path

from grader.course.manifest import load_course
from grader.course.stage import Course
from tests.support.places import HOUSE, ROOT

FORMATS = re.compile(
    r"attention-grader (?:receipt|certificate|(?:signing )?key id|sealed tests)|attention-grader-tests-key"
)
STAGE_ID = re.compile(r"\bs\d\d\b")
SEVERAL_WORDS = re.compile(r"[a-z0-9]+(?:_[a-z0-9]+)+|(?:[A-Z][a-z0-9]+){2,}")  # no word of everyday language


def engine() -> list[Path]:
    paths = (path for path in sorted(HOUSE.rglob("*")) if path.is_file() and path.suffix != ".pyc")
    return [path for path in paths if "__pycache__" not in path.parts]


def names(course: Course) -> set[str]:
    """Return the names of a course's functions and classes that can be told from ordinary words."""
    rows = (row for stage in course.stages for row in stage.criteria)
    parts = {part for row in rows for name in row.functions for part in name.split(".")}
    return {name for name in parts if SEVERAL_WORDS.fullmatch(name)}


def read(path: Path) -> str:
    """Return a file's text without what belongs to a format: another word there would make bundles unreadable."""
    return FORMATS.sub("", path.read_text(encoding="utf-8"))


def test_there_is_something_to_look_at() -> None:
    assert len(engine()) > 150 and {"split_heads", "MultiHeadAttention", "dot_product"} <= names(load_course(ROOT))


def test_no_file_of_the_engine_names_a_stage_or_its_subject() -> None:
    said = re.compile(rf"{STAGE_ID.pattern}|(?i:attention)")
    assert {path.relative_to(HOUSE).as_posix(): found for path in engine() if (found := said.findall(read(path)))} == {}


def test_no_file_of_the_engine_names_a_function_of_a_stage() -> None:
    known = names(load_course(ROOT))
    found = {path.name: sorted(set(re.findall(r"\w+", read(path))) & known) for path in engine()}
    assert {file: used for file, used in found.items() if used} == {}
