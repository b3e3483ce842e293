"""Derivatives in three ways: finite differences, forward mode with dual numbers, and reverse mode with a graph.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
inputs are never changed, everything is computed in float64 whatever comes in, and bad shapes or values raise
ValueError with a sentence that names the argument, what it was and what was expected.
"""

import math

import numpy as np


def finite_difference(f, x, h=1e-5, method="central"):
    """Return an approximation of f'(x) for a function of one number.

    "forward" is (f(x + h) - f(x)) / h, "backward" is (f(x) - f(x - h)) / h, "central" is (f(x + h) - f(x - h)) / 2h.
    The error of the first two shrinks as h, that of the third as h squared.

    Args:
        f: function that takes a float and returns one.
        x: a number; it becomes a Python float first, since float32 has too few digits for a step of 1e-5.
        h: the step, in the units of x; above 0.
        method: "forward", "backward" or "central".

    Returns:
        A float.

    Raises:
        ValueError: h is 0 or below, or method is none of the three.

    Example:
        >>> square = lambda x: x * x
        >>> finite_difference(square, 3.0, h=0.5, method="forward")
        6.5
        >>> finite_difference(square, 3.0, h=0.5)
        6.0
    """
    _require_step(h)
    x = float(x)
    if method == "forward":
        return (f(x + h) - f(x)) / h
    if method == "backward":
        return (f(x) - f(x - h)) / h
    if method == "central":
        return (f(x + h) - f(x - h)) / (2 * h)
    raise ValueError(f"method: {method!r}, expected 'forward', 'backward' or 'central'")


def gradient_finite_difference(f, x, h=1e-5):
    """Return the gradient of f at x by central differences: entry i is (f(x + h e_i) - f(x - h e_i)) / 2h.

    e_i is 1 at place i of x and 0 elsewhere, so each entry of x is moved alone and the others stay where they are.

    Args:
        f: function that takes a float64 array of x's shape and returns a single number.
        x: array of any shape, of floats or integers; it is not changed.
        h: the step; above 0.

    Returns:
        float64 array of x's shape.

    Raises:
        ValueError: h is 0 or below, or f returns an array with axes, be it of one entry.

    Example:
        >>> gradient_finite_difference(lambda x: x[0] ** 2 + 3 * x[1], np.array([1.0, 5.0])).round(6)
        array([2., 3.])
    """
    _require_step(h)
    x = np.array(x, dtype=np.float64)
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        gradient[index] = _central(lambda point: _single("f(x)", f(point)), x, index, h)
    return gradient


def jacobian_finite_difference(f, x, h=1e-5):
    """Return the Jacobian of f at x by central differences: entry (i, j) is the derivative of output i by input j.

    Args:
        f: function that takes a float64 array of shape (n,) and returns one of shape (m,).
        x: shape (n,), floats or integers; it is not changed.
        h: the step; above 0.

    Returns:
        float64, shape (m, n): a row for each output, a column for each input.

    Raises:
        ValueError: h is 0 or below, x is not a vector, or f does not return a vector.

    Example:
        >>> f = lambda x: np.array([x[0] * x[1], x[0], 5 * x[1]])
        >>> jacobian_finite_difference(f, np.array([2.0, 3.0])).round(6)
        array([[3., 2.],
               [1., 0.],
               [0., 5.]])
    """
    _require_step(h)
    x = _vector("x", x)
    columns = [_central(lambda point: _vector("f(x)", f(point)), x, place, h) for place in range(len(x))]
    return np.stack(columns, axis=-1)


def hessian_finite_difference(f, x, h=1e-4):
    """Return the second derivatives of f at x: entry (i, j) is the derivative by x_i of the derivative by x_j.

    Central differences in both directions: (f(++) - f(+-) - f(-+) + f(--)) / 4h^2, where f(+-) means that x_i is moved
    up by h and x_j down by h. For i = j this moves x_i by 2h. The error shrinks as h squared; (f(x + h e_i) - 2 f(x) +
    f(x - h e_i)) / h^2 on the diagonal does the same and is right too.

    Args:
        f: function that takes a float64 array of shape (n,) and returns a single number.
        x: shape (n,), floats or integers; it is not changed.
        h: the step; above 0. The default is larger than for first derivatives: rounding is divided by h squared.

    Returns:
        float64, shape (n, n), symmetric but for rounding.

    Raises:
        ValueError: h is 0 or below, x is not a vector, or f returns an array with axes.

    Example:
        >>> hessian_finite_difference(lambda x: x[0] ** 2 * x[1], np.array([1.0, 3.0])).round(4)
        array([[6., 2.],
               [2., 0.]])
    """
    _require_step(h)
    x = _vector("x", x)
    hessian = np.empty((len(x), len(x)))
    for i, j in np.ndindex(hessian.shape):

        def slope(point, j=j):
            return _central(lambda moved: _single("f(x)", f(moved)), point, j, h)

        hessian[i, j] = _central(slope, x, i, h)
    return hessian


