"""Public tests of stage s03: small examples with the numbers written out."""

import time

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged, plain_array

pytestmark = pytest.mark.values

CLOSE = 1e-6  # relative tolerance of finite differences, whose rounding is divided by the step


def cube(x):
    """The derivative at x is 3 x squared."""
    return x * x * x


def assert_dual(dual, value, derivative):
    """Assert what a Dual holds."""
    assert_array(dual.value, value, name="value")
    assert_array(dual.derivative, derivative, name="derivative")


def assert_grads(**pairs):
    """Assert the grad of each variable, given by name as (variable, expected)."""
    for name, (variable, expected) in pairs.items():
        assert_array(variable.grad, expected, name=f"{name}.grad")


def takes_longer(one, other, times):
    """Say whether one() took longer than `times` times other() in each of twenty rounds, however busy the machine."""
    for _ in range(20):
        started = time.perf_counter()
        for _ in range(5):
            other()
        between = time.perf_counter()
        one()
        if time.perf_counter() - between <= times * (between - started) / 5:
            return False
    return True


@pytest.mark.criterion("finite-difference")
class TestFiniteDifference:
    def test_three_quotients(self, learner):
        # cube at 1.5, 2 and 2.5: 3.375, 8 and 15.625
        assert_array(learner.finite_difference(cube, 2.0, h=0.5, method="forward"), 15.25, name="forward")
        assert_array(learner.finite_difference(cube, 2.0, h=0.5, method="backward"), 9.25, name="backward")
        assert_array(learner.finite_difference(cube, 2.0, h=0.5, method="central"), 12.25, name="central")

    def test_central_is_the_default_and_close(self, learner):
        assert_array(learner.finite_difference(cube, 2.0), 12.0, rtol=1e-9)

    def test_errors_shrink_with_the_step_or_with_its_square(self, learner):
        for method, ratio in (("forward", 2.0), ("backward", 2.0), ("central", 4.0)):
            coarse, fine = (plain_array(learner.finite_difference(np.exp, 0.0, h, method)) - 1.0 for h in (0.02, 0.01))
            assert_array(coarse / fine, ratio, rtol=0.02, name=f"error of {method} for h over that for h/2")

    @pytest.mark.refusals
    def test_a_step_of_zero_and_an_unknown_method_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.finite_difference(cube, 2.0, h=0.0)
        with pytest.raises(ValueError):
            learner.finite_difference(cube, 2.0, method="middle")


@pytest.mark.criterion("gradient")
class TestGradient:
    def test_each_entry_is_moved_alone(self, learner):
        x = np.array([1.0, 2.0, 3.0])
        with unchanged(x):
            gradient = learner.gradient_finite_difference(lambda x: x[0] * x[1] + x[2] ** 2, x)
        assert_array(gradient, [2.0, 1.0, 6.0], rtol=CLOSE)

    def test_a_matrix_has_a_gradient_of_its_shape(self, learner):
        W = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
        assert_array(learner.gradient_finite_difference(lambda W: (W**2).sum(), W), 2 * W, rtol=CLOSE)

    @pytest.mark.dtype
    def test_integers_are_moved_by_h_as_well(self, learner):
        gradient = learner.gradient_finite_difference(lambda x: (x**2).sum(), np.array([3, 4]))
        assert_array(gradient, [6.0, 8.0], rtol=CLOSE)

    @pytest.mark.refusals
    def test_a_function_with_several_results_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.gradient_finite_difference(lambda x: x**2, np.array([1.0, 2.0]))


@pytest.mark.criterion("jacobian")
class TestJacobian:
    def test_rows_are_outputs_and_columns_inputs(self, learner):
        jacobian = learner.jacobian_finite_difference(
            lambda x: np.array([x[0] * x[1], x[0], 5 * x[1]]), np.array([2.0, 3.0])
        )
        assert_array(jacobian, [[3.0, 2.0], [1.0, 0.0], [0.0, 5.0]], rtol=CLOSE)

    @pytest.mark.purity
    def test_a_function_may_hand_back_what_it_was_given(self, learner):
        x = np.array([1.0, 2.0])
        assert_array(learner.jacobian_finite_difference(lambda x: x, x), [[1.0, 0.0], [0.0, 1.0]], rtol=CLOSE)
        assert_array(learner.jacobian_finite_difference(lambda x: x[::-1], x), [[0.0, 1.0], [1.0, 0.0]], rtol=CLOSE)

    def test_of_a_matrix_product_it_is_the_matrix(self, learner):
        A = np.array([[1.0, -2.0, 0.5], [3.0, 0.0, 4.0]])
        assert_array(learner.jacobian_finite_difference(lambda x: A @ x, np.array([1.0, 2.0, 3.0])), A, rtol=CLOSE)

    @pytest.mark.refusals
    def test_a_matrix_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.jacobian_finite_difference(lambda x: x.ravel(), np.ones((2, 2)))


