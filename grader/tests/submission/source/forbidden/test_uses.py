"""The ways around names that a stage refuses, and what looks like one and is none, held against stage s01."""

from __future__ import annotations

import ast

import pytest

from grader.course.manifest import load_course
from grader.course.stage import Forbidden
from grader.submission.source.forbidden import Layout, read_forbidden
from grader.submission.source.problem import Problem
from grader.tests.support.places import ROOT

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
