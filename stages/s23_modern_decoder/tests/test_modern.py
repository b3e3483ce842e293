"""Public tests of stage s23: small examples with the numbers written out."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, plain_array, unchanged

pytestmark = pytest.mark.values

EPS = 1e-5  # relative tolerance that accepts eps inside of a root and outside
BLOCK_NAMES = {
    "norm1.gamma": (8,),
    "attention.query_weights": (8, 8),
    "attention.key_weights": (8, 4),
    "attention.value_weights": (8, 4),
    "attention.output_weights": (8, 8),
    "norm2.gamma": (8,),
    "mlp.gate_weights": (8, 3),
    "mlp.up_weights": (8, 3),
    "mlp.down_weights": (3, 8),
}
# PyTorch 2.13.0 in float64: rms_norm, scaled_dot_product_attention with enable_gqa, and silu, with its autograd
BLOCK_OUTPUT = [
    [
        [2.32855, 1.62215, -1.45561, 1.16917, 0.91049, 0.26876, 0.80001, 0.6733],
        [-1.19474, -1.00044, 0.90012, -0.00178, 0.52544, -0.48601, 1.28432, -0.77947],
        [0.83919, 0.34165, 0.40847, 1.15982, 0.96006, 2.06097, 0.42168, -1.90468],
    ]
]
BLOCK_GRAD = [
    [
        [0.86997, -2.27427, -2.35889, 1.15599, 10.11688, 4.46482, 0.65252, -4.0387],
        [4.07522, 2.28469, 4.75615, 7.03479, 3.81263, 1.77827, 2.73165, 0.45302],
        [-0.47381, -0.57804, 0.09822, -0.62753, -1.11458, -1.06589, -0.56951, 0.92481],
    ]
]
BLOCK_GAMMA = [2.68892, 0.63014, 3.33572, -0.18384, 0.08691, -0.24468, -0.0152, 0.68002]
LOGITS = [
    [
        [-3.03851, 3.99739, -0.68533, 4.14796, -1.44637],
        [-0.36411, 3.94808, -3.35488, 2.43218, -2.17286],
        [-3.59883, 3.15212, 0.24785, 4.11675, -1.08246],
        [0.78771, -2.8095, 4.55381, -1.62689, 2.89139],
    ]
]
EMBEDDING_GRAD = [
    [5.15473, 1.74445, -5.3501, 2.44945, -1.09552, 6.69425, -3.92541, 2.29104],
    [-3.03181, 3.55467, -2.21989, 2.39539, 3.05844, -3.09599, 5.66652, 3.96229],
    [-1.43729, -1.72427, 1.65918, 0.55794, -0.13779, -2.36475, 0.23891, -2.83857],
    [-1.54128, 3.09957, -3.54346, 4.13011, 6.34404, -3.07309, 3.50429, -9.93902],
    [-2.69173, -1.18886, 2.61769, -3.37509, 0.64751, -4.43234, 1.89004, -2.41717],
]
GAMMA_GRAD = [5.27155, 1.21959, -3.70481, -0.13749, -4.61318, 1.72649, 1.27885, 1.59108]


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


def block_params(start):
    """Return the parameters of a block of eight features; gamma stays away from 0."""
    waves = {name: wave(start + number, *shape) / 2 for number, (name, shape) in enumerate(BLOCK_NAMES.items())}
    return {**waves, **{name: 1.5 + waves[name] for name in ("norm1.gamma", "norm2.gamma")}}


def model_params():
    """Return the parameters of a model of five tokens, two blocks and eight features."""
    blocks = {f"blocks.{i}.{name}": value for i in range(2) for name, value in block_params(10 * (i + 1)).items()}
    return {"token_embedding": wave(1, 5, 8), "norm.gamma": 1.5 + wave(40, 8) / 2, **blocks}


def new_block(learner):
    """Return a learner's block of eight features, two heads of queries, one of keys, and a window of 2."""
    block = learner.ModernBlock(8, 2, 1, 3, np.random.default_rng(0), window=2)
    block.params = block_params(10)
    return block


def new_model(learner, window=2):
    """Return a learner's model with the parameters of model_params."""
    model = learner.ModernGPT(5, 2, 8, 2, 1, 3, np.random.default_rng(0), window=window)
    model.params = model_params()
    return model


