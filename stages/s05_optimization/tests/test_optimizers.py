"""Public tests of stage s05: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, unchanged

pytestmark = pytest.mark.values

EPS = 1e-6  # relative tolerance that accepts each usual place of eps


@pytest.fixture
def params():
    """Two parameters of one entry and two, as a layer has them."""
    return {"weights": np.array([1.0, 2.0]), "bias": np.array([3.0])}


@pytest.fixture
def grads():
    """Their gradients."""
    return {"weights": np.array([2.0, -4.0]), "bias": np.array([1.0])}


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def assert_arrays(actual, expected, name="params", rtol=None):
    """Assert that actual is a dict of the arrays that are expected."""
    if not isinstance(actual, dict):
        raise AssertionError(f"{name}: expected a dict of arrays, got one {type(actual).__name__}")
    assert_equal(sorted(map(str, actual)), sorted(expected), name=f"the names in {name}")
    for key, value in expected.items():
        assert_array(actual[key], value, name=f"{name}[{key!r}]", rtol=rtol)


def assert_path(step, gradients, expected, rtol=None, **hyper):
    """Assert where an entry at 1 is after each gradient, the state handed from step to step."""
    params, state, path = {"w": np.array([1.0])}, {}, []
    for gradient in gradients:
        params, state = unpack(step(params, {"w": np.array([float(gradient)])}, state, **hyper), "params", "state")
        assert_arrays(params, {"w": [expected[len(path)]]}, rtol=rtol)
        path.append(params)


@pytest.mark.criterion("sgd")
class TestSgd:
    def test_steps_against_the_gradient(self, learner, params, grads):
        result, _ = unpack(learner.sgd_step(params, grads, {}, learning_rate=0.1), "params", "state")
        assert_arrays(result, {"weights": [0.8, 2.4], "bias": [2.9]})

    @pytest.mark.purity
    def test_works_on_copies(self, learner, params, grads):
        with unchanged(*params.values(), *grads.values()):
            learner.sgd_step(params, grads, {}, learning_rate=0.1)

    @pytest.mark.refusals
    def test_gradient_of_another_shape_is_refused(self, learner, params, grads):
        grads["weights"] = np.array([2.0])  # broadcasting would take it for both entries
        with pytest.raises(ValueError):
            learner.sgd_step(params, grads, {})

    @pytest.mark.refusals
    def test_gradient_of_another_name_is_refused(self, learner, params, grads):
        with pytest.raises(ValueError):
            learner.sgd_step(params, {"weights": grads["weights"]}, {})


@pytest.mark.criterion("momentum")
class TestMomentum:
    def test_velocity_grows_while_the_gradient_stays(self, learner):
        # velocity 1, 1.8, 2.44
        assert_path(learner.momentum_step, [1, 1, 1], [0.9, 0.72, 0.476], learning_rate=0.1, momentum=0.8)

    def test_velocity_carries_on_without_gradient(self, learner):
        # velocity 4, 3.2, 2.56
        assert_path(learner.momentum_step, [4, 0, 0], [0.6, 0.28, 0.024], learning_rate=0.1, momentum=0.8)

    def test_each_array_has_its_own_velocity(self, learner, params, grads):
        first, state = unpack(learner.momentum_step(params, grads, {}, 0.1, 0.8), "params", "state")
        second, _ = unpack(learner.momentum_step(first, grads, state, 0.1, 0.8), "params", "state")
        assert_arrays(second, {"weights": [0.44, 3.12], "bias": [2.72]})


@pytest.mark.criterion("nesterov")
class TestNesterov:
    def test_newest_gradient_counts_at_once_and_in_the_velocity(self, learner):
        # velocity 1, 1.5; steps 1 + 0.5 * 1 and 1 + 0.5 * 1.5
        assert_path(learner.nesterov_step, [1, 1], [0.85, 0.675], learning_rate=0.1, momentum=0.5)

    def test_velocity_without_gradient_fades(self, learner):
        # velocity 4, 2, 1; steps 4 + 2, 0 + 1, 0 + 0.5
        assert_path(learner.nesterov_step, [4, 0, 0], [0.4, 0.3, 0.25], learning_rate=0.1, momentum=0.5)


@pytest.mark.criterion("adagrad")
class TestAdagrad:
    def test_squares_add_up(self, learner):
        # sums 9, 25, 169: steps 3/3, 4/5, 12/13
        expected = [0.9, 0.82, 0.7276923077]
        assert_path(learner.adagrad_step, [3, 4, 12], expected, rtol=EPS, learning_rate=0.1)

    def test_each_entry_has_its_own_rate(self, learner, params, grads):
        result, _ = unpack(learner.adagrad_step(params, grads, {}, learning_rate=0.1), "params", "state")
        assert_arrays(result, {"weights": [0.9, 2.1], "bias": [2.9]}, rtol=EPS)

    @pytest.mark.edges
    def test_entry_without_gradient_stays(self, learner):
        assert_path(learner.adagrad_step, [0, 0], [1.0, 1.0], learning_rate=0.1)


@pytest.mark.criterion("rmsprop")
class TestRmsprop:
    def test_squares_are_averaged(self, learner):
        # averages 0.25 * 16 = 4 and 0.75 * 4 + 0.25 * 4 = 4: steps 4/2 and 2/2
        assert_path(learner.rmsprop_step, [4, 2], [0.8, 0.7], rtol=EPS, learning_rate=0.1, decay=0.75)

    def test_old_squares_fade(self, learner):
        # averages 4, 3, 2.25 and 0.75 * 2.25 + 0.25 * 1 = 1.9375
        expected = [0.8, 0.8, 0.8, 0.7281578847]
        assert_path(learner.rmsprop_step, [4, 0, 0, 1], expected, rtol=EPS, learning_rate=0.1, decay=0.75)

    @pytest.mark.edges
    def test_entry_that_never_had_a_gradient_stays(self, learner):
        assert_path(learner.rmsprop_step, [0, 0], [1.0, 1.0], learning_rate=0.1)


@pytest.mark.criterion("adam")
class TestAdam:
    def test_first_step_is_one_learning_rate_long(self, learner, params, grads):
        result, _ = unpack(learner.adam_step(params, grads, {}, learning_rate=0.1), "params", "state")
        assert_arrays(result, {"weights": [0.9, 2.1], "bias": [2.9]}, rtol=EPS)

    def test_both_averages_are_corrected(self, learner):
        # step 2: m = 0.5 * 2 + 0.5 * 1 = 1.5 over 0.75 is 2; s = 0.75 * 4 + 0.25 * 1 = 3.25 over 0.4375 is 7.4286
        hyper = {"learning_rate": 0.1, "beta1": 0.5, "beta2": 0.75}
        assert_path(learner.adam_step, [4, 1], [0.9, 0.8266200554], rtol=EPS, **hyper)

    def test_opposite_gradients_nearly_cancel(self, learner):
        # step 2: m = 0.5 * 1 - 0.5 * 2 = -0.5 over 0.75; s = 0.75 * 1 + 0.25 * 4 = 1.75 over 0.4375 is 4
        hyper = {"learning_rate": 0.3, "beta1": 0.5, "beta2": 0.75}
        assert_path(learner.adam_step, [2, -2], [0.7, 0.8], rtol=EPS, **hyper)

    @pytest.mark.edges
    def test_without_gradient_nothing_moves(self, learner):
        assert_path(learner.adam_step, [0, 0], [1.0, 1.0], learning_rate=0.1)


@pytest.mark.criterion("adamw")
class TestAdamW:
    def test_decay_is_added_to_the_step_of_adam(self, learner, params, grads):
        hyper = {"learning_rate": 0.1, "weight_decay": 0.5}  # 5 per cent of every entry, and 0.1 against the gradient
        result, _ = unpack(learner.adamw_step(params, grads, {}, **hyper), "params", "state")
        assert_arrays(result, {"weights": [0.85, 2.0], "bias": [2.75]}, rtol=EPS)

    def test_decay_works_without_gradient(self, learner):
        hyper = {"learning_rate": 0.5, "weight_decay": 0.5}
        assert_path(learner.adamw_step, [0, 0, 0], [0.75, 0.5625, 0.421875], rtol=EPS, **hyper)

    def test_averages_know_nothing_of_the_decay(self, learner):
        # 0.8 * 1 - 0.1 * 1, then 0.8 * 0.7 - 0.1 * 2 / sqrt(7.4286)
        hyper = {"learning_rate": 0.1, "beta1": 0.5, "beta2": 0.75, "weight_decay": 2.0}
        assert_path(learner.adamw_step, [4, 1], [0.7, 0.4866200554], rtol=EPS, **hyper)


@pytest.mark.criterion("clip-norm")
class TestClipByGlobalNorm:
    def test_all_arrays_are_scaled_by_one_factor(self, learner):
        grads = {"weights": np.array([3.0, 0.0]), "bias": np.array([4.0])}
        result, norm = unpack(learner.clip_by_global_norm(grads, 1.0), "grads", "norm")
        assert_array(norm, 5.0, name="norm")
        assert_arrays(result, {"weights": [0.6, 0.0], "bias": [0.8]}, "grads", rtol=EPS)

    def test_short_gradients_are_left_alone(self, learner):
        grads = {"weights": np.array([3.0, 0.0]), "bias": np.array([4.0])}
        result, norm = unpack(learner.clip_by_global_norm(grads, 6.0), "grads", "norm")
        assert_array(norm, 5.0, name="norm")
        assert_arrays(result, {"weights": [3.0, 0.0], "bias": [4.0]}, "grads")

    @pytest.mark.purity
    def test_clipping_works_on_copies(self, learner, grads):
        with unchanged(*grads.values()):
            learner.clip_by_global_norm(grads, 0.5)

    @pytest.mark.refusals
    def test_max_norm_of_zero_is_refused(self, learner, grads):
        with pytest.raises(ValueError):
            learner.clip_by_global_norm(grads, 0.0)


@pytest.mark.criterion("clip-extremes")
class TestClippingOfExtremes:
    @pytest.mark.edges
    def test_exploding_gradients_keep_their_direction(self, learner):
        for dtype, size in ((np.float32, 1e25), (np.float64, 1e200)):  # the square is beyond the largest number
            grads = {"weights": np.array([3 * size, 0.0], dtype), "bias": np.array([-4 * size], dtype)}
            result, norm = unpack(learner.clip_by_global_norm(grads, 10.0), "grads", "norm")
            assert_array(norm, 5 * size, name="norm", rtol=1e-5)
            assert_arrays(result, {"weights": [6.0, 0.0], "bias": [-8.0]}, "grads", rtol=1e-5)

    @pytest.mark.edges
    def test_vanishing_gradients_have_their_norm(self, learner):
        for dtype, size in ((np.float32, 1e-25), (np.float64, 1e-200)):  # the square is rounded to 0
            grads = {"weights": np.array([3 * size, 0.0], dtype), "bias": np.array([-4 * size], dtype)}
            result, norm = unpack(learner.clip_by_global_norm(grads, 1.0), "grads", "norm")
            assert_array(norm, 5 * size, name="norm", rtol=1e-5)
            assert_arrays(result, {"weights": [3 * size, 0.0], "bias": [-4 * size]}, "grads", rtol=1e-5)

    @pytest.mark.refusals
    def test_gradients_that_are_not_finite_are_refused(self, learner):
        for bad in (np.nan, np.inf):
            with pytest.raises(ValueError):
                learner.clip_by_global_norm({"weights": np.array([1.0, bad]), "bias": np.array([1.0])}, 1.0)


@pytest.mark.criterion("decay-schedules")
class TestDecaySchedules:
    def test_step_decay_drops_after_each_period(self, learner):
        for step, rate in ((0, 0.8), (2, 0.8), (3, 0.2), (5, 0.2), (6, 0.05)):
            found = learner.step_decay(step, 0.8, drop=0.25, period=3)
            assert_array(found, rate, name=f"the rate at step {step}")

    def test_exponential_decay_is_smooth(self, learner):
        for step, rate in ((0, 2.0), (1, 1.5576015661), (2, 1.2130613194), (10, 0.1641699972)):
            assert_array(learner.exponential_decay(step, 2.0, 0.25), rate, name=f"the rate at step {step}")

    @pytest.mark.refusals
    def test_steps_below_zero_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.step_decay(-1, 0.8)
        with pytest.raises(ValueError):
            learner.exponential_decay(-1, 0.8, 0.1)


@pytest.mark.criterion("cosine-annealing")
class TestCosineAnnealing:
    def test_half_a_cosine_from_top_to_bottom(self, learner):
        for step, rate in ((0, 1.0), (2, 0.75), (3, 0.5), (4, 0.25), (6, 0.0)):
            assert_array(learner.cosine_annealing(step, 1.0, 6), rate, name=f"the rate at step {step}")

    def test_ends_at_the_least_rate_and_stays_there(self, learner):
        for step, rate in ((0, 1.0), (3, 0.6), (6, 0.2), (7, 0.2), (12, 0.2)):
            assert_array(learner.cosine_annealing(step, 1.0, 6, min_rate=0.2), rate, name=f"the rate at step {step}")

    @pytest.mark.refusals
    def test_total_of_zero_steps_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.cosine_annealing(0, 1.0, 0)


@pytest.mark.criterion("warmup-cosine")
class TestWarmupCosine:
    def test_rises_along_a_line_and_falls_along_a_cosine(self, learner):
        for step, rate in ((0, 0.0), (1, 0.25), (2, 0.5), (4, 1.0), (6, 0.75), (7, 0.5), (10, 0.0)):
            assert_array(learner.warmup_cosine(step, 1.0, 4, 10), rate, name=f"the rate at step {step}")

    def test_rises_from_zero_and_ends_at_the_least_rate(self, learner):
        for step, rate in ((0, 0.0), (2, 0.5), (4, 1.0), (7, 0.6), (10, 0.2), (11, 0.2)):
            found = learner.warmup_cosine(step, 1.0, 4, 10, min_rate=0.2)
            assert_array(found, rate, name=f"the rate at step {step}")

    @pytest.mark.refusals
    def test_warmup_longer_than_everything_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.warmup_cosine(0, 1.0, 10, 10)


def square(x):
    return float(x @ x)


def square_gradient(x):
    return 2 * x


@pytest.mark.criterion("line-search")
class TestLineSearch:
    def test_step_is_halved_until_f_falls_enough(self, learner):
        x, direction = np.array([1.0]), np.array([-6.0])  # 1 - 6 t: f is 25, 4, 0.25
        assert_array(learner.backtracking_line_search(square, square_gradient, x, direction), 0.25)

    def test_fall_has_to_be_a_share_of_what_the_slope_promises(self, learner):
        x, direction = np.array([2.0, 0.0]), np.array([-1.0, 1.0])  # f is 2 (1 - t)^2 + 2, its slope at 0 is -4
        for initial, c, step in (
            (2.2, 0.25, 1.1),
            (1.0, 0.25, 1.0),
            (1.0, 0.5, 1.0),
            (1.0, 0.6, 0.5),
            (1.0, 0.9, 0.125),
        ):
            found = learner.backtracking_line_search(square, square_gradient, x, direction, initial, c=c)
            assert_array(found, step, name=f"the step from {initial} for c = {c}")

    def test_first_step_and_factor_can_be_chosen(self, learner):
        x, direction = np.array([1.0]), np.array([-1.0])  # steps below 2 are enough
        found = learner.backtracking_line_search(square, square_gradient, x, direction, initial_step=8.0, shrink=0.2)
        assert_array(found, 1.6)

    @pytest.mark.edges
    def test_step_onto_nan_is_not_enough(self, learner):
        def f(x):
            return float(x[0] - np.log(x[0])) if x[0] > 0 else float("nan")

        found = learner.backtracking_line_search(f, lambda x: 1 - 1 / x, np.array([2.0]), np.array([-4.0]))
        assert_array(found, 0.25)

    @pytest.mark.refusals
    def test_direction_that_leads_up_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.backtracking_line_search(square, square_gradient, np.array([1.0]), np.array([2.0]))

    def test_step_with_the_right_gradient(self, learner):
        x, down = np.array([1.0]), np.array([-1.0])
        found = learner.backtracking_line_search(square, square_gradient, x, down, initial_step=2.2, c=0.25)
        assert_array(found, 1.1)

    @pytest.mark.refusals
    def test_gradient_with_the_wrong_sign_is_an_error_in_the_end(self, learner):
        x, up = np.array([1.0]), np.array([1.0])
        with pytest.raises(ValueError):
            learner.backtracking_line_search(square, square_gradient, x, up)
        with pytest.raises(ValueError):
            learner.backtracking_line_search(square, lambda x: -2 * x, x, up)


@pytest.mark.criterion("minimize")
class TestMinimize:
    def test_history_begins_before_the_first_step(self, learner):
        def halve(params, grads, state, **hyper):
            return {"x": params["x"] / 2}, state

        result = learner.minimize(square, square_gradient, np.array([4.0, 0.0]), halve, 3)
        x, history = unpack(result, "x", "history")
        assert_array(x, [0.5, 0.0], name="x")
        assert_array(np.asarray(history), [16.0, 4.0, 1.0, 0.25], name="history")

    def test_state_is_handed_from_step_to_step(self, learner):
        def longer_each_time(params, grads, state, **hyper):
            count = state.get("count", 0) + 1
            return {"x": params["x"] + count}, {"count": count}

        x, _ = unpack(learner.minimize(square, square_gradient, np.array([0.0]), longer_each_time, 4), "x", "history")
        assert_array(x, [10.0], name="x")  # 1 + 2 + 3 + 4

    def test_hyperparameters_reach_the_step(self, learner):
        came = []

        def scaled(params, grads, state, **hyper):
            came.append(hyper)
            return {"x": np.maximum(params["x"] - hyper.get("rate", 0) * grads["x"], hyper.get("floor", 0))}, state

        result = learner.minimize(square, square_gradient, np.array([4.0]), scaled, 2, rate=0.25, floor=1.5)
        assert_equal(came[:1], [{"rate": 0.25, "floor": 1.5}], name="the keyword arguments of the first call of step")
        x, history = unpack(result, "x", "history")
        assert_array(x, [1.5], name="x")
        assert_array(np.asarray(history), [16.0, 4.0, 2.25], name="history")
