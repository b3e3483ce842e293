"""Wrong answers that learners of this stage give, and what each should read.

A wrong answer that differs from the solution in one step takes the solution's own function as the default of `right`.
"""

import math

import numpy as np

from grader.course.answers import mistake
from hidden.s11_activations.solution import (
    _floating_type,
    _share_below,
    elu,
    gelu,
    leaky_relu,
    mish,
    perceptron_predict,
    perceptron_train,
    relu,
    softplus,
    softplus_derivative,
    swish,
    xor_network,
)


@mistake(
    criterion="relu",
    replaces="relu",
    text="Python's if (or max) asks a whole array whether it is positive, and an array has no single answer.",
    fix="Choose for every entry at once: np.maximum(z, 0), or np.where with a condition.",
)
def whole_array_asked_once(z):
    return z if z > 0 else 0.0


@mistake(
    criterion="relu",
    replaces="relu",
    text="This is the absolute value: negative entries were turned round instead of becoming 0.",
    fix="Let every negative entry give 0.",
)
def absolute_value(z):
    return np.abs(z)


@mistake(
    criterion="relu",
    replaces="relu",
    text="The negative entries were kept and the positive ones became 0: this is the minimum of z and 0.",
    fix="Take the maximum of z and 0.",
)
def minimum_for_maximum(z):
    return np.minimum(z, 0)


@mistake(
    criterion="relu",
    replaces="relu",
    text="This is a step from 0 to 1, which is the slope of relu, not relu itself.",
    fix="Give z itself where it is positive.",
)
def step_for_relu(z):
    return np.where(z > 0, 1.0, 0.0)


@mistake(
    criterion="relu",
    replaces="relu_derivative",
    text="This is relu itself: positive entries are still z, where their slope is asked for.",
    fix="The slope of the line z is 1: return 1 where z is positive.",
)
def relu_for_its_slope(z, right=relu):
    return right(z)


@mistake(
    criterion="relu",
    replaces="relu_derivative",
    text="The zeros and ones are right, but they are integers (or booleans) for floating z.",
    fix="Convert the result with .astype(np.result_type(z, 0.0)), which is floating whatever z is.",
)
def slope_of_integers(z):
    return np.where(z > 0, 1, 0)


@mistake(
    criterion="relu",
    replaces="relu_derivative",
    text="The slope is the wrong way round: 1 where z is negative and 0 where it is positive.",
    fix="relu is flat on the negative side, and rises with slope 1 on the positive side.",
)
def slope_backwards(z):
    return np.where(z < 0, 1.0, 0.0)


@mistake(
    criterion="leaky-relu",
    replaces="leaky_relu",
    text="The two sides are swapped: the positive entries were multiplied by alpha and the negative ones kept.",
    fix="Keep z where it is positive and multiply by alpha elsewhere.",
)
def leak_on_the_positive_side(z, alpha=0.01):
    return np.where(z > 0, alpha * z, z)


@mistake(
    criterion="leaky-relu",
    replaces="leaky_relu",
    text="alpha has no effect: the negative side has the slope 0.01 whatever is passed.",
    fix="Multiply by the argument alpha, not by a number.",
)
def leak_fixed(z, alpha=0.01, right=leaky_relu):
    return right(z, 0.01)


@mistake(
    criterion="leaky-relu",
    replaces="leaky_relu",
    text="Without alpha the negative side has slope 0.1.",
    fix="Let the default of alpha be 0.01.",
)
def leak_of_a_tenth(z, alpha=0.1, right=leaky_relu):
    return right(z, alpha)


@mistake(
    criterion="leaky-relu",
    replaces="leaky_relu",
    text="The negative side was mirrored: its values are positive, -alpha * z.",
    fix="Multiply by alpha alone; z below 0 gives a small negative value.",
)
def leak_upwards(z, alpha=0.01):
    return np.where(z > 0, z, -alpha * z)


@mistake(
    criterion="leaky-relu",
    replaces="leaky_relu_derivative",
    text="On the negative side this is alpha * z, the value of leaky_relu, not its slope.",
    fix="The slope of alpha * z is alpha; no z is left in it.",
)
def leak_not_differentiated(z, alpha=0.01):
    return np.where(z > 0, 1.0, alpha * z)


@mistake(
    criterion="leaky-relu",
    replaces="leaky_relu_derivative",
    text="This is the slope of relu: it is 0 on the negative side, so that nothing leaks.",
    fix="Return alpha where z is negative.",
)
def leak_without_slope(z, alpha=0.01):
    return np.where(z > 0, 1.0, 0.0)


@mistake(
    criterion="elu",
    replaces="elu",
    text="The 1 was not subtracted: the negative side is alpha * exp(z), which jumps at 0.",
    fix="Subtract 1 from the exponential, so that the two sides meet at 0: alpha * (exp(z) - 1).",
)
def exponential_without_minus_one(z, alpha=1.0):
    return np.where(z > 0, z, alpha * np.exp(np.minimum(z, 0)))


