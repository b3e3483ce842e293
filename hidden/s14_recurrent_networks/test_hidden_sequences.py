"""Hidden tests of stage s14: whole sequences, forward through time and back."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, unchanged
from hidden.s14_recurrent_networks import oracles
from hidden.s14_recurrent_networks.oracles import (
    BIASES,
    GATES,
    STATES,
    assert_gradients,
    double,
    named_gradients,
    unpack,
)

pytestmark = pytest.mark.values


def forward(learner, kind, inputs, weights):
    """Return the learner's states after every step, and the cache."""
    result = getattr(learner, f"{kind}_forward")(*inputs.values(), weights)
    *states, cache = unpack(result, *(f"{name}s" for name in STATES[kind]), "cache")
    return states, cache


def backward(learner, kind, grads, cache, inputs):
    """Return the learner's gradients by name."""
    return named_gradients(getattr(learner, f"{kind}_backward")(*grads, cache), inputs)


def draw(rng, kind, sizes=None):
    """Return inputs and weights of a batch of sequences."""
    batch, time, features, hidden = sizes or oracles.draw_sizes(rng, 4)
    inputs = oracles.draw_sequences(rng, kind, batch, time, features, hidden)
    return inputs, oracles.draw_weights(rng, kind, features, hidden)


def draw_grads(rng, kind, inputs):
    """Return a gradient for each kind of state at each step."""
    (batch, time, _), (_, hidden) = inputs["x"].shape, inputs["h0"].shape
    return tuple(rng.normal(size=(batch, time, hidden)) for _ in STATES[kind])


def check_any_sizes(learner, rng, kind):
    for sizes in (None, (2, 1, 3, 4), (1, 5, 1, 1), (3, 2, 2, 5)):
        inputs, weights = draw(rng, kind, sizes)
        with unchanged(*inputs.values(), *weights.values()):
            states, _ = forward(learner, kind, inputs, weights)
        expected = oracles.sequence(kind, {**inputs, **weights})
        for name, value, right in zip(STATES[kind], states, expected, strict=True):
            assert_array(value, right, name=f"{name}s")


def check_gradients(learner, rng, kind, which, sizes=None):
    """Compare with central differences of the oracle; which says what gradients of the states are not zero."""
    inputs, weights = draw(rng, kind, sizes)
    grads = tuple(grad * factor for grad, factor in zip(draw_grads(rng, kind, inputs), which, strict=True))
    _, cache = forward(learner, kind, inputs, weights)
    with unchanged(*grads):
        result = backward(learner, kind, grads, cache, inputs)
    numerical = oracles.numerical_gradients(lambda p: oracles.sequence(kind, p), grads, {**inputs, **weights})
    assert_gradients(result, numerical)


def check_first_cache(learner, rng, kind):
    """Go back through the first of two forward calls."""
    inputs, weights = draw(rng, kind)
    grads = draw_grads(rng, kind, inputs)
    _, cache = forward(learner, kind, inputs, weights)
    forward(learner, kind, {name: 1 - value for name, value in inputs.items()}, weights)
    result = backward(learner, kind, grads, cache, inputs)
    numerical = oracles.numerical_gradients(lambda p: oracles.sequence(kind, p), grads, {**inputs, **weights})
    assert_gradients(result, numerical, of=" of the first of two forward calls, from its cache")


def check_slopes(learner, rng, kind):
    """Compare with central differences of the learner's own forward, along one direction for each argument."""
    inputs, weights = draw(rng, kind, (1, 3, 3, 2))
    grads = draw_grads(rng, kind, inputs)

    def states_of(arguments):
        return forward(learner, kind, {name: arguments[name] for name in inputs}, {n: arguments[n] for n in weights})[0]

    _, cache = forward(learner, kind, inputs, weights)
    result = backward(learner, kind, grads, cache, inputs)
    for name, value in {**inputs, **weights}.items():
        along = rng.normal(size=value.shape)
        expected = oracles.slope(states_of, grads, {**inputs, **weights}, name, along)
        assert_gradient(float(np.sum(result[name] * along)), expected, name=f"change along {name}")


