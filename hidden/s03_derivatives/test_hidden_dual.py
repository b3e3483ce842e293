"""Hidden tests of stage s03: forward mode against complex steps."""

import operator

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, plain_array
from hidden.s03_derivatives.oracles import COMPLEX, assert_number, complex_step, draw_expression, draw_numbers

pytestmark = pytest.mark.values
KINDS = [float, *(pytest.param(kind, marks=pytest.mark.dtype) for kind in (np.float64, np.float32))]  # of numbers

FUNCTIONS = ("sin", "cos", "exp", "log", "tanh", "relu")
FOUR = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
IN_PLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv}


def assert_dual(dual, value, derivative, name):
    """Assert what a Dual holds, in double precision or as an int."""
    assert_number(dual.value, value, name=f"({name}).value")
    assert_number(dual.derivative, derivative, name=f"({name}).derivative")


@pytest.mark.criterion("dual-arithmetic")
class TestDualArithmetic:
    @pytest.mark.parametrize("sign", FOUR, ids=["sum", "difference", "product", "quotient"])
    def test_two_duals(self, learner, rng, sign):
        operate = FOUR[sign]
        for _ in range(3):
            a, b, slope_a, slope_b = draw_numbers(rng, 4)
            value, (by_a, by_b) = complex_step(lambda f, x, y: operate(x, y), (a, b))
            found = operate(learner.Dual(a, slope_a), learner.Dual(b, slope_b))
            assert_dual(found, value, by_a * slope_a + by_b * slope_b, f"x {sign} y")

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_dual_and_a_number(self, learner, rng, kind):
        a, slope, number = draw_numbers(rng, 3)
        number = kind(number)
        x = learner.Dual(a, slope)
        for sign, operate in FOUR.items():
            value, (by_a,) = complex_step(lambda f, x, operate=operate: operate(x, float(number)), (a,))
            assert_dual(operate(x, number), value, by_a * slope, f"x {sign} number")
            value, (by_a,) = complex_step(lambda f, x, operate=operate: operate(float(number), x), (a,))
            assert_dual(operate(number, x), value, by_a * slope, f"number {sign} x")

    def test_a_rational_function(self, learner, rng):
        a, b = draw_numbers(rng, 2)

        def build(f, x, y):
            return (3 * x - y / 2) / (x * x + y * y + 1) - (1 - -x) * (x + 2 / (y * y + 2))

        value, (by_a, by_b) = complex_step(build, (a, b))
        assert_dual(build(None, learner.Dual(a, 1.0), learner.Dual(b, 0.0)), value, by_a, "f, by x")
        assert_dual(build(None, learner.Dual(a, 0.0), learner.Dual(b, 1.0)), value, by_b, "f, by y")

    @pytest.mark.purity
    def test_operands_stay_as_they_are(self, learner, rng):
        a, b, slope_a, slope_b = draw_numbers(rng, 4)
        x, y = learner.Dual(a, slope_a), learner.Dual(b, slope_b)
        for operate in FOUR.values():
            operate(x, y), operate(x, 2.0), operate(2.0, x)
        -x  # noqa: B018
        assert_dual(x, a, slope_a, "x")
        assert_dual(y, b, slope_b, "y")

    @pytest.mark.purity
    @pytest.mark.parametrize("sign", IN_PLACE, ids=["sum", "difference", "product", "quotient"])
    def test_assignment_with_an_operator_gives_a_new_dual(self, learner, rng, sign):
        a, b, slope_a, slope_b = draw_numbers(rng, 4)
        x, y = learner.Dual(a, slope_a), learner.Dual(b, slope_b)
        found = IN_PLACE[sign](x, y)
        value, (by_a, by_b) = complex_step(lambda f, x, y: FOUR[sign](x, y), (a, b))
        assert_dual(found, value, by_a * slope_a + by_b * slope_b, f"x {sign}= y")
        assert_dual(x, a, slope_a, f"what x was before x {sign}= y")

    @pytest.mark.dtype
    def test_single_precision_does_not_stay(self, learner, rng):
        number = int(rng.integers(2, 9))
        x = learner.Dual(np.int64(number), np.float32(0.5))
        assert_dual(x, number, 0.5, "x")
        assert_dual(learner.Dual(1, number), 1.0, number, "x")

    @pytest.mark.refusals
    def test_arrays_are_refused(self, learner, rng):
        for value, derivative in ((rng.normal(size=2), 1.0), (1.0, rng.normal(size=1)), (rng.normal(size=1), 1.0)):
            with pytest.raises(ValueError):
                learner.Dual(value, derivative)


