"""Public tests of stage s17: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, plain_array

pytestmark = pytest.mark.values

DIGITS = 1e-6  # relative tolerance of numbers written out to seven places
NORM = 1e-4  # relative tolerance that accepts eps inside the square root and outside, through several norms
FORMS = 2e-3  # relative tolerance that accepts both forms of GELU too, where inputs are as small as here


@pytest.fixture
def tokens():
    """One sequence of three tokens with two features."""
    return np.array([[[1.0, 0.0], [0.0, 2.0], [1.0, 1.0]]])


@pytest.fixture
def grad_output():
    """A gradient for what comes of tokens."""
    return np.array([[[1.0, 0.0], [0.0, -1.0], [2.0, 1.0]]])


@pytest.fixture
def causal():
    """The mask in which each of three tokens sees itself and those before it."""
    return np.array([[True, False, False], [True, True, False], [True, True, True]])


def assert_either(result, forms, rtol):
    """Assert that the result is one of two arrays, "erf" or "tanh" for the two forms of GELU; return which."""
    assert_shape(result, np.shape(forms["erf"]))
    form = min(forms, key=lambda form: np.abs(result - np.array(forms[form])).max())
    assert_array(result, forms[form], rtol=rtol)
    return form


def assert_needs_forward(layer, shape):
    """Assert that backward raises RuntimeError, other than the stub's, as long as forward has not been called."""
    with pytest.raises(RuntimeError) as caught:
        layer.backward(np.ones(shape))
    if isinstance(caught.value, NotImplementedError):
        raise caught.value


def single_head(learner):
    """Return a SelfAttention of two features with small whole numbers as parameters."""
    layer = learner.SelfAttention(2)
    layer.params = {
        "query_weights": np.array([[1.0, 0.0], [1.0, 1.0]]),
        "query_bias": np.array([0.5, 0.0]),
        "key_weights": np.array([[0.0, 1.0], [1.0, 0.0]]),
        "key_bias": np.array([0.0, -1.0]),
        "value_weights": np.array([[2.0, 0.0], [0.0, 1.0]]),
        "value_bias": np.array([1.0, -1.0]),
    }
    return layer


@pytest.mark.criterion("self-attention")
class TestSelfAttention:
    def test_values_are_averaged_by_the_weights(self, learner, tokens):
        layer = single_head(learner)
        output = layer.forward(tokens)
        weights = [
            [[0.0817633, 0.6820815, 0.2361552], [0.0657899, 0.5488288, 0.3853813], [0.0420582, 0.7115752, 0.2463667]]
        ]
        assert_array(layer.attention_weights, weights, rtol=DIGITS, name="attention_weights")
        expected = [[[1.635837, 0.6003182], [1.9023424, 0.4830389], [1.5768497, 0.669517]]]
        assert_array(output, expected, rtol=DIGITS)

    def test_equal_tokens_get_equal_weights(self, learner):
        layer = single_head(learner)
        output = layer.forward(np.full((1, 4, 2), 3.0))
        assert_array(layer.attention_weights, np.full((1, 4, 4), 0.25), name="attention_weights")
        assert_array(output, [[[7.0, 2.0]] * 4])

    def test_a_new_layer_has_three_weights_and_three_biases(self, learner):
        params = learner.SelfAttention(5, rng=np.random.default_rng(0)).params
        for part in ("query", "key", "value"):
            assert_shape(params[f"{part}_weights"], (5, 5), name=f"{part}_weights")
            assert_array(params[f"{part}_bias"], np.zeros(5), name=f"{part}_bias")
        assert_equal(len(params), 6, name="number of parameters")

    @pytest.mark.refusals
    def test_x_without_a_batch_axis_is_refused(self, learner):
        with pytest.raises(ValueError):
            single_head(learner).forward(np.ones((3, 2)))


@pytest.mark.criterion("self-attention-masks")
class TestSelfAttentionMasks:
    def test_no_token_sees_a_later_one(self, learner, tokens, causal):
        layer = single_head(learner)
        output = layer.forward(tokens, causal)
        weights = [[[1.0, 0.0, 0.0], [0.1070418, 0.8929582, 0.0], [0.0420582, 0.7115752, 0.2463667]]]
        assert_array(layer.attention_weights, weights, rtol=DIGITS, name="attention_weights")
        expected = [[[3.0, -1.0], [1.2140836, 0.7859164], [1.5768497, 0.669517]]]
        assert_array(output, expected, rtol=DIGITS)

    def test_padding_is_masked_for_every_query(self, learner, tokens):
        layer = single_head(learner)
        output = layer.forward(tokens, np.array([[[1, 1, 0]]]))
        weights = [[[0.1070418, 0.8929582, 0.0], [0.1070418, 0.8929582, 0.0], [0.0558072, 0.9441928, 0.0]]]
        assert_array(layer.attention_weights, weights, rtol=DIGITS, name="attention_weights")
        expected = [[[1.2140836, 0.7859164], [1.2140836, 0.7859164], [1.1116144, 0.8883856]]]
        assert_array(output, expected, rtol=DIGITS)

    @pytest.mark.edges
    def test_a_query_without_keys_gives_zeros(self, learner, tokens):
        layer = single_head(learner)
        output = layer.forward(tokens, np.array([[False] * 3, [True, False, False], [False] * 3]))
        expected = [[[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]]]
        assert_array(layer.attention_weights, expected, name="attention_weights")
        assert_array(output, [[[0.0, 0.0], [3.0, -1.0], [0.0, 0.0]]])

    @pytest.mark.refusals
    def test_a_mask_that_does_not_fit_is_refused(self, learner, tokens):
        with pytest.raises(ValueError):
            single_head(learner).forward(tokens, np.ones((2, 2), dtype=bool))


