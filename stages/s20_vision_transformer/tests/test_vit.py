"""Public tests of stage s20: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, assert_shape, plain_array

pytestmark = pytest.mark.values

NORM = 1e-4  # relative tolerance that accepts eps inside the square root and outside, as s17 does
HAND = 2e-3  # relative tolerance of numbers written out to four places


@pytest.fixture
def counted():
    """Two images of one channel, 4 by 4, whose pixels count from 0 to 31."""
    return np.arange(32.0).reshape(2, 1, 4, 4)


@pytest.fixture
def coloured():
    """One image of three channels, 2 by 4; the digit before the point says which channel a pixel is of."""
    return np.array([0, 1, 2])[:, None, None] + np.arange(8.0).reshape(1, 1, 2, 4) / 10


def assert_needs_forward(layer, shape):
    """Assert that backward raises RuntimeError, other than the stub's, as long as forward has not been called."""
    with pytest.raises(RuntimeError) as caught:
        layer.backward(np.ones(shape))
    if isinstance(caught.value, NotImplementedError):
        raise caught.value


@pytest.mark.criterion("patchify")
class TestPatchify:
    def test_patches_come_in_reading_order(self, learner, counted):
        first = [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
        expected = np.array([first, np.array(first) + 16], dtype=float)
        assert_array(learner.patchify(counted, 2), expected)

    def test_channels_follow_one_another_within_a_patch(self, learner, coloured):
        left = [0.0, 0.1, 0.4, 0.5, 1.0, 1.1, 1.4, 1.5, 2.0, 2.1, 2.4, 2.5]
        right = [0.2, 0.3, 0.6, 0.7, 1.2, 1.3, 1.6, 1.7, 2.2, 2.3, 2.6, 2.7]
        assert_array(learner.patchify(coloured, 2), [[left, right]])

    @pytest.mark.refusals
    def test_a_size_that_does_not_divide_the_image_is_refused(self, learner, counted):
        with pytest.raises(ValueError):
            learner.patchify(counted, 3)
        with pytest.raises(ValueError):
            learner.patchify(counted[0], 2)


@pytest.mark.criterion("unpatchify")
class TestUnpatchify:
    def test_patches_go_back_to_their_places(self, learner):
        patches = np.array([[[0.0, 1.0, 4.0, 5.0], [2.0, 3.0, 6.0, 7.0]]])
        assert_array(learner.unpatchify(patches, 2, (1, 2, 4)), [[[[0.0, 1.0, 2.0, 3.0], [4.0, 5.0, 6.0, 7.0]]]])
        assert_array(learner.unpatchify(patches, 2, (1, 4, 2)), [[[[0.0, 1.0], [4.0, 5.0], [2.0, 3.0], [6.0, 7.0]]]])

    def test_channels_are_kept_apart(self, learner, coloured):
        assert_array(learner.unpatchify(learner.patchify(coloured, 2), 2, (3, 2, 4)), coloured)

    @pytest.mark.refusals
    def test_too_few_patches_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.unpatchify(np.ones((1, 2, 4)), 2, (1, 4, 4))


def small_embedding(learner):
    """Return an embedding of one channel, 2 by 2 pixels and three features: left, right, and one diagonal."""
    embedding = learner.PatchEmbedding(1, 2, 3)
    weights = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    embedding.params = {"weights": weights, "bias": np.array([0.0, 0.5, -1.0])}
    return embedding


@pytest.fixture
def strokes():
    """One image of 2 by 4 pixels: a stroke on the left, a diagonal on the right."""
    return np.array([[[[1.0, 0.0, 0.0, 2.0], [1.0, 0.0, 2.0, 0.0]]]])


@pytest.mark.criterion("patch-embedding")
class TestPatchEmbedding:
    def test_every_patch_is_projected(self, learner, strokes):
        assert_array(small_embedding(learner).forward(strokes), [[[2.0, 0.5, 0.0], [2.0, 2.5, 3.0]]])

    def test_a_new_layer_has_weights_and_a_bias(self, learner):
        params = learner.PatchEmbedding(3, 4, 5, rng=np.random.default_rng(0)).params
        assert_equal(sorted(params), ["bias", "weights"], name="names of params")
        assert_shape(params["weights"], (48, 5), name="weights")
        assert_array(params["bias"], np.zeros(5), name="bias")

    @pytest.mark.refusals
    def test_another_number_of_channels_is_refused(self, learner):
        with pytest.raises(ValueError):
            small_embedding(learner).forward(np.ones((1, 4, 2, 2)))


@pytest.mark.criterion("convolution-kernels")
class TestKernels:
    def test_a_column_of_the_weights_is_a_kernel(self, learner):
        expected = [[[[1, 0], [1, 0]]], [[[0, 1], [0, 1]]], [[[0, 1], [1, 0]]]]
        assert_array(small_embedding(learner).kernels(), np.array(expected, dtype=float))

    def test_kernels_have_the_channels_of_the_image(self, learner):
        embedding = learner.PatchEmbedding(2, 1, 3)
        embedding.params = {"weights": np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), "bias": np.zeros(3)}
        expected = [[[[1.0]], [[4.0]]], [[[2.0]], [[5.0]]], [[[3.0]], [[6.0]]]]
        assert_array(embedding.kernels(), expected)
        assert_array(
            embedding.forward(np.array([[[[1.0, 0.0]], [[0.0, 1.0]]]])),
            [[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]],
            name="forward",
        )


