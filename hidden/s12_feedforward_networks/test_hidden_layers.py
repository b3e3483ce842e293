"""Hidden tests of stage s12: initial weights and the Dense layer."""

import itertools

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_gradient, assert_shape, unchanged
from hidden.s12_feedforward_networks import checks, oracles
from hidden.s12_feedforward_networks.oracles import ACTIVATIONS

pytestmark = pytest.mark.values

# Shapes of x where (batch, 4) is expected, and of grad_output where (2, 4) is.
REFUSED = [(4,), (3, 5), (3, 1), (4, 3), (2, 3, 4), (1, 1, 4)]
OTHER_SHAPES = [(4,), (1, 4), (2, 1), (4, 2), (8,), (2, 5), (1, 2, 4)]


def assert_uniform(weights, limit):
    """Assert that 60 000 weights look uniform between the limits.

    The chance of a wrong alarm is below 1e-9: with n = 60 000 draws none comes within 1 % of a limit with probability
    0.99^n < 1e-260; the mean has 8 standard errors of room, 0.58 limit / sqrt(n) each, and the standard deviation 15,
    0.26 limit / sqrt(n) each.
    """
    largest, error = float(np.abs(weights).max()), limit / np.sqrt(np.size(weights))
    assert_equal(largest <= limit * (1 + 1e-12), True, name=f"whether no weight is beyond {limit:.4f} ({largest:.4f})")
    assert_equal(largest > 0.99 * limit, True, name=f"whether the largest weight is near {limit:.4f} ({largest:.4f})")
    assert_array(np.mean(weights), 0.0, atol=5 * error, name="mean of the weights")
    assert_array(np.std(weights), limit / np.sqrt(3), atol=4 * error, name="standard deviation of the weights")


def assert_normal(weights, deviation):
    """Assert that 60 000 weights look normal with mean 0 and this standard deviation.

    The chance of a wrong alarm is below 1e-9: the mean is 8 standard errors wide, the standard deviation 8, the share
    within one standard deviation, 0.6827 with a standard error of 0.0019, 7 on either side.
    """
    error = deviation / np.sqrt(np.size(weights))
    assert_array(np.mean(weights), 0.0, atol=8 * error, name="mean of the weights")
    assert_array(np.std(weights), deviation, atol=6 * error, name="standard deviation of the weights")
    share = float(np.mean(np.abs(weights) < deviation))
    assert_array(share, 0.6827, atol=0.0135, name="share of the weights within one standard deviation of 0")


@pytest.mark.criterion("initial-weights")
class TestInitialWeights:
    @pytest.mark.parametrize("sizes", [(300, 200), (100, 600)])
    def test_xavier_is_uniform(self, learner, rng, sizes):
        weights = learner.xavier_uniform(*sizes, rng)
        assert_shape(weights, sizes, axes="fan_in fan_out")
        assert_uniform(weights, (6 / sum(sizes)) ** 0.5)

    @pytest.mark.parametrize("sizes", [(300, 200), (100, 600)])
    def test_he_is_normal(self, learner, rng, sizes):
        weights = learner.he_normal(*sizes, rng)
        assert_shape(weights, sizes, axes="fan_in fan_out")
        assert_normal(weights, (2 / sizes[0]) ** 0.5)

    @pytest.mark.parametrize("name", ["xavier_uniform", "he_normal"])
    @pytest.mark.purity
    def test_the_generator_decides(self, learner, seed, name):
        draw = getattr(learner, name)
        first, again = (np.random.default_rng(seed) for _ in range(2))
        weights = draw(3, 4, first)
        assert_array(draw(3, 4, again), weights, name="result with an equal generator")
        assert_differ(weights, draw(3, 4, first), shape=(3, 4), name="two draws of one generator")

    @pytest.mark.parametrize("name", ["xavier_uniform", "he_normal"])
    @pytest.mark.edges
    def test_one_input_or_output_is_enough(self, learner, rng, name):
        draw = getattr(learner, name)
        assert_shape(draw(1, 2, rng), (1, 2))
        assert_shape(draw(2, 1, rng), (2, 1))

    @pytest.mark.parametrize("name", ["xavier_uniform", "he_normal"])
    @pytest.mark.refusals
    def test_sizes_below_one_are_refused(self, learner, rng, name):
        draw = getattr(learner, name)
        for sizes in ((0, 3), (3, 0), (-1, 3), (3, -2)):
            with pytest.raises(ValueError):
                draw(*sizes, rng)


