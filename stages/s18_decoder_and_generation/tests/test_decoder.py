"""Public tests of stage s18: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, plain_array, unchanged

pytestmark = pytest.mark.values

FORMS = (
    2e-3  # relative tolerance that accepts every form of s17's parts: GELU by erf or tanh, eps inside the root or not
)
BLOCK_NAMES = {
    "norm1.gamma": (4,),
    "norm1.beta": (4,),
    "attention.qkv_weights": (4, 12),
    "attention.qkv_bias": (12,),
    "attention.output_weights": (4, 4),
    "attention.output_bias": (4,),
    "norm2.gamma": (4,),
    "norm2.beta": (4,),
    "mlp.W1": (4, 16),
    "mlp.b1": (16,),
    "mlp.W2": (16, 4),
    "mlp.b2": (4,),
}
BLOCK_OUTPUT = [
    [
        [2.72078, -1.69703, -5.44796, 3.41189],
        [-0.77159, 1.38371, 7.03862, 2.24674],
        [-1.2863, -5.98495, -0.61506, 2.6993],
    ]
]
BLOCK_GRAD = [
    [
        [2.50489, -1.10811, -0.15593, -0.24085],
        [2.06978, 1.30343, -0.24636, -2.12685],
        [0.57012, -0.12507, -0.75592, 2.31087],
    ]
]
BLOCK_GAMMA = [-0.14148, 2.07581, 2.03836, 2.58366]
BLOCK_KEYS = [
    [
        [[2.24154, -1.41483], [-2.02045, 0.98572], [0.82297, -2.25516]],
        [[1.75876, -3.54129], [-2.18112, 5.25052], [0.87158, -1.12221]],
    ]
]
BLOCK_VALUES = [
    [
        [[1.8454, -1.35009], [-4.42168, 2.30467], [-2.68544, 0.99607]],
        [[-1.26371, 2.34375], [3.0324, -3.85772], [-0.87504, -3.12055]],
    ]
]
BLOCK_CACHED = [[[2.69021, -1.71713, -5.41873, 3.39707]]]


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


def block_params(start):
    """Return the parameters of a block of four features; gamma stays away from 0."""
    waves = {name: wave(start + number, *shape) for number, (name, shape) in enumerate(BLOCK_NAMES.items())}
    halves = {name: waves[name] / 2 for name in ("norm1.beta", "norm2.beta", "mlp.W1", "mlp.W2")}
    return {**waves, **halves, **{name: 1.5 + waves[name] / 2 for name in ("norm1.gamma", "norm2.gamma")}}


def model_params():
    """Return the parameters of a model of five tokens, four positions, two blocks and four features."""
    blocks = {f"blocks.{i}.{name}": value for i in range(2) for name, value in block_params(10 * (i + 1)).items()}
    norm = {"norm.gamma": 1.5 + wave(40, 4) / 2, "norm.beta": wave(41, 4) / 2}
    return {"token_embedding": wave(1, 5, 4), "position_embedding": wave(2, 4, 4), **blocks, **norm}


def new_block(learner):
    """Return a learner's block of four features and two heads with the parameters of block_params."""
    block = learner.DecoderBlock(4, 2, np.random.default_rng(0))
    block.params = block_params(10)
    return block


def new_model(learner):
    """Return a learner's model with the parameters of model_params."""
    model = learner.GPT(5, 4, 2, 4, 2, np.random.default_rng(0))
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
    """One sequence of three positions with four features."""
    return np.array([[[1.0, 0.0, -1.0, 2.0], [0.0, 1.0, 1.0, -1.0], [2.0, -1.0, 0.0, 0.0]]])


@pytest.fixture
def ids():
    """One sequence of four tokens, of which token 3 stands twice."""
    return np.array([[3, 1, 3, 0]])


@pytest.mark.criterion("decoder-block")
class TestDecoderBlock:
    def test_numbers(self, learner, tokens):
        result = new_block(learner).forward(tokens)
        assert_array(result, BLOCK_OUTPUT, rtol=FORMS)

    def test_weights_above_the_diagonal_are_zero(self, learner, tokens):
        block = new_block(learner)
        block.forward(tokens)
        weights = block.attention_weights
        assert_shape(weights, (1, 2, 3, 3), name="attention_weights")
        assert_array(np.triu(weights, 1), np.zeros((1, 2, 3, 3)), name="attention_weights above the diagonal")
        assert_array(weights.sum(axis=-1), np.ones((1, 2, 3)), name="sums of attention_weights")

    def test_a_later_token_changes_nothing_before_it(self, learner, tokens):
        block = new_block(learner)
        before, changed = block.forward(tokens), tokens + np.array([0.0, 0.0, 5.0])[:, None]
        assert_array(block.forward(changed)[:, :2], before[:, :2], name="result of positions 0 and 1")

    @pytest.mark.refusals
    def test_an_unknown_parameter_is_refused(self, learner):
        block = learner.DecoderBlock(4, 2, np.random.default_rng(0))
        with pytest.raises(ValueError):
            block.params = {**block_params(10), "norm3.gamma": np.ones(4)}


