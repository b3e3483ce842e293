"""Mutants of a reference: what is changed, and what is left as it is."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from grader.course.mutants import Mutant, mutants, reach
from tests.support.places import HIDDEN


def changed(statement: str) -> list[str]:
    """Return what each mutant of a function of one statement holds in its place."""
    lines = "\n".join(f"    {line}" for line in statement.splitlines())
    return [mutant.now for mutant in mutants(f"def function():\n{lines}\n")]


def returned(expression: str) -> list[str]:
    """Return what each mutant of a function returns instead of an expression."""
    return [text.removeprefix("return ") for text in changed(f"return {expression}")]


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


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("call(x, y, z)", ["call(y, x, z)", "call(x, z, y)", "x"]),
        ("np.call(x, y)", ["np.call(y, x)", "x"]),
        ("np.part.call(x)", ["x"]),
        ("self.call(x)", ["x"]),
        ("x.call()", ["x"]),
        ("x.call(y)", ["x", "y"]),
        ("call(*x, y)", []),
        ("call(x for x in y)", []),
        ("call('name', x)", []),
        ("np.result_type(x, y)", ["x"]),
        ("np.swapaxes(x, y, z)", ["x"]),
    ],
)
def test_a_call_swaps_its_arguments_or_is_left_out(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("call(dtype=x)", ["call()"]),
        ("call(a=x, b=y)", ["call(b=y)", "call(a=x)"]),
        ("call(**x)", []),
        ("zip(x, y, strict=True)", ["zip(y, x, strict=True)", "x"]),
    ],
)
def test_a_keyword_is_left_out_unless_it_is_a_guard(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("(x, y)", ["(y, x)"]),
        ("[x, y, z]", ["[y, x, z]", "[x, z, y]"]),
        ("[x, y, 'name']", ["[y, x, 'name']"]),
        ("[*x, y]", []),
        ("{x, y}", []),
    ],
)
def test_neighbours_in_a_tuple_or_list_are_swapped(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("one", "other"),
    [("sum", "mean"), ("maximum", "minimum"), ("zeros", "ones"), ("triu", "tril"), ("var", "std"), ("any", "all")],
)
def test_a_function_is_taken_for_its_partner(one: str, other: str) -> None:
    assert f"np.{other}(x)" in returned(f"np.{one}(x)") and f"x.{one}()" in returned(f"x.{other}()")


def test_a_partner_is_for_calls() -> None:
    assert returned("x.mean") == []


def test_a_transpose_is_left_out() -> None:
    assert returned("x.T") == ["x"]


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("3", ["4", "2"]),
        ("1", ["2", "0"]),
        ("0", ["1"]),
        ("0.0", ["1"]),
        ("0.5", ["1.0", "-0.5"]),
        ("-1", ["0", "-2"]),
        ("-0.5", ["-1.0", "0.5"]),
        ("True", ["False"]),
        ("False", ["True"]),
        ("None", []),
        ("...", []),
    ],
)
def test_a_constant_becomes_its_neighbours(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


def test_a_negative_axis_is_one_number() -> None:
    assert {"x.sum(axis=0)", "x.sum(axis=-2)"} < set(returned("x.sum(axis=-1)"))
    assert not {"x.sum(axis=1)", "x.sum(axis=--1)"} & set(returned("x.sum(axis=-1)"))


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x['key']", ["x['key_']"]),
        ("x == 'same'", ["x != 'same'", "x == 'same_'"]),
        ("{'key': 'value'}", ["{'key_': 'value'}"]),
        ("{'same': 'same'}", ["{'same_': 'same'}"]),
        ("'text'", []),
        ("call('text')", []),
        ("{'one', 'other'}", []),
        ("f'{x + 1} of {y}'", []),
    ],
)
def test_a_text_is_changed_where_it_is_a_key_or_is_compared(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("signature", "wrong"),
    [
        ("x, axis=-1", ["x, axis=0", "x, axis=-2"]),
        ("x, kind='mean'", ["x, kind='mean_'"]),
        ("x, *, keep=False", ["x, *, keep=True"]),
        ("x, *, kind, size=2", ["x, *, kind, size=3", "x, *, kind, size=1"]),
        ("x, mask=None", []),
    ],
)
def test_a_default_is_changed(signature: str, wrong: list[str]) -> None:
    found = [mutant.now for mutant in mutants(f"def function({signature}):\n    return x\n")]
    assert found == [f"def function({each}):" for each in wrong]


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x[1:]", ["x[:]", "x[2:]", "x[0:]"]),
        ("x[:-1]", ["x[:]", "x[:0]", "x[:-2]"]),
        ("x[n:]", ["x[:]", "x[n + 1:]", "x[n - 1:]"]),
        ("x[:n]", ["x[:]", "x[:n + 1]", "x[:n - 1]"]),
        ("x[::2]", ["x[:]", "x[::3]", "x[::1]"]),
        ("x[:, None]", ["x[None, :]"]),
        ("x[i + 1]", ["x[i - 1]", "x[i]", "x[1]", "x[i + 2]", "x[i + 0]"]),
    ],
)
def test_a_slice_loses_a_bound_or_moves_it_by_one(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x + y", ["x - y", "x", "y"]),
        ("x - y", ["x + y", "y - x", "x", "y"]),
        ("x * y", ["x / y", "x", "y"]),
        ("x / y", ["x * y", "y / x", "x", "y"]),
        ("x @ y", ["y @ x", "x", "y"]),
        ("x ** y", ["x * y", "y ** x", "x"]),
        ("x // y", ["x % y", "y // x"]),
        ("x % y", ["x // y", "y % x"]),
        ("x & y", ["x | y", "x", "y"]),
        ("x | y", ["x & y", "x", "y"]),
    ],
)
def test_an_operation_gets_another_operator_swapped_operands_or_a_term_less(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize("expression", ["x + y", "x * y", "x & y", "x | y", "x == y", "x and y"])
def test_operands_are_not_swapped_where_both_orders_mean_the_same(expression: str) -> None:
    backwards = " ".join(reversed(expression.split()))
    assert backwards not in returned(expression)


@pytest.mark.parametrize(("power", "is_swapped"), [("2", False), ("3", True), ("n", True)])
def test_a_difference_is_not_swapped_below_a_square(power: str, is_swapped: bool) -> None:
    assert (f"(y - x) ** {power}" in returned(f"(x - y) ** {power}")) is is_swapped


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x < y", ["x <= y", "x >= y"]),
        ("x <= y", ["x < y", "x > y"]),
        ("x > y", ["x >= y", "x <= y"]),
        ("x >= y", ["x > y", "x < y"]),
        ("x == y", ["x != y"]),
        ("x != y", ["x == y"]),
        ("x is y", ["x is not y"]),
        ("x is not y", ["x is y"]),
        ("x in y", ["x not in y"]),
        ("x not in y", ["x in y"]),
        ("x < y == z", ["x <= y == z", "x >= y == z", "x < y != z"]),
    ],
)
def test_a_comparison_moves_its_bound_and_turns_round(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize(
    ("expression", "wrong"),
    [
        ("x and y", ["x or y", "y", "x"]),
        ("x or y", ["x and y", "y", "x"]),
        ("x and y and z", ["x or y or z", "y and z", "x and z", "x and y"]),
    ],
)
def test_a_condition_gets_the_other_operator_or_a_part_less(expression: str, wrong: list[str]) -> None:
    assert returned(expression) == wrong


@pytest.mark.parametrize("expression", ["-x", "not x", "~x", "+x"])
def test_a_sign_is_dropped(expression: str) -> None:
    assert returned(expression) == ["x"]


def test_each_arm_of_a_choice_stands_alone() -> None:
    assert returned("x if y else z") == ["x", "z"]


def test_what_a_value_is_looked_up_in_keeps_its_order() -> None:
    assert returned("x in (a, b)") == ["x not in (a, b)"]


def test_the_conditions_of_a_comprehension_are_left_out() -> None:
    assert returned("[x for x in y if x]") == ["[x for x in y]"]


def test_a_condition_holds_never_and_always() -> None:
    assert changed("if x:\n    y = z") == ["if False:", "if True:"]


def test_a_refusal_is_left_out_and_raises_any_error_but_does_not_refuse_everything() -> None:
    assert changed("if x:\n    raise ValueError(f'{x + 1}')") == ["if False:", "raise Exception(f'{x + 1}')"]


def test_each_condition_of_a_chain_is_changed() -> None:
    assert changed("if x:\n    y = z\nelif a:\n    y = b") == ["if False:", "if True:", "if False:", "if True:"]


def test_a_loop_runs_over_nothing() -> None:
    assert changed("for x in y:\n    z = x") == ["for x in ():"]
    assert changed("while x:\n    y = z") == ["while False:"]


@pytest.mark.parametrize("statement", ["raise ValueError('bad', 3, x + y)", "raise ValueError(x - 1) from error"])
def test_of_an_error_the_class_alone_is_changed(statement: str) -> None:
    assert changed(statement) == [statement.replace("ValueError", "Exception")]


@pytest.mark.parametrize("statement", ["raise", "raise error"])
def test_an_error_from_elsewhere_stays(statement: str) -> None:
    assert changed(statement) == []


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("x += y", ["pass", "x -= y"]),
        ("x *= 2", ["pass", "x /= 2", "x *= 3", "x *= 1"]),
        ("x @= y", ["pass"]),
        ("call()", ["pass"]),
        ("x[0] = y", ["pass", "x[1] = y"]),
        ("x.part = y", ["pass"]),
        ("x = -x", ["pass", "x = x"]),
        ("x, y = y, x", ["pass", "x, y = (x, y)"]),
    ],
)
def test_a_statement_goes_where_its_names_stand_without_it(statement: str, wrong: list[str]) -> None:
    assert changed(statement) == wrong


@pytest.mark.parametrize("statement", ["x = y", "x = y = z", "x, y = z", "x, y = y, z"])
def test_an_assignment_stays_where_a_name_would_be_missing(statement: str) -> None:
    assert "pass" not in changed(statement)


def test_what_is_assigned_to_keeps_its_name() -> None:
    assert changed("x.T = y") == ["pass"]


@pytest.mark.parametrize("statement", ["import math", "from math import pi", "assert x == 1", "pass", "return"])
def test_imports_and_assertions_stay(statement: str) -> None:
    assert changed(statement) == []