@pytest.mark.criterion("self-attention-gradients")
class TestSelfAttentionGradients:
    def test_three_ways_lead_back_to_x(self, learner, tokens, grad_output):
        layer = single_head(learner)
        layer.forward(tokens)
        grad_x = layer.backward(grad_output)
        grads = layer.grads
        expected = [[-0.834743, 0.7208762], [-0.9884348, 0.8154543]]
        assert_gradient(grads["query_weights"], expected, name="grads['query_weights']")
        expected = [[1.9970799, 0.8154543], [-2.3753564, -0.9884348]]
        assert_gradient(grads["key_weights"], expected, name="grads['key_weights']")
        expected = [[0.8947681, -0.1627463], [4.9393522, 0.1864781]]
        assert_gradient(grads["value_weights"], expected, name="grads['value_weights']")
        assert_gradient(grads["query_bias"], [-1.1043572, 0.9214988], name="grads['query_bias']")
        assert_gradient(grads["key_bias"], [0.0, 0.0], name="grads['key_bias']")
        assert_gradient(grads["value_bias"], [3.0, 0.0], name="grads['value_bias']")
        assert_gradient(
            grad_x, [[[0.1192032, 0.2756751], [3.1253951, -1.9033253], [1.6510444, 1.4447918]]], name="grad_x"
        )

    def test_a_masked_token_gets_no_gradient_as_key_or_value(self, learner, tokens):
        layer = single_head(learner)
        layer.forward(tokens, np.eye(3, dtype=bool))  # everyone sees itself alone: output = value
        grad_x = layer.backward(np.array([[[1.0, 1.0], [0.0, 0.0], [0.0, 3.0]]]))
        assert_gradient(grad_x, [[[2.0, 1.0], [0.0, 0.0], [0.0, 3.0]]], name="grad_x")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(learner.SelfAttention(2), (1, 3, 2))


def two_heads(learner):
    """Return a MultiheadSelfAttention of four features and two heads whose parameters count in quarters."""
    layer = learner.MultiheadSelfAttention(4, 2)
    layer.params = {
        "qkv_weights": (np.arange(48.0).reshape(4, 12) % 7 - 3) / 4,
        "qkv_bias": (np.arange(12.0) % 5 - 2) / 4,
        "output_weights": (np.arange(16.0).reshape(4, 4) % 6 - 2) / 4,
        "output_bias": np.array([1.0, 0.0, -1.0, 2.0]),
    }
    return layer


@pytest.fixture
def sentence():
    """One sequence of three tokens with four features."""
    return np.array([[[1.0, 0.0, -1.0, 2.0], [0.0, 1.0, 1.0, 0.0], [2.0, -1.0, 0.0, 1.0]]])


@pytest.mark.criterion("fused-projection")
class TestFusedProjection:
    def test_queries_come_first_then_keys_then_values(self, learner):
        layer = learner.MultiheadSelfAttention(1, 1)
        layer.params = {
            "qkv_weights": np.array([[1.0, 0.0, 0.0]]),  # query = x, key = 2, value = 5
            "qkv_bias": np.array([0.0, 2.0, 5.0]),
            "output_weights": np.array([[1.0]]),
            "output_bias": np.array([0.0]),
        }
        output = layer.forward(np.array([[[1.0], [3.0]]]))
        assert_array(layer.attention_weights, [[[[0.5, 0.5], [0.5, 0.5]]]], name="attention_weights")
        assert_array(output, [[[5.0], [5.0]]])

    def test_each_head_has_its_own_weights(self, learner, sentence):
        layer = two_heads(learner)
        layer.forward(sentence)
        first = [[0.0003499, 0.9970936, 0.0025565], [0.5331754, 0.1086205, 0.3582041], [1.46e-05, 0.9997497, 0.0002357]]
        second = [
            [0.4245401, 0.3256559, 0.2498039],
            [0.2724126, 0.5524841, 0.1751033],
            [0.1415546, 0.7590474, 0.099398],
        ]
        assert_array(layer.attention_weights, [[first, second]], rtol=DIGITS, name="attention_weights")

    def test_a_new_layer_has_one_matrix_for_all_three(self, learner):
        params = learner.MultiheadSelfAttention(6, 2, rng=np.random.default_rng(0)).params
        assert_shape(params["qkv_weights"], (6, 18), name="qkv_weights")
        assert_shape(params["output_weights"], (6, 6), name="output_weights")
        assert_array(params["qkv_bias"], np.zeros(18), name="qkv_bias")
        assert_array(params["output_bias"], np.zeros(6), name="output_bias")
        assert_equal(len(params), 4, name="number of parameters")


