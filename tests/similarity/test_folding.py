"""What does nothing in a text makes no difference: a copy padded with it is still a copy, and it is counted."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeVar

import pytest

from grader.course.answers import alternative_sources, reference_source
from grader.course.manifest import load_course
from grader.similarity.compare import Text, compared, text
from grader.similarity.tokens import tokens
from tests.support.places import ROOT
from tests.support.work import with_calls

Node = TypeVar("Node", bound=ast.AST)
STAGES = ("s04", "s15")

PLAIN = """\
def f(x, y):
    a = np.exp(x) - y
    if a.any():
        b = a @ y
    else:
        b = g(a, y)
    return b / a
"""
PADDED = {
    "statements behind each": PLAIN.replace("\n", "; 0\n").replace(":; 0", ":"),
    "pass": PLAIN.replace("        b", "        pass\n        b"),
    "a constant condition": PLAIN.replace("    a =", "    if True:\n      a =").replace(
        "    return", "    if 0: y\n    return"
    ),
    "both branches the same": PLAIN.replace("@ y", "@ (y if x else y)"),
    "a wrapped loop": PLAIN.replace("    a =", "    for _ in (0,):\n      a ="),
    "a wrapped block": PLAIN.replace("    a =", "    with contextlib.nullcontext():\n      a ="),
    "an exception passed on": PLAIN.replace("    a = np.exp(x) - y", "    try: a = np.exp(x) - y\n    except E: raise"),
    "what is never reached": PLAIN + "    c = h(7)\n    return c\n",
    "a name set to itself": PLAIN.replace("    return", "    a, b = a, b\n    a = a\n    a += 0\n    return"),
    "a name that is never read": PLAIN.replace("    return", "    unused = [x, y]\n    return"),
    "an assertion of nothing": PLAIN.replace("    return", "    assert True\n    return"),
    "the first of one": PLAIN.replace("(x)", "((x,)[0])").replace("@ y", "@ [y][-1]"),
    "the first of two": PLAIN.replace("@ y", "@ (y, 0)[0]"),
    "the value of a key": PLAIN.replace("@ y", "@ {'k': y}['k']"),
    "neutral numbers": PLAIN.replace("(x)", "(x + 0)").replace("@ y", "@ (1 * +y)").replace("b /", "b**1 /"),
    "twice negated": PLAIN.replace("a.any()", "not not a.any()").replace("(x)", "(--x)"),
    "neutral conditions": PLAIN.replace("a.any()", "True and a.any()"),
    "functions of no arguments": PLAIN.replace("a @ y", "(lambda: a @ y)()"),
    "functions that return their argument": "def same(v):\n    return v\n" + PLAIN.replace("(x)", "(same(x))"),
    "a lambda that returns its argument": "same = lambda v: v\n" + PLAIN.replace("(x)", "(same(x))"),
    "a name on the way": PLAIN.replace("    return b / a", "    end = b / a\n    return end"),
    "a name for a name": PLAIN.replace("    a = np.exp(x) - y", "    first = np.exp(x) - y\n    a = first"),
    "a name within": PLAIN.replace("(x)", "((t := x))"),
    "arguments spread": PLAIN.replace("g(a, y)", "g(*(a,), y)"),
    "parentheses": PLAIN.replace("(x)", "((x))").replace("a @ y", "(a) @ (y)"),
    "annotations": PLAIN.replace("a =", "a: 'an array' ="),
    "all within each other": PLAIN.replace("(x)", "((lambda: ((x + 0,)[0] if True else y))())"),
}


@pytest.mark.parametrize("kind", PADDED)
def test_what_does_nothing_makes_no_difference(kind: str) -> None:
    assert tokens(PADDED[kind]).kinds == tokens(PLAIN).kinds


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = y[0]", "x = y"),
        ("x = (y, z())[0]", "x = y"),
        ("x = y + 1", "x = y"),
        ("x = 0 - y", "x = y"),
        ("x = not y", "x = y"),
        ("x = y if z else w", "x = y"),
        ("f(x)", ""),
        ("if f(): pass", ""),
        ("def f():\n    x = g()", "def f():\n    0"),
        ("for _ in (0, 1):\n    f()", "f()"),
        ("try:\n    f()\nexcept E:\n    g()", "f()"),
        ("while True:\n    f()", "f()"),
        ("x.y = x.y.z", ""),
        ("def same(v):\n    return v.T\nf(same(x))", "f(x)"),
        ("class A:\n    x: int = 1", "class A:\n    x = 1"),
        ("LIMIT = 3", ""),
    ],
)
def test_what_does_something_makes_a_difference(one: str, other: str) -> None:
    assert tokens(one).kinds != tokens(other).kinds
    assert tokens(one).idle == 0


def test_what_does_nothing_is_counted() -> None:
    assert tokens(PLAIN).idle == 0
    assert tokens(PADDED["statements behind each"]).idle == 4
    assert tokens("x = (y,)[0] + 0\npass\nz = x").idle == 3


@pytest.mark.parametrize(
    "text", ["def f():\n    '''About.'''\n    pass\n", "class E(Exception): pass", "def f(): ...", ""]
)
def test_what_a_block_needs_is_not_counted(text: str) -> None:
    assert tokens(text).idle == 0


def test_lines_are_those_of_the_text() -> None:
    found = tokens("é = 'ü'; 0; b = é\nx = (  # why\n  é,)[0]\n\nif 1:\n    f(x)\n")
    assert list(zip(found.kinds, found.lines, strict=True)) == [
        *(("v", 1), ("=", 1), ("s", 1), ("v", 1), ("=", 1), ("v", 1), ("v", 2), ("=", 2), ("v", 3)),
        *(("v", 6), ("(", 6), ("v", 6), (")", 6)),
    ]


class Wrapped(ast.NodeTransformer):
    """Each name that is read, as the first of one: `(x,)[0]`."""

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if not isinstance(node.ctx, ast.Load):
            return node
        return ast.Subscript(ast.Tuple([node], ast.Load()), ast.Constant(0), ast.Load())

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        node.body = [self.visit(each) for each in node.body]
        return node


def wrapped(source: str) -> str:
    """Return a copy in which each name that a function reads is the first of one."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            node.body = [Wrapped().visit(each) for each in node.body]
    return ast.unparse(ast.fix_missing_locations(tree))


