"""What a stage forbids, in every way it can be written, and which functions that concerns."""

from __future__ import annotations

import ast
from collections.abc import Callable

import pytest

from grader.authoring.cases import alternative_cases, mistake_cases, reference_cases
from grader.course.manifest import load_course
from grader.course.stage import OPERATORS, Forbidden, Stage
from grader.submission import Snapshot
from grader.submission.forbidden import (
    MAX_MEANINGS,
    PATHS,
    Layout,
    Names,
    is_inert,
    key_of,
    parts,
    reached,
    read_forbidden,
    way_of,
)
from grader.submission.parsing import Problem, SourceFindings
from grader.submission.source import check_source
from tests.submission.forbidden_texts import HONEST, TEXTS_FORBID, TRICKS, blocks
from tests.support.places import ROOT
from tests.support.work import with_calls

SORTING = Forbidden((), ("sorted", ".sort", "heapq"), "Write the sorting yourself.")


def read(source: str, *functions: str) -> SourceFindings:
    return read_forbidden(Layout(ast.parse(source)), SORTING, functions or ("ranked",))


def ranked(body: str) -> SourceFindings:
    """What is refused of a function whose body is one line."""
    return read(f"import operator\n\n\ndef ranked(words):\n    {body}\n")


@pytest.mark.parametrize(
    ("body", "name"),
    [
        ("return sorted(words)", "sorted"),
        ("return list(map(sorted, words))", "sorted"),
        ("words.sort()", ".sort()"),
        ("words[0].sort(key=len)", ".sort()"),
        ("list.sort(words)", ".sort()"),
        ("order = words.sort", ".sort"),
        ('getattr(words, "sort")()', ".sort()"),
        ('operator.methodcaller("sort")(words)', "operator.methodcaller('sort')"),
        ("from builtins import sorted as s; return s(words)", "builtins.sorted"),
        ("import heapq; return heapq.nsmallest(2, words)", "heapq"),
    ],
)
def test_each_spelling_is_refused_and_named(body: str, name: str) -> None:
    found = ranked(body).first
    assert found is not None and f": {name} is not allowed in this stage" in found.message
    assert "Write the sorting yourself." in found.message


@pytest.mark.parametrize("body", ['getattr(words, "so" + "rt")()', 'eval("sorted")(words)', "globals()['s'](words)"])
def test_ways_around_the_names_are_refused_too(body: str) -> None:
    found = ranked(body).first
    assert found is not None and "in this way" in found.message


def test_only_the_rows_whose_functions_reach_it_are_refused() -> None:
    helper = "def _s(x):\n    s = sorted\n    return s(x)\n\n\n"
    found = read(f"{helper}def ranked(x):\n    return _s(x)\n\n\ndef other(x):\n    return x\n", "ranked", "other")
    assert found.problem is None and set(found.refused) == {"ranked"}
    assert found.refused["ranked"].message.startswith("line 2: sorted is not allowed")
    assert "ranked reaches it through _s" in str(found.refused["ranked"].hint)


def test_a_name_that_another_function_binds_does_not_hide_it() -> None:
    found = read("def other(sorted):\n    return sorted\n\n\ndef ranked(x):\n    return sorted(x)\n", "ranked", "other")
    assert set(found.refused) == {"ranked"}


def test_a_use_while_the_module_is_loaded_refuses_all_of_it() -> None:
    for line in ("TABLE = sorted([2, 1])", "s = sorted"):
        found = read(f"{line}\n\n\ndef ranked(x):\n    return x\n")
        assert found.problem is not None and found.problem.line == 1


def on_a_line(text: str) -> str:
    return " ".join(text.split())[:60]


@pytest.mark.parametrize("text", blocks(HONEST), ids=on_a_line)
def test_no_honest_text_is_refused(text: str) -> None:
    exec(compile(text, "honest", "exec"), {"__name__": __name__})  # it means what it seems to mean
    assert read_forbidden(Layout(ast.parse(text)), TEXTS_FORBID).first is None


@pytest.mark.parametrize("text", blocks(TRICKS), ids=on_a_line)
def test_a_trick_is_refused(text: str) -> None:
    assert read_forbidden(Layout(ast.parse(text)), TEXTS_FORBID).first is not None


STAGES = [stage for stage in load_course(ROOT).stages if stage.forbidden.operators or stage.forbidden.names]


