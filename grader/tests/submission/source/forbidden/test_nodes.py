"""Which expressions call nothing, and which parts of a node are looked at."""

from __future__ import annotations

import ast

import pytest

from grader.submission.source.forbidden.nodes import is_inert, parts


@pytest.mark.parametrize(
    ("text", "inert"),
    [
        ("x", True),
        ("np.ndarray", True),
        ("list[int]", True),
        ("{'a': [f, (g, 1)]}", True),
        ("lambda a: a @ f()", True),
        ("f()", False),
        ("[1, f()]", False),
        ("a + b", False),
        ("[a for a in b]", False),
        ("f'{a}'", False),
    ],
)
def test_an_expression_is_inert_where_it_only_names_things(text: str, inert: bool) -> None:
    assert is_inert([ast.parse(text, mode="eval").body]) is inert


def test_constants_operators_and_contexts_are_no_parts() -> None:
    found = parts(ast.parse("a + 1 < b", mode="eval").body)
    assert [type(part) for part in found] == [ast.BinOp, ast.Name]
    assert [type(part) for part in parts(found[0])] == [ast.Name]
