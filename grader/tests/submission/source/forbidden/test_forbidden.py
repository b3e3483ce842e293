"""Which functions of a module a forbidden use costs, and what a learner is told of it."""

from __future__ import annotations

import ast

import pytest

from grader.course.stage import Forbidden
from grader.submission.source.forbidden import Layout, read_forbidden
from grader.submission.source.problem import Problem, Reading

FORBIDDEN = Forbidden(("@",), ("numpy.dot", "numpy.linalg"), "Write it yourself.")
FUNCTIONS = ("f", "g", "h", "C", "C.a", "C.b")


def read(source: str) -> Reading:
    return read_forbidden(Layout(ast.parse(source)), FORBIDDEN, FUNCTIONS)


def found(source: str) -> Problem | None:
    return read(source).first


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("def f(a):\n    return a @ a\ndef g(a):\n    return a\n", {"f"}),
        ("def f(a):\n    return g(a)\ndef g(a):\n    return a @ a\ndef h(a):\n    return a\n", {"f", "g"}),
        ("def f(a):\n    return g(a)\ndef g(a):\n    return h(a)\ndef h(a):\n    return a @ f(a)\n", {"f", "g", "h"}),
        ("def f(a):\n    return [g]\ndef g(a):\n    return a @ a\n", {"f", "g"}),
        ("def f(a):\n    def inner():\n        return a @ a\n    return inner()\ndef g(a):\n    return a\n", {"f"}),
        ("f = lambda a: a @ a\ng = f\nh = lambda a: a\n", {"f", "g"}),
        ("g = h = lambda a: a @ a\n", {"g", "h"}),
        ("T = {'f': lambda a: a @ a}\ndef f(a):\n    return T['f'](a)\ndef g(a):\n    return a\n", {"f"}),
        ("def _a(a):\n    return a @ a\nT = [_a]\ndef f(a):\n    return T[0](a)\ndef g(a):\n    return a\n", {"f"}),
        ("def _a(a):\n    return a @ a\ndef f(a, by=_a):\n    return by(a)\ndef g(a):\n    return a\n", {"f"}),
        ("def _a(a):\n    return a @ a\ndef f(a):\n    return a\n", set()),
        ("if 1:\n    def f(a):\n        return a @ a\nelse:\n    def f(a):\n        return a\n", {"f"}),
        (
            "def f(a):\n    global k\n    k = lambda: a @ a\ndef g():\n    return k()\ndef h():\n    return 1\n",
            {"f", "g"},
        ),
        ("def __getattr__(name):\n    return lambda a: a @ a\ndef g():\n    return 1\n", {"f", "h", "C", "C.a", "C.b"}),
        ("import functools\n@functools.cache\ndef f(a):\n    return a @ a\ndef g():\n    return 1\n", {"f"}),
        ("def f(a):\n    import numpy.linalg\ndef g():\n    return 1\n", {"f"}),
    ],
)
def test_a_use_costs_the_functions_that_reach_it(source: str, refused: set[str]) -> None:
    reading = read(source)
    assert reading.problem is None and set(reading.refused) == refused
    assert reading.first is not None


CLASS = "class C:\n    def a(self, x):\n        return {a}\n    def b(self, x):\n        return {b}\n{more}"


@pytest.mark.parametrize(
    ("a", "b", "more", "refused"),
    [
        ("x @ x", "x", "", {"C", "C.a"}),
        ("self.b(x)", "x @ x", "", {"C", "C.a", "C.b"}),
        ("x", "x", "    def __init__(self):\n        self.x = 1 @ 2\n", {"C", "C.a", "C.b"}),
        ("x", "x", "    T = [lambda x: x @ x]\n", {"C", "C.a", "C.b"}),
        ("x", "x", "    class D:\n        def d(self, x):\n            return x @ x\n", {"C", "C.a", "C.b"}),
        ("x", "x", "    if 1:\n        def c(self, x):\n            return x @ x\n", {"C"}),
        (
            "x",
            "x @ x",
            "def f(model, x):\n    return model.b(x)\ndef g(model, x):\n    return model.a(x)\n",
            {"C", "C.b", "f"},
        ),
        ("x", "x @ x", "def f(x):\n    return C()\ndef g(x):\n    return x\n", {"C", "C.b", "f"}),
        ("x", "x", "class D(C):\n    def d(self):\n        return 1 @ 2\ndef f():\n    return D()\n", {"f"}),
        ("f(x)", "x", "def f(x):\n    return x @ x\n", {"C", "C.a", "f"}),
    ],
)
def test_a_use_in_a_class_costs_the_class_and_who_mentions_the_method(
    a: str, b: str, more: str, refused: set[str]
) -> None:
    reading = read(CLASS.format(a=a, b=b, more=more))
    assert reading.problem is None and set(reading.refused) == refused


