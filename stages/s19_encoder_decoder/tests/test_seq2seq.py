"""Public tests of stage s19: small examples with the numbers written out."""

import itertools
import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape

pytestmark = pytest.mark.values

DIGITS = 1e-6  # relative tolerance of numbers written out to six or seven places
NORM = 1e-4  # relative tolerance that accepts eps inside the square root of a norm and outside
PAD, START, END = 0, 1, 2


def wave(start, shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(math.prod(shape)) ** 1.5).reshape(shape)


def quiet(params):
    """Return numbers for these parameters in which GELU has no say: the MLPs give their b2."""
    p = {key: wave(i, params[key].shape) + 2 * key.endswith("gamma") for i, key in enumerate(sorted(params))}
    return {key: 0 * value if key.endswith(("mlp.W1", "mlp.b1")) else value for key, value in p.items()}


def assert_needs_forward(call, *arguments):
    """Assert that backward raises RuntimeError, other than the stub's, as long as forward has not been called."""
    with pytest.raises(RuntimeError) as caught:
        call(*arguments)
    if isinstance(caught.value, NotImplementedError):
        raise caught.value


def dictionary(learner):
    """Return the CrossAttention of the README: one head, queries and scores in units of ln 3."""
    layer = learner.CrossAttention(2, 1)
    layer.params = {
        "query_weights": math.sqrt(2) * math.log(3) * np.eye(2),
        "query_bias": np.zeros(2),
        "key_weights": np.eye(2),
        "key_bias": np.zeros(2),
        "value_weights": 4 * np.eye(2),
        "value_bias": np.zeros(2),
        "output_weights": np.array([[1.0, 0.0], [0.0, 2.0]]),
        "output_bias": np.array([0.0, 1.0]),
    }
    return layer


def two_heads(learner):
    """Return a CrossAttention of four features and two heads whose parameters count in quarters."""
    layer, table = learner.CrossAttention(4, 2), np.arange(16.0).reshape(4, 4)
    layer.params = {
        "query_weights": (table % 7 - 3) / 4,
        "query_bias": np.array([0.25, 0.0, -0.5, 1.0]),
        "key_weights": (table % 5 - 2) / 4,
        "key_bias": np.array([0.0, 0.5, 0.0, -0.25]),
        "value_weights": (table % 6 - 2) / 2,
        "value_bias": np.array([1.0, 0.0, -1.0, 0.0]),
        "output_weights": (table % 3 - 1) / 2,
        "output_bias": np.array([1.0, 0.0, -1.0, 2.0]),
    }
    return layer


@pytest.fixture
def x():
    """Two target positions of four features."""
    return np.array([[[1.0, 0.0, -1.0, 2.0], [0.0, 1.0, 1.0, 0.0]]])


@pytest.fixture
def memory():
    """Three source positions of four features."""
    return np.array([[[0.0, 2.0, 1.0, -1.0], [1.0, 0.0, 0.0, 1.0], [2.0, 1.0, -1.0, 0.0]]])


@pytest.fixture
def grad_output():
    """A gradient for what comes of x."""
    return np.array([[[1.0, 0.0, 2.0, 0.0], [0.0, -1.0, 0.0, 1.0]]])


