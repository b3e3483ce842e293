"""Hidden tests of stage s03: reverse mode against complex steps, repeated use, and deep graphs."""

import math
import operator

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal
from hidden.s03_derivatives.oracles import complex_step, draw_expression, draw_numbers, takes_longer

pytestmark = pytest.mark.values
KINDS = [float, *(pytest.param(kind, marks=pytest.mark.dtype) for kind in (np.float64, np.float32))]  # of numbers

FOUR = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}
IN_PLACE = {"+": operator.iadd, "-": operator.isub, "*": operator.imul, "/": operator.itruediv}


def check(learner, build, numbers, name="f"):
    """Compare value and grads of build(functions, *variables) with complex steps; return the variables and the result.

    Rounding in a sum of gradients is of the size of the largest, hence the common absolute tolerance.
    """
    value, slopes = complex_step(build, numbers)
    variables = [learner.Variable(number) for number in numbers]
    result = build(learner, *variables)
    assert_array(result.value, value, name=f"value of {name}", atol=1e-9, dtype="float64")
    result.backward()
    for place, (variable, slope) in enumerate(zip(variables, slopes, strict=True)):
        assert_array(variable.grad, slope, name=f"grad of number {place} in {name}", atol=1e-8, dtype="float64")
    assert_array(result.grad, 1.0, name=f"grad of {name} itself")
    return variables, result


@pytest.mark.criterion("variable-arithmetic")
class TestVariableArithmetic:
    @pytest.mark.parametrize("sign", FOUR, ids=["sum", "difference", "product", "quotient"])
    def test_two_variables(self, learner, rng, sign):
        for _ in range(3):
            check(learner, lambda f, x, y: FOUR[sign](x, y), draw_numbers(rng, 2), f"x {sign} y")

    @pytest.mark.parametrize("kind", KINDS)
    def test_a_variable_and_a_number(self, learner, rng, kind):
        number = kind(draw_numbers(rng, 1)[0])
        for sign, operate in FOUR.items():

            def left(f, x, operate=operate):
                return operate(x, float(number) if isinstance(x, complex) else number)

            def right(f, x, operate=operate):
                return operate(float(number) if isinstance(x, complex) else number, x)

            check(learner, left, draw_numbers(rng, 1), f"x {sign} number")
            check(learner, right, draw_numbers(rng, 1), f"number {sign} x")

    def test_a_tree_in_which_every_variable_is_used_once(self, learner, rng):
        def build(f, a, b, c, d, e):
            return ((a + b) * (3 - c) / (d - 7.5)) - (2 / (e + 5) * 4)

        check(learner, build, draw_numbers(rng, 5))

    def test_only_what_the_output_depends_on_gets_a_grad(self, learner, rng):
        a, b = (learner.Variable(number) for number in draw_numbers(rng, 2))
        used, unused = a * 2, a + b
        (used * 3).backward()
        assert_array(used.grad, 3.0, name="grad of 2 a")
        assert_array(a.grad, 6.0, name="grad of a")
        for name, variable in (("b", b), ("a + b", unused)):
            assert_equal(variable.grad, 0.0, name=f"grad of {name}, which the output does not depend on")

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
        (x, _), _ = check(learner, lambda f, x, y: IN_PLACE[sign](x, y), numbers, f"x {sign}= y")
        assert_array(x.value, numbers[0], name=f"what x was before x {sign}= y")

    @pytest.mark.dtype
    def test_floats_are_kept(self, learner, rng):
        number = int(rng.integers(2, 9))
        x = learner.Variable(np.int64(number))
        assert_equal((x.value, x.grad), (float(number), 0.0), name="value and grad, as floats")

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
            check(learner, lambda f, x: getattr(f, name)(x) * 0.5, [number], f"{name}(x) / 2")

    def test_powers(self, learner, rng):
        a, b = rng.uniform(0.5, 2, size=2).tolist()
        for exponent in (3, -2, 1, float(rng.uniform(0.2, 3)), -1.5):
            check(learner, lambda f, x, n=exponent: 2 * x**n, [a], f"2 x ** {exponent}")
        check(learner, lambda f, x, y: x**y, [a, b], "x ** y")
        check(learner, lambda f, y: a**y, [b], "number ** y")
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

        check(learner, build, draw_numbers(rng, 3))

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


