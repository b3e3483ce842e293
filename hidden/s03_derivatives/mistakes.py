"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s03_derivatives.solution import (
    Dual,
    Variable,
    _as_dual,
    _as_variable,
    _central,
    _chained,
    _computed,
    _inputs_first,
    _power,
    _power_slope,
    _require_step,
    _single,
    _value,
    _vector,
    cos,
    exp,
    finite_difference,
    gradient_check,
    gradient_finite_difference,
    hessian_finite_difference,
    jacobian_finite_difference,
    log,
    relu,
    sin,
    tanh,
)


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="Every method gave the forward quotient: its error is of the size of h even where central was asked for.",
    fix="Look at method: forward uses x and x + h, backward x - h and x, central x - h and x + h.",
)
def always_forward(f, x, h=1e-5, method="central", right=finite_difference):
    right(f, x, h, method)
    return right(f, x, h, "forward")


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="The central difference was divided by h, so that it is twice as large as the slope.",
    fix="From x - h to x + h it is a distance of 2h: divide by (2 * h), with the parentheses.",
)
def central_divided_by_h(f, x, h=1e-5, method="central", right=finite_difference):
    return right(f, x, h, method) * (2 if method == "central" else 1)


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="The central difference was divided by 2 and multiplied by h: / 2 * h is not / (2 * h).",
    fix="Put parentheses around 2 * h. Python works / and * off from left to right.",
)
def missing_parentheses(f, x, h=1e-5, method="central", right=finite_difference):
    return (f(x + h) - f(x - h)) / 2 * h if method == "central" else right(f, x, h, method)


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="The backward quotient has the wrong sign: f(x) was subtracted from f(x - h).",
    fix="Take the value on the right minus the value on the left: (f(x) - f(x - h)) / h.",
)
def backward_with_wrong_sign(f, x, h=1e-5, method="central", right=finite_difference):
    return right(f, x, h, method) * (-1 if method == "backward" else 1)


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="The central difference moved x by h/2 to either side, half of what the contract asks for.",
    fix="Move x by the whole of h in both directions, and divide by 2h.",
)
def half_a_step(f, x, h=1e-5, method="central", right=finite_difference):
    return right(f, x, h / 2 if method == "central" else h, method)


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="A method that does not exist was taken for central.",
    fix="Raise ValueError when method is none of the three, instead of ending the branches with an else that computes.",
)
def unknown_method_is_central(f, x, h=1e-5, method="central", right=finite_difference):
    return right(f, x, h, method if method in ("forward", "backward") else "central")


@mistake(
    criterion="finite-difference",
    replaces="finite_difference",
    text="A step of zero, or below, was accepted.",
    fix="Raise ValueError unless h is above 0, before anything is computed.",
)
def any_step_accepted(f, x, h=1e-5, method="central", right=finite_difference):
    return right(f, x, h if h > 0 else 1e-5, method)


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="All entries of x were moved at the same time, so that each entry of the result is the sum of the gradient.",
    fix="Move one entry, evaluate f, and leave all others as they are; then the next.",
)
def all_entries_moved_at_once(f, x, h=1e-5):
    x = np.array(x, dtype=np.float64)
    return np.full(x.shape, (_single("f(x)", f(x + h)) - f(x - h)) / (2 * h))


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="An entry that had been moved was not moved back: the later entries are measured at another point.",
    fix="Make a fresh copy of x for each entry, or put the old number back before you go on.",
)
def entries_not_moved_back(f, x, h=1e-5):
    x = np.array(x, dtype=np.float64)
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        gradient[index] = _central(lambda point: _single("f(x)", f(point)), x, index, h)
        x[index] -= h
    return gradient


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="These are forward differences, whose error is of the size of h and not of h squared.",
    fix="Use both sides: f at x + h minus f at x - h, divided by 2h.",
)
def gradient_by_forward_differences(f, x, h=1e-5):
    _require_step(h)
    x = np.array(x, dtype=np.float64)
    gradient = np.empty_like(x)
    for index in np.ndindex(x.shape):
        moved = x.copy()
        moved[index] += h
        gradient[index] = (_single("f(x)", f(moved)) - f(x)) / h
    return gradient


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="The copies of an integer array are integers as well: adding 1e-5 to an entry changed nothing, or raised.",
    fix="Begin with x = np.array(x, dtype=np.float64).",
)
def integer_steps_lost(f, x, h=1e-5, right=gradient_finite_difference):
    if np.asarray(x).dtype.kind == "i":
        return np.zeros(np.shape(x))
    return right(f, x, h)


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="x itself was moved: after the call the caller's array is not what it was before.",
    fix="Work on a copy, np.array(x, dtype=np.float64). Adding h and subtracting it again leaves rounding behind, too.",
)
def callers_array_moved(f, x, h=1e-5, right=gradient_finite_difference):
    gradient = right(f, x, h)
    x += np.asarray(h, dtype=x.dtype) if x.dtype.kind == "f" else 1
    return gradient


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="These are the differences of f alone: they were not divided by 2h.",
    fix="Divide f(x + h e_i) - f(x - h e_i) by (2 * h): a slope is a rise over a distance.",
)
def differences_not_divided(f, x, h=1e-5, right=gradient_finite_difference):
    return right(f, x, h) * (2 * h)


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="The result is a flat vector; the shape of x was lost.",
    fix="Give back an array of x's shape: np.ndindex(x.shape) and gradient[index] work for any number of axes.",
)
def gradient_flattened(f, x, h=1e-5, right=gradient_finite_difference):
    return right(f, x, h).ravel()