@mistake(
    criterion="elu",
    replaces="elu",
    text="alpha has no effect: the negative side levels off at -1 whatever is passed.",
    fix="Multiply exp(z) - 1 by alpha.",
)
def elu_without_alpha(z, alpha=1.0, right=elu):
    return right(z)


@mistake(
    criterion="elu",
    replaces="elu",
    text="alpha stands inside the exponential, exp(alpha * z) - 1.",
    fix="Let it multiply the whole bracket: alpha * (exp(z) - 1).",
)
def alpha_in_the_exponent(z, alpha=1.0):
    return np.where(z > 0, z, np.expm1(alpha * np.minimum(z, 0)))


@mistake(
    criterion="elu",
    replaces="elu",
    text="Only the exponential was multiplied by alpha, and then 1 subtracted: alpha * exp(z) - 1.",
    fix="Put a bracket around exp(z) - 1 before multiplying by alpha.",
)
def bracket_missing(z, alpha=1.0):
    return np.where(z > 0, z, alpha * np.exp(np.minimum(z, 0)) - 1)


@mistake(
    criterion="elu",
    replaces="elu_derivative",
    text="The negative side is alpha * (exp(z) - 1): the constant -1 should have gone when differentiating.",
    fix="The slope of alpha * (exp(z) - 1) is alpha * exp(z).",
)
def constant_kept_in_the_slope(z, alpha=1.0):
    return np.where(z > 0, 1.0, alpha * np.expm1(np.minimum(z, 0)))


@mistake(
    criterion="elu",
    replaces="elu_derivative",
    text="The negative side is elu(z) + 1, which is the slope only for alpha = 1.",
    fix="Add alpha instead of 1, or write alpha * exp(z).",
)
def one_added_for_alpha(z, alpha=1.0):
    return np.where(z > 0, 1.0, alpha * np.expm1(np.minimum(z, 0)) + 1)


@mistake(
    criterion="elu",
    replaces="elu_derivative",
    text="The negative side is exp(z): the factor alpha has been lost.",
    fix="A constant factor stays when you differentiate: alpha * exp(z).",
)
def alpha_lost_in_the_slope(z, alpha=1.0):
    return np.where(z > 0, 1.0, np.exp(np.minimum(z, 0)))


@mistake(
    criterion="tanh",
    replaces="tanh",
    text="This is the sigmoid, which goes from 0 to 1.",
    fix="Return np.tanh(z), which goes from -1 to 1: it is 2 * sigmoid(2 z) - 1.",
)
def sigmoid_for_tanh(z, right=softplus_derivative):
    return right(z)


@mistake(
    criterion="tanh",
    replaces="tanh",
    text="This is 2 * sigmoid(z) - 1, which is tanh(z / 2): the curve is twice as wide.",
    fix="Double z inside: tanh(z) = 2 * sigmoid(2 z) - 1.",
)
def tanh_of_half(z):
    return np.tanh(z / 2)


@mistake(
    criterion="tanh",
    replaces="tanh_derivative",
    text="This is 1 - z²: the argument was taken for the value of tanh.",
    fix="The argument is z, the input. Compute t = tanh(z) first, then 1 - t².",
)
def argument_taken_for_the_output(z):
    return 1 - z**2


@mistake(
    criterion="tanh",
    replaces="tanh_derivative",
    text="This is 1 - tanh(z), without the square.",
    fix="Square the tanh: 1 - tanh(z)².",
)
def square_forgotten(z):
    return 1 - np.tanh(z)


@mistake(
    criterion="tanh",
    replaces="tanh_derivative",
    text="This is t (1 - t) with t = tanh(z): that rule belongs to the sigmoid.",
    fix="For tanh the slope is 1 - t².",
)
def rule_of_the_sigmoid(z):
    return np.tanh(z) * (1 - np.tanh(z))


@mistake(
    criterion="softplus",
    replaces="softplus",
    text="The logarithm is to base 2.",
    fix="Use the natural logarithm, np.log or np.log1p.",
)
def logarithm_to_base_two(z, right=softplus):
    return right(z) / math.log(2)


@mistake(
    criterion="softplus",
    replaces="softplus",
    text="The curve is mirrored: this is log(1 + exp(-z)), which falls.",
    fix="softplus rises like relu: log(1 + exp(z)).",
)
def softplus_mirrored(z, right=softplus):
    return right(-z)


@mistake(
    criterion="softplus",
    replaces="softplus",
    text="The 1 was added twice: log1p(x) is log(1 + x) already, so this is log(2 + exp(z)).",
    fix="Write np.log1p(np.exp(z)) or np.log(1 + np.exp(z)), not both.",
)
def one_added_twice(z):
    return np.log1p(1 + np.exp(z))