@pytest.mark.criterion("multihead-attention")
class TestMultiheadAttention:
    def test_heads_are_joined_and_projected(self, learner, sentence):
        expected = [
            [
                [0.2119404, -0.3528202, -1.2942357, 2.1410037],
                [1.6127755, 0.3129813, -1.2305845, 1.4696213],
                [0.8012705, -0.042079, -1.2605944, 1.896056],
            ]
        ]
        assert_array(two_heads(learner).forward(sentence), expected, rtol=DIGITS)

    def test_one_token_attends_to_itself(self, learner):
        layer = two_heads(learner)
        output = layer.forward(np.array([[[1.0, 0.0, 0.0, 0.0]]]))
        assert_array(layer.attention_weights, np.ones((1, 2, 1, 1)), name="attention_weights")
        expected = [[[1.25, 0.125, -1.375, 1.5]]]
        assert_array(output, expected, rtol=DIGITS)

    @pytest.mark.refusals
    def test_heads_that_cannot_share_the_features_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.MultiheadSelfAttention(6, 4)


@pytest.mark.criterion("multihead-masks")
class TestMultiheadMasks:
    def test_all_heads_take_one_mask(self, learner, sentence, causal):
        layer = two_heads(learner)
        output = layer.forward(sentence, causal)
        first = [[1.0, 0.0, 0.0], [0.8307554, 0.1692446, 0.0], [1.46e-05, 0.9997497, 0.0002357]]
        second = [[1.0, 0.0, 0.0], [0.3302385, 0.6697615, 0.0], [0.1415546, 0.7590474, 0.099398]]
        assert_array(layer.attention_weights, [[first, second]], rtol=DIGITS, name="attention_weights")
        expected = [
            [
                [0.5, -0.5625, -1.25, 1.6875],
                [1.3565533, -0.008192, -1.1248708, 1.5103839],
                [0.8012705, -0.042079, -1.2605944, 1.896056],
            ]
        ]
        assert_array(output, expected, rtol=DIGITS)

    def test_padding_mask_has_axes_for_heads_and_queries(self, learner, sentence):
        layer = two_heads(learner)
        two = np.concatenate([sentence, sentence])
        layer.forward(two, np.array([[1, 1, 1], [1, 0, 0]])[:, None, None, :])
        alone = np.broadcast_to([1.0, 0.0, 0.0], (2, 3, 3))
        assert_array(layer.attention_weights[1], alone, name="attention_weights of the second sequence")

    @pytest.mark.edges
    def test_a_query_without_keys_gives_the_output_bias(self, learner, sentence):
        output = two_heads(learner).forward(sentence, np.array([[False], [False], [False]]))
        assert_array(output, [[[1.0, 0.0, -1.0, 2.0]] * 3])


@pytest.mark.criterion("multihead-gradients")
class TestMultiheadGradients:
    def test_gradients_of_three_tokens(self, learner, sentence):
        layer = two_heads(learner)
        layer.forward(sentence)
        grad_x = layer.backward(np.array([[[1.0, 0.0, 2.0, 0.0], [0.0, -1.0, 0.0, 1.0], [0.0, 0.0, 1.0, 0.0]]]))
        expected = [
            [
                [0.0963763, 0.005153, 0.6707729, 0.096021],
                [0.6356138, 0.1209381, -0.4825925, 0.5045134],
                [-0.2100314, 0.2207896, 0.3059624, -0.0878477],
            ]
        ]
        assert_gradient(grad_x, expected, name="grad_x")
        grads = layer.grads
        expected = [
            0.0059151,
            0.0059151,
            0.2251762,
            0.4684312,
            -0.0106596,
            -0.2480865,
            0.0450584,
            0.1753366,
            0.6220604,
            -1.252558,
            1.4056329,
            -0.1507644,
        ]
        assert_gradient(grads["qkv_weights"][0], expected, name="first row of grads['qkv_weights']")
        expected = [-0.0553205, -0.0553205, 0.1887678, -0.1152146, 0.0, 0.0, 0.0, 0.0, 0.0, -2.0, 2.0, 0.0]
        assert_gradient(grads["qkv_bias"], expected, name="grads['qkv_bias']")
        expected = [
            [1.2415433, 1.0242569, 3.7323467, -1.0242569],
            [0.2511033, -0.1625143, 0.7523171, 0.1625143],
            [-0.3373681, 0.2986547, -0.9458145, -0.2986547],
            [0.5856792, 0.0387797, 0.5696678, -0.0387797],
        ]
        assert_gradient(grads["output_weights"], expected, name="grads['output_weights']")
        assert_gradient(grads["output_bias"], [1.0, -1.0, 3.0, 1.0], name="grads['output_bias']")

    @pytest.mark.purity
    def test_a_second_backward_replaces_the_gradients(self, learner, sentence):
        layer = two_heads(learner)
        layer.forward(sentence)
        layer.backward(np.ones((1, 3, 4)))
        layer.backward(np.full((1, 3, 4), 2.0))
        assert_gradient(layer.grads["output_bias"], [6.0, 6.0, 6.0, 6.0], name="grads['output_bias']")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(learner.MultiheadSelfAttention(4, 2), (1, 3, 4))