@mistake(
    criterion="gradient",
    replaces="gradient_finite_difference",
    text="f returned an array, of one entry or of several, and a single number was made of it without a word.",
    fix="Raise ValueError if what f returns has axes: np.ndim(value) has to be 0.",
)
def arrays_added_up(f, x, h=1e-5, right=gradient_finite_difference):
    return right(lambda point: np.sum(f(point)), x, h)


@mistake(
    criterion="jacobian",
    replaces="jacobian_finite_difference",
    text="This is the transposed Jacobian: it has a row for each input.",
    fix="Moving input j gives column j. Stack the columns along the last axis, or transpose at the end.",
)
def jacobian_transposed(f, x, h=1e-5, right=jacobian_finite_difference):
    return right(f, x, h).T


@mistake(
    criterion="jacobian",
    replaces="jacobian_finite_difference",
    text="The outputs were added up: this is the gradient of their sum.",
    fix="Keep every output by itself: one column holds how all outputs change with one input.",
)
def gradient_of_the_sum(f, x, h=1e-5, right=jacobian_finite_difference):
    return right(f, x, h).sum(axis=0)


@mistake(
    criterion="jacobian",
    replaces="jacobian_finite_difference",
    text="All inputs were moved at the same time: each output has one slope, where it has one for each input.",
    fix="Move one input, evaluate f, and write its answer into that input's column; then the next.",
)
def all_inputs_moved_at_once(f, x, h=1e-5):
    x = np.array(x, dtype=np.float64)
    return (np.asarray(f(x + h)) - f(x - h)) / (2 * h)


@mistake(
    criterion="jacobian",
    replaces="jacobian_finite_difference",
    text="These are forward differences, whose error is of the size of h and not of h squared.",
    fix="Use both sides: f at x + h e_j minus f at x - h e_j, divided by 2h.",
)
def jacobian_by_forward_differences(f, x, h=1e-5):
    _require_step(h)
    x = _vector("x", x)
    base = _vector("f(x)", f(x))
    return np.stack([(f(x + h * unit) - base) / h for unit in np.eye(len(x))], axis=-1)


@mistake(
    criterion="jacobian",
    replaces="jacobian_finite_difference",
    text="What is no vector was flattened and went through: x, or what f returned, does not have one axis.",
    fix="Raise ValueError unless x.ndim is 1 and np.ndim of what f returns is 1.",
)
def anything_flattened(f, x, h=1e-5, right=jacobian_finite_difference):
    shape = np.shape(x)
    return right(lambda point: np.ravel(f(point.reshape(shape))), np.ravel(x), h)


@mistake(
    criterion="hessian",
    replaces="hessian_finite_difference",
    text="Only the diagonal was filled: the mixed derivatives off it are 0.",
    fix="Compute entry (i, j) for i different from j too: a difference in x_i of differences in x_j.",
)
def only_the_diagonal(f, x, h=1e-4, right=hessian_finite_difference):
    return np.diag(np.diag(right(f, x, h)))


@mistake(
    criterion="hessian",
    replaces="hessian_finite_difference",
    text="The differences of differences were divided by 4h instead of 4h squared.",
    fix="Each of the two differences is divided by 2h, so together by 4 * h ** 2.",
)
def divided_by_h_once(f, x, h=1e-4, right=hessian_finite_difference):
    return right(f, x, h) * h


