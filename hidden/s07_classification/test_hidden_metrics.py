"""Hidden tests of stage s07: what judges a classifier.

The scores of roc_auc are whole eighths, so that ties are exact.
"""

import numpy as np
import pytest

from grader.testing import assert_array, unchanged
from hidden.s07_classification import oracles
from hidden.s07_classification.oracles import draw_classes, draw_logits, unpack

pytestmark = pytest.mark.values


def wrong_pairs(a, b):
    """Return pairs of unequal lengths, of more axes than one, and of no sample."""
    lengths = [(a, b[:-1]), (a[:-1], b), (a[:1], b), (a, b[:1])]
    axes = [(a, b[:, None]), (a[:, None], b), (a[:, None], b[:, None]), (a[None], b[None])]
    return [*lengths, *axes, (a[:0], b[:0])]


def wrong_labels(a, b):
    """Return pairs of which one holds what is no class from 0 to 2."""
    classes = [(a + 1, b), (a, b + 1), (a - 1, b), (a, b - 1)]
    return [*classes, (a.astype(float), b), (a, b.astype(float)), (a > 0, b), (a, b > 0)]


@pytest.mark.criterion("accuracy")
class TestAccuracyOfAnything:
    def test_accuracy_of_any_predictions(self, learner, rng):
        for num_samples in (1, 7, 40):
            y_true, y_pred = rng.integers(0, 3, num_samples), rng.integers(0, 3, num_samples)
            with unchanged(y_true, y_pred):
                result = learner.accuracy(y_true, y_pred)
            assert_array(result, oracles.accuracy(y_true, y_pred))

    def test_accuracy_of_all_and_of_none(self, learner, rng):
        y = rng.integers(0, 5, 9)
        assert_array(learner.accuracy(y, y.copy()), 1.0)
        assert_array(learner.accuracy(y, y + 1), 0.0)

    @pytest.mark.refusals
    def test_accuracy_refuses_what_does_not_fit(self, learner, rng):
        for y_true, y_pred in wrong_pairs(draw_classes(rng, 6, 3), draw_classes(rng, 6, 3)):
            with pytest.raises(ValueError):
                learner.accuracy(y_true, y_pred)


@pytest.mark.criterion("confusion-matrix")
class TestConfusionOfAnything:
    def test_counts_of_any_predictions(self, learner, rng):
        for num_samples, num_classes in ((60, 3), (25, 4), (1, 2)):
            y_true, y_pred = rng.integers(0, num_classes, num_samples), rng.integers(0, num_classes, num_samples)
            with unchanged(y_true, y_pred):
                result = learner.confusion_matrix(y_true, y_pred, num_classes)
            assert_array(result, oracles.confusion(y_true, y_pred, num_classes), axes="true predicted")

    def test_classes_that_no_sample_has(self, learner, rng):
        y_true, y_pred = rng.integers(1, 3, 12).astype(np.int32), rng.integers(0, 2, 12).astype(np.int32)
        result = learner.confusion_matrix(y_true, y_pred, 5)
        assert_array(result, oracles.confusion(y_true, y_pred, 5), axes="true predicted")

    @pytest.mark.dtype
    def test_many_samples_and_classes_of_unsigned_type(self, learner, rng):
        """Neither a count of 300 nor the number of a cell, 19 * 20 + 19, fits into uint8."""
        y_true = np.concatenate([np.full(300, 19), np.arange(20), rng.integers(0, 20, 40)]).astype(np.uint8)
        y_pred = np.concatenate([np.full(300, 18), np.arange(20), rng.integers(0, 20, 40)]).astype(np.uint8)
        order = rng.permutation(360)
        result = learner.confusion_matrix(y_true[order], y_pred[order], 20)
        assert_array(result, oracles.confusion(y_true, y_pred, 20), axes="true predicted")

    @pytest.mark.refusals
    def test_confusion_refuses_pairs_that_do_not_fit(self, learner, rng):
        for y_true, y_pred in wrong_pairs(draw_classes(rng, 6, 3), draw_classes(rng, 6, 3)):
            with pytest.raises(ValueError):
                learner.confusion_matrix(y_true, y_pred, 3)

    @pytest.mark.refusals
    def test_confusion_refuses_what_is_no_class(self, learner, rng):
        for y_true, y_pred in wrong_labels(draw_classes(rng, 6, 3), draw_classes(rng, 6, 3)):
            with pytest.raises(ValueError):
                learner.confusion_matrix(y_true, y_pred, 3)