@pytest.mark.criterion("dual-functions")
class TestDualFunctions:
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_any_point(self, learner, rng, name):
        for a in (float(rng.uniform(0.2, 3)), float(rng.uniform(-3, -0.2))):
            a, (slope,) = abs(a) if name == "log" else a, draw_numbers(rng, 1)
            value, (by_a,) = complex_step(lambda f, x: getattr(f, name)(x), (a,))
            found = getattr(learner, name)(learner.Dual(a, slope))
            assert_dual(found, value, by_a * slope, f"{name}(x)")

    @pytest.mark.dtype
    def test_relu_on_both_sides(self, learner, rng):
        a, slope = float(rng.uniform(0.2, 3)), 2.0
        assert_dual(learner.relu(learner.Dual(a, slope)), a, slope, "relu(x)")
        assert_dual(learner.relu(learner.Dual(-a, slope)), 0.0, 0.0, "relu(x)")

    @pytest.mark.dtype
    @pytest.mark.parametrize("name", FUNCTIONS)
    def test_a_number_gives_a_number(self, learner, rng, name):
        for number in (float(rng.uniform(0.2, 3)), float(rng.uniform(-3, -0.2))):
            number = abs(number) if name == "log" else number
            found = getattr(learner, name)(number)
            if not isinstance(found, (int, float)):
                raise AssertionError(f"{name}({number:.3g}): expected a number, got one {type(found).__name__}")
            assert_number(found, getattr(COMPLEX, name)(number).real, name=f"{name}(number)")

    def test_functions_of_functions(self, learner, rng):
        a, b = draw_numbers(rng, 2)

        def build(f, x, y):
            return f.log(f.exp(f.sin(x * y)) + f.cos(x / 2) + 2) * f.tanh(y - x) - f.relu(y * y * x)

        value, (by_a, by_b) = complex_step(build, (a, b))
        assert_dual(build(learner, learner.Dual(a, 1.0), learner.Dual(b, 0.0)), value, by_a, "f, by x")
        assert_dual(build(learner, learner.Dual(a, 0.0), learner.Dual(b, 1.0)), value, by_b, "f, by y")

    @pytest.mark.edges
    def test_tanh_of_large_numbers(self, learner, rng):
        for sign in (-1.0, 1.0):
            far = sign * float(rng.uniform(800, 2000))
            assert_dual(learner.tanh(learner.Dual(far, 2.0)), sign, 0.0, "tanh(x)")
            assert_array(learner.tanh(far), sign, name="tanh(number)")

    @pytest.mark.dtype
    def test_relu_of_integers_is_a_float(self, learner, rng):
        number = int(rng.integers(2, 9))
        assert_equal(learner.relu(number), float(number))
        assert_equal(plain_array(learner.relu(-number)) + 0.0, 0.0)

    @pytest.mark.refusals
    def test_log_of_nothing_and_below_is_refused(self, learner, rng):
        for number in (0.0, -float(rng.uniform(0.1, 3))):
            with pytest.raises(ValueError):
                learner.log(learner.Dual(number, 1.0))
            with pytest.raises(ValueError):
                learner.log(number)


@pytest.mark.criterion("dual-powers")
class TestDualPowers:
    def test_any_number_as_exponent(self, learner, rng):
        for exponent in (3, -2, 1, float(rng.uniform(0.2, 3)), -float(rng.uniform(0.2, 3)), np.float64(2.5)):
            a, (slope,) = float(rng.uniform(0.5, 2)), draw_numbers(rng, 1)
            value, (by_a,) = complex_step(lambda f, x, n=exponent: x ** float(n), (a,))
            assert_dual(learner.Dual(a, slope) ** exponent, value, by_a * slope, f"x ** {exponent}")

    def test_negative_base_with_a_whole_exponent(self, learner, rng):
        a, slope = -float(rng.uniform(0.5, 2)), 2.0
        for exponent, value, by_a in ((3, a * a * a, 3 * a * a), (2.0, a * a, 2 * a), (-1, 1 / a, -1 / a / a)):
            assert_dual(learner.Dual(a, slope) ** exponent, value, by_a * slope, f"x ** {exponent}")

    @pytest.mark.edges
    def test_zero_to_any_power_that_has_a_slope(self, learner):
        zero = learner.Dual(0.0, 2.0)
        for exponent, value, derivative in ((0, 1.0, 0.0), (0.0, 1.0, 0.0), (1, 0.0, 2.0), (2.5, 0.0, 0.0)):
            assert_dual(zero**exponent, value, derivative, f"0 ** {exponent}")

    def test_exponents_that_vary(self, learner, rng):
        a, b = rng.uniform(0.5, 2, size=2).tolist()
        slope_a, slope_b = draw_numbers(rng, 2)
        x, y = learner.Dual(a, slope_a), learner.Dual(b, slope_b)
        value, (by_a, by_b) = complex_step(lambda f, x, y: x**y, (a, b))
        assert_dual(x**y, value, by_a * slope_a + by_b * slope_b, "x ** y")
        value, (by_b,) = complex_step(lambda f, y: a**y, (b,))
        for base in (a, np.float64(a)):
            assert_dual(base**y, value, by_b * slope_b, "number ** y")

    def test_whole_expressions(self, learner, rng):
        numbers = draw_numbers(rng, 2)
        for num_steps in (4, 8):
            build = draw_expression(rng, num_steps)
            value, slopes = complex_step(build, numbers)
            for place, slope in enumerate(slopes):
                duals = [learner.Dual(number, float(i == place)) for i, number in enumerate(numbers)]
                result = build(learner, *duals)
                assert_array(result.value, value, name="value of an expression", atol=1e-9)
                assert_array(result.derivative, slope, name=f"its derivative by number {place}", atol=1e-8)

    @pytest.mark.refusals
    def test_powers_without_a_real_value_are_refused(self, learner, rng):
        below = -float(rng.uniform(0.5, 2))
        for exponent in (0.5, -1.5, 1 / 3):
            with pytest.raises(ValueError):
                learner.Dual(below, 1.0) ** exponent
        for base in (below, 0.0):
            with pytest.raises(ValueError):
                learner.Dual(base, 1.0) ** learner.Dual(2.0, 1.0)
            with pytest.raises(ValueError):
                base ** learner.Dual(2.0, 1.0)
