"""The private parts of pytest that the grader uses: all of them stand here, and none is used that does not.

pytest may change such a part in any minor version. So pyproject.toml keeps to versions that were tried, and the nightly
run tries the newest: where it fails here, the part that is gone is named.
"""

from __future__ import annotations

import ast
import importlib
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.support.places import HOUSE, ROOT

FUNCTIONS = {  # by their modules
    "_pytest.config._prepareconfig": "grader/judging/pytest_suite.py",
    "_pytest.assertion.rewrite.rewrite_asserts": "grader/judging/pytest_suite.py",
}
MEMBERS = {  # of pytest's configuration, sessions, modules and tests
    "_do_configure": "grader/judging/pytest_suite.py",
    "_ensure_unconfigure": "grader/judging/pytest_suite.py",
    "_getobj": "grader/judging/pytest_suite.py",
    "_initrequest": "grader/judging/running.py",
    "_request": "grader/judging/running.py",
    "_setupstate": "grader/judging/pytest_suite.py",
}
OF_TESTS = ("tests",)  # they may use what they like: nobody else runs them


@pytest.fixture
def members(request: pytest.FixtureRequest) -> set[str]:
    """The names of all private members that pytest's objects have."""
    objects = (request.config, request.session, request.node, request.node.parent, request.node.getparent(pytest.Dir))
    names = {name for each in objects for name in dir(each)}
    return {name for name in names if name.startswith("_") and not name.startswith("__")}


def used(members: set[str]) -> Iterator[tuple[str, str]]:
    """Yield what of pytest's private parts the grader uses, with the file that does."""
    for path in sorted(HOUSE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if path.relative_to(HOUSE).parts[0] in OF_TESTS or "pytest" not in text:
            continue
        for node in ast.walk(ast.parse(text)):
            for name in named(node, members):
                yield name, path.relative_to(ROOT).as_posix()


def named(node: ast.AST, members: set[str]) -> Iterator[str]:
    """Yield the private parts that a node of a syntax tree imports, takes, or puts another in the place of."""
    match node:
        case ast.ImportFrom(module=str(module)) if module.partition(".")[0] == "_pytest":
            yield from (f"{module}.{each.name}" for each in node.names)
        case ast.Import():
            yield from (each.name for each in node.names if each.name.partition(".")[0] == "_pytest")
        case ast.Attribute(value=ast.Name(id="self" | "cls")):
            return
        case ast.Attribute(attr=name) if name in members:
            yield name
        case ast.ClassDef(bases=[ast.Attribute(value=ast.Name(id="pytest")), *_]):
            yield from (each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name in members)


def test_no_other_private_part_is_used(members: set[str]) -> None:
    assert set(used(members)) == set((FUNCTIONS | MEMBERS).items())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_private_function_is_there(name: str) -> None:
    module, _, function = name.rpartition(".")
    assert callable(getattr(importlib.import_module(module), function, None))


@pytest.mark.parametrize("name", MEMBERS)
def test_a_private_member_is_there(name: str, members: set[str]) -> None:
    assert name in members


def test_pytest_is_bounded_from_both_sides() -> None:
    """The bound above is on a minor version; the nightly run lifts it, and only it."""
    project = tomllib.loads(Path(ROOT, "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (bound,) = (each for each in map(Requirement, project["dependencies"]) if each.name == "pytest")
    operators = {each.operator: each.version for each in bound.specifier}
    assert set(operators) == {">=", "<"}
    assert operators["<"].startswith("9.") and operators["<"] != "9"