def assert_needs_forward(layer, shape):
    """Assert that backward raises RuntimeError, other than the stub's, as long as forward has not been called."""
    with pytest.raises(RuntimeError) as caught:
        layer.backward(np.ones(shape))
    if isinstance(caught.value, NotImplementedError):
        raise caught.value


@pytest.fixture
def tokens():
    """One sequence of three positions with eight features."""
    return wave(1, 1, 3, 8)


@pytest.fixture
def ids():
    """One sequence of four tokens, of which token 3 stands twice."""
    return np.array([[3, 1, 3, 0]])


@pytest.fixture
def attention():
    """Two heads of queries that share one of keys and values: exp(k) is 1, 2, 3 for the first head, 1 for the other."""
    Q = np.stack([np.ones((3, 1)), np.zeros((3, 1))])
    return Q, np.log([[[1.0], [2.0], [3.0]]]), np.array([[[6.0], [0.0], [12.0]]])


@pytest.mark.criterion("rms-norm")
class TestRmsNorm:
    def test_numbers(self, learner):
        output, _ = learner.rms_norm_forward(np.array([2.0, 2.0, 1.0, 4.0]), np.array([1.0, 1.0, 2.0, 1.0]))
        assert_array(output, [0.8, 0.8, 0.8, 1.6], rtol=EPS)  # the mean square is 25/4

    @pytest.mark.refusals
    def test_a_gamma_of_another_size(self, learner):
        with pytest.raises(ValueError):
            learner.rms_norm_forward(np.ones((2, 4)), np.ones(3))


@pytest.mark.criterion("rms-norm-gradients")
class TestRmsNormGradients:
    def test_numbers(self, learner):
        _, cache = learner.rms_norm_forward(np.array([2.0, 2.0, 1.0, 4.0]), np.array([1.0, 1.0, 2.0, 1.0]))
        grad_x, grad_gamma = learner.rms_norm_backward(np.array([1.0, 0.0, 0.0, 0.0]), cache)
        assert_array(grad_x, [0.336, -0.064, -0.032, -0.128], rtol=EPS, name="grad_x")
        assert_array(grad_gamma, [0.8, 0.0, 0.0, 0.0], rtol=EPS, name="grad_gamma")


@pytest.mark.criterion("rotary")
class TestRotary:
    def test_one_pair(self, learner):
        turned = learner.rotary_forward(np.array([[1.0, 0.0]] * 3), np.arange(3))
        assert_array(turned, [[1.0, 0.0], [0.5403023, 0.8414710], [-0.4161468, 0.9092974]], atol=1e-7)

    def test_the_second_pair_is_slower(self, learner):
        turned = learner.rotary_forward(np.array([[0.0, 0.0, 0.0, 2.0]]), np.array([50]), base=100.0)
        assert_array(turned, [[0.0, 0.0, -2 * math.sin(5), 2 * math.cos(5)]], atol=1e-12)

    @pytest.mark.refusals
    def test_an_odd_number_of_features(self, learner):
        with pytest.raises(ValueError):
            learner.rotary_forward(np.ones((2, 3)), np.arange(2))


@pytest.mark.criterion("rotary-gradients")
class TestRotaryGradients:
    def test_turned_back(self, learner):
        grad = learner.rotary_backward(np.array([[1.0, 0.0]] * 2), np.array([1, 0]))
        assert_array(grad, [[0.5403023, -0.8414710], [1.0, 0.0]], atol=1e-7)

    def test_there_and_back(self, learner):
        x, positions = wave(1, 2, 3, 4), np.array([4, 0, 9])
        turned = plain_array(learner.rotary_forward(x, positions))
        assert_array(learner.rotary_backward(turned, positions), x, atol=1e-12)


@pytest.mark.criterion("scale-positions")
class TestScalePositions:
    def test_numbers(self, learner):
        assert_array(learner.scale_positions(np.arange(6), 3), [0.0, 0.5, 1.0, 1.5, 2.0, 2.5])
        assert_array(plain_array(learner.scale_positions(np.arange(3), 4)) * 1.0, [0.0, 1.0, 2.0])


