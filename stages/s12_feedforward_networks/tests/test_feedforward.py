"""Public tests of stage s12: small examples with the numbers written out."""

import itertools

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_differ,
    assert_equal,
    assert_gradient,
    assert_shape,
    numerical_gradient,
    plain_array,
)

pytestmark = pytest.mark.values

DIGITS = 1e-6  # relative tolerance of numbers written out to seven places
NORM = 1e-4  # relative tolerance that accepts eps inside the square root and outside


@pytest.mark.criterion("initial-weights")
class TestInitialWeights:
    def test_xavier_draws_between_two_limits(self, learner):
        weights = learner.xavier_uniform(200, 100, np.random.default_rng(1))
        assert_shape(weights, (200, 100), axes="fan_in fan_out")
        largest = float(np.abs(weights).max())  # of 20 000 numbers below sqrt(6 / 300) = 0.1414
        assert_equal(0.14 < largest <= 0.1415, True, name=f"whether the largest weight is about 0.1414 ({largest:.4f})")

    def test_he_draws_with_a_standard_deviation(self, learner):
        weights = learner.he_normal(200, 100, np.random.default_rng(1))
        assert_shape(weights, (200, 100), axes="fan_in fan_out")
        assert_array(np.std(weights), 0.1, atol=0.004, name="standard deviation")
        assert_array(np.mean(weights), 0.0, atol=0.005, name="mean")

    @pytest.mark.refusals
    def test_sizes_start_at_one(self, learner):
        with pytest.raises(ValueError):
            learner.xavier_uniform(0, 3, np.random.default_rng(1))
        with pytest.raises(ValueError):
            learner.he_normal(3, 0, np.random.default_rng(1))


@pytest.mark.criterion("dense-parameters")
class TestDenseParameters:
    def test_a_new_layer_has_weights_and_a_bias_of_zeros(self, learner):
        layer = learner.Dense(3, 2, "tanh", np.random.default_rng(1))
        params = layer.params
        assert_equal(sorted(params), ["bias", "weights"], name="names of params")
        assert_shape(params["weights"], (3, 2), name="weights", axes="num_inputs num_outputs")
        assert_array(params["bias"], [0.0, 0.0], name="bias")
        assert_equal(layer.grads, {}, name="grads before backward")

    def test_relu_layers_start_with_he_weights(self, learner):
        weights = learner.Dense(200, 100, "relu", np.random.default_rng(1)).params["weights"]
        assert_array(np.std(weights), 0.1, atol=0.004, name="standard deviation")  # sqrt(2 / 200)

    def test_other_layers_start_with_xavier_weights(self, learner):
        weights = learner.Dense(200, 100, "linear", np.random.default_rng(1)).params["weights"]
        largest = float(np.abs(weights).max())  # of 20 000 numbers below sqrt(6 / 300) = 0.1414
        assert_equal(0.14 < largest <= 0.1415, True, name=f"whether the largest weight is about 0.1414 ({largest:.4f})")

    @pytest.mark.refusals
    def test_an_unknown_activation_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.Dense(3, 2, "softplus", np.random.default_rng(1))


def three_neurons(learner, activation):
    """Return a Dense layer of two inputs and three neurons with numbers to follow by hand."""
    layer = learner.Dense(2, 3, activation, np.random.default_rng(1))
    layer.params = {"weights": np.array([[1.0, -2.0, 0.5], [3.0, 0.0, -1.0]]), "bias": np.array([0.5, 1.0, -1.0])}
    return layer


@pytest.fixture
def samples():
    """Two samples for which the three neurons' sums are [[7.5, -1, -2.5], [-2.5, 1, 0]]."""
    return np.array([[1.0, 2.0], [0.0, -1.0]])


@pytest.mark.criterion("dense-forward")
class TestDenseForward:
    def test_linear_is_the_weighted_sum_plus_bias(self, learner, samples):
        result = three_neurons(learner, "linear").forward(samples)
        assert_array(result, [[7.5, -1.0, -2.5], [-2.5, 1.0, 0.0]])

    def test_relu_keeps_what_is_above_zero(self, learner, samples):
        result = three_neurons(learner, "relu").forward(samples)
        assert_array(result, [[7.5, 0.0, 0.0], [0.0, 1.0, 0.0]])

    def test_tanh(self, learner, samples):
        result = three_neurons(learner, "tanh").forward(samples)
        assert_array(result, [[0.9999994, -0.7615942, -0.9866143], [-0.9866143, 0.7615942, 0.0]], rtol=DIGITS)

    def test_sigmoid(self, learner, samples):
        result = three_neurons(learner, "sigmoid").forward(samples)
        assert_array(result, [[0.9994472, 0.2689414, 0.0758582], [0.0758582, 0.7310586, 0.5]], rtol=DIGITS)

    @pytest.mark.refusals
    def test_x_of_another_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            three_neurons(learner, "relu").forward(np.ones((4, 3)))
        with pytest.raises(ValueError):
            three_neurons(learner, "relu").forward(np.ones(2))