def assert_three(result, y_true, y_pred, average):
    """Assert that result is (precision, recall, f1)."""
    three = unpack(result, "precision", "recall", "f1")
    expected = oracles.precision_recall_f1(y_true, y_pred, average)
    for name, value, right in zip(("precision", "recall", "f1"), three, expected, strict=True):
        assert_array(value, right, name=name)


@pytest.mark.criterion("precision-recall-f1")
class TestAveragesOfAnything:
    @pytest.mark.parametrize("average", ["macro", "micro"])
    def test_averages_of_any_predictions(self, learner, rng, average):
        y_true, y_pred = rng.integers(0, 3, 40), rng.integers(0, 3, 40)
        y_true[:3], y_pred[:3] = range(3), range(3)  # each class has a hit
        with unchanged(y_true, y_pred):
            result = learner.precision_recall_f1(y_true, y_pred, average)
        assert_three(result, y_true, y_pred, average)

    @pytest.mark.edges
    @pytest.mark.parametrize("average", ["macro", "micro"])
    def test_averages_of_few_samples(self, learner, rng, average):
        """Where a class has no hit, a divisor may be 0."""
        for num_samples in (1, 8):
            y_true, y_pred = rng.integers(0, 3, num_samples), rng.integers(0, 3, num_samples)
            assert_three(learner.precision_recall_f1(y_true, y_pred, average), y_true, y_pred, average)

    @pytest.mark.edges
    @pytest.mark.parametrize("average", ["macro", "micro"])
    def test_classes_on_one_side_only_and_gaps_between_classes(self, learner, rng, average):
        names = np.sort(rng.choice(12, 5, replace=False) + 1)
        y_true = rng.permutation(names[[0, 0, 0, 1, 1, 2, 2, 2, 2, 3]])
        y_pred = np.where(rng.random(10) < 0.6, y_true, names[4])
        y_pred[y_true == names[3]] = names[4]
        y_pred[np.flatnonzero(y_true == names[0])[:2]] = names[[0, 2]]
        assert_three(learner.precision_recall_f1(y_true, y_pred, average), y_true, y_pred, average)

    @pytest.mark.edges
    def test_a_rare_class_weighs_as_much_as_a_frequent_one(self, learner, rng):
        y_true = np.repeat([0, 1], [20, 2])
        y_pred = y_true.copy()
        y_pred[20:] = 0
        order = rng.permutation(22)
        for average in ("macro", "micro"):
            result = learner.precision_recall_f1(y_true[order], y_pred[order], average)
            assert_three(result, y_true, y_pred, average)

    @pytest.mark.edges
    @pytest.mark.parametrize("average", ["macro", "micro"])
    def test_more_classes_than_samples(self, learner, rng, average):
        names = rng.permutation(6)
        y_true, y_pred = names[:4], names[[0, 4, 5, 1]]
        assert_three(learner.precision_recall_f1(y_true, y_pred, average), y_true, y_pred, average)

    @pytest.mark.edges
    def test_without_a_single_hit_all_are_zero(self, learner, rng):
        y = rng.integers(0, 3, 8)
        for average in ("macro", "micro"):
            assert_three(learner.precision_recall_f1(y, (y + 1) % 3, average), y, (y + 1) % 3, average)

    @pytest.mark.refusals
    def test_averages_refuse_pairs_that_do_not_fit(self, learner, rng):
        for y_true, y_pred in wrong_pairs(draw_classes(rng, 6, 3), draw_classes(rng, 6, 3)):
            with pytest.raises(ValueError):
                learner.precision_recall_f1(y_true, y_pred, "macro")

    @pytest.mark.refusals
    def test_other_averages_are_refused(self, learner, rng):
        y = draw_classes(rng, 6, 3)
        for average in ("weighted", "Macro", "", "mac"):
            with pytest.raises(ValueError):
                learner.precision_recall_f1(y, y.copy(), average)