@pytest.mark.criterion("cross-attention")
class TestCrossAttention:
    def test_three_queries_look_up_two_tokens(self, learner):
        layer = dictionary(learner)
        output = layer.forward(np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]), np.array([[[1.0, 0.0], [0.0, 1.0]]]))
        expected = [[[[0.75, 0.25], [0.25, 0.75], [0.5, 0.5]]]]
        assert_array(layer.attention_weights, expected, name="attention_weights")
        assert_array(output, [[[3.0, 3.0], [1.0, 7.0], [2.0, 5.0]]])

    def test_each_head_looks_up_for_itself(self, learner, x, memory):
        layer = two_heads(learner)
        output = layer.forward(x, memory)
        first = [[0.592325, 0.3334628, 0.0742123], [0.3313888, 0.3783708, 0.2902404]]
        second = [[0.9075322, 0.0411464, 0.0513214], [0.2618222, 0.3124494, 0.4257284]]
        assert_array(layer.attention_weights, [[first, second]], rtol=DIGITS, name="attention_weights")
        expected = [[-1.0179186, 2.0230061, -1.0050875, -0.0179186], [-0.4735921, 1.5302316, -1.0566395, 0.5264079]]
        assert_array(output, [expected], rtol=DIGITS)

    def test_a_new_layer_has_four_weights_and_four_biases(self, learner):
        params = learner.CrossAttention(6, 2, rng=np.random.default_rng(0)).params
        for part in ("query", "key", "value", "output"):
            assert_shape(params[f"{part}_weights"], (6, 6), name=f"{part}_weights")
            assert_array(params[f"{part}_bias"], np.zeros(6), name=f"{part}_bias")
        assert_equal(len(params), 8, name="number of parameters")

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, x, memory):
        with pytest.raises(ValueError):
            two_heads(learner).forward(np.concatenate([x, x]), memory)
        with pytest.raises(ValueError):
            learner.CrossAttention(6, 4)


@pytest.mark.criterion("source-padding")
class TestSourcePadding:
    def test_padding_gets_no_weight_in_any_head(self, learner, x, memory):
        layer = two_heads(learner)
        output = layer.forward(x, memory, np.array([[1, 0, 1]]))
        first = [[0.88866, 0.0, 0.11134], [0.5330972, 0.0, 0.4669028]]
        second = [[0.9464763, 0.0, 0.0535237], [0.3808043, 0.0, 0.6191957]]
        assert_array(layer.attention_weights, [[first, second]], rtol=DIGITS, name="attention_weights")
        expected = [[-1.77732, 2.8040819, -1.0267619, -0.77732], [-1.0661943, 2.3757922, -1.3095979, -0.0661943]]
        assert_array(output, [expected], rtol=DIGITS)

    @pytest.mark.edges
    def test_a_source_of_padding_gives_the_output_bias(self, learner, x, memory):
        layer = two_heads(learner)
        output = layer.forward(x, memory, np.zeros((1, 3), dtype=bool))
        assert_array(layer.attention_weights, np.zeros((1, 2, 2, 3)), name="attention_weights")
        assert_array(output, [[[1.0, 0.0, -1.0, 2.0]] * 2])

    @pytest.mark.refusals
    def test_a_mask_of_another_length_is_refused(self, learner, x, memory):
        with pytest.raises(ValueError):
            two_heads(learner).forward(x, memory, np.ones((1, 2), dtype=bool))