@pytest.mark.criterion("accumulation")
class TestAccumulation:
    @pytest.mark.parametrize("num_steps", [3, 6, 12])
    def test_expressions_that_use_results_again(self, learner, rng, num_steps):
        check(learner, draw_expression(rng, num_steps), draw_numbers(rng, 3), "an expression")

    def test_both_operands_may_be_the_same(self, learner, rng):
        for sign, operate in FOUR.items():
            check(learner, lambda f, x, operate=operate: operate(x, x) * 3 + x, draw_numbers(rng, 1), f"x {sign} x")
        check(learner, lambda f, x: x**x, [float(rng.uniform(0.5, 2))], "x ** x")

    def test_long_and_short_ways_to_the_same_variable(self, learner, rng):
        def build(f, x, w):
            long = x
            for _ in range(5):
                long = f.sin(long * w) + 0.25
            return long * x + w * long - x * w

        check(learner, build, draw_numbers(rng, 2), "an expression with ways of different length")
        check(learner, lambda f, x: (lambda a: a * (f.exp(f.sin(a)) + a))(x * 2), draw_numbers(rng, 1), "another")

    @pytest.mark.edges
    def test_variables_of_equal_value_are_not_the_same(self, learner, rng):
        a = float(rng.uniform(0.5, 2))
        check(learner, lambda f, x, y, z: x * y * y + z * (x + 2 * y), [a, a, a], "an expression of equal numbers")

    @pytest.mark.purity
    def test_another_output_starts_afresh(self, learner, rng):
        numbers = draw_numbers(rng, 2)
        (x, y), first = check(learner, lambda f, x, y: f.sin(x) * y + x, numbers, "the first output")
        first.backward()
        assert_array(x.grad, math.cos(numbers[0]) * numbers[1] + 1, name="grad of x after backward was called twice")
        second = first * x
        second.backward()
        by_first = math.cos(numbers[0]) * numbers[1] + 1
        value = math.sin(numbers[0]) * numbers[1] + numbers[0]
        assert_array(first.grad, numbers[0], name="grad of the first output in the second")
        assert_array(x.grad, by_first * numbers[0] + value, name="grad of x after backward of the second output")
        (x * 5).backward()
        assert_array(x.grad, 5.0, name="grad of x after backward of 5 x")
        assert_array(y.grad, math.sin(numbers[0]) * numbers[0], name="grad of y, which 5 x does not depend on")

    def test_descending_along_the_gradient(self, learner, rng):
        """Three steps towards the line through three points, compared with the same steps in plain numbers."""
        slope, offset = draw_numbers(rng, 2)
        points = [(x, slope * x + offset) for x in (-1.0, 0.5, 1.5)]
        w, b, plain = learner.Variable(0.0), learner.Variable(0.0), np.zeros(2)
        for _ in range(3):
            loss = 0.0
            for x, y in points:
                error = w * x + b - y
                loss = loss + error * error / 3
            loss.backward()
            w.value, b.value = w.value - 0.3 * w.grad, b.value - 0.3 * b.grad
            errors = [plain[0] * x + plain[1] - y for x, y in points]
            gradient = [2 / 3 * sum(e * x for e, (x, _) in zip(errors, points, strict=True)), 2 / 3 * sum(errors)]
            plain = plain - 0.3 * np.array(gradient)
        assert_array(np.array([w.value, b.value]), plain, name="w and b after three steps")


@pytest.mark.criterion("deep-graphs")
class TestDeepGraphs:
    @pytest.mark.speed
    def test_more_ways_than_could_be_walked(self, learner, rng):
        start = draw_numbers(rng, 1)[0]
        few, more = learner.Variable(start), learner.Variable(start)
        for _ in range(6):
            few = few + few
        for _ in range(18):
            more = more + more
        if takes_longer(more.backward, few.backward, 20):
            raise AssertionError(
                "backward of 18 operations y = y + y took longer than 20 times that of 6: is a variable visited once "
                "for each way that leads to it? There are 2 ** 18 ways"
            )
        x = learner.Variable(start)
        y = x
        for _ in range(60):
            y = y + y
        y.backward()
        assert_array(y.value, start * 2.0**60, name="value")
        assert_array(x.grad, 2.0**60, name="grad of x, to which 2 to the power of 60 ways lead")

    @pytest.mark.parametrize("length", [5, 20])
    def test_recurrences(self, learner, rng, length):
        def build(f, x, w, u):
            state = x
            for _ in range(length):
                state = f.tanh(state * w + x * u)
            return state + x

        check(learner, build, draw_numbers(rng, 3), "a recurrence")

    def test_residual_connections(self, learner, rng):
        def build(f, x, w, u):
            state = x * u
            for _ in range(8):
                state = state + f.tanh(state * w)
                state = f.sin(state * u) * 0.5 + state
            return state

        check(learner, build, draw_numbers(rng, 3), "a row of residual connections")

    def test_a_ladder(self, learner, rng):
        def build(f, x, y):
            one, other = x, y
            for step in range(15):
                one, other = one * 0.5 + other, (other - one) * 0.5 + (x if step % 3 else y)
            return one * other

        check(learner, build, draw_numbers(rng, 2), "a ladder")
