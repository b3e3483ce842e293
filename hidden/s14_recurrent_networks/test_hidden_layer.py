"""Hidden tests of stage s14: the LSTM layer alone."""

from functools import partial

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, plain_array, unchanged
from hidden.s14_recurrent_networks import oracles
from hidden.s14_recurrent_networks.oracles import assert_gradients, unpack

pytestmark = pytest.mark.values


def new_layer(learner, weights, rng):
    """Return a learner's layer with these weights."""
    layer = learner.LSTM(len(weights["W_x"]), len(weights["W_h"]), rng)
    layer.params = weights
    return layer


def draw(rng):
    """Return x, h0 and c0 of a batch of sequences, and weights."""
    batch, time, features, hidden = oracles.draw_sizes(rng, 4)
    weights = oracles.draw_weights(rng, "lstm", features, hidden)
    return oracles.draw_sequences(rng, "lstm", batch, time, features, hidden), weights


def expected_states(x, weights, h0=None, c0=None):
    """Return the oracle's states and cell states, from zeros where none are given."""
    zeros = np.zeros((len(x), len(weights["W_h"])))
    states = {"h0": zeros if h0 is None else h0, "c0": zeros if c0 is None else c0}
    return oracles.sequence("lstm", {"x": x, **states, **weights})


def assert_forward(layer, result, expected):
    """Assert that a layer has returned these states, and kept the last."""
    hs, cs = expected
    assert_array(result, hs)
    h, c = unpack(layer.state, "h", "c")
    assert_array(h, hs[:, -1], name="state's h")
    assert_array(c, cs[:, -1], name="state's c")


