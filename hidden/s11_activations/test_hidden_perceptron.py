"""Hidden tests of stage s11: the perceptron, what it can and cannot learn, and the network for XOR.

Samples, weights and rates are whole eighths, so that sums are exact in any order and no prediction hangs on rounding.
"""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_shape, unchanged
from hidden.s11_activations.oracles import draw_samples, predict, train

pytestmark = pytest.mark.values

CORNERS = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
MARGIN = 2.0


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


def as_list(values):
    """Return a list or array of numbers as a list."""
    return values.tolist() if isinstance(values, np.ndarray) else values


@pytest.mark.criterion("perceptron-predict")
class TestPredictAnySamples:
    def test_classes_of_any_samples(self, learner, rng):
        num_features = int(rng.integers(3, 6))
        X, weights = draw_samples(rng, 11, num_features), draw_samples(rng, 1, num_features)[0]
        bias = float(rng.integers(-20, 21)) / 8
        with unchanged(X, weights):
            classes = learner.perceptron_predict(X, weights, bias)
        assert_array(classes, np.array(predict(X, weights.tolist(), bias)))

    @pytest.mark.edges
    def test_samples_exactly_on_the_boundary_are_class_zero(self, learner, rng):
        X, weights = draw_samples(rng, 6, 3), draw_samples(rng, 1, 3)[0]
        for sample in X:
            bias = -float(sum((sample * weights).tolist()))
            classes = learner.perceptron_predict(X, weights, bias)
            assert_array(classes, np.array(predict(X, weights.tolist(), bias)))

    @pytest.mark.refusals
    def test_weights_and_samples_that_do_not_fit_are_refused(self, learner, rng):
        for samples, weights in (((4, 3), (4,)), ((4, 3), (3, 1)), ((4, 3), (1,)), ((3,), (3,)), ((2, 3, 3), (3, 3))):
            with pytest.raises(ValueError):
                learner.perceptron_predict(rng.normal(size=samples), rng.normal(size=weights), 0.5)


def assert_trained(result, X, y, rate, num_epochs, dtype=None):
    """Assert that result is (weights, bias, errors) of Rosenblatt's rule."""
    weights, bias, errors = unpack(result, "weights", "bias", "errors")
    expected_weights, expected_bias, expected_errors = train(X, y.tolist(), rate, num_epochs)
    assert_array(weights, expected_weights, name="weights", dtype=dtype)
    assert_array(bias, expected_bias, name="bias")
    assert_equal(as_list(errors), expected_errors, name="errors")