@mistake(
    criterion="softplus",
    replaces="softplus_derivative",
    text="This is 1 / (1 + exp(z)), the sigmoid of -z: the sign in the exponent is the other way.",
    fix="The slope of softplus rises from 0 to 1: 1 / (1 + exp(-z)).",
)
def sigmoid_mirrored(z, right=softplus_derivative):
    return right(-z)


@mistake(
    criterion="softplus",
    replaces="softplus_derivative",
    text="This is s (1 - s), the slope of the sigmoid: softplus was differentiated twice.",
    fix="The first derivative of softplus is the sigmoid s itself.",
)
def differentiated_twice(z, right=softplus_derivative):
    return right(z) * (1 - right(z))


@mistake(
    criterion="softplus",
    replaces="softplus_derivative",
    text="This is exp(z), the inner derivative alone: the slope of the logarithm is missing.",
    fix="The chain rule divides it by 1 + exp(z); that is 1 / (1 + exp(-z)).",
)
def inner_derivative_alone(z):
    return np.exp(z)


@mistake(
    criterion="swish",
    replaces="swish",
    text="This is the gate alone, the sigmoid of beta * z; it was not multiplied by z.",
    fix="Return z times the sigmoid.",
)
def gate_alone(z, beta=1.0, right=softplus_derivative):
    return right(beta * z)


@mistake(
    criterion="swish",
    replaces="swish",
    text="The gate is a tanh where a sigmoid belongs.",
    fix="Multiply z by 1 / (1 + exp(-beta z)).",
)
def tanh_for_the_gate(z, beta=1.0):
    return z * np.tanh(beta * z)


@mistake(
    criterion="swish",
    replaces="swish",
    text="beta multiplies the result, not the argument of the sigmoid.",
    fix="Put beta inside: z * sigmoid(beta * z).",
)
def beta_outside(z, beta=1.0, right=swish):
    return beta * right(z)


@mistake(
    criterion="swish",
    replaces="swish",
    text="beta has no effect: the gate is the sigmoid of z whatever is passed.",
    fix="Take the sigmoid of beta * z.",
)
def swish_without_beta(z, beta=1.0, right=swish):
    return right(z)


@mistake(
    criterion="swish",
    replaces="swish_derivative",
    text="This is the first half of the product rule, the sigmoid: z times the slope of the sigmoid is missing.",
    fix="Add beta * z * s * (1 - s).",
)
def first_half_of_the_product_rule(z, beta=1.0, right=softplus_derivative):
    return right(beta * z)


@mistake(
    criterion="swish",
    replaces="swish_derivative",
    text="This is the second half of the product rule, z times the slope of the sigmoid: the sigmoid is missing.",
    fix="Add the sigmoid s itself.",
)
def second_half_of_the_product_rule(z, beta=1.0, right=softplus_derivative):
    gate = right(beta * z)
    return beta * z * gate * (1 - gate)


@mistake(
    criterion="swish",
    replaces="swish_derivative",
    text="The second term lacks the factor beta, the inner derivative of sigmoid(beta * z).",
    fix="Multiply z * s * (1 - s) by beta.",
)
def inner_derivative_forgotten(z, beta=1.0, right=softplus_derivative):
    gate = right(beta * z)
    return gate + z * gate * (1 - gate)


@mistake(
    criterion="gelu",
    replaces="gelu",
    text="This is z * sigmoid(1.702 z), a coarse approximation: it is off by up to 0.02.",
    fix="Use erf, or the approximation by tanh, which is off by less than 0.0005.",
)
def gelu_by_a_sigmoid(z, right=softplus_derivative):
    return z * right(1.702 * z)


@mistake(
    criterion="gelu",
    replaces="gelu",
    text="This is the share of the normal distribution alone; it was not multiplied by z.",
    fix="Return z times the share.",
)
def share_alone(z):
    return _share_below(z)


@mistake(
    criterion="gelu",
    replaces="gelu",
    text="erf was taken of z; the normal distribution needs erf(z / √2).",
    fix="Divide z by the square root of 2 inside of erf.",
)
def root_of_two_forgotten(z):
    return z * _share_below(z * math.sqrt(2))


@mistake(
    criterion="gelu",
    replaces="gelu",
    text="The 1 + is missing: this is z * erf(z / √2) / 2, which is positive on both sides.",
    fix="erf goes from -1 to 1, a share from 0 to 1: take (1 + erf(z / √2)) / 2.",
)
def one_plus_forgotten(z):
    return z * (_share_below(z) - 0.5)


@mistake(
    criterion="gelu",
    replaces="gelu",
    text="In the approximation by tanh, z was squared where a cube belongs.",
    fix="Write z + 0.044715 * z**3 inside of tanh.",
)
def square_for_cube(z):
    return z / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**2)))


