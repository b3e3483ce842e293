"""Trees are gone through as `ast` does, without contexts, and each node of what is compiled has a line."""

from __future__ import annotations

import ast

from grader.diagnosis.trees import placed, walk

TEXT = "def f(x, *, y=1):\n    for n in x:\n        if n > y:\n            return [n, -n][0]\n    return {'a': x}\n"


def test_all_nodes_but_contexts_come_the_nearest_first() -> None:
    tree = ast.parse(TEXT)
    every = [node for node in ast.walk(tree) if not isinstance(node, ast.expr_context)]
    assert list(map(id, walk(tree))) == list(map(id, every))


def test_what_has_no_line_gets_that_of_what_holds_it() -> None:
    function = ast.parse(TEXT).body[0]
    assert isinstance(function, ast.FunctionDef)
    made = ast.Return(ast.BinOp(ast.Name("x", ast.Load()), ast.Add(), ast.Constant(2)))
    made.lineno = made.end_lineno = 5
    made.col_offset = made.end_col_offset = 4
    function.body = [made]
    compile(ast.Module([placed(function)], []), "<test>", "exec")
    assert made.value is not None
    assert made.value.lineno == 5


def test_a_node_that_stands_in_two_places_is_visited_once() -> None:
    shared = ast.Name("x", ast.Load())
    whole = ast.Expression(ast.BinOp(shared, ast.Mult(), shared))
    code = compile(placed(whole), "<test>", "eval")
    assert eval(code, {"x": 3}) == 9
