"""Reverse mode by closures and creation numbers; steps taken as rows of an identity matrix; both kinds share a base."""

import itertools
import math

import numpy as np


def finite_difference(f, x, h=1e-5, method="central"):
    points = {"forward": (1, 0), "backward": (0, -1), "central": (1, -1)}
    if h <= 0 or method not in points:
        raise ValueError(f"h: {h}, method: {method}")
    right, left = points[method]
    return (f(float(x) + right * h) - f(float(x) + left * h)) / ((right - left) * h)


def _flat(f, x, h, axes):
    """Return f of a flat vector, for results of so many axes, and that vector."""
    if not h > 0:
        raise ValueError(f"h: {h}")
    x = np.asarray(x, dtype=np.float64)

    def of_vector(vector):
        result = np.asarray(f(vector.reshape(x.shape)), dtype=np.float64)
        if result.ndim != axes:
            raise ValueError(f"f(x): {result.shape}")
        return result

    return of_vector, x.ravel()


def gradient_finite_difference(f, x, h=1e-5):
    g, vector = _flat(f, x, h, 0)
    slopes = [(g(vector + step) - g(vector - step)) / (2 * h) for step in np.eye(vector.size) * h]
    return np.array(slopes).reshape(np.shape(x))


def jacobian_finite_difference(f, x, h=1e-5):
    if np.ndim(x) != 1:
        raise ValueError(f"x: {np.shape(x)}")
    g, vector = _flat(f, x, h, 1)
    return np.array([(g(vector + step) - g(vector - step)) / (2 * h) for step in np.eye(vector.size) * h]).T


def hessian_finite_difference(f, x, h=1e-4):
    if np.ndim(x) != 1:
        raise ValueError(f"x: {np.shape(x)}")
    g, vector = _flat(f, x, h, 0)
    steps = np.eye(vector.size) * h
    rows = np.zeros((vector.size, vector.size))
    for i, a in enumerate(steps):
        rows[i, i] = (g(vector + a) - 2 * g(vector) + g(vector - a)) / h**2
        for j, b in enumerate(steps[:i]):
            corners = g(vector + a + b) - g(vector + a - b) - g(vector - a + b) + g(vector - a - b)
            rows[i, j] = rows[j, i] = corners / (4 * h**2)
    return rows


def gradient_check(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=float)
    numerical, claimed = gradient_finite_difference(f, x, h), np.array(grad_f(x), dtype=float)
    if numerical.shape != claimed.shape:
        raise ValueError(f"grad_f(x): {claimed.shape}")
    if not np.isfinite(claimed).all():
        return False
    return np.all(np.abs(claimed - numerical) <= tolerance * max(1.0, np.abs(numerical).max()))


def _number(value):
    if np.ndim(value):
        raise ValueError(f"value: {np.shape(value)}")
    return value if isinstance(value, int) else value.item() if isinstance(value, np.integer) else float(value)


class _Operators:
    """All operators, in terms of what a class makes of a value and of pairs (operand, slope)."""

    def _lift(self, other):
        return other if isinstance(other, type(self)) else self._constant(other)

    def _sum(self, a, b):
        return self._made(a.value + b.value, (a, 1), (b, 1))

    def _product(self, a, b):
        return self._made(a.value * b.value, (a, b.value), (b, a.value))

    def _reciprocal(self):
        return self._made(1 / self.value, (self, -1 / self.value**2))

    def __neg__(self):
        return self._made(-self.value, (self, -1))

    def __add__(self, other):
        return self._sum(self, self._lift(other))

    __radd__ = __add__

    def __mul__(self, other):
        return self._product(self, self._lift(other))

    __rmul__ = __mul__

    def __sub__(self, other):
        return self + -self._lift(other)

    def __rsub__(self, other):
        return -self + other

    def __truediv__(self, other):
        return self * self._lift(other)._reciprocal()

    def __rtruediv__(self, other):
        return self._reciprocal() * other

    def __pow__(self, exponent):
        n = exponent.value if isinstance(exponent, _Operators) else exponent
        varies = isinstance(exponent, _Operators)
        if self.value < 0 and n != math.floor(n) or varies and self.value <= 0:
            raise ValueError(f"base: {self.value}")
        value = self.value**n
        pairs = [(self, n * self.value ** (n - 1) if n != 0 else 0)]
        return self._made(value, *pairs, *([(exponent, value * math.log(self.value))] if varies else []))

    def __rpow__(self, base):
        return self._lift(base) ** self


class Dual(_Operators):
    def __init__(self, value, derivative):
        self.value, self.derivative = _number(value), _number(derivative)

    def _constant(self, number):
        return Dual(number, 0)

    def _made(self, value, *pairs):
        return Dual(value, sum(slope * operand.derivative for operand, slope in pairs))


class Variable(_Operators):
    _numbers = itertools.count()

    def __init__(self, value):
        self.value, self.grad, self._number = _number(value), 0, next(Variable._numbers)
        self._operands, self._hand_back = (), lambda: None

    def _constant(self, number):
        return Variable(number)

    def _made(self, value, *pairs):
        result = Variable(value)
        result._operands = [operand for operand, _ in pairs]

        def hand_back():
            for operand, slope in pairs:
                operand.grad += slope * result.grad

        result._hand_back = hand_back
        return result

    def backward(self):
        found, waiting = {self._number: self}, [self]
        while waiting:
            for operand in waiting.pop()._operands:
                if operand._number not in found:
                    found[operand._number] = operand
                    waiting.append(operand)
        for variable in found.values():
            variable.grad = 0
        self.grad = 1
        for number in sorted(found, reverse=True):
            found[number]._hand_back()


def _function(value_of, slope_of):
    def function(x):
        if isinstance(x, _Operators):
            return x._made(value_of(x.value), (x, slope_of(x.value)))
        return value_of(float(x))

    return function


sin = _function(math.sin, math.cos)
cos = _function(math.cos, lambda x: -math.sin(x))
exp = _function(math.exp, math.exp)
log = _function(math.log, lambda x: 1 / x)
tanh = _function(math.tanh, lambda x: 1 - math.tanh(x) ** 2)
relu = _function(lambda x: x if x > 0 else 0, lambda x: 1 if x > 0 else 0)