@pytest.mark.criterion("layer-norm")
class TestLayerNorm:
    def test_features_get_mean_zero_and_variance_one(self, learner):
        result = learner.LayerNorm(4).forward(np.array([[1.0, 2.0, 3.0, 4.0]]))
        assert_array(result, [[-1.341635, -0.447212, 0.447212, 1.341635]], rtol=NORM)

    def test_gamma_scales_and_beta_shifts(self, learner):
        layer = learner.LayerNorm(4)
        layer.params = {"gamma": np.array([1.0, 2.0, 1.0, -1.0]), "beta": np.array([0.0, 10.0, 0.0, 1.0])}
        result = layer.forward(np.array([[1.0, 2.0, 3.0, 4.0]]))
        assert_array(result, [[-1.341635, 9.105577, 0.447212, -0.341635]], rtol=NORM)

    def test_every_token_is_normalised_by_itself(self, learner):
        x = np.array([[1.0, 3.0, 5.0], [10.0, 40.0, 10.0]])
        result = learner.LayerNorm(3).forward(x)
        assert_array(result, [[-1.224743, 0.0, 1.224743], [-0.707107, 1.414214, -0.707107]], rtol=NORM)

    @pytest.mark.edges
    def test_equal_features_give_beta(self, learner):
        layer = learner.LayerNorm(2)
        layer.params = {"gamma": np.array([3.0, 3.0]), "beta": np.array([1.0, -1.0])}
        assert_array(layer.forward(np.full((1, 2), 5.0)), [[1.0, -1.0]])

    def test_a_new_layer_changes_no_scale(self, learner):
        params = learner.LayerNorm(3).params
        assert_array(params["gamma"], [1.0, 1.0, 1.0], name="gamma")
        assert_array(params["beta"], [0.0, 0.0, 0.0], name="beta")


@pytest.mark.criterion("layer-norm-gradients")
class TestLayerNormGradients:
    def test_mean_and_variance_depend_on_x(self, learner):
        layer = learner.LayerNorm(4)
        layer.params = {"gamma": np.array([2.0, 1.0, 1.0, 1.0]), "beta": np.zeros(4)}
        layer.forward(np.array([[1.0, 2.0, 3.0, 4.0]]))
        grad_x = layer.backward(np.array([[1.0, 0.0, 0.0, 2.0]]))
        assert_array(grad_x, [[0.894427, -0.894427, -0.894427, 0.894427]], rtol=NORM, name="grad_x")
        assert_array(layer.grads["gamma"], [-1.341635, 0.0, 0.0, 2.683271], rtol=NORM, name="grads['gamma']")
        assert_array(layer.grads["beta"], [1.0, 0.0, 0.0, 2.0], name="grads['beta']")

    def test_parameters_sum_over_all_tokens(self, learner):
        layer = learner.LayerNorm(2)
        layer.forward(np.array([[[1.0, 3.0], [5.0, 1.0]], [[0.0, 2.0], [7.0, 3.0]]]))
        layer.backward(np.array([[[1.0, 1.0], [2.0, 1.0]], [[1.0, 0.0], [0.0, 4.0]]]))
        assert_array(layer.grads["gamma"], [0.0, -4.0], atol=NORM, name="grads['gamma']")
        assert_array(layer.grads["beta"], [4.0, 6.0], name="grads['beta']")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(learner.LayerNorm(4), (1, 4))


@pytest.fixture
def inputs():
    """Two inputs of two features for small_mlp: its hidden units get [1, 0, 1.5] and [-1, 0.5, 4.5]."""
    return np.array([[1.0, 1.0], [-1.0, 1.5]])


def small_mlp(learner, dropout=0.0):
    """Return an MLP of two features and three hidden units."""
    mlp = learner.MLP(2, 3, dropout, rng=np.random.default_rng(0))
    mlp.params = {
        "W1": np.array([[1.0, 0.0, -1.0], [0.0, 1.0, 2.0]]),
        "b1": np.array([0.0, -1.0, 0.5]),
        "W2": np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 4.0]]),
        "b2": np.array([0.0, -1.0]),
    }
    return mlp


# What small_mlp makes of inputs, by the two forms of GELU.
MLP_OUTPUT = {
    "erf": [[0.8413447, 4.5991568], [0.5328072, 17.3456701]],
    "tanh": [[0.841192, 4.5982863], [0.53262, 17.3456935]],
}