@mistake(
    criterion="hessian",
    replaces="hessian_finite_difference",
    text="The sum over the four corners was divided by h squared: every entry is four times too large.",
    fix="The corners are 2h apart in both directions, so divide by 4 * h ** 2.",
)
def the_four_forgotten(f, x, h=1e-4, right=hessian_finite_difference):
    return right(f, x, h) * 4


@mistake(
    criterion="hessian",
    replaces="hessian_finite_difference",
    text="This is the product of the gradient with itself: first derivatives multiplied, no second ones.",
    fix="Differentiate the gradient once more: entry (i, j) says how entry i of the gradient changes with x_j.",
)
def products_of_first_derivatives(f, x, h=1e-4, right=hessian_finite_difference):
    gradient = gradient_finite_difference(f, x, h)
    _vector("x", x)
    return np.outer(gradient, gradient)


@mistake(
    criterion="hessian",
    replaces="hessian_finite_difference",
    text="Both differences were forward ones: the error shrinks as h, not as h squared.",
    fix="Take the four corners around x, with each of x_i and x_j moved up and down, divided by 4 * h ** 2.",
)
def hessian_by_forward_differences(f, x, h=1e-4):
    _require_step(h)
    x = _vector("x", x)
    steps = h * np.eye(len(x))
    base = _single("f(x)", f(x))
    ahead = [f(x + step) for step in steps]
    return np.array(
        [[(f(x + a + b) - ahead[i] - ahead[j] + base) / h**2 for j, b in enumerate(steps)] for i, a in enumerate(steps)]
    )


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="Errors were compared with their sign: a gradient that is too small passes, however far it is off.",
    fix="Take the absolute value of the differences before you look for the largest.",
)
def signed_errors(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f(x): expected the shape of x")
    return bool((claimed - numerical).max() <= tolerance * max(1.0, np.abs(numerical).max()))


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="Only the sizes of the two gradients were compared: one of the other sign passes.",
    fix="Take the absolute value of the difference, not of each gradient.",
)
def sizes_alone(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f(x): expected the shape of x")
    differences = np.abs(np.abs(claimed) - np.abs(numerical))
    return bool(differences.max() <= tolerance * max(1.0, np.abs(numerical).max()))


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="The tolerance was absolute: large gradients, whose rounding is large as well, cannot pass.",
    fix="Multiply the tolerance by max(1, largest absolute numerical gradient).",
)
def absolute_tolerance_only(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f(x): expected the shape of x")
    return bool(np.abs(claimed - numerical).max() <= tolerance)


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="The tolerance was relative only: where the gradient is close to zero, rounding alone exceeds it.",
    fix="Let the scale be at least 1: max(1, largest absolute numerical gradient).",
)
def relative_tolerance_only(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f(x): expected the shape of x")
    return bool(np.abs(claimed - numerical).max() <= tolerance * np.abs(numerical).max())


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="The mean error was judged: one wrong entry hides among many right ones.",
    fix="Judge the largest error. One wrong entry makes a wrong gradient.",
)
def mean_error(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f(x): expected the shape of x")
    return bool(np.abs(claimed - numerical).mean() <= tolerance * max(1.0, np.abs(numerical).max()))


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="An error larger than tolerance * max(1, largest |numerical|) passed: the limit in use is a larger one.",
    fix="Compare the largest error with that product. np.allclose adds 1e-5 of each entry, unless it is given rtol=0.",
)
def compared_by_allclose(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    claimed = np.asarray(grad_f(x))
    if claimed.shape != x.shape:
        raise ValueError("grad_f(x): expected the shape of x")
    return bool(np.allclose(claimed, numerical, atol=tolerance))


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="A gradient with NaN or infinity in it passed: every comparison with NaN is False, also that it is too large.",
    fix="Ask whether the error is small enough, not whether it is too large, and scale by the numerical gradient.",
)
def nan_passes(f, grad_f, x, h=1e-5, tolerance=1e-6, right=gradient_check):
    def finite(x):
        claimed = np.asarray(grad_f(x))
        return claimed if np.isfinite(claimed).all() else gradient_finite_difference(f, x, h)

    return right(f, finite, x, h, tolerance)


