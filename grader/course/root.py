"""A course's root: the folder that holds its stages, and the table about the whole course in its pyproject.toml.

This is the only reader of TOML. What lies in the stages is read by manifest.py.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path

from grader.course.settings import KEY, PROJECT, Settings, settings_of
from grader.course.table import Table, listed
from grader.errors import CourseError, NoCourse

HOUSE = Path(__file__).resolve().parents[1]


def find_course_root(start: Path) -> Path:
    """The nearest folder from start upwards that holds stages, else the one that this grader lies in."""
    start = start.resolve()
    for folder in (start, *start.parents, HOUSE.parent):
        if any(folder.glob("stages/*/stage.toml")):
            return folder
    if found := _courses_below(start):
        ways = listed([f"`cd {shlex.quote(name)}`" for name in found])
        raise NoCourse(f"this folder does not hold a course, but {listed(found)} does", f"Go into it: {ways}.")
    raise NoCourse("this folder does not hold a course: `grader init my-course` makes one to learn in")


def _courses_below(folder: Path) -> list[str]:
    """Return the names of a few folders right below that hold a course."""
    return sorted({path.parts[-4] for path in folder.glob("*/stages/*/stage.toml")})[:3]


def read_settings(root: Path) -> Settings:
    """Read the table [tool.grader] of root/pyproject.toml; CourseError with a line for each mistake in it."""
    values: object = read_toml(root / PROJECT, PROJECT) if (root / PROJECT).exists() else {}
    for key in KEY.split("."):
        values = values.get(key) if isinstance(values, dict) else None
    if not isinstance(values, dict):
        hint = f"Write the line [{KEY}] into {PROJECT}; every key of it may be left out."
        raise CourseError(f"{root / PROJECT}: no table [{KEY}], which says what the course consists of", hint)
    mistakes: list[str] = []
    found = settings_of(Table(values, f"{PROJECT}: {KEY}.", mistakes), root)
    if mistakes:
        raise CourseError("\n".join(mistakes))
    return found


def read_toml(path: Path, place: str) -> dict[str, object]:
    """Return what a TOML file holds; CourseError, which begins with place, where it cannot be read."""
    return parsed(text_of(path, place), place)


def text_of(path: Path, place: str) -> str:
    """Return the text of a file; CourseError, which begins with place, where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CourseError(f"{place}: cannot be read: {why}") from error


def parsed(text: str, place: str) -> dict[str, object]:
    """Return what a text in TOML holds; CourseError, which begins with place, where it is none."""
    import tomli  # compiled: a course of 22 stages is read in a third of the time; `grader --help` reads no manifest

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (.*)\)", str(error), re.DOTALL)
        what, where = found.groups() if found else (str(error), "TOML")
        raise CourseError(f"{place}: {where}: {what}") from error