@pytest.mark.criterion("lstm-layer")
class TestLSTMLayer:
    def test_new_weights(self, learner, seed):
        """The shares of mean and deviation allowed are ten and more of their own standard deviations for W_x and W_h.

        These have 64 * 400 and 100 * 400 entries: the mean is off by 0.0008 typically, the deviation by less than 1 %.
        """
        first, again = (learner.LSTM(64, 100, np.random.default_rng(seed)) for _ in range(2))
        assert_equal(set(first.params) == {"W_x", "W_h", "b"}, True, name="whether params has the keys W_x, W_h and b")
        for name, shape in (("W_x", (64, 400)), ("W_h", (100, 400))):
            weights = first.params[name]
            assert_shape(weights, shape, name=name)
            assert_array(again.params[name], weights, name=f"{name} of a second layer from an equal generator")
            assert_array(np.std(weights), shape[0] ** -0.5, rtol=0.1, atol=0, name=f"standard deviation of {name}")
            assert_array(np.mean(weights), 0.0, atol=0.01, name=f"mean of {name}")
        assert_array(first.params["b"], [0.0] * 100 + [1.0] * 100 + [0.0] * 200, name="b")

    def test_new_weights_are_drawn_one_by_one(self, learner, rng):
        """Of independent draws the singular values lie between sqrt(columns) -+ sqrt(rows) deviations, give or take 1.

        One block for all four gates, or one row or column again and again, leaves singular values of 0.
        """
        params = learner.LSTM(64, 100, rng).params
        together = []
        for name, rows in (("W_x", 64), ("W_h", 100)):
            assert_shape(params[name], (rows, 400), name=name)
            together.append(params[name] * rows**0.5)
        for name, table in (("W_x", together[0]), ("W_h", together[1]), ("W_x and W_h", np.concatenate(together))):
            sizes, spread = np.linalg.svd(table, compute_uv=False), len(table) ** 0.5
            inside = 20 - spread - 3 < sizes[-1] and sizes[0] < 20 + spread + 3
            assert_equal(bool(inside), True, name=f"whether the entries of {name} look independent of each other")

    @pytest.mark.purity
    def test_nothing_is_kept_before_the_first_call(self, learner, rng):
        layer = learner.LSTM(np.int64(2), 3, rng)
        assert_equal(layer.grads, {}, name="grads")
        assert_equal(layer.state is None, True, name="whether state is None")

    @pytest.mark.dtype
    def test_integers_have_states_with_fractions(self, learner, rng):
        inputs, weights = draw(rng)
        x = rng.integers(-2, 3, size=inputs["x"].shape)
        layer = new_layer(learner, weights, rng)
        assert_forward(layer, layer.forward(x), expected_states(x.astype(float), weights))

    @pytest.mark.refusals
    def test_backward_before_forward_is_refused(self, learner, rng):
        layer = learner.LSTM(2, 3, rng)
        with pytest.raises(RuntimeError):
            layer.backward(rng.normal(size=(2, 4, 3)))

    def test_every_call_without_a_state_starts_from_zeros(self, learner, rng):
        inputs, weights = draw(rng)
        layer = new_layer(learner, weights, rng)
        for x in (inputs["x"], -2 * inputs["x"], inputs["x"][:1]):
            with unchanged(x):
                result = layer.forward(x)
            assert_forward(layer, result, expected_states(x, weights))

    def test_given_state_is_where_it_starts(self, learner, rng):
        inputs, weights = draw(rng)
        layer = new_layer(learner, weights, rng)
        with unchanged(*inputs.values()):
            result = layer.forward(inputs["x"], (inputs["h0"], inputs["c0"]))
        assert_forward(layer, result, expected_states(**inputs, weights=weights))

    def test_two_pieces_give_what_the_whole_gives(self, learner, rng):
        inputs, weights = draw(rng)
        x, layer = np.concatenate([inputs["x"], inputs["x"] ** 2], axis=1), new_layer(learner, weights, rng)
        cut = inputs["x"].shape[1]
        first = layer.forward(x[:, :cut])
        second = layer.forward(x[:, cut:], state=layer.state)
        assert_forward(layer, np.concatenate([first, second], axis=1), expected_states(x, weights))

    @pytest.mark.purity
    def test_gradients_replace_those_of_the_last_call(self, learner, rng):
        for _ in range(2):
            inputs, weights = draw(rng)
            layer = new_layer(learner, weights, rng)
            for scale in (1, 2):
                x = scale * inputs["x"]
                grad_hs = rng.normal(size=np.shape(plain_array(layer.forward(x))))
                with unchanged(grad_hs):
                    grad_x = layer.backward(grad_hs)
                through = partial(states_from_zeros, np.zeros(inputs["h0"].shape))
                numerical = oracles.numerical_gradients(through, (grad_hs,), {"x": x, **weights})
                assert_gradients({"x": grad_x, **layer.grads}, numerical)

    def test_gradients_after_a_given_state(self, learner, rng):
        inputs, weights = draw(rng)
        layer = new_layer(learner, weights, rng)
        grad_hs = rng.normal(size=np.shape(plain_array(layer.forward(inputs["x"], (inputs["h0"], inputs["c0"])))))
        grad_x = layer.backward(grad_hs)
        numerical = oracles.numerical_gradients(
            lambda p: oracles.sequence("lstm", {"h0": inputs["h0"], "c0": inputs["c0"], **p})[:1],
            (grad_hs,),
            {"x": inputs["x"], **weights},
        )
        assert_gradients({"x": grad_x, **layer.grads}, numerical)

    @pytest.mark.purity
    def test_two_layers_do_not_share_what_they_keep(self, learner, rng):
        inputs, weights = draw(rng)
        x, others = inputs["x"], {name: -value for name, value in weights.items()}
        first, second = new_layer(learner, weights, rng), new_layer(learner, others, rng)
        hs, cs = expected_states(x, weights)
        first.forward(x)
        second.forward(1 - x)
        h, c = unpack(first.state, "h", "c")
        assert_array(h, hs[:, -1], name="h of the first of two layers")
        assert_array(c, cs[:, -1], name="c of the first of two layers")
        grad_hs = rng.normal(size=hs.shape)
        grad_x = first.backward(grad_hs)
        second.backward(grad_hs)
        numerical = oracles.numerical_gradients(
            partial(states_from_zeros, np.zeros(inputs["h0"].shape)), (grad_hs,), {"x": x, **weights}
        )
        assert_gradients({"x": grad_x, **first.grads}, numerical, of=" of the first of two layers")

    def test_the_latest_parameters_are_used(self, learner, rng):
        inputs, weights = draw(rng)
        layer = learner.LSTM(len(weights["W_x"]), len(weights["W_h"]), rng)
        for current in (layer.params, weights, {name: 0.5 * value for name, value in weights.items()}):
            layer.params = current
            assert_forward(layer, layer.forward(inputs["x"]), expected_states(inputs["x"], current))

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        inputs, weights = draw(rng)
        layer = new_layer(learner, {name: value.astype(np.float32) for name, value in weights.items()}, rng)
        x = inputs["x"].astype(np.float32)
        hs, _ = expected_states(x.astype(np.float64), weights)
        assert_array(layer.forward(x), hs, dtype="float32")

    @pytest.mark.refusals
    def test_impossible_sizes_are_refused(self, learner, rng):
        for sizes in ((0, 3), (3, 0), (-1, 3), (3, -2), (2.0, 3), (3, 2.0)):
            with pytest.raises(ValueError):
                learner.LSTM(*sizes, rng)

    @pytest.mark.refusals
    def test_arrays_that_do_not_fit_are_refused(self, learner, rng):
        layer = learner.LSTM(4, 3, rng)
        for shape in ((2, 5, 3), (2, 5, 1), (5, 4), (1, 2, 5, 4)):
            with pytest.raises(ValueError):
                layer.forward(rng.normal(size=shape))
        x, right = rng.normal(size=(2, 5, 4)), np.zeros((2, 3))
        for h, c in ((right[:1], right), (right, right[:1]), (right[:, :1], right), (right, right[:, :1])):
            with pytest.raises(ValueError):
                layer.forward(x, (h, c))
        layer.forward(x)
        for grad in oracles.wrong_gradients(rng.normal(size=(2, 5, 3))):
            with pytest.raises(ValueError):
                layer.backward(grad)


def states_from_zeros(zeros, p):
    """Return the oracle's states alone, from zeros, for arguments with leading axes."""
    return oracles.sequence("lstm", {"h0": zeros, "c0": zeros, **p})[:1]
