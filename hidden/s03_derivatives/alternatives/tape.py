"""Reverse mode on one tape of numbered entries; forward mode by rules of the form (f, df); sums over sign patterns."""

import itertools
import math

import numpy as np


def _positive(h):
    if h <= 0:
        raise ValueError(f"h is {h}")


def finite_difference(f, x, h=1e-5, method="central"):
    _positive(h)
    patterns = {"forward": {0: -1, 1: 1}, "backward": {-1: -1, 0: 1}, "central": {-1: -0.5, 1: 0.5}}
    if method not in patterns:
        raise ValueError(f"method is {method}")
    return sum(weight * f(float(x) + place * h) for place, weight in patterns[method].items()) / h


def _scalar(result):
    if np.shape(result) != ():
        raise ValueError("f has to return one number")
    return result


def gradient_finite_difference(f, x, h=1e-5):
    _positive(h)
    x = np.asarray(x, dtype=np.float64)
    found = np.zeros(x.shape)
    for index, _ in np.ndenumerate(x):
        mask = np.zeros(x.shape)
        mask[index] = h
        found[index] = (_scalar(f(x + mask)) - _scalar(f(x - mask))) / 2 / h
    return found


def jacobian_finite_difference(f, x, h=1e-5):
    _positive(h)
    x = np.asarray(x, dtype=np.float64)
    first = np.asarray(f(x.copy()))
    if x.ndim != 1 or first.ndim != 1:
        raise ValueError("x and f(x) have to be vectors")
    outputs = range(first.size)
    return np.stack([gradient_finite_difference(lambda t, i=i: f(t)[i], x, h) for i in outputs])


def hessian_finite_difference(f, x, h=1e-4):
    _positive(h)
    x = np.asarray(x, dtype=np.float64)
    if x.ndim != 1:
        raise ValueError("x has to be a vector")
    found = np.zeros((x.size, x.size))
    for i, j in itertools.product(range(x.size), repeat=2):
        for one, other in itertools.product((1, -1), repeat=2):
            moved = x.copy()
            moved[i] += one * h
            moved[j] += other * h
            found[i, j] += one * other * _scalar(f(moved))
    return found / (4 * h * h)


def gradient_check(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f has to return the shape of x")
    scale = np.max(np.abs(numerical), initial=1.0)
    return all(abs(a - b) <= tolerance * scale for a, b in zip(claimed.flat, numerical.flat, strict=True))


def _float(x):
    if isinstance(x, np.ndarray) and x.ndim > 0:
        raise ValueError("one number, please")
    return float(x)


def _divided(a, b):
    return a / b, 1 / b, -a / (b * b)


def _raised(a, b):
    if a < 0 and not float(b).is_integer():
        raise ValueError("no real value")
    return a**b, b * a ** (b - 1) if b else 0.0, None


def _raised_to_varying(a, b):
    value = math.exp(b * math.log(a))
    return value, b * value / a, value * math.log(a)


RULES = {
    "add": lambda a, b: (a + b, 1.0, 1.0),
    "sub": lambda a, b: (a - b, 1.0, -1.0),
    "mul": lambda a, b: (a * b, b, a),
    "truediv": _divided,
}


def _with_operators(cls):
    """Give a class every operator; it says by _join(value, (operand, slope), ...) what comes of one."""

    def forward(rule):
        return lambda self, other: _binary(rule, self, other)

    def reflected(rule):
        return lambda self, other: _binary(rule, other, self)

    def _binary(rule, a, b):
        value, *slopes = rule(_plain(a), _plain(b))
        return cls._join(value, *[(x, slope) for x, slope in zip((a, b), slopes, strict=True) if isinstance(x, cls)])

    for name, rule in RULES.items():
        setattr(cls, f"__{name}__", forward(rule))
        setattr(cls, f"__r{name}__", reflected(rule))
    cls.__neg__ = lambda self: _binary(RULES["mul"], self, -1.0)
    cls.__pow__ = lambda self, n: _binary(_raised_to_varying if isinstance(n, cls) else _raised, self, n)
    cls.__rpow__ = lambda self, base: _binary(_raised_to_varying, base, self)
    return cls


def _plain(x):
    return x.value if isinstance(x, (Dual, Variable)) else float(x)


@_with_operators
class Dual:
    def __init__(self, value, derivative):
        self.value, self.derivative = _float(value), _float(derivative)

    @staticmethod
    def _join(value, *pairs):
        return Dual(value, math.fsum(slope * operand.derivative for operand, slope in pairs))


TAPE = []  # of every variable: itself, and pairs of (place on the tape, slope)


@_with_operators
class Variable:
    def __init__(self, value):
        self.value, self.grad, self.place = _float(value), 0.0, len(TAPE)
        TAPE.append((self, ()))

    @staticmethod
    def _join(value, *pairs):
        result = Variable(value)
        TAPE[result.place] = result, [(operand.place, slope) for operand, slope in pairs]
        return result

    def backward(self):
        grads = {self.place: 1.0}
        for place in range(self.place, -1, -1):
            if place in grads:
                variable, pairs = TAPE[place]
                variable.grad = grads[place]
                for source, slope in pairs:
                    grads[source] = grads.get(source, 0.0) + slope * grads[place]


def _unary(x, value, slope):
    return x._join(value, (x, slope)) if isinstance(x, (Dual, Variable)) else value


def sin(x):
    return _unary(x, math.sin(_plain(x)), math.cos(_plain(x)))


def cos(x):
    return _unary(x, math.cos(_plain(x)), -math.sin(_plain(x)))


def exp(x):
    return _unary(x, math.exp(_plain(x)), math.exp(_plain(x)))


def log(x):
    return _unary(x, math.log(_plain(x)), 1 / _plain(x))


def tanh(x):
    value = math.tanh(_plain(x))
    return _unary(x, value, 1 - value**2)


def relu(x):
    return _unary(x, (abs(_plain(x)) + _plain(x)) / 2, (np.sign(_plain(x)) + 1) // 2 if _plain(x) else 0.0)
