"""Hidden tests of stage s07: numbers, arrays and labels of every kind, and logits far from zero."""

import numpy as np
import pytest

from grader.testing import assert_array, unchanged
from hidden.s07_classification import oracles
from hidden.s07_classification.oracles import draw_classes, draw_logits

pytestmark = pytest.mark.values

SINGLE = 1e-4  # relative tolerance for what was computed in float32, whatever dtype a single number has in the end
FAR_SINGLE = 1e-3  # float32 numbers near 1000 are 6e-5 apart, and a sum of several is off by a few of these


@pytest.mark.criterion("arrays")
class TestArraysOfEveryKind:
    def test_arrays_of_several_axes(self, learner, rng):
        z = draw_logits(rng, 2, 4, 3)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), name="sigmoid")
        for axis in (0, 1, 2, -2):
            assert_array(learner.softmax(z.copy(), axis), oracles.softmax(z, axis), name=f"softmax, axis={axis}")
            expected = oracles.softmax(z, axis, logarithm=True)
            assert_array(learner.log_softmax(z.copy(), axis), expected, name=f"log_softmax, axis={axis}")

    def test_plain_numbers_and_vectors(self, learner, rng):
        z = draw_logits(rng, 5)
        assert_array(learner.sigmoid(float(z[0])), oracles.sigmoid(float(z[0])), name="sigmoid")
        assert_array(learner.softmax(z.copy()), oracles.softmax(z), name="softmax")
        assert_array(learner.log_softmax(z.copy()), oracles.softmax(z, logarithm=True), name="log_softmax")

    @pytest.mark.dtype
    def test_whole_numbers(self, learner, rng):
        z = rng.permutation([-4, -3, -2, -1, 1, 2, 3, 4]).reshape(2, 4)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), name="sigmoid")
        assert_array(learner.softmax(z.copy()), oracles.softmax(z), name="softmax")
        assert_array(learner.log_softmax(z.copy()), oracles.softmax(z, logarithm=True), name="log_softmax")

    @pytest.mark.dtype
    def test_unsigned_whole_numbers(self, learner, rng):
        """Below 0 uint8 wraps round, and np.exp of it is in half precision."""
        z = rng.permutation([0, 1, 2, 3, 5, 8, 13, 21]).astype(np.uint8).reshape(2, 4)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), name="sigmoid")
        assert_array(learner.softmax(z.copy()), oracles.softmax(z), name="softmax")
        assert_array(learner.log_softmax(z.copy()), oracles.softmax(z, logarithm=True), name="log_softmax")

    @pytest.mark.dtype
    def test_single_precision(self, learner, rng):
        z = draw_logits(rng, 6, 4).astype(np.float32)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), name="sigmoid", dtype="float32")
        assert_array(learner.softmax(z.copy()), oracles.softmax(z), name="softmax", dtype="float32")
        expected = oracles.softmax(z, logarithm=True)
        assert_array(learner.log_softmax(z.copy()), expected, name="log_softmax", dtype="float32")

    @pytest.mark.dtype
    def test_losses_and_gradients_of_whole_numbers(self, learner, rng):
        z, y = rng.integers(-3, 4, (6, 4)), draw_classes(rng, 6, 4)
        assert_array(learner.cross_entropy(z, y), oracles.loss(z, y), name="cross_entropy")
        assert_array(learner.cross_entropy_gradient(z, y), oracles.gradient(z, y), name="gradient")
        z, y = z[:, 0], draw_classes(rng, 6, 2)
        assert_array(learner.binary_cross_entropy(z, y), oracles.binary_loss(z, y), name="binary_cross_entropy")
        assert_array(learner.binary_cross_entropy_gradient(z, y), oracles.binary_gradient(z, y), name="binary gradient")

    @pytest.mark.dtype
    def test_losses_and_gradients_in_single_precision(self, learner, rng):
        z, y = draw_logits(rng, 6, 4).astype(np.float32), draw_classes(rng, 6, 4)
        assert_array(learner.cross_entropy(z.copy(), y), oracles.loss(z, y), rtol=SINGLE, name="loss")
        result = learner.cross_entropy_gradient(z.copy(), y)
        assert_array(result, oracles.gradient(z, y), name="gradient", dtype="float32")
        z, y = z[:, 0].copy(), draw_classes(rng, 6, 2)
        assert_array(learner.binary_cross_entropy(z.copy(), y), oracles.binary_loss(z, y), rtol=SINGLE, name="binary")
        result = learner.binary_cross_entropy_gradient(z.copy(), y)
        assert_array(result, oracles.binary_gradient(z, y), name="binary gradient", dtype="float32")

    @pytest.mark.dtype
    @pytest.mark.parametrize("kind", ["bool", "float64", "uint8", "int32"])
    def test_binary_targets_of_every_kind(self, learner, rng, kind):
        z, y = draw_logits(rng, 7), draw_classes(rng, 7, 2).astype(kind)
        assert_array(learner.binary_cross_entropy(z.copy(), y), oracles.binary_loss(z, y), name="loss")
        result = learner.binary_cross_entropy_gradient(z.copy(), y)
        assert_array(result, oracles.binary_gradient(z, y), name="gradient")

    @pytest.mark.dtype
    @pytest.mark.parametrize("kind", ["uint8", "int32"])
    def test_integer_targets_of_every_kind(self, learner, rng, kind):
        z, y = draw_logits(rng, 7, 3), draw_classes(rng, 7, 3).astype(kind)
        assert_array(learner.cross_entropy(z.copy(), y), oracles.loss(z, y), name="loss")
        assert_array(learner.cross_entropy_gradient(z.copy(), y), oracles.gradient(z, y), name="gradient")

    @pytest.mark.purity
    def test_arguments_are_not_written_to(self, learner, rng):
        z, y = draw_logits(rng, 5, 3), draw_classes(rng, 5, 3)
        for name in ("sigmoid", "softmax", "log_softmax"):
            with unchanged(z):
                getattr(learner, name)(z)
        with unchanged(z, y):
            learner.cross_entropy(z, y)
            learner.cross_entropy_gradient(z, y)
        z, y = z[:, 0].copy(), draw_classes(rng, 5, 2)
        with unchanged(z, y):
            learner.binary_cross_entropy(z, y)
            learner.binary_cross_entropy_gradient(z, y)


