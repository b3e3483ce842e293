"""Mutants of a module: each compiles, is unlike every other, and says where it stands and what it changes."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.course.mutants import Mutant, mutants, reach
from grader.tests.support.places import HIDDEN

SOLUTION = '''\
"""A module: 1 + 1."""

import math

LIMIT = 3 + 4


def helper(x):
    """Return x + 1."""
    return x + 1


@register(5)
def scaled(x: Array[2], factor: float = 2.0) -> Array[2]:
    """Return x * factor."""
    if factor < 0:
        raise ValueError(f"factor: {factor - 1}, expected " + "at least 0")
    return helper(x) * factor


class Layer(Base[7]):
    """Holds 9 - 8."""

    size = 6

    def forward(self, x):
        """Return x - 1."""
        def inner(y):
            return y % 10

        return scaled(inner(x))


def _lonely():
    """Nothing but words."""
'''


@pytest.fixture(scope="module")
def found() -> list[Mutant]:
    """Every mutant of the module above."""
    return mutants(SOLUTION)


def original() -> str:
    """Return the module as mutants are written: without docstrings, comments and layout."""
    tree = ast.parse(SOLUTION)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef)) and ast.get_docstring(node):
            node.body = node.body[1:] or [ast.Pass()]
    return ast.dump(tree)


def test_every_mutant_compiles(found: list[Mutant]) -> None:
    for mutant in found:
        compile(mutant.source, "mutant", "exec")


@pytest.mark.parametrize("file", sorted(HIDDEN.glob("s01_*/solution.py")), ids=lambda file: str(file.parent.name))
def test_every_mutant_of_a_real_solution_compiles_and_has_a_text_of_its_own(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    made = mutants(text)
    assert len(made) > 100 and len({mutant.source for mutant in made}) == len(made)
    lines = len(text.splitlines())
    for mutant in made:
        compile(mutant.source, "mutant", "exec")
        assert 0 < mutant.line <= lines and mutant.was and mutant.now


def test_every_mutant_differs_from_the_module_and_from_the_others(found: list[Mutant]) -> None:
    programs = [ast.dump(ast.parse(mutant.source)) for mutant in found]
    assert len({*programs, original()}) == len(found) + 1


def test_a_mutant_changes_one_place_and_leaves_the_tree_whole(found: list[Mutant]) -> None:
    lines = ast.unparse(ast.parse(found[0].source)).splitlines()
    for mutant in found:
        others = ast.unparse(ast.parse(mutant.source)).splitlines()
        assert len(others) == len(lines)
        assert sum(one != other for one, other in zip(lines, others, strict=True)) <= 2  # the first one's, and its own


def test_they_come_in_the_order_of_lines(found: list[Mutant]) -> None:
    assert [mutant.line for mutant in found] == sorted(mutant.line for mutant in found)


def test_a_mutant_names_its_function_line_and_statement_before_and_after(found: list[Mutant]) -> None:
    told = {(mutant.function, mutant.line, mutant.was, mutant.now) for mutant in found}
    assert ("helper", 10, "return x + 1", "return x - 1") in told
    assert ("scaled", 16, "if factor < 0:", "if factor <= 0:") in told
    assert ("scaled", 16, "if factor < 0:", "if False:") in told
    assert ("scaled", 18, "return helper(x) * factor", "return x * factor") in told


def test_a_default_stands_in_the_line_of_its_def_without_the_decorators(found: list[Mutant]) -> None:
    (line,) = {(mutant.line, mutant.was) for mutant in found if mutant.function == "scaled" and "def" in mutant.was}
    assert line == (14, "def scaled(x: Array[2], factor: float=2.0) -> Array[2]:")


def test_the_lines_that_have_to_run_are_the_statements_of_a_default_the_functions(found: list[Mutant]) -> None:
    spans = {(mutant.was, mutant.span) for mutant in found}
    assert ("return x + 1", (10, 10)) in spans and ("if factor < 0:", (16, 17)) in spans
    assert ("def scaled(x: Array[2], factor: float=2.0) -> Array[2]:", (14, 18)) in spans
    assert ("return y % 10", (29, 29)) in spans


def test_what_a_class_holds_may_matter_to_any_test(found: list[Mutant]) -> None:
    assert {mutant.span for mutant in found if mutant.function == "Layer"} == {None}


def test_methods_and_inner_functions_are_dotted(found: list[Mutant]) -> None:
    functions = {mutant.function for mutant in found}
    assert functions == {"helper", "scaled", "Layer", "Layer.forward", "Layer.forward.inner"}


def test_what_a_class_holds_is_changed(found: list[Mutant]) -> None:
    assert {(mutant.was, mutant.now) for mutant in found if mutant.function == "Layer"} == {
        ("size = 6", "size = 7"),
        ("size = 6", "size = 5"),
    }


def test_docstrings_annotations_decorators_bases_and_texts_of_errors_stay(found: list[Mutant]) -> None:
    for mutant in found:
        assert "@register(5)" in mutant.source and "class Layer(Base[7]):" in mutant.source
        assert "x: Array[2], factor: float=" in mutant.source and "-> Array[2]:" in mutant.source
        assert "f'factor: {factor - 1}, expected ' + 'at least 0'" in mutant.source
        assert "import math" in mutant.source and "LIMIT = 3 + 4" in mutant.source
        assert "9 - 8" not in mutant.source and "9 + 8" not in mutant.source


def test_a_change_that_two_places_have_in_common_is_there_once() -> None:
    sources = [mutant.source for mutant in mutants("def function(x):\n    return x[0]\n    return x[0]\n")]
    assert len(sources) == len(set(sources)) == 2


def test_a_change_that_changes_nothing_is_left_out() -> None:
    assert [mutant.now for mutant in mutants("def function(x):\n    return x + x\n")] == ["return x - x", "return x"]
    assert mutants("def function(x):\n    return (x, x)\n") == []


def test_a_module_without_functions_has_none() -> None:
    assert mutants("X = 1 + 2\n") == [] == mutants("")


def test_a_function_of_words_alone_has_none(found: list[Mutant]) -> None:
    assert not [mutant for mutant in found if mutant.function == "_lonely"]


def test_a_module_that_does_not_parse_is_a_syntax_error() -> None:
    with pytest.raises(SyntaxError):
        mutants("def (")


class TestReach:
    @pytest.mark.parametrize(
        ("name", "expected"),
        [
            ("helper", {"helper"}),
            ("scaled", {"scaled", "helper"}),
            ("Layer", {"Layer", "scaled", "helper"}),
            ("Layer.forward", {"Layer", "scaled", "helper"}),
            ("unknown", set()),
            ("math", set()),
        ],
    )
    def test_what_a_function_may_come_to_use(self, name: str, expected: set[str]) -> None:
        assert reach(SOLUTION)(name) == expected

    def test_two_that_call_each_other_come_to_an_end(self) -> None:
        assert reach("def a():\n    b()\n\n\ndef b():\n    a()\n")("a") == {"a", "b"}