@pytest.mark.criterion("patch-embedding-gradients")
class TestPatchEmbeddingGradients:
    def test_gradients_of_two_patches(self, learner, strokes):
        embedding = small_embedding(learner)
        embedding.forward(strokes)
        grad_images = embedding.backward(np.array([[[1.0, 0.0, 2.0], [0.0, 1.0, -1.0]]]))
        assert_gradient(grad_images, [[[[1.0, 2.0, 0.0, 0.0], [3.0, 0.0, -1.0, 1.0]]]], name="grad_images")
        expected = [[1.0, 0.0, 2.0], [0.0, 2.0, -2.0], [1.0, 2.0, 0.0], [0.0, 0.0, 0.0]]
        assert_gradient(embedding.grads["weights"], expected, name="grads['weights']")
        assert_gradient(embedding.grads["bias"], [1.0, 1.0, 1.0], name="grads['bias']")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(small_embedding(learner), (1, 2, 3))


@pytest.fixture
def tokens():
    """Two sequences of two tokens with two features."""
    return np.array([[[1.0, 2.0], [3.0, 4.0]], [[5.0, 6.0], [7.0, 8.0]]])


@pytest.mark.criterion("class-token")
class TestClassToken:
    def test_it_comes_first_in_every_sequence(self, learner, tokens):
        expected = [[[9, 0], [1, 2], [3, 4]], [[9, 0], [5, 6], [7, 8]]]
        assert_array(learner.prepend_class_token(tokens, np.array([9.0, 0.0])), np.array(expected, dtype=float))

    @pytest.mark.refusals
    def test_another_number_of_features_is_refused(self, learner, tokens):
        with pytest.raises(ValueError):
            learner.prepend_class_token(tokens, np.ones(3))


@pytest.mark.criterion("positions")
class TestPositions:
    def test_each_place_has_a_vector_of_its_own(self, learner, tokens):
        expected = [[[1, 12], [23, 34]], [[5, 16], [27, 38]]]
        result = learner.add_positions(tokens, np.array([[0.0, 10.0], [20.0, 30.0]]))
        assert_array(result, np.array(expected, dtype=float))

    @pytest.mark.refusals
    def test_one_vector_for_all_places_is_refused(self, learner, tokens):
        with pytest.raises(ValueError):
            learner.add_positions(tokens, np.ones((1, 2)))


@pytest.mark.criterion("token-gradients")
class TestTokenGradients:
    def test_class_token_collects_over_the_batch(self, learner, tokens):
        grad_tokens, grad_class_token = learner.prepend_class_token_backward(tokens)
        assert_array(grad_tokens, [[[3.0, 4.0]], [[7.0, 8.0]]], name="grad_tokens")
        assert_array(grad_class_token, [6.0, 8.0], name="grad_class_token")

    def test_positions_collect_over_the_batch(self, learner, tokens):
        grad_tokens, grad_positions = learner.add_positions_backward(tokens)
        assert_array(grad_tokens, tokens, name="grad_tokens")
        assert_array(grad_positions, [[6.0, 8.0], [10.0, 12.0]], name="grad_positions")


