"""A learner's module whose objects say of themselves what is hoped for, and honest ones beside them."""

from __future__ import annotations

from grader.course.stage import Contract

MODULE = """
    import collections
    import dataclasses
    import numpy as np


    class Told:
        # says of itself whatever is hoped for

        shape, dtype, ndim, size = (2, 2), np.dtype(float), 2, 4

        def __getattr__(self, name):
            if name.startswith("__array_"):
                raise AttributeError(name)
            return lambda *args, **kwargs: 0.125

        def std(self, *args, **kwargs):
            return 0.125

        def _same(self, *args, **kwargs):
            return True

        def _number(self, *args, **kwargs):
            return 0.125

        __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = __contains__ = __bool__ = __array_function__ = _same
        __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __abs__ = __float__ = __getitem__ = _number
        __array_ufunc__ = __array__ = _number
        __hash__ = None

        def __len__(self):
            return 2

        def __int__(self):
            return 2

        __index__ = __int__

        def __iter__(self):
            return iter([0.125, 0.125])


    class Table(dict):
        def __getitem__(self, key):
            return Told()

        get = __getitem__

        def items(self):
            return [("W", Told())]

        def std(self):
            return 0.125


    class Rows(list):
        def std(self, *args, **kwargs):
            return 0.125

        mean = sum = std
        shape = (2,)


    @dataclasses.dataclass
    class Cache:
        x: object
        kept: dict


    class Parameter:
        def __init__(self, value):
            self.value = value


    class Layer:
        bias = 1.0

        def __init__(self, kind="plain"):
            self.kind = kind
            self.weights = Parameter(np.ones(2))

        @property
        def params(self):
            held = {"W": self.weights.value}
            made = {
                "plain": held, "told": {"W": Told()}, "object": Told(), "table": Table(held),
                "ordered": collections.OrderedDict(held), "default": collections.defaultdict(list, held), "list": [1],
                "scalars": {"W": np.float64(1), "b": np.array(1.0)}, "text": {"W": np.array(["1.5"])},
            }
            return made[self.kind]

        @params.setter
        def params(self, value):
            self.weights = Parameter(value["W"])

        def forward(self, x):
            return x * self.weights.value

        def __mul__(self, factor):
            return Layer()

        def __add__(self, other):
            return 0.125

        def std(self, *args, **kwargs):
            return 0.125


    class Deep(Layer):
        __slots__ = ("more",)


    class Other:
        params = {"W": np.ones(2)}


    def told():
        return Told()


    def several():
        return [Told(), {"W": Told()}]


    def rows():
        return Rows([1.0, 3.0])


    def forward(x):
        return 2 * x, Cache(x, {"y": Told()})


    def backward(grad, cache):
        return grad * cache.x


    def batches():
        yield np.ones(2)
        yield np.zeros(2)


    def lazily():
        return map(float, [1, 2])


    def other():
        return Other()
"""
CONTRACT = Contract(
    {"Layer": frozenset({"params", "forward", "bias", "weights", "__mul__"})}, {"params": "dict of arrays"}
)