@mistake(
    criterion="gradient-check",
    replaces="gradient_check",
    text="A gradient of another shape was compared all the same, because NumPy stretched it.",
    fix="Compare the shapes first, and raise ValueError unless grad_f(x) has the shape of x.",
)
def shapes_stretched(f, grad_f, x, h=1e-5, tolerance=1e-6):
    x = np.array(x, dtype=np.float64)
    numerical = gradient_finite_difference(f, x, h)
    difference = np.abs(np.resize(grad_f(x), x.shape) - numerical).max()
    return bool(difference <= tolerance * max(1.0, np.abs(numerical).max()))


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__mul__",
    text="The derivative of the product is the product of the derivatives.",
    fix="Each factor changes while the other stays: a' b + a b'.",
)
def product_of_derivatives(self, other):
    other = _as_dual(other)
    return Dual(self.value * other.value, self.derivative * other.derivative)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__mul__",
    text="Only the change of the first factor was counted in the product.",
    fix="Add the other half of the rule: a' b + a b'.",
)
def half_of_the_product_rule(self, other):
    other = _as_dual(other)
    return Dual(self.value * other.value, self.derivative * other.value)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__truediv__",
    text="The two terms of the quotient rule are the wrong way round, so that the derivative has the wrong sign.",
    fix="The change of the numerator comes first: (a' b - a b') / b^2.",
)
def quotient_rule_reversed(self, other):
    other = _as_dual(other)
    numerator = self.value * other.derivative - self.derivative * other.value
    return Dual(self.value / other.value, numerator / other.value**2)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__truediv__",
    text="In the quotient rule, a' b - a b' was divided by b and not by its square.",
    fix="Divide by other.value ** 2.",
)
def quotient_rule_without_square(self, other):
    other = _as_dual(other)
    numerator = self.derivative * other.value - self.value * other.derivative
    return Dual(self.value / other.value, numerator / other.value)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__truediv__",
    text="The derivative of the quotient is the quotient of the derivatives.",
    fix="Use (a' b - a b') / b^2.",
)
def quotient_of_derivatives(self, other):
    other = _as_dual(other)
    slope = self.derivative / other.derivative if other.derivative else 0.0
    return Dual(self.value / other.value, slope)


@mistake(
    criterion="dual-arithmetic",
    replaces="_as_dual",
    text="Plain numbers were given the derivative 1, as if they were the input.",
    fix="A number is a constant: turn it into a Dual with derivative 0.",
)
def constants_that_vary(x):
    return x if isinstance(x, Dual) else Dual(x, 1.0)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__rsub__",
    text="2 - x was computed as x - 2.",
    fix="Python calls x.__rsub__(2) for 2 - x: the number stands on the left, so subtract self from it.",
)
def reflected_difference_turned_round(self, other):
    return self - other


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__rtruediv__",
    text="2 / x was computed as x / 2.",
    fix="Python calls x.__rtruediv__(2) for 2 / x: the number stands on the left, so divide it by self.",
)
def reflected_quotient_turned_round(self, other):
    return self / other


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__sub__",
    text="The derivatives were added where the values are subtracted.",
    fix="The derivative of a difference is the difference of the derivatives.",
)
def derivatives_added_in_a_difference(self, other):
    other = _as_dual(other)
    return Dual(self.value - other.value, self.derivative + other.derivative)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__neg__",
    text="Minus turned the sign of the value and left that of the derivative.",
    fix="-x falls as fast as x rises: turn the sign of both.",
)
def minus_forgets_the_derivative(self):
    return Dual(-self.value, self.derivative)


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__iadd__",
    text="x += y changed the Dual itself, and with it all that goes by another name for it.",
    fix="Leave __iadd__ out: then Python computes x = x + y, and x is a new Dual.",
)
def dual_changed_in_place(self, other):
    other = _as_dual(other)
    self.value, self.derivative = self.value + other.value, self.derivative + other.derivative
    return self


@mistake(
    criterion="dual-arithmetic",
    replaces="Dual.__init__",
    text="Numbers are kept as they come: with one in single precision all that follows has seven digits.",
    fix="Turn value and derivative into floats in __init__: float(value). Ints may stay ints.",
)
def numbers_kept_as_they_come(self, value, derivative):
    self.value, self.derivative = _single("value", value), _single("derivative", derivative)


@mistake(
    criterion="dual-functions",
    replaces="_chained",
    text="The derivative of x itself was left out: this is f'(x), right only where x has derivative 1.",
    fix="Multiply by x.derivative: that is the chain rule.",
)
def chain_rule_forgotten(x, value, slope, right=_chained):
    return Dual(value, slope) if isinstance(x, Dual) else right(x, value, slope)