@pytest.mark.criterion("grouped-query")
class TestGroupedQuery:
    def test_numbers(self, learner, attention):
        output, _ = learner.grouped_query_attention_forward(*attention)
        assert_array(output, [[[6.0], [2.0], [7.0]], [[6.0], [3.0], [6.0]]])

    def test_neighbours_share(self, learner):
        V = np.array([[[1.0]], [[2.0]]])
        output, _ = learner.grouped_query_attention_forward(np.zeros((6, 1, 1)), np.zeros((2, 1, 1)), V)
        assert_array(output, np.reshape([1.0, 1.0, 1.0, 2.0, 2.0, 2.0], (6, 1, 1)))

    def test_one_query_is_the_last(self, learner, attention):
        Q, K, V = attention
        output, _ = learner.grouped_query_attention_forward(Q[:, 2:], K, V)
        assert_array(output, [[[7.0]], [[6.0]]])

    @pytest.mark.refusals
    def test_heads_that_do_not_divide(self, learner):
        with pytest.raises(ValueError):
            learner.grouped_query_attention_forward(np.ones((3, 2, 1)), np.ones((2, 2, 1)), np.ones((2, 2, 1)))


@pytest.mark.criterion("window")
class TestWindow:
    def test_numbers(self, learner, attention):
        output, _ = learner.grouped_query_attention_forward(*attention, window=2)
        assert_array(output, [[[6.0], [2.0], [7.2]], [[6.0], [3.0], [6.0]]])

    def test_a_window_of_one_sees_itself(self, learner, attention):
        Q, K, V = attention
        output, _ = learner.grouped_query_attention_forward(Q, K, V, window=1)
        assert_array(output, np.concatenate([V, V]))


@pytest.mark.criterion("grouped-query-gradients")
class TestGroupedQueryGradients:
    def test_numbers(self, learner, attention):
        _, cache = learner.grouped_query_attention_forward(*attention, window=2)
        grad_output = np.zeros((2, 3, 1))
        grad_output[:, 2] = 1
        grad_Q, grad_K, grad_V = learner.grouped_query_attention_backward(grad_output, cache)
        right = np.zeros((2, 3, 1))
        right[:, 2, 0] = 2.88 * math.log(1.5), 3 * math.log(1.5)
        assert_gradient(grad_Q, right, name="grad_Q")
        assert_gradient(grad_K, [[[0.0], [-2.88], [2.88]]], name="grad_K")
        assert_gradient(grad_V, [[[0.0], [0.9], [1.1]]], name="grad_V")


@pytest.mark.criterion("swiglu")
class TestSwiglu:
    def test_numbers(self, learner):
        output, _ = learner.swiglu_forward(np.array([[2.0]]), np.array([[0.5]]), np.array([[3.0]]), np.array([[1.0]]))
        assert_array(output, [[4.3863515]], atol=1e-7)  # silu(1) = 0.7311, times 6

    def test_a_gate_far_below_zero_is_shut(self, learner):
        one = np.array([[1.0]])
        output, _ = learner.swiglu_forward(one, -1000 * one, one, one)
        assert_array(output, [[0.0]], atol=1e-12)


@pytest.mark.criterion("swiglu-gradients")
class TestSwigluGradients:
    def test_numbers(self, learner):
        weights = np.array([[0.5]]), np.array([[3.0]]), np.array([[1.0]])
        _, cache = learner.swiglu_forward(np.array([[2.0]]), *weights)
        found = learner.swiglu_backward(np.array([[1.0]]), cache)
        right = {"grad_x": 4.9762, "grad_W_gate": 11.1320, "grad_W_up": 1.4621, "grad_W_down": 4.3864}
        for (name, value), grad in zip(right.items(), found, strict=True):
            assert_array(grad, [[value]], atol=1e-3, name=name)


@pytest.mark.criterion("block")
class TestBlock:
    def test_numbers(self, learner, tokens):
        assert_array(new_block(learner).forward(tokens), BLOCK_OUTPUT, rtol=EPS)

    def test_a_later_token_changes_nothing_before_it(self, learner, tokens):
        block = new_block(learner)
        before, changed = plain_array(block.forward(tokens)), tokens + np.array([0.0, 0.0, 5.0])[:, None]
        assert_shape(before, (1, 3, 8))
        after = block.forward(changed)
        assert_shape(after, (1, 3, 8))
        assert_array(after[:, :2], before[:, :2], name="result of positions 0 and 1")

    @pytest.mark.refusals
    def test_an_unknown_parameter_is_refused(self, learner):
        block = learner.ModernBlock(8, 2, 1, 3, np.random.default_rng(0))
        with pytest.raises(ValueError):
            block.params = {**block_params(10), "norm3.gamma": np.ones(8)}


