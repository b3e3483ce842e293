"""Hidden tests of stage s08: labels, sequences and batches."""

import itertools

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged
from hidden.s08_data_preparation.oracles import WRONG_TABLES, listed, unpack

pytestmark = pytest.mark.values

WORDS = ["zebra", "Ant", "ant", "bee", "10", "9", "cat dog", "élan"]


@pytest.mark.criterion("label-encode")
class TestEncodeAnyLabels:
    @pytest.mark.parametrize("samples", [1, 6, 25])
    def test_words(self, learner, rng, samples):
        labels = [WORDS[int(i)] for i in rng.integers(0, len(WORDS), samples)]
        classes = sorted(set(labels))
        codes, found = unpack(learner.label_encode(labels), "codes", "classes")
        assert_equal(listed(found), classes, name="classes")
        assert_array(codes, np.array([classes.index(label) for label in labels]), name="codes")

    @pytest.mark.parametrize("dtype", [np.int64, np.float64])
    def test_array_of_numbers(self, learner, rng, dtype):
        labels = rng.choice([-7, 0, 3, 100, 21], 18).astype(dtype)
        classes = sorted(set(labels.tolist()))
        with unchanged(labels):
            codes, found = unpack(learner.label_encode(labels), "codes", "classes")
        assert_equal(listed(found), classes, name="classes")
        assert_array(codes, np.array([classes.index(label) for label in labels.tolist()]), name="codes")

    @pytest.mark.refusals
    def test_tables_and_nothing_are_refused(self, learner, rng):
        for labels in ([], np.zeros((3, 2), int), np.zeros((3, 1), int), np.array(4)):
            with pytest.raises(ValueError):
                learner.label_encode(labels)


@pytest.mark.criterion("one-hot-encode")
class TestOneHotAnyLabels:
    @pytest.mark.parametrize("samples", [1, 7, 20])
    def test_words_and_classes_in_any_order(self, learner, rng, samples):
        classes = [WORDS[int(i)] for i in rng.permutation(len(WORDS))[:5]]
        chosen = rng.integers(0, 5, samples)
        result = learner.one_hot_encode([classes[int(i)] for i in chosen], classes)
        expected = np.zeros((samples, 5))
        for sample, column in enumerate(chosen):
            expected[sample, column] = 1.0
        assert_array(result, expected)

    def test_numbers_that_are_no_columns(self, learner, rng):
        classes = rng.permutation(np.array([-1, 40, 0, 2]))
        chosen = rng.integers(0, 4, 9)
        labels = classes[chosen]
        with unchanged(labels, classes):
            result = learner.one_hot_encode(labels, classes)
        assert_array(result, [[float(column == chosen[i]) for column in range(4)] for i in range(9)])

    @pytest.mark.refusals
    def test_labels_are_compared_as_they_are(self, learner):
        """In the dtype of the classes "southwest" would be "south", and 1.5 would be 1."""
        for labels, classes in (
            (np.array(["southwest", "west"]), np.array(["south", "west"])),
            (np.array([2.0, 1.5]), np.array([1, 2])),
        ):
            with pytest.raises(ValueError):
                learner.one_hot_encode(labels, classes)

    @pytest.mark.edges
    def test_single_class(self, learner):
        assert_array(learner.one_hot_encode(["a", "a"], ["a"]), np.ones((2, 1)))

    @pytest.mark.dtype
    def test_entries_are_floats_whatever_the_labels_are(self, learner, rng):
        for classes in (np.array([4, 1, 2]), np.array([0.5, 1.5, 2.5], dtype=np.float32), np.array(["b", "c", "a"])):
            chosen = rng.integers(0, 3, 5)
            assert_array(learner.one_hot_encode(classes[chosen], classes), np.eye(3)[chosen], dtype="float64")

    @pytest.mark.refusals
    def test_unknown_labels_and_tables_are_refused(self, learner, rng):
        for labels in ([3, 1, 3], [1, 2, 1, 2, 4], [-1, 1], [0]):
            with pytest.raises(ValueError):
                learner.one_hot_encode(np.array(labels), np.array([1, 2]))
        with pytest.raises(ValueError):
            learner.one_hot_encode(["ant", "Bee"], ["ant", "bee"])
        for labels in ([], np.ones((2, 2), int), np.ones((3, 1), int), np.array(1)):
            with pytest.raises(ValueError):
                learner.one_hot_encode(labels, np.array([1, 2]))


def padded(sequences, length, value):
    """Return the rows that are expected, and which entries are real, as lists."""
    rows = [[*sequence[:length], *[value] * (length - len(sequence))] for sequence in sequences]
    return rows, [[place < len(sequence) for place in range(length)] for sequence in sequences]


