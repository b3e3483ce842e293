"""Texts for the rules of forbidden names, one a block: honest ones, which no rule may refuse, and tricks that one must.

They are read with `TEXTS_FORBID`. An honest text runs without an error: `test_forbidden.py` proves that.
"""

from __future__ import annotations

from grader.course.stage import Forbidden

TEXTS_FORBID = Forbidden(
    ("@",), ("sorted", ".sort", "heapq", "numpy.matmul", "numpy.dot", "numpy.linalg.inv"), "Write it yourself."
)

HONEST = """
if len("ab") > 1:
    eval = max
else:
    eval = min
def f(x):
    return eval(x)

try:
    eval = len
except NameError:
    eval = max
def f(x):
    return eval(x)

try:
    from math import no_such_name as sorted
except ImportError:
    def sorted(x):
        return x
def f(x):
    return sorted(x)

for eval in (len, max):
    eval([1])

for eval in (len, max): eval([1])

def f(x):
    for eval in (len, max):
        x = [eval(x)]
    return x

for i, (compile, sorted) in enumerate([(len, max)]):
    print(compile([1]), sorted([1]))

import io
with io.StringIO("a") as eval:
    eval.read()

import contextlib
with contextlib.nullcontext(len) as sorted, contextlib.nullcontext(max) as eval:
    sorted([1]), eval([1])

import contextlib
def f(x):
    with contextlib.nullcontext(len) as sorted:
        return sorted(x)

if (eval := len)([1]):
    eval([2])

print((sorted := len)([1]), sorted([1]))

def f(x):
    if (eval := len(x)) > 3:
        return eval
    return eval + 1

def f(x):
    [(sorted := len)(y) for y in x]
    return sorted(x)

[(sorted := len)(y) for y in ["a"]]
def f(x):
    return sorted(x)

while (eval := len("a")) < 1:
    print(eval)
print(eval)

print(eval(3) if (eval := abs) else eval)

a, eval = 1, len
def f(x):
    return eval(x)

(vars, [locals, *globals]) = 1, [2, 3, 4]
def f(x):
    return vars + locals + globals[0]

eval = exec = len
eval([1]), exec([2])

eval: object = len
eval([1])

sorted = 0
for i in range(3):
    sorted += i
print(sorted)

def setup():
    global eval
    eval = len
def f(x):
    return eval(x)
setup()
f([1])

def setup():
    global sorted
    def sorted(x):
        return x
setup()
print(sorted([1]))

def f(x):
    return sorted(x)
def later():
    global sorted
    from math import fsum as sorted
later()
f([1])

def count():
    vars = 0
    def step():
        nonlocal vars
        vars += 1
        return vars
    step()
    return vars

def f():
    def g():
        nonlocal eval
        eval = len
        return eval([1])
    eval = max
    return g() + eval([1])

def f(x):
    return [eval(x) for eval in (len, max)]

def f(x):
    return {compile: locals for compile, locals in x.items() if compile}

total = [sorted(row) for row in [[1]] for sorted in (len, max)]

pairs = [(eval, vars) for eval in (1, 2) for vars in range(eval)]

f = lambda eval, *vars, **locals: (eval, vars, locals)
f(1, 2, a=3)

def f(x, eval=len):
    return eval(x)
f([1])

def apply(sorted, x):
    def inner():
        return sorted(x)
    return inner()
apply(len, [1])

def f(x):
    match x:
        case [eval, *vars]:
            return eval, vars
        case {"a": sorted, **locals}:
            return sorted, locals
        case int() as compile:
            return compile
        case exec:
            return exec

match [len, 1]:
    case [eval, vars]:
        eval([vars])
    case sorted:
        print(sorted)

try:
    1 / 0
except ZeroDivisionError as eval:
    print(eval)

try:
    1 / 0
except ZeroDivisionError as vars:
    print(vars.args)
try:
    1 / 0
except ZeroDivisionError as vars:
    print(vars.args)

def f(x):
    try:
        return 1 / x
    except ZeroDivisionError as sorted:
        return str(sorted)

def f(x):
    try:
        return 1 / x
    except ZeroDivisionError as heapq:
        return heapq.args

def f(x):
    match x:
        case heapq:
            return heapq.real

class Model:
    def eval(self):
        return self
    def train(self):
        return self.eval()
Model().train().eval()

class Model:
    def sorted(self, x):
        return x
    order = sorted
    best = sorted(None, 3)
    def __matmul__(self, other):
        return self
Model().order(1)

class Model:
    for eval in (1, 2):
        last = eval
    if last:
        vars = 3
    more = vars + last

import io
class Model:
    with io.StringIO("a") as eval:
        text = eval.read()

from dataclasses import dataclass
@dataclass
class Config:
    sorted: bool = False
    eval: int = 3
    def f(self):
        return self.sorted, self.eval
Config().f()

class Tokens:
    class compile:
        size = 3
    width = compile.size
    class eval(compile):
        pass
    class both(eval):
        pass

class sorted:
    def __init__(self, x):
        self.x = x
    def again(self):
        return sorted(self.x)
sorted(3).again()

def eval(model, x):
    return model(x)
def f(x):
    return eval(len, x)

def f(x):
    return eval(len, x)
def eval(model, x):
    return model(x)

def f(x):
    def sorted(y):
        return y
    return sorted(x)

def f(x):
    class Inner:
        size = sorted(x)
    return Inner.size
def sorted(x):
    return len(x)
f([1])

eval = len
eval([1])
del eval

def sorted(x):
    return x
def f(x):
    return sorted(x)
f([1])
del sorted

for sorted in (len, max):
    sorted([1])
del sorted
for sorted in (len, max):
    sorted([1])

from math import sqrt as eval
def f(x):
    return eval(x)

import math as vars
def f(x):
    return vars.sqrt(x)

async def f(x):
    async for eval in x:
        print(eval)
    async with x as vars:
        return vars

def f(x):
    heapq = [x]
    heapq.append(1)
    return heapq

def push(heapq, x):
    heapq.append(x)
    return heapq

code = [1]
for trace in code:
    print(trace.real)
profile = {"a": 1}
profile.get("a")

def f(x):
    code, timeit = x
    return code.real, timeit.real

import numpy as np
def f(np):
    return np.matmul
def g(x):
    return np.sum(x)

def f(operator, x):
    return operator.matmul(x)
def g(x):
    import operator
    return operator.add(x, x)

def f(x):
    import numpy as m
    return m.sum(x)
def g(m):
    return m.matmul

import numpy as np
dot = np.add
def f(x, matmul=dot):
    return matmul(x, x)

import numpy as np
def dot(a, b):
    return np.sum(a * b)
def f(a):
    return dot(a, a)

import numpy as np
def inv(a):
    return 1 / a
def f(a):
    return inv(a), np.linalg.norm(a), np.linalg.svd(a)

import numpy as np
def f(a, linalg=None):
    norm = np.linalg.norm
    return norm(a)

import numpy as np
for axis in (0, 1):
    np.sum(np.ones((2, 2)), axis=axis)
ones = [np.add.outer(row, row) for row in np.ones((2, 2))]

import numpy.linalg as la
from numpy import linalg
def f(a):
    return la.norm(a) + linalg.norm(a)

class Layer:
    def __init__(self, eval):
        self.eval = eval
        self.dot = 3
    def f(self):
        vars = self.eval
        return vars, self.dot
Layer(3).f()

class Layer:
    def sort(self):
        return self
def f():
    layer = Layer()
    return layer.sort()
def g(layer):
    return layer

class Layer:
    def sort(self):
        return self
def f():
    layer = Layer()
    return layer.sort()
layer = 3

import functools
def cached(eval):
    @functools.wraps(eval)
    def inner(*args):
        return eval(*args)
    return inner
@cached
def f(x):
    return x
f(1)

sorted = len
def outer():
    def inner():
        global sorted
        return sorted([1])
    return inner()
outer()

def f(xs):
    global sorted
    for sorted in xs:
        print(sorted)
f([1])

if True:
    import math as exec
exec.sqrt(2)

sorted = (lambda: 3)
print([sorted() for _ in range(2)], (lambda: sorted())())

handlers = []
handlers.append(lambda x: eval(x))
def eval(x):
    return x

try:
    1 / 0
except ZeroDivisionError as vars:
    print((lambda: vars)())

def f():
    eval = 1
    def g():
        def h():
            nonlocal eval
            eval += 1
            return eval
        return h()
    return g() + eval
f()

def f():
    eval = 1
    def g():
        def h():
            nonlocal eval
            return eval
        return h()
    return g() + eval
f()

*eval, vars = [1, 2, 3]
print(eval, vars)

vars = {}
vars["a"] = 1
def f():
    return vars["a"]
f()

from enum import Enum
class Mode(Enum):
    train = 1
    eval = 2
    both = (train, eval)
Mode.eval

class Reg:
    items = {}
    @property
    def vars(self):
        return 1
    @vars.setter
    def vars(self, x):
        pass
Reg().vars

class Tree:
    def compile(self):
        return 1
    run = compile
    def __call__(self):
        return self.compile() + self.run()
Tree()()

def f(**vars):
    return vars
f(eval=3, exec=4)

class C:
    global eval
    eval = len
def f(x):
    return eval(x)
f([1])

def outer():
    class Inner:
        vars = [1, 2]
        more = [x for x in vars]
    return Inner
outer()

x = [0]
for x[0] in (1,):
    pass
for locals, globals in [(1, 2)]:
    locals += globals
    print(locals)

compile = None
if compile is None:
    compile = len
def f(x):
    return compile(x)
f([1])

def f(n):
    def eval(n):
        return n if n < 1 else eval(n - 1)
    return eval(n)
f(3)

import functools
@functools.lru_cache
def eval(n):
    return n if n < 2 else eval(n - 1) + eval(n - 2)
eval(5)

def compile(f):
    return f
@compile
def g(x):
    return x
g(1)

try:
    pass
except ValueError as e:
    pass
else:
    vars = 1
finally:
    locals = 2
print(vars, locals)

match {"a": [1]}:
    case {"a": [vars], **locals} if vars:
        print(vars, locals)

total = sum(vars for vars in (1, 2))
print([locals for vars in ((1,),) for locals in vars if locals])

def f(xs):
    return sorted_by(xs, key=lambda eval: eval[0])
def sorted_by(xs, key):
    return [key(x) for x in xs]
f([(1,)])

def f(sorted=None):
    sorted = sorted or len
    return sorted([1])
f()

class Stack:
    def __init__(self):
        self.heapq = []
    def push(self, x):
        heapq = self.heapq
        heapq.append(x)
        return heapq
Stack().push(1)

while True:
    eval = len
    if eval([1]):
        break

import contextlib
with contextlib.suppress(ValueError):
    eval = len
eval([1])
def f():
    return eval([1])
f()

def f():
    for vars in (1,):
        pass
    else:
        vars = 2
    return vars
f()

def gen():
    eval = yield 1
    return eval
list(gen())

async def f(xs):
    return [eval async for eval in xs]

f = lambda n: (exec := n + 1) + exec
f(1)

exec: int
exec = 3
print(exec)

class P:
    exec: int
    vars: str = "a"
    size = len(vars)
P()

import numpy as np
def f(trace, profile, code):
    return trace.real + profile.real + code.real
np.trace(np.eye(2))

import numpy as np
class Vector:
    def __init__(self, x):
        self.x = x
    def sort(self):
        return Vector(np.unique(self.x))
    @classmethod
    def made(cls, x):
        return cls(x).sort()

import numpy as np
class Vector:
    def sort(self):
        return self
def f():
    v: Vector = Vector()
    return v.sort()

class Vector:
    def sort(self):
        return self
def f():
    with_v = [Vector() for _ in range(3)]
    return [v.sort() for v in with_v]

class Vector:
    def sort(self):
        return self
def f(v: Vector):
    return v.sort()

class Vector:
    def sort(self):
        return self
def f():
    if (v := Vector()):
        return v.sort()

class Vector:
    def sort(self):
        return self
    def both(self):
        other = Vector()
        copy = self
        return other.sort(), copy.sort()

class Vector:
    def sort(self):
        return self
v, w = Vector(), Vector()
def f():
    return v.sort(), w.sort()

class Vector:
    def sort(self):
        return self
class Holder:
    def __init__(self):
        self.v = Vector()
    def f(self):
        return self.v.sort()

from dataclasses import dataclass
@dataclass
class Vector:
    x: int
    def sort(self):
        return self
def f():
    v = Vector(3)
    return v.sort()

def f(n):
    class Local:
        def sort(self):
            return n
    return Local().sort()

class Vector:
    class Part:
        def sort(self):
            return 1
    def f(self):
        return Vector.Part().sort()

class Vector(tuple):
    def sort(self):
        return self
def f():
    return Vector().sort()

lazy = (eval(x) for x in (1, 2))
def eval(x):
    return x
list(lazy)

def f(words):
    return max(words)
f("ab")

def f(words):
    return words.sorted

import timeit
def f():
    start = timeit.default_timer()
    return timeit.default_timer() - start
f()

import random as chance
def f(words):
    chance.sort(words)

def f(words):
    return (lambda sorted: sorted + 1)(1)
f(3)

def f(words):
    words.sorting()

class Shelf:
    def sort(self):
        return self
    def order(self):
        return self.sort()
def f():
    return Shelf().sort()
f()

class Other:
    sorted = 1
    more = sorted

def sorted(words):
    return words
class Other:
    sorted = 1
    def f(self, words):
        return sorted(words)
Other().f([1])

global sorted
def sorted(words):
    return words
def f(words):
    return sorted(words)

import os, collections.abc, random
def f(words):
    return os.path, collections.abc, random.random
"""