@mistake(
    criterion="gelu",
    replaces="gelu",
    text="In the approximation by tanh, the factor is 2 / π and not its square root.",
    fix="Multiply z + 0.044715 * z**3 by math.sqrt(2 / math.pi), about 0.798.",
)
def root_of_two_over_pi_forgotten(z):
    return z / 2 * (1 + np.tanh(2 / math.pi * (z + 0.044715 * z**3)))


@mistake(
    criterion="gelu",
    replaces="gelu_derivative",
    text="This is the share of the normal distribution: the second half of the product rule is missing.",
    fix="Add z times the density, exp(-z²/2) / √(2π).",
)
def gelu_slope_without_density(z):
    return _share_below(z)


@mistake(
    criterion="gelu",
    replaces="gelu_derivative",
    text="The density lacks its factor 1 / √(2π): at 0 it has to be 0.399, not 1.",
    fix="Divide exp(-z²/2) by math.sqrt(2 * math.pi).",
)
def density_not_normalised(z):
    return _share_below(z) + z * np.exp(-z * z / 2)


@mistake(
    criterion="gelu",
    replaces="gelu_derivative",
    text="The density is exp(-z²) / √(2π); the exponent lacks the division by 2.",
    fix="Write exp(-z² / 2).",
)
def half_forgotten_in_the_exponent(z):
    return _share_below(z) + z * np.exp(-z * z) / math.sqrt(2 * math.pi)


@mistake(
    criterion="gelu",
    replaces="gelu_derivative",
    text="This is the slope of the tanh form without its inner derivative: 1 - tanh² was multiplied by z / 2 alone.",
    fix="By the chain rule, multiply by the slope of the inside as well: √(2/π) (1 + 3 · 0.044715 z²).",
)
def tanh_form_without_inner_derivative(z):
    gate = np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3))
    return (1 + gate) / 2 + z / 2 * (1 - gate**2)


@mistake(
    criterion="gelu",
    replaces="gelu_derivative",
    text="In the slope of the tanh form, the cube was differentiated to z² without its factor 3.",
    fix="The slope of 0.044715 z³ is 3 · 0.044715 z².",
)
def factor_three_forgotten(z):
    root = math.sqrt(2 / math.pi)
    gate = np.tanh(root * (z + 0.044715 * z**3))
    return (1 + gate) / 2 + z / 2 * (1 - gate**2) * root * (1 + 0.044715 * z**2)


@mistake(
    criterion="mish",
    replaces="mish",
    text="This is the gate alone, tanh(softplus(z)); it was not multiplied by z.",
    fix="Return z times the gate.",
)
def mish_gate_alone(z, right=softplus):
    return np.tanh(right(z))


@mistake(
    criterion="mish",
    replaces="mish",
    text="The two functions are in the wrong order: this is z * softplus(tanh(z)).",
    fix="softplus comes first, and tanh is taken of its result.",
)
def softplus_of_tanh(z, right=softplus):
    return z * right(np.tanh(z))


@mistake(
    criterion="mish",
    replaces="mish",
    text="The tanh was left out: this is z * softplus(z).",
    fix="Take tanh of softplus(z), so that the gate stays between 0 and 1.",
)
def gate_without_tanh(z, right=softplus):
    return z * right(z)


@mistake(
    criterion="mish",
    replaces="mish_derivative",
    text="This is the first half of the product rule, tanh(softplus(z)); z times the slope of that is missing.",
    fix="Add z * (1 - t²) * sigmoid(z).",
)
def mish_slope_without_second_half(z, right=softplus):
    return np.tanh(right(z))


@mistake(
    criterion="mish",
    replaces="mish_derivative",
    text="The chain rule stopped one step early: the slope of softplus, the sigmoid, is missing in the second term.",
    fix="Multiply z * (1 - t²) by softplus_derivative(z).",
)
def chain_cut_before_softplus(z, right=softplus):
    gate = np.tanh(right(z))
    return gate + z * (1 - gate**2)


@mistake(
    criterion="mish",
    replaces="mish_derivative",
    text="The second term lacks 1 - t², the slope of tanh.",
    fix="Multiply z * sigmoid(z) by 1 - t² with t = tanh(softplus(z)).",
)
def slope_of_tanh_left_out(z, right=softplus, sigmoid=softplus_derivative):
    return np.tanh(right(z)) + z * sigmoid(z)


@mistake(
    criterion="mish",
    replaces="mish_derivative",
    text="This is a difference quotient with a step of 1e-3, which is right to six digits only.",
    fix="Differences are for checking. Write the derivative down by the product and the chain rule.",
)
def differences_for_a_derivative(z, right=mish):
    return (right(z + 1e-3) - right(z - 1e-3)) / 2e-3


@mistake(
    criterion="curves",
    replaces="relu_derivative",
    text="The slope of relu was found by a division, which at z = 0 is 0 / 0, and becomes NaN.",
    fix="Compare z with 0 instead of dividing by it.",
)
def slope_as_a_quotient(z, right=relu):
    return right(z) / z


