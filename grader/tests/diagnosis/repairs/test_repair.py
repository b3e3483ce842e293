"""Of several repairs of one line, which is the likelier, and what has to be put right for one to be told."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.repairs.kinds.analogy import defaults
from grader.diagnosis.repairs.repair import Repair, aside, crossed, is_likely, likelihood, reshapes
from grader.diagnosis.repairs.standing import is_weak
from grader.diagnosis.slips.schema import Change


def change(statement: str, old: str, new: str) -> Any:
    parsed = (ast.parse(text, mode="eval").body for text in (old, new))
    before, after = (getattr(each, "slice", each) for each in parsed)
    whole = ast.parse(statement).body[0]
    return SimpleNamespace(statement=whole, old=before, new=after, holder=whole)


@pytest.mark.parametrize(
    ("statement", "old", "new", "is_aside"),
    [
        ("if start + n >= most: raise ValueError", "start + n", "start - n", True),
        ("if start + n >= most: raise ValueError", "start + n >= most", "start + n > most", False),
        ("while start * n >= most: n += 1", "start * n", "start + n", True),
        ("x = start + n", "start + n", "start - n", False),
        ("x = a[i:n]", "a[i:n]", "a[i:n + 1]", True),
        ("x = a[i:n]", "a[i:n]", "a[i - 1:n]", True),
        ("x = a[i:n]", "a[i:n]", "a[i:i + n]", False),
        ("x = a[i:n + 1]", "a[i:n + 1]", "a[i:n]", False),
        ("x = start * n", "start * n", "start", False),
    ],
)
def test_a_sum_in_a_condition_yields_to_its_comparison_and_a_bound_moved_by_1_to_a_name(
    statement: str, old: str, new: str, is_aside: bool
) -> None:
    repair: Any = SimpleNamespace(changes=(change(statement, old, new),))
    assert aside(repair) is is_aside


def test_a_root_that_is_put_in_yields_to_what_is_too_much() -> None:
    """Where z is divided by std, -z² / (2 std) is put right by the root of the one std, and without the other."""
    name = ast.Name("std")
    root = ast.BinOp(name, ast.Pow(), ast.Constant(0.5))
    divided = ast.BinOp(ast.Name("x"), ast.Div(), name)
    whole = ast.parse("z = x / std").body[0]
    pairs = [(name, root), (divided, ast.BinOp(divided.left, ast.Div(), root)), (divided, divided.left)]
    made: list[Any] = [
        SimpleNamespace(changes=(SimpleNamespace(statement=whole, old=old, new=new, holder=whole),))
        for old, new in pairs
    ]
    assert [aside(each) for each in made] == [True, True, False]


@pytest.mark.parametrize(("holder", "is_aside"), [("step = 1", True), ("step > 1", True), ("step * 1", False)])
def test_a_number_that_stands_alone_yields_to_a_name_that_has_its_value(holder: str, is_aside: bool) -> None:
    """Where all windows that are tried have two entries, 2 is as good as their size."""
    one, two, statement = ast.Constant(1), ast.Constant(2), ast.parse(holder).body[0]
    around = statement if isinstance(statement, ast.Assign) else statement.value  # type: ignore[attr-defined]
    number = SimpleNamespace(statement=statement, old=one, new=two, holder=around)
    name = SimpleNamespace(statement=statement, old=one, new=ast.Name("size"), holder=around)
    made: list[Any] = [SimpleNamespace(changes=(each,)) for each in (number, name)]
    assert [aside(each) for each in made] == [is_aside, False]


def test_the_right_default_is_as_likely_as_another_number() -> None:
    ours, theirs = (ast.parse(f"def f(x, rate={rate}): pass").body[0] for rate in (0.99, 0.9))
    assert isinstance(ours, ast.FunctionDef) and isinstance(theirs, ast.FunctionDef)
    [(kind, new)] = defaults(ours, theirs)
    default: Any = SimpleNamespace(kind=kind, old=new.targets[0], new=new)
    number: Any = SimpleNamespace(kind="", old=ast.Constant(1), new=ast.Constant(2))
    assert likelihood(default) == likelihood(number) == 1


@pytest.mark.parametrize(("right", "failing", "weak"), [(1, 4, True), (1, 3, False), (2, 8, True), (3, 8, False)])
def test_what_puts_a_quarter_right_or_less_is_weak(right: int, failing: int, weak: bool) -> None:
    slip: Any = SimpleNamespace(tests=[f"test_{number}" for number in range(right)])
    row: Any = SimpleNamespace(failing=[None] * failing)
    assert is_weak(slip, row) is weak


@pytest.mark.parametrize(("new", "expected"), [("v", False), ("table", True), ("v + 1", False), ("unknown", True)])
def test_a_name_for_an_array_of_another_shape_is_tried_later(new: str, expected: bool) -> None:
    values = {"u": np.ones((2, 3)), "v": np.zeros((2, 3)), "table": np.zeros((5, 3))}
    assert reshapes(change("x = u", "u", new), values) is expected


def test_names_are_crossed_in_two_lines_those_of_one_name_first() -> None:
    first, second = ast.parse("k = g(q, w)\nv = g(q, w)").body

    def single(statement: ast.stmt, old: str, new: ast.expr) -> Any:
        return Repair((change_of(statement, ast.Name(old), new),), written=None)  # type: ignore[arg-type]

    singles = [
        single(first, "q", ast.Name("a")),
        single(first, "w", ast.Name("b")),
        single(second, "q", ast.Name("c")),
        single(second, "q", ast.Constant(1)),
    ]
    found = [tuple(each.new.id for each in pair.changes) for pair in crossed(singles)]  # type: ignore[union-attr]
    assert found == [("a", "c"), ("b", "c")]


def change_of(statement: ast.stmt, old: ast.expr, new: ast.expr) -> Change:
    return Change(1, "f", old, new, statement, statement)


@pytest.mark.parametrize(
    ("statement", "old", "new", "expected"),
    [
        ("w = rng.normal(0, s, size=n)", "s", "t", True),
        ("w = rng.normal(0, s, size=n)", "rng.normal(0, s, size=n)", "rng.normal(0, s, size=n) * s", True),
        ("p = rng.permutation(n)", "rng.permutation(n)", "rng.permutation(n) * s", False),
        ("w = draw(rng, n)", "draw", "other", False),
        ("x = np.asarray(x)", "x", "y", False),
        ("w = rng.random(n)", "n", "None", False),
        ("w = rng.random(n)", "n", "-n", False),
    ],
)
def test_a_whole_test_is_run_for_what_may_well_be_the_cause(statement: str, old: str, new: str, expected: bool) -> None:
    whole = ast.parse(statement).body[0]
    before = next(each for each in ast.walk(whole) if isinstance(each, ast.expr) and ast.unparse(each) == old)
    holder = next(each for each in ast.walk(whole) if any(part is before for part in ast.iter_child_nodes(each)))
    after: Any = ast.parse(new, mode="eval").body
    for name in ("left", "operand"):  # the same node, where it is kept
        if hasattr(after, name) and ast.unparse(getattr(after, name)) == old:
            setattr(after, name, before)
    made: Any = SimpleNamespace(statement=whole, old=before, new=after, holder=holder, kind="")
    assert is_likely(made) == expected


def test_that_a_length_is_compared_with_what_has_none_is_unlikely() -> None:
    holder: Any = ast.parse("len(x) == len(y)", mode="eval").body
    made: Any = SimpleNamespace(old=holder.left, new=holder.left.args[0], holder=holder, statement=holder, kind="")
    assert likelihood(made) == 2
