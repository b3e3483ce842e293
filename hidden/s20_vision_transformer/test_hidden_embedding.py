"""Hidden tests of stage s20: the embedding of patches, class token and positions, forward and backward."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_gradient, assert_shape, unchanged
from hidden.s20_vision_transformer import oracles
from hidden.s20_vision_transformer.oracles import CUTS

pytestmark = pytest.mark.values
OTHER_CHANNELS = [(1, 1, 4, 4), (1, 3, 4, 4), (2, 4, 4), (1, 1, 2, 4, 4), (8,)]
OTHER_SHAPES = [(3, 4, 5), (2, 4, 4), (2, 3, 5), (2, 5, 5), (2, 5, 4), (4, 5), (8, 5), (1, 2, 4, 5), (2, 2, 2, 5)]


def new_embedding(learner, rng, channels, size, dim):
    """Return a learner's patch embedding with parameters that are drawn, and these."""
    p = {"weights": rng.normal(size=(channels * size**2, dim)), "bias": rng.normal(size=dim)}
    embedding = learner.PatchEmbedding(channels, size, dim)
    embedding.params = p
    return embedding, p


@pytest.mark.criterion("patch-embedding")
class TestPatchEmbedding:
    @pytest.mark.parametrize("shape, size", CUTS, ids=str)
    def test_any_images(self, learner, rng, shape, size):
        images = rng.normal(size=shape)
        embedding, p = new_embedding(learner, rng, shape[1], size, 5)
        assert_array(embedding.forward(images), oracles.cut(images, size) @ p["weights"] + p["bias"])

    def test_params_are_read_at_each_call(self, learner, rng):
        images = rng.normal(size=(2, 2, 4, 6))
        embedding, _ = new_embedding(learner, rng, 2, 2, 3)
        embedding.forward(images)
        for name, value in (("weights", rng.normal(size=(8, 3))), ("bias", rng.normal(size=3))):
            p = {**embedding.params, name: value}
            embedding.params = p
            expected = oracles.cut(images, 2) @ p["weights"] + p["bias"]
            assert_array(embedding.forward(images), expected, name=f"result with new {name}")

    def test_new_parameters(self, learner, seed):
        first, again = (learner.PatchEmbedding(3, 4, 20, rng=np.random.default_rng(seed)).params for _ in range(2))
        assert_equal(sorted(first), ["bias", "weights"], name="names of params")
        assert_array(first["bias"], np.zeros(20), name="bias")
        assert_shape(first["weights"], (48, 20), name="weights")
        assert_array(np.std(first["weights"]), 48**-0.5, rtol=0.1, name="standard deviation of weights")
        assert_array(np.mean(first["weights"]), 0.0, atol=0.02, name="mean of weights")
        assert_array(again["weights"], first["weights"], name="weights of a second layer from an equal generator")
        one, other = (learner.PatchEmbedding(3, 2, 4).params["weights"] for _ in range(2))
        assert_differ(one, other, shape=(12, 4), name="weights of two layers without a generator")

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        embedding, p = new_embedding(learner, rng, 2, 2, 5)
        images = rng.normal(size=(1, 2, 4, 4)).astype(np.float32)
        embedding.params = {name: value.astype(np.float32) for name, value in p.items()}
        expected = oracles.cut(images, 2) @ p["weights"] + p["bias"]
        assert_array(embedding.forward(images), expected.astype(np.float32), terms=8, dtype=np.float32)

    @pytest.mark.purity
    def test_images_stay_as_they_are(self, learner, rng):
        embedding, _ = new_embedding(learner, rng, 2, 2, 5)
        images = rng.normal(size=(1, 2, 4, 4))
        with unchanged(images):
            assert_shape(embedding.forward(images), (1, 4, 5))

    @pytest.mark.refusals
    def test_other_images_are_refused(self, learner, rng):
        embedding, _ = new_embedding(learner, rng, 2, 2, 5)
        for shape in (*OTHER_CHANNELS, (1, 2, 3, 4), (1, 2, 4, 5)):
            with pytest.raises(ValueError):
                embedding.forward(rng.normal(size=shape))
        with pytest.raises(ValueError):  # as many numbers as two channels of 2 by 2
            embedding.forward(rng.normal(size=(1, 8, 1, 1)))