@mistake(
    criterion="curves",
    replaces="leaky_relu_derivative",
    text="At z = 0 the slope of leaky_relu is 0: both comparisons are strict, so that 0 belongs to neither side.",
    fix="Let one side be z > 0 and the other everything else.",
)
def zero_on_no_side_of_leaky_relu(z, alpha=0.01):
    slope = np.where(np.less(z, 0), alpha, np.where(np.greater(z, 0), 1.0, 0.0))
    return slope.astype(np.result_type(z, 0.0))


@mistake(
    criterion="curves",
    replaces="elu_derivative",
    text="At z = 0 the slope of elu is 0: both comparisons are strict, so that 0 belongs to neither side.",
    fix="Let one side be z > 0 and the other everything else.",
)
def zero_on_no_side_of_elu(z, alpha=1.0):
    left = alpha * np.exp(np.minimum(z, 0))
    slope = np.where(np.less(z, 0), left, np.where(np.greater(z, 0), 1.0, 0.0))
    return slope.astype(np.result_type(z, 0.0))


@mistake(
    criterion="curves",
    replaces="gelu_derivative",
    text="gelu is written with erf, and this is the slope of the approximation by tanh: they differ by up to 0.0009.",
    fix="Differentiate the form that your gelu uses: the share of the normal distribution plus z times the density.",
)
def slope_of_the_tanh_form(z):
    root = math.sqrt(2 / math.pi)
    gate = np.tanh(root * (z + 0.044715 * z**3))
    return (1 + gate) / 2 + z / 2 * (1 - gate**2) * root * (1 + 3 * 0.044715 * z**2)


@mistake(
    criterion="curves",
    replaces="gelu",
    text="gelu is the approximation by tanh, and its derivative belongs to the form with erf.",
    fix="Use one form for both: erf in gelu, or the slope of the tanh form in gelu_derivative.",
)
def curve_of_the_tanh_form(z):
    return z / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z**3)))


@mistake(
    criterion="arrays",
    replaces="relu",
    text="The negative entries of the argument itself were set to 0: whoever passed the array has lost them.",
    fix="Build a new array, with np.maximum or np.where, or work on a copy.",
)
def relu_into_the_argument(z):
    z[z < 0] = 0
    return z


@mistake(
    criterion="arrays",
    replaces="leaky_relu",
    text="The argument itself was changed, its negative entries multiplied by alpha: whoever passed it has lost them.",
    fix="Build a new array, with np.where, or work on a copy.",
)
def leaky_relu_into_the_argument(z, alpha=0.01):
    z[z < 0] = alpha * z[z < 0]
    return z


@mistake(
    criterion="arrays",
    replaces="elu",
    text="The result has the dtype of z, so that for integers the fractions were cut off.",
    fix="Use np.where, which finds a floating dtype by itself, or convert z to float before you copy it.",
)
def elu_cut_to_integers(z, alpha=1.0):
    result = np.array(z)
    result[result < 0] = alpha * np.expm1(result[result < 0])
    return result


@mistake(
    criterion="arrays",
    replaces="relu_derivative",
    text="For integer z the zeros and ones are integers as well: the result was given the dtype of z.",
    fix="Convert it with .astype(np.result_type(z, 0.0)): float32 for float32, and float64 for integers.",
)
def relu_slope_in_the_dtype_of_z(z):
    return np.where(z > 0, 1, 0).astype(np.asarray(z).dtype)


@mistake(
    criterion="arrays",
    replaces="swish",
    text="The result was written into np.zeros(...), which is float64, also where z is float32.",
    fix="Return z * sigmoid directly, or give np.zeros the dtype of z.",
)
def swish_always_double(z, beta=1.0, right=swish):
    result = np.zeros(np.shape(z))
    result += right(z, beta)
    return result


@mistake(
    criterion="arrays",
    replaces="gelu",
    text="The loop over z takes one number after the other, which works for vectors only: of a table it gets rows.",
    fix="Wrap math.erf with np.vectorize (and otypes=[float]), which visits every number of any array, or takes one.",
)
def gelu_of_vectors_only(z):
    return np.array([value * (1 + math.erf(value / math.sqrt(2))) / 2 for value in z], dtype=_floating_type(z))


@mistake(
    criterion="arrays",
    replaces="softplus",
    text="The values are right, but in one long row: the shape of z has been lost.",
    fix="Reshape the result to the shape of z, or use np.log1p and np.exp, which keep it.",
)
def softplus_flattened(z, right=softplus):
    return np.ravel(right(z))


@mistake(
    criterion="arrays",
    replaces="elu_derivative",
    text="The boolean index needs an array: for a plain number there is nothing to index.",
    fix="Use np.where, which takes numbers too, or begin with z = np.asarray(z).",
)
def elu_derivative_of_arrays_only(z, alpha=1.0):
    result = np.ones_like(z, dtype=_floating_type(z))
    result[z < 0] = alpha * np.exp(z[z < 0])
    return result