@pytest.mark.criterion("perceptron-train")
class TestTrainAnySamples:
    def test_every_step_of_the_rule(self, learner, rng):
        num_features, num_epochs = int(rng.integers(3, 6)), int(rng.integers(3, 6))
        X, y = draw_samples(rng, 9, num_features), rng.permutation([0, 0, 0, 0, 1, 1, 1, 1, 1])
        for rate in (0.25, 2.0):
            with unchanged(X, y):
                result = learner.perceptron_train(X, y, rate, num_epochs)
            assert_trained(result, X, y, rate, num_epochs)

    def test_classes_with_a_gap_are_learnt(self, learner, rng):
        """Novikoff: with |(x, 1)| <= R, and w of length |w| that leaves a margin, at most (R |w| / margin)^2 errors.

        Here R^2 <= 33 and |w|^2 <= 9, hence at most 74, and each epoch before the last change has at least one.
        """
        normal, offset = rng.choice([-2.0, -1.0, 1.0, 2.0], 2), float(rng.integers(-1, 2))
        X = draw_samples(rng, 200, 2)
        sums = X @ normal + offset
        clear = np.abs(sums) >= MARGIN
        X, y = X[clear][:30], (sums[clear][:30] > 0).astype(int)
        weights, bias, errors = unpack(learner.perceptron_train(X, y, 0.5, 76), "weights", "bias", "errors")
        assert_array(learner.perceptron_predict(X, weights, bias), y, name="classes after training")
        assert_equal(as_list(errors), train(X, y.tolist(), 0.5, 76)[2], name="errors")

    def test_xor_is_never_learnt(self, learner, rng):
        order = rng.permutation(4)
        X, y = CORNERS[order], np.array([0, 1, 1, 0])[order]
        result = learner.perceptron_train(X, y, 1.0, 15)
        assert_trained(result, X, y, 1.0, 15)
        classes = learner.perceptron_predict(X, result[0], result[1])
        assert_array(classes, np.array(predict(X, as_list(result[0]), float(result[1]))), name="classes")

    @pytest.mark.dtype
    def test_labels_of_other_types_and_whole_samples(self, learner, rng):
        X, y = rng.integers(-3, 4, (8, 3)), rng.permutation([0, 0, 0, 1, 1, 1, 1, 1])
        for labels in (y.astype(float), y.astype(bool), y.astype(np.uint8)):
            assert_trained(learner.perceptron_train(X, labels, 0.75, 4), X, y, 0.75, 4)

    @pytest.mark.dtype
    def test_unsigned_labels_of_samples_answered_too_high(self, learner):
        """The second visit of (0, 0) answers 1 for the label 0: the difference is -1, for any integer type."""
        y = np.array([0, 1, 1, 1])
        for labels in (y.astype(np.uint8), y.astype(np.uint64)):
            assert_trained(learner.perceptron_train(CORNERS, labels, 0.75, 4), CORNERS, y, 0.75, 4)

    @pytest.mark.dtype
    def test_weights_are_of_the_precision_of_the_samples(self, learner, rng):
        X, y = draw_samples(rng, 8, 3), rng.permutation([0, 0, 0, 0, 1, 1, 1, 1])
        assert_trained(learner.perceptron_train(X.astype(np.float32), y, 0.75, 3), X, y, 0.75, 3, dtype="float32")
        assert_trained(learner.perceptron_train(X, y, 0.75, 1), X, y, 0.75, 1, dtype="float64")

    @pytest.mark.refusals
    def test_unsuitable_samples_and_labels_are_refused(self, learner, rng):
        X, y = draw_samples(rng, 4, 3), np.array([0, 1, 1, 0])
        wrong = [(X, y[:3]), (X, y[:, None]), (X[:, 0], y), (X[:, :, None], y), (X, y - 1), (X, y * 2), (X, y + 0.5)]
        wrong += [(X, np.array(labels)) for labels in ([0, 1, 1, 2], [0, 1, -1, 0], [0, 0.5, 1, 0])]
        for samples, labels in wrong:
            with pytest.raises(ValueError):
                learner.perceptron_train(samples, labels, 1.0, 2)

    @pytest.mark.refusals
    def test_unsuitable_rates_and_epochs_are_refused(self, learner, rng):
        X, y = draw_samples(rng, 4, 3), np.array([0, 1, 1, 0])
        for rate, num_epochs in ((0.0, 2), (-1.0, 2), (1.0, 0), (1.0, -1)):
            with pytest.raises(ValueError):
                learner.perceptron_train(X, y, rate, num_epochs)


@pytest.mark.criterion("xor-network")
class TestXorOfAnyPairs:
    @pytest.mark.parametrize("shape", [(7, 2), (2,), (3, 2, 2), (2, 2)], ids=str)
    def test_pairs_in_any_shape(self, learner, rng, shape):
        for kind in (float, int):
            x = rng.integers(0, 2, shape).astype(kind)
            with unchanged(x):
                result = learner.xor_network(x)
            assert_shape(result, shape[:-1])
            exclusive = np.zeros(shape[:-1])
            for index in np.ndindex(shape[:-1]):
                exclusive[index] = 1.0 if x[index].tolist() in ([0, 1], [1, 0]) else 0.0
            assert_array(np.asarray(result, dtype=float), exclusive, rtol=0, atol=0.01)

    def test_all_four_corners_in_any_order(self, learner, rng):
        order = rng.permutation(4)
        result = learner.xor_network(CORNERS[order])
        assert_shape(result, (4,))
        exclusive = np.array([0.0, 1.0, 1.0, 0.0])[order]
        assert_array(np.asarray(result, dtype=float), exclusive, rtol=0, atol=0.01)

    @pytest.mark.refusals
    def test_what_is_no_pair_is_refused(self, learner, rng):
        for shape in ((4, 3), (2, 1), (2, 4), (3,), (1,)):
            with pytest.raises(ValueError):
                learner.xor_network(rng.integers(0, 2, shape).astype(float))