@pytest.mark.criterion("block-gradients")
class TestBlockGradients:
    def test_numbers(self, learner, tokens):
        block = new_block(learner)
        block.forward(tokens)
        assert_array(block.backward(wave(3, 1, 3, 8)), BLOCK_GRAD, rtol=EPS, name="grad_x")
        grads = block.grads
        assert_equal(sorted(grads), sorted(BLOCK_NAMES), name="names of grads")
        assert_array(grads["norm1.gamma"], BLOCK_GAMMA, rtol=EPS, name="grads['norm1.gamma']")

    @pytest.mark.refusals
    def test_backward_needs_forward(self, learner):
        assert_needs_forward(new_block(learner), (1, 3, 8))


@pytest.mark.criterion("model-params")
class TestModelParams:
    def test_names_and_values(self, learner):
        model = new_model(learner)
        assert_equal(sorted(model.params), sorted(model_params()), name="names of params")
        for name, value in model_params().items():
            assert_array(model.params[name], value, name=f"params[{name!r}]")


@pytest.mark.criterion("model-forward")
class TestModelForward:
    def test_numbers(self, learner, ids):
        with unchanged(ids):
            logits = new_model(learner).forward(ids)
        assert_array(logits, LOGITS, rtol=EPS, name="logits")

    @pytest.mark.refusals
    def test_a_negative_id_is_refused(self, learner):
        with pytest.raises(ValueError):
            new_model(learner).forward(np.array([[0, -1]]))


@pytest.mark.criterion("model-gradients")
class TestModelGradients:
    def test_numbers(self, learner, ids):
        model = new_model(learner)
        model.forward(ids)
        model.backward(wave(5, 1, 4, 5))
        grads = model.grads
        assert_equal(sorted(grads), sorted(model_params()), name="names of grads")
        assert_array(grads["token_embedding"], EMBEDDING_GRAD, rtol=EPS, name="grads['token_embedding']")
        assert_array(grads["blocks.0.norm1.gamma"], GAMMA_GRAD, rtol=EPS, name="grads['blocks.0.norm1.gamma']")

    @pytest.mark.refusals
    def test_backward_needs_forward(self, learner):
        assert_needs_forward(new_model(learner), (1, 3, 5))


@pytest.mark.criterion("rolling-cache")
class TestRollingCache:
    def test_a_window_of_three(self, learner):
        cache = learner.RollingCache(3)
        for new in ([0.0, 1.0], [2.0, 3.0], [4.0]):
            keys, values = cache.append(np.reshape(new, (1, 1, -1, 1)), np.reshape(new, (1, 1, -1, 1)) * 10)
        assert_array(keys, np.reshape([1.0, 2.0, 3.0, 4.0], (1, 1, 4, 1)), name="keys that append gives")
        assert_array(values, np.reshape([10.0, 20.0, 30.0, 40.0], (1, 1, 4, 1)), name="values that append gives")
        assert_array(cache.keys, np.reshape([2.0, 3.0, 4.0], (1, 1, 3, 1)), name="keys")
        assert_array(cache.values, np.reshape([20.0, 30.0, 40.0], (1, 1, 3, 1)), name="values")
        assert_equal(cache.length, 5, name="length")

    def test_without_a_window(self, learner):
        cache, new = learner.RollingCache(), wave(1, 1, 2, 4, 3)
        cache.append(new[:, :, :3], new[:, :, :3])
        cache.append(new[:, :, 3:], new[:, :, 3:])
        assert_array(cache.keys, new, name="keys")


@pytest.mark.criterion("cache")
class TestCache:
    @pytest.mark.parametrize("window", [None, 2])
    def test_pieces_of_a_sequence(self, learner, ids, window):
        model, cache = new_model(learner, window), None
        whole = plain_array(model.forward(ids))
        for start, end in ((0, 1), (1, 3), (3, 4)):
            logits, cache = model.forward_with_cache(ids[:, start:end], cache)
            assert_array(logits, whole[:, start:end], atol=1e-9, name=f"logits of tokens {start} to {end - 1}")

    def test_a_block_keeps_its_window(self, learner, tokens):
        block = new_block(learner)
        whole = plain_array(block.forward(tokens))
        _, cache = block.forward_with_cache(tokens[:, :2])
        last, cache = block.forward_with_cache(tokens[:, 2:], cache)
        assert_array(last, whole[:, 2:], atol=1e-9, name="output of the last position")
        assert_shape(cache.keys, (1, 1, 2, 4), name="keys in the cache")


