"""Hidden tests of stage s14: one step of each kind of cell, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, unchanged
from hidden.s14_recurrent_networks import oracles
from hidden.s14_recurrent_networks.oracles import STATES, assert_gradients, double, named_gradients, unpack

pytestmark = pytest.mark.values


def forward(learner, kind, inputs, weights):
    """Return the learner's states after one step, and the cache."""
    result = getattr(learner, f"{kind}_cell_forward")(*inputs.values(), weights)
    *states, cache = unpack(result, *(f"{name}_next" for name in STATES[kind]), "cache")
    return states, cache


def backward(learner, kind, grads, cache, inputs):
    """Return the learner's gradients by name."""
    return named_gradients(getattr(learner, f"{kind}_cell_backward")(*grads, cache), inputs)


def draw(rng, kind, sizes=None):
    """Return inputs and weights of one step."""
    batch, features, hidden = sizes or oracles.draw_sizes(rng, 3)
    return oracles.draw_step(rng, kind, batch, features, hidden), oracles.draw_weights(rng, kind, features, hidden)


def draw_grads(rng, kind, inputs):
    """Return a gradient for each state that leaves the step."""
    return tuple(rng.normal(size=inputs["h"].shape) for _ in STATES[kind])


def single(arrays):
    """Return the arrays of a dict as float32."""
    return {name: value.astype(np.float32) for name, value in arrays.items()}


def assert_states(states, kind, inputs, weights, dtype=None):
    """Assert that the states after a step are those of the oracle."""
    expected = oracles.CELLS[kind](double({**inputs, **weights}))
    for name, value, right in zip(STATES[kind], states, expected, strict=True):
        assert_array(value, right, name=f"{name}_next", dtype=dtype)


def check_any_sizes(learner, rng, kind):
    for sizes in (None, (1, 1, 1), (3, 1, 2), (1, 4, 3)):
        inputs, weights = draw(rng, kind, sizes)
        with unchanged(*inputs.values(), *weights.values()):
            states, _ = forward(learner, kind, inputs, weights)
        assert_states(states, kind, inputs, weights)


def check_large_sums(learner, rng, kind):
    inputs, weights = draw(rng, kind, (6, 3, 4))
    inputs["x"] *= 1000 * rng.choice([0.01, 1, 3], size=(6, 1))
    states, _ = forward(learner, kind, inputs, weights)
    assert_states(states, kind, inputs, weights)


def check_single_precision(learner, rng, kind):
    inputs, weights = (single(arrays) for arrays in draw(rng, kind))
    states, _ = forward(learner, kind, inputs, weights)
    assert_states(states, kind, inputs, weights, dtype="float32")


def check_refused_arguments(learner, rng, kind):
    for inputs, weights in oracles.wrong_arguments(*draw(rng, kind)):
        with pytest.raises(ValueError):
            getattr(learner, f"{kind}_cell_forward")(*inputs.values(), weights)


def check_gradients(learner, rng, kind, which):
    """Compare with central differences of the oracle; which says what gradients of the states are not zero."""
    inputs, weights = draw(rng, kind)
    grads = tuple(grad * factor for grad, factor in zip(draw_grads(rng, kind, inputs), which, strict=True))
    _, cache = forward(learner, kind, inputs, weights)
    with unchanged(*grads):
        result = backward(learner, kind, grads, cache, inputs)
    numerical = oracles.numerical_gradients(oracles.CELLS[kind], grads, {**inputs, **weights})
    assert_gradients(result, numerical)
    again = backward(learner, kind, grads, cache, inputs)
    for name, value in result.items():
        assert_array(again[name], value, name=f"grad_{name} of a second call")


def check_first_cache(learner, rng, kind):
    """Go back through the first of two forward calls."""
    inputs, weights = draw(rng, kind)
    grads = draw_grads(rng, kind, inputs)
    _, cache = forward(learner, kind, inputs, weights)
    forward(learner, kind, {name: 1 - value for name, value in inputs.items()}, weights)
    result = backward(learner, kind, grads, cache, inputs)
    numerical = oracles.numerical_gradients(oracles.CELLS[kind], grads, {**inputs, **weights})
    assert_gradients(result, numerical, of=" of the first of two forward calls, from its cache")


