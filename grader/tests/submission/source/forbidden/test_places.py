"""Where the parts of a module stand: who owns them, and whether they run when the module is loaded."""

from __future__ import annotations

import ast

import pytest

from grader.submission.source.forbidden.places import Layout


def owners(source: str) -> set[tuple[str, str]]:
    """Who reaches, and who answers for, each mention of the name x."""
    layout = Layout(ast.parse(source))
    return {(place.owner, place.user) for node, place in layout if isinstance(node, ast.Name) and node.id == "x"}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x", {("", "")}),
        ("def f():\n    x", {("f", "f")}),
        ("def f(a=x):\n    pass", {("f", "")}),
        ("def f(a=x()):\n    pass", {("", "")}),
        ("def f(a: x) -> x:\n    pass", {("f", "")}),
        ("@x\ndef f():\n    pass", {("", "")}),
        ("f = x", {("f", "")}),
        ("f = [x, {1: x}]", {("f", "")}),
        ("f = x()", {("", "")}),
        ("f[0] = x", {("", "")}),
        ("f: int = x", {("f", "")}),
        ("f = lambda a: x()", {("f", "f")}),
        ("print(lambda a: x)", {("", "")}),
        ("def f():\n    return lambda a=x: [x for _ in x]", {("f", "f")}),
        ("class C:\n    def m(self):\n        x", {("C.m", "C.m")}),
        ("class C:\n    m = x", {("C:", "")}),
        ("class C:\n    m = x()", {("", "")}),
        ("class C:\n    if x:\n        def m(self):\n            pass", {("", "")}),
        ("class C:\n    if 1:\n        def m(self):\n            x", {("C.m", "C.m")}),
        ("class C(x):\n    pass", {("C:", "")}),
        ("class C(x()):\n    pass", {("", "")}),
        ("class C:\n    class D:\n        def m(self):\n            x", {("C:", "C:")}),
        ("def f():\n    class D:\n        def m(self, a=x):\n            x", {("f", "f")}),
        ("try:\n    def f():\n        x\nexcept ValueError:\n    pass", {("f", "f")}),
    ],
)
def test_a_mention_stands_with_who_reaches_it(source: str, found: set[tuple[str, str]]) -> None:
    assert owners(source) == found


def test_a_name_of_a_class_is_not_bound_in_its_methods() -> None:
    layout = Layout(ast.parse("class C:\n    vars = 1\n    a = vars\n    def m(self):\n        return vars\n"))
    read = [
        place.binds("vars", node.lineno)
        for node, place in layout
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    ]
    assert read == [True, False]


def test_a_chain_of_lambdas_does_not_overflow() -> None:
    assert Layout(ast.parse("x = " + "lambda: " * 80 + "1")).nodes