@pytest.mark.criterion("cross-attention-gradients")
class TestCrossAttentionGradients:
    def test_example_of_the_readme(self, learner):
        layer = dictionary(learner)
        layer.forward(np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]), np.array([[[1.0, 0.0], [0.0, 1.0]]]))
        grad_x, grad_memory = layer.backward(np.array([[[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]]))
        assert_gradient(grad_x, [[[0.823959, -0.823959], [-1.647918, 1.647918], [0.0, 0.0]]], name="grad_x")
        assert_gradient(grad_memory, [[[3.823959, 0.352082], [0.176041, 7.647918]]], name="grad_memory")
        grads = layer.grads
        expected = [[0.53033, -0.53033], [-1.06066, 1.06066]]
        assert_array(grads["query_weights"], expected, rtol=1e-5, name="grads['query_weights']")
        assert_gradient(grads["value_weights"], [[0.75, 0.5], [0.25, 1.5]], name="grads['value_weights']")
        assert_gradient(grads["output_weights"], [[3.0, 1.0], [1.0, 3.0]], name="grads['output_weights']")
        assert_gradient(grads["key_bias"], [0.0, 0.0], name="grads['key_bias']")

    def test_gradients_of_two_heads(self, learner, x, memory, grad_output):
        layer = two_heads(learner)
        layer.forward(x, memory)
        grad_x, grad_memory = layer.backward(grad_output)
        expected = [[0.4367213, -0.0476764, 0.301335, -0.1759246], [0.8497914, -0.0971888, 0.5569483, -0.4117227]]
        assert_gradient(grad_x, [expected], name="grad_x")
        expected = [
            [0.7897889, -1.739723, 0.3766581, 0.2288777],
            [-0.0938789, -1.1726373, 0.2506748, 0.3155978],
            [0.05409, -0.8376397, 0.1226671, 0.2055245],
        ]
        assert_gradient(grad_memory, [expected], name="grad_memory")
        expected = [-2.0336593, 0.4733057, 0.0083158, -0.1608799]
        assert_gradient(layer.grads["query_bias"], expected, name="grads['query_bias']")

    def test_padding_gets_no_gradient(self, learner, x, memory, grad_output):
        layer = two_heads(learner)
        layer.forward(x, memory, np.array([[True, False, True]]))
        _, grad_memory = layer.backward(grad_output)
        first, last = [0.707114, -2.4300608, 0.5119513, 0.4072712], [0.042886, -1.3199392, 0.2380487, 0.3427288]
        assert_gradient(grad_memory, [[first, [0.0] * 4, last]], name="grad_memory")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner, grad_output):
        assert_needs_forward(learner.CrossAttention(4, 2).backward, grad_output)


def quiet_block(learner):
    """Return a DecoderBlock of four features and two heads."""
    block = learner.DecoderBlock(4, 2, 0.5)
    for i, name in enumerate(("norm1", "self_attention", "norm2", "cross_attention", "norm3", "mlp")):
        part = getattr(block, name)
        p = {key: wave(10 * i + j, part.params[key].shape) for j, key in enumerate(sorted(part.params))}
        part.params = {key: value + 2 * (key == "gamma") for key, value in p.items()}
    block.mlp.params = {"W1": np.zeros((4, 2)), "b1": np.zeros(2), "W2": wave(2, (2, 4)), "b2": wave(53, (4,))}
    return block


@pytest.mark.criterion("decoder-block")
class TestDecoderBlock:
    def test_self_attention_then_cross_attention_then_mlp(self, learner, x, memory):
        expected = [[4.470821, 2.206242, 2.153851, 1.059524], [-6.558409, -4.661615, 8.242008, -3.376957]]
        assert_array(quiet_block(learner).forward(x, memory), [expected], rtol=NORM)

    def test_padding_of_the_source_is_passed_on(self, learner, x, memory):
        expected = [[4.637329, 2.316719, 2.053433, 1.027987], [-6.247892, -4.523146, 7.923509, -3.427954]]
        output = quiet_block(learner).forward(x, memory, np.array([[True, True, False]]))
        assert_array(output, [expected], rtol=NORM)

    def test_nothing_depends_on_later_positions(self, learner, x, memory):
        block = quiet_block(learner)
        changed = x.copy()
        changed[:, 1] = 7.0
        first, other = block.forward(x, memory), block.forward(changed, memory)
        assert_array(other[:, 0], first[:, 0], name="output of the first position after a change of the second")

    def test_a_new_block_has_six_parts(self, learner):
        params = learner.DecoderBlock(4, 2, rng=np.random.default_rng(0)).params
        assert_equal(len(params), 22, name="number of parameters")
        assert_shape(params["mlp.W1"], (4, 16), name="mlp.W1")
        assert_shape(params["cross_attention.key_weights"], (4, 4), name="cross_attention.key_weights")