@pytest.mark.criterion("hessian")
class TestHessian:
    def test_mixed_derivatives_stand_off_the_diagonal(self, learner):
        hessian = learner.hessian_finite_difference(lambda x: x[0] ** 2 * x[1], np.array([1.0, 3.0]))
        assert_array(hessian, [[6.0, 2.0], [2.0, 0.0]], rtol=1e-5)

    def test_of_a_quadratic_form_it_is_the_symmetric_part(self, learner):
        A = np.array([[1.0, 2.0, 0.0], [4.0, -3.0, 1.0], [2.0, 0.0, 5.0]])
        hessian = learner.hessian_finite_difference(lambda x: x @ A @ x, np.array([1.0, 0.0, -2.0]))
        assert_array(hessian, [[2.0, 6.0, 2.0], [6.0, -6.0, 1.0], [2.0, 1.0, 10.0]], rtol=1e-5)

    @pytest.mark.refusals
    def test_a_function_with_several_results_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.hessian_finite_difference(lambda x: x**2, np.array([1.0, 2.0]))


@pytest.mark.criterion("gradient-check")
class TestGradientCheck:
    def test_a_right_gradient_passes(self, learner):
        x = np.array([1.0, -2.0, 3.0])
        assert_equal(learner.gradient_check(lambda x: (x**3).sum(), lambda x: 3 * x**2, x), True)

    def test_one_wrong_entry_is_enough(self, learner):
        x = np.array([1.0, -2.0, 3.0])
        wrong = lambda x: 3 * x**2 * np.array([1.0, 1.0, 0.999])  # noqa: E731
        assert_equal(learner.gradient_check(lambda x: (x**3).sum(), wrong, x), False)

    def test_a_gradient_of_zero_passes(self, learner):
        for x in (np.array([1.0, -2.0]), np.zeros(2)):
            found = learner.gradient_check(lambda x: np.cos(x).sum(), lambda x: -np.sin(x), x)
            assert_equal(found, True, name=f"result at x = {x}")

    @pytest.mark.refusals
    def test_another_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.gradient_check(lambda x: (x**2).sum(), lambda x: np.array([2.0]), np.array([1.0, 1.0]))


@pytest.mark.criterion("dual-arithmetic")
class TestDualArithmetic:
    @pytest.mark.dtype
    def test_it_holds_a_value_and_a_derivative(self, learner):
        x = learner.Dual(3, 1)
        assert_dual(x, 3.0, 1.0)

    def test_four_rules(self, learner):
        x, y = learner.Dual(6.0, 1.0), learner.Dual(2.0, 5.0)
        assert_dual(x + y, 8.0, 6.0)
        assert_dual(x - y, 4.0, -4.0)
        assert_dual(x * y, 12.0, 32.0)  # 1 * 2 + 6 * 5
        assert_dual(x / y, 3.0, -7.0)  # (1 * 2 - 6 * 5) / 4
        assert_dual(-x, -6.0, -1.0)

    def test_numbers_are_constants_on_either_side(self, learner):
        x = learner.Dual(4.0, 3.0)
        assert_dual(x + 2, 6.0, 3.0)
        assert_dual(2 + x, 6.0, 3.0)
        assert_dual(x - 2, 2.0, 3.0)
        assert_dual(2 - x, -2.0, -3.0)
        assert_dual(x * 2, 8.0, 6.0)
        assert_dual(2 * x, 8.0, 6.0)
        assert_dual(x / 2, 2.0, 1.5)
        assert_dual(2 / x, 0.5, -0.375)

    def test_a_polynomial(self, learner):
        x = learner.Dual(2.0, 1.0)
        assert_dual(3 * x * x - 4 * x + 5, 9.0, 8.0)


