"""A learner's module of values that extend plain containers: named tuples, and lists, dicts and sets that lie."""

from __future__ import annotations

import textwrap

from grader.course.stage import Contract

CONTRACT = Contract(
    {
        "Fit": frozenset(("weights", "bias", "predict", "missing")), "Pair": frozenset(("left", "right")),
        "Dual": frozenset(("value", "__mul__")),
    }
)  # fmt: skip
MODULE = textwrap.dedent(
    """
    import collections
    import enum
    import typing
    import numpy as np

    Pair = collections.namedtuple("Pair", "left right")
    kept = []


    class Fit(typing.NamedTuple):
        weights: np.ndarray
        bias: float

        def predict(self, x):
            return x * self.weights + self.bias


    class Liar:
        def __iter__(self):
            return iter([9, 9, 9])

        def __len__(self):
            return 77

        def __getitem__(self, key):
            return 5

        def __contains__(self, item):
            return True

        def __eq__(self, other):
            return True

        def items(self):
            return [("right", 1)]

        __hash__ = None


    class Rows(Liar, list):
        pass


    class Row(Liar, tuple):
        pass


    class Table(Liar, dict):
        pass


    class Group(Liar, set):
        pass


    class Params(dict):
        def __getattr__(self, name):
            try:
                return self[name]
            except KeyError:
                raise AttributeError(name) from None


    class Dual(tuple):
        def __new__(cls, value, slope):
            return tuple.__new__(cls, (value, slope))

        value = property(lambda self: self[0])

        def __mul__(self, other):
            return Dual(self[0] * other[0], self[0] * other[1] + self[1] * other[0])


    class Color(enum.IntEnum):
        RED = 3


    class Close(float):
        pass


    def pair():
        return Pair(1, np.ones(2))


    def fit():
        return Fit(np.arange(3.0), 2.0)


    def nested():
        return {"a": [Pair(1, Pair(2, Rows([1, 2])))]}


    def liars():
        return Rows([1]), Row([1]), Table(a=1), Group([1]), Row([Row([2])])


    def params():
        return Params(W=np.zeros(2), b=[1.0])


    def red():
        return [Color.RED, Close(1.5)]


    def keep(value):
        kept.append(value)
        return type(value).__name__


    def kept_twice():
        return all(value is kept[0] for value in kept)


    def last():
        return kept[-1]


    def total(params):
        return float(params.W.sum())


    def step(params, grads=None):
        params["W"] += 1
        params["n"] = 1
        return params


    def train():
        kept[-1]["W"] += 10


    def square(dual):
        return dual * dual


    def apply(f, value):
        return f(value)


    def unsendable():
        return Pair(1, np.array([None]))


    def graph(depth):
        node = Pair(1, None)
        for _ in range(depth):
            node = Pair(node, node)
        return node


    def scribble():
        rows = Rows()
        rows.append(rows)
        return rows
    """
)