@pytest.mark.criterion("decoder-block-gradients")
class TestDecoderBlockGradients:
    def test_both_inputs_get_a_gradient(self, learner, x, memory, grad_output):
        block = quiet_block(learner)
        block.forward(x, memory)
        grad_x, grad_memory = block.backward(grad_output)
        expected = [[-5.019459, 0.198574, 3.838676, 3.982209], [0.969947, 0.966766, -1.610869, -0.325844]]
        assert_array(grad_x, [expected], rtol=NORM, name="grad_x")
        expected = [
            [3.805725, 3.084009, 0.033747, 0.877919],
            [-0.907016, -0.968201, -0.534142, -0.044705],
            [-0.08272, -0.007573, -0.101489, -0.016411],
        ]
        assert_array(grad_memory, [expected], rtol=NORM, name="grad_memory")
        grads = block.grads
        expected = [-0.095757, 0.069729, 0.679737, 1.909206]
        assert_array(grads["cross_attention.query_bias"], expected, rtol=NORM, name="cross_attention.query_bias")
        assert_gradient(grads["mlp.b2"], [1.0, -1.0, 2.0, 1.0], name="grads['mlp.b2']")


@pytest.fixture
def source():
    """One source of four tokens, of which the last is padding."""
    return np.array([[3, 1, 4, PAD]])


def quiet_model(learner):
    """Return a Transformer of one block a side, four features and two heads."""
    model = learner.Transformer(5, 3, max_length=4, depth=1, dim=4, num_heads=2, mlp_ratio=1.0)
    model.set_params(quiet(model.params))
    return model


@pytest.mark.criterion("transformer")
class TestTransformer:
    def test_logits_of_two_positions(self, learner, source):
        model = quiet_model(learner)
        logits = model.forward(source, np.array([[1, 2]]), source != PAD)
        expected = [[-1.772181, 4.883418, -1.342827], [-2.147593, 2.111857, -1.14513]]
        assert_array(logits, [expected], rtol=NORM)

    def test_forward_is_encode_then_decode(self, learner, source):
        model = quiet_model(learner)
        target, mask = np.array([[1, 2, 0]]), source != PAD
        logits = model.decode(target, model.encode(source, mask), mask)
        assert_array(logits, model.forward(source, target, mask), name="decode of encode")

    def test_padding_may_hold_any_id(self, learner, source):
        model, target, mask = quiet_model(learner), np.array([[1, 2]]), source != PAD
        other = np.where(mask, source, 2)
        expected = model.forward(source, target, mask)
        assert_array(model.forward(other, target, mask), expected, name="logits with another id for padding")

    def test_parameters_have_names_and_shapes(self, learner):
        model = learner.Transformer(7, 5, 6, 2, 4, 2, rng=np.random.default_rng(0))
        params = model.params
        assert_equal(len(params), 78, name="number of parameters")
        shapes = {
            "source_embedding": (7, 4),
            "target_embedding": (5, 4),
            "source_positions": (6, 4),
            "target_positions": (6, 4),
            "readout_weights": (4, 5),
            "readout_bias": (5,),
            "encoder.blocks.1.mlp.W1": (4, 16),
            "decoder.1.norm3.gamma": (4,),
            "decoder_norm.beta": (4,),
        }
        for name, shape in shapes.items():
            assert_shape(params[name], shape, name=name)

    @pytest.mark.refusals
    def test_unknown_ids_and_long_sequences_are_refused(self, learner, source):
        model = quiet_model(learner)
        with pytest.raises(ValueError):
            model.forward(source, np.array([[1, 3]]))
        with pytest.raises(ValueError):
            model.forward(np.array([[1, 2, 3, 4, 1]]), np.array([[1]]))


# Gradients of quiet_model for the ids 1, 1 and the grad_logits below, by name.
GRADIENTS = {
    "source_embedding": [
        [0.0, 0.0, 0.0, 0.0],
        [0.800798, 0.763588, -0.851421, -0.712965],
        [0.0, 0.0, 0.0, 0.0],
        [0.11131, 0.02023, -0.102007, -0.029533],
        [1.911552, -0.519338, 0.340046, -1.73226],
    ],
    "target_embedding": [[0.0, 0.0, 0.0, 0.0], [-0.483171, -0.609934, 0.711111, 0.381995], [0.0, 0.0, 0.0, 0.0]],
    "source_positions": [
        [0.11131, 0.02023, -0.102007, -0.029533],
        [0.800798, 0.763588, -0.851421, -0.712965],
        [1.911552, -0.519338, 0.340046, -1.73226],
        [0.0, 0.0, 0.0, 0.0],
    ],
    "encoder.norm.beta": [-0.927978, 0.423394, -0.282973, 0.643569],
    "decoder.0.cross_attention.value_bias": [-0.173573, -0.751525, 0.029123, 0.163001],
}


