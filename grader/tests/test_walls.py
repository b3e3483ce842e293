"""Files, functions and folders stay small enough to read: past a limit they are divided where their subjects part."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

from grader.tests.support.places import HIDDEN, HOUSE, ROOT

LINES, LINES_OF_A_FUNCTION, MODULES = 250, 40, 15

# What learners hand in is data: a stage is one module of theirs, and a bank of attacks has a file for each.
HANDED_IN = ("tests/attacks/*", "tests/slips/s[0-9][0-9]/*")

# This list only gets shorter: nothing is added to it, and what is back below its limit leaves it.
LONG_FUNCTIONS = {
    "worker/main.py main",  # by two lines: the order of imports, limits and loading is what it is about
}


def is_handed_in(path: Path) -> bool:
    return any(parent.match(pattern) for pattern in HANDED_IN for parent in (path, *path.parents))


ENGINE = [path for path in sorted(HOUSE.rglob("*.py")) if not is_handed_in(path.relative_to(HOUSE))]
COURSE = [  # without what is one file a stage: a module, answers to it, and public tests to read beside it
    *(path for path in sorted(HIDDEN.glob("*/*.py")) if path.name not in ("solution.py", "mistakes.py")),
    *(path for room in ("drawings", "illustrations") for path in sorted((ROOT / room).rglob("*.py"))),
]


def name(path: Path) -> str:
    return path.relative_to(HOUSE if path.is_relative_to(HOUSE) else ROOT).as_posix()


def test_no_file_is_longer_than_is_read_at_once() -> None:
    assert len(ENGINE) > 700 and len(COURSE) > 100
    long = {name(path) for path in (*ENGINE, *COURSE) if path.read_text(encoding="utf-8").count("\n") > LINES}
    assert not long


def test_a_function_fits_a_screen() -> None:
    long = {
        f"{name(path)} {node.name}"
        for path in ENGINE
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and (node.end_lineno or 0) - node.lineno >= LINES_OF_A_FUNCTION
    }
    assert long == LONG_FUNCTIONS


def test_no_room_is_fuller_than_is_seen_at_a_glance() -> None:
    held = Counter(path.parent for path in ENGINE if path.name != "__init__.py")
    assert not {name(room): number for room, number in held.items() if number > MODULES}
