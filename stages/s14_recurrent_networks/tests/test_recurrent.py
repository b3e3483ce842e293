"""Public tests of stage s14: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, plain_array

pytestmark = pytest.mark.values


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


@pytest.fixture
def rnn_step():
    """Inputs, state and weights of a plain cell: two sequences, two features, two hidden units."""
    weights = {
        "W_x": np.array([[0.5, 1.0], [0.0, -0.5]]),
        "W_h": np.array([[1.0, 2.0], [0.0, -1.0]]),
        "b": np.array([0.0, 0.5]),
    }
    return np.array([[1.0, 2.0], [0.0, -1.0]]), np.array([[0.5, -0.5], [1.0, 0.0]]), weights


@pytest.fixture
def fading():
    """Weights of one hidden unit that takes its input in whole and keeps half of its state."""
    return {"W_x": np.array([[1.0]]), "W_h": np.array([[0.5]]), "b": np.array([0.0])}


@pytest.mark.criterion("rnn-cell")
class TestRNNCell:
    def test_state_is_the_tanh_of_input_and_last_state(self, learner, rnn_step):
        h_next, _ = unpack(learner.rnn_cell_forward(*rnn_step), "h_next", "cache")
        # the sums are [0.5 + 0.5, 0 + 1.5 + 0.5] and [0 + 1, 0.5 + 2 + 0.5]
        assert_array(h_next, np.tanh([[1.0, 2.0], [1.0, 3.0]]), name="h_next")

    @pytest.mark.refusals
    def test_a_state_for_another_batch_is_refused(self, learner, rnn_step):
        x, h, weights = rnn_step
        with pytest.raises(ValueError):
            learner.rnn_cell_forward(x, h[:1], weights)


@pytest.mark.criterion("rnn-cell-gradients")
class TestRNNCellGradients:
    def test_gradients_of_two_sequences(self, learner, rnn_step):
        _, cache = unpack(learner.rnn_cell_forward(*rnn_step), "h_next", "cache")
        result = learner.rnn_cell_backward(np.array([[1.0, 0.0], [0.0, 2.0]]), cache)
        grad_x, grad_h, grad_weights = unpack(result, "grad_x", "grad_h", "grad_weights")
        assert_gradient(grad_x, [[0.20998717, 0.0], [0.01973207, -0.00986604]], name="grad_x")
        assert_gradient(grad_h, [[0.41997434, 0.0], [0.03946415, -0.01973207]], name="grad_h")
        assert_equal(
            set(grad_weights) == {"W_x", "W_h", "b"}, True, name="whether grad_weights has the keys of weights"
        )
        assert_gradient(grad_weights["W_x"], [[0.41997434, 0.0], [0.83994868, -0.01973207]], name="grad_W_x")
        assert_gradient(grad_weights["W_h"], [[0.20998717, 0.01973207], [-0.20998717, 0.0]], name="grad_W_h")
        assert_gradient(grad_weights["b"], [0.41997434, 0.01973207], name="grad_b")


@pytest.mark.criterion("rnn-sequence")
class TestRNNSequence:
    def test_an_input_fades_from_step_to_step(self, learner, fading):
        x = np.array([[[1.0], [0.0], [0.0]]])
        hs, _ = unpack(learner.rnn_forward(x, np.zeros((1, 1)), fading), "hs", "cache")
        assert_array(hs, [[[0.7615941560], [0.3633994844], [0.1797262071]]], name="hs")

    def test_a_gradient_fades_on_its_way_back(self, learner, fading):
        _, cache = unpack(learner.rnn_forward(np.zeros((1, 3, 1)), np.zeros((1, 1)), fading), "hs", "cache")
        result = learner.rnn_backward(np.array([[[0.0], [0.0], [1.0]]]), cache)
        grad_x, grad_h0, _ = unpack(result, "grad_x", "grad_h0", "grad_weights")
        assert_gradient(grad_x, [[[0.25], [0.5], [1.0]]], name="grad_x")
        assert_gradient(grad_h0, [[0.125]], name="grad_h0")

    def test_weights_collect_from_every_step(self, learner, fading):
        x = np.array([[[1.0], [2.0]]])
        weights = {**fading, "W_x": np.array([[0.0]])}  # all states stay 0, all slopes of tanh are 1
        _, cache = unpack(learner.rnn_forward(x, np.zeros((1, 1)), weights), "hs", "cache")
        result = learner.rnn_backward(np.array([[[10.0], [1.0]]]), cache)
        _, _, grad_weights = unpack(result, "grad_x", "grad_h0", "grad_weights")
        assert_gradient(grad_weights["b"], [11.5], name="grad_b")  # 10, and 1 times 1 + 0.5
        assert_gradient(grad_weights["W_x"], [[12.5]], name="grad_W_x")  # 1 * (10 + 0.5) and 2 * 1


@pytest.fixture
def lstm_step():
    """Inputs, state, cell state and weights of an LSTM: two sequences, one feature, one hidden unit."""
    weights = {
        "W_x": np.array([[1.0, 0.5, -1.0, 2.0]]),
        "W_h": np.array([[0.0, 1.0, 2.0, -2.0]]),
        "b": np.array([0.0, 1.0, 0.5, 0.0]),
    }
    return np.array([[1.0], [-1.0]]), np.array([[0.5], [0.0]]), np.array([[2.0], [-1.0]]), weights


@pytest.fixture
def half_open():
    """Weights of an LSTM of one unit whose sums are all 0: gates half open, candidate 0."""
    return {"W_x": np.zeros((1, 4)), "W_h": np.zeros((1, 4)), "b": np.zeros(4)}


@pytest.mark.criterion("lstm-cell")
class TestLSTMCell:
    def test_gates_decide_what_is_kept_and_shown(self, learner, lstm_step):
        h_next, c_next, _ = unpack(learner.lstm_cell_forward(*lstm_step), "h_next", "c_next", "cache")
        # first sequence: i = sigmoid(1), f = sigmoid(2), g = tanh(0.5), o = sigmoid(1)
        assert_array(c_next, [[2.0994288681], [-0.3790274733]], name="c_next")
        assert_array(h_next, [[0.7094328900], [-0.0431350776]], name="h_next")

    def test_blocks_of_columns_stand_in_the_order_i_f_g_o(self, learner):
        weights = {"W_x": np.zeros((1, 8)), "W_h": np.zeros((2, 8))}
        weights["b"] = np.array([50.0, 50.0, -50.0, 50.0, 2.0, 1.0, 50.0, 0.0])  # two hidden units: i i f f g g o o
        state = np.array([[3.0, 4.0]])
        result = learner.lstm_cell_forward(np.ones((1, 1)), np.zeros((1, 2)), state, weights)
        h_next, c_next, _ = unpack(result, "h_next", "c_next", "cache")
        assert_array(c_next, [[np.tanh(2.0), 4 + np.tanh(1.0)]], name="c_next")
        assert_array(h_next, [[np.tanh(np.tanh(2.0)), 0.5 * np.tanh(4 + np.tanh(1.0))]], name="h_next")


@pytest.mark.criterion("lstm-cell-gradients")
class TestLSTMCellGradients:
    def test_gradients_by_way_of_h_and_of_c(self, learner, lstm_step):
        _, _, cache = unpack(learner.lstm_cell_forward(*lstm_step), "h_next", "c_next", "cache")
        result = learner.lstm_cell_backward(np.array([[1.0], [0.0]]), np.array([[0.0], [1.0]]), cache)
        grad_x, grad_h, grad_c, grad_weights = unpack(result, "grad_x", "grad_h", "grad_c", "grad_weights")
        assert_gradient(grad_c, [[0.03753223], [0.62245933]], name="grad_c")
        assert_gradient(grad_x, [[0.36543821], [0.01186159]], name="grad_x")
        assert_gradient(grad_h, [[-0.32364564], [-0.13780471]], name="grad_h")
        assert_gradient(grad_weights["b"], [0.18183455, -0.22605581, 0.07309862, 0.19079589], name="grad_b")
        of_W_x = [[-0.17409135, 0.24395161, -0.02410038, 0.19079589]]
        assert_gradient(grad_weights["W_x"], of_W_x, name="grad_W_x")


@pytest.mark.criterion("lstm-sequence")
class TestLSTMSequence:
    def test_cell_state_is_carried_from_step_to_step(self, learner, half_open):
        result = learner.lstm_forward(np.zeros((1, 3, 1)), np.zeros((1, 1)), np.array([[8.0]]), half_open)
        hs, cs, _ = unpack(result, "hs", "cs", "cache")
        assert_array(cs, [[[4.0], [2.0], [1.0]]], name="cs")
        assert_array(hs, 0.5 * np.tanh([[[4.0], [2.0], [1.0]]]), name="hs")

    def test_gradient_passes_the_forget_gates(self, learner, half_open):
        result = learner.lstm_forward(np.zeros((1, 3, 1)), np.zeros((1, 1)), np.array([[8.0]]), half_open)
        _, _, cache = unpack(result, "hs", "cs", "cache")
        result = learner.lstm_backward(np.zeros((1, 3, 1)), np.array([[[0.0], [0.0], [1.0]]]), cache)
        grad_x, grad_h0, grad_c0, grad_weights = unpack(result, "grad_x", "grad_h0", "grad_c0", "grad_weights")
        assert_gradient(grad_c0, [[0.125]], name="grad_c0")
        assert_gradient(grad_h0, [[0.0]], name="grad_h0")
        assert_shape(grad_x, (1, 3, 1), name="grad_x")
        # forget gates: slope 0.25, times the cell state before, times 0.25, 0.5 and 1 from behind; then candidates
        assert_gradient(grad_weights["b"], [0.0, 1.5, 0.875, 0.0], name="grad_b")


@pytest.fixture
def gru_step():
    """Inputs, state and weights of a GRU: two sequences, one feature, one hidden unit."""
    weights = {
        "W_x": np.array([[1.0, 0.5, -1.0]]),
        "W_h": np.array([[0.5, -1.0, 2.0]]),
        "b_x": np.array([0.0, 0.5, 1.0]),
        "b_h": np.array([0.5, 0.0, -1.0]),
    }
    return np.array([[1.0], [-1.0]]), np.array([[0.5], [2.0]]), weights


@pytest.mark.criterion("gru-cell")
class TestGRUCell:
    def test_state_is_a_mixture_of_candidate_and_last_state(self, learner, gru_step):
        h_next, _ = unpack(learner.gru_cell_forward(*gru_step), "h_next", "cache")
        # second sequence: r = sigmoid(0.5), z = sigmoid(-2), n = tanh(2 + r * 3)
        assert_array(h_next, [[0.3112296656], [1.1184328096]], name="h_next")

    def test_open_update_gate_keeps_the_state(self, learner):
        weights = {
            "W_x": np.ones((1, 3)),
            "W_h": np.ones((1, 3)),
            "b_x": np.zeros(3),
            "b_h": np.array([0.0, 60.0, 0.0]),
        }
        h_next, _ = unpack(learner.gru_cell_forward(np.ones((1, 1)), np.array([[5.0]]), weights), "h_next", "cache")
        assert_array(h_next, [[5.0]], name="h_next")


@pytest.mark.criterion("gru-cell-gradients")
class TestGRUCellGradients:
    def test_gradients_of_two_sequences(self, learner, gru_step):
        _, cache = unpack(learner.gru_cell_forward(*gru_step), "h_next", "cache")
        result = learner.gru_cell_backward(np.array([[1.0], [2.0]]), cache)
        grad_x, grad_h, grad_weights = unpack(result, "grad_x", "grad_h", "grad_weights")
        assert_gradient(grad_x, [[-0.31878974], [0.10417708]], name="grad_x")
        assert_gradient(grad_h, [[1.14825114], [0.03315371]], name="grad_h")
        assert_gradient(grad_weights["b_x"], [0.0021708, 0.32767263, 0.38061977], name="grad_b_x")
        assert_gradient(grad_weights["b_h"], [0.0021708, 0.32767263, 0.32356345], name="grad_b_h")
        assert_gradient(grad_weights["W_h"], [[0.0043416, 0.47909247, 0.16465665]], name="grad_W_h")


@pytest.mark.criterion("gru-sequence")
class TestGRUSequence:
    def test_half_of_the_state_is_kept_at_each_step(self, learner):
        weights = {"W_x": np.zeros((1, 3)), "W_h": np.zeros((1, 3)), "b_x": np.zeros(3), "b_h": np.zeros(3)}
        hs, cache = unpack(learner.gru_forward(np.zeros((1, 3, 1)), np.array([[8.0]]), weights), "hs", "cache")
        assert_array(hs, [[[4.0], [2.0], [1.0]]], name="hs")
        result = learner.gru_backward(np.array([[[0.0], [0.0], [1.0]]]), cache)
        _, grad_h0, grad_weights = unpack(result, "grad_x", "grad_h0", "grad_weights")
        assert_gradient(grad_h0, [[0.125]], name="grad_h0")
        # update gates: slope 0.25, times the state before, times 0.25, 0.5 and 1 from behind; then candidates
        assert_gradient(grad_weights["b_x"], [0.0, 1.5, 0.875], name="grad_b_x")
        assert_gradient(grad_weights["b_h"], [0.0, 1.5, 0.4375], name="grad_b_h")


@pytest.mark.criterion("clip-gradients")
class TestClipGradients:
    def test_all_arrays_are_shortened_by_one_factor(self, learner):
        grads = {"W": np.array([[3.0, 0.0]]), "b": np.array([4.0])}  # norm 5
        clipped, norm = unpack(learner.clip_gradients(grads, 1.0), "clipped", "norm")
        assert_array(norm, 5.0, name="norm")
        assert_array(clipped["W"], [[0.6, 0.0]], rtol=1e-6, name="clipped['W']")
        assert_array(clipped["b"], [0.8], rtol=1e-6, name="clipped['b']")

    def test_short_gradients_stay_as_they_are(self, learner):
        clipped, norm = unpack(learner.clip_gradients({"b": np.array([3.0, 4.0])}, 10.0), "clipped", "norm")
        assert_array(norm, 5.0, name="norm")
        assert_array(clipped["b"], [3.0, 4.0], name="clipped['b']")


@pytest.mark.criterion("create-sequences")
class TestCreateSequences:
    def test_targets_are_one_step_ahead(self, learner):
        result = learner.create_sequences(np.array([10, 11, 12, 13, 14, 15]), 3, 2)
        inputs, targets = unpack(result, "inputs", "targets")
        assert_array(inputs, [[10, 11, 12], [12, 13, 14]], name="inputs")
        assert_array(targets, [[11, 12, 13], [13, 14, 15]], name="targets")

    def test_last_window_needs_its_last_target(self, learner):
        inputs, _ = unpack(learner.create_sequences(np.array([1.0, 2.0, 3.0, 4.0]), 2, 1), "inputs", "targets")
        assert_array(inputs, [[1.0, 2.0], [2.0, 3.0]], name="inputs")

    @pytest.mark.refusals
    def test_series_without_a_window_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.create_sequences(np.array([1, 2, 3]), 3, 1)


@pytest.fixture
def scored():
    """Logits of two sequences of two tokens and three classes, and their targets."""
    logits = np.array([[[1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], [[2.0, 0.0, 0.0], [5.0, 1.0, 1.0]]])
    return logits, np.array([[1, 2], [2, 0]])


@pytest.mark.criterion("sequence-loss")
class TestSequenceLoss:
    def test_mean_over_all_tokens(self, learner, scored):
        logits, targets = scored
        loss, grad_logits = unpack(learner.sequence_loss(logits, targets, None), "loss", "grad_logits")
        assert_array(loss, 0.6945124967, name="loss")
        expected = [
            [[0.0611821178, -0.0836897611, 0.0225076433], [0.0113196252, 0.0113196252, -0.0226392504]],
            [[0.1967465105, 0.0266267447, -0.2233732553], [-0.0088342110, 0.0044171055, 0.0044171055]],
        ]
        assert_array(grad_logits, expected, name="grad_logits")

    def test_padding_does_not_count(self, learner, scored):
        logits, targets = scored
        targets[1, 1] = -100  # a filler that is no class
        mask = np.array([[True, True], [True, False]])
        loss, grad_logits = unpack(learner.sequence_loss(logits, targets, mask), "loss", "grad_logits")
        assert_array(loss, 0.9140245624, name="loss")  # the mean of three
        assert_array(grad_logits[0, 0], [0.0815761570, -0.1115863481, 0.0300101911], name="grad_logits[0, 0]")
        assert_array(grad_logits[1, 1], [0.0, 0.0, 0.0], name="grad_logits[1, 1]")


@pytest.mark.criterion("lstm-layer")
class TestLSTM:
    def test_new_layer_has_open_forget_gates(self, learner):
        layer = learner.LSTM(3, 2, np.random.default_rng(0))
        assert_shape(layer.params["W_x"], (3, 8), name="W_x")
        assert_shape(layer.params["W_h"], (2, 8), name="W_h")
        assert_array(layer.params["b"], [0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0], name="b")

    def test_forward_starts_from_zeros_and_keeps_the_last_state(self, learner, lstm_step):
        x, _, _, weights = lstm_step
        layer = learner.LSTM(1, 1, np.random.default_rng(0))
        layer.params = weights
        hs = layer.forward(x[:, None])  # one step
        assert_array(hs, [[[-0.2867372764]], [[0.0284578681]]])
        h, c = unpack(layer.state, "h", "c")
        assert_array(h, [[-0.2867372764], [0.0284578681]], name="h")
        assert_array(c, [[-0.3378347121], [0.2434318579]], name="c")

    @pytest.mark.refusals
    def test_backward_before_forward_is_refused(self, learner):
        layer = learner.LSTM(1, 1, np.random.default_rng(0))
        with pytest.raises(RuntimeError):
            layer.backward(np.ones((1, 1, 1)))


def waves(shape, start):
    """Return sin(start + k ** 1.3) for the numbers k of an array of that shape: weights without any pattern."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.3).reshape(shape)