@pytest.mark.criterion("decoder-block-gradients")
class TestDecoderBlockGradients:
    def test_numbers(self, learner, tokens):
        block = new_block(learner)
        block.forward(tokens)
        assert_array(block.backward(tokens[:, ::-1]), BLOCK_GRAD, rtol=FORMS, name="grad_x")
        assert_equal(sorted(block.grads), sorted(BLOCK_NAMES), name="names of grads")
        assert_array(block.grads["norm1.gamma"], BLOCK_GAMMA, rtol=FORMS, name="grads['norm1.gamma']")

    def test_no_gradient_comes_from_later_positions(self, learner, tokens):
        block = new_block(learner)
        block.forward(tokens)
        grad_x = block.backward(np.array([[[1.0, -1.0, 2.0, 0.0], [0.0] * 4, [0.0] * 4]]))
        assert_shape(grad_x, (1, 3, 4), name="grad_x")
        assert_gradient(grad_x[:, 1:], np.zeros((1, 2, 4)), name="grad_x of positions 1 and 2, from output 0 alone")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(learner.DecoderBlock(4, 2), (1, 3, 4))


@pytest.mark.criterion("gpt-params")
class TestParams:
    def test_names_and_shapes(self, learner):
        params = learner.GPT(7, 5, 2, 4, 2).params
        expected = {"token_embedding": (7, 4), "position_embedding": (5, 4), "norm.gamma": (4,), "norm.beta": (4,)}
        expected.update({f"blocks.{i}.{name}": shape for i in range(2) for name, shape in BLOCK_NAMES.items()})
        assert_equal(sorted(params), sorted(expected), name="names of params")
        for name, shape in expected.items():
            assert_shape(params[name], shape, name=f"params[{name!r}]")

    def test_what_was_set_is_read(self, learner):
        model, params = learner.GPT(5, 4, 2, 4, 2, np.random.default_rng(0)), model_params()
        model.params = params
        held = model.params
        for name, value in params.items():
            assert_array(held[name], value, name=f"params[{name!r}]")

    @pytest.mark.refusals
    def test_a_missing_parameter_is_refused(self, learner):
        model, params = learner.GPT(5, 4, 2, 4, 2, np.random.default_rng(0)), model_params()
        del params["blocks.1.mlp.b1"]
        with pytest.raises(ValueError):
            model.params = params


@pytest.mark.criterion("gpt-forward")
class TestForward:
    """Made with PyTorch 2.13 in float64, GELU by erf: embeddings, two nn.TransformerEncoderLayer(4, 2, 16, dropout=0.0,
    norm_first=True, batch_first=True) under the causal mask, nn.LayerNorm(4), the product with the embedding table.
    """

    def test_logits_of_another_framework(self, learner, ids):
        expected = [
            [
                [2.627477, -1.345493, -1.043485, -3.496724, -0.418084],
                [2.96101, -1.022784, -1.273882, -2.649283, -0.044325],
                [-2.215157, -0.220442, 1.250421, 0.207512, -1.06892],
                [3.2729, 0.012021, -2.826653, -2.701257, 0.313464],
            ]
        ]
        assert_array(new_model(learner).forward(ids), expected, rtol=FORMS, name="logits")

    def test_shorter_and_several_sequences(self, learner, ids):
        model = new_model(learner)
        whole, part = model.forward(ids), model.forward(np.array([[3, 1], [0, 0], [4, 2]]))
        assert_shape(part, (3, 2, 5), name="logits")
        assert_array(part[:1], whole[:, :2], name="logits of the first two tokens")

    @pytest.mark.refusals
    @pytest.mark.parametrize("wrong", [[[3, 5]], [[3, -1]], [[0.0, 1.0]], [3, 1], [[0, 1, 2, 3, 4]]], ids=str)
    def test_wrong_ids_are_refused(self, learner, wrong):
        with pytest.raises(ValueError):
            new_model(learner).forward(np.array(wrong))