@pytest.mark.criterion("mlp")
class TestMLP:
    def test_gelu_stands_between_two_linear_layers(self, learner, inputs):
        result = small_mlp(learner).forward(inputs)
        assert_either(result, MLP_OUTPUT, rtol=DIGITS)

    def test_gelu_of_small_numbers(self, learner):
        mlp = learner.MLP(1, 1)
        mlp.params = {"W1": np.eye(1), "b1": np.zeros(1), "W2": np.eye(1), "b2": np.zeros(1)}
        result = mlp.forward(np.array([[-2.0], [-1.0], [0.0], [1.0], [2.0]]))
        erf, tanh = (
            [[-0.0455003], [-0.1586553], [0.0], [0.8413447], [1.9544997]],
            [[-0.0454023], [-0.158808], [0.0], [0.841192], [1.9545977]],
        )
        assert_either(result, {"erf": erf, "tanh": tanh}, rtol=DIGITS)

    def test_a_new_layer_has_the_shapes_of_its_sizes(self, learner):
        params = learner.MLP(4, 6, rng=np.random.default_rng(0)).params
        assert_shape(params["W1"], (4, 6), name="W1")
        assert_shape(params["W2"], (6, 4), name="W2")
        assert_array(params["b1"], np.zeros(6), name="b1")
        assert_array(params["b2"], np.zeros(4), name="b2")


@pytest.mark.criterion("dropout")
class TestDropout:
    def test_half_of_the_outputs_are_dropped_and_the_others_doubled(self, learner):
        mlp = learner.MLP(20, 3, dropout=0.5, rng=np.random.default_rng(0))
        mlp.params = {"W1": np.zeros((20, 3)), "b1": np.zeros(3), "W2": np.zeros((3, 20)), "b2": np.ones(20)}
        output = mlp.forward(np.zeros((50, 20)), training=True)
        assert_shape(output, (50, 20))
        assert_array(output * (output - 2), np.zeros((50, 20)), name="y (y - 2), which is 0 where y is 0 or 2")
        assert_array(np.mean(output), 1.0, atol=0.25, name="mean")

    def test_hidden_numbers_are_dropped_too(self, learner):
        mlp = learner.MLP(1, 1, dropout=0.5, rng=np.random.default_rng(0))
        mlp.params = {"W1": np.zeros((1, 1)), "b1": np.array([30.0]), "W2": np.eye(1), "b2": np.zeros(1)}
        output = mlp.forward(np.zeros((1000, 1)), training=True)  # GELU of 30 is 30; twice kept, it is 120
        assert_shape(output, (1000, 1))
        assert_array(output * (output - 120), np.zeros((1000, 1)), name="y (y - 120)")
        assert_array(np.mean(output), 30.0, atol=12, name="mean")

    def test_nothing_is_dropped_outside_of_training(self, learner, inputs):
        expected = small_mlp(learner).forward(inputs)
        assert_array(small_mlp(learner, dropout=0.9).forward(inputs), expected)
        assert_array(small_mlp(learner).forward(inputs, training=True), expected, name="result of training at rate 0")

    @pytest.mark.refusals
    def test_a_rate_of_one_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.MLP(2, 3, dropout=1.0)


@pytest.mark.criterion("mlp-gradients")
class TestMLPGradients:
    def test_gradients_of_two_inputs(self, learner, inputs):
        mlp = small_mlp(learner)
        result = mlp.forward(inputs)
        form = assert_either(result, MLP_OUTPUT, rtol=DIGITS)
        grad_x = mlp.backward(np.array([[1.0, 0.0], [0.0, 1.0]]))
        grads = mlp.grads
        expected = {
            "grad_x": {
                "erf": [[1.0833155, 1.0], [-4.0002741, 8.8680434]],
                "tanh": [[1.0829641, 1.0], [-4.0001173, 8.8676045]],
            },
            "W1": {
                "erf": [[1.0833155, 0.1325049, -4.0002741], [1.0833155, 2.3012427, 6.0004112]],
                "tanh": [[1.0829641, 0.1326301, -4.0001173], [1.0829641, 2.3010549, 6.0001759]],
            },
            "b1": {"erf": [1.0833155, 1.8674951, 4.0002741], "tanh": [1.0829641, 1.8673699, 4.0001173]},
            "W2": {
                "erf": [[0.8413447, -0.1586553], [0.0, 0.3457312], [1.3997892, 4.4999847]],
                "tanh": [[0.841192, -0.158808], [0.0, 0.345714], [1.3995716, 4.4999949]],
            },
        }  # by the two forms of GELU
        assert_gradient(grad_x, expected["grad_x"][form], name="grad_x")
        for name in ("W1", "b1", "W2"):
            assert_gradient(grads[name], expected[name][form], name=f"grads['{name}']")
        assert_gradient(grads["b2"], [1.0, 1.0], name="grads['b2']")

    def test_what_was_dropped_gets_no_gradient(self, learner):
        mlp = learner.MLP(20, 3, dropout=0.5, rng=np.random.default_rng(0))
        mlp.params = {"W1": np.zeros((20, 3)), "b1": np.zeros(3), "W2": np.zeros((3, 20)), "b2": np.ones(20)}
        output = mlp.forward(np.zeros((50, 20)), training=True)  # 0 or 2
        mlp.backward(np.ones((50, 20)))
        assert_gradient(mlp.grads["b2"], np.sum(plain_array(output), axis=0), name="grads['b2']")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(learner.MLP(2, 3), (1, 2))