@pytest.mark.some_of(9, "stages", "hidden")
@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.id)
def test_no_answer_of_the_course_is_refused(stage: Stage) -> None:
    cases = [*reference_cases(stage, [0]), *alternative_cases(stage, [0]), *mistake_cases(stage, [0])]
    assert len(cases) > 10
    snapshots = [Snapshot(stage.module, case.source.encode(), "", stage.module_path, case.name) for case in cases]
    assert [each.label for each in snapshots if check_source(stage, each) != SourceFindings()] == []


@pytest.mark.parametrize("stage", STAGES, ids=lambda stage: stage.id)
def test_no_stub_is_refused(stage: Stage) -> None:
    snapshot = Snapshot(stage.module, stage.module_path.read_bytes(), "", stage.module_path, stage.module)
    assert check_source(stage, snapshot) == SourceFindings()


FORBIDDEN = Forbidden(("@",), ("numpy.dot", "numpy.linalg"), "Write it yourself.")
FUNCTIONS = ("f", "g", "h", "C", "C.a", "C.b")


def read_of_forbidden(source: str) -> SourceFindings:
    return read_forbidden(Layout(ast.parse(source)), FORBIDDEN, FUNCTIONS)


def found(source: str) -> Problem | None:
    return read_of_forbidden(source).first


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
        (
            "def g(a):\n    return a @ a\ndef f(a):\n    g = a\n    return g\ndef h(g):\n    return [g for g in g]\n",
            {"g"},
        ),
        ("def g(a):\n    return a @ a\ndef f(a):\n    def h(g=g):\n        return g(a)\n    return h()\n", {"f", "g"}),
        ("def f(a):\n    global h\n    h = g\n    return h(a)\ndef g(a):\n    return a @ a\n", {"f", "g"}),
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
    reading = read_of_forbidden(source)
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
        ("x @ x", "x", "import m\ndef f(x):\n    return m.a(x) + m.n.a(x)\n", {"C", "C.a"}),
        (
            "x @ x",
            "x",
            "import m\ndef g():\n    global m\n    m = 1\ndef f(x):\n    return m.a(x)\n",
            {"C", "C.a", "f"},
        ),
    ],
)
def test_a_use_in_a_class_costs_the_class_and_who_mentions_the_method(
    a: str, b: str, more: str, refused: set[str]
) -> None:
    reading = read_of_forbidden(CLASS.format(a=a, b=b, more=more))
    assert reading.problem is None and set(reading.refused) == refused


def test_a_method_that_a_class_inherits_is_its_class_s() -> None:
    source = "class A:\n    def a(self, x):\n        return x @ x\nclass C(A):\n    def b(self, x):\n        return x\n"
    assert set(read_of_forbidden(source).refused) == {"C", "C.a", "C.b"}


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
    reading = read_of_forbidden(source)
    assert reading.problem is not None and reading.problem.kind == "forbidden" and not reading.refused


def test_a_module_that_runs_what_is_forbidden_is_told_which_function_that_is() -> None:
    problem = read_of_forbidden("def f(a):\n    return a @ a\nf(3)\n").problem
    assert problem is not None
    assert problem.message == "line 2: @ is not allowed in this stage. Write it yourself."
    assert problem.hint == "f is used while the module is loaded."


def test_each_function_is_told_its_own_first_use_and_through_whom_it_reaches_it() -> None:
    source = "def f(a):\n    return a @ a\ndef g(a):\n    return h(a)\ndef h(a):\n    a @= a\n    return a @ a\n"
    refused = read_of_forbidden(source).refused
    assert refused["f"] == Problem("forbidden", "line 2: @ is not allowed in this stage. Write it yourself.", 2, None)
    message = "line 6: @= is not allowed in this stage (and 1 more). Write it yourself."
    assert refused["h"] == Problem("forbidden", message, 6, "Also @ in line 7")
    assert refused["g"] == Problem("forbidden", message, 6, "g reaches it through h. Also @ in line 7")


def test_what_the_whole_module_is_told_begins_with_what_runs_when_it_is_loaded() -> None:
    problem = read_of_forbidden("def f(a):\n    return a @ a\nx = 1 @ 2\n").problem
    assert problem is not None
    assert (problem.line, problem.hint) == (3, "Also @ in line 2")


