"""Which hidden tests draw their inputs anew in each run, as their arguments tell."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from grader.course.answers import hidden_folder
from grader.course.stage import Stage

Function = ast.FunctionDef | ast.AsyncFunctionDef
GENERATOR = "rng"


def fresh_tests(stage: Stage) -> frozenset[str]:
    """Return the hidden tests that use `rng`, themselves or through a fixture of their file, named as outcomes are."""
    return frozenset(
        f"{file.name}::{name}"
        for file in sorted(hidden_folder(stage).glob("test_*.py"))
        for name in _fresh_in(ast.parse(file.read_text(encoding="utf-8")))
    )


def _fresh_in(module: ast.Module) -> Iterator[str]:
    """Yield the tests of one file that draw, as Class::function."""
    fixtures = {name: node for name, node in _functions(module) if _is_fixture(node)}
    for name, node in _functions(module):
        if name.rpartition("::")[2].startswith("test") and _draws(node, fixtures):
            yield name


def _functions(node: ast.Module | ast.ClassDef, before: str = "") -> Iterator[tuple[str, Function]]:
    for each in node.body:
        if isinstance(each, ast.ClassDef):
            yield from _functions(each, f"{before}{each.name}::")
        elif isinstance(each, Function):
            yield f"{before}{each.name}", each


def _is_fixture(node: Function) -> bool:
    return any("fixture" in ast.unparse(decorator) for decorator in node.decorator_list)


def _draws(node: Function, fixtures: Mapping[str, Function]) -> bool:
    """Say whether a function is given `rng` and uses it, or is given what such a fixture made; none needs itself."""
    names = {each.arg for each in (*node.args.args, *node.args.kwonlyargs)}
    used = {each.id for statement in node.body for each in ast.walk(statement) if isinstance(each, ast.Name)}
    others = {name: fixture for name, fixture in fixtures.items() if fixture is not node}
    return GENERATOR in names & used or any(_draws(others[name], others) for name in names & set(others))