def fill_block(block):
    """Give a block of four features, two heads and two hidden units parameters that count in quarters."""
    block.norm1.params = {"gamma": np.array([1.0, 2.0, 1.0, 0.5]), "beta": np.array([0.0, 0.5, 0.0, -0.5])}
    block.attention.params = {
        "qkv_weights": (np.arange(48.0).reshape(4, 12) % 7 - 3) / 4,
        "qkv_bias": (np.arange(12.0) % 5 - 2) / 4,
        "output_weights": (np.arange(16.0).reshape(4, 4) % 6 - 2) / 4,
        "output_bias": np.array([1.0, 0.0, -1.0, 2.0]),
    }
    block.norm2.params = {"gamma": np.array([1.5, 1.0, 1.0, 1.0]), "beta": np.array([0.0, 0.0, 1.0, 0.0])}
    block.mlp.params = {
        "W1": np.array([[1.0, 0.0], [0.0, 1.0], [0.5, 0.0], [-1.0, 0.0]]),
        "b1": np.array([0.0, 0.5]),
        "W2": np.array([[0.0, 0.0, 1.0, 0.0], [1.0, 0.0, 0.0, -1.0]]),
        "b2": np.array([0.25, 0.0, 0.0, 0.0]),
    }
    return block


PART_NAMES = [
    "attention.output_bias",
    "attention.output_weights",
    "attention.qkv_bias",
    "attention.qkv_weights",
    "mlp.W1",
    "mlp.W2",
    "mlp.b1",
    "mlp.b2",
    "norm1.beta",
    "norm1.gamma",
    "norm2.beta",
    "norm2.gamma",
]


@pytest.mark.criterion("pre-norm-block")
class TestBlock:
    def test_sublayers_see_normalised_inputs_and_are_added(self, learner, sentence):
        result = fill_block(learner.Block(4, 2, mlp_ratio=0.5)).forward(sentence)
        expected = [
            [
                [0.09087, -1.46716, -2.01709, 4.73798],
                [2.62326, 1.3412, -0.36739, 0.45572],
                [2.10947, -2.09001, -1.12654, 2.77935],
            ]
        ]
        assert_array(result, expected, rtol=FORMS)

    def test_params_name_the_parts(self, learner):
        block = fill_block(learner.Block(4, 2, mlp_ratio=0.5))
        assert_equal(sorted(block.params), PART_NAMES, name="names of params")
        assert_array(block.params["mlp.b1"], [0.0, 0.5], name="params['mlp.b1']")

    def test_a_new_block_has_four_hidden_units_a_feature(self, learner):
        assert_shape(learner.Block(6, 3).params["mlp.W1"], (6, 24), name="mlp.W1")


@pytest.mark.criterion("pre-norm-block-gradients")
class TestBlockGradients:
    def test_gradients_of_three_tokens(self, learner, sentence):
        block = fill_block(learner.Block(4, 2, mlp_ratio=0.5))
        block.forward(sentence)
        grad_x = block.backward(sentence[:, ::-1])
        expected = [
            [
                [1.85731, -2.22976, 0.85901, 1.51343],
                [0.48576, -4.73715, 6.67225, -0.42086],
                [0.63838, 0.37578, -1.52108, 2.50693],
            ]
        ]
        assert_array(grad_x, expected, rtol=FORMS, name="grad_x")
        expected = [0.52705, -1.3905, -0.59924, -3.14282]
        assert_array(block.grads["norm1.gamma"], expected, rtol=FORMS, name="grads['norm1.gamma']")
        assert_equal(sorted(block.grads), PART_NAMES, name="names of grads")

    def test_the_residual_path_passes_the_gradient_on(self, learner, sentence):
        block = learner.Block(4, 2)
        for part in (block.attention, block.mlp):
            part.params = {name: np.zeros_like(value) for name, value in part.params.items()}
        assert_array(block.forward(sentence), sentence)
        assert_gradient(block.backward(sentence[:, ::-1]), sentence[:, ::-1], name="grad_x")