@pytest.mark.criterion("roc-auc")
class TestAreaOfAnything:
    def test_area_with_and_without_ties(self, learner, rng):
        for num_samples in (5, 30):
            y = draw_classes(rng, num_samples, 2)
            for scores in (rng.integers(-8, 9, num_samples) / 8, rng.permutation(num_samples) / 8 + y):
                with unchanged(y, scores):
                    result = learner.roc_auc(y, scores)
                assert_array(result, oracles.roc_auc(y, scores))

    def test_area_is_about_the_order_of_the_scores(self, learner, rng):
        y, scores = draw_classes(rng, 20, 2), rng.integers(-20, 21, 20) / 8
        area = oracles.roc_auc(y, scores)
        assert_array(learner.roc_auc(y, 1000 * scores + 5), area, name="larger scores")
        assert_array(learner.roc_auc(y, scores**3 / 1e6), area, name="smaller scores")
        assert_array(learner.roc_auc(y, -scores), 1 - area, name="scores turned round")
        assert_array(learner.roc_auc(1 - y, scores), 1 - area, name="classes swapped")

    @pytest.mark.dtype
    def test_area_for_labels_and_scores_of_other_kinds(self, learner, rng):
        y, scores = draw_classes(rng, 15, 2), rng.integers(-5, 6, 15)
        for kind in ("bool", "float64", "int32"):
            assert_array(learner.roc_auc(y.astype(kind), scores), oracles.roc_auc(y, scores), name=f"{kind} labels")

    @pytest.mark.dtype
    def test_area_of_unsigned_scores(self, learner, rng):
        y, scores = draw_classes(rng, 15, 2), rng.integers(0, 9, 15).astype(np.uint8)
        y[:2], scores[:2] = [0, 1], [200, 3]
        assert_array(learner.roc_auc(y, scores), oracles.roc_auc(y, scores))

    @pytest.mark.edges
    def test_scores_that_hardly_differ_are_no_ties(self, learner, rng):
        y, scores = draw_classes(rng, 12, 2), 0.5 + rng.permutation(12) * 1e-9
        assert_array(learner.roc_auc(y, scores), oracles.roc_auc(y, scores))
        y, scores = np.array([0, 1, 1, 0]), np.array([0.5, 0.5 + 1e-9, 0.5 - 1e-9, 0.5])
        assert_array(learner.roc_auc(y, scores), 0.5, name="area of scores above and below")
        assert_array(learner.roc_auc(y[:2], scores[:2]), 1.0, name="area of one pair")

    @pytest.mark.edges
    def test_area_of_equal_scores_is_a_half(self, learner, rng):
        assert_array(learner.roc_auc(draw_classes(rng, 9, 2), np.full(9, float(rng.normal()))), 0.5)

    @pytest.mark.refusals
    def test_area_of_one_class_is_refused(self, learner, rng):
        for label in (0, 1):
            with pytest.raises(ValueError):
                learner.roc_auc(np.full(4, label), rng.normal(size=4))

    @pytest.mark.refusals
    def test_area_refuses_pairs_that_do_not_fit(self, learner, rng):
        for y_true, scores in wrong_pairs(draw_classes(rng, 6, 2), draw_logits(rng, 6)):
            with pytest.raises(ValueError):
                learner.roc_auc(y_true, scores)

    @pytest.mark.refusals
    def test_area_of_other_classes_is_refused(self, learner, rng):
        y = draw_classes(rng, 6, 2)
        for labels in (y + 1, 2 * y - 1, 2 * y, y * 0.5, draw_classes(rng, 6, 3)):
            with pytest.raises(ValueError):
                learner.roc_auc(labels, draw_logits(rng, 6))