@pytest.mark.criterion("transformer-gradients")
class TestTransformerGradients:
    def test_gradients_reach_both_sides(self, learner, source):
        model = quiet_model(learner)
        model.forward(source, np.array([[1, 1]]), source != PAD)
        model.backward(np.array([[[1.0, 0.0, -1.0], [0.0, 2.0, 0.0]]]))
        grads = model.grads
        assert_gradient(grads["readout_bias"], [1.0, 2.0, -1.0], name="grads['readout_bias']")
        for name, expected in GRADIENTS.items():
            assert_array(grads[name], expected, rtol=NORM, name=f"grads[{name!r}]")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(quiet_model(learner).backward, np.ones((1, 2, 3)))


@pytest.mark.criterion("independent-transformer")
def test_one_step_of_another_framework(learner, source):
    """The logits are those of PyTorch's nn.Transformer with the parameters of quiet_model, in float64."""
    logits = quiet_model(learner).forward(source, np.array([[2, 0, 1]]), source != PAD)
    expected = [[-2.135945, 2.826317, 0.723954], [-2.301824, 3.64855, -2.637276], [-1.949601, 2.70019, 1.260413]]
    assert_array(logits, [expected], rtol=NORM)


@pytest.mark.criterion("teacher-forcing")
class TestTeacherForcing:
    def test_every_row_begins_with_start_id(self, learner):
        result = learner.shift_right(np.array([[7, 8, 9, 2], [5, 2, 0, 0]]), 1)
        assert_array(result, [[1, 7, 8, 9], [1, 5, 2, 0]])

    def test_one_token_is_replaced(self, learner):
        assert_array(learner.shift_right(np.array([[4], [6]]), 3), [[3], [3]])

    @pytest.mark.refusals
    def test_a_single_sequence_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.shift_right(np.array([4, 5, 6]), 1)


@pytest.fixture
def logits():
    """Logits of two positions that softmax turns into [0.7, 0.2, 0.1] and [0.2, 0.2, 0.6]."""
    return np.log([[[0.7, 0.2, 0.1], [0.2, 0.2, 0.6]]]) + np.array([[[5.0], [-3.0]]])


@pytest.mark.criterion("label-smoothing")
class TestLabelSmoothing:
    def test_without_smoothing_it_is_cross_entropy(self, learner, logits):
        result = learner.label_smoothing_loss(logits, np.array([[0, 2]]), smoothing=0.0)
        assert_array(result, 0.4337502838523616)  # -(ln 0.7 + ln 0.6) / 2

    def test_every_token_gets_its_share(self, learner, logits):
        result = learner.label_smoothing_loss(logits, np.array([[0, 2]]), smoothing=0.3)
        assert_array(result, 0.7035451685967067)  # -(0.8 ln 0.7 + 0.1 ln 0.2 + 0.1 ln 0.1 + ...) / 2

    def test_padding_does_not_count(self, learner, logits):
        result = learner.label_smoothing_loss(logits, np.array([[0, 1]]), smoothing=0.0, padding_id=1)
        assert_array(result, 0.35667494393873245)  # -ln 0.7

    @pytest.mark.edges
    def test_large_logits(self, learner):
        result = learner.label_smoothing_loss(np.array([[[1000.0, 0.0]]]), np.array([[1]]), smoothing=0.0)
        assert_array(result, 1000.0)

    @pytest.mark.refusals
    def test_an_id_outside_of_the_vocabulary_is_refused(self, learner, logits):
        with pytest.raises(ValueError):
            learner.label_smoothing_loss(logits, np.array([[0, 3]]))


