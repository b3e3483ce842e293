"""Reverse mode by counting how many uses of a variable have not reported yet; composite operators; in-place steps."""

import numpy as np


def finite_difference(f, x, h=1e-5, method="central"):
    x = np.float64(x)
    if h <= 0:
        raise ValueError("h")
    match method:
        case "forward":
            return np.divide(f(x + h) - f(x), h)
        case "backward":
            return finite_difference(lambda t: -f(-t), -x, h, "forward")
        case "central":
            return (finite_difference(f, x, h, "forward") + finite_difference(f, x, h, "backward")) / 2
    raise ValueError("method")


def _walk(f, x, h, axes):
    """Yield the central difference for each entry of x, which is moved in place and put back."""
    if h <= 0:
        raise ValueError("h")
    point = x.copy()
    flat = point.reshape(-1)
    for place in range(flat.size):
        old, ends = flat[place], []
        for moved in (old + h, old - h):
            flat[place] = moved
            ends.append(np.array(f(point.copy()), dtype=np.float64))
        flat[place] = old
        if ends[0].ndim != axes:
            raise ValueError("f(x)")
        yield (ends[0] - ends[1]) / (h + h)


def gradient_finite_difference(f, x, h=1e-5):
    x = np.array(x, dtype=np.float64)
    return np.fromiter(_walk(f, x, h, 0), dtype=np.float64).reshape(x.shape)


def jacobian_finite_difference(f, x, h=1e-5):
    x = np.array(x, dtype=np.float64)
    if len(x.shape) != 1:
        raise ValueError("x")
    return np.column_stack(list(_walk(f, x, h, 1)))


def hessian_finite_difference(f, x, h=1e-4):
    found = jacobian_finite_difference(lambda t: gradient_finite_difference(f, t, h), x, h)
    return (found + found.T) / 2


def gradient_check(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.asarray(x).astype(np.float64)
    claimed = np.asarray(grad_f(x.copy()), dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    if claimed.shape != numerical.shape:
        raise ValueError("grad_f(x)")
    worst = np.linalg.norm((claimed - numerical).ravel(), np.inf)
    return bool(worst <= tolerance * max(1.0, np.linalg.norm(numerical.ravel(), np.inf)))


def _float64(value):
    if not isinstance(value, (int, float, np.generic)):
        raise ValueError("value")
    return np.float64(value)


class Dual:
    """Holds both numbers in one array of two; products and quotients are matrix products of [[a, 0], [a', a]]."""

    def __init__(self, value, derivative):
        self._pair = np.array([_float64(value), _float64(derivative)])

    @property
    def value(self):
        return self._pair[0]

    @property
    def derivative(self):
        return self._pair[1]

    def _matrix(self):
        a, slope = self._pair
        return np.array([[a, 0.0], [slope, a]])

    @staticmethod
    def _of(pair):
        return Dual(pair[0], pair[1])

    def __add__(self, other):
        return Dual._of(self._pair + _dual(other)._pair)

    def __radd__(self, other):
        return Dual._of(_dual(other)._pair + self._pair)

    def __neg__(self):
        return Dual._of(-self._pair)

    def __sub__(self, other):
        return Dual._of(self._pair - _dual(other)._pair)

    def __rsub__(self, other):
        return Dual._of(_dual(other)._pair - self._pair)

    def __mul__(self, other):
        return Dual._of(self._matrix() @ _dual(other)._pair)

    def __rmul__(self, other):
        return _dual(other) * self

    def __truediv__(self, other):
        return Dual._of(np.linalg.solve(_dual(other)._matrix(), self._pair))

    def __rtruediv__(self, other):
        return _dual(other) / self

    def __pow__(self, exponent):
        if isinstance(exponent, Dual):
            return exp(exponent * log(self))
        if exponent == 0:
            return Dual(1.0, 0.0)
        if self.value < 0 and not float(exponent).is_integer():
            raise ValueError("base")
        n = np.float64(exponent)
        return Dual(self.value**n, self.derivative * n * self.value ** (n - 1))

    def __rpow__(self, base):
        return exp(log(base) * self)


def _dual(x):
    return x if isinstance(x, Dual) else Dual(x, 0)


def _apply(x, value_of, slope_of):
    if isinstance(x, Dual):
        return Dual(value_of(x.value), slope_of(x.value) * x.derivative)
    if isinstance(x, Variable):
        return _node(value_of(x.value), [x], [slope_of(x.value)])
    return value_of(np.float64(x))


def sin(x):
    return _apply(x, np.sin, np.cos)


def cos(x):
    return _apply(x, np.cos, lambda v: -np.sin(v))


def exp(x):
    return _apply(x, np.exp, np.exp)


def log(x):
    if (x.value if isinstance(x, (Dual, Variable)) else x) <= 0:
        raise ValueError("x")
    return _apply(x, np.log, np.reciprocal)


def tanh(x):
    return _apply(x, np.tanh, lambda v: (1 - np.tanh(v)) * (1 + np.tanh(v)))


def relu(x):
    return _apply(x, lambda v: np.maximum(v, 0.0), lambda v: np.heaviside(v, 0.0))


class Variable:
    def __init__(self, value):
        self.value, self.grad = _float64(value), np.float64(0)
        self.sources, self.slopes = [], []

    def backward(self):
        uses, found = {self: 0}, [self]
        for variable in found:
            for source in variable.sources:
                if source not in uses:
                    uses[source] = 0
                    found.append(source)
                uses[source] += 1
        for variable in found:
            variable.grad = np.float64(0)
        self.grad, ready = np.float64(1), [self]
        while ready:
            variable = ready.pop()
            for source, slope in zip(variable.sources, variable.slopes, strict=True):
                source.grad = source.grad + variable.grad * slope
                uses[source] -= 1
                if uses[source] == 0:
                    ready.append(source)

    def __add__(self, other):
        other = _variable(other)
        return _node(self.value + other.value, [self, other], [1, 1])

    def __mul__(self, other):
        other = _variable(other)
        return _node(self.value * other.value, [self, other], [other.value, self.value])

    def __pow__(self, exponent):
        if isinstance(exponent, Variable):
            return exp(exponent * log(self))
        if exponent == 0:
            return self * 0 + 1
        if self.value < 0 and exponent != round(exponent):
            raise ValueError("base")
        n = np.float64(exponent)
        return _node(self.value**n, [self], [n * self.value ** (n - 1)])

    def __neg__(self):
        return self * -1

    def __sub__(self, other):
        return self + -_variable(other)

    def __truediv__(self, other):
        return self * _variable(other) ** -1

    def __radd__(self, other):
        return self + other

    def __rmul__(self, other):
        return self * other

    def __rsub__(self, other):
        return _variable(other) + -self

    def __rtruediv__(self, other):
        return _variable(other) * self**-1

    def __rpow__(self, base):
        return _variable(base) ** self


def _variable(x):
    return x if isinstance(x, Variable) else Variable(x)


def _node(value, sources, slopes):
    node = Variable(value)
    node.sources, node.slopes = sources, slopes
    return node
