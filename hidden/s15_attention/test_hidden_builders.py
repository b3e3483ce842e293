"""Hidden tests of stage s15: what is built once for a model, positional encodings and masks."""

import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_differ, assert_equal, assert_shape, unchanged

pytestmark = pytest.mark.values

REFUSED = ValueError, TypeError  # of a size that is no integer, either says what is wrong
IMPOSSIBLE_SIZES = (0, 4), (4, 0), (-1, 4), (4, -1), (2.5, 4), (4, 2.5)


def encoding(max_length, d_model):
    """Return the sinusoidal encoding, entry by entry: columns 2i and 2i + 1 share an angle."""
    table = np.empty((max_length, d_model))
    for position, column in np.ndindex(table.shape):
        angle = position / math.pow(10000.0, (column - column % 2) / d_model)
        table[position, column] = math.cos(angle) if column % 2 else math.sin(angle)
    return table


@pytest.mark.criterion("sinusoidal-encoding")
class TestSinusoidalEncoding:
    def test_even_numbers_of_features(self, learner, rng):
        for max_length, d_model in ((int(rng.integers(5, 30)), 2 * int(rng.integers(2, 20))), (60, 6), (1, 2)):
            assert_array(learner.sinusoidal_encoding(max_length, d_model), encoding(max_length, d_model))

    @pytest.mark.edges
    def test_odd_numbers_of_features(self, learner, rng):
        for d_model in (1, 5, 2 * int(rng.integers(3, 20)) + 1):
            result = learner.sinusoidal_encoding(9, d_model)
            assert_array(result, encoding(9, d_model), name=f"result for d_model {d_model}")

    @pytest.mark.refusals
    def test_impossible_sizes_are_refused(self, learner):
        for max_length, d_model in IMPOSSIBLE_SIZES:
            with pytest.raises(REFUSED):
                learner.sinusoidal_encoding(max_length, d_model)


@pytest.mark.criterion("positions-added")
class TestPositionsAdded:
    def test_first_rows_are_added(self, learner, rng):
        seq, longer, d_model = int(rng.integers(2, 6)), int(rng.integers(6, 9)), int(rng.integers(2, 7))
        for shape, max_length in (((3, seq, d_model), longer), ((4, 4, 4), 4)):
            x, pe = rng.normal(size=shape), rng.normal(size=(max_length, shape[2]))
            expected = np.empty(shape)
            for b, t, feature in np.ndindex(shape):
                expected[b, t, feature] = x[b, t, feature] + pe[t, feature]
            with unchanged(x, pe):
                result = learner.add_positional_encoding(x, pe)
            assert_array(result, expected)

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        for x, pe in (
            ((2, 3, 6), (5, 1)), ((2, 3, 6), (1, 6)), ((2, 3, 6), (6,)), ((3, 6), (5, 6)), ((1, 2, 3, 6), (5, 6)),
        ):  # fmt: skip
            with pytest.raises(ValueError):
                learner.add_positional_encoding(rng.normal(size=x), rng.normal(size=pe))


@pytest.mark.criterion("positions-learned")
class TestPositionsLearned:
    @pytest.mark.refusals
    def test_learned_encoding_of_impossible_size_is_refused(self, learner, rng):
        for max_length, d_model in IMPOSSIBLE_SIZES:
            with pytest.raises(REFUSED):
                learner.learned_positional_encoding(max_length, d_model, rng=rng.spawn(1)[0])

    def test_learned_encoding_is_small_random_and_repeatable(self, learner, seed):
        generators = [np.random.default_rng(number) for number in (seed, seed, seed + 1)]
        first, again, other = (learner.learned_positional_encoding(200, 64, rng=rng) for rng in generators)
        assert_shape(first, (200, 64))
        assert_array(again, first, name="result for an equal generator")
        assert_array(np.std(first), 0.02, rtol=0.1, atol=0, name="standard deviation")
        assert_array(np.mean(first), 0.0, atol=0.002, name="mean")
        assert_differ(first, other, shape=(200, 64), name="tables of two different seeds")
        fresh = learner.learned_positional_encoding(200, 64)  # last, since it cannot be replayed
        assert_differ(first, fresh, shape=(200, 64), name="tables of a generator and of none")


def assert_mask(mask, expected):
    """Assert the entries of a mask of booleans or of 0/1 integers."""
    assert_shape(mask, np.shape(expected))
    assert_array(mask == 1, np.asarray(expected) == 1)
    assert_array(mask == 0, np.asarray(expected) == 0, name="where the mask is False (or 0)")


@pytest.mark.criterion("mask-builders")
class TestMaskBuilders:
    def test_causal_mask_of_any_length(self, learner, rng):
        for n in (1, int(rng.integers(5, 12))):
            assert_mask(learner.create_causal_mask(n), [[int(key <= query) for key in range(n)] for query in range(n)])

    def test_padding_mask_of_any_lengths(self, learner, rng):
        for longest in (5, int(rng.integers(6, 9))):  # five sequences: as many as positions, and fewer
            lengths = rng.permutation([0, longest, *rng.integers(1, longest, size=3).tolist()])
            expected = [[int(position < length) for position in range(longest)] for length in lengths]
            with unchanged(lengths):
                assert_mask(learner.create_padding_mask(lengths, lengths.max()), expected)
            assert_mask(learner.create_padding_mask(lengths.tolist(), longest), expected)

    @pytest.mark.dtype
    def test_masks_hold_booleans_or_integers(self, learner):
        causal = learner.create_causal_mask(3)
        assert_shape(causal, (3, 3), name="causal mask")
        assert_equal(causal.dtype.kind in "biu", True, name="whether the causal mask holds booleans or integers")
        padding = learner.create_padding_mask([1], 3)
        assert_shape(padding, (1, 3), name="padding mask")
        assert_equal(padding.dtype.kind in "biu", True, name="whether the padding mask holds booleans or integers")

    @pytest.mark.refusals
    def test_impossible_lengths_and_sizes_are_refused(self, learner):
        for lengths in ([3, -1, 2], [3, 7, 2], [3.0, 1.5, 2.0], [[3, 1, 2]], 3):
            with pytest.raises(ValueError):
                learner.create_padding_mask(np.array(lengths), 6)
        for size in (0, -1, 2.5):
            with pytest.raises(REFUSED):
                learner.create_causal_mask(size)
        for size in (0, -1):
            with pytest.raises(ValueError):
                learner.create_padding_mask(np.array([0]), size)