@mistake(
    criterion="dual-functions",
    replaces="_chained",
    text="The function was applied, and the derivative handed on as it came.",
    fix="Multiply x.derivative by f'(x).",
)
def derivative_handed_on(x, value, slope, right=_chained):
    return Dual(value, x.derivative) if isinstance(x, Dual) else right(x, value, slope)


@mistake(
    criterion="dual-functions",
    replaces="cos",
    text="The derivative of the cosine lacks its minus.",
    fix="cos falls from 1 as x rises from 0: its derivative is -sin x.",
)
def cosine_without_minus(x):
    value = _value(x)
    return _chained(x, math.cos(value), math.sin(value))


@mistake(
    criterion="dual-functions",
    replaces="exp",
    text="exp was differentiated like a power of x: x e^(x-1).",
    fix="In e^x the exponent varies and not the base. The derivative of exp is exp.",
)
def exp_like_a_power(x):
    value = _value(x)
    return _chained(x, math.exp(value), value * math.exp(value - 1))


@mistake(
    criterion="dual-functions",
    replaces="log",
    text="The derivative of log was taken to be x, or its log, instead of 1/x.",
    fix="Divide x.derivative by x.value.",
)
def log_with_slope_log(x):
    value = _value(x)
    if value <= 0:
        raise ValueError("x: expected a number above 0")
    return _chained(x, math.log(value), math.log(value))


@mistake(
    criterion="dual-functions",
    replaces="tanh",
    text="The derivative of tanh was formed with x: 1 - x^2.",
    fix="It is 1 - tanh(x)^2. Compute t = math.tanh(x) once and use 1 - t * t.",
)
def tanh_slope_from_its_input(x):
    value = float(_value(x))
    return _chained(x, math.tanh(value), 1 - value * value)


@mistake(
    criterion="dual-functions",
    replaces="tanh",
    text="For large x an exponential, or a cosh, overflows: in tanh itself or in its slope.",
    fix="Use math.tanh for the value t, which is right for x of any size, and 1 - t * t for the slope.",
)
def tanh_from_exponentials(x):
    value = float(_value(x))
    up, down = math.exp(value), math.exp(-value)
    ratio = (up - down) / (up + down)
    return _chained(x, ratio, 1 - ratio * ratio)


@mistake(
    criterion="dual-functions",
    replaces="relu",
    text="relu was given the slope 1 at 0.",
    fix="In this course the derivative of relu at 0 is 0: compare with >, not with >=.",
)
def relu_slope_one_at_zero(x):
    value = float(_value(x))
    return _chained(x, max(value, 0.0), float(value >= 0))


@mistake(
    criterion="dual-functions",
    replaces="relu",
    text="relu has the slope 1 everywhere, also where it cut x off.",
    fix="Below 0 the result is 0 whatever x is, so the slope there is 0.",
)
def relu_slope_one_everywhere(x):
    value = float(_value(x))
    return _chained(x, max(value, 0.0), 1.0)


@mistake(
    criterion="dual-functions",
    replaces="log",
    text="log gave a number, such as NaN or minus infinity, for a value of 0 or below.",
    fix="Raise ValueError unless the value is above 0: NumPy's log only warns, and NaN spreads silently from there.",
)
def log_gives_nan(x):
    value = float(_value(x))
    if value > 0:
        return _chained(x, math.log(value), 1 / value)
    return _chained(x, -math.inf if value == 0 else math.nan, math.inf if value == 0 else 1 / value)


@mistake(
    criterion="dual-powers",
    replaces="_power_slope",
    text="The exponent came to the front and was not lowered: n x^n.",
    fix="The power falls by one: n * value ** (n - 1).",
)
def exponent_not_lowered(base, exponent):
    return exponent * base**exponent


@mistake(
    criterion="dual-powers",
    replaces="_power_slope",
    text="The exponent was lowered and did not come to the front: x^(n-1).",
    fix="Multiply by the exponent as well: n * value ** (n - 1).",
)
def exponent_not_in_front(base, exponent):
    return base ** (exponent - 1) if exponent else 0.0


@mistake(
    criterion="dual-powers",
    replaces="Dual.__pow__",
    text="The derivative of the base was left out of the power's derivative.",
    fix="n * value ** (n - 1) has to be multiplied by self.derivative: the chain rule.",
)
def power_without_chain_rule(self, exponent, right=Dual.__pow__):
    if isinstance(exponent, Dual):
        return right(self, exponent)
    return Dual(_power(self.value, exponent), _power_slope(self.value, exponent))