@pytest.mark.criterion("convolution-kernels")
class TestKernels:
    @pytest.mark.parametrize("shape, size", CUTS, ids=str)
    def test_convolution_with_the_kernels_is_forward(self, learner, rng, shape, size):
        images = rng.normal(size=shape)
        embedding, p = new_embedding(learner, rng, shape[1], size, 5)
        kernels = embedding.kernels()
        assert_shape(kernels, (5, shape[1], size, size), name="kernels")
        answers = oracles.convolve(images, kernels, p["bias"], size)
        expected = answers.reshape(*answers.shape[:2], -1).swapaxes(1, 2)
        assert_array(embedding.forward(images), expected, name="forward, against the convolution with the kernels")

    @pytest.mark.parametrize("channels, size, dim", [(3, 2, 5), (1, 3, 3), (2, 1, 2), (4, 4, 1)])
    def test_a_kernel_is_a_column_of_the_weights(self, learner, rng, channels, size, dim):
        embedding, p = new_embedding(learner, rng, channels, size, dim)
        expected = [p["weights"][:, d].reshape(channels, size, size) for d in range(dim)]
        assert_array(embedding.kernels(), np.array(expected))
        embedding.params = {**p, "weights": 2 * p["weights"]}
        assert_array(embedding.kernels(), 2 * np.array(expected), name="kernels of new weights")


@pytest.mark.criterion("patch-embedding-gradients")
class TestPatchEmbeddingBackward:
    @pytest.mark.parametrize("shape, size", CUTS, ids=str)
    def test_any_images(self, learner, rng, shape, size):
        embedding, p = new_embedding(learner, rng, shape[1], size, 3)
        for _ in range(2):
            images = rng.normal(size=shape)
            output = embedding.forward(images)
            assert_shape(output, (*oracles.cut(images, size).shape[:2], 3), name="forward")
            grad_output = rng.normal(size=output.shape)
            grad_images = embedding.backward(grad_output)

            def outputs(x, p, size=size):
                return oracles.cut(x, size) @ p["weights"] + p["bias"]

            of_images, of_p = oracles.numerical_gradients(outputs, grad_output, images, p)
            assert_gradient(grad_images, of_images, name="grad_images")
            oracles.assert_gradients(embedding.grads, of_p)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        embedding, p = new_embedding(learner, rng, 2, 2, 5)
        embedding.params = {name: value.astype(np.float32) for name, value in p.items()}
        images, grad_output = rng.normal(size=(1, 2, 4, 4)), rng.normal(size=(1, 4, 5))
        embedding.forward(images.astype(np.float32))
        grad_images = embedding.backward(grad_output.astype(np.float32))
        of_images, of_p = oracles.numerical_gradients(
            lambda x, p: oracles.cut(x, 2) @ p["weights"] + p["bias"], grad_output, images, p
        )
        assert_array(grad_images, of_images, dtype=np.float32, rtol=1e-3, name="grad_images")
        oracles.assert_gradients(embedding.grads, of_p)

    @pytest.mark.purity
    def test_gradients_are_replaced_and_arguments_kept(self, learner, rng):
        embedding, _ = new_embedding(learner, rng, 2, 2, 5)
        assert_equal(embedding.grads, {}, name="grads before backward")
        embedding.forward(rng.normal(size=(1, 2, 4, 4)))
        grad_output = rng.normal(size=(1, 4, 5))
        with unchanged(grad_output):
            embedding.backward(rng.normal(size=(1, 4, 5)))
            embedding.backward(grad_output)
        assert_gradient(embedding.grads["bias"], grad_output.sum(axis=(0, 1)), name="grads['bias']")

    @pytest.mark.refusals
    def test_wrong_backward_calls_are_refused(self, learner, rng):
        embedding, _ = new_embedding(learner, rng, 2, 2, 5)
        with pytest.raises(RuntimeError) as caught:
            embedding.backward(rng.normal(size=(2, 4, 5)))
        if isinstance(caught.value, NotImplementedError):  # a RuntimeError too, but the stub's
            raise caught.value
        embedding.forward(rng.normal(size=(2, 2, 4, 4)))
        for shape in OTHER_SHAPES:
            with pytest.raises(ValueError):
                embedding.backward(rng.normal(size=shape))