def gradient_check(f, grad_f, x, h=1e-5, tolerance=1e-6):
    """Say whether grad_f gives the gradient of f at x, by comparing it with central differences.

    It does where the largest |grad_f(x) - numerical| is at most tolerance * max(1, largest |numerical|): relative for
    large gradients, absolute for those below 1, since a gradient of zero has no relative error.

    Args:
        f: function that takes a float64 array of x's shape and returns a single number.
        grad_f: function that takes the same array and returns what is claimed to be the gradient.
        x: array of any shape, of floats or integers; it is not changed.
        h: the step of the central differences; above 0.
        tolerance: the largest error that passes.

    Returns:
        True or False. A claimed gradient with NaN or infinity in it is not right.

    Raises:
        ValueError: grad_f returns another shape than x's, h is 0 or below, or f returns an array with axes.

    Example:
        >>> x = np.array([1.0, 2.0])
        >>> gradient_check(lambda x: (x**2).sum(), lambda x: 2 * x, x)
        True
        >>> gradient_check(lambda x: (x**2).sum(), lambda x: x, x)
        False
    """
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = grad_f(x)
    if np.shape(claimed) != x.shape:
        raise ValueError(f"grad_f(x): shape {np.shape(claimed)}, expected {x.shape}, the shape of x")
    scale = max(1.0, np.abs(numerical).max())
    return bool(np.abs(claimed - numerical).max() <= tolerance * scale)


class Dual:
    """A number that carries its derivative: value + derivative * e, where e * e = 0.

    Seed the input with derivative 1 and constants need none; what comes out of an expression then holds the value of
    the expression and its derivative by that input. Forward mode: one pass gives the derivative by one input.

    Args:
        value: a number.
        derivative: a number, the derivative of value by the input that was chosen.

    Attributes:
        value: float; an int of the same value will do.
        derivative: likewise.

    Operators, to be written as the special methods in brackets; each returns a new Dual and leaves its operands as they
    are. The other operand is a Dual or a plain number, whose derivative is 0. x += y needs no method: without one
    Python computes x = x + y, and that is what it has to mean.
        x + y, 2 + y   (__add__, __radd__)
        x - y, 2 - y   (__sub__, __rsub__)
        x * y, 2 * y   (__mul__, __rmul__)
        x / y, 2 / y   (__truediv__, __rtruediv__)
        -x             (__neg__)
        x ** 3, x ** y, 2 ** y   (__pow__, __rpow__). With a plain exponent x may be negative if the exponent is whole,
            and x ** 0 is 1 with derivative 0 for every x, 0 included. With a Dual exponent, x ** y is exp(y log x).

    Raises:
        ValueError: value or derivative is an array with axes; a negative value is raised to a fractional power; a base
            that is not above 0 is raised to a Dual.

    Source: W. K. Clifford 1873 (dual numbers); R. E. Wengert 1964 (derivatives by forward evaluation).

    Example:
        >>> x = Dual(3.0, 1.0)
        >>> y = x * x + 2 / x
        >>> round(y.value, 4), round(y.derivative, 4)
        (9.6667, 5.7778)
    """

    def __init__(self, value, derivative):
        self.value = float(_single("value", value))
        self.derivative = float(_single("derivative", derivative))

    def __add__(self, other):
        other = _as_dual(other)
        return Dual(self.value + other.value, self.derivative + other.derivative)

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return Dual(-self.value, -self.derivative)

    def __sub__(self, other):
        other = _as_dual(other)
        return Dual(self.value - other.value, self.derivative - other.derivative)

    def __rsub__(self, other):
        return _as_dual(other) - self

    def __mul__(self, other):
        other = _as_dual(other)
        return Dual(self.value * other.value, self.derivative * other.value + self.value * other.derivative)

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        other = _as_dual(other)
        quotient = self.value / other.value
        return Dual(quotient, (self.derivative - quotient * other.derivative) / other.value)

    def __rtruediv__(self, other):
        return _as_dual(other) / self

    def __pow__(self, exponent):
        if isinstance(exponent, Dual):
            return exp(log(self) * exponent)
        return Dual(_power(self.value, exponent), _power_slope(self.value, exponent) * self.derivative)

    def __rpow__(self, base):
        return exp(self * log(base))


