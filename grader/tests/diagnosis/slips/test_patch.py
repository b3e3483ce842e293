"""A function with other lines for a while."""

from __future__ import annotations

import ast
import functools
import types
from typing import cast

import pytest

from grader.diagnosis.slips.patch import compiled, function_named, in_place


def module_of(text: str) -> types.ModuleType:
    module = types.ModuleType("small")
    exec(text, vars(module) | {}, vars(module))
    return module


def definition(text: str) -> ast.FunctionDef:
    (node,) = ast.parse(text).body
    assert isinstance(node, ast.FunctionDef)
    return node


def add(a: int, b: int = 1) -> int:
    return a + b


ADD = cast(types.FunctionType, add)


def test_a_function_has_other_lines_and_defaults_until_the_block_ends() -> None:
    changed = compiled("add", definition("def add(a, b=5):\n    return a * b"), module_of(""))
    with in_place(ADD, changed):
        assert add(2) == 10
    assert add(2) == 3


def test_it_is_restored_where_the_block_raises() -> None:
    changed = compiled("add", definition("def add(a, b=5):\n    return a * b"), module_of(""))
    with pytest.raises(KeyError), in_place(ADD, changed):
        raise KeyError
    assert add(2) == 3


def test_methods_properties_and_decorated_functions_are_found() -> None:
    module = module_of(
        "class A:\n    def f(self): pass\n    @property\n    def g(self): pass\n    @staticmethod\n    def h(): pass"
    )
    assert [function_named(module, f"A.{name}") is not None for name in "fgh"] == [True, True, True]
    module.cached = functools.cache(add)  # type: ignore[attr-defined]
    assert function_named(module, "cached") is add
    assert function_named(module, "A.missing") is None and function_named(module, "A") is None


def test_a_changed_method_keeps_to_its_class() -> None:
    module = module_of("class A:\n    def __hidden(self): return 1\n    def f(self): return 0")
    original = function_named(module, "A.f")
    assert original is not None
    with in_place(original, compiled("A.f", definition("def f(self):\n    return self.__hidden()"), module)):
        assert module.A().f() == 1
