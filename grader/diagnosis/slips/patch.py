"""One function of a loaded module with other lines, for a while: every name and table that holds it sees the change."""

from __future__ import annotations

import ast
import copy
import types
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from grader.diagnosis.trees import placed


def function_named(module: types.ModuleType, name: str) -> types.FunctionType | None:
    """Return the function behind a full name, such as Layer.forward, below its decorators; None where there is none."""
    found: Any = module
    for part in name.split("."):
        found = vars(found).get(part) if isinstance(found, (type, types.ModuleType)) else None
    if isinstance(found, property):
        found = found.fget
    found = getattr(found, "__func__", found)
    while hasattr(found, "__wrapped__"):
        found = found.__wrapped__
    return found if isinstance(found, types.FunctionType) else None


def compiled(name: str, node: ast.FunctionDef, module: types.ModuleType) -> types.FunctionType:
    """Return the function that a changed definition makes in the names of a module; what it raises is the change's."""
    bare = copy.copy(node)
    bare.decorator_list, bare.returns = [], None
    body: ast.stmt = bare
    for owner in reversed(name.split(".")[:-1]):
        body = ast.ClassDef(owner, [], [], [body], [])
    tree = placed(ast.Module([body], []))
    names = dict(vars(module))
    exec(compile(tree, "<slip>", "exec"), names)
    found: Any = names[name.split(".")[0]]
    for part in name.split(".")[1:]:
        found = vars(found)[part]
    assert isinstance(found, types.FunctionType)
    return found


@contextmanager
def in_place(function: types.FunctionType, changed: types.FunctionType) -> Iterator[None]:
    """Give a function the lines and defaults of another."""
    before = function.__code__, function.__defaults__, function.__kwdefaults__
    function.__code__ = changed.__code__
    function.__defaults__, function.__kwdefaults__ = changed.__defaults__, changed.__kwdefaults__
    try:
        yield
    finally:
        function.__code__, function.__defaults__, function.__kwdefaults__ = before