@pytest.mark.criterion("post-norm-block")
class TestPostNormBlock:
    def test_sums_are_normalised(self, learner, sentence):
        result = fill_block(learner.PostNormBlock(4, 2, mlp_ratio=0.5)).forward(sentence)
        expected = [
            [
                [1.65243, -0.13698, -0.55524, 0.5906],
                [2.00803, 0.58775, 0.09539, -1.02183],
                [2.07844, -1.24911, 0.42657, 0.43692],
            ]
        ]
        assert_array(result, expected, rtol=FORMS)

    def test_params_name_the_parts_of_a_post_norm_block(self, learner):
        block = fill_block(learner.PostNormBlock(4, 2, mlp_ratio=0.5))
        assert_equal(sorted(block.params), PART_NAMES, name="names of params")
        assert_array(block.params["mlp.b1"], [0.0, 0.5], name="params['mlp.b1']")


@pytest.mark.criterion("post-norm-block-gradients")
class TestPostNormBlockGradients:
    def test_gradients_of_three_tokens(self, learner, sentence):
        block = fill_block(learner.PostNormBlock(4, 2, mlp_ratio=0.5))
        block.forward(sentence)
        grad_x = block.backward(sentence[:, ::-1])
        expected = [
            [
                [0.557, -1.24216, 0.61131, -0.17019],
                [-0.33897, 0.71924, 0.14439, -0.34045],
                [-0.59451, 0.676, -0.82639, 0.54547],
            ]
        ]
        assert_array(grad_x, expected, rtol=FORMS, name="grad_x")
        expected = [-1.02907, 0.01315, -0.12494, 1.08845]
        assert_array(block.grads["norm1.gamma"], expected, rtol=FORMS, name="grads['norm1.gamma']")
        assert_equal(sorted(block.grads), PART_NAMES, name="names of grads")


def fill_encoder(encoder):
    """Give both blocks of an encoder the parameters of fill_block, and its norm some of its own."""
    for block in encoder.blocks:
        fill_block(block)
    encoder.norm.params = {"gamma": np.array([1.0, -1.0, 2.0, 1.0]), "beta": np.array([0.0, 0.0, 0.5, 3.0])}
    return encoder


@pytest.mark.criterion("encoder")
class TestEncoder:
    def test_blocks_follow_one_another_and_a_norm_comes_last(self, learner, sentence):
        result = fill_encoder(learner.Encoder(2, 4, 2, mlp_ratio=0.5)).forward(sentence)
        expected = [
            [
                [0.23083, 0.59487, -1.79173, 4.50991],
                [1.41785, 0.20382, -2.27044, 3.17119],
                [0.9012, 0.97801, -1.53429, 4.09396],
            ]
        ]
        assert_array(result, expected, rtol=FORMS)

    @pytest.mark.purity
    def test_every_block_has_parameters_of_its_own(self, learner):
        encoder = learner.Encoder(3, 4, 2)
        numbered = [f"blocks.{number}.{name}" for number in range(3) for name in PART_NAMES]
        assert_equal(len(encoder.blocks), 3, name="number of blocks")
        assert_equal(sorted(encoder.params), [*numbered, "norm.beta", "norm.gamma"], name="names of params")

    @pytest.mark.refusals
    def test_an_encoder_without_blocks_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.Encoder(0, 4, 2)


@pytest.mark.criterion("encoder-gradients")
class TestEncoderGradients:
    def test_gradients_of_three_tokens(self, learner, sentence):
        encoder = fill_encoder(learner.Encoder(2, 4, 2, mlp_ratio=0.5))
        encoder.forward(sentence)
        grad_x = encoder.backward(sentence[:, ::-1])
        expected = [
            [
                [0.16884, -0.31971, 0.15283, -0.00195],
                [0.47751, -3.2108, 3.31434, -0.58106],
                [-0.08494, 0.90131, -1.06107, 0.2447],
            ]
        ]
        assert_array(grad_x, expected, rtol=FORMS, name="grad_x")
        expected = [0.54953, -1.24897, 0.55311, -1.45801]
        assert_array(encoder.grads["blocks.0.norm1.gamma"], expected, rtol=FORMS, name="blocks.0.norm1.gamma")
        expected = [1.36285, 0.39105, -0.36807, 3.69783]
        assert_array(encoder.grads["norm.gamma"], expected, rtol=FORMS, name="grads['norm.gamma']")


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