def padded(source: str) -> str:
    """Return a copy with `0` behind each statement."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        for block in ("body", "orelse"):
            if isinstance(body := getattr(node, block, None), list):
                setattr(node, block, [each for statement in body for each in (statement, ast.Expr(ast.Constant(0)))])
    return ast.unparse(ast.fix_missing_locations(tree))


def solution(stage: str) -> str:
    return next(iter(alternative_sources(load_course(ROOT).find(stage)).values()))


@pytest.mark.parametrize("disguise", [wrapped, padded, lambda source: padded(wrapped(source))])
@pytest.mark.parametrize("stage", STAGES)
def test_a_padded_copy_is_a_copy(stage: str, disguise: Callable[[str], str]) -> None:
    source = solution(stage)
    both = [text("ada", source.encode()), text("bob", disguise(source).encode())]
    (pair,) = compared(both).pairs
    assert pair.of_left > 0.9 and pair.of_right > 0.9


@pytest.mark.parametrize("stage", STAGES)
def test_a_padded_copy_has_a_note_and_an_honest_text_has_none(stage: str) -> None:
    source = reference_source(load_course(ROOT).find(stage))
    assert not text("ada", source.encode()).notes
    (note,) = text("bob", padded(source).encode()).notes
    assert "that do nothing" in note


HOSTILE = {
    "open parentheses": "(\n" * (1 << 19),
    "empty lines": "\n" * (1 << 20),
    "lines that go on": "\\\n" * (1 << 19),
    "names": "x\n" * (1 << 19),
    "semicolons": "x;" * (1 << 19),
    "negations": "x = " + "not " * 100_000 + "y",
    "minus": "x = " + "-" * 500_000 + "y",
    "nested": "(" * 90 + "x" + ",)[0]" * 90,
    "many nested": ("x = " + "(" * 90 + "x" + ",)[0]" * 90 + "\n") * 500,
    "conditions": "x = " + "a if 1 else " * 20_000 + "a",
    "letters of two bytes": "é=" * (1 << 18) + "é",
    "if": "\n".join(f"{' ' * depth}if 1:" for depth in range(95)) + "\n" + " " * 95 + "x = 1",
    "else": "if 0: pass\n" + "elif 0: pass\n" * 10_000,
    "broken": "x = $\n" + "(\n" * (1 << 19),
    "sums": "x = " + "0 + " * 50_000 + "0",
}


@pytest.mark.some_of(5, "grader/similarity")
@pytest.mark.parametrize("kind", HOSTILE)
def test_a_hostile_text_costs_bounded_work(kind: str) -> None:
    """A megabyte costs no more calls than a text of as many tokens as are read."""
    assert with_calls(lambda: tokens(HOSTILE[kind]))[1] < 2_000_000


def test_a_text_that_is_read_in_part_says_so() -> None:
    assert "only its first 10000 lines" in tokens("\n" * 30_000 + "x = 1").note
    assert "only its first 20000 tokens" in tokens("x = f(y)\n" * 5_000).note
    deep = tokens("x = " + "-" * 50_000 + "y")
    assert "not valid Python" in deep.note and deep.kinds


def test_notes_stand_at_a_text() -> None:
    made = text("ada", b"x = (")
    assert isinstance(made, Text) and any("not valid Python" in note for note in made.notes)