@mistake(
    criterion="extreme-inputs",
    replaces="tanh",
    text="exp(z) or exp(-z) overflowed to infinity, and infinity divided by infinity is NaN.",
    fix="Use np.tanh, or divide by the larger of the two exponentials before you compute them.",
)
def tanh_of_four_exponentials(z):
    return (np.exp(z) - np.exp(-z)) / (np.exp(z) + np.exp(-z))


@mistake(
    criterion="extreme-inputs",
    replaces="softplus",
    text="exp(z) overflowed to infinity for large z, and the logarithm of that is infinite too.",
    fix="Write max(z, 0) + log1p(exp(-|z|)): its exponent is never positive.",
)
def softplus_overflows(z):
    return np.log(1 + np.exp(z))


@mistake(
    criterion="extreme-inputs",
    replaces="softplus",
    text="Far below 0 the result is 0: the exponential is so small that adding it to 1 changes nothing.",
    fix="Use np.log1p(x) for log(1 + x); it keeps the digits of a small x.",
)
def softplus_loses_digits(z):
    return np.maximum(z, 0) + np.log(1 + np.exp(-np.abs(z)))


@mistake(
    criterion="extreme-inputs",
    replaces="softplus",
    text="z was clipped before the exponential, so that softplus(1000) is the softplus of the limit, about 30.",
    fix="Take z itself where it is large, as in max(z, 0) + log1p(exp(-|z|)).",
)
def softplus_clipped(z):
    return np.log1p(np.exp(np.clip(z, -30, 30)))


@mistake(
    criterion="extreme-inputs",
    replaces="softplus_derivative",
    text="exp(z) / (1 + exp(z)) is infinity divided by infinity for large z, which is NaN.",
    fix="Use (1 + tanh(z / 2)) / 2, or 1 / (1 + exp(-z)) for z above 0 and this form below.",
)
def sigmoid_overflows(z):
    return np.exp(z) / (1 + np.exp(z))


@mistake(
    criterion="extreme-inputs",
    replaces="elu",
    text="The exponential of a large positive z is infinite, and multiplied by a mask of 0 it is NaN.",
    fix="Choose with np.where instead of multiplying by masks, and take the exponential of np.minimum(z, 0).",
)
def elu_by_multiplied_masks(z, alpha=1.0):
    return (z > 0) * z + (z <= 0) * alpha * (np.exp(z) - 1)


@mistake(
    criterion="extreme-inputs",
    replaces="elu",
    text="For tiny negative z, exp(z) - 1 has few right digits left: exp(z) had to be rounded next to 1.",
    fix="Use np.expm1(z), which is exp(z) - 1 with all its digits.",
)
def elu_loses_digits(z, alpha=1.0):
    return np.where(z > 0, z, alpha * (np.exp(np.minimum(z, 0)) - 1))


@mistake(
    criterion="extreme-inputs",
    replaces="elu_derivative",
    text="The exponential of a large positive z is infinite, and multiplied by a mask of 0 it is NaN.",
    fix="Choose with np.where instead of multiplying by masks, and take the exponential of np.minimum(z, 0).",
)
def elu_slope_by_multiplied_masks(z, alpha=1.0):
    return (z > 0) + (z <= 0) * alpha * np.exp(z)


@mistake(
    criterion="extreme-inputs",
    replaces="swish_derivative",
    text="exp(-z) overflowed for z far below 0, in numerator and denominator, and the quotient is NaN.",
    fix="Write s + beta * z * s * (1 - s) with a sigmoid s that does not overflow.",
)
def swish_slope_overflows(z, beta=1.0):
    power = np.exp(-beta * z)
    return (1 + power + beta * z * power) / (1 + power) ** 2


@mistake(
    criterion="extreme-inputs",
    replaces="mish",
    text="The square of exp(z) overflowed, and infinity divided by infinity is NaN.",
    fix="Use z * np.tanh(softplus(z)) with a softplus that does not overflow.",
)
def mish_as_a_quotient(z):
    power = np.exp(z)
    return z * (power * power + 2 * power) / (power * power + 2 * power + 2)


@mistake(
    criterion="perceptron-predict",
    replaces="perceptron_predict",
    text="A sum of exactly 0 gives class 1: the comparison is >= 0.",
    fix="Compare with > 0, so that a sum of 0 belongs to class 0.",
)
def boundary_belongs_to_class_one(X, weights, bias):
    if X.ndim != 2 or weights.shape != X.shape[1:]:
        raise ValueError("weights do not fit X")
    return (X @ weights + bias >= 0).astype(np.int64)


