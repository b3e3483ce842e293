"""A learner's module with a bit of everything: values, classes, generators, exceptions, callbacks."""

from __future__ import annotations

from grader.sandbox.connection import Connection, RemoteModule
from tests.sandbox.vectors import VECTORS

VALUES_AND_EXCEPTIONS = """
import collections
import warnings
import numpy as np

constant = np.arange(3.0)
tanh = np.tanh
state = {"calls": 0}


def same(value):
    return value


def filled(size):
    return float(np.ones(size).sum())


def unseen(size):
    import tracemalloc
    tracemalloc.stop()
    return filled(size)


def both(first, second=None):
    return first is second


def describe(value):
    return [type(value).__name__, str(getattr(value, "dtype", "")), list(getattr(value, "shape", ()))]


def count():
    state["calls"] += 1
    return state["calls"]


class ShapeError(ValueError):
    pass


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a, b)
        self.a = a

    def __str__(self):
        return "odd %s" % self.a


def raise_builtin(name, *args):
    import builtins
    raise getattr(builtins, name)(*args)


def raise_own(message):
    helper(message)


def helper(message):
    raise ShapeError(message)


def raise_odd():
    raise Odd(3, [1])


def linalg():
    return np.linalg.inv(np.zeros((2, 2)))


def axis():
    return np.zeros(3).sum(axis=7)


def catches(f):
    try:
        return f()
    except ShapeError as error:
        return "own " + str(error)
    except ZeroDivisionError as error:
        return "zero " + str(error)
    except ValueError as error:
        return "value " + str(error)


"""
CALLS_AND_CHANGES = """

Pair = collections.namedtuple("Pair", "left right")


def pair():
    return Pair(1, np.ones(2))


def ordered():
    return collections.OrderedDict(a=1)


def naturals(n):
    for i in range(n):
        yield i
    return


def broken_generator():
    yield 1
    raise ValueError("after the first")


def adder(n):
    return lambda x: x + n


def apply(f, *args, **kwargs):
    return f(*args, **kwargs)


def gradient(f, x):
    h = 1e-6
    return np.array([(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(x.size)])


def call_with_one_object_twice(f):
    x = np.arange(4.0)
    return f(x, x, [x])


def swallow(f):
    try:
        f()
    except Exception as error:
        return type(error).__name__
    return "nothing"


def draw(rng, n):
    return rng.random(n)


def make_rng(seed):
    return np.random.default_rng(seed)


def add_one(x):
    x += 1


def change(items, table, group):
    items.append(np.zeros(2))
    items[0] = "new"
    table["b"] = [1]
    del table["a"]
    group.add(9)


def fill(out, value=1):
    out[...] = value
    return out


def reorder(items):
    items.sort()


def inner(items):
    items[0][0] = 7


def shout(text):
    print(text)
    warnings.warn("careful", RuntimeWarning)
    return len(text)


def print_much():
    for _ in range(100):
        print("x" * 10_000)


def divide(x):
    return 1 / x


def leave(code=0):
    import sys
    sys.exit(code)


def interrupt():
    raise KeyboardInterrupt


def scribble():
    x = []
    x.append(x)
    return x


def zeros(n):
    return np.zeros(n)


def f_order():
    return np.asfortranarray(np.arange(6.0).reshape(2, 3))


def read_only():
    return np.broadcast_to(np.arange(2.0), (3, 2))
"""
MODULE = VALUES_AND_EXCEPTIONS + VECTORS + CALLS_AND_CHANGES


def connection_of(remote: RemoteModule) -> Connection:
    found: Connection = remote.__dict__["_connection"]
    return found