@pytest.mark.criterion("label-smoothing-gradient")
class TestLabelSmoothingGradient:
    def test_softmax_minus_softened_target(self, learner, logits):
        result = learner.label_smoothing_gradient(logits, np.array([[0, 2]]), smoothing=0.3)
        assert_array(result, [[[-0.05, 0.05, 0.0], [0.05, 0.05, -0.1]]], atol=1e-9)

    def test_padding_gets_zeros_and_does_not_count(self, learner, logits):
        result = learner.label_smoothing_gradient(logits, np.array([[-100, 2]]), smoothing=0.3, padding_id=-100)
        assert_array(result, [[[0.0, 0.0, 0.0], [0.1, 0.1, -0.2]]], atol=1e-9)


@pytest.mark.criterion("length-penalty")
class TestLengthPenalty:
    def test_numbers(self, learner):
        assert_array(learner.length_penalty(1), 1.0)
        assert_array(learner.length_penalty(7, alpha=1.0), 2.0)
        assert_array(learner.length_penalty(13, alpha=0.5), 1.7320508075688772)  # √3
        assert_array(learner.length_penalty(10), 1.7328621078878659)

    def test_an_array_of_lengths(self, learner):
        assert_array(learner.length_penalty(np.array([1, 7, 13]), alpha=2.0), [1.0, 4.0, 9.0])

    @pytest.mark.refusals
    def test_a_negative_length_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.length_penalty(-1)


# Probabilities of the next token after each last one: 0 begins an answer, 1 ends it.
NEXT = np.array([[0.05, 0.05, 0.5, 0.4], [0.25] * 4, [0.2, 0.4, 0.2, 0.2], [0.05, 0.85, 0.05, 0.05]])
# After the start, either the end or a long way of sure steps.
LONG = np.array([[0.0, 0.55, 0.45, 0.0], [0.25] * 4, [0.0, 0.0, 0.0, 1.0], [0.0, 0.9, 0.1, 0.0]])


def after(probabilities):
    """Return a function that gives the log-probabilities of the token after a prefix."""

    def next_log_probs(prefix):
        with np.errstate(divide="ignore"):
            return np.log(probabilities[int(prefix[-1])])

    return next_log_probs


@pytest.mark.criterion("beam-search")
class TestBeamSearch:
    def test_one_prefix_is_greedy_search(self, learner):
        tokens, score = learner.beam_search(after(NEXT), 0, 1, beam_size=1, alpha=0.0)
        assert_equal(list(tokens), [2], name="tokens")
        assert_array(score, math.log(0.5 * 0.4), name="score")

    def test_two_prefixes_find_the_better_answer(self, learner):
        tokens, score = learner.beam_search(after(NEXT), 0, 1, beam_size=2, alpha=0.0)
        assert_equal(list(tokens), [3], name="tokens")
        assert_array(score, math.log(0.4 * 0.85), name="score")

    def test_the_penalty_speaks_for_the_longer_answer(self, learner):
        short, _ = learner.beam_search(after(LONG), 0, 1, beam_size=3, alpha=0.0)
        tokens, score = learner.beam_search(after(LONG), 0, 1, beam_size=3, alpha=2.0)
        assert_equal(list(short), [], name="tokens for alpha = 0")
        assert_equal(list(tokens), [2, 3], name="tokens for alpha = 2")
        assert_array(score, math.log(0.45 * 0.9) / (8 / 6) ** 2, name="score for alpha = 2")

    @pytest.mark.edges
    def test_what_has_not_ended_counts_at_max_length(self, learner):
        tokens, score = learner.beam_search(after(LONG[:, [0, 3, 2, 1]]), 0, 1, beam_size=1, max_length=1)
        assert_equal(list(tokens), [3], name="tokens")
        assert_array(score, math.log(0.55), name="score")

    @pytest.mark.refusals
    def test_an_empty_beam_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.beam_search(after(NEXT), 0, 1, beam_size=0)