def sin(x):
    """Return the sine of x, in radians.

    Args:
        x: a number, a Dual or a Variable.

    Returns:
        A number for a number; a new Dual or Variable for a Dual or a Variable, with the derivative by the chain rule.

    Example:
        >>> sin(0.0), sin(Dual(0.0, 2.0)).derivative
        (0.0, 2.0)
    """
    value = _value(x)
    return _chained(x, math.sin(value), math.cos(value))


def cos(x):
    """Return the cosine of x, in radians.

    Args:
        x: a number, a Dual or a Variable.

    Returns:
        A number for a number; a new Dual or Variable for a Dual or a Variable, with the derivative by the chain rule.

    Example:
        >>> round(cos(Dual(np.pi / 2, 1.0)).derivative, 6)
        -1.0
    """
    value = _value(x)
    return _chained(x, math.cos(value), -math.sin(value))


def exp(x):
    """Return e to the power of x.

    Args:
        x: a number, a Dual or a Variable.

    Returns:
        A number for a number; a new Dual or Variable for a Dual or a Variable, with the derivative by the chain rule.

    Example:
        >>> y = exp(Dual(0.0, 3.0))
        >>> y.value, y.derivative
        (1.0, 3.0)
    """
    value = math.exp(_value(x))
    return _chained(x, value, value)


def log(x):
    """Return the natural logarithm of x.

    Args:
        x: a number, a Dual or a Variable, above 0.

    Returns:
        A number for a number; a new Dual or Variable for a Dual or a Variable, with the derivative by the chain rule.

    Raises:
        ValueError: x is 0 or below.

    Example:
        >>> y = log(Dual(1.0, 3.0))
        >>> y.value, y.derivative
        (0.0, 3.0)
    """
    value = _value(x)
    if value <= 0:
        raise ValueError(f"x: {value}, expected a number above 0")
    return _chained(x, math.log(value), 1 / value)


def tanh(x):
    """Return the hyperbolic tangent of x, a number between -1 and 1, for x of any size.

    Args:
        x: a number, a Dual or a Variable. For |x| = 1000 the result is -1 or 1, and its derivative 0.

    Returns:
        A number for a number; a new Dual or Variable for a Dual or a Variable, with the derivative by the chain rule.

    Example:
        >>> y = tanh(Dual(0.0, 3.0))
        >>> y.value, y.derivative
        (0.0, 3.0)
    """
    value = math.tanh(_value(x))
    return _chained(x, value, 1 - value * value)


def relu(x):
    """Return x where it is above 0, and 0 elsewhere.

    Args:
        x: a number, a Dual or a Variable.

    Returns:
        A number for a number; a new Dual or Variable for a Dual or a Variable, with the derivative by the chain rule,
        where the derivative of relu at 0 is taken to be 0.

    Example:
        >>> relu(-2.0), relu(Dual(2.0, 3.0)).derivative
        (0.0, 3.0)
    """
    value = float(_value(x))
    return _chained(x, max(value, 0.0), 1.0 if value > 0 else 0.0)