@pytest.mark.criterion("learns-to-copy")
def test_layer_learns_to_hold_one_symbol(learner):
    """One of two symbols is read, then nothing for three steps; the last state has to tell which it was.

    The weights at the start are fixed, so that every correct layer learns alike: its scores end near 3.7 and -3.7.
    """
    layer = learner.LSTM(2, 4, np.random.default_rng(0))
    weights = {"W_x": waves((2, 16), 1) / 2**0.5, "W_h": waves((4, 16), 2) / 2, "b": np.repeat([0.0, 1.0, 0.0, 0.0], 4)}
    readout = waves((4,), 3)
    x = np.zeros((2, 4, 2))
    x[0, 0, 0] = x[1, 0, 1] = 1
    signs = np.array([1.0, -1.0])
    for _ in range(40):  # plain gradient descent on the mean of log(1 + exp(-sign * score))
        layer.params = weights
        hs = layer.forward(x)
        assert_shape(hs, (2, 4, 4), name="forward(x)")
        grad_score = -signs / (1 + np.exp(signs * (hs[:, -1] @ readout))) / 2
        grad_hs = np.zeros((2, 4, 4))
        grad_hs[:, -1] = grad_score[:, None] * readout
        layer.backward(grad_hs)
        grads = layer.grads
        weights = {name: value - grads[name] for name, value in weights.items()}
        readout = readout - grad_score @ hs[:, -1]
    layer.params = weights
    scores = np.asarray(plain_array(layer.forward(x)))[:, -1] @ readout
    right = bool((scores * signs > 2).all())
    assert_equal(right, True, name="whether the last state tells the symbols apart")