@mistake(
    criterion="perceptron-predict",
    replaces="perceptron_predict",
    text="These are the sums themselves; they were not compared with 0.",
    fix="Return 1 where the sum is above 0, otherwise 0.",
)
def sums_for_classes(X, weights, bias):
    if X.ndim != 2 or weights.shape != X.shape[1:]:
        raise ValueError("weights do not fit X")
    return X @ weights + bias


@mistake(
    criterion="perceptron-predict",
    replaces="perceptron_predict",
    text="The classes are booleans, True and False, not the integers 1 and 0.",
    fix="Convert the comparison with astype(int).",
)
def booleans_for_classes(X, weights, bias, right=perceptron_predict):
    return right(X, weights, bias) > 0


@mistake(
    criterion="perceptron-predict",
    replaces="perceptron_predict",
    text="The classes are -1 and 1, not 0 and 1.",
    fix="Return 0 where the sum is not above 0.",
)
def signs_for_classes(X, weights, bias, right=perceptron_predict):
    return 2 * right(X, weights, bias) - 1


@mistake(
    criterion="perceptron-predict",
    replaces="perceptron_predict",
    text="The bias was not added: every line goes through the origin.",
    fix="Compare X @ weights + bias with 0.",
)
def bias_left_out(X, weights, bias, right=perceptron_predict):
    return right(X, weights, 0.0)