TRICKS = """
sorted: object
def f(x):
    return sorted(x)

class C:
    eval = eval
def f(a, b):
    return C.eval("a @ b")

class C:
    eval = eval
    def f(self, a):
        return self.eval("a")

def f(x):
    class C:
        sorted = sorted
    return C.sorted(x)

class C:
    if 1:
        s = sorted
def f(x):
    return C.s(x)

class C:
    def eval(self, x):
        return eval(x)

class C:
    eval = 1
    def f(self, x):
        return eval(x)

class C:
    sorted = 1
    lists = [sorted(x) for x in ([2, 1],)]

class C:
    s = sorted
    def sorted(self, x):
        return x

try:
    1 / 0
except ZeroDivisionError as eval:
    pass
def f(x):
    return eval(x)

try:
    1 / 0
except ZeroDivisionError as sorted:
    print(sorted)
def f(x):
    return sorted(x)

def g():
    try:
        1 / 0
    except ZeroDivisionError as eval:
        print(eval)
def f(x):
    return eval(x)

eval = eval
def f(x):
    return eval(x)

sorted = sorted if 1 else None
def f(x):
    return sorted(x)

for sorted in [sorted]:
    print(sorted([1]))

for eval in (eval, exec):
    eval("1")

(sorted := sorted)([1])

[(sorted := sorted) for _ in (1,)]
def f(x):
    return sorted(x)

import contextlib
with contextlib.nullcontext(sorted) as sorted:
    sorted([1])

match sorted:
    case sorted:
        sorted([1])

a, sorted = 1, sorted

s = sorted
def sorted(x):
    return s(x)

def f(x):
    global sorted
    return sorted(x)

def f(x):
    sorted = len
    def inner():
        global sorted
        return sorted(x)
    return inner()

def g(sorted):
    return sorted
def f(x):
    return sorted(x)

def g():
    sorted = 1
def f(x):
    return sorted(x)

def f(x):
    return [sorted for sorted in [sorted]][0](x)

def f(x):
    y = [1 for sorted in ()]
    return sorted(x)

f = lambda x, by=sorted: by(x)

def f(x, sorted=sorted):
    return sorted(x)

import functools
f = functools.partial(sorted, reverse=True)

f = sorted

def f(x):
    return list(map(sorted, [x]))[0]

@sorted
def f():
    return 1

class Mine(list):
    def f(self):
        self.sort()

def f(x):
    list.sort(x)

import builtins as b
q = b
def f(x):
    return q.sorted(x)

from builtins import *
def f(x):
    return sorted(x)

from heapq import nsmallest as small
def f(x):
    return small(1, x)

import sched
def f(x):
    return sched.heapq.nsmallest(1, x)

import numpy as np
def f(a, b):
    return np.ma.core.np.linalg.inv(a)

import numpy as np
def f(a, b):
    return np.ma.core.np.dot(a, b)

from numpy.ma.core import np as q
def f(a):
    return q.linalg.inv(a)

from numpy.ma import core
def f(a):
    return core.np.linalg.inv(a)

import numpy as np
m = np.ma.core.np
def f(a):
    return m.linalg.inv(a)

import numpy as np
def f(a):
    return [m.linalg.inv(a) for m in [np.ma.core.np]]

import numpy as np
def f(a, b):
    return np.linalg._linalg.inv(a)

import numpy as np
def f(a, b):
    return np.ma.core.builtins.sorted(a)

import numpy as np
def f(a, b):
    return np.ma.extras.operator.matmul(a, b)

import os
def f(x):
    return os.sys.modules["heapq"].nsmallest(1, x)

import numpy as np
def f(x):
    return np.lib.format.sys.modules["heapq"]

import numpy as np
def g():
    global m
    m = np
def f(a, b):
    return m.dot(a, b)

import numpy as np
def f(a, b):
    m = None
    def g():
        nonlocal m
        m = np
    g()
    return m.dot(a, b)

import numpy as np
def f(a, b):
    self = np
    return self.dot(a, b)

import numpy as np
def f(a, b):
    np = None
    return a.dot(b)

import numpy as np
linalg = np.linalg
la = linalg
def f(a):
    return la.inv(a)

import numpy as np
def f(a):
    la = [np.linalg][0]
    return la.inv(a)

import numpy as np
def g(np):
    return np
def f(a, b):
    return np.dot(a, b)

def f(x, s=f"{sorted([1])}"):
    return s

C = type("C", (), {"m": sorted})
def f(x):
    return C.m(x)

def f(x):
    a = b = sorted
    return a(x)

def f(x):
    try:
        raise ValueError
    except ValueError as e:
        return sorted(x)

import numpy as np
def f(a):
    return np.ma.core.np.ma.core.np.linalg.inv(a)

import numpy.ma.core as c
def f(a):
    return c.np.linalg.inv(a)

import numpy.ma.core as c
q = c.np.linalg
def f(a):
    return q.inv(a)

from numpy.ma.core import *
def f(a):
    return np.linalg.inv(a)

import numpy as np
def f(a):
    return np.linalg.linalg.inv(a)

import numpy as np
def f(a):
    return getattr(getattr(np, "linalg"), "inv")(a)

import numpy as np
class A:
    pass
A.np = np
def f(a):
    return A.np.linalg.inv(a)

import functools, numpy as np
def f(a):
    return functools.partial(np.linalg.inv, a)()

from numpy.linalg import inv as mine
def f(a):
    return mine(a)

from numpy import linalg as l
def f(a):
    return l.inv(a)

import sys as s
t = s
def f(x):
    return t.modules["numpy"].dot(x, x)

import numpy as np
def f(a):
    *m, _ = np, 1
    return m[0].linalg.inv(a)

import inspect
def f(x):
    return inspect.builtins.sorted(x)

import bisect, random
def f(x):
    return random._os.sys.modules["heapq"]

import asyncio
def f(x):
    return asyncio.base_events.heapq.nsmallest(1, x)

import numpy as np
def make(m):
    return m
k = make(np)
def f(a):
    return k.linalg.inv(a)

import numpy as np
m = None
def g():
    global m
    import numpy as m
g()
def f(a):
    return m.linalg.inv(a)

def f(a):
    def g():
        nonlocal m
        import numpy as m
    m = None
    g()
    return m.linalg.inv(a)

class C:
    import heapq
def f(x):
    return C.heapq.nsmallest(1, x)

class C:
    from heapq import nsmallest
def f(x):
    return C.nsmallest(1, x)

from timeit import timeit as time
def f(x):
    return time("sorted([1])")

x = [2, 1]
x.sort()

eval = eval
def f(words):
    return eval("words.s" + "ort()")

import array
def f(array):
    array.sort()

class L: ...
class L(list):
    def f(self):
        self.sort()

class L: ...
def f(words):
    L = list
    L.sort(words)

def f(words):
    return [eval for eval in (eval,)][0]("words")

class Shelf:
    def sort(self):
        self.books.sort()

class Shelf:
    def sort(self):
        return self
def f(words):
    list.sort(words)

import _heapq
def f(words):
    _heapq.heapify(words)

from _heapq import heapify as h
def f(words):
    h(words)

from asyncio.base_events import heapq as h
def f(words):
    h.heapify(words)

from os import sys as s
def f(words):
    return s.modules["builtins"].sorted(words)

def g():
    global y
    y = x
import numpy
x = numpy

import numpy
a = [0]
a[0] = numpy

def other():
    from math import fsum as sorted
def f(words):
    return sorted(words)

class Other:
    sorted = 1
def f(words):
    return sorted(words)
"""


def blocks(texts: str) -> list[str]:
    """The texts of a table, which a blank line divides."""
    return [f"{text.strip()}\n" for text in texts.split("\n\n")]