class Variable:
    """A number that remembers what it was computed from, so that derivatives can be passed back to all of it.

    Reverse mode: y.backward() puts the derivative of y by every variable that y was computed from into its grad, in one
    pass, however many there are.

    Args:
        value: a number.

    Attributes:
        value: float; an int of the same value will do. It may be set anew; the values that have been computed from it
            stay as they are. Call backward() before: what it gives for an expression after a value in it was set anew
            is left open.
        grad: float, or an int of the same value, 0 at first; after y.backward() the derivative of y by this variable.

    Operators, to be written as the special methods in brackets; each returns a new Variable and leaves its operands as
    they are. The other operand is a Variable or a plain number. x += y needs no method of its own: without one Python
    computes x = x + y, and that is what it has to mean.
        x + y, 2 + y   (__add__, __radd__)
        x - y, 2 - y   (__sub__, __rsub__)
        x * y, 2 * y   (__mul__, __rmul__)
        x / y, 2 / y   (__truediv__, __rtruediv__)
        -x             (__neg__)
        x ** 3, x ** y, 2 ** y   (__pow__, __rpow__). With a plain exponent x may be negative if the exponent is whole,
            and x ** 0 is 1 with derivative 0 for every x, 0 included. With a Variable as exponent, x ** y is
            exp(y log x).

    Raises:
        ValueError: value is an array with axes; a negative value is raised to a fractional power; a base that is not
            above 0 is raised to a Variable.

    Source: S. Linnainmaa 1970 (accumulating derivatives backwards); A. Karpathy's micrograd 2020 (the form as a class).

    Example:
        >>> x, w = Variable(3.0), Variable(2.0)
        >>> y = w * x + x ** 2
        >>> y.backward()
        >>> y.value, x.grad, w.grad
        (15.0, 8.0, 3.0)
    """

    def __init__(self, value):
        self.value = float(_single("value", value))
        self.grad = 0.0
        self._inputs = ()  # of each variable that this was computed from: itself, and the derivative of self by it

    def backward(self):
        """Put the derivative of self by each variable that it was computed from into that variable's grad.

        self.grad becomes 1, also where self was computed from nothing. A variable that is used several times collects
        the sum over all its uses. Every call starts afresh: what an earlier one left in the grads of these variables is
        forgotten, not added to; variables that self does not depend on keep theirs. Works for graphs of 10 000
        operations in a row, where a function that calls itself runs into Python's limit, and takes time in proportion
        to the number of operations.

        Example:
            >>> x = Variable(3.0)
            >>> y = x * x * x
            >>> y.backward()
            >>> y.backward()
            >>> x.grad
            27.0
        """
        order = _inputs_first(self)
        for variable in order:
            variable.grad = 0.0
        self.grad = 1.0
        for variable in reversed(order):
            for source, slope in variable._inputs:
                source.grad += slope * variable.grad

    def __add__(self, other):
        other = _as_variable(other)
        return _computed(self.value + other.value, (self, 1.0), (other, 1.0))

    def __radd__(self, other):
        return self + other

    def __neg__(self):
        return _computed(-self.value, (self, -1.0))

    def __sub__(self, other):
        other = _as_variable(other)
        return _computed(self.value - other.value, (self, 1.0), (other, -1.0))

    def __rsub__(self, other):
        return _as_variable(other) - self

    def __mul__(self, other):
        other = _as_variable(other)
        return _computed(self.value * other.value, (self, other.value), (other, self.value))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        other = _as_variable(other)
        quotient = self.value / other.value
        return _computed(quotient, (self, 1 / other.value), (other, -quotient / other.value))

    def __rtruediv__(self, other):
        return _as_variable(other) / self

    def __pow__(self, exponent):
        if isinstance(exponent, Variable):
            return exp(log(self) * exponent)
        return _computed(_power(self.value, exponent), (self, _power_slope(self.value, exponent)))

    def __rpow__(self, base):
        return exp(self * log(base))


def _require_step(h):
    if not h > 0:
        raise ValueError(f"h: {h}, expected a step above 0")


def _single(name, value):
    if np.ndim(value) != 0:
        raise ValueError(f"{name}: shape {np.shape(value)}, expected a single number")
    return value


def _vector(name, value):
    value = np.array(value, dtype=np.float64)
    if value.ndim != 1:
        raise ValueError(f"{name}: shape {value.shape}, expected a vector")
    return value


def _central(f, x, index, h):
    above, below = x.copy(), x.copy()
    above[index] += h
    below[index] -= h
    return (f(above) - f(below)) / (2 * h)


def _power(base, exponent):
    if base < 0 and exponent % 1:
        raise ValueError(f"base: {base}, expected a number of at least 0 for the fractional exponent {exponent}")
    return base**exponent


def _power_slope(base, exponent):
    return exponent * base ** (exponent - 1) if exponent else 0.0


def _value(x):
    return getattr(x, "value", x)


def _chained(x, value, slope):
    """Return f(x) as the kind of number that x is, from its value and the derivative of f there."""
    if isinstance(x, Dual):
        return Dual(value, slope * x.derivative)
    return _computed(value, (x, slope)) if isinstance(x, Variable) else value


def _as_dual(x):
    return x if isinstance(x, Dual) else Dual(x, 0.0)


def _as_variable(x):
    return x if isinstance(x, Variable) else Variable(x)


def _computed(value, *inputs):
    result = Variable(value)
    result._inputs = inputs
    return result


def _inputs_first(output):
    """Return all variables that output was computed from, and output, each after its own inputs; without recursion."""
    order, seen, stack = [], set(), [(output, False)]
    while stack:
        variable, inputs_are_done = stack.pop()
        if inputs_are_done:
            order.append(variable)
        elif variable not in seen:
            seen.add(variable)
            stack.append((variable, True))
            stack += [(source, False) for source, _ in variable._inputs]
    return order