@pytest.mark.criterion("cross-entropy")
class TestCrossEntropy:
    def test_mean_and_gradient(self, learner):
        logits = np.log(np.array([[[1.0, 1.0, 2.0], [6.0, 3.0, 1.0]]]))
        loss, grad = learner.cross_entropy_loss(logits, np.array([[2, 1]]))
        assert_array(loss, 0.948559983, rtol=1e-8, name="loss")  # (log 2 + log 10/3) / 2
        assert_array(grad, [[[0.125, 0.125, -0.25], [0.3, -0.35, 0.05]]], name="grad_logits")

    def test_what_is_masked_does_not_count(self, learner):
        logits = np.log(np.array([[[1.0, 1.0, 2.0], [6.0, 3.0, 1.0]]]))
        loss, grad = learner.cross_entropy_loss(logits, np.array([[2, -1]]), np.array([[True, False]]))
        assert_array(loss, np.log(2), name="loss")
        assert_array(grad, [[[0.25, 0.25, -0.5], [0.0, 0.0, 0.0]]], name="grad_logits")

    @pytest.mark.edges
    def test_large_scores(self, learner):
        loss, grad = learner.cross_entropy_loss(np.array([[1000.0, 0.0], [-1000.0, 0.0]]), np.array([1, 1]))
        assert_array(loss, 500.0, name="loss")
        assert_array(grad, [[0.5, -0.5], [0.0, 0.0]], name="grad_logits")

    @pytest.mark.refusals
    def test_a_target_that_is_no_token_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.cross_entropy_loss(np.zeros((1, 2, 3)), np.array([[0, 3]]))


@pytest.mark.criterion("gpt-gradients")
class TestGradients:
    """From PyTorch as above, of the mean cross-entropy of the targets 1, 3, 0, 2."""

    def test_gradients_of_another_framework(self, learner, ids):
        model = new_model(learner)
        model.backward(loss_gradient(model.forward(ids)))
        grads = model.grads
        assert_equal(sorted(grads), sorted(model_params()), name="names of grads")
        expected = [0.713997, 1.166054, 1.190719, 0.295272]
        assert_array(grads["norm.gamma"], expected, rtol=FORMS, name="grads['norm.gamma']")
        expected = [-1.48396, 0.132569, 2.644083, -0.621476]
        assert_array(grads["blocks.0.norm1.gamma"], expected, rtol=FORMS, name="grads['blocks.0.norm1.gamma']")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(learner.GPT(5, 4, 2, 4, 2), (1, 3, 5))


def loss_gradient(logits):
    """Return the gradient of the mean cross-entropy of the targets 1, 3, 0, 2."""
    assert_shape(logits, (1, 4, 5), name="logits")
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return (powers / powers.sum(axis=-1, keepdims=True) - np.eye(5)[[[1, 3, 0, 2]]]) / 4


@pytest.mark.criterion("embedding-gradients")
class TestEmbeddingGradients:
    """From PyTorch as above."""

    def test_gradients_of_another_framework(self, learner, ids):
        model = new_model(learner)
        model.backward(loss_gradient(model.forward(ids)))
        grads = model.grads
        expected = [
            [0.951904, 1.079085, -1.167653, -0.574634],
            [-0.333769, -0.33126, 0.274932, 0.477617],
            [-0.413984, -0.427899, 0.60492, -0.070145],
            [-0.16042, -0.077519, -0.034604, 0.222408],
            [0.047962, 0.015736, -0.013495, -0.069182],
        ]
        assert_array(grads["token_embedding"], expected, rtol=FORMS, name="grads['token_embedding']")
        expected = [
            [-0.439935, 1.417969, -0.921782, -0.056252],
            [-0.007782, -0.043442, 0.125865, -0.074641],
            [0.491256, -1.039496, 0.517875, 0.030364],
            [0.048154, -0.076889, -0.057859, 0.086594],
        ]
        assert_array(grads["position_embedding"], expected, rtol=FORMS, name="grads['position_embedding']")

    def test_positions_that_were_not_used_get_zero(self, learner):
        model = new_model(learner)
        model.forward(np.array([[2, 4]]))
        model.backward(np.ones((1, 2, 5)) * np.arange(5))
        assert_shape(model.grads["position_embedding"], (4, 4), name="grads['position_embedding']")
        assert_gradient(model.grads["position_embedding"][2:], np.zeros((2, 4)), name="position gradients 2 and 3")