def test_a_long_name_is_cut_in_the_message() -> None:
    problem = found(f"import numpy\nnumpy.linalg.{'a' * 5000}\n")
    assert problem is not None and len(problem.message) < 200


FORBIDDEN_MEANINGS = Forbidden((), ("numpy.dot", "numpy.linalg"), "Write it yourself.")


def found_of_meanings(source: str) -> Problem | None:
    return read_forbidden(Layout(ast.parse(source)), FORBIDDEN_MEANINGS).first


def of_doubled_meanings(many: int) -> str:
    return "import numpy as x\n" + "".join(f"x = x.a{number}\n" for number in range(many))


def of_many_meanings(many: int) -> str:
    return "".join(f"from numpy import a{number} as x\n" for number in range(many)) + "x\n" * 5 * many


def of_many_stars(many: int) -> str:
    return "".join(f"from numpy.a{number} import *\n" for number in range(many)) + "y\n" * 5 * many


def of_many_bindings(many: int) -> str:
    return "class x: ...\n" + "class x(x): ...\n" * many + "x().sort\n" * 5 * many


@pytest.mark.parametrize("source", [of_doubled_meanings, of_many_meanings, of_many_stars, of_many_bindings])
def test_the_work_grows_with_the_text_and_not_with_what_a_name_may_mean(source: Callable[[int], str]) -> None:
    few, many = (with_calls(lambda: found_of_meanings(source(lines)))[1] for lines in (100, 400))  # noqa: B023
    assert many < 5 * few


def test_a_name_with_too_many_meanings_is_refused() -> None:
    problem = found_of_meanings(of_doubled_meanings(100))
    assert problem is not None and "cannot see which of the many things it stands for is meant" in problem.message
    assert found_of_meanings(of_many_meanings(100)) is not None
    assert found_of_meanings(of_many_stars(100)) is None


def test_a_meaning_does_not_hide_behind_many_others() -> None:
    others = "".join(f"    from math import a{number} as x\n" for number in range(MAX_MEANINGS))
    assert found_of_meanings(f"if 0:\n{others}import numpy as x\nx.dot(1, 2)\n") is not None


def test_as_many_meanings_as_modules_have_are_known() -> None:
    source = "".join(f"from numpy import a{number} as x\n" for number in range(MAX_MEANINGS - 1))
    problem = found_of_meanings(source + "import numpy as x\nx.linalg.norm(1)\n")
    assert problem is not None and problem.line == MAX_MEANINGS + 1


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


def test_a_chain_of_lambdas_does_not_overflow() -> None:
    assert Layout(ast.parse("x = " + "lambda: " * 80 + "1")).nodes


def test_each_name_has_the_first_owner_that_it_reaches() -> None:
    layout = Layout(ast.parse("def a(): b(), c()\ndef b(): pass\ndef c(): pass\ndef d(): c()\ndef e(): pass\n"))
    found = reached(layout, ["b", "c"])
    assert {name: found.get(name) for name in "abcde"} == {"a": "b", "b": "b", "c": "c", "d": "c", "e": None}


def test_what_a_module_lacks_is_asked_of_its_own_getattr() -> None:
    layout = Layout(ast.parse("class C:\n    def m(self): pass\n"))
    assert [key_of(layout, name) for name in ("C", "C.m", "C.n", "f")] == ["C", "C.m", "C", "__getattr__"]


def test_many_mentions_are_followed_once() -> None:
    source = "def f0(): f0\n" + "".join(f"def f{i}(): f{i - 1}, f{i * 7 % 1000}, f0\n" for i in range(1, 1000))
    layout = Layout(ast.parse(source))
    found, calls = with_calls(lambda: reached(layout, ["f0", "f1", "f2"]))
    assert len([name for name in found if name.startswith("f")]) == 1000
    assert calls < 20_000


@pytest.mark.parametrize(
    ("path", "forbidden"),
    [
        ("numpy.dot", True),
        ("numpy.ma.dot", True),
        ("numpy._core.multiarray.dot", True),
        ("numpy.linalg.norm", True),
        ("operator.matmul", True),
        ("_operator.imatmul", True),
        ("numpy.dottie", False),
        ("numpy.multiply.dot", False),
        ("math.dot", False),
        ("operator.mul", False),
    ],
)
def test_a_name_is_forbidden_wherever_numpy_and_python_have_it_again(path: str, forbidden: bool) -> None:
    assert Names(Forbidden(("@",), ("numpy.dot", "numpy.linalg"), "")).forbids(path) is forbidden