@pytest.mark.criterion("dense-backward")
class TestDenseBackward:
    def test_relu_passes_gradients_where_its_sum_was_above_zero(self, learner, samples):
        layer = three_neurons(learner, "relu")
        layer.forward(samples)
        grad_x = layer.backward(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        assert_array(layer.grads["weights"], [[1.0, 0.0, 0.0], [2.0, -5.0, 0.0]], name="grads['weights']")
        assert_array(layer.grads["bias"], [1.0, 5.0, 0.0], name="grads['bias']")
        assert_array(grad_x, [[1.0, 3.0], [-10.0, 0.0]], name="grad_x")

    @pytest.mark.parametrize("activation", ["relu", "tanh", "sigmoid", "linear"])
    def test_gradients_agree_with_finite_differences(self, learner, activation):
        layer = three_neurons(learner, activation)
        params, x = layer.params, np.array([[0.3, -0.2], [-1.0, 0.75]])
        grad_output = np.array([[1.0, -2.0, 3.0], [0.5, 1.5, -1.0]])

        def loss(name, value):
            layer.params = {**params, name: value} if name in params else params
            return float((plain_array(layer.forward(value if name == "x" else x)) * grad_output).sum())

        values = {"x": x, **params}
        expected = {
            name: numerical_gradient(lambda value, name=name: loss(name, value), value)
            for name, value in values.items()
        }
        layer.params = params
        layer.forward(x)
        assert_gradient(layer.backward(grad_output), expected.pop("x"), name="grad_x")
        for name, value in expected.items():
            assert_gradient(layer.grads[name], value, name=f"grads[{name!r}]")

    def test_a_second_backward_replaces_the_gradients(self, learner, samples):
        layer = three_neurons(learner, "linear")
        layer.forward(samples)
        layer.backward(np.ones((2, 3)))
        layer.backward(np.full((2, 3), 2.0))
        assert_array(layer.grads["bias"], [4.0, 4.0, 4.0], name="grads['bias']")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        with pytest.raises(RuntimeError) as caught:
            three_neurons(learner, "relu").backward(np.ones((2, 3)))
        if isinstance(caught.value, NotImplementedError):
            raise caught.value


def normalise(learner, x, training=True, gamma=(1.0, 1.0), beta=(0.0, 0.0), mean=(0.0, 0.0), var=(1.0, 1.0), **more):
    """Call batch_norm_forward with lists of numbers."""
    vectors = [np.array(values, dtype=np.float64) for values in (gamma, beta, mean, var)]
    return learner.batch_norm_forward(np.array(x, dtype=np.float64), *vectors, training, **more)


@pytest.mark.criterion("batch-norm-training")
class TestBatchNormTraining:
    def test_each_feature_gets_mean_zero_and_variance_one(self, learner):
        output = normalise(learner, [[1.0, 10.0], [3.0, 30.0]])[0]
        assert_array(output, [[-1.0, -1.0], [1.0, 1.0]], rtol=NORM)

    def test_gamma_scales_and_beta_shifts(self, learner):
        output = normalise(learner, [[1.0, 10.0], [3.0, 30.0]], gamma=(2.0, 1.0), beta=(0.0, 5.0))[0]
        assert_array(output, [[-2.0, 4.0], [2.0, 6.0]], rtol=NORM)

    @pytest.mark.edges
    def test_a_constant_feature_gives_beta(self, learner):
        output = normalise(learner, [[4.0, 1.0], [4.0, 3.0], [4.0, 5.0]], beta=(0.5, 0.0))[0]
        assert_array(output, [[0.5, -1.224745], [0.5, 0.0], [0.5, 1.224745]], rtol=NORM)

    @pytest.mark.refusals
    def test_one_sample_is_too_few(self, learner):
        with pytest.raises(ValueError):
            normalise(learner, [[1.0, 10.0]])


@pytest.mark.criterion("batch-norm-running")
class TestBatchNormRunning:
    def test_running_statistics_move_towards_the_batch(self, learner):
        _, mean, var, _ = normalise(learner, [[1.0, 10.0], [3.0, 30.0]], momentum=0.75)
        assert_array(mean, [0.5, 5.0], name="running_mean")  # 0.75 * [0, 0] + 0.25 * [2, 20]
        assert_shape(var, (2,), name="running_var")
        divided = {"batch": [1.0, 25.75], "batch - 1": [1.25, 50.75]}  # the batch's: [1, 100] or [2, 200]
        nearest = min(divided, key=lambda by: abs(var[1] - divided[by][1]))
        assert_array(var, divided[nearest], name="running_var")

    def test_evaluation_uses_the_running_statistics(self, learner):
        output, mean, var, _ = normalise(learner, [[3.0, 30.0]], training=False, mean=(1.0, 10.0), var=(4.0, 100.0))
        assert_array(output, [[1.0, 2.0]], rtol=NORM)
        assert_array(mean, [1.0, 10.0], name="running_mean")
        assert_array(var, [4.0, 100.0], name="running_var")

    def test_training_ignores_the_running_statistics(self, learner):
        output = normalise(learner, [[1.0, 10.0], [3.0, 30.0]], mean=(7.0, 7.0), var=(9.0, 9.0))[0]
        assert_array(output, [[-1.0, -1.0], [1.0, 1.0]], rtol=NORM)


@pytest.mark.criterion("batch-norm-backward")
class TestBatchNormBackward:
    def test_training_takes_mean_and_variance_along(self, learner):
        *_, cache = normalise(learner, [[1.0, 0.0], [2.0, 5.0], [6.0, 1.0]], gamma=(1.0, 3.0))
        grad_output = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
        grad_x, grad_gamma, grad_beta = learner.batch_norm_backward(grad_output, cache)
        expected = [[0.1763664, -0.6613783], [-0.2204580, -0.1653446], [0.0440916, 0.8267229]]
        assert_array(grad_x, expected, rtol=NORM, name="grad_x")
        assert_array(grad_gamma, [-0.9258191, -0.46291], rtol=NORM, name="grad_gamma")
        assert_array(grad_beta, [1.0, 1.0], rtol=NORM, name="grad_beta")

    def test_evaluation_scales_each_gradient_by_itself(self, learner):
        x = [[1.0, 0.0], [2.0, 5.0]]
        *_, cache = normalise(learner, x, training=False, gamma=(1.0, 3.0), var=(4.0, 9.0))
        grad_x, grad_gamma, grad_beta = learner.batch_norm_backward(np.array([[1.0, 2.0], [0.0, -1.0]]), cache)
        assert_array(grad_x, [[0.5, 2.0], [0.0, -1.0]], rtol=NORM, name="grad_x")
        assert_array(grad_gamma, [0.5, -1.6666667], rtol=NORM, name="grad_gamma")
        assert_array(grad_beta, [1.0, 1.0], name="grad_beta")


def two_layers(learner):
    """Return a network 2 -> 2 -> 2 with tanh between, whose parameters are small whole numbers and halves."""
    rng = np.random.default_rng(1)
    layers = [learner.Dense(2, 2, "tanh", rng), learner.Dense(2, 2, "linear", rng)]
    layers[0].params = {"weights": np.array([[1.0, -0.5], [0.5, 1.0]]), "bias": np.array([0.0, 0.5])}
    layers[1].params = {"weights": np.array([[2.0, 0.0], [-1.0, 1.0]]), "bias": np.array([1.0, -1.0])}
    return learner.NeuralNetwork(layers)


@pytest.mark.criterion("network-forward")
class TestNetworkForward:
    def test_the_second_layer_works_on_the_output_of_the_first(self, learner):
        result = two_layers(learner).forward(np.array([[1.0, 0.0], [0.0, 2.0]]))
        assert_array(result, [[2.5231883, -1.0], [1.5365740, -0.0133857]], rtol=DIGITS)

    def test_params_show_what_the_layers_hold(self, learner):
        network = two_layers(learner)
        network.layers[1].params = {"weights": np.eye(2), "bias": np.array([5.0, 6.0])}
        params = network.params
        names = ["layers.0.bias", "layers.0.weights", "layers.1.bias", "layers.1.weights"]
        assert_equal(sorted(params), names, name="names of params")
        assert_array(params["layers.0.weights"], [[1.0, -0.5], [0.5, 1.0]], name="params['layers.0.weights']")
        assert_array(params["layers.1.bias"], [5.0, 6.0], name="params['layers.1.bias']")

    @pytest.mark.refusals
    def test_a_network_without_layers_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.NeuralNetwork([])


@pytest.mark.criterion("network-backward")
class TestNetworkBackward:
    def test_gradients_of_one_sample(self, learner):
        network = two_layers(learner)
        network.forward(np.array([[1.0, 0.0]]))  # the sums of the first layer are [1, 0]
        grad_x = network.backward(np.array([[1.0, 2.0]]))
        grads = network.grads
        names = ["layers.0.bias", "layers.0.weights", "layers.1.bias", "layers.1.weights"]
        assert_equal(sorted(grads), names, name="names of grads")
        expected = [[0.7615942, 1.5231883], [0.0, 0.0]]
        assert_array(grads["layers.1.weights"], expected, rtol=DIGITS, name="grads['layers.1.weights']")
        assert_array(grads["layers.1.bias"], [1.0, 2.0], name="grads['layers.1.bias']")
        assert_array(grads["layers.0.bias"], [0.8399487, 1.0], rtol=DIGITS, name="grads['layers.0.bias']")
        expected = [[0.8399487, 1.0], [0.0, 0.0]]
        assert_array(grads["layers.0.weights"], expected, rtol=DIGITS, name="grads['layers.0.weights']")
        assert_array(grad_x, [[0.3399487, 1.4199743]], rtol=DIGITS, name="grad_x")

    def test_grads_are_empty_before_backward(self, learner):
        assert_equal(two_layers(learner).grads, {}, name="grads")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        with pytest.raises(RuntimeError) as caught:
            two_layers(learner).backward(np.ones((1, 2)))
        if isinstance(caught.value, NotImplementedError):
            raise caught.value


@pytest.mark.criterion("loss")
class TestLoss:
    def test_mean_over_the_batch_of_minus_log_probability(self, learner):
        logits = np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        assert_array(learner.compute_loss(logits, np.array([0, 2])), 0.6690785, rtol=DIGITS)  # (0.2395448 + log 3) / 2

    @pytest.mark.edges
    def test_a_sure_answer_costs_nothing_if_right_and_much_if_wrong(self, learner):
        logits = np.array([[1000.0, 0.0]])
        assert_array(learner.compute_loss(logits, np.array([0])), 0.0)
        assert_array(learner.compute_loss(logits, np.array([1])), 1000.0)

    @pytest.mark.refusals
    def test_a_target_that_is_no_class_is_refused(self, learner):
        for target in (-1, 3, 0.5):
            with pytest.raises(ValueError):
                learner.compute_loss(np.zeros((2, 3)), np.array([0, target]))


@pytest.mark.criterion("loss-gradient")
class TestLossGradient:
    def test_probability_minus_truth_over_batch(self, learner):
        result = learner.compute_loss_gradient(np.array([[2.0, 0.0, 0.0], [0.0, 0.0, 0.0]]), np.array([0, 2]))
        expected = [[-0.1065070, 0.0532535, 0.0532535], [0.1666667, 0.1666667, -0.3333333]]
        assert_array(result, expected, rtol=DIGITS)

    def test_agrees_with_finite_differences_of_compute_loss(self, learner):
        logits, targets = np.array([[0.5, -1.0, 2.0], [1.5, 0.0, -0.5]]), np.array([1, 0])
        slope = numerical_gradient(lambda z: learner.compute_loss(z, targets), logits)
        assert_gradient(learner.compute_loss_gradient(logits, targets), slope, name="result")

    @pytest.mark.edges
    def test_large_logits(self, learner):
        result = learner.compute_loss_gradient(np.array([[1000.0, 0.0], [0.0, -1000.0]]), np.array([0, 1]))
        assert_array(result, [[0.0, 0.0], [0.5, -0.5]])


def one_layer(learner):
    """Return a network of one linear layer 1 -> 2 whose parameters are zeros."""
    layer = learner.Dense(1, 2, "linear", np.random.default_rng(1))
    layer.params = {"weights": np.zeros((1, 2)), "bias": np.zeros(2)}
    return learner.NeuralNetwork([layer])


@pytest.mark.criterion("train-step")
class TestTrainStep:
    def test_one_step_from_zero(self, learner):
        network = one_layer(learner)
        loss = learner.train_step(network, np.array([[2.0]]), np.array([0]), 0.5)
        assert_array(loss, 0.6931472, rtol=DIGITS, name="loss before the step")  # log 2
        assert_array(network.params["layers.0.weights"], [[0.5, -0.5]], name="weights")  # - 0.5 * 2 * [-0.5, 0.5]
        assert_array(network.params["layers.0.bias"], [0.25, -0.25], name="bias")

    def test_every_layer_takes_the_step(self, learner):
        network = two_layers(learner)
        before = network.params
        learner.train_step(network, np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([0, 1]), 0.1)
        after = network.params
        for number in range(2):
            for key, shape in (("weights", (2, 2)), ("bias", (2,))):
                name = f"layers.{number}.{key}"
                assert_differ(before[name], after[name], shape=shape, name=f"{name} before and after the step")

    def test_the_loss_falls(self, learner):
        network, X, y = two_layers(learner), np.array([[1.0, -1.0], [0.5, 2.0]]), np.array([0, 1])
        losses = [plain_array(learner.train_step(network, X, y, 0.1)) for _ in range(5)]
        falls = all(later < sooner for sooner, later in itertools.pairwise(losses))
        assert_equal(falls, True, name="whether each loss is below the one before")


@pytest.mark.criterion("train")
class TestTrain:
    def test_two_epochs_of_one_batch(self, learner):
        network, X, y = one_layer(learner), np.array([[2.0], [2.0]]), np.array([0, 0])
        history = learner.train(network, X, y, 2, 2, 0.5, np.random.default_rng(1))
        assert_equal(sorted(history), ["accuracy", "loss"], name="names in history")
        assert_array(np.array(list(history["loss"])), [0.6931472, 0.0788897], rtol=DIGITS, name="history['loss']")
        assert_array(np.array(list(history["accuracy"])), [1.0, 1.0], name="history['accuracy']")
        assert_array(network.params["layers.0.bias"], [0.2879291, -0.2879291], rtol=DIGITS, name="bias")

    def test_every_sample_counts_once_an_epoch(self, learner):
        network, X, y = two_layers(learner), np.array([[1.0, 0.0]] * 4 + [[0.0, 2.0]]), np.array([0, 0, 0, 0, 1])
        history = learner.train(network, X, y, 1, 2, 0.0, np.random.default_rng(1))
        assert_array(np.array(list(history["loss"])), [0.3717513], rtol=DIGITS, name="history['loss'] without learning")
        assert_array(np.array(list(history["accuracy"])), [0.8], name="history['accuracy'] without learning")

    @pytest.mark.purity
    def test_equal_generators_give_equal_results(self, learner):
        X, y = np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]), np.array([0, 1, 1])
        first, again = (two_layers(learner) for _ in range(2))
        once = learner.train(first, X, y, 3, 1, 0.3, np.random.default_rng(5))
        twice = learner.train(again, X, y, 3, 1, 0.3, np.random.default_rng(5))
        assert_array(
            np.array(list(twice["loss"])), np.array(list(once["loss"])), name="history['loss'] of the second run"
        )
        params, same = first.params, again.params
        for name in [f"layers.{number}.{key}" for number in range(2) for key in ("weights", "bias")]:
            assert_array(same[name], params[name], name=f"{name} of the second run")

    @pytest.mark.refusals
    def test_a_batch_without_samples_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.train(one_layer(learner), np.ones((3, 1)), np.array([0, 1, 0]), 1, 0, 0.1, np.random.default_rng(1))


