"""Derivatives, as a student wrote them from the lesson."""

import math

import numpy as np


def check_step(h):
    if not h > 0:
        raise ValueError(f"h is {h}, expected a step above 0")


def check_number(y):
    if np.ndim(y) != 0:
        raise ValueError(f"f returned an array of shape {np.shape(y)}, expected a single number")
    return y


def check_vector(name, v):
    if np.ndim(v) != 1:
        raise ValueError(f"{name} has shape {np.shape(v)}, expected a vector")
    return v


def finite_difference(f, x, h=1e-5, method="central"):
    check_step(h)
    x = float(x)
    if method == "forward":
        return float((f(x + h) - f(x)) / h)
    if method == "backward":
        return float((f(x) - f(x - h)) / h)
    if method == "central":
        return float((f(x + h) - f(x - h)) / (2 * h))
    raise ValueError(f"method is {method!r}, expected 'forward', 'backward' or 'central'")


def moved(x, index, step):
    copy = x.copy()
    copy[index] += step
    return copy


def gradient_finite_difference(f, x, h=1e-5):
    check_step(h)
    x = np.array(x, dtype=np.float64)
    gradient = np.zeros(x.shape)
    for index in np.ndindex(x.shape):
        above = check_number(f(moved(x, index, h)))
        below = check_number(f(moved(x, index, -h)))
        gradient[index] = (above - below) / (2 * h)
    return gradient


def jacobian_finite_difference(f, x, h=1e-5):
    check_step(h)
    x = np.array(check_vector("x", x), dtype=np.float64)
    columns = []
    for j in range(len(x)):
        above = check_vector("f(x)", f(moved(x, j, h)))
        below = check_vector("f(x)", f(moved(x, j, -h)))
        columns.append((above - below) / (2 * h))
    return np.stack(columns, axis=1)


def hessian_finite_difference(f, x, h=1e-4):
    check_step(h)
    x = np.array(check_vector("x", x), dtype=np.float64)
    n = len(x)
    H = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            pp = check_number(f(moved(moved(x, i, h), j, h)))
            pm = check_number(f(moved(moved(x, i, h), j, -h)))
            mp = check_number(f(moved(moved(x, i, -h), j, h)))
            mm = check_number(f(moved(moved(x, i, -h), j, -h)))
            H[i, j] = (pp - pm - mp + mm) / (4 * h**2)
    return H


def gradient_check(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x.copy()))
    if claimed.shape != x.shape:
        raise ValueError(f"grad_f returned shape {claimed.shape}, expected {x.shape}")
    if not np.all(np.isfinite(claimed)):
        return False
    error = np.max(np.abs(claimed - numerical), initial=0.0)
    scale = max(1.0, np.max(np.abs(numerical), initial=0.0))
    return bool(error <= tolerance * scale)


def as_number(name, value):
    if np.ndim(value) != 0:
        raise ValueError(f"{name} has shape {np.shape(value)}, expected a number")
    return float(value)


class Dual:
    def __init__(self, value, derivative):
        self.value = as_number("value", value)
        self.derivative = as_number("derivative", derivative)

    @staticmethod
    def of(other):
        return other if isinstance(other, Dual) else Dual(other, 0.0)

    def __add__(self, other):
        other = Dual.of(other)
        return Dual(self.value + other.value, self.derivative + other.derivative)

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        other = Dual.of(other)
        return Dual(self.value - other.value, self.derivative - other.derivative)

    def __rsub__(self, other):
        return Dual.of(other) - self

    def __mul__(self, other):
        other = Dual.of(other)
        return Dual(self.value * other.value, self.derivative * other.value + self.value * other.derivative)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        other = Dual.of(other)
        top = self.derivative * other.value - self.value * other.derivative
        return Dual(self.value / other.value, top / other.value**2)

    def __rtruediv__(self, other):
        return Dual.of(other) / self

    def __neg__(self):
        return Dual(-self.value, -self.derivative)

    def __pow__(self, exponent):
        if isinstance(exponent, Dual):
            return exp(exponent * log(self))
        value, slope = power(self.value, exponent)
        return Dual(value, slope * self.derivative)

    def __rpow__(self, base):
        return exp(self * log(base))


def power(base, n):
    """Return base ** n and its slope by the base."""
    n = float(n)
    if base < 0 and not n.is_integer():
        raise ValueError(f"x is {base} and the exponent {n}: a negative number needs a whole exponent")
    if n == 0:
        return 1.0, 0.0
    return base**n, n * base ** (n - 1)


def apply(x, f, slope):
    """Return f of a number, a Dual or a Variable, by the chain rule."""
    if isinstance(x, Dual):
        return Dual(f(x.value), slope(x.value) * x.derivative)
    if isinstance(x, Variable):
        return Variable(f(x.value))._from((x, slope(x.value)))
    return float(f(float(x)))


def sin(x):
    return apply(x, math.sin, math.cos)


def cos(x):
    return apply(x, math.cos, lambda a: -math.sin(a))


def exp(x):
    return apply(x, math.exp, math.exp)


def log_of_positive(a):
    if a <= 0:
        raise ValueError(f"x is {a}, expected a number above 0")
    return math.log(a)


def log(x):
    return apply(x, log_of_positive, lambda a: 1 / a)


def tanh(x):
    return apply(x, math.tanh, lambda a: 1 - math.tanh(a) ** 2)


def relu(x):
    return apply(x, lambda a: max(a, 0.0), lambda a: 1.0 if a > 0 else 0.0)


class Variable:
    def __init__(self, value):
        self.value = as_number("value", value)
        self.grad = 0.0
        self._parents = ()

    def _from(self, *parents):
        self._parents = parents
        return self

    @staticmethod
    def of(other):
        return other if isinstance(other, Variable) else Variable(other)

    def __add__(self, other):
        other = Variable.of(other)
        return Variable(self.value + other.value)._from((self, 1.0), (other, 1.0))

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        other = Variable.of(other)
        return Variable(self.value - other.value)._from((self, 1.0), (other, -1.0))

    def __rsub__(self, other):
        return Variable.of(other) - self

    def __mul__(self, other):
        other = Variable.of(other)
        return Variable(self.value * other.value)._from((self, other.value), (other, self.value))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        other = Variable.of(other)
        return Variable(self.value / other.value)._from((self, 1 / other.value), (other, -self.value / other.value**2))

    def __rtruediv__(self, other):
        return Variable.of(other) / self

    def __neg__(self):
        return Variable(-self.value)._from((self, -1.0))

    def __pow__(self, exponent):
        if isinstance(exponent, Variable):
            return exp(exponent * log(self))
        value, slope = power(self.value, exponent)
        return Variable(value)._from((self, slope))

    def __rpow__(self, base):
        return exp(self * log(base))

    def _ordered(self):
        """Return all variables that self was computed from, each after its own inputs."""
        order = []
        seen = set()
        stack = [(self, False)]
        while stack:
            variable, is_done = stack.pop()
            if is_done:
                order.append(variable)
            elif variable not in seen:
                seen.add(variable)
                stack.append((variable, True))
                for parent, _ in variable._parents:
                    stack.append((parent, False))
        return order

    def backward(self):
        order = self._ordered()
        for variable in order:
            variable.grad = 0.0
        self.grad = 1.0
        for variable in reversed(order):
            for parent, slope in variable._parents:
                parent.grad += slope * variable.grad