def hand_made(learner):
    """Return the model of the README's example: one block, one head, three features, and an MLP that adds nothing."""
    vit = learner.ViT((1, 2, 4), 2, 2, 3, 1, 1, mlp_ratio=1.0, rng=np.random.default_rng(0))
    params = {name: np.zeros_like(value) for name, value in vit.params.items()}
    eye, block = np.eye(3), "encoder.blocks.0"
    params["embedding.weights"] = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])
    params["class_token"] = np.array([1.0, 0.0, -1.0])
    params["positions"] = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    params["head_weights"] = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 1.0]])
    params.update(
        {f"{block}.attention.qkv_weights": np.hstack([eye, eye, eye]), f"{block}.attention.output_weights": eye}
    )
    params.update({name: np.ones(3) for name in (f"{block}.norm1.gamma", f"{block}.norm2.gamma", "encoder.norm.gamma")})
    vit.load(params)
    return vit


@pytest.mark.criterion("vit-parameters")
class TestParameters:
    def test_names_and_shapes(self, learner):
        params = learner.ViT((3, 4, 8), 2, 10, 6, 2, 2, rng=np.random.default_rng(0)).params
        own = {"class_token": (6,), "positions": (9, 6), "head_weights": (6, 10), "head_bias": (10,)}
        own |= {"embedding.weights": (12, 6), "embedding.bias": (6,), "encoder.blocks.1.mlp.W1": (6, 24)}
        own |= {"encoder.blocks.0.attention.qkv_weights": (6, 18), "encoder.norm.gamma": (6,)}
        assert_equal(sorted(set(own) - set(params)), [], name="names that params lacks")
        for name, shape in own.items():
            assert_shape(params[name], shape, name=f"params[{name!r}]")
        assert_equal(len(params), 32, name="number of parameters")

    def test_load_replaces_what_params_shows(self, learner):
        vit = learner.ViT((1, 2, 4), 2, 2, 3, 1, 1, rng=np.random.default_rng(0))
        params = {name: np.full_like(value, number) for number, (name, value) in enumerate(sorted(vit.params.items()))}
        vit.load(params)
        now = vit.params
        assert_equal(sorted(now), sorted(params), name="names of params after load")
        for name, value in params.items():
            assert_array(now[name], value, name=f"params[{name!r}]")
        assert_array(vit.encoder.norm.params["beta"], params["encoder.norm.beta"], name="encoder.norm.params['beta']")

    @pytest.mark.refusals
    def test_a_missing_parameter_is_refused(self, learner):
        vit = learner.ViT((1, 2, 4), 2, 2, 3, 1, 1, rng=np.random.default_rng(0))
        with pytest.raises(ValueError):
            vit.load({name: value for name, value in vit.params.items() if name != "positions"})


@pytest.mark.criterion("vit-forward")
class TestForward:
    def test_the_class_token_is_classified(self, learner, strokes):
        vit = hand_made(learner)
        assert_array(vit.forward(strokes), [[1.3181, -1.1028]], rtol=HAND)
        expected = [[0.6887, 0.2897, 0.0216], [0.2814, 0.6689, 0.0498], [0.0283, 0.0673, 0.9044]]
        assert_array(vit.attention_weights, [[[expected]]], rtol=HAND, name="attention_weights")

    def test_a_batch_gives_logits_for_each_image(self, learner, strokes):
        vit = hand_made(learner)
        both = vit.forward(np.concatenate([strokes, strokes[..., ::-1]]))
        assert_shape(both, (2, 2))
        assert_array(both[:1], vit.forward(strokes), name="logits of the first image")
        assert_array(both[1:], vit.forward(strokes[..., ::-1]), name="logits of the second image")

    @pytest.mark.refusals
    def test_an_image_of_another_size_is_refused(self, learner):
        with pytest.raises(ValueError):
            hand_made(learner).forward(np.ones((1, 1, 4, 2)))