@mistake(
    criterion="dual-powers",
    replaces="_power_slope",
    text="x ** 0 at x = 0 raised ZeroDivisionError: the rule asks for 0 times 0 ** -1.",
    fix="x ** 0 is 1 everywhere: for the exponent 0 give the slope 0 without computing value ** -1.",
)
def zero_to_the_zero_divides(base, exponent):
    return exponent * base ** (exponent - 1)


@mistake(
    criterion="dual-powers",
    replaces="Dual.__rpow__",
    text="2 ** x was computed as x ** 2.",
    fix="Python calls x.__rpow__(2) for 2 ** x, where x is the exponent: exp(x * log(2)).",
)
def reflected_power_turned_round(self, base):
    return self**base


@mistake(
    criterion="dual-powers",
    replaces="Dual.__rpow__",
    text="2 ** x was differentiated as if 2 were e: the factor log 2 is missing.",
    fix="2^x = e^(x log 2), so its derivative is 2^x log 2 x'.",
)
def factor_log_forgotten(self, base):
    value = _power(float(base), self.value)
    log(base)
    return Dual(value, value * self.derivative)


@mistake(
    criterion="dual-powers",
    replaces="Dual.__pow__",
    text="In x ** y the exponent was taken for a constant: what its change contributes is missing.",
    fix="Write x ** y as exp(y log x) when the exponent is a Dual; then both contribute.",
)
def varying_exponent_taken_for_constant(self, exponent, right=Dual.__pow__):
    if isinstance(exponent, Dual):
        log(self)
        return right(self, exponent.value)
    return right(self, exponent)


@mistake(
    criterion="dual-powers",
    replaces="_power",
    text="A negative number was raised to a fractional power without an error; the result is not a real number.",
    fix="Raise ValueError if the base is below 0 and the exponent is not whole.",
)
def root_of_a_negative_number(base, exponent):
    return math.nan if base < 0 and exponent % 1 else base**exponent


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__mul__",
    text="In a product each factor was handed its own value, not that of the other factor.",
    fix="The derivative of a * b by a is b: keep (self, other.value) and (other, self.value).",
)
def factors_mixed_up(self, other):
    other = _as_variable(other)
    return _computed(self.value * other.value, (self, self.value), (other, other.value))


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__iadd__",
    text="x += y changed the Variable itself, so that what it was before is lost to backward.",
    fix="Leave __iadd__ out: then Python computes x = x + y, and x is a new Variable.",
)
def variable_changed_in_place(self, other):
    other = _as_variable(other)
    self.value += other.value
    self._inputs = (*self._inputs, (other, 1.0))
    return self


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.backward",
    text="The output's own grad was 0 when the grads were handed back, and 0 is what everything else gets.",
    fix="Set self.grad = 1.0, the derivative of the output by itself: after all grads were set to 0, before the walk.",
)
def output_not_seeded(self, right=Variable.backward):
    for variable in _inputs_first(self):
        variable.grad = 0.0


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.backward",
    text="Only the direct inputs of the output got a grad; what these were computed from got none.",
    fix="Go on from each variable to its own inputs until there are none, in the order from the output to the inputs: "
    "what hands on its grad before that has come in hands on 0.",
)
def one_step_back_only(self):
    for variable in _inputs_first(self):
        variable.grad = 0.0
    self.grad = 1.0
    for source, slope in self._inputs:
        source.grad += slope


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.backward",
    text="Slopes were handed back without the grad of the result: the chain rule is missing.",
    fix="Each input gets slope * variable.grad, not the slope alone.",
)
def slopes_not_multiplied(self):
    order = _inputs_first(self)
    for variable in order:
        variable.grad = 0.0
    self.grad = 1.0
    for variable in reversed(order):
        for source, slope in variable._inputs:
            source.grad += slope


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__sub__",
    text="In a difference the second operand was handed +1 instead of -1.",
    fix="a - b falls when b rises: keep the slope -1 for other.",
)
def second_operand_with_plus(self, other):
    other = _as_variable(other)
    return _computed(self.value - other.value, (self, 1.0), (other, 1.0))


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__truediv__",
    text="The derivative of a / b by b lacks its minus.",
    fix="It is -a / b^2: a quotient falls when its divisor rises.",
)
def divisor_without_minus(self, other):
    other = _as_variable(other)
    quotient = self.value / other.value
    return _computed(quotient, (self, 1 / other.value), (other, quotient / other.value))


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__truediv__",
    text="The derivative of a / b by b was formed with b instead of its square.",
    fix="It is -a / b^2.",
)
def divisor_without_square(self, other):
    other = _as_variable(other)
    quotient = self.value / other.value
    return _computed(quotient, (self, 1 / other.value), (other, -quotient))


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__rsub__",
    text="2 - y was computed as y - 2, for a Variable y.",
    fix="Python calls y.__rsub__(2) for 2 - y: the number stands on the left, so subtract self from it.",
)
def number_minus_variable_turned_round(self, other):
    return self - other


