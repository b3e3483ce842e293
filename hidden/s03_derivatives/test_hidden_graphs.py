"""Hidden tests of stage s03: reverse mode through repeated use and deep graphs."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, plain_array
from hidden.s03_derivatives.oracles import FOUR, check_variables, draw_expression, draw_numbers, takes_longer

pytestmark = pytest.mark.values


@pytest.mark.criterion("accumulation")
class TestAccumulation:
    @pytest.mark.parametrize("num_steps", [3, 6, 12])
    def test_expressions_that_use_results_again(self, learner, rng, num_steps):
        check_variables(learner, draw_expression(rng, num_steps), draw_numbers(rng, 3), "an expression")

    def test_both_operands_may_be_the_same(self, learner, rng):
        for sign, operate in FOUR.items():
            check_variables(
                learner, lambda f, x, operate=operate: operate(x, x) * 3 + x, draw_numbers(rng, 1), f"x {sign} x"
            )
        check_variables(learner, lambda f, x: x**x, [float(rng.uniform(0.5, 2))], "x ** x")

    def test_long_and_short_ways_to_the_same_variable(self, learner, rng):
        def build(f, x, w):
            long = x
            for _ in range(5):
                long = f.sin(long * w) + 0.25
            return long * x + w * long - x * w

        check_variables(learner, build, draw_numbers(rng, 2), "an expression with ways of different length")
        check_variables(
            learner, lambda f, x: (lambda a: a * (f.exp(f.sin(a)) + a))(x * 2), draw_numbers(rng, 1), "another"
        )

    @pytest.mark.edges
    def test_variables_of_equal_value_are_not_the_same(self, learner, rng):
        a = float(rng.uniform(0.5, 2))
        check_variables(
            learner, lambda f, x, y, z: x * y * y + z * (x + 2 * y), [a, a, a], "an expression of equal numbers"
        )

    @pytest.mark.purity
    def test_another_output_starts_afresh(self, learner, rng):
        numbers = draw_numbers(rng, 2)
        (x, y), first = check_variables(learner, lambda f, x, y: f.sin(x) * y + x, numbers, "the first output")
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
            w.value, b.value = (
                plain_array(w.value) - 0.3 * plain_array(w.grad),
                plain_array(b.value) - 0.3 * plain_array(b.grad),
            )
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

        check_variables(learner, build, draw_numbers(rng, 3), "a recurrence")

    def test_residual_connections(self, learner, rng):
        def build(f, x, w, u):
            state = x * u
            for _ in range(8):
                state = state + f.tanh(state * w)
                state = f.sin(state * u) * 0.5 + state
            return state

        check_variables(learner, build, draw_numbers(rng, 3), "a row of residual connections")

    def test_a_ladder(self, learner, rng):
        def build(f, x, y):
            one, other = x, y
            for step in range(15):
                one, other = one * 0.5 + other, (other - one) * 0.5 + (x if step % 3 else y)
            return one * other

        check_variables(learner, build, draw_numbers(rng, 2), "a ladder")