@pytest.mark.criterion("vit-gradients")
class TestGradients:
    def test_gradients_of_the_readmes_example(self, learner, strokes):
        vit = hand_made(learner)
        vit.forward(strokes)
        grad_images = vit.backward(np.array([[0.9184, -0.9184]]))
        expected = [[-0.00621, 0.00621, -0.00128, 0.00128], [0.00621, -0.00621, -0.00256, 0.00256]]
        assert_array(grad_images, [[expected]], rtol=HAND, name="grad_images")
        expected = {
            "head_weights": [[1.2106, -1.2106], [-0.1978, 0.1978], [-1.0128, 1.0128]],
            "head_bias": [0.9184, -0.9184],
            "class_token": [-0.0934, 0.2127, -0.1193],
            "positions": [[-0.0934, 0.2127, -0.1193], [-0.00621, -0.00621, 0.01242], [-0.00128, 0.00256, -0.00128]],
            "embedding.bias": [-0.00749, -0.00365, 0.01114],
            "encoder.norm.gamma": [1.2106, 0.0, 1.0128],
        }
        for name, value in expected.items():
            assert_array(vit.grads[name], value, rtol=HAND, name=f"grads[{name!r}]")

    def test_there_is_a_gradient_for_each_parameter(self, learner, strokes):
        vit = hand_made(learner)
        vit.forward(strokes)
        vit.backward(np.ones((1, 2)))
        assert_equal(sorted(vit.grads), sorted(vit.params), name="names of grads")

    @pytest.mark.refusals
    def test_backward_needs_a_forward(self, learner):
        assert_needs_forward(hand_made(learner), (1, 2))


@pytest.fixture
def two_blocks():
    """The attention weights of two blocks of one head, over three tokens."""
    first = [[0.5, 0.5, 0.0], [0.0, 1.0, 0.0], [0.0, 0.5, 0.5]]
    second = [[0.2, 0.4, 0.4], [0.0, 0.5, 0.5], [1.0, 0.0, 0.0]]
    return np.array([[[first]], [[second]]])


@pytest.mark.criterion("attention-rollout")
class TestRollout:
    def test_blocks_are_multiplied(self, learner, two_blocks):
        expected = [[0.45, 0.4, 0.15], [0.0, 0.8125, 0.1875], [0.375, 0.25, 0.375]]
        assert_array(learner.attention_rollout(two_blocks), [expected])

    def test_heads_are_averaged(self, learner):
        heads = np.array([[[[[1.0, 0.0], [0.5, 0.5]], [[0.0, 1.0], [0.5, 0.5]]]]])
        assert_array(learner.attention_rollout(heads), [[[0.75, 0.25], [0.25, 0.75]]])

    @pytest.mark.refusals
    def test_weights_of_one_block_alone_are_refused(self, learner, two_blocks):
        with pytest.raises(ValueError):
            learner.attention_rollout(two_blocks[0])


@pytest.mark.criterion("class-token-map")
class TestClassTokenMap:
    def test_shares_of_the_patches(self, learner):
        rollout = np.array([[[0.5, 0.1, 0.4], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]])
        assert_array(learner.class_token_map(rollout, (1, 2)), [[[0.2, 0.8]]])
        assert_array(learner.class_token_map(rollout, (2, 1)), [[[0.2], [0.8]]])

    @pytest.mark.refusals
    def test_another_number_of_patches_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.class_token_map(np.ones((1, 3, 3)), (1, 3))


def wave(start, *shape):
    """Return numbers between -1 and 1 that look irregular and are the same everywhere: sin(start + n^1.5)."""
    return np.sin(start + np.arange(np.prod(shape)) ** 1.5).reshape(shape)