def test_every_operator_has_its_methods() -> None:
    for symbol, kind in OPERATORS.items():
        methods = Names(Forbidden((symbol,), (), "")).methods
        assert len(methods) == 3 and all(hasattr(int, name) or "matmul" in name or "__i" in name for name in methods), (
            kind
        )


def test_what_lies_in_a_way_around_is_one() -> None:
    assert way_of("importlib.util.find_spec") is PATHS["importlib"]
    assert way_of("sys.modules.get") is PATHS["sys.modules"]
    assert way_of("sys.maxsize") is None


S01 = load_course(ROOT).find("s01").forbidden
HEAD = "import numpy as np\n\n\ndef matmul(A, B):\n    "


def refused(text: str, forbidden: Forbidden = S01) -> Problem | None:
    """What is refused of a module, or, where the text is one expression, of a function that returns it."""
    source = text if "\n" in text else f"{HEAD}return {text}\n"
    return read_forbidden(Layout(ast.parse(source)), forbidden, ("matmul",)).first


def said(text: str) -> str:
    problem = refused(text)
    assert problem is not None, text
    return problem.message.partition(": ")[2].partition(" is not allowed")[0].partition(" (and")[0]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('getattr(np, "mat" + "mul")(A, B)', "getattr"),
        ("A.__matmul__(B)", ".__matmul__() (the operator @)"),
        ('vars(__import__("numpy"))["matmul"](A, B)', "vars"),
        ('eval("A @ B")', "eval"),
        ("B.__rmatmul__(A)", ".__rmatmul__() (the operator @)"),
        ("A.__imatmul__(B)", ".__imatmul__() (the operator @)"),
        ("np.ndarray.__matmul__(A, B)", ".__matmul__() (the operator @)"),
        ('getattr(A, "__matmul__")(B)', ".__matmul__() (the operator @)"),
        ("type(A).__matmul__(A, B)", ".__matmul__() (the operator @)"),
        ('getattr(A, "d" + "ot")(B)', "getattr"),
        ("getattr(np, f\"{'mat'}mul\")(A, B)", "getattr"),
        ("getattr(*[A, 'dot'])(B)", "getattr"),
        ('list(map(getattr, [np.ndarray], ["dot"]))', "getattr"),
        ("exec('C = A @ B')", "exec"),
        ("(lambda run: run('A @ B'))(eval)", "eval"),
        ("compile('A @ B', '', 'eval')", "compile"),
        ("globals()['np'].matmul(A, B)", "globals"),
        ("locals()['A']", "locals"),
        ("vars(np)['matmul'](A, B)", "vars"),
        ("np.__dict__['matmul'](A, B)", ".__dict__"),
        ("np.__getattribute__('matmul')(A, B)", ".__getattribute__()"),
        ("np.__getattr__('matmul')(A, B)", ".__getattr__()"),
        ("type(A).__dict__['dot'](A, B)", ".__dict__"),
        ("matmul.__globals__['np'].matmul(A, B)", ".__globals__"),
        ("__builtins__['eval']('A @ B')", "__builtins__"),
        ("print.__self__.eval('A @ B')", ".__self__"),
        ("().__class__.__base__.__subclasses__()", ".__subclasses__()"),
        ("(lambda m: m.matmul(A, B))(np)", "numpy"),
        ("[m.matmul(A, B) for m in [np]][0]", "numpy"),
        ("(np if True else None).matmul(A, B)", "numpy"),
        ("np.core.multiarray.matmul(A, B)", "numpy.core.multiarray.matmul"),
        ("np._core.umath.matmul(A, B)", "numpy._core.umath.matmul"),
        ("np.ma.dot(A, B)", "numpy.ma.dot"),
        ("np.lib.stride_tricks.np.matmul(A, B)", "numpy.lib.stride_tricks.np.matmul"),
        ("[f(B) for f in [A.dot]][0]", ".dot"),
        ("A.dot.__call__(B)", ".dot"),
    ],
)
def test_it_is_refused_as(text: str, name: str) -> None:
    assert said(text) == name


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("import importlib\ndef matmul(A, B):\n    return importlib.import_module('numpy').matmul(A, B)\n", None),
        ("from importlib import import_module as get\ndef matmul(A, B):\n    return get('numpy').matmul(A, B)\n", None),
        ("import sys\ndef matmul(A, B):\n    return sys.modules['numpy'].matmul(A, B)\n", "sys.modules"),
        ("from sys import modules\ndef matmul(A, B):\n    return modules['numpy'].matmul(A, B)\n", "sys.modules"),
        ("import sys\ndef matmul(A, B):\n    return getattr(sys, 'modules')['numpy']\n", "sys.modules"),
        ("import sys\ndef matmul(A, B):\n    return sys._getframe(0).f_globals\n", None),
        ("import operator\ndef matmul(A, B):\n    return operator.matmul(A, B)\n", "operator.matmul"),
        ("import operator as o\ndef matmul(A, B):\n    return o.imatmul(A, B)\n", "operator.imatmul"),
        ("import operator\ndef matmul(A, B):\n    return operator.__matmul__(A, B)\n", "operator.__matmul__"),
        ("import _operator\ndef matmul(A, B):\n    return _operator.matmul(A, B)\n", "_operator.matmul"),
        ("import operator\nof = operator\ndef matmul(A, B):\n    return of.matmul(A, B)\n", "operator.matmul"),
        ("from operator import *\ndef product(A, B):\n    return imatmul(A, B)\n", "operator.imatmul"),
        ("import operator\ndef f(A, B, n):\n    return operator.attrgetter(n)(A)(B)\n", "operator.attrgetter"),
        ("from operator import methodcaller\ndef f(A, n):\n    return methodcaller(n)(A)\n", "operator.methodcaller"),
        ("import operator\ndef f(A, B):\n    return operator.attrgetter('dot')(A)(B)\n", "operator.attrgetter('dot')"),
        ("import operator\ndef f(A):\n    return map(operator.attrgetter, A)\n", "operator.attrgetter"),
        ("import builtins\ndef f(A, B):\n    return builtins.eval('A @ B')\n", "builtins.eval"),
        ("import pickle\ndef f(A, B):\n    return pickle.loads(b'cnumpy\\nmatmul\\n.')(A, B)\n", "pickle.loads"),
        ("import numpy as np\nclass Box:\n    xp = np\ndef f(A, B):\n    return Box.xp.matmul(A, B)\n", "numpy"),
        ("class Box:\n    import numpy as xp\ndef f(A, B):\n    return Box.xp.matmul(A, B)\n", "numpy"),
        ("import numpy as np\ndef f(A, B, xp=np):\n    return xp.matmul(A, B)\n", "numpy"),
        ("import numpy as np\ndef f(A, B):\n    (m := np)\n    return m.matmul(A, B)\n", None),
        ("import numpy as np\ndef f(A, B):\n    m = q = np\n    return m.matmul(A, B)\n", "numpy.matmul"),
        ("import numpy as np\ndef f(A, B):\n    m, _ = np, 0\n    return m.matmul(A, B)\n", "numpy"),
        ("import numpy as np\ndef f(A, n):\n    self = A\n    return getattr(self, n)\n", "getattr"),
        ("import numpy as np\nclass L: ...\ndef g():\n    np = L()\ndef f(n):\n    return getattr(np, n)\n", "getattr"),
        ("import numpy as np\nclass M(np.ndarray):\n    def f(self, n):\n        return getattr(self, n)\n", "getattr"),
        ("class M:\n    def f(self, A, n):\n        self = A\n        return getattr(self, n)\n", "getattr"),
        ("def f(A, B):\n    match A:\n        case object(dot=product):\n            return product(B)\n", ".dot"),
        ("def g(eval):\n    return eval\ndef f(A, B):\n    return eval('A @ B')\n", "eval"),
        ("class C:\n    def eval(self):\n        return eval('A @ B')\n", "eval"),
        ("def f(A, B):\n    x = [1 for eval in ()]\n    return eval('A @ B')\n", "eval"),
        ("import string\ndef f(A, B):\n    return string.Formatter().get_field('0.dot', [A], {})\n", None),
    ],
)
def test_a_module_is_refused_for(text: str, name: str | None) -> None:
    assert said(text) == name if name else refused(text) is not None


