"""Hidden tests of stage s05: the line search, and the loop that takes many steps."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s05_optimization.oracles import RULES, line_search, unpack

pytestmark = pytest.mark.values

STEPS = 40
LEFT = 0.1  # share of the first loss, at least 2; the worst of 1500 draws kept 0.014 of it, with RMSprop


def bowl(rng, shape=(4,)):
    """Return f, its gradient and its minimum: curvatures from 1 to 4 along turned axes."""
    axes, _ = np.linalg.qr(rng.normal(size=(int(np.prod(shape)),) * 2))
    matrix = axes @ np.diag(np.geomspace(1, 4, len(axes))) @ axes.T
    lowest = rng.normal(size=shape)

    def f(x):
        away = (x - lowest).ravel()
        return float(away @ matrix @ away) / 2

    def grad_f(x):
        return (matrix @ (x - lowest).ravel()).reshape(shape)

    return f, grad_f, lowest


def hill(x):
    return -float(np.sum(x * x))


def hill_gradient(x):
    return -2 * x


@pytest.mark.criterion("line-search")
class TestLineSearch:
    def test_first_step_that_is_enough(self, learner, rng):
        for shape, initial, c in (((5,), 3.0, 0.3), ((2, 3), 1.0, 0.7), ((4,), 20.0, 0.05)):
            margin = 0.0
            while margin < 1e-6:  # no decision hangs on rounding
                f, grad_f, _ = bowl(rng, shape)
                x, direction = rng.normal(size=shape), rng.normal(size=shape)
                shrink, slope = float(rng.uniform(0.3, 0.9)), float(np.sum(grad_f(x) * direction))
                if slope < -0.1:
                    expected, margin = line_search(f, slope, x, direction, initial, shrink, c)
            with unchanged(x, direction):
                step = learner.backtracking_line_search(f, grad_f, x, direction, initial, shrink, c)
            assert_array(step, expected)

    def test_defaults_begin_at_one_and_halve(self, learner, rng):
        curvature = float(rng.uniform(70, 120))  # a step of 2 (1 - c) / curvature is just enough
        step = learner.backtracking_line_search(
            lambda x: curvature * float(x @ x) / 2, lambda x: curvature * x, np.array([1.0]), np.array([-curvature])
        )
        assert_array(step, 1 / 64)
        downhill = rng.uniform(0.5, 2, 4)
        step = learner.backtracking_line_search(hill, hill_gradient, downhill, downhill)
        assert_array(step, 1.0, name="the step where a longer one would be enough, too")
        gentle = learner.backtracking_line_search(
            lambda x: -2e-4 * float(x[0]) + 1e-4 * float(x[0]) ** 2,
            lambda x: 2e-4 * (x - 1),
            np.array([0.0]),
            np.array([1.99985]),
        )
        assert_array(
            gentle, 0.5, name="the step where a whole one decreases f by less than c = 1e-4 of what the slope says"
        )
        enough = learner.backtracking_line_search(
            lambda x: -2e-4 * float(x[0]) + 1e-4 * float(x[0]) ** 2,
            lambda x: 2e-4 * (x - 1),
            np.array([0.0]),
            np.array([1.99975]),
        )
        assert_array(
            enough, 1.0, name="the step where a whole one decreases f by more than c = 1e-4 of what the slope says"
        )

    def test_slope_of_matrices_pairs_entries(self, learner, rng):
        """Rows and columns of x sum to 0, and so do all entries of g^T d and of g d^T."""
        x = float(rng.uniform(0.5, 2)) * np.array([[1.0, -1.0], [-1.0, 1.0]])
        step = learner.backtracking_line_search(
            lambda x: float(np.sum(x * x)) / 2, lambda x: 1.0 * x, x, -x, 1.9, c=0.25
        )
        assert_array(step, 0.95)  # up to 2 (1 - c) = 1.5 is enough

    def test_slope_is_the_one_at_the_start(self, learner, rng):
        downhill = rng.uniform(0.5, 2, 4)
        step = learner.backtracking_line_search(hill, hill_gradient, downhill, downhill, c=0.8)
        assert_array(step, 1.0, name="the step along which f falls ever faster")

    @pytest.mark.edges
    def test_steps_out_of_the_domain_are_shortened(self, learner, rng):
        for outside in (np.nan, np.inf):
            weights = rng.uniform(0.5, 2, 3)

            def f(x, outside=outside, weights=weights):
                return float(weights @ (x - np.log(x))) if (x > 0).all() else outside

            x = rng.uniform(2, 3, 3)
            direction = -10 * x
            step = learner.backtracking_line_search(
                f, lambda x, weights=weights: weights * (1 - 1 / x), x, direction, 0.8
            )
            assert_array(
                step, 0.05
            )  # 0.8, 0.4, 0.2 and 0.1 leave nothing above 0; half of x is closer to the minimum, 1

    @pytest.mark.refusals
    def test_directions_that_do_not_lead_down_are_refused(self, learner, rng):
        x = rng.uniform(0.5, 2, 4)
        for start, direction in ((x, -3 * x), (0 * x, x)):  # up and over the top, and level at first
            with pytest.raises(ValueError):
                learner.backtracking_line_search(hill, hill_gradient, start, direction)
        f, grad_f, lowest = bowl(rng)
        for start, direction in ((lowest + x, grad_f(lowest + x)), (lowest + x, 0 * x), (lowest, x)):
            with pytest.raises(ValueError):
                learner.backtracking_line_search(f, grad_f, start, direction)

    def test_step_with_the_right_gradient(self, learner, rng):
        x = rng.normal(size=4)
        found = learner.backtracking_line_search(lambda x: float(x @ x), lambda x: 2 * x, x, -2 * x, 1.1, c=0.25)
        assert_array(found, 0.55)  # up to 1 - c is enough

    @pytest.mark.refusals
    def test_gradient_of_another_function_ends_with_an_error(self, learner, rng):
        f, grad_f, lowest = bowl(rng)
        x = lowest + rng.normal(size=4)
        with pytest.raises(ValueError):
            learner.backtracking_line_search(f, grad_f, x, grad_f(x))
        with pytest.raises(ValueError):
            learner.backtracking_line_search(f, lambda x: -grad_f(x), x, grad_f(x))

    @pytest.mark.edges
    def test_very_small_steps_are_found(self, learner, rng):
        scale = float(2.0 ** rng.uniform(150, 155))
        f, grad_f, lowest = bowl(rng)
        x = lowest + rng.normal(size=4)
        direction = -grad_f(x) * scale
        margin, initial = 0.0, 1.0
        while margin < 1e-6:
            initial *= 1.01
            expected, margin = line_search(f, float(np.sum(grad_f(x) * direction)), x, direction, initial, 0.5, 0.1)
        step = learner.backtracking_line_search(f, grad_f, x, direction, initial, c=0.1)
        assert_array(step, expected)

    @pytest.mark.refusals
    def test_impossible_settings_are_refused(self, learner, rng):
        x = rng.uniform(0.5, 2, 4)
        for initial, shrink, c in (
            (0.0, 0.5, 0.1), (-3.0, 0.5, 0.1), (1.0, 0.0, 0.1), (1.0, 1.0, 0.1), (1.0, -0.5, 0.1), (1.0, 1.5, 0.1),
            (1.0, 0.5, 0.0), (1.0, 0.5, 1.0), (1.0, 0.5, -0.1), (1.0, 0.5, 1.5),
        ):  # fmt: skip
            with pytest.raises(ValueError):  # although nearly any step would be enough here
                learner.backtracking_line_search(hill, hill_gradient, x, x, initial, shrink, c)

    @pytest.mark.refusals
    def test_direction_of_another_shape_is_refused(self, learner, rng):
        x = rng.uniform(0.5, 2, 4)
        for direction in (np.ones(1), x[:, None], x[None], x[:3]):
            with pytest.raises(ValueError):
                learner.backtracking_line_search(hill, hill_gradient, x, direction)


def numbers(history):
    """Return a history as an array; a failure if it is no list (or tuple, or array) of numbers."""
    if not isinstance(history, (list, tuple, np.ndarray)):
        raise AssertionError(f"history: expected a list of numbers, got one {type(history).__name__}")
    values = np.asarray(history, dtype=np.float64)
    assert_shape(values, (len(history),), name="history")
    return values


@pytest.mark.criterion("minimize")
class TestMinimize:
    def test_step_gets_gradient_state_and_hyperparameters(self, learner, rng):
        f, grad_f, _ = bowl(rng, (2, 3))
        x0, rate, calls = rng.normal(size=(2, 3)), float(rng.uniform(0.05, 0.1)), []

        def step(params, grads, state, **hyper):
            calls.append((params, grads, state, hyper))
            change = hyper.get("sign", 0) * hyper.get("rate", 0) * grads["x"]
            return {"x": params["x"] - change}, {"count": state.get("count", 0) + 1}

        with unchanged(x0):
            x, history = unpack(learner.minimize(f, grad_f, x0, step, 4, rate=rate, sign=1.0), "x", "history")
        points = [x0]
        for _ in range(4):
            points.append(points[-1] - rate * grad_f(points[-1]))
        for count, (params, grads, state, hyper) in enumerate(calls[:4]):
            call = f"call {count + 1} of step"
            assert_equal([list(params), list(grads)], [["x"], ["x"]], name=f"the names in params and grads in {call}")
            assert_equal(state, {"count": count} if count else {}, name=f"the state in {call}")
            assert_equal(hyper, {"rate": rate, "sign": 1.0}, name=f"the keyword arguments in {call}")
        assert_array(x, points[-1], name="x")
        assert_array(numbers(history), np.array([f(point) for point in points]), name="history")

    def test_steps_that_lead_nowhere_are_taken_too(self, learner, rng):
        f, grad_f, lowest = bowl(rng)
        x, history = unpack(learner.minimize(f, grad_f, lowest, learner.sgd_step, 5, learning_rate=0.1), "x", "history")
        assert_array(x, lowest, name="x")
        assert_array(numbers(history), np.zeros(6), name="history of five steps from the minimum")

    @pytest.mark.edges
    def test_without_iterations_x_is_where_it_began(self, learner, rng):
        f, grad_f, _ = bowl(rng)
        x0 = rng.normal(size=4)
        x, history = unpack(learner.minimize(f, grad_f, x0, learner.sgd_step, 0), "x", "history")
        assert_array(x, x0, name="x")
        assert_array(numbers(history), np.array([f(x0)]), name="history")

    @pytest.mark.refusals
    def test_fewer_than_no_iterations_are_refused(self, learner, rng):
        f, grad_f, _ = bowl(rng)
        for number in (-1, -10):
            with pytest.raises(ValueError):
                learner.minimize(f, grad_f, rng.normal(size=4), learner.sgd_step, number)

    @pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.row)
    def test_each_rule_gets_near_the_minimum(self, learner, rng, rule):
        """The start is 2 from the minimum, so f is 2 or more there, and 0.2 is asked for.

        RMSprop ends swinging about the minimum, with steps of 0.19 an entry at most: that far away f is 0.15. The
        other rules keep about 0.01 of the first loss at most, whatever axes and start are drawn.
        """
        f, grad_f, lowest = bowl(rng, (2,))
        away = rng.normal(size=2)
        x0 = lowest + 2 * away / np.linalg.norm(away)
        step = getattr(learner, rule.name)
        x, history = unpack(learner.minimize(f, grad_f, x0, step, STEPS, **rule.converges), "x", "history")
        assert_shape(x, (2,), name="x")
        values = numbers(history)
        assert_shape(values, (STEPS + 1,), name="history")
        assert_array(values[[0, -1]], np.array([f(x0), f(x)]), name="first and last of history")
        name = f"the last f with {rule.name}, which should be below {LEFT} of the first"
        assert_array(values[-1], 0.0, name=name, rtol=0, atol=LEFT * float(values[0]))