@pytest.mark.criterion("independent-model")
class TestIndependentModel:
    """A model of another framework, PyTorch 2.13, in float64, with one block of four features and two heads.

    Conv2d(1, 4, 2, stride=2), whose weight was embedding.weights transposed, of shape (4, 1, 2, 2); a class token in
    front; positions added; nn.TransformerEncoderLayer(4, 2, 4, dropout=0.0, activation=F.gelu, norm_first=True,
    batch_first=True), or with the tanh form of GELU, and parameters as in s17's row of this kind; LayerNorm(4); a
    product with the head's weights. backward was given wave(60, 1, 2).
    """

    def test_logits_and_gradients(self, learner):
        vit = learner.ViT((1, 4, 4), 2, 2, 4, 1, 2, mlp_ratio=1.0, rng=np.random.default_rng(0))
        block = ["norm1.gamma", "norm1.beta", "attention.qkv_weights", "attention.qkv_bias"]
        block += ["attention.output_weights", "attention.output_bias", "norm2.gamma", "norm2.beta"]
        block += ["mlp.W1", "mlp.b1", "mlp.W2", "mlp.b2"]
        names = ["class_token", "positions", "head_weights", "head_bias", "embedding.weights", "embedding.bias"]
        names += [f"encoder.blocks.0.{name}" for name in block] + ["encoder.norm.gamma", "encoder.norm.beta"]
        shapes = {name: value.shape for name, value in vit.params.items()}
        assert_equal(sorted(shapes), sorted(names), name="names of params")
        params = {name: wave(start, *shapes[name]) for start, name in enumerate(names, start=1)}
        vit.load({name: 1.5 + value / 2 if "gamma" in name else value for name, value in params.items()})
        logits = vit.forward(2 * wave(50, 1, 1, 4, 4))
        assert_shape(logits, (1, 2))
        expected = {"erf": [[1.59116, -3.287594]], "tanh": [[1.591165, -3.287557]]}
        form = min(expected, key=lambda form: np.abs(logits - np.array(expected[form])).max())
        assert_array(logits, expected[form], rtol=NORM)
        grad_images = vit.backward(wave(60, 1, 2))
        expected = {
            "erf": [
                [
                    [
                        [0.00016, 0.000397, -0.089069, -0.011843],
                        [-4.6e-05, -1e-06, 0.092659, 0.002972],
                        [0.0, -0.0, -0.064592, -0.131202],
                        [-0.0, 0.0, -0.044278, -0.03695],
                    ]
                ]
            ],
            "tanh": [
                [
                    [
                        [0.00016, 0.000397, -0.089065, -0.011853],
                        [-4.6e-05, -1e-06, 0.092639, 0.002966],
                        [0.0, -0.0, -0.064584, -0.1312],
                        [-0.0, 0.0, -0.044281, -0.036948],
                    ]
                ]
            ],
        }
        assert_array(grad_images, expected[form], rtol=NORM, name="grad_images")
        expected = {
            "erf": [0.249427, -0.512382, -0.105013, 0.367969],
            "tanh": [0.249406, -0.512409, -0.105033, 0.368036],
        }
        assert_array(vit.grads["class_token"], expected[form], rtol=NORM, name="grads['class_token']")
        expected = {"erf": [0.008483, 0.01071, -0.091793, 0.072599], "tanh": [0.008472, 0.010704, -0.091786, 0.07261]}
        assert_array(vit.grads["embedding.bias"], expected[form], rtol=NORM, name="grads['embedding.bias']")


def digits(text):
    """Return images (n, 1, 8, 8) from -1 to 1, and which digits they show."""
    lines = [line.split() for line in text.decode("ascii").splitlines()]
    pixels = np.array([[int(pixel, 17) for pixel in drawn] for _, drawn in lines], dtype=float)
    return pixels.reshape(-1, 1, 8, 8) / 8 - 1, np.array([int(digit) for digit, _ in lines])


@pytest.mark.criterion("recognises-digits")
class TestTraining:
    """A model with one block is trained by Adam on 1,437 digits, and asked about 360 others."""

    def test_most_digits_are_recognised(self, learner, data):
        rng = np.random.default_rng(1)
        images, shown = digits(data("digits.txt"))
        held_out = np.arange(len(images)) % 5 == 0
        vit = learner.ViT((1, 8, 8), 4, 10, 24, 1, 2, mlp_ratio=1.0, rng=rng)
        params, forward, backward, load = vit.params, vit.forward, vit.backward, vit.load
        mean, square = dict.fromkeys(params, 0.0), dict.fromkeys(params, 0.0)
        for step in range(1, 101):
            batch = rng.choice(np.flatnonzero(~held_out), size=64, replace=False)
            logits = forward(images[batch])
            powers = np.exp(plain_array(logits) - plain_array(logits).max(axis=-1, keepdims=True))
            shares = powers / powers.sum(axis=-1, keepdims=True)
            backward((shares - np.eye(10)[shown[batch]]) / 64)  # of the cross-entropy
            grads = vit.grads
            assert_equal(sorted(grads), sorted(params), name="names of grads")
            for name, value in grads.items():
                mean[name] = 0.9 * mean[name] + 0.1 * value
                square[name] = 0.98 * square[name] + 0.02 * value**2
                size = np.sqrt(square[name] / (1 - 0.98**step)) + 1e-8
                params[name] = params[name] - 0.01 * (1 - step / 110) * mean[name] / (1 - 0.9**step) / size
            load(params)
        right = float(np.mean(plain_array(vit.forward(images[held_out])).argmax(axis=-1) == shown[held_out]))
        assert_equal(right > 0.7, True, name=f"whether more than 70% of the digits are right ({right:.0%} are)")