@pytest.mark.criterion("dual-functions")
class TestDualFunctions:
    def test_at_points_that_everyone_knows(self, learner):
        assert_dual(learner.sin(learner.Dual(0.0, 1.0)), 0.0, 1.0)
        assert_dual(learner.cos(learner.Dual(np.pi / 2, 1.0)), 0.0, -1.0)
        assert_dual(learner.exp(learner.Dual(0.0, 1.0)), 1.0, 1.0)
        assert_dual(learner.log(learner.Dual(2.0, 1.0)), 0.6931471806, 0.5)
        assert_dual(learner.tanh(learner.Dual(1.0, 1.0)), 0.7615941560, 0.4199743416)
        assert_dual(learner.relu(learner.Dual(2.0, 1.0)), 2.0, 1.0)
        assert_dual(learner.relu(learner.Dual(-2.0, 1.0)), 0.0, 0.0)

    def test_the_chain_rule(self, learner):
        x = learner.Dual(1.0, 1.0)
        assert_dual(learner.sin(x * x), 0.8414709848, 1.0806046117)  # 2 cos(1)

    def test_a_number_gives_a_number(self, learner):
        assert_dual(learner.exp(learner.Dual(1.0, 0.0)), learner.exp(1.0), 0.0)

    @pytest.mark.dtype
    def test_a_whole_number_gives_a_number(self, learner):
        assert_array(learner.relu(2), 2.0)

    def test_the_derivative_of_relu_at_zero_is_zero(self, learner):
        assert_dual(learner.relu(learner.Dual(-1.0, 2.0)), 0.0, 0.0)
        assert_dual(learner.relu(learner.Dual(1.0, 2.0)), 1.0, 2.0)
        assert_dual(learner.relu(learner.Dual(0.0, 2.0)), 0.0, 0.0)


@pytest.mark.criterion("dual-powers")
class TestDualPowers:
    def test_the_exponent_comes_to_the_front(self, learner):
        assert_dual(learner.Dual(3.0, 1.0) ** 4, 81.0, 108.0)
        assert_dual(learner.Dual(4.0, 2.0) ** -0.5, 0.5, -0.125)

    @pytest.mark.edges
    def test_zero_to_whole_powers(self, learner):
        zero = learner.Dual(0.0, 1.0)
        assert_dual(zero**2, 0.0, 0.0)
        assert_dual(zero**1, 0.0, 1.0)
        assert_dual(zero**0, 1.0, 0.0)

    def test_the_exponent_may_be_what_varies(self, learner):
        x = learner.Dual(3.0, 1.0)
        assert_dual(2**x, 8.0, 5.5451774445)  # 8 log 2
        assert_dual(x**x, 27.0, 56.6625317940)  # 27 (log 3 + 1)

    @pytest.mark.refusals
    def test_no_real_root_of_a_negative_number(self, learner):
        with pytest.raises(ValueError):
            learner.Dual(-8.0, 1.0) ** 0.5


@pytest.mark.criterion("variable-arithmetic")
class TestVariableArithmetic:
    @pytest.mark.dtype
    def test_it_holds_a_value_and_a_grad_of_zero(self, learner):
        x = learner.Variable(3)
        assert_array(x.value, 3.0, name="value")
        assert_grads(x=(x, 0.0))

    def test_a_product_passes_back_the_other_factor(self, learner):
        x, y = learner.Variable(3.0), learner.Variable(5.0)
        product = x * y
        product.backward()
        assert_array(product.value, 15.0, name="value")
        assert_grads(x=(x, 5.0), y=(y, 3.0), product=(product, 1.0))

    def test_sum_difference_and_quotient(self, learner):
        a, b, c, d = (learner.Variable(value) for value in (7.0, 1.0, 5.0, 3.0))
        y = (a + b) / (c - d)  # 8 / 2
        y.backward()
        assert_array(y.value, 4.0, name="value")
        assert_grads(a=(a, 0.5), b=(b, 0.5), c=(c, -2.0), d=(d, 2.0))

    def test_numbers_on_either_side(self, learner):
        x = learner.Variable(3.0)
        y = 10 - 2 * (12 / (x + 1) - 1) * 4
        y.backward()
        assert_array(y.value, -6.0, name="value")
        assert_grads(x=(x, 6.0))  # 8 * 12 / 16

    def test_one_step_after_the_other(self, learner):
        x = learner.Variable(5.0)
        double = x * 2
        y = double * 3
        y.backward()
        assert_grads(y=(y, 1.0), double=(double, 3.0), x=(x, 6.0))

    def test_minus(self, learner):
        x = learner.Variable(3.0)
        y = -x
        y.backward()
        assert_array(y.value, -3.0, name="value")
        assert_grads(x=(x, -1.0))


