"""Hidden tests of stage s12: networks of layers, and the loss on their logits."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, numerical_gradient, unchanged
from hidden.s12_feedforward_networks import checks, oracles

pytestmark = pytest.mark.values

# (logits, targets) of which none is a batch of logits with a class for each sample.
NO_BATCHES = [((3,), (3,)), ((2, 3, 4), (2,)), ((2, 3), (3,)), ((2, 3), (1,)), ((2, 3), (2, 1)), ((2, 3), ())]


def draw(learner, rng, depth):
    """Return a network of several activations, its parameters, their names and clear inputs, all of other sizes."""
    sizes = oracles.draw_sizes(rng, depth + 2)
    names = (*rng.permutation(["relu", "tanh", "sigmoid", "relu"])[: depth - 1].tolist(), "linear")
    p = oracles.draw_network(rng, sizes[:-1])
    x = oracles.draw_x(rng, sizes[-1], p, names)
    return oracles.new_network(learner, p, names, rng), p, names, x


@pytest.mark.criterion("network-forward")
class TestNetworkForward:
    @pytest.mark.parametrize("depth", [1, 2, 4])
    def test_layers_follow_one_another(self, learner, rng, depth):
        network, p, names, x = draw(learner, rng, depth)
        with unchanged(x):
            result = network.forward(x)
        assert_array(result, oracles.network(x, p, names))
        assert_equal(len(network.layers), depth, name="number of layers")

    @pytest.mark.parametrize("last", ["relu", "tanh"])
    def test_the_last_layer_has_the_last_word(self, learner, rng, last):
        p, names = oracles.draw_network(rng, [3, 5, 4]), ("tanh", last)
        x = rng.normal(size=(6, 3))
        assert_array(oracles.new_network(learner, p, names, rng).forward(x), oracles.network(x, p, names))

    def test_params_are_live(self, learner, rng):
        network, p, names, x = draw(learner, rng, 3)
        checks.assert_params(network.params, p)
        for number in (2, 0):
            own = oracles.draw_dense(rng, *p[f"layers.{number}.weights"].shape)
            network.layers[number].params = own
            p = {**p, **{f"layers.{number}.{key}": value for key, value in own.items()}}
            checks.assert_params(network.params, p)
            assert_array(network.forward(x), oracles.network(x, p, names))

    @pytest.mark.refusals
    def test_layers_that_do_not_fit_are_refused(self, learner, rng):
        layers = [learner.Dense(3, 4, "relu", rng), learner.Dense(5, 2, "linear", rng)]
        with pytest.raises(ValueError):
            learner.NeuralNetwork(layers).forward(rng.normal(size=(2, 3)))


@pytest.mark.criterion("network-backward")
class TestNetworkBackward:
    @pytest.mark.parametrize("depth", [1, 2, 4])
    def test_all_gradients_agree_with_finite_differences(self, learner, rng, depth):
        network, p, names, x = draw(learner, rng, depth)
        result = network.forward(x)
        grad_output = rng.normal(size=result.shape)
        with unchanged(grad_output):
            grad_x = network.backward(grad_output)
        of_x, of_p = checks.numerical_gradients(lambda x, p: oracles.network(x, p, names), grad_output, x, p)
        assert_gradient(grad_x, of_x, name="grad_x")
        checks.assert_gradients(network.grads, of_p)

    def test_last_forward_and_last_backward_count(self, learner, rng):
        network, p, names, _ = draw(learner, rng, 3)
        for batch in (4, 1, 6):
            x = oracles.draw_x(rng, batch, p, names)
            grad_output = rng.normal(size=network.forward(x).shape)
            grad_x = network.backward(grad_output)
            of_x, of_p = checks.numerical_gradients(lambda x, p: oracles.network(x, p, names), grad_output, x, p)
            assert_gradient(grad_x, of_x, name="grad_x")
            checks.assert_gradients(network.grads, of_p)

    def test_grads_come_from_the_layers_as_they_are(self, learner, rng):
        network, p, _, x = draw(learner, rng, 2)
        assert_equal(network.grads, {}, name="grads before backward")
        network.backward(rng.normal(size=network.forward(x).shape))
        layers = enumerate(network.layers)
        own = {f"layers.{i}.{key}": value for i, layer in layers for key, value in layer.grads.items()}
        checks.assert_keys(own, p, "grads of the layers")
        checks.assert_params(network.grads, own, name="grads")

    @pytest.mark.refusals
    def test_grad_output_of_another_shape_is_refused(self, learner, rng):
        network, _, _, x = draw(learner, rng, 2)
        batch, outputs = network.forward(x).shape
        for shape in ((outputs,), (batch + 1, outputs), (batch, outputs + 1), (1, outputs), (batch, 1)):
            with pytest.raises(ValueError):
                network.backward(rng.normal(size=shape))


@pytest.mark.criterion("loss")
class TestLoss:
    def test_batches_of_several_sizes(self, learner, rng):
        batch, classes = oracles.draw_sizes(rng, 2, least=3)
        for size in (batch, 1, classes):
            logits, targets = 2 * rng.normal(size=(size, classes)), rng.integers(0, classes, size=size)
            with unchanged(logits, targets):
                result = learner.compute_loss(logits, targets)
            assert_array(result, oracles.loss(logits, targets))

    @pytest.mark.edges
    def test_huge_logits(self, learner, rng):
        logits = rng.normal(size=(4, 3)) + np.array([[1e4], [-1e4], [800.0], [-800.0]])
        targets = rng.integers(0, 3, size=4)
        assert_array(learner.compute_loss(logits, targets), oracles.loss(logits, targets), rtol=1e-8)
        spread = rng.normal(size=(4, 3)) * 1e3
        assert_array(learner.compute_loss(spread, targets), oracles.loss(spread, targets))

    @pytest.mark.edges
    def test_logits_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        logits, targets = -1e100 * rng.uniform(1.0, 2.0, size=(4, 3)), rng.integers(0, 3, size=4)
        expected = (logits.max(axis=1) - logits[np.arange(4), targets]).mean()
        assert_array(learner.compute_loss(logits, targets), expected)

    @pytest.mark.dtype
    def test_whole_logits_have_a_loss_with_fractions(self, learner, rng):
        logits, targets = rng.integers(-2, 3, size=(5, 3)), rng.integers(0, 3, size=5)
        assert_array(learner.compute_loss(logits, targets), oracles.loss(logits, targets))

    @pytest.mark.dtype
    def test_whole_floats_are_classes(self, learner, rng):
        logits, targets = rng.normal(size=(6, 3)), rng.permutation(6) % 3
        assert_array(learner.compute_loss(logits, targets.astype(float)), oracles.loss(logits, targets))

    @pytest.mark.edges
    def test_one_class_alone_is_certain(self, learner, rng):
        assert_array(learner.compute_loss(rng.normal(size=(3, 1)), np.zeros(3, dtype=int)), 0.0)

    @pytest.mark.refusals
    def test_no_batch_of_classes_is_refused(self, learner, rng):
        for of_logits, of_targets in NO_BATCHES:
            with pytest.raises(ValueError):
                learner.compute_loss(rng.normal(size=of_logits), np.zeros(of_targets, dtype=int))
        for targets in ([0, -1], [3, 0], [0, 7], [-3, 2], [0.5, 1]):
            with pytest.raises(ValueError):
                learner.compute_loss(rng.normal(size=(2, 3)), np.array(targets))


@pytest.mark.criterion("loss-gradient")
class TestLossGradient:
    def test_agrees_with_finite_differences(self, learner, rng):
        batch, classes = oracles.draw_sizes(rng, 2, least=3)
        for size in (batch, 1, classes):
            logits, targets = 2 * rng.normal(size=(size, classes)), rng.integers(0, classes, size=size)
            with unchanged(logits, targets):
                result = learner.compute_loss_gradient(logits, targets)
            numerical = numerical_gradient(lambda z, targets=targets: oracles.loss(z, targets), logits)
            assert_gradient(result, numerical, name="result")
            assert_array(result, oracles.loss_gradient(logits, targets))

    @pytest.mark.edges
    def test_huge_logits(self, learner, rng):
        logits, targets = rng.normal(size=(4, 3)) * 1e3 + 1e3, rng.integers(0, 3, size=4)
        result = learner.compute_loss_gradient(logits, targets)
        assert_array(result, oracles.loss_gradient(logits, targets))

    @pytest.mark.dtype
    def test_whole_logits_have_a_gradient_with_fractions(self, learner, rng):
        logits, targets = rng.integers(-2, 3, size=(5, 3)), rng.integers(0, 3, size=5)
        assert_array(learner.compute_loss_gradient(logits, targets), oracles.loss_gradient(logits, targets))

    @pytest.mark.dtype
    def test_whole_floats_are_classes(self, learner, rng):
        logits, targets = rng.normal(size=(6, 3)), rng.permutation(6) % 3
        result = learner.compute_loss_gradient(logits, targets.astype(float))
        assert_array(result, oracles.loss_gradient(logits, targets))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        logits, targets = rng.normal(size=(4, 3)).astype(np.float32), rng.integers(0, 3, size=4)
        result = learner.compute_loss_gradient(logits, targets)
        assert_array(result, oracles.loss_gradient(logits, targets), dtype="float32", rtol=1e-4)

    @pytest.mark.refusals
    def test_no_batch_of_classes_is_refused(self, learner, rng):
        for of_logits, of_targets in NO_BATCHES:
            with pytest.raises(ValueError):
                learner.compute_loss_gradient(rng.normal(size=of_logits), np.zeros(of_targets, dtype=int))
        for targets in ([0, -1], [3, 0], [0, 7], [-3, 2], [0.5, 1]):
            with pytest.raises(ValueError):
                learner.compute_loss_gradient(rng.normal(size=(2, 3)), np.array(targets))