@pytest.mark.criterion("pad-sequences")
class TestPadAnySequences:
    @pytest.mark.parametrize(("max_length", "pad_value"), [(None, 0), (3, 0), (9, -1), (1, 7), (None, 2)])
    def test_lists_of_integers(self, learner, rng, max_length, pad_value):
        sequences = [rng.integers(0, 5, int(n)).tolist() for n in (4, 1, 6, 3, 2)]
        length = 6 if max_length is None else max_length
        array, mask = unpack(learner.pad_sequences(sequences, max_length, pad_value), "array", "mask")
        expected, real = padded(sequences, length, pad_value)
        assert_array(array, np.array(expected), name="array")
        assert_array(mask, np.array(real), name="mask")

    def test_padding_is_zero_and_arguments_have_names(self, learner, rng):
        sequences = [rng.integers(1, 9, n).tolist() for n in (2, 5, 3)]
        array, mask = unpack(learner.pad_sequences(sequences, max_length=4), "array", "mask")
        assert_array(array, np.array(padded(sequences, 4, 0)[0]), name="array for max_length=4")
        assert_array(mask, np.array(padded(sequences, 4, 0)[1]), name="mask for max_length=4")
        array, _ = unpack(learner.pad_sequences(sequences, max_length=7), "array", "mask")
        assert_array(array, np.array(padded(sequences, 7, 0)[0]), name="array for max_length=7")
        array, _ = unpack(learner.pad_sequences(sequences, pad_value=-3), "array", "mask")
        assert_array(array, np.array(padded(sequences, 5, -3)[0]), name="array for pad_value=-3")

    @pytest.mark.dtype
    @pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
    def test_arrays_keep_their_type(self, learner, rng, dtype):
        sequences = [(10 * rng.normal(size=n)).astype(dtype) for n in (3, 5, 1)]
        with unchanged(*sequences):
            array, mask = unpack(learner.pad_sequences(sequences, None, 2), "array", "mask")
        expected, real = padded([sequence.tolist() for sequence in sequences], 5, 2)
        assert_array(array, np.array(expected, dtype), name="array", dtype=dtype)
        assert_array(mask, np.array(real), name="mask")

    @pytest.mark.edges
    def test_empty_sequence_has_no_say_in_the_type(self, learner, rng):
        sequences = [rng.integers(1, 9, 3).tolist(), rng.integers(1, 9, 2).tolist()]
        for more in ([*sequences, []], [[], *sequences], [sequences[0], [], sequences[1]]):
            array, mask = unpack(learner.pad_sequences(more), "array", "mask")
            assert_array(array, np.array(padded(more, 3, 0)[0]), name=f"array of sequences of {list(map(len, more))}")
            assert_array(mask, np.array(padded(more, 3, 0)[1]), name="mask")

    @pytest.mark.dtype
    def test_padding_has_no_say_in_the_type(self, learner, rng):
        sequences = [rng.integers(1, 9, 3).tolist(), rng.integers(1, 9, 2).tolist()]
        array, _ = unpack(learner.pad_sequences(sequences, pad_value=-1.0), "array", "mask")
        assert_array(array, np.array(padded(sequences, 3, -1)[0]), name="array of integers, pad_value=-1.0")

    @pytest.mark.dtype
    def test_integers_beside_floats_become_floats(self, learner):
        array, _ = unpack(learner.pad_sequences([[1, 2], [0.5]]), "array", "mask")
        assert_array(array, np.array([[1.0, 2.0], [0.5, 0.0]]), name="array")

    @pytest.mark.refusals
    def test_sequences_that_cannot_be_padded_are_refused(self, learner, rng):
        for sequences in ([], [[], []], [[1, 2], [[1, 2], [3, 4]]], [[1], 2], [np.ones((1, 1), int)]):
            with pytest.raises(ValueError):
                learner.pad_sequences(sequences)
        with pytest.raises(ValueError):
            learner.pad_sequences([[], []], max_length=3)
        for max_length in (0, -2):
            with pytest.raises(ValueError):
                learner.pad_sequences([[1, 2, 3], [4]], max_length)


def rounds(learner, X, y, batch_size, rng):
    """Return the batches of one round as a list of pairs."""
    return [unpack(batch, "X_batch", "y_batch") for batch in learner.iterate_minibatches(X, y, batch_size, rng)]


def order_of(learner, samples, batch_size, rng):
    """Return the order in which the samples of one round come."""
    batches = rounds(learner, np.arange(float(samples))[:, np.newaxis], np.arange(samples), batch_size, rng)
    return [int(target) for _, targets in batches for target in targets]