def spirals(points):
    """Return points of two spirals of one turn, from radius 0.3 to 3, and which arm each belongs to."""
    share = (np.arange(points) + 0.5) / points
    radius, angle = 0.3 + 2.7 * share, 2 * np.pi * share
    arms = [radius[:, None] * np.stack([np.cos(angle + turn), np.sin(angle + turn)], axis=1) for turn in (0, np.pi)]
    return np.concatenate(arms), np.repeat([0, 1], points)


def learn_spirals(learner, rng):
    """Return the accuracy of a new network after 40 epochs on two spirals."""
    hidden = [learner.Dense(2, 32, "relu", rng), learner.Dense(32, 32, "relu", rng)]
    network = learner.NeuralNetwork([*hidden, learner.Dense(32, 2, "linear", rng)])
    X, y = spirals(100)
    learner.train(network, X, y, 2, 10, 0.1, rng)
    history = learner.train(network, X, y, 38, 10, 0.1, rng)
    return float(plain_array(history["accuracy"][-1]))


@pytest.mark.criterion("two-spirals")
class TestTwoSpirals:
    def test_two_spirals_are_told_apart(self, learner):
        """The best of up to three networks counts: of 3000 that the reference trained, the worst had 98 % right."""
        best = 0.0
        for seed in range(3):
            best = max(best, learn_spirals(learner, np.random.default_rng(seed)))
            if best > 0.97:
                break
        assert_equal(best > 0.97, True, name=f"whether more than 97% of the points are right ({best:.1%})")