def check_slopes(learner, rng, kind):
    """Compare with central differences of the learner's own forward, along one direction for each argument."""
    inputs, weights = draw(rng, kind, (1, 3, 2))
    grads = draw_grads(rng, kind, inputs)

    def states_of(arguments):
        return forward(learner, kind, {name: arguments[name] for name in inputs}, {n: arguments[n] for n in weights})[0]

    _, cache = forward(learner, kind, inputs, weights)
    result = backward(learner, kind, grads, cache, inputs)
    for name, value in {**inputs, **weights}.items():
        along = rng.normal(size=value.shape)
        expected = oracles.slope(states_of, grads, {**inputs, **weights}, name, along)
        assert_gradient(float(np.sum(result[name] * along)), expected, name=f"change along {name}")


def check_single_precision_gradients(learner, rng, kind):
    inputs, weights = (single(arrays) for arrays in draw(rng, kind))
    grads = tuple(grad.astype(np.float32) for grad in draw_grads(rng, kind, inputs))
    _, cache = forward(learner, kind, inputs, weights)
    result = backward(learner, kind, grads, cache, inputs)
    numerical = oracles.numerical_gradients(oracles.CELLS[kind], grads, double({**inputs, **weights}))
    for name, expected in numerical.items():
        assert_array(result[name], expected, rtol=1e-3, name=f"grad_{name}", dtype="float32")


def check_refused_gradients(learner, rng, kind):
    inputs, weights = draw(rng, kind)
    _, cache = forward(learner, kind, inputs, weights)
    right = draw_grads(rng, kind, inputs)
    for place, grad in enumerate(right):
        for other in oracles.wrong_gradients(grad):
            grads = (*right[:place], other, *right[place + 1 :])
            with pytest.raises(ValueError):
                getattr(learner, f"{kind}_cell_backward")(*grads, cache)


@pytest.mark.criterion("rnn-cell")
class TestRNNCellForward:
    def test_any_sizes(self, learner, rng):
        check_any_sizes(learner, rng, "rnn")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision(learner, rng, "rnn")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        check_refused_arguments(learner, rng, "rnn")


@pytest.mark.criterion("rnn-cell-gradients")
class TestRNNCellBackward:
    def test_all_gradients(self, learner, rng):
        check_gradients(learner, rng, "rnn", (1,))

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        check_first_cache(learner, rng, "rnn")

    def test_small_steps_through_forward(self, learner, rng):
        check_slopes(learner, rng, "rnn")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision_gradients(learner, rng, "rnn")

    @pytest.mark.refusals
    def test_gradients_of_other_shapes_are_refused(self, learner, rng):
        check_refused_gradients(learner, rng, "rnn")


@pytest.mark.criterion("lstm-cell")
class TestLSTMCellForward:
    def test_any_sizes(self, learner, rng):
        check_any_sizes(learner, rng, "lstm")

    @pytest.mark.edges
    def test_gates_far_open_and_far_closed(self, learner, rng):
        check_large_sums(learner, rng, "lstm")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision(learner, rng, "lstm")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        check_refused_arguments(learner, rng, "lstm")


@pytest.mark.criterion("lstm-cell-gradients")
class TestLSTMCellBackward:
    @pytest.mark.parametrize("which", [(1, 0), (0, 1), (1, 1)], ids=["of h", "of c", "of both"])
    def test_all_gradients(self, learner, rng, which):
        check_gradients(learner, rng, "lstm", which)

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        check_first_cache(learner, rng, "lstm")

    def test_small_steps_through_forward(self, learner, rng):
        check_slopes(learner, rng, "lstm")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision_gradients(learner, rng, "lstm")

    @pytest.mark.refusals
    def test_gradients_of_other_shapes_are_refused(self, learner, rng):
        check_refused_gradients(learner, rng, "lstm")


@pytest.mark.criterion("gru-cell")
class TestGRUCellForward:
    def test_any_sizes(self, learner, rng):
        check_any_sizes(learner, rng, "gru")

    @pytest.mark.edges
    def test_gates_far_open_and_far_closed(self, learner, rng):
        check_large_sums(learner, rng, "gru")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision(learner, rng, "gru")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        check_refused_arguments(learner, rng, "gru")


@pytest.mark.criterion("gru-cell-gradients")
class TestGRUCellBackward:
    def test_all_gradients(self, learner, rng):
        check_gradients(learner, rng, "gru", (1,))

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        check_first_cache(learner, rng, "gru")

    def test_small_steps_through_forward(self, learner, rng):
        check_slopes(learner, rng, "gru")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision_gradients(learner, rng, "gru")

    @pytest.mark.refusals
    def test_gradients_of_other_shapes_are_refused(self, learner, rng):
        check_refused_gradients(learner, rng, "gru")