def check_single_precision(learner, rng, kind):
    inputs, weights = ({n: v.astype(np.float32) for n, v in arrays.items()} for arrays in draw(rng, kind))
    grads = tuple(grad.astype(np.float32) for grad in draw_grads(rng, kind, inputs))
    states, cache = forward(learner, kind, inputs, weights)
    arguments = double({**inputs, **weights})
    for name, value, right in zip(STATES[kind], states, oracles.sequence(kind, arguments), strict=True):
        assert_array(value, right, name=f"{name}s", dtype="float32")
    result = backward(learner, kind, grads, cache, inputs)
    numerical = oracles.numerical_gradients(lambda p: oracles.sequence(kind, p), grads, arguments)
    for name, expected in numerical.items():
        assert_array(result[name], expected, rtol=1e-3, name=f"grad_{name}", dtype="float32")


def check_integers(learner, rng, kind):
    """Hand over integers, as one-hot rows and states of zeros are; the weights are floats."""
    inputs, weights = draw(rng, kind)
    inputs = {name: rng.integers(-2, 3, size=value.shape) for name, value in inputs.items()}
    grads = tuple(rng.integers(-2, 3, size=grad.shape) for grad in draw_grads(rng, kind, inputs))
    states, cache = forward(learner, kind, inputs, weights)
    arguments = double({**inputs, **weights})
    for name, value, right in zip(STATES[kind], states, oracles.sequence(kind, arguments), strict=True):
        assert_array(value, right, name=f"{name}s")
    numerical = oracles.numerical_gradients(lambda p: oracles.sequence(kind, p), grads, arguments)
    assert_gradients(backward(learner, kind, grads, cache, inputs), numerical)


def check_refused(learner, rng, kind):
    right_inputs, right_weights = draw(rng, kind)
    no_step = {**right_inputs, "x": right_inputs["x"][:, :0]}
    for inputs, weights in [*oracles.wrong_arguments(right_inputs, right_weights), (no_step, right_weights)]:
        with pytest.raises(ValueError):
            getattr(learner, f"{kind}_forward")(*inputs.values(), weights)
    _, cache = forward(learner, kind, right_inputs, right_weights)
    right = draw_grads(rng, kind, right_inputs)
    for place, grad in enumerate(right):
        for other in oracles.wrong_gradients(grad):
            with pytest.raises(ValueError):
                getattr(learner, f"{kind}_backward")(*right[:place], other, *right[place + 1 :], cache)