@mistake(
    criterion="perceptron-predict",
    replaces="perceptron_predict",
    text="The shapes are not compared: weights of shape (features, 1) give a column, and stacks of samples a table.",
    fix="Raise ValueError unless X has two axes and weights has the shape (features,).",
)
def shapes_not_compared(X, weights, bias):
    return (X @ weights + bias > 0).astype(np.int64)


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="All predictions of an epoch were made with the weights of its beginning, and the steps added at its end.",
    fix="Change the weights at once after each wrong prediction; the next sample sees the new ones.",
)
def one_step_an_epoch(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        surprise = y.astype(weights.dtype) - (X @ weights + bias > 0)
        weights, bias = weights + learning_rate * surprise @ X, bias + learning_rate * float(surprise.sum())
        errors.append(int(np.abs(surprise).sum()))
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The steps have the wrong sign: prediction - label was added, so that each error grows.",
    fix="Add learning_rate * (label - prediction) times the sample.",
)
def steps_away(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            surprise = int(label) - int(sample @ weights + bias > 0)
            weights, bias = weights - learning_rate * surprise * sample, bias - learning_rate * surprise
            errors[-1] += abs(surprise)
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The bias stayed at 0: only the weights were changed.",
    fix="Add learning_rate * (label - prediction) to the bias too.",
)
def bias_never_learnt(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, errors = np.zeros(X.shape[1], _floating_type(X)), []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            surprise = int(label) - int(sample @ weights > 0)
            weights = weights + learning_rate * surprise * sample
            errors[-1] += abs(surprise)
    return weights, 0.0, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The learning rate was not used: every step has size 1.",
    fix="Multiply both steps, that of the weights and that of the bias, by learning_rate.",
)
def learning_rate_unused(X, y, learning_rate, num_epochs, right=perceptron_train):
    right(X, y, learning_rate, num_epochs)
    return right(X, y, 1.0, num_epochs)


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="Every step has twice the size of learning_rate, as it has with labels of -1 and 1.",
    fix="Add learning_rate * (label - prediction), both 0 or 1, times the sample.",
)
def steps_of_twice_the_size(X, y, learning_rate, num_epochs, right=perceptron_train):
    return right(X, y, 2 * learning_rate, num_epochs)


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The label was left one of NumPy's numbers: for unsigned ones 0 - 1 is huge, and a step by them is float64.",
    fix="Take int(label) before you subtract the prediction.",
)
def label_left_as_it_came(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            surprise = label - int(sample @ weights + bias > 0)
            weights, bias = weights + learning_rate * surprise * sample, bias + learning_rate * surprise
            errors[-1] += int(surprise != 0)
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The weights are float64 for float32 samples: they began so, or a step of float64 made them so; "
    "learning_rate times a label of NumPy's is one.",
    fix="Begin with np.zeros of the samples' dtype, and take the step with int(label), a number of Python's.",
)
def weights_always_double(X, y, learning_rate, num_epochs, right=perceptron_train):
    weights, bias, errors = right(X, y, learning_rate, num_epochs)
    return weights.astype(np.float64), bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The step of the bias was not multiplied by the learning rate.",
    fix="Add learning_rate * (label - prediction) to the bias, as to the weights.",
)
def bias_at_full_rate(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            surprise = int(label) - int(sample @ weights + bias > 0)
            weights, bias = weights + learning_rate * surprise * sample, bias + surprise
            errors[-1] += abs(surprise)
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The step is the label minus the raw sum, so that right answers move the weights too: that is the delta rule.",
    fix="Turn the sum into a prediction of 0 or 1 before you subtract it from the label.",
)
def raw_sum_subtracted(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            total = sample @ weights + bias
            errors[-1] += int((total > 0) != label)
            weights = weights + learning_rate * (float(label) - total) * sample
            bias = bias + learning_rate * (float(label) - total)
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="Training ended with the first epoch without an error, so that errors is shorter than num_epochs.",
    fix="Run all epochs; those after it change nothing and add a 0 to errors.",
)
def stopped_early(X, y, learning_rate, num_epochs, right=perceptron_train):
    weights, bias, errors = right(X, y, learning_rate, num_epochs)
    return weights, bias, errors[: errors.index(0) + 1] if 0 in errors else errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The errors were counted after each epoch, with the weights of its end.",
    fix="Count a prediction where its sample is visited, before the weights change.",
)
def errors_counted_afterwards(X, y, learning_rate, num_epochs, right=perceptron_train):
    errors = []
    for epochs in range(1, num_epochs + 1):
        weights, bias, _ = right(X, y, learning_rate, epochs)
        errors.append(int(np.sum((X @ weights + bias > 0) != y)))
    weights, bias, _ = right(X, y, learning_rate, num_epochs)
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="The count of errors was not set back to 0 before each epoch: it adds up over all of them.",
    fix="Start the count anew in each epoch.",
)
def errors_add_up(X, y, learning_rate, num_epochs, right=perceptron_train):
    weights, bias, errors = right(X, y, learning_rate, num_epochs)
    return weights, bias, [sum(errors[: epoch + 1]) for epoch in range(num_epochs)]


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="Only samples of class 1 that were missed moved the weights; wrong answers 1 were left as they are.",
    fix="Take a step away from a sample of class 0 that was predicted as 1: label - prediction is -1 there.",
)
def only_misses_corrected(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            surprise = int(label) - int(sample @ weights + bias > 0)
            weights = weights + learning_rate * max(surprise, 0) * sample
            bias = bias + learning_rate * max(surprise, 0)
            errors[-1] += abs(surprise)
    return weights, bias, errors


@mistake(
    criterion="perceptron-train",
    replaces="perceptron_train",
    text="Labels other than 0 and 1 are accepted: with -1 and 1 the steps have twice the size, or never end.",
    fix="Raise ValueError where a label is neither 0 nor 1.",
)
def labels_not_checked(X, y, learning_rate, num_epochs, check=perceptron_train):
    check(X, y == 1, learning_rate, num_epochs)
    weights, bias, errors = np.zeros(X.shape[1], _floating_type(X)), 0.0, []
    for _ in range(num_epochs):
        errors.append(0)
        for sample, label in zip(X, y):
            surprise = float(label) - int(sample @ weights + bias > 0)
            weights += learning_rate * surprise * sample
            bias += learning_rate * surprise
            errors[-1] += int(surprise != 0)
    return weights, bias, errors


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="This is OR: the pair (1, 1) gives 1 as well.",
    fix="Let a second unit notice that both are 1, and subtract it twice.",
)
def or_for_xor(x, right=xor_network):
    right(x)
    return np.minimum(x[..., 0] + x[..., 1], 1)


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="This is AND: it gives 1 only for the pair (1, 1).",
    fix="The output is 1 where exactly one of the two is 1.",
)
def and_for_xor(x, right=xor_network):
    right(x)
    return x[..., 0] * x[..., 1]


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="The output is turned round: 1 where the two are equal.",
    fix="Change the signs of the second layer, and its bias.",
)
def equality_for_xor(x, right=xor_network):
    return 1 - right(x)


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="There is no activation between the layers: two linear layers are one linear layer, here 2 - x1 - x2.",
    fix="Apply relu (or a step) to the hidden units before the second layer.",
)
def no_activation_between_the_layers(x, right=xor_network):
    right(x)
    return (x @ np.array([[1.0, 1.0], [1.0, 1.0]]) + np.array([0.0, -1.0])) @ np.array([1.0, -2.0])


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="The result keeps an axis of size 1 at its end: one column, where one number for each pair was asked for.",
    fix="Give the second layer weights of shape (2,), or take the last axis away from the result.",
)
def a_column_for_numbers(x, right=xor_network):
    return np.asarray(right(x))[..., np.newaxis]


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="x[0] and x[1] are the first two rows of a batch, not the two bits of each pair.",
    fix="Take the bits from the last axis: x[..., 0] and x[..., 1], or a product with a matrix.",
)
def rows_for_bits(x, right=xor_network):
    right(x)
    return np.maximum(x[0] + x[1], 0) - 2 * np.maximum(x[0] + x[1] - 1, 0)


@mistake(
    criterion="xor-network",
    replaces="xor_network",
    text="The size of the last axis is not checked: of three numbers the third is ignored.",
    fix="Raise ValueError unless x.shape[-1] is 2.",
)
def pairs_not_checked(x):
    total = x[..., 0] + x[..., 1]
    return np.maximum(total, 0) - 2 * np.maximum(total - 1, 0)
