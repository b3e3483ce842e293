"""Hidden tests of stage s07: sigmoid, softmax and log_softmax, the two losses and their gradients."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, plain_array
from hidden.s07_classification import oracles
from hidden.s07_classification.oracles import draw_classes, draw_logits

pytestmark = pytest.mark.values

WRONG_BINARY = {
    "shapes": lambda z, y: [
        *((z, y[:-1]), (z[:-1], y), (z, y[:, None]), (z[:, None], y), (z, y[:1])),
        *((z[:, None], y[:, None]), (z.reshape(2, -1), y.reshape(2, -1)), (z[:0], y[:0])),
    ],
    "classes": lambda z, y: [(z, y + 1), (z, y - 1), (z, 2 * y - 1), (z, 2 * y), (z, y * 0.5)],
}
WRONG_CLASSES = {
    "shapes": lambda z, y: [
        *((z, y[:-1]), (z[:-1], y), (z, y[:, None]), (z, y[:1]), (z[:0], y[:0])),
        *((z[:, 0], y), (z[:, :, None], y), (z[0], y[:1])),
    ],
    "classes": lambda z, y: [(z, y + 1), (z, y - 1), (z[:, :-1], y), (z, y.astype(float)), (z, y + 0.5), (z, y > 0)],
}


@pytest.mark.criterion("sigmoid")
class TestSigmoidAnywhere:
    def test_sigmoid_of_any_logits(self, learner, rng):
        z = np.append(draw_logits(rng, 17), 0.0)
        assert_array(learner.sigmoid(z.copy()), oracles.sigmoid(z))

    def test_sigmoid_of_opposite_logits_adds_up_to_one(self, learner, rng):
        z = draw_logits(rng, 9)
        assert_array(
            plain_array(learner.sigmoid(z.copy())) + plain_array(learner.sigmoid(-z)),
            np.ones(9),
            name="sigmoid(z) + sigmoid(-z)",
        )

    def test_sigmoid_is_softmax_of_the_logit_and_zero(self, learner, rng):
        z = draw_logits(rng, 6)
        assert_array(learner.sigmoid(z.copy()), oracles.softmax(np.stack([z, np.zeros(6)]), axis=0)[0])


@pytest.mark.criterion("softmax")
class TestSoftmaxAnywhere:
    def test_softmax_of_any_rows(self, learner, rng):
        z = draw_logits(rng, 5, 3)
        assert_array(learner.softmax(z.copy()), oracles.softmax(z))

    def test_softmax_along_any_axis(self, learner, rng):
        z = draw_logits(rng, 3, 4)
        for axis in (0, 1, -1, -2):
            assert_array(learner.softmax(z.copy(), axis=axis), oracles.softmax(z, axis), name=f"softmax, axis={axis}")

    def test_softmax_does_not_see_a_common_shift(self, learner, rng):
        z, shift = draw_logits(rng, 4, 6), rng.uniform(-20, 20, (4, 1))
        assert_array(learner.softmax(z + shift), oracles.softmax(z))


@pytest.mark.criterion("log-softmax")
class TestLogSoftmaxAnywhere:
    def test_log_softmax_of_any_rows(self, learner, rng):
        z = draw_logits(rng, 5, 3)
        assert_array(learner.log_softmax(z.copy()), oracles.softmax(z, logarithm=True))

    def test_log_softmax_along_any_axis(self, learner, rng):
        z = draw_logits(rng, 3, 4)
        for axis in (0, 1, -1, -2):
            expected = oracles.softmax(z, axis, logarithm=True)
            assert_array(learner.log_softmax(z.copy(), axis=axis), expected, name=f"log_softmax, axis={axis}")

    def test_log_softmax_keeps_the_differences_of_the_logits(self, learner, rng):
        z = draw_logits(rng, 7)
        result = learner.log_softmax(z.copy())
        assert_array(result, oracles.softmax(z, logarithm=True))
        assert_array(result - result[0], z - z[0], name="differences")


@pytest.mark.criterion("binary-cross-entropy")
class TestBinaryLossAnywhere:
    def test_binary_loss_of_any_logits(self, learner, rng):
        for num_samples in (1, 4, 11):
            z, y = draw_logits(rng, num_samples), rng.integers(0, 2, num_samples)
            assert_array(learner.binary_cross_entropy(z.copy(), y.copy()), oracles.binary_loss(z, y))

    def test_binary_loss_of_one_class_only(self, learner, rng):
        z = draw_logits(rng, 5)
        for y in (np.zeros(5, int), np.ones(5, int)):
            assert_array(learner.binary_cross_entropy(z.copy(), y.copy()), oracles.binary_loss(z, y))

    def test_binary_loss_with_the_classes_swapped(self, learner, rng):
        z, y = draw_logits(rng, 8), draw_classes(rng, 8, 2)
        assert_array(learner.binary_cross_entropy(-z, 1 - y), oracles.binary_loss(z, y))

    @pytest.mark.refusals
    @pytest.mark.parametrize("kind", WRONG_BINARY)
    def test_binary_loss_refuses_what_does_not_fit(self, learner, rng, kind):
        for logits, targets in WRONG_BINARY[kind](draw_logits(rng, 6), draw_classes(rng, 6, 2)):
            with pytest.raises(ValueError):
                learner.binary_cross_entropy(logits, targets)


@pytest.mark.criterion("binary-cross-entropy-gradient")
class TestBinaryGradientAnywhere:
    def test_binary_gradient_of_any_logits(self, learner, rng):
        for num_samples in (1, 4, 11):
            z, y = draw_logits(rng, num_samples), rng.integers(0, 2, num_samples)
            assert_array(learner.binary_cross_entropy_gradient(z.copy(), y.copy()), oracles.binary_gradient(z, y))

    def test_binary_gradient_agrees_with_differences_of_the_own_loss(self, learner, rng):
        z, y = draw_logits(rng, 7), draw_classes(rng, 7, 2)
        slopes = numerical_gradient(lambda at: learner.binary_cross_entropy(at, y), z)
        assert_gradient(learner.binary_cross_entropy_gradient(z.copy(), y), slopes, name="gradient")

    @pytest.mark.refusals
    @pytest.mark.parametrize("kind", WRONG_BINARY)
    def test_binary_gradient_refuses_what_does_not_fit(self, learner, rng, kind):
        for logits, targets in WRONG_BINARY[kind](draw_logits(rng, 6), draw_classes(rng, 6, 2)):
            with pytest.raises(ValueError):
                learner.binary_cross_entropy_gradient(logits, targets)


@pytest.mark.criterion("cross-entropy")
class TestLossAnywhere:
    def test_loss_of_any_logits(self, learner, rng):
        for num_samples, num_classes in ((7, 3), (4, 5), (2, 2), (1, 4)):
            z, y = draw_logits(rng, num_samples, num_classes), rng.integers(0, num_classes, num_samples)
            assert_array(learner.cross_entropy(z.copy(), y.copy()), oracles.loss(z, y))

    def test_loss_does_not_see_a_common_shift_of_a_sample(self, learner, rng):
        z, y, shift = draw_logits(rng, 6, 4), draw_classes(rng, 6, 4), rng.uniform(-20, 20, (6, 1))
        assert_array(learner.cross_entropy(z + shift, y.copy()), oracles.loss(z, y))

    def test_loss_of_equal_logits_is_the_logarithm_of_the_classes(self, learner, rng):
        for num_classes in (2, 3, 7):
            z, y = np.repeat(draw_logits(rng, 5, 1), num_classes, axis=1), rng.integers(0, num_classes, 5)
            assert_array(learner.cross_entropy(z, y), float(np.log(num_classes)))

    @pytest.mark.refusals
    @pytest.mark.parametrize("kind", WRONG_CLASSES)
    def test_loss_refuses_what_does_not_fit(self, learner, rng, kind):
        for logits, targets in WRONG_CLASSES[kind](draw_logits(rng, 6, 4), draw_classes(rng, 6, 4)):
            with pytest.raises(ValueError):
                learner.cross_entropy(logits, targets)


@pytest.mark.criterion("cross-entropy-gradient")
class TestGradientAnywhere:
    def test_gradient_of_any_logits(self, learner, rng):
        for num_samples, num_classes in ((7, 3), (4, 5), (2, 2), (1, 4)):
            z, y = draw_logits(rng, num_samples, num_classes), rng.integers(0, num_classes, num_samples)
            assert_array(learner.cross_entropy_gradient(z.copy(), y.copy()), oracles.gradient(z, y))

    def test_gradient_agrees_with_differences_of_the_own_loss(self, learner, rng):
        z, y = draw_logits(rng, 5, 3), draw_classes(rng, 5, 3)
        slopes = numerical_gradient(lambda at: learner.cross_entropy(at, y), z)
        assert_gradient(learner.cross_entropy_gradient(z.copy(), y), slopes, name="gradient")

    @pytest.mark.refusals
    @pytest.mark.parametrize("kind", WRONG_CLASSES)
    def test_gradient_refuses_what_does_not_fit(self, learner, rng, kind):
        for logits, targets in WRONG_CLASSES[kind](draw_logits(rng, 6, 4), draw_classes(rng, 6, 4)):
            with pytest.raises(ValueError):
                learner.cross_entropy_gradient(logits, targets)