def waves(shape, start):
    """Return sin(start + k ** 1.3) for the numbers k of an array of that shape."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.3).reshape(shape)


def check_framework(learner, kind, expected):
    """Compare with what PyTorch 2.13 gives (torch.nn.RNN, LSTM and GRU of one layer, batch_first, float64).

    Weights and inputs are waves, the gradients of hs and of the last cell state too. torch keeps weights transposed;
    the RNN and the LSTM have a second bias there, which was zero.
    """
    batch, time, features, hidden = 2, 3, 2, 3
    columns = GATES[kind] * hidden
    weights = {"W_x": waves((features, columns), 1), "W_h": waves((hidden, columns), 2)}
    weights.update({name: waves((columns,), 3 + place) for place, name in enumerate(BIASES[kind])})
    inputs = {"x": waves((batch, time, features), 5)}
    inputs.update({f"{name}0": waves((batch, hidden), 6 + place) for place, name in enumerate(STATES[kind])})
    grads = [waves((batch, time, hidden), 8), np.zeros((batch, time, hidden))][: len(STATES[kind])]
    grads[-1][:, -1] = waves((batch, hidden), 9) if kind == "lstm" else grads[-1][:, -1]
    states, cache = forward(learner, kind, inputs, weights)
    for name, value in zip(STATES[kind], states, strict=True):
        assert_array(np.asarray(value)[:, -1], expected[name], rtol=1e-8, name=f"{name}s after the last step")
    result = backward(learner, kind, grads, cache, inputs)
    for name in [each for each in expected if each not in STATES[kind]]:
        assert_array(result[name], expected[name], rtol=1e-8, name=f"grad_{name}")


@pytest.mark.criterion("rnn-sequence")
class TestRNNThroughTime:
    def test_any_sizes(self, learner, rng):
        check_any_sizes(learner, rng, "rnn")

    def test_all_gradients(self, learner, rng):
        check_gradients(learner, rng, "rnn", (1,))

    @pytest.mark.edges
    def test_one_step_is_a_sequence(self, learner, rng):
        check_gradients(learner, rng, "rnn", (1,), (2, 1, 3, 4))

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        check_first_cache(learner, rng, "rnn")

    def test_small_steps_through_forward(self, learner, rng):
        check_slopes(learner, rng, "rnn")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision(learner, rng, "rnn")

    @pytest.mark.dtype
    def test_integers_have_states_with_fractions(self, learner, rng):
        check_integers(learner, rng, "rnn")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        check_refused(learner, rng, "rnn")

    def test_agrees_with_a_framework(self, learner):
        h = [[-0.7604848337, -0.8821720243, -0.6199731581], [0.4748490559, -0.9220874022, -0.4203600965]]
        h0 = [[0.5223457836, 0.7054376294, 0.6280915923], [-0.1050226733, 0.1337169240, 0.5282268855]]
        b = [-1.3265762033, 1.0815530062, -0.2440738543]
        check_framework(learner, "rnn", {"h": h, "h0": h0, "b": b})


@pytest.mark.criterion("lstm-sequence")
class TestLSTMThroughTime:
    def test_any_sizes(self, learner, rng):
        check_any_sizes(learner, rng, "lstm")

    @pytest.mark.parametrize("which", [(1, 0), (0, 1), (1, 1)], ids=["of h", "of c", "of both"])
    def test_all_gradients(self, learner, rng, which):
        check_gradients(learner, rng, "lstm", which)

    @pytest.mark.edges
    def test_one_step_is_a_sequence(self, learner, rng):
        check_gradients(learner, rng, "lstm", (1, 1), (2, 1, 3, 4))

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        check_first_cache(learner, rng, "lstm")

    def test_small_steps_through_forward(self, learner, rng):
        check_slopes(learner, rng, "lstm")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision(learner, rng, "lstm")

    @pytest.mark.dtype
    def test_integers_have_states_with_fractions(self, learner, rng):
        check_integers(learner, rng, "lstm")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        check_refused(learner, rng, "lstm")

    def test_agrees_with_a_framework(self, learner):
        h = [[0.4571674206, 0.0897569542, -0.1621697033], [0.1844814442, 0.0700814409, -0.1417842399]]
        c = [[0.6948934884, 0.4284760838, -0.2348292617], [0.2744035817, 0.2165664332, -0.2463631814]]
        h0 = [[0.3577355320, -0.2653576304, 0.5080495791], [-0.0602940064, 0.3600183333, 0.1147929427]]
        c0 = [[0.2447366218, 0.0351401295, -0.0951633229], [0.2577977559, 0.0451874766, -0.2472812055]]
        check_framework(learner, "lstm", {"h": h, "c": c, "h0": h0, "c0": c0})


@pytest.mark.criterion("gru-sequence")
class TestGRUThroughTime:
    def test_any_sizes(self, learner, rng):
        check_any_sizes(learner, rng, "gru")

    def test_all_gradients(self, learner, rng):
        check_gradients(learner, rng, "gru", (1,))

    @pytest.mark.edges
    def test_one_step_is_a_sequence(self, learner, rng):
        check_gradients(learner, rng, "gru", (1,), (2, 1, 3, 4))

    @pytest.mark.purity
    def test_backward_goes_through_the_call_whose_cache_it_gets(self, learner, rng):
        check_first_cache(learner, rng, "gru")

    def test_small_steps_through_forward(self, learner, rng):
        check_slopes(learner, rng, "gru")

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, rng):
        check_single_precision(learner, rng, "gru")

    @pytest.mark.dtype
    def test_integers_have_states_with_fractions(self, learner, rng):
        check_integers(learner, rng, "gru")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        check_refused(learner, rng, "gru")

    def test_agrees_with_a_framework(self, learner):
        h = [[-0.0390127336, -0.4977861391, -0.5655200778], [0.6594032745, -0.0218038997, -0.6408079331]]
        h0 = [[1.7965272699, 0.5340011649, -0.4737302616], [0.3668421572, -0.2366409204, -0.1312495689]]
        of_x = [-0.0308809351, -0.0907151730, -0.1185101661, -0.0877726331, 0.2768606223, -0.2403715237]
        b_x, b_h = [-0.1575585392, 1.9351073641, -1.9784710312], [-0.0483878069, 0.3510172686, -0.9974791493]
        check_framework(learner, "gru", {"h": h, "h0": h0, "b_x": of_x + b_x, "b_h": of_x + b_h})