@pytest.mark.criterion("class-token")
class TestClassToken:
    @pytest.mark.parametrize("batch, num_patches, dim", [(3, 4, 2), (1, 1, 5), (2, 2, 2)])
    def test_any_tokens(self, learner, rng, batch, num_patches, dim):
        tokens, class_token = rng.normal(size=(batch, num_patches, dim)), rng.normal(size=dim)
        expected = np.array([[class_token, *sequence] for sequence in tokens])
        assert_array(learner.prepend_class_token(tokens, class_token), expected)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        tokens, class_token = rng.normal(size=(2, 3, 4)).astype(np.float32), rng.normal(size=4).astype(np.float32)
        expected = np.array([[class_token, *sequence] for sequence in tokens])
        assert_array(learner.prepend_class_token(tokens, class_token), expected, dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        tokens, class_token = rng.normal(size=(2, 3, 4)), rng.normal(size=4)
        with unchanged(tokens, class_token):
            assert_shape(learner.prepend_class_token(tokens, class_token), (2, 4, 4))

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        for tokens, class_token in (
            ((3, 4), 4),
            ((2, 3, 3, 4), 4),
            ((2, 3, 4), 3),
            ((2, 3, 4), 1),
            ((2, 3, 4), (2, 4)),
        ):
            with pytest.raises(ValueError):
                learner.prepend_class_token(rng.normal(size=tokens), rng.normal(size=class_token))


@pytest.mark.criterion("positions")
class TestPositions:
    @pytest.mark.parametrize("batch, seq, dim", [(3, 4, 2), (1, 1, 5), (2, 2, 2)])
    def test_any_tokens(self, learner, rng, batch, seq, dim):
        tokens, positions = rng.normal(size=(batch, seq, dim)), rng.normal(size=(seq, dim))
        expected = [[tokens[b, i] + positions[i] for i in range(seq)] for b in range(batch)]
        assert_array(learner.add_positions(tokens, positions), np.array(expected))

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        tokens, positions = rng.normal(size=(2, 3, 4)).astype(np.float32), rng.normal(size=(3, 4)).astype(np.float32)
        assert_array(learner.add_positions(tokens, positions), tokens + positions, dtype=np.float32)

    @pytest.mark.purity
    def test_arguments_stay_as_they_are(self, learner, rng):
        tokens, positions = rng.normal(size=(2, 3, 4)), rng.normal(size=(3, 4))
        with unchanged(tokens, positions):
            assert_shape(learner.add_positions(tokens, positions), (2, 3, 4))

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        for tokens, positions in (((3, 4), (3, 4)), ((2, 3, 4), (1, 4)), ((2, 3, 4), 4), ((2, 3, 4), (2, 3, 4)),
                                  ((2, 3, 4), (3, 1)), ((2, 3, 4), (4, 3)), ((1, 2, 3, 4), (2, 3, 4))):  # fmt: skip
            with pytest.raises(ValueError):
                learner.add_positions(rng.normal(size=tokens), rng.normal(size=positions))


@pytest.mark.criterion("token-gradients")
class TestTokenGradients:
    @pytest.mark.parametrize("batch, seq, dim", [(3, 4, 2), (1, 2, 5), (4, 3, 3)])
    def test_any_gradient(self, learner, rng, batch, seq, dim):
        grad_output = rng.normal(size=(batch, seq, dim))
        grad_tokens, grad_class_token = learner.prepend_class_token_backward(grad_output)
        assert_array(grad_tokens, np.array([sequence[1:] for sequence in grad_output]), name="grad_tokens")
        assert_array(grad_class_token, sum(sequence[0] for sequence in grad_output), name="grad_class_token")
        grad_tokens, grad_positions = learner.add_positions_backward(grad_output)
        assert_array(grad_tokens, grad_output, name="grad_tokens of add_positions_backward")
        assert_array(grad_positions, sum(list(grad_output)), name="grad_positions")

    @pytest.mark.purity
    def test_grad_output_stays_as_it_is(self, learner, rng):
        grad_output = rng.normal(size=(2, 3, 4))
        with unchanged(grad_output):
            learner.prepend_class_token_backward(grad_output)
            learner.add_positions_backward(grad_output)

    @pytest.mark.refusals
    def test_other_shapes_are_refused(self, learner, rng):
        for shape in ((3, 4), (1, 2, 3, 4)):
            with pytest.raises(ValueError):
                learner.prepend_class_token_backward(rng.normal(size=shape))
            with pytest.raises(ValueError):
                learner.add_positions_backward(rng.normal(size=shape))
        with pytest.raises(ValueError):
            learner.prepend_class_token_backward(np.zeros((2, 0, 4)))