@pytest.mark.criterion("minibatches")
class TestBatchesOfAnySize:
    @pytest.mark.parametrize(("samples", "batch_size"), [(10, 4), (9, 3), (7, 7), (5, 8), (6, 1), (1, 1), (11, 10)])
    def test_every_sample_is_in_one_batch(self, learner, rng, samples, batch_size):
        X, y = rng.normal(size=(samples, 3)), rng.permutation(samples)
        X[:, 1] = 10.0 * y
        with unchanged(X, y):
            batches = rounds(learner, X, y, batch_size, rng)
        full, rest = divmod(samples, batch_size)
        lengths = [batch_size] * full + [rest] * (rest > 0)
        assert_equal([len(targets) for _, targets in batches], lengths, name="the numbers of samples in the batches")
        for features, targets in batches:
            assert_shape(features, (len(targets), 3), name="X_batch")
            rows = [int(np.flatnonzero(y == target)[0]) for target in targets]
            assert_array(features, X[rows], name="the rows of X that belong to y_batch")
        assert_equal(sorted(int(t) for _, ts in batches for t in ts), list(range(samples)), name="all of y")

    @pytest.mark.dtype
    def test_targets_may_have_more_axes_and_any_type(self, learner, rng):
        X, y = np.arange(5, dtype=np.float32)[:, np.newaxis], np.arange(10).reshape(5, 2)
        for features, targets in rounds(learner, X, y, 2, rng):
            assert_array(targets, np.column_stack([2 * features, 2 * features + 1]).astype(int), name="y_batch")
            assert_array(features, features.copy(), name="X_batch", dtype="float32")

    @pytest.mark.refusals
    def test_unsuitable_data_and_sizes_are_refused(self, learner, rng):
        for shape in WRONG_TABLES:
            with pytest.raises(ValueError):
                list(learner.iterate_minibatches(np.zeros(shape), np.zeros(shape[:1]), 2, rng))
        for shape in ((3,), (5,), (1,), (), (2, 4)):
            with pytest.raises(ValueError):
                list(learner.iterate_minibatches(np.zeros((4, 2)), np.zeros(shape), 2, rng))
        for batch_size in (0, -1):
            with pytest.raises(ValueError):
                list(learner.iterate_minibatches(np.zeros((4, 2)), np.zeros(4), batch_size, rng))


@pytest.mark.criterion("minibatches-random")
class TestOrderIsRandom:
    def test_each_sample_comes_first_as_often_as_another(self, learner, rng):
        """90 rounds of 4 samples. How often one is first is binomial (90, 1/4): 0 by 6e-12, above 54 by less.

        The same for the last place; for four samples, both places and both ends the chance is below 1e-9.
        """
        counts = np.zeros((2, 4), int)
        for seed in rng.integers(0, 2**32, 90):
            order = order_of(learner, 4, 4, np.random.default_rng(seed))
            counts[0, order[0]] += 1
            counts[1, order[-1]] += 1
        rounds_each = f"samples 0 to 3 came first in {counts[0].tolist()} and last in {counts[1].tolist()} rounds"
        even = bool(np.all((counts >= 1) & (counts <= 54)))
        assert_equal(even, True, name=f"in 90 rounds of 4 samples, {rounds_each}; whether each of these is 1 to 54")

    def test_batches_are_mixed(self, learner, rng):
        """Shuffled batches of neighbours, or a rotated order, keep most neighbours; chance keeps one in twenty.

        Of 59 pairs of neighbours in 60 samples a random order keeps about 2 (either way round); 30 or more have a
        chance below 2^30/30!, 1e-23.
        """
        order = order_of(learner, 60, 5, rng)
        neighbours = sum(abs(a - b) == 1 for a, b in itertools.pairwise(order))
        told = f"{neighbours} of the 59 pairs of neighbours in X come one after the other"
        assert_equal(neighbours < 30, True, name=f"{told}; whether these are fewer than 30")

    @pytest.mark.purity
    def test_generator_alone_decides(self, learner, seed):
        first, again = (order_of(learner, 30, 8, np.random.default_rng(seed)) for _ in range(2))
        assert_equal(again, first, name="the order of the same seed")
        other = order_of(learner, 30, 8, np.random.default_rng(seed + 1))
        assert_differ(
            np.array(first), np.array(other), shape=(30,), dtype=int, name="the orders of two different seeds"
        )

    @pytest.mark.purity
    def test_every_seed_has_its_order(self, learner, rng):
        """Two of the 30! orders are equal by chance once in 1e32."""
        orders = [order_of(learner, 30, 8, np.random.default_rng(seed)) for seed in rng.choice(10**6, 3, replace=False)]
        different = len({tuple(order) for order in orders})
        assert_equal(different, 3, name="how many of the orders of three seeds differ")