@pytest.mark.criterion("variable-functions")
class TestVariableFunctions:
    def test_a_neuron(self, learner):
        x, w, b = learner.Variable(2.0), learner.Variable(0.5), learner.Variable(-0.5)
        y = learner.tanh(w * x + b)  # tanh(0.5)
        y.backward()
        assert_array(y.value, 0.4621171573, name="value")
        assert_grads(x=(x, 0.3932238665), w=(w, 1.5728954660), b=(b, 0.7864477330))

    def test_functions_undo_each_other(self, learner):
        x = learner.Variable(2.5)
        y = learner.log(learner.exp(x))
        y.backward()
        assert_array(y.value, 2.5, name="value")
        assert_grads(x=(x, 1.0))

    def test_relu_lets_through_what_is_above_zero(self, learner):
        for value, slope in ((2.0, 3.0), (-2.0, 0.0), (0.0, 0.0)):
            x = learner.Variable(value)
            y = 3 * learner.relu(x)
            y.backward()
            assert_grads(x=(x, slope))

    def test_powers(self, learner):
        x, y = learner.Variable(3.0), learner.Variable(2.0)
        z = x**y
        z.backward()
        assert_array(z.value, 9.0, name="value")
        assert_grads(x=(x, 6.0), y=(y, 9.8875105980))  # 9 log 3
        w = learner.Variable(3.0)
        square = w**2
        square.backward()
        assert_grads(w=(w, 6.0))


@pytest.mark.criterion("accumulation")
class TestAccumulation:
    def test_a_variable_used_twice_collects_both(self, learner):
        x = learner.Variable(3.0)
        y = x * x + 4 * x
        y.backward()
        assert_array(y.value, 21.0, name="value")
        assert_grads(x=(x, 10.0))

    def test_a_variable_passes_on_when_all_its_uses_have_come_in(self, learner):
        x = learner.Variable(2.0)
        a = x * 3  # used by b, by c, and by the sum itself
        b = a * a
        c = b * a
        y = a + b + c
        y.backward()
        assert_grads(a=(a, 1.0 + 2 * 6 + 3 * 36), x=(x, 363.0))

    @pytest.mark.purity
    def test_backward_starts_afresh(self, learner):
        x = learner.Variable(3.0)
        y = x * x
        z = y * y
        z.backward()
        z.backward()
        grads = np.array([x.grad, y.grad, z.grad])
        assert_array(grads, [108.0, 18.0, 1.0], name="grads of x, y and z after backward was called twice")
        y.backward()
        assert_grads(x=(x, 6.0))


@pytest.mark.criterion("deep-graphs")
class TestDeepGraphs:
    @pytest.mark.edges
    def test_a_row_of_powers(self, learner):
        x, one = learner.Variable(2.0), learner.Variable(1.0)
        y = x
        for _ in range(370):
            y = y**one
        y.backward()
        assert_grads(one=(one, 370 * 2 * np.log(2.0)), x=(x, 1.0))

    def test_a_recurrence_uses_its_weight_at_every_step(self, learner):
        w, x = learner.Variable(0.5), learner.Variable(1.0)
        y = x
        for _ in range(3):
            y = y * w + x
        y.backward()
        assert_array(y.value, 1.875, name="value")
        assert_grads(x=(x, 1.875), w=(w, 2.75))  # 1 + w + w^2 + w^3, and 3 w^2 + 2 w + 1

    def test_every_step_adds_to_what_was_there(self, learner):
        x, w = learner.Variable(1.0), learner.Variable(0.5)
        y = x
        for _ in range(3):
            y = y + y * w
        y.backward()
        assert_array(y.value, 3.375, name="value")
        assert_grads(x=(x, 3.375), w=(w, 6.75))  # (1 + w)^3, and 3 (1 + w)^2

    @pytest.mark.edges
    def test_more_operations_than_calls_may_be_open(self, learner):
        x = learner.Variable(2.0)
        y = x
        for _ in range(1100):
            y = y + 1
        y.backward()
        assert_array(y.value, 1102.0, name="value")
        assert_grads(x=(x, 1.0))

    @pytest.mark.speed
    def test_ten_times_as_many_operations_take_about_ten_times_as_long(self, learner):
        y = tenth = learner.Variable(2.0)
        for step in range(2200):
            y = y + 1
            tenth = y if step == 219 else tenth
        if takes_longer(y.backward, tenth.backward, 20):
            raise AssertionError(
                "backward of 2200 operations took longer than 20 times what 220 of them take: "
                "is a list searched for every variable, where a set would tell at once whether it was seen?"
            )