@pytest.mark.criterion("initial-loss")
def test_initial_loss(learner):
    assert_array(learner.initial_loss(256), 8 * math.log(2))


@pytest.mark.criterion("scaled-initialisation")
def test_scaled_initialisation(learner):
    model = learner.ModernGPT(30, 3, 64, 4, 2, 50)
    learner.scaled_initialisation(model, 3, np.random.default_rng(0))
    params = model.params
    for name, size in {"query_weights": 64**-0.5, "output_weights": (6 * 64) ** -0.5}.items():
        found = np.std(plain_array(params[f"blocks.1.attention.{name}"]))
        assert_array(found, size, rtol=0.1, name=f"standard deviation of {name}")
    assert_array(params["norm.gamma"], np.full(64, 1 / 8), name="norm.gamma")


def descend(params, grads, state, learning_rate):
    """One step of gradient descent, which needs no state."""
    return {name: value - learning_rate * grads[name] for name, value in params.items()}, state


def trained(learner, batches, num_steps=1, **options):
    """Return what steps of gradient descent make of the model's parameters, and the history."""
    model = new_model(learner)
    history = learner.train(model, batches, descend, lambda step: 0.1 / (step + 1), num_steps, **options)
    return model.params, history


@pytest.mark.criterion("train")
def test_train_descends(learner, ids):
    batch = ids[:, :-1], ids[:, 1:]
    model, shares, losses = new_model(learner), [], []
    for step in range(2):
        logits = plain_array(model.forward(batch[0]))
        shares = np.exp(logits) / np.exp(logits).sum(axis=-1, keepdims=True)
        hits = batch[1][..., None] == np.arange(5)
        losses.append(-np.log(shares[hits]).mean())
        model.backward((shares - hits) / 3)
        model.params = descend(model.params, model.grads, {}, 0.1 / (step + 1))[0]
    params, history = trained(learner, [batch] * 3, 2, max_norm=1000.0)
    for step, loss in enumerate(losses):
        assert_array(history["loss"][step], loss, rtol=1e-6, name=f"history['loss'][{step}]")
    for name, value in model.params.items():
        assert_array(params[name], plain_array(value), rtol=1e-6, name=f"params[{name!r}]")


@pytest.mark.criterion("accumulate")
def test_two_batches_are_one_of_both(learner):
    batch = np.array([[3, 1, 3, 0], [2, 2, 4, 1]]), np.array([[1, 3, 0, 4], [2, 4, 1, 1]])
    pieces = [tuple(array[row : row + 1] for array in batch) for row in range(2)]
    one, history = trained(learner, [batch])
    two, other = trained(learner, pieces, accumulate=2)
    assert_array(other["loss"][0], plain_array(history["loss"][0]), rtol=1e-6, name="history['loss'][0]")
    for name, value in one.items():
        assert_array(two[name], plain_array(value), rtol=1e-6, name=f"params[{name!r}]")


@pytest.mark.criterion("clip")
def test_the_step_has_the_length_of_the_clipped_gradient(learner, ids):
    params, history = trained(learner, [(ids[:, :-1], ids[:, 1:])], max_norm=0.5)
    before, steps = model_params(), []
    for name, value in before.items():
        assert_shape(params[name], value.shape, name=f"params[{name!r}]")
        steps.append(np.sum((plain_array(params[name]) - value) ** 2))
    assert_array(np.sqrt(np.sum(steps)), 0.1 * 0.5, rtol=1e-6, name="length of the step")
    assert_equal(plain_array(history["norm"][0]) > 0.5, True, name="whether the norm before is above 0.5")


@pytest.mark.criterion("beats-s18")
def test_a_sequence_is_learnt(learner):
    ids = np.arange(12).reshape(1, 12) % 3
    model = learner.ModernGPT(3, 1, 8, 2, 1, 8, np.random.default_rng(0))
    history = learner.train(model, [(ids[:, :-1], ids[:, 1:])] * 40, descend, lambda step: 0.5, 40)
    assert_equal(plain_array(history["loss"][-1]) < 0.2, True, name="whether the last loss is below 0.2")