# The examples of Papineni et al. 2002, section 2.
GUIDES = [
    "It is a guide to action that ensures that the military will forever heed Party commands",
    "It is the guiding principle which guarantees the military forces always being under the command of the Party",
    "It is the practical guide for the army always to heed the directions of the party",
]
GOOD = "It is a guide to action which ensures that the military always obeys the commands of the party"
POOR = "It is to insure the troops forever hearing the activity guidebook that party direct"


def words(*sentences):
    """Return each sentence as a list of words."""
    return [sentence.split() for sentence in sentences]


@pytest.mark.criterion("clipped-matches")
class TestClippedMatches:
    def test_the_seven_times(self, learner):
        references = [words("the cat is on the mat", "there is a cat on the mat")]
        result = learner.clipped_matches(words("the the the the the the the"), references, 1)
        assert_equal(tuple(result), (2, 7))

    def test_candidates_of_papineni(self, learner):
        for n, good, poor in ((1, (17, 18), (8, 14)), (2, (10, 17), (1, 13)), (3, (7, 16), (0, 12))):
            for candidate, expected in ((GOOD, good), (POOR, poor)):
                result = learner.clipped_matches(words(candidate), [words(*GUIDES)], n)
                assert_equal(tuple(result), expected, name=f"matches and total for n = {n}")

    @pytest.mark.edges
    def test_a_short_candidate_has_no_long_n_grams(self, learner):
        assert_equal(tuple(learner.clipped_matches([[5, 6]], [[[5, 6, 7]]], 3)), (0, 0))

    @pytest.mark.refusals
    def test_each_candidate_needs_references(self, learner):
        with pytest.raises(ValueError):
            learner.clipped_matches(words("a b", "c d"), [words("a b")], 1)


@pytest.mark.criterion("bleu")
class TestBleu:
    def test_the_same_sentence_has_score_one(self, learner):
        assert_array(learner.bleu(words("a b c d e"), [words("a b c d e")]), 1.0)

    def test_candidates_of_papineni(self, learner):
        assert_array(learner.bleu(words(GOOD), [words(*GUIDES)]), 0.5045666840058485)
        assert_array(learner.bleu(words(GOOD, POOR), [words(*GUIDES)] * 2), 0.30435372613055613)

    def test_short_candidates_are_penalised(self, learner):
        result = learner.bleu(words("the cat is on the mat"), [words("the cat is on the mat and sleeps there")])
        assert_array(result, 0.6065306597126334)  # exp(1 - 9/6)

    @pytest.mark.edges
    def test_one_order_without_a_match_gives_zero(self, learner):
        assert_array(learner.bleu(words("a b c"), [words("a b c")]), 0.0)


@pytest.mark.criterion("reverses-sequences")
def test_a_step_along_the_gradient_lowers_the_loss(learner):
    model = learner.Transformer(
        6, 6, max_length=4, depth=1, dim=8, num_heads=2, mlp_ratio=1.0, rng=np.random.default_rng(1)
    )
    source = np.array([[3, 4, 5, END], [5, 4, END, PAD]])
    answers = np.array([[5, 4, 3, END], [4, 5, END, PAD]])
    inputs, losses = learner.shift_right(answers, START), []
    for _ in range(8):
        logits = model.forward(source, inputs, source != PAD)
        assert_shape(logits, (2, 4, 6), name="logits")
        log_shares = logits - np.log(np.exp(logits).sum(axis=-1, keepdims=True))
        wanted = 0.9 * np.eye(6)[answers] + 0.1 / 6
        losses.append(float(-(wanted * log_shares).sum(axis=-1)[answers != PAD].mean()))
        model.backward(learner.label_smoothing_gradient(logits, answers, 0.1, PAD))
        grads = model.grads
        model.set_params({name: value - 0.05 * grads[name] for name, value in model.params.items()})
    assert_equal(
        all(later < sooner for sooner, later in itertools.pairwise(losses)),
        True,
        name="whether each loss is lower",
    )