@mistake(
    criterion="variable-arithmetic",
    replaces="Variable.__rtruediv__",
    text="2 / y was computed as y / 2, for a Variable y.",
    fix="Python calls y.__rtruediv__(2) for 2 / y: the number stands on the left, so divide it by self.",
)
def number_over_variable_turned_round(self, other):
    return self / other


@mistake(
    criterion="variable-functions",
    replaces="_chained",
    text="A function of a Variable gave a new Variable that does not remember its input: the way back ends there.",
    fix="Keep the pair (x, f'(x)) in the result, as the operators do.",
)
def way_back_cut_off(x, value, slope, right=_chained):
    return Variable(value) if isinstance(x, Variable) else right(x, value, slope)


@mistake(
    criterion="variable-functions",
    replaces="_chained",
    text="A function of a Variable handed the grad back as it came, with slope 1.",
    fix="Keep the slope f'(x) with the input: cos x for sin, the result itself for exp, 1/x for log, 1 - t^2 for tanh.",
)
def slope_one_for_functions(x, value, slope, right=_chained):
    return _computed(value, (x, 1.0)) if isinstance(x, Variable) else right(x, value, slope)


@mistake(
    criterion="variable-functions",
    replaces="_chained",
    text="A function of a Variable kept its value where its slope belongs.",
    fix="Only for exp are the two the same. Work out f'(x) at x.value for each function.",
)
def value_kept_as_slope(x, value, slope, right=_chained):
    return _computed(value, (x, value)) if isinstance(x, Variable) else right(x, value, slope)


@mistake(
    criterion="variable-functions",
    replaces="Variable.__pow__",
    text="In x ** y the exponent, a Variable, got no grad: it was taken for a constant.",
    fix="Write x ** y as exp(y log x) when the exponent is a Variable; then both get theirs.",
)
def exponent_gets_no_grad(self, exponent, right=Variable.__pow__):
    if isinstance(exponent, Variable):
        log(self)
        return right(self, exponent.value)
    return right(self, exponent)


@mistake(
    criterion="variable-functions",
    replaces="Variable.__pow__",
    text="The power of a Variable was handed back with the exponent alone as its slope.",
    fix="The slope of x ** n is n * x.value ** (n - 1).",
)
def exponent_alone_as_slope(self, exponent, right=Variable.__pow__):
    if isinstance(exponent, Variable):
        return right(self, exponent)
    return _computed(_power(self.value, exponent), (self, exponent))


@mistake(
    criterion="variable-functions",
    replaces="Variable.__rpow__",
    text="2 ** y was computed as y ** 2, for a Variable y.",
    fix="Python calls y.__rpow__(2) for 2 ** y, where y is the exponent: exp(y * log(2)).",
)
def number_to_the_variable_turned_round(self, base):
    return self**base


@mistake(
    criterion="accumulation",
    replaces="Variable.backward",
    text="Each use overwrote what the one before had put into grad: only one of several uses counts.",
    fix="Add to it: source.grad += slope * variable.grad.",
)
def overwritten_not_added(self):
    order = _inputs_first(self)
    for variable in order:
        variable.grad = 0.0
    self.grad = 1.0
    for variable in reversed(order):
        for source, slope in variable._inputs:
            source.grad = slope * variable.grad


@mistake(
    criterion="accumulation",
    replaces="Variable.backward",
    text="A variable passed its grad on as soon as it was reached, before all of its uses had reported.",
    fix="Visit a variable after all variables that were computed from it: put them in order before you begin.",
)
def passed_on_when_first_reached(self):
    for variable in _inputs_first(self):
        variable.grad = 0.0
    self.grad = 1.0
    queue, seen = [self], {self}
    for variable in queue:
        for source, slope in variable._inputs:
            source.grad += slope * variable.grad
            if source not in seen:
                seen.add(source)
                queue.append(source)


