"""Public tests of stage s07: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import (
    assert_array,
    assert_equal,
    assert_gradient,
    assert_shape,
    numerical_gradient,
    unchanged,
    plain_array,
)

pytestmark = pytest.mark.values


@pytest.fixture
def logits():
    """Scores of three samples for three classes."""
    return np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [2.0, -1.0, 0.5]])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


@pytest.mark.criterion("sigmoid")
class TestSigmoid:
    def test_sigmoid_rises_from_zero_to_one(self, learner):
        expected = [0.0066928509243, 0.2689414213700, 0.5, 0.7310585786300, 0.9933071490757]
        assert_array(learner.sigmoid(np.array([-5.0, -1.0, 0.0, 1.0, 5.0])), expected)


@pytest.mark.criterion("softmax")
class TestSoftmax:
    def test_rows_become_probabilities(self, learner, logits):
        expected = [[0.0900305731704, 0.2447284710548, 0.6652409557748], [1 / 3, 1 / 3, 1 / 3]]
        assert_array(learner.softmax(logits[:2].copy()), expected)

    def test_axis_says_what_adds_up_to_one(self, learner):
        z = np.log([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
        assert_array(learner.softmax(z.copy(), axis=0), [[0.25, 0.5, 0.75], [0.75, 0.5, 0.25]], name="axis=0")
        assert_array(learner.softmax(z.copy(), axis=1), np.array([[1, 2, 3], [3, 2, 1]]) / 6, name="axis=1")


@pytest.mark.criterion("log-softmax")
class TestLogSoftmax:
    def test_logarithms_of_the_probabilities(self, learner, logits):
        expected = [[-2.4076059644444, -1.4076059644444, -0.4076059644444], [-np.log(3.0)] * 3]
        assert_array(learner.log_softmax(logits[:2].copy()), expected)

    def test_axis_says_where_the_exponentials_are_summed(self, learner):
        z = np.log([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]])
        expected = np.log([[0.25, 0.5, 0.75], [0.75, 0.5, 0.25]])
        assert_array(learner.log_softmax(z.copy(), axis=0), expected, name="axis=0")


@pytest.mark.criterion("binary-cross-entropy")
class TestBinaryCrossEntropy:
    def test_mean_of_minus_log_of_the_probability_of_the_truth(self, learner):
        """sigmoid(log 3) is 3/4, sigmoid(-log 3) is 1/4."""
        z = np.log([3.0, 3.0, 1 / 3, 1 / 3])
        assert_array(learner.binary_cross_entropy(z, np.array([1, 1, 0, 0])), np.log(4 / 3), name="all near")
        assert_array(learner.binary_cross_entropy(z, np.array([0, 0, 1, 1])), np.log(4), name="all far")
        expected = (3 * np.log(4 / 3) + np.log(4)) / 4
        assert_array(learner.binary_cross_entropy(z, np.array([1, 1, 0, 1])), expected, name="three near, one far")

    @pytest.mark.refusals
    def test_targets_that_do_not_fit_are_refused(self, learner):
        for targets in ([1, 0], [1, 0, 1, 0], [[1], [0], [1]], [0, 1, 2], [-1, 1, 1], [0.5, 0.0, 1.0]):
            with pytest.raises(ValueError):
                learner.binary_cross_entropy(np.array([0.5, -1.0, 2.0]), np.array(targets))


@pytest.mark.criterion("binary-cross-entropy-gradient")
class TestBinaryCrossEntropyGradient:
    def test_probability_minus_target_over_samples(self, learner):
        z = np.log([3.0, 3.0, 1 / 3, 1.0])
        expected = [-0.25 / 4, 0.75 / 4, 0.25 / 4, -0.5 / 4]
        assert_array(learner.binary_cross_entropy_gradient(z, np.array([1, 0, 0, 1])), expected)

    def test_binary_gradient_is_the_slope_of_the_loss(self, learner):
        z, y = np.array([0.5, -1.0, 2.0]), np.array([1, 0, 0])
        slopes = numerical_gradient(lambda at: learner.binary_cross_entropy(at, y), z)
        assert_gradient(learner.binary_cross_entropy_gradient(z, y), slopes, name="gradient")

    @pytest.mark.refusals
    def test_binary_gradient_refuses_targets_that_do_not_fit(self, learner):
        for targets in ([1, 0], [[1], [0], [1]], [0, 1, 2]):
            with pytest.raises(ValueError):
                learner.binary_cross_entropy_gradient(np.array([0.5, -1.0, 2.0]), np.array(targets))


@pytest.mark.criterion("cross-entropy")
class TestCrossEntropy:
    def test_mean_of_minus_log_of_the_softmax_of_the_true_class(self, learner, logits):
        expected = (0.4076059644444 + 1.0986122886681 + 3.2413112967468) / 3
        assert_array(learner.cross_entropy(logits, np.array([2, 0, 1])), expected)

    @pytest.mark.refusals
    def test_classes_that_do_not_fit_are_refused(self, learner, logits):
        for targets in ([2, 0], [[2], [0], [1]], [2, 0, 3], [2, 0, -1], [2.0, 0.0, 1.0]):
            with pytest.raises(ValueError):
                learner.cross_entropy(logits, np.array(targets))
        with pytest.raises(ValueError):
            learner.cross_entropy(logits[0], np.array([2, 0, 1]))


@pytest.mark.criterion("cross-entropy-gradient")
class TestCrossEntropyGradient:
    def test_softmax_minus_one_hot_over_samples(self, learner, logits):
        expected = [[0.0900305731704, 0.2447284710548, -0.3347590442252], [-2 / 3, 1 / 3, 1 / 3]]
        assert_array(learner.cross_entropy_gradient(logits[:2].copy(), np.array([2, 0])), np.array(expected) / 2)

    def test_gradient_is_the_slope_of_the_loss(self, learner, logits):
        y = np.array([2, 0, 1])
        slopes = numerical_gradient(lambda at: learner.cross_entropy(at, y), logits)
        assert_gradient(learner.cross_entropy_gradient(logits, y), slopes, name="gradient")

    @pytest.mark.refusals
    def test_gradient_refuses_classes_that_do_not_fit(self, learner, logits):
        for targets in ([2, 0], [2, 0, 3], [2, 0, -1], [2.0, 0.0, 1.0]):
            with pytest.raises(ValueError):
                learner.cross_entropy_gradient(logits, np.array(targets))


@pytest.mark.criterion("arrays")
class TestArrays:
    @pytest.mark.dtype
    def test_single_numbers_and_whole_numbers(self, learner):
        assert_array(learner.sigmoid(0.0), 0.5, name="sigmoid(0.0)")
        assert_array(learner.sigmoid(np.array([[0, 1], [-1, 0]])), [[0.5, 0.73105857863], [0.26894142137, 0.5]])

    @pytest.mark.dtype
    def test_float32_stays_float32(self, learner, logits):
        z, y = logits.astype(np.float32), np.array([2, 0, 1])
        for name in ("sigmoid", "softmax", "log_softmax"):
            assert_shape(getattr(learner, name)(z), (3, 3), name=name)
            assert_equal(str(getattr(learner, name)(z).dtype), "float32", name=f"dtype of {name}")
        assert_equal(
            str(plain_array(learner.cross_entropy_gradient(z, y)).dtype), "float32", name="dtype of the gradient"
        )

    @pytest.mark.purity
    def test_logits_and_targets_stay_as_they_were(self, learner, logits):
        y = np.array([2, 0, 1])
        with unchanged(logits, y):
            learner.softmax(logits)
            learner.log_softmax(logits)
            learner.cross_entropy_gradient(logits, y)


@pytest.mark.criterion("extreme-logits")
class TestExtremeLogits:
    @pytest.mark.edges
    def test_sigmoid_at_both_ends(self, learner):
        z = np.array([-1000.0, -40.0, 40.0, 1000.0])
        assert_array(learner.sigmoid(z), [0.0, 4.248354255291589e-18, 1.0, 1.0], atol=1e-30)

    @pytest.mark.edges
    def test_softmax_of_large_logits(self, learner):
        z = np.array([[1000.0, 1000.0, -1000.0], [-1000.0, -1000.0, -1000.0]])
        assert_array(learner.softmax(z.copy()), [[0.5, 0.5, 0.0], [1 / 3, 1 / 3, 1 / 3]], name="softmax")
        expected = [[-np.log(2), -np.log(2), -2000 - np.log(2)], [-np.log(3)] * 3]
        assert_array(learner.log_softmax(z.copy()), expected, name="log_softmax")

    @pytest.mark.edges
    def test_loss_of_a_confident_error_is_large_and_finite(self, learner):
        z = np.array([1000.0, -1000.0])
        assert_array(learner.binary_cross_entropy(z.copy(), np.array([0, 1])), 1000.0, name="both wrong")
        assert_array(learner.binary_cross_entropy(z.copy(), np.array([1, 0])), 0.0, name="both right")
        assert_array(learner.cross_entropy(np.array([[0.0, 1000.0]]), np.array([0])), 1000.0, name="cross_entropy")


@pytest.mark.criterion("accuracy")
class TestAccuracy:
    def test_share_of_right_predictions(self, learner):
        assert_array(learner.accuracy(np.array([0, 2, 1, 1]), np.array([0, 2, 2, 1])), 0.75)

    @pytest.mark.refusals
    def test_predictions_that_do_not_fit_are_refused(self, learner):
        for y_pred in ([0, 2, 1], [[0], [2], [1], [1]], [0]):
            with pytest.raises(ValueError):
                learner.accuracy(np.array([0, 2, 1, 1]), np.array(y_pred))
        with pytest.raises(ValueError):
            learner.accuracy(np.array([]), np.array([]))


@pytest.mark.criterion("confusion-matrix")
class TestConfusionMatrix:
    def test_true_classes_in_rows_and_predicted_ones_in_columns(self, learner):
        y_true, y_pred = np.array([0, 0, 0, 1, 1, 2, 2]), np.array([0, 0, 1, 1, 2, 2, 0])
        assert_array(learner.confusion_matrix(y_true, y_pred, 3), [[2, 1, 0], [0, 1, 1], [1, 0, 1]])

    def test_a_class_without_samples_has_a_row_and_a_column(self, learner):
        result = learner.confusion_matrix(np.array([0, 0, 1]), np.array([0, 1, 1]), 3)
        assert_array(result, [[1, 1, 0], [0, 1, 0], [0, 0, 0]])

    @pytest.mark.refusals
    def test_what_is_no_class_is_refused(self, learner):
        y = np.array([0, 2, 1])
        for wrong in (np.array([0, 3, 1]), np.array([0, -1, 1]), np.array([0.0, 2.0, 1.0]), y[:2]):
            with pytest.raises(ValueError):
                learner.confusion_matrix(y, wrong, 3)
            with pytest.raises(ValueError):
                learner.confusion_matrix(wrong, y, 3)


@pytest.mark.criterion("precision-recall-f1")
class TestPrecisionRecallF1:
    def test_macro_is_the_mean_over_the_classes(self, learner):
        """Precisions 3/4, 1/2, 1; recalls 3/4, 1, 1/2; f1 3/4, 2/3, 2/3."""
        y_true, y_pred = np.array([0, 0, 0, 0, 1, 2, 2]), np.array([0, 0, 0, 1, 1, 2, 0])
        precision, recall, f1 = unpack(
            learner.precision_recall_f1(y_true, y_pred, "macro"), "precision", "recall", "f1"
        )
        assert_array(precision, 3 / 4, name="precision")
        assert_array(recall, 3 / 4, name="recall")
        assert_array(f1, 25 / 36, name="f1")

    @pytest.mark.edges
    def test_a_class_that_is_never_predicted_has_precision_zero(self, learner):
        """Precisions 3/5, 1/2, 0; recalls 3/4, 1/2, 0; f1 2/3, 1/2, 0: class 2 is never predicted."""
        y_true, y_pred = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 0, 0])
        precision, recall, f1 = unpack(
            learner.precision_recall_f1(y_true, y_pred, "macro"), "precision", "recall", "f1"
        )
        assert_array(precision, 11 / 30, name="precision")
        assert_array(recall, 5 / 12, name="recall")
        assert_array(f1, 7 / 18, name="f1")

    def test_micro_adds_up_the_counts_first(self, learner):
        y_true, y_pred = np.array([0, 0, 0, 0, 1, 1, 2]), np.array([0, 0, 0, 1, 1, 0, 0])
        three = unpack(learner.precision_recall_f1(y_true, y_pred, "micro"), "precision", "recall", "f1")
        for name, value in zip(("precision", "recall", "f1"), three, strict=True):
            assert_array(value, 4 / 7, name=name)

    @pytest.mark.edges
    def test_a_class_that_is_only_predicted_counts_too(self, learner):
        result = learner.precision_recall_f1(np.array([1, 1, 1, 1]), np.array([1, 1, 4, 4]), "macro")
        precision, recall, f1 = unpack(result, "precision", "recall", "f1")
        assert_array(precision, 1 / 2, name="precision")
        assert_array(recall, 1 / 4, name="recall")
        assert_array(f1, 1 / 3, name="f1")

    @pytest.mark.refusals
    def test_other_averages_and_shapes_are_refused(self, learner):
        y = np.array([0, 1, 1])
        for y_pred, average in ((y, "weighted"), (y[:2], "macro"), (y[:, None], "micro"), (y[:0], "macro")):
            with pytest.raises(ValueError):
                learner.precision_recall_f1(y.copy(), y_pred, average)


@pytest.mark.criterion("roc-auc")
class TestRocAuc:
    def test_share_of_pairs_in_the_right_order(self, learner):
        """Pairs of one 1 and one 0: 0.35 beats 0.1 and 0.2 but not 0.4; 0.8 beats all three."""
        assert_array(learner.roc_auc(np.array([0, 0, 1, 1, 0]), np.array([0.1, 0.4, 0.35, 0.8, 0.2])), 5 / 6)

    def test_a_tie_counts_as_half(self, learner):
        """0.4 beats 0.1, meets 0.4 and loses to 0.9; 0.8 beats 0.1 and 0.4 and loses to 0.9."""
        result = learner.roc_auc(np.array([0, 0, 1, 1, 0]), np.array([0.1, 0.4, 0.4, 0.8, 0.9]))
        assert_array(result, 3.5 / 6, name="one tie")
        assert_array(learner.roc_auc(np.array([0, 1, 1, 0, 1]), np.full(5, 0.3)), 0.5, name="all tied")

    def test_best_and_worst_order(self, learner):
        y = np.array([0, 1, 0, 1, 1])
        assert_array(learner.roc_auc(y, np.array([-3.0, 2.0, 0.5, 1.0, 7.0])), 1.0, name="best")
        assert_array(learner.roc_auc(y, np.array([3.0, -2.0, 5.0, 1.0, 2.5])), 0.0, name="worst")

    @pytest.mark.refusals
    def test_labels_that_do_not_fit_are_refused(self, learner):
        for labels in ([1, 1, 1], [0, 0, 0], [0, 1, 2], [1, -1, 1], [0, 1], [[0], [1], [1]]):
            with pytest.raises(ValueError):
                learner.roc_auc(np.array(labels), np.array([0.2, 0.5, 0.9]))


@pytest.mark.criterion("fit-softmax-regression")
class TestFitSoftmaxRegression:
    def test_the_first_step_by_hand(self, learner):
        """All probabilities are a half at the start; the gradient of the weights is (0.5, -0.5)."""
        X, y = np.array([[-1.0], [1.0], [3.0]]), np.array([0, 1, 1])
        result = learner.fit_softmax_regression(X, y, 2, 0.6, 1)
        weights, bias, losses = unpack(result, "weights", "bias", "losses")
        assert_array(weights, [[-0.5, 0.5]], name="weights")
        assert_array(bias, [-0.1, 0.1], name="bias")
        assert_equal(len(losses), 2, name="number of losses")
        assert_array(losses[0], np.log(2), name="loss at the start")
        gaps = np.array([0.8, 1.2, 3.2])
        assert_array(losses[1], np.log1p(np.exp(-gaps)).mean(), name="loss after one step")

    def test_every_step_is_taken_also_where_the_loss_has_ceased_to_fall(self, learner):
        """Class 1 has two of the three samples at 1, and one of the three at -1: its odds are 2 and 1/2 in the end."""
        X, y = np.array([[-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]]), np.array([0, 0, 1, 0, 1, 1])
        weights, bias, losses = unpack(learner.fit_softmax_regression(X, y, 2, 1.0, 100), "weights", "bias", "losses")
        assert_equal(len(losses), 101, name="number of losses")
        assert_array(weights, [[-np.log(2) / 2, np.log(2) / 2]], name="weights")
        assert_array(bias, [0.0, 0.0], name="bias", atol=1e-9)
        assert_array(losses[-1], np.log(3) - 2 / 3 * np.log(2), name="the last loss")

    def test_three_groups_are_told_apart(self, learner):
        X = np.array([[0.0, 2.0], [0.5, 2.5], [2.0, -1.0], [2.5, -0.5], [-2.0, -1.0], [-1.5, -1.5]])
        y = np.array([0, 0, 1, 1, 2, 2])
        weights, bias, losses = unpack(learner.fit_softmax_regression(X, y, 3, 0.5, 50), "weights", "bias", "losses")
        assert_shape(weights, (2, 3), name="weights")
        assert_shape(bias, (3,), name="bias")
        logits = X @ weights + bias
        assert_array(np.argmax(logits, axis=1), y, name="predicted classes")
        loss = float(np.mean(np.log(np.exp(logits).sum(axis=1)) - logits[np.arange(6), y]))
        assert_array(losses[-1], loss, name="the last loss, of the weights and the bias that came back")
        assert loss < 0.1, f"the loss should have fallen below 0.1, but is {loss:.3f}"

    @pytest.mark.refusals
    def test_unsuitable_arguments_are_refused(self, learner):
        X, y = np.array([[0.0, 2.0], [2.0, -1.0], [-2.0, -1.0]]), np.array([0, 1, 2])
        wrong = [(X, y[:2], 3, 0.5, 2), (X[:, 0], y, 3, 0.5, 2), (X, y, 2, 0.5, 2), (X, y - 1, 3, 0.5, 2)]
        wrong += [(X, y, 3, 0.0, 2), (X, y, 3, -1.0, 2), (X, y, 3, 0.5, -1)]
        for arguments in wrong:
            with pytest.raises(ValueError):
                learner.fit_softmax_regression(*arguments)