@pytest.mark.parametrize(
    "text",
    [
        "class Matrix:\n    def __matmul__(self, other):\n        return 0\n    __rmatmul__ = __matmul__\n",
        "class Matrix:\n    def f(self, other):\n        return self.__matmul__(other)\n",
        "class Layer:\n    def f(self, name):\n        return getattr(self, name)\n",
        "class Layer:\n    def f(self):\n        return [getattr(self, name) for name in ('W', 'b')]\n",
        "class Layer:\n    @classmethod\n    def f(cls, name):\n        return getattr(cls, name)\n",
        "class Layer:\n    pass\nclass Deep(Layer):\n    def f(self, name):\n        return getattr(self, name)\n",
        "class Layer:\n    def f(self):\n        return vars(self), self.__dict__, dict(self.__dict__)\n",
        "class Layer:\n    def f(self):\n        return type(self).__dict__, self.__class__.__dict__\n",
        "class Layer:\n    def __getattr__(self, name):\n        return super().__getattribute__(name)\n",
        "class Layer:\n    pass\ndef f(name):\n    layer = Layer()\n    return getattr(layer, name), vars(layer)\n",
        "class Layer:\n    pass\ndef f(name):\n    return getattr(Layer(), name), vars(Layer)\n",
        "import re\nPATTERN = re.compile('a')\n",
        "def compile(x):\n    return x\ny = compile(3)\n",
        "def f(vars, locals):\n    return vars + locals\n",
        "def f(x):\n    '''Like eval, globals(), x.__dict__.'''\n    return 'np.matmul', 'eval'  # getattr(np, n)\n",
        "import importlib\nimport inspect\nimport operator\n",
        "import operator, functools\ndef f(v, w):\n    return functools.reduce(operator.add, v, w)\n",
        "import operator\ndef f(rows):\n    return operator.itemgetter(1), operator.attrgetter('shape')\n",
        "import operator\ndef f(rows):\n    return operator.methodcaller('tolist')(rows)\n",
        "import numpy as np\nla = np.fft\nxp = np\ndef f(x):\n    return xp.sum(la.fft(x))\n",
        "import numpy as np\ndef f(x):\n    return np.max(x) < np.finfo(x.dtype).max\n",
        "import sys\ndef f(x):\n    return sys.float_info.epsilon, sys.maxsize\n",
        "import numpy as np\ndef f(x):\n    return np.add.outer(x, x), np.multiply.outer(x, x)\n",
        "class P:\n    x: int\n    def f(self):\n        return [getattr(self, n) for n in self.names]\n",
        "class Point:\n    def __eq__(self, other):\n        return type(other) is Point and vars(self) == other.x\n",
        "x = 3\nx.dot = 4\nx.__dict__ = {}\n",
        "getattr(A, 'shape')",
        "getattr(np, 'sum')(A)",
        "getattr(np, 'trapezoid', None)",
        "hasattr(np, 'trapezoid')",
        "isinstance(A, np.ndarray)",
        "np.random.default_rng(0).random(3)",
        "A.T.sum(axis=0).reshape(-1, 1)",
        "float.__mul__(A, B)",
        "A.__array__()",
        "matmul.__name__",
        "A.__class__.__name__",
    ],
)  # fmt: skip
def test_it_is_innocent(text: str) -> None:
    assert refused(text) is None


def test_a_way_around_says_why_and_what_to_write() -> None:
    found = refused('getattr(np, "mat" + "mul")(A, B)')
    assert found is not None and found.line == 5
    assert found.message.startswith(
        "line 5: getattr is not allowed in this way: the check reads names, and cannot see an attribute whose name is "
        "made while the program runs. This stage is about what these do inside: write the products"
    )
    assert found.hint == 'Write the name out: x.shape, or getattr(x, "shape").'


def test_each_operator_has_its_functions_and_methods() -> None:
    both = Forbidden(("&", "^", "**"), (), "Write it yourself.")
    for text in (
        "operator.and_(a, b)",
        "operator.__xor__(a, b)",
        "a.__ror__(b)",
        "a.__rpow__(b)",
        "operator.ipow(a, b)",
    ):
        source = f"import operator\ndef f(a, b):\n    return {text}\n"
        found = read_forbidden(Layout(ast.parse(source)), both).first
        assert (found is None) == ("__ror__" in text), text


def test_a_stage_that_forbids_nothing_refuses_no_way() -> None:
    assert refused("eval('A @ B')", Forbidden()) is None