def test_a_method_that_a_class_inherits_is_its_class_s() -> None:
    source = "class A:\n    def a(self, x):\n        return x @ x\nclass C(A):\n    def b(self, x):\n        return x\n"
    assert set(read(source).refused) == {"C", "C.a", "C.b"}


@pytest.mark.parametrize(
    "source",
    [
        "x = 1 @ 2\n",
        "from numpy import dot\n",
        "def f(a):\n    return a @ a\nf(3)\n",
        "def _a(a):\n    return a @ a\ndef f(a):\n    return _a(a)\nprint(f(3))\n",
        "def f(a=1 @ 2):\n    return a\n",
        "def f(a):\n    return a\nx = [f(y @ y) for y in ()]\n",
        "def wrap(f):\n    return lambda a: a @ a\n@wrap\ndef f(a):\n    return a\n",
        "OPS = {}\ndef keep(f):\n    OPS[0] = f\n    return f\n@keep\ndef _a(a):\n    return a @ a\n",
        "OPS = {}\ndef _a(a):\n    return a @ a\nOPS['f'] = _a\n",
        "import functools\nf = functools.partial(lambda a, b: a @ b, 1)\n",
        "class C:\n    x = 1 @ 2\n",
        "class C:\n    for x in (1,):\n        y = x @ x\n",
        "def _a(a):\n    return a @ a\nclass C:\n    x = _a(1)\n",
        "class B:\n    def __init_subclass__(cls):\n        cls.x = 1 @ 2\n",
        "class M(type):\n    def __new__(cls, *a):\n        return 1 @ 2\nclass C(metaclass=M):\n    pass\n",
        "def _a(a):\n    return a @ a\ndef f(a, by=[_a(1)]):\n    return a\n",
        "class V:\n    def __add__(self, x):\n        return x @ x\nx = V() + 1\n",
    ],
)
def test_what_runs_when_the_module_is_loaded_costs_the_whole(source: str) -> None:
    reading = read(source)
    assert reading.problem is not None and reading.problem.kind == "forbidden" and not reading.refused


def test_a_module_that_runs_what_is_forbidden_is_told_which_function_that_is() -> None:
    problem = read("def f(a):\n    return a @ a\nf(3)\n").problem
    assert problem is not None
    assert problem.message == "line 2: @ is not allowed in this stage. Write it yourself."
    assert problem.hint == "f is used while the module is loaded."


def test_each_function_is_told_its_own_first_use_and_through_whom_it_reaches_it() -> None:
    source = "def f(a):\n    return a @ a\ndef g(a):\n    return h(a)\ndef h(a):\n    a @= a\n    return a @ a\n"
    refused = read(source).refused
    assert refused["f"] == Problem("forbidden", "line 2: @ is not allowed in this stage. Write it yourself.", 2, None)
    message = "line 6: @= is not allowed in this stage (and 1 more). Write it yourself."
    assert refused["h"] == Problem("forbidden", message, 6, "Also @ in line 7")
    assert refused["g"] == Problem("forbidden", message, 6, "g reaches it through h. Also @ in line 7")


def test_what_the_whole_module_is_told_begins_with_what_runs_when_it_is_loaded() -> None:
    problem = read("def f(a):\n    return a @ a\nx = 1 @ 2\n").problem
    assert problem is not None
    assert (problem.line, problem.hint) == (3, "Also @ in line 2")


def test_a_long_name_is_cut_in_the_message() -> None:
    problem = found(f"import numpy\nnumpy.linalg.{'a' * 5000}\n")
    assert problem is not None and len(problem.message) < 200
