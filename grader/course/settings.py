"""A course's root and the table [tool.grader] of its pyproject.toml, which says what holds for the whole course."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course.table import Rule, Table, listed, read_toml
from grader.errors import CourseError, NoCourse

if TYPE_CHECKING:
    from grader.criterion import Passes


PROJECT = "pyproject.toml"
UNSAID = ("numpy",)  # the packages of a stage that is looked at without its course
KEY = "tool.grader"
GIVEN = ("stages", "grader")  # what learners get as it is
_NAME: Rule = r"[A-Za-z_]\w*", "the name of a package that Python can import, as in 'numpy'"
_FOLDER: Rule = (
    r"[A-Za-z_]\w*(/[A-Za-z_]\w*)*",
    "a folder of the course that Python can import as a package, as in 'hidden'",
)
_STAGE_ID: Rule = r"s[0-9]{2,}", "the id of a stage: s and two digits or more"
_FILE: Rule = r"(?!/)(?!.*(^|/)\.\.(/|$))[^\\]*\.py", "a Python file of the course, relative to its folder"
_PAGE: Rule = (
    r"[\w-]+(/[\w-]+)*\.md",
    "a Markdown file of the course, relative to its folder, as in 'docs/learning.md'",
)
_LINE: Rule = r"(?=.*\S)[^\x00-\x1f\x7f]+", "a line of text"


@dataclass(frozen=True)
class Demo:
    """A half-finished module that `grader demo` grades, and the stage that it is of."""

    stage: str
    file: str


@dataclass(frozen=True)
class Settings:
    """Title and licence; packages that a learner's code may import; folders and pages, relative to the course.

    hidden holds tests and answers, drawings what `grader explore` shows of the stages; learners get the pages. passes
    says which tests make a criterion pass: those of its mathematics, or all, with refusals and the dtype.
    """

    title: str = ""
    license: str = ""
    packages: tuple[str, ...] = ()
    hidden: str = "hidden"
    drawings: str | None = None
    demo: Demo | None = None
    passes: Passes = "mathematics"
    pages: tuple[str, ...] = ()


def settings_of(table: Table, root: Path) -> Settings:
    """Read the table of the course in root; its mistakes are noted in the table."""
    given = table.values
    table.knows(*(each.name for each in fields(Settings)))
    settings = Settings(
        title=table.text("title", _LINE) if "title" in given else root.resolve().name,
        license=table.text("license", _LINE) if "license" in given else "",
        packages=table.texts("packages", _NAME),
        hidden=_folder(table, "hidden", root) if "hidden" in given else "hidden",
        drawings=_folder(table, "drawings", root) if "drawings" in given else None,
        pages=table.texts("pages", _PAGE),
        demo=_demo(table.table("demo"), root) if "demo" in given else None,
        passes=passes_in(table) or "mathematics",
    )
    _names(table, settings)
    _apart(table, settings, root)
    if "hidden" not in given and not (root / settings.hidden).is_dir():
        table.wrong("hidden", f"is missing, and there is no folder '{settings.hidden}'; expected one with the answers")
    table.close()
    return settings


def passes_in(table: Table) -> Passes | None:
    """Return which tests make a criterion pass, by a table's key `passes`; None where nothing is said, or wrongly."""
    if "passes" not in table.values:
        return None
    from grader.criterion import PASSES

    value = table.value("passes", str)
    found = next((each for each in PASSES if each == value), None)
    if value is not None and found is None:
        table.wrong("passes", f"{value!r} is not {listed(PASSES)}")
    return found


def _names(table: Table, settings: Settings) -> None:
    """Note packages that nobody installs: Python's own, the grader's, and folders of the course."""
    folders = {name.partition("/")[0] for name in (settings.hidden, settings.drawings or "")}
    for place, name in enumerate(settings.packages):
        if name in sys.stdlib_module_names:
            table.wrong(
                f"packages[{place}]", f"'{name}' is a part of Python, which every stage may import; leave it out"
            )
        elif name in {*GIVEN, *folders, "__main__"}:
            table.wrong(f"packages[{place}]", f"'{name}' is a part of the grader or of the course, and no package")


def _apart(table: Table, settings: Settings, root: Path) -> None:
    """Note what would give answers away: drawings, stages and the grader go to learners as they are."""
    hidden = (root / settings.hidden).resolve()
    given = [(root / name).resolve() for name in (*GIVEN, settings.drawings) if name]
    if settings.drawings and _overlap(given[-1], hidden):
        table.wrong("drawings", f"'{settings.drawings}' holds or is a part of '{settings.hidden}', and learners get it")
    if "hidden" in table.values and any(hidden.is_relative_to(each) for each in given[: len(GIVEN)]):
        table.wrong("hidden", f"'{settings.hidden}' is a part of what learners get; expected a folder beside 'stages'")
    file = settings.demo.file if settings.demo else ""
    if file and any((root / file).resolve().is_relative_to(each) for each in given):
        table.wrong("demo.file", f"'{file}' is a part of what learners get; expected a folder of its own, as in 'demo'")


def _overlap(one: Path, other: Path) -> bool:
    return one.is_relative_to(other) or other.is_relative_to(one)


def _folder(table: Table, key: str, root: Path) -> str:
    name = table.text(key, _FOLDER)
    last = name.rpartition("/")[2]
    if last in sys.stdlib_module_names or last in GIVEN:
        table.wrong(key, f"'{name}' ends in a name that is taken: {last}")
    elif name and not (root / name).is_dir():
        table.wrong(key, f"there is no folder '{name}' in the course")
    return name


def _demo(table: Table, root: Path) -> Demo:
    demo = Demo(table.text("stage", _STAGE_ID), table.text("file", _FILE))
    if demo.file and not (root / demo.file).is_file():
        table.wrong("file", f"there is no file '{demo.file}' in the course")
    table.close()
    return demo


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
