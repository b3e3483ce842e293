"""Derivatives in three ways: finite differences, forward mode with dual numbers, and reverse mode with a graph.

The lesson and the checklist are in this stage's README.md, the conventions of all stages in stages/README.md. In short:
inputs are never changed, everything is computed in float64 whatever comes in, and bad shapes or values raise
ValueError with a sentence that names the argument, what it was and what was expected.
"""

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
    raise NotImplementedError("finite_difference")


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
    raise NotImplementedError("gradient_finite_difference")


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
    raise NotImplementedError("jacobian_finite_difference")


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
    raise NotImplementedError("hessian_finite_difference")


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
    raise NotImplementedError("gradient_check")


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
        raise NotImplementedError("Dual.__init__")


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
    raise NotImplementedError("sin")


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
    raise NotImplementedError("cos")


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
    raise NotImplementedError("exp")


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
    raise NotImplementedError("log")


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
    raise NotImplementedError("tanh")


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
    raise NotImplementedError("relu")


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
        raise NotImplementedError("Variable.__init__")

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
        raise NotImplementedError("Variable.backward")