def draw_far(rng, *shape):
    """Return logits of both signs, from 20 to 1000 in size, with both ends among them."""
    sizes = np.exp(rng.uniform(np.log(20), np.log(1000), shape))
    sizes.flat[:2] = 1000.0
    return sizes * np.resize([-1.0, 1.0], sizes.size).reshape(shape)


@pytest.mark.criterion("extreme-logits")
class TestFarFromZero:
    @pytest.mark.edges
    def test_sigmoid_far_from_zero(self, learner, rng):
        z = rng.permutation(draw_far(rng, 12))
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), name="sigmoid")
        z = z.astype(np.float32)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), rtol=SINGLE, name="sigmoid of float32")

    @pytest.mark.edges
    def test_small_probabilities_keep_their_digits(self, learner, rng):
        z = np.append(rng.uniform(-400, -20, 8), -40.0)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z), atol=0)

    @pytest.mark.edges
    @pytest.mark.parametrize("dtype", ["float64", "float32"])
    def test_softmax_and_log_softmax_far_from_zero(self, learner, rng, dtype):
        for z in (draw_far(rng, 6, 5), draw_logits(rng, 4, 3) + 995, draw_logits(rng, 4, 3) - 995):
            z = z.astype(dtype)
            rtol = 1e-9 if dtype == "float64" else FAR_SINGLE
            assert_array(learner.softmax(z.copy()), oracles.softmax(z), rtol=rtol, name="softmax")
            expected = oracles.softmax(z, logarithm=True)
            assert_array(learner.log_softmax(z.copy()), expected, rtol=rtol, name="log_softmax")

    @pytest.mark.edges
    def test_logits_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        z = -1e100 * rng.uniform(1.0, 2.0, size=(3, 4))
        largest = z.max(axis=-1, keepdims=True)
        assert_array(learner.softmax(z.copy()), (z == largest).astype(float), name="softmax")
        assert_array(learner.log_softmax(z.copy()), z - largest, name="log_softmax")

    @pytest.mark.edges
    def test_softmax_of_rows_of_very_different_size(self, learner, rng):
        z = draw_logits(rng, 3, 4) + np.array([[-990.0], [0.0], [990.0]])
        assert_array(learner.softmax(z.copy()), oracles.softmax(z), name="softmax")
        assert_array(learner.softmax(z.T.copy(), axis=0), oracles.softmax(z).T, name="softmax, axis=0")
        expected = oracles.softmax(z, logarithm=True)
        assert_array(learner.log_softmax(z.T.copy(), axis=0), expected.T, name="log_softmax, axis=0")

    @pytest.mark.edges
    def test_losses_far_from_zero(self, learner, rng):
        """The tolerance is absolute, as all losses are next to 0 where every sample happens to be right."""
        z, y = draw_far(rng, 6, 4), draw_classes(rng, 6, 4)
        assert_array(learner.cross_entropy(z.copy(), y.copy()), oracles.loss(z, y), atol=1e-9, name="cross_entropy")
        assert_array(learner.cross_entropy_gradient(z.copy(), y), oracles.gradient(z, y), atol=1e-9, name="gradient")
        z, y = draw_far(rng, 8), draw_classes(rng, 8, 2)
        assert_array(
            learner.binary_cross_entropy(z.copy(), y.copy()), oracles.binary_loss(z, y), atol=1e-9, name="binary"
        )
        result = learner.binary_cross_entropy_gradient(z.copy(), y)
        assert_array(result, oracles.binary_gradient(z, y), atol=1e-9, name="binary gradient")

    @pytest.mark.edges
    def test_one_sample_that_is_confidently_wrong(self, learner, rng):
        """The loss of one sample is its distance from right, 60 or 1000: a clipped probability would give less."""
        for size in (60.0, float(rng.uniform(300, 900)), 1000.0):
            for z, y in ((size, 0), (-size, 1)):
                result = learner.binary_cross_entropy(np.array([z]), np.array([y]))
                assert_array(result, size, name="binary_cross_entropy")
            result = learner.cross_entropy(np.array([[0.0, size, -size]]), np.array([2]))
            assert_array(result, 2 * size, name="cross_entropy")