@pytest.mark.criterion("block-cache")
class TestBlockCache:
    def test_one_position_after_two(self, learner, tokens):
        block = new_block(learner)
        whole = block.forward(tokens)
        first, cache = block.forward_with_cache(tokens[:, :2])
        last, cache = block.forward_with_cache(tokens[:, 2:], cache)
        assert_array(first, whole[:, :2], name="output of positions 0 and 1")
        assert_array(last, whole[:, 2:], name="output of position 2")
        for name, kept in zip(("keys", "values"), cache, strict=True):
            assert_shape(kept, (1, 2, 3, 2), name=name)

    def test_keys_and_values_in_numbers(self, learner, tokens):
        _, (keys, values) = new_block(learner).forward_with_cache(tokens)
        assert_array(keys, BLOCK_KEYS, rtol=FORMS, name="keys")
        assert_array(values, BLOCK_VALUES, rtol=FORMS, name="values")

    def test_what_is_in_the_cache_is_attended_to(self, learner, tokens):
        block, past = new_block(learner), np.arange(8.0).reshape(1, 2, 2, 2)
        output, _ = block.forward_with_cache(tokens[:, :1], (past / 4, 1 - past))
        assert_array(output, BLOCK_CACHED, rtol=FORMS)
        assert_shape(block.attention_weights, (1, 2, 1, 3), name="attention_weights")


@pytest.mark.criterion("gpt-cache")
class TestCache:
    def test_token_by_token(self, learner, ids):
        model, cache = new_model(learner), None
        whole = model.forward(ids)
        for place in range(4):
            logits, cache = model.forward_with_cache(ids[:, place : place + 1], cache)
            assert_array(logits, whole[:, place : place + 1], name=f"logits of token {place}")

    @pytest.mark.purity
    def test_a_cache_can_be_continued_in_two_ways(self, learner, ids):
        model = new_model(learner)
        _, cache = model.forward_with_cache(ids[:, :2])
        with unchanged(*(array for pair in cache for array in pair)):
            first = model.forward_with_cache(ids[:, 2:], cache)[0]
            again = model.forward_with_cache(ids[:, 2:], cache)[0]
        assert_array(again, first, name="logits of the second continuation")

    @pytest.mark.refusals
    def test_a_full_context_is_refused(self, learner, ids):
        model = new_model(learner)
        _, cache = model.forward_with_cache(ids)
        with pytest.raises(ValueError):
            model.forward_with_cache(ids[:, :1], cache)


@pytest.mark.criterion("greedy")
class TestGreedy:
    def test_each_row_by_itself(self, learner):
        assert_array(learner.greedy(np.array([[0.0, 2.0, 1.0], [-1.0, -3.0, -2.0]])), [1, 0])

    def test_one_row(self, learner):
        assert_array(learner.greedy(np.array([1.0, 0.0, 7.0, 2.0])), 2)

    @pytest.mark.edges
    def test_the_first_of_equals(self, learner):
        assert_array(learner.greedy(np.array([0.0, 4.0, 4.0])), 1)


def shares(learner, probabilities, **options):
    """Return how often each token comes up in 4000 draws."""
    logits = np.tile(np.log(np.array(probabilities)), (4000, 1))
    drawn = learner.sample(logits, rng=np.random.default_rng(0), **options)
    assert_shape(drawn, (4000,), name="tokens")
    return np.bincount(drawn, minlength=len(probabilities)) / 4000


@pytest.mark.criterion("temperature")
class TestTemperature:
    @pytest.mark.parametrize(
        "temperature, expected",
        [(1.0, [0.5, 0.25, 0.25]), (0.5, [2 / 3, 1 / 6, 1 / 6]), (2.0, [0.4142, 0.2929, 0.2929])],
    )
    def test_shares(self, learner, temperature, expected):
        assert_array(shares(learner, [0.5, 0.25, 0.25], temperature=temperature), expected, atol=0.05, name="shares")

    @pytest.mark.purity
    def test_equal_generators_draw_alike(self, learner):
        logits = np.zeros((50, 4))
        first, again = (learner.sample(logits, rng=np.random.default_rng(5)) for _ in range(2))
        assert_array(again, first, name="tokens of an equal generator")

    @pytest.mark.refusals
    def test_temperature_zero_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.sample(np.zeros(3), temperature=0.0, rng=np.random.default_rng(0))