@mistake(
    criterion="accumulation",
    replaces="Variable.backward",
    text="What an earlier backward had left in the grads was added to.",
    fix="Set the grad of every variable that the output depends on to 0 before you begin.",
)
def grads_not_reset(self):
    self.grad = 1.0
    for variable in reversed(_inputs_first(self)):
        for source, slope in variable._inputs:
            source.grad += slope * variable.grad


@mistake(
    criterion="accumulation",
    replaces="Variable.backward",
    text="At the start of backward only the results of operations were set to 0; the inputs went on adding up.",
    fix="Set every grad to 0 at the start, those of the variables without inputs included.",
)
def inputs_not_reset(self):
    order = _inputs_first(self)
    for variable in order:
        if variable._inputs:
            variable.grad = 0.0
    self.grad = 1.0
    for variable in reversed(order):
        for source, slope in variable._inputs:
            source.grad += slope * variable.grad


@mistake(
    criterion="accumulation",
    replaces="Variable.backward",
    text="At the start of backward only variables without inputs were set to 0; results kept what they had.",
    fix="Set every grad to 0 at the start, those of the results of operations included.",
)
def results_not_reset(self):
    order = _inputs_first(self)
    for variable in order:
        if not variable._inputs:
            variable.grad = 0.0
    self.grad = 1.0
    for variable in reversed(order):
        for source, slope in variable._inputs:
            source.grad += slope * variable.grad


@mistake(
    criterion="accumulation",
    replaces="_computed",
    text="An operation on one variable twice, such as x * x, counted it once: its inputs were kept in a set or a dict.",
    fix="Keep the inputs in a list or tuple, in which the same variable may stand twice.",
)
def same_operand_counted_once(value, *inputs):
    result = Variable(value)
    result._inputs = tuple(dict(inputs).items())
    return result


@mistake(
    criterion="accumulation",
    replaces="_inputs_first",
    text="Variables of equal value were taken for one and the same, so that one of them got no grad.",
    fix="Tell variables apart by the object, not by its value: do not write __eq__ and __hash__, or use id(variable).",
)
def told_apart_by_value(output, right=_inputs_first):
    order, values = [], set()
    for variable in reversed(right(output)):
        if variable.value not in values:
            values.add(variable.value)
            order.insert(0, variable)
    return order


@mistake(
    criterion="deep-graphs",
    replaces="_inputs_first",
    text="A function called itself for every input of every variable, until Python refused to open another call.",
    fix="Keep the variables still to be visited in a list of your own, and take them from its end in a while loop.",
)
def recursive_order(output):
    order, seen = [], set()

    def visit(variable):
        if variable not in seen:
            seen.add(variable)
            for source, _ in variable._inputs:
                visit(source)
            order.append(variable)

    visit(output)
    return order


@mistake(
    criterion="deep-graphs",
    replaces="_inputs_first",
    text="Variables were noted down when they were first met, not when their inputs were done: that is another order.",
    fix="Put each variable back with a flag, below its inputs; note it down when it comes up with the flag.",
)
def noted_when_first_met(output):
    order, seen, stack = [], set(), [output]
    while stack:
        variable = stack.pop()
        if variable not in seen:
            seen.add(variable)
            order.append(variable)
            stack += [source for source, _ in variable._inputs]
    return order[::-1]


@mistake(
    criterion="deep-graphs",
    replaces="_inputs_first",
    text="Variables were marked as seen when they were put on the stack: one that is needed earlier comes too late.",
    fix="Mark a variable when you take it from the stack; the same one may wait there several times.",
)
def marked_when_pushed(output):
    order, seen, stack = [], {output}, [(output, False)]
    while stack:
        variable, inputs_are_done = stack.pop()
        if inputs_are_done:
            order.append(variable)
            continue
        stack.append((variable, True))
        for source, _ in variable._inputs:
            if source not in seen:
                seen.add(source)
                stack.append((source, False))
    return order


@mistake(
    criterion="deep-graphs",
    replaces="_inputs_first",
    text="The search ended after a fixed number of steps: variables further back got no grad.",
    fix="Go on while there is anything left on the stack, however deep the graph is.",
)
def search_cut_short(output, right=_inputs_first):
    return right(output)[-900:]