@pytest.mark.criterion("dense-parameters")
class TestDenseParameters:
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_new_parameters(self, learner, rng, activation):
        layer = learner.Dense(300, 200, activation, rng)
        params = layer.params
        assert_equal(sorted(params), ["bias", "weights"], name="names of params")
        assert_shape(params["weights"], (300, 200), name="weights", axes="num_inputs num_outputs")
        if activation == "relu":
            assert_normal(params["weights"], (2 / 300) ** 0.5)
        else:
            assert_uniform(params["weights"], (6 / 500) ** 0.5)
        assert_array(params["bias"], np.zeros(200), name="bias")
        assert_equal(layer.grads, {}, name="grads before backward")

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.purity
    def test_the_generator_decides(self, learner, seed, activation):
        first, again = (np.random.default_rng(seed) for _ in range(2))
        weights = learner.Dense(3, 4, activation, first).params["weights"]
        equal = learner.Dense(3, 4, activation, again).params["weights"]
        assert_array(equal, weights, name="weights from an equal generator")
        second = learner.Dense(3, 4, activation, first).params["weights"]
        assert_differ(weights, second, shape=(3, 4), name="weights of two layers of one generator")

    @pytest.mark.refusals
    def test_what_is_no_layer_is_refused(self, learner, rng):
        for activation in ("cubic", "", "Relu"):
            with pytest.raises(ValueError):
                learner.Dense(3, 2, activation, rng)
        for sizes, activation in itertools.product([(0, 2), (3, 0), (-1, 2)], ("relu", "tanh")):
            with pytest.raises(ValueError):
                learner.Dense(*sizes, activation, rng)


def new_dense(learner, rng, p, activation):
    """Return a learner's Dense with these parameters."""
    layer = learner.Dense(*p["weights"].shape, activation, rng)
    layer.params = p
    return layer


@pytest.mark.criterion("dense-forward")
class TestDenseForward:
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_batches_of_several_sizes(self, learner, rng, activation):
        num_inputs, num_outputs, batch = oracles.draw_sizes(rng, 3)
        p = oracles.draw_dense(rng, num_inputs, num_outputs)
        layer = new_dense(learner, rng, p, activation)
        for size in (batch, 1, num_inputs):
            x = rng.normal(size=(size, num_inputs))
            with unchanged(x):
                result = layer.forward(x)
            assert_array(result, oracles.dense(x, p, activation))

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_square_weights_are_not_turned(self, learner, rng, activation):
        p, x = oracles.draw_dense(rng, 4, 4), rng.normal(size=(4, 4))
        assert_array(new_dense(learner, rng, p, activation).forward(x), oracles.dense(x, p, activation))

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.edges
    def test_sums_far_from_zero(self, learner, rng, activation):
        layer = new_dense(learner, rng, {"weights": np.eye(1), "bias": np.zeros(1)}, activation)
        x = np.array([[-1000.0], [-40.0], [-1.0], [0.0], [1.0], [40.0], [1000.0]]) * rng.uniform(0.8, 1.2)
        for value in x:  # one by one, so that each is compared on its own scale where it is large
            assert_array(layer.forward(value[None]), oracles.dense(value[None], layer.params, activation), atol=1e-9)

    def test_the_latest_parameters_are_used(self, learner, rng):
        layer, x = learner.Dense(3, 5, "tanh", rng), rng.normal(size=(2, 3))
        for p in (layer.params, oracles.draw_dense(rng, 3, 5), oracles.draw_dense(rng, 3, 5)):
            layer.params = p
            assert_array(layer.forward(x), oracles.dense(x, p, "tanh"))

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng, activation):
        x, p = rng.normal(size=(3, 4)), oracles.draw_dense(rng, 4, 6)
        layer = new_dense(learner, rng, {name: value.astype(np.float32) for name, value in p.items()}, activation)
        assert_array(layer.forward(x.astype(np.float32)), oracles.dense(x, p, activation), dtype="float32", rtol=1e-4)

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.dtype
    def test_integers_have_outputs_with_fractions(self, learner, rng, activation):
        x, p = rng.integers(-2, 3, size=(3, 4)), oracles.draw_dense(rng, 4, 6)
        for params in (p, {name: np.sign(value).astype(int) for name, value in p.items()}):
            layer = new_dense(learner, rng, params, activation)
            expected = oracles.dense(x.astype(float), {n: v.astype(float) for n, v in params.items()}, activation)
            assert_array(layer.forward(x), expected)

    @pytest.mark.refusals
    def test_x_of_another_shape_is_refused(self, learner, rng):
        for shape in REFUSED:
            with pytest.raises(ValueError):
                learner.Dense(4, 3, "relu", rng).forward(rng.normal(size=shape))