@pytest.mark.criterion("top-k")
class TestTopK:
    def test_shares_of_the_two_likeliest(self, learner):
        result = shares(learner, [0.1, 0.6, 0.1, 0.2], top_k=2)
        assert_array(result, [0.0, 0.75, 0.0, 0.25], atol=0.05, name="shares")

    def test_one_is_greedy(self, learner):
        logits = np.array([[0.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
        assert_array(learner.sample(logits, top_k=1, rng=np.random.default_rng(0)), [1, 0])

    @pytest.mark.refusals
    def test_zero_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.sample(np.zeros(3), top_k=0)


@pytest.mark.criterion("top-p")
class TestTopP:
    @pytest.mark.parametrize(
        "top_p, expected",
        [
            (0.3, [0.0, 1.0, 0.0, 0.0]),
            (0.6, [0.0, 5 / 8, 0.0, 3 / 8]),
            (0.9, [0.15 / 0.95, 0.5 / 0.95, 0.0, 0.3 / 0.95]),
        ],
    )
    def test_shares(self, learner, top_p, expected):
        result = shares(learner, [0.15, 0.5, 0.05, 0.3], top_p=top_p)
        assert_array(result, expected, atol=0.05, name="shares")

    @pytest.mark.refusals
    def test_more_than_one_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.sample(np.zeros(3), top_p=1.5)


@pytest.mark.criterion("generate")
class TestGenerate:
    def test_greedy_tokens(self, learner):
        result = learner.generate(new_model(learner), np.array([[0, 2], [3, 2]]), 3)
        assert_array(result, [[0, 2, 3, 3, 0], [3, 2, 2, 2, 2]])

    def test_past_the_context(self, learner):
        model, ids = new_model(learner), np.array([[3, 1, 0]])
        expected = ids
        for _ in range(4):
            logits = model.forward(expected[:, -4:])[:, -1]
            expected = np.concatenate([expected, np.argsort(plain_array(logits))[:, 3:4]], axis=1)
        result = learner.generate(model, ids, 4, lambda logits: np.argsort(logits)[:, 3])
        assert_array(result, expected, name="tokens, always the second best")

    @pytest.mark.edges
    def test_no_steps(self, learner):
        assert_array(learner.generate(new_model(learner), np.array([[3, 1]]), 0), [[3, 1]])


@pytest.mark.criterion("perplexity")
class TestPerplexity:
    def test_of_a_model_that_knows_nothing(self, learner):
        model = learner.GPT(5, 4, 2, 4, 2, np.random.default_rng(0))
        model.params = {name: 0 * value for name, value in model_params().items()}
        assert_array(learner.perplexity(model, np.array([[3, 1, 4, 0, 2]])), 5.0)

    def test_in_numbers(self, learner):
        result = learner.perplexity(new_model(learner), np.array([[3, 1, 3, 0, 2]]))
        assert_array(result, 146.543, rtol=FORMS)  # exp(4.98732), by PyTorch

    @pytest.mark.refusals
    def test_one_token_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.perplexity(new_model(learner), np.array([[3]]))


@pytest.mark.criterion("beats-bigrams")
class TestTraining:
    """A model of one block reads sentences whose last word follows from their first noun, trained by Adam."""

    def test_held_out_sentences(self, learner, data):
        lines = [[".", *line.split()] for line in data("sentences.txt").decode().splitlines()]
        index = {word: number for number, word in enumerate(sorted({word for line in lines for word in line}))}
        longest = max(map(len, lines))
        text = np.array([[index[word] for word in [*line, *["."] * (longest - len(line))]] for line in lines])
        real = np.array([[place < len(line) for place in range(longest)] for line in lines])
        rng = np.random.default_rng(1)
        model = learner.GPT(len(index), longest - 1, 1, 24, 8, rng)
        params, forward, backward = model.params, model.forward, model.backward
        mean, square = dict.fromkeys(params, 0.0), dict.fromkeys(params, 0.0)
        for step in range(1, 37):
            rows = rng.integers(0, 700, size=16)
            logits = forward(text[rows, :-1])
            backward(learner.cross_entropy_loss(logits, text[rows, 1:], real[rows, 1:])[1])
            grads = model.grads
            assert_equal(sorted(grads), sorted(params), name="names of grads")
            for name, grad in grads.items():
                mean[name] = 0.9 * mean[name] + 0.1 * grad
                square[name] = 0.98 * square[name] + 0.02 * grad**2
                size = np.sqrt(square[name] / (1 - 0.98**step)) + 1e-8
                params[name] = params[name] - 0.02 * (1 - step / 50) * mean[name] / (1 - 0.9**step) / size
            model.params = params
        logits = plain_array(model.forward(text[800:, :-1]))
        assert_shape(logits, (200, longest - 1, len(index)), name="logits")
        chosen = np.take_along_axis(logits, text[800:, 1:, None], axis=-1)[..., 0]
        loss = float((np.log(np.exp(logits).sum(axis=-1)) - chosen)[real[800:, 1:]].mean())
        bigram = 3.584  # perplexity of a table of pairs, counted in the first 700 sentences, on the last 200
        assert_equal(np.exp(loss) < bigram, True, name=f"whether the perplexity, {np.exp(loss):.2f}, is below {bigram}")