@pytest.mark.criterion("independent-layer")
class TestIndependentLayer:
    """One layer of another framework, PyTorch 2.13, in float64, with four features, two heads, six hidden units.

    nn.TransformerEncoderLayer(4, 2, 6, dropout=0.0, activation=F.gelu, norm_first=True, batch_first=True), and for
    the tanh form activation=lambda x: F.gelu(x, approximate="tanh"). Its weight matrices are (outputs, inputs), so each
    got the transpose of ours: in_proj_weight that of qkv_weights, out_proj.weight that of output_weights,
    linear1.weight that of W1, linear2.weight that of W2. backward was given wave(14, 1, 2, 4).
    """

    def test_output_and_gradients(self, learner):
        block = learner.Block(4, 2, mlp_ratio=1.5)
        block.norm1.params = {"gamma": 1.5 + wave(1, 4) / 2, "beta": wave(2, 4) / 2}
        block.attention.params = {
            "qkv_weights": wave(3, 4, 12),
            "qkv_bias": wave(4, 12),
            "output_weights": wave(5, 4, 4),
            "output_bias": wave(6, 4),
        }
        block.norm2.params = {"gamma": 1.5 + wave(7, 4) / 2, "beta": wave(8, 4) / 2}
        block.mlp.params = {"W1": wave(9, 4, 6), "b1": wave(10, 6), "W2": wave(11, 6, 4), "b2": wave(12, 4)}
        result = block.forward(2 * wave(13, 1, 2, 4))
        expected = {
            "erf": [[[0.585402, 6.1496234, 2.1933118, 2.959421], [4.4826696, 7.8995817, 3.2572232, 6.4422417]]],
            "tanh": [[[0.5855551, 6.1497445, 2.19305, 2.9594869], [4.4819611, 7.8991855, 3.2578564, 6.4421446]]],
        }
        form = assert_either(result, expected, rtol=NORM)
        grad_x = block.backward(wave(14, 1, 2, 4))
        expected = {
            "erf": [[[-1.113668, 2.7803703, -3.7138594, 3.1274485], [0.137509, -0.1438754, -0.4085568, 0.9366795]]],
            "tanh": [[[-1.1130616, 2.7805759, -3.7140898, 3.1268668], [0.1373744, -0.143609, -0.4085432, 0.9365341]]],
        }
        assert_array(grad_x, expected[form], rtol=NORM, name="grad_x")
        expected = {
            "erf": [0.223452, 6.134886, 0.5612362, -2.9494416],
            "tanh": [0.2236772, 6.1343835, 0.5610907, -2.9498625],
        }
        assert_array(block.grads["norm1.gamma"], expected[form], rtol=NORM, name="grads['norm1.gamma']")
        expected = {
            "erf": [0.014194, -1.6353835, 2.0069957, -0.2157045, -0.429207, 0.1531438],
            "tanh": [0.013963, -1.6354338, 2.0085139, -0.2157526, -0.4292546, 0.1531381],
        }
        assert_array(block.grads["mlp.b1"], expected[form], rtol=NORM, name="grads['mlp.b1']")


@pytest.mark.criterion("trains-to-sort")
class TestTraining:
    """Three symbols out of four go through embeddings, an encoder of one block and a readout, trained by Adam.

    One in five of the 64 sequences, in every order of its symbols, is kept out of the training and asked for after it.
    """

    def test_new_sequences_are_sorted(self, learner):
        rng = np.random.default_rng(1)
        sequences = np.indices((4, 4, 4)).reshape(3, -1).T
        is_new = sequences.sum(axis=1) % 5 == 0
        training, new = sequences[~is_new], sequences[is_new]
        encoder = learner.Encoder(1, 16, 2, mlp_ratio=1.0, rng=rng)
        block = encoder.blocks[0]
        parts = {f"blocks.0.{name}": getattr(block, name) for name in ("norm1", "attention", "norm2", "mlp")}
        parts["norm"] = encoder.norm
        own = {"embedding": (4, 16), "position": (3, 16), "readout": (16, 4)}
        params = {**{name: rng.normal(size=shape) for name, shape in own.items()}, **encoder.params}
        mean, square = dict.fromkeys(params, 0.0), dict.fromkeys(params, 0.0)

        def scores(tokens):
            features = encoder.forward(params["embedding"][tokens] + params["position"], training=True)
            return features, plain_array(features) @ params["readout"] / 4

        for step in range(1, 57):
            tokens = training[rng.integers(0, len(training), size=32)]
            features, scored = scores(tokens)
            powers = np.exp(scored - scored.max(axis=-1, keepdims=True))
            shares = powers / powers.sum(axis=-1, keepdims=True)
            grad = (shares - np.eye(4)[np.sort(tokens)]) / tokens.size  # of the cross-entropy
            grad_x = encoder.backward(grad @ params["readout"].T / 4)
            grads = {
                "position": plain_array(grad_x).sum(axis=0),
                "readout": np.einsum("bld,bls->ds", features, grad) / 4,
            }
            grads["embedding"] = np.einsum("bls,bld->sd", np.eye(4)[tokens], grad_x)
            grads |= encoder.grads
            assert_equal(sorted(grads), sorted(params), name="names of the gradients")
            for name, value in grads.items():
                mean[name] = 0.9 * mean[name] + 0.1 * value
                square[name] = 0.98 * square[name] + 0.02 * value**2
                size = np.sqrt(square[name] / (1 - 0.98**step)) + 1e-8
                params[name] = params[name] - 0.04 * (1 - step / 60) * mean[name] / (1 - 0.9**step) / size
            for name, part in parts.items():
                part.params = {key[len(name) + 1 :]: params[key] for key in params if key.startswith(f"{name}.")}

        right = float(np.mean(scores(new)[1].argmax(axis=-1) == np.sort(new)))
        assert_equal(right > 0.7, True, name=f"whether more than 70% of the tokens are right ({right:.0%} are)")