@pytest.mark.criterion("dense-backward")
class TestDenseBackward:
    @pytest.mark.parametrize("activation", ACTIVATIONS)
    def test_last_forward_and_last_backward_count(self, learner, rng, activation):
        num_inputs, num_outputs, batch = oracles.draw_sizes(rng, 3)
        p = oracles.draw_dense(rng, num_inputs, num_outputs)
        layer = new_dense(learner, rng, p, activation)
        for size in (batch, 1, batch + 3):
            x = oracles.draw_x(rng, size, {f"layers.0.{key}": value for key, value in p.items()}, (activation,))
            grad_output = rng.normal(size=(size, num_outputs))
            layer.forward(x)
            with unchanged(grad_output):
                grad_x = layer.backward(grad_output)
            of_x, of_p = checks.numerical_gradients(lambda x, p: oracles.dense(x, p, activation), grad_output, x, p)
            assert_gradient(grad_x, of_x, name="grad_x")
            checks.assert_gradients(layer.grads, of_p)

    @pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid"])
    @pytest.mark.edges
    def test_slopes_far_from_zero(self, learner, rng, activation):
        layer = new_dense(learner, rng, {"weights": np.eye(1), "bias": np.zeros(1)}, activation)
        layer.forward(np.array([[-1000.0], [1000.0]]))
        expected = [[0.0], [3.0 if activation == "relu" else 0.0]]
        assert_array(layer.backward(np.array([[2.0], [3.0]])), expected, atol=1e-9, name="grad_x")

    @pytest.mark.edges
    def test_relu_passes_nothing_at_exactly_zero(self, learner, rng):
        p = {"weights": rng.normal(size=(3, 4)), "bias": np.array([0.0, 1.0, -1.0, 0.0])}
        layer, grad_output = new_dense(learner, rng, p, "relu"), rng.normal(size=(2, 4))
        layer.forward(np.zeros((2, 3)))
        layer.backward(grad_output)
        assert_array(layer.grads["bias"], [0.0, grad_output[:, 1].sum(), 0.0, 0.0], name="grads['bias']")

    @pytest.mark.purity
    def test_twice_backward_is_as_good_as_once(self, learner, rng):
        layer, grad_output = new_dense(learner, rng, oracles.draw_dense(rng, 3, 4), "sigmoid"), rng.normal(size=(2, 4))
        layer.forward(rng.normal(size=(2, 3)))
        once, grads = layer.backward(grad_output), layer.grads
        assert_array(layer.backward(grad_output), once, name="second grad_x")
        checks.assert_keys(grads, layer.params, "grads")
        checks.assert_params(layer.grads, grads, name="second grads")

    @pytest.mark.parametrize("activation", ACTIVATIONS)
    @pytest.mark.dtype
    def test_single_precision_is_kept(self, learner, rng, activation):
        p, grad_output = oracles.draw_dense(rng, 3, 4), rng.normal(size=(2, 4))
        x = oracles.draw_x(rng, 2, {f"layers.0.{key}": value for key, value in p.items()}, (activation,))
        layer = new_dense(learner, rng, {name: value.astype(np.float32) for name, value in p.items()}, activation)
        layer.forward(x.astype(np.float32))
        grad_x = layer.backward(grad_output.astype(np.float32))
        of_x, of_p = checks.numerical_gradients(lambda x, p: oracles.dense(x, p, activation), grad_output, x, p)
        assert_array(grad_x, of_x, dtype="float32", rtol=1e-3, name="grad_x")
        checks.assert_params(layer.grads, of_p, name="grads", dtype="float32", rtol=1e-3)

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        layer = learner.Dense(3, 4, "tanh", rng)
        layer.forward(rng.normal(size=(2, 3)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                layer.backward(rng.normal(size=shape))
