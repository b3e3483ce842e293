"""Hidden tests of stage s03: reverse mode against complex steps, one operation at a time."""

import operator

import numpy as np
import pytest

from grader.testing import assert_array
from hidden.s03_derivatives.oracles import FOUR, assert_number, check_variables, draw_numbers

pytestmark = pytest.mark.values
KINDS = [float, *(pytest.param(kind, marks=pytest.mark.dtype) for kind in (np.float64, np.float32))]  # of numbers
IN_PLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv}


@pytest.mark.criterion("variable-arithmetic")
class TestVariableArithmetic:
    @pytest.mark.parametrize("sign", FOUR, ids=["sum", "difference", "product", "quotient"])
    def test_two_variables(self, learner, rng, sign):
        for _ in range(3):
            check_variables(learner, lambda f, x, y: FOUR[sign](x, y), draw_numbers(rng, 2), f"x {sign} y")

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_variable_and_a_number(self, learner, rng, kind):
        number = kind(draw_numbers(rng, 1)[0])
        for sign, operate in FOUR.items():

            def left(f, x, operate=operate):
                return operate(x, float(number) if isinstance(x, complex) else number)

            def right(f, x, operate=operate):
                return operate(float(number) if isinstance(x, complex) else number, x)

            check_variables(learner, left, draw_numbers(rng, 1), f"x {sign} number")
            check_variables(learner, right, draw_numbers(rng, 1), f"number {sign} x")

    def test_a_tree_in_which_every_variable_is_used_once(self, learner, rng):
        def build(f, a, b, c, d, e):
            return ((a + b) * (3 - c) / (d - 7.5)) - (2 / (e + 5) * 4)

        check_variables(learner, build, draw_numbers(rng, 5))

    def test_only_what_the_output_depends_on_gets_a_grad(self, learner, rng):
        a, b = (learner.Variable(number) for number in draw_numbers(rng, 2))
        used, unused = a * 2, a + b
        (used * 3).backward()
        assert_array(used.grad, 3.0, name="grad of 2 a")
        assert_array(a.grad, 6.0, name="grad of a")
        for name, variable in (("b", b), ("a + b", unused)):
            assert_number(variable.grad, 0.0, name=f"grad of {name}, which the output does not depend on")

    @pytest.mark.edges
    def test_a_variable_by_itself(self, learner, rng):
        x = learner.Variable(draw_numbers(rng, 1)[0])
        x.backward()
        assert_array(x.grad, 1.0, name="grad of a variable that was computed from nothing")

    @pytest.mark.purity
    def test_operands_keep_their_values(self, learner, rng):
        a, b = draw_numbers(rng, 2)
        x, y = learner.Variable(a), learner.Variable(b)
        for operate in FOUR.values():
            operate(x, y), operate(x, 2.0), operate(2.0, x)
        (-x).backward()
        assert_array(np.array([x.value, y.value]), [a, b], name="values")

    @pytest.mark.purity
    @pytest.mark.parametrize("sign", IN_PLACE, ids=["sum", "difference", "product", "quotient"])
    def test_assignment_with_an_operator_gives_a_new_variable(self, learner, rng, sign):
        numbers = draw_numbers(rng, 2)
        (x, _), _ = check_variables(learner, lambda f, x, y: IN_PLACE[sign](x, y), numbers, f"x {sign}= y")
        assert_array(x.value, numbers[0], name=f"what x was before x {sign}= y")

    @pytest.mark.dtype
    def test_single_precision_does_not_stay(self, learner, rng):
        number = int(rng.integers(2, 9))
        for x in (learner.Variable(np.int64(number)), learner.Variable(np.float32(number))):
            assert_number(x.value, number, name="value")
            assert_number(x.grad, 0.0, name="grad")

    @pytest.mark.refusals
    def test_arrays_are_refused(self, learner, rng):
        for shape in ((2,), (1,), (1, 1)):
            with pytest.raises(ValueError):
                learner.Variable(rng.normal(size=shape))


@pytest.mark.criterion("variable-functions")
class TestVariableFunctions:
    @pytest.mark.parametrize("name", ["sin", "cos", "exp", "log", "tanh", "relu"])
    def test_any_point(self, learner, rng, name):
        for a in (float(rng.uniform(0.2, 3)), float(rng.uniform(-3, -0.2))):
            number = abs(a) if name == "log" else a
            check_variables(learner, lambda f, x: getattr(f, name)(x) * 0.5, [number], f"{name}(x) / 2")

    def test_powers(self, learner, rng):
        a, b = rng.uniform(0.5, 2, size=2).tolist()
        for exponent in (3, -2, 1, float(rng.uniform(0.2, 3)), -1.5):
            check_variables(learner, lambda f, x, n=exponent: 2 * x**n, [a], f"2 x ** {exponent}")
        check_variables(learner, lambda f, x, y: x**y, [a, b], "x ** y")
        check_variables(learner, lambda f, y: a**y, [b], "number ** y")
        for exponent, slope in ((3, 3 * a * a), (2, -2 * a)):
            x = learner.Variable(-a)
            (x**exponent).backward()
            assert_array(x.grad, slope, name=f"grad of a negative number to the power of {exponent}")

    @pytest.mark.edges
    def test_zero_to_any_power_that_has_a_slope(self, learner):
        for exponent, value, slope in ((0, 1.0, 0.0), (0.0, 1.0, 0.0), (1, 0.0, 1.0), (2.5, 0.0, 0.0)):
            x = learner.Variable(0.0)
            y = x**exponent
            y.backward()
            assert_array(y.value, value, name=f"0 ** {exponent}")
            assert_array(x.grad, slope, name=f"its slope at exponent {exponent}")

    def test_functions_of_functions(self, learner, rng):
        def build(f, a, b, c):
            return f.log(f.exp(f.sin(a * 2)) + 3) * f.tanh(f.cos(b) - 0.5) - f.relu(c * 3) ** 2

        check_variables(learner, build, draw_numbers(rng, 3))

    @pytest.mark.edges
    def test_tanh_of_large_numbers(self, learner, rng):
        for sign in (-1.0, 1.0):
            x = learner.Variable(sign * float(rng.uniform(800, 2000)))
            y = learner.tanh(x)
            y.backward()
            assert_array(y.value, sign, name="tanh")
            assert_array(x.grad, 0.0, name="its slope")

    @pytest.mark.refusals
    def test_what_has_no_real_value_is_refused(self, learner, rng):
        x = learner.Variable(-float(rng.uniform(0.5, 2)))
        zero, two = learner.Variable(0.0), learner.Variable(2.0)
        for compute in (
            lambda: x**0.5, lambda: x**-1.5, lambda: x**two, lambda: zero**two, lambda: (-2.0) ** two,
            lambda: learner.log(x), lambda: learner.log(zero),
        ):  # fmt: skip
            with pytest.raises(ValueError):
                compute()
