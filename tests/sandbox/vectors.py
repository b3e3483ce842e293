"""The part of a learner's module that has a class with every operator."""

from __future__ import annotations

from grader.course.stage import Contract

OPERATORS = (
    "__add__", "__radd__", "__mul__", "__matmul__", "__neg__", "__abs__", "__eq__", "__lt__", "__len__", "__getitem__",
    "__setitem__", "__delitem__", "__contains__", "__iter__", "__bool__", "__float__", "__int__", "__str__",
)  # fmt: skip
CONTRACT = Contract({"Vector": frozenset({"x", "y", "z", "size", "norm", "zero", "broken", *OPERATORS})})
VECTORS = """class Vector:
    size = 2

    def __init__(self, x, y):
        self.x = x
        self.y = y

    def norm(self, order=2):
        return (abs(self.x) ** order + abs(self.y) ** order) ** (1 / order)

    def __add__(self, other):
        x, y = (other.x, other.y) if isinstance(other, Vector) else (other, other)
        return Vector(self.x + x, self.y + y)

    __radd__ = __add__

    def __mul__(self, k):
        return Vector(self.x * k, self.y * k)

    def __matmul__(self, other):
        return self.x * other.x + self.y * other.y

    def __neg__(self):
        return Vector(-self.x, -self.y)

    def __abs__(self):
        return self.norm()

    def __eq__(self, other):
        return isinstance(other, Vector) and (self.x, self.y) == (other.x, other.y)

    def __hash__(self):
        return 1

    def __lt__(self, other):
        return self.norm() < other.norm()

    def __len__(self):
        return 2

    def __getitem__(self, i):
        return (self.x, self.y)[i]

    def __setitem__(self, i, value):
        setattr(self, "xy"[i], value)

    def __delitem__(self, i):
        raise IndexError("kept")

    def __contains__(self, value):
        return value in (self.x, self.y)

    def __iter__(self):
        return iter((self.x, self.y))

    def __bool__(self):
        return bool(self.x or self.y)

    def __float__(self):
        return float(self.norm())

    def __int__(self):
        return int(self.norm())

    def __str__(self):
        return "<%s, %s>" % (self.x, self.y)

    def __call__(self, k):
        return self * k

    @property
    def broken(self):
        raise RuntimeError("a property that fails")

    @classmethod
    def zero(cls):
        return cls(0, 0)


class Long(Vector):
    pass


def is_vector(value):
    return type(value).__name__, isinstance(value, Vector)
"""
