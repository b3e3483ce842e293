"""Hidden tests of stage s10: embedding tables forward and backward, skip-gram pairs, nearest neighbours."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_gradient, numerical_gradient, plain_array, unchanged
from hidden.s10_tokens_and_embeddings import oracles

pytestmark = pytest.mark.values

NO_IDS = [[0.0, 1.0], [True, False], [0, 5], [-1, 0], [4, 17], [-5, 4]]  # for a table of five rows


@pytest.mark.criterion("embedding-forward")
class TestEmbeddingForward:
    def check(self, learner, rng, shape):
        """Look ids of a shape up in a table of five rows."""
        table, ids = rng.normal(size=(5, 3)), np.asarray(rng.integers(5, size=shape))
        with unchanged(ids, table):
            result = learner.embedding_forward(ids, table)
        assert_array(result, oracles.lookup(ids, table))

    def test_ids_of_any_shape(self, learner, rng):
        for shape in ((4,), (2, 3), (2, 3, 2)):
            self.check(learner, rng, shape)

    @pytest.mark.edges
    def test_one_id_alone_and_none(self, learner, rng):
        for shape in ((), (0,)):
            self.check(learner, rng, shape)

    @pytest.mark.dtype
    def test_every_row_can_be_reached(self, learner, rng):
        table = rng.normal(size=(5, 5)).astype(np.float32)
        for kind in ("int32", "uint8", "int64"):
            ids = rng.permutation(5).astype(kind)
            assert_array(learner.embedding_forward(ids, table), oracles.lookup(ids, table), dtype="float32")

    @pytest.mark.refusals
    def test_what_is_no_id_is_refused(self, learner, rng):
        for ids in NO_IDS:
            with pytest.raises(ValueError):
                learner.embedding_forward(np.array(ids), rng.normal(size=(5, 3)))

    @pytest.mark.refusals
    def test_tables_without_two_axes_are_refused(self, learner, rng):
        for shape in ((5,), (5, 3, 2)):
            with pytest.raises(ValueError):
                learner.embedding_forward(np.array([0, 1]), rng.normal(size=shape))


@pytest.mark.criterion("embedding-backward")
class TestEmbeddingBackward:
    def check(self, learner, rng, shape):
        """Gather gradients of ids of a shape."""
        ids, grad_output = np.asarray(rng.integers(5, size=shape)), rng.normal(size=(*shape, 3))
        with unchanged(grad_output, ids):
            result = learner.embedding_backward(grad_output, ids, 7)
        assert_array(result, oracles.gathered(grad_output, ids, 7), terms=12)

    def test_repeated_ids_add_up(self, learner, rng):
        for shape in ((12,), (3, 4), (2, 3, 2)):
            self.check(learner, rng, shape)

    @pytest.mark.edges
    def test_the_gradient_of_one_id_alone_and_of_none(self, learner, rng):
        for shape in ((), (0,)):
            self.check(learner, rng, shape)

    def test_it_agrees_with_finite_differences(self, learner, rng):
        ids, table, grad_output = rng.integers(4, size=(2, 5)), rng.normal(size=(4, 3)), rng.normal(size=(2, 5, 3))

        def loss(table):
            return float((plain_array(learner.embedding_forward(ids, table)) * grad_output).sum())

        result = learner.embedding_backward(grad_output, ids, 4)
        assert_gradient(result, numerical_gradient(loss, table), name="grad_table")

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        ids, grad_output = rng.integers(4, size=9), rng.normal(size=(9, 3)).astype(np.float32)
        expected = oracles.gathered(grad_output, ids, 4)
        assert_array(learner.embedding_backward(grad_output, ids, 4), expected, rtol=1e-4, dtype="float32")

    @pytest.mark.refusals
    def test_shapes_that_do_not_fit_are_refused(self, learner, rng):
        for grad_shape, shape in (
            ((1, 3), (4,)), ((4, 3), (1,)), ((4,), (4,)), ((2, 4, 3), (4,)), ((4, 3), (2, 4)), ((6, 2), (2, 3)),
            ((3, 2, 4), (2, 3)), ((2, 3, 4), (6,)),
        ):  # fmt: skip
            with pytest.raises(ValueError):
                learner.embedding_backward(rng.normal(size=grad_shape), rng.integers(5, size=shape), 5)

    @pytest.mark.refusals
    def test_ids_outside_of_the_table_are_refused(self, learner, rng):
        for ids in NO_IDS:
            with pytest.raises(ValueError):
                learner.embedding_backward(rng.normal(size=(2, 3)), np.array(ids), 5)


@pytest.mark.criterion("skip-gram-pairs")
class TestSkipGramPairs:
    def test_random_texts_and_windows(self, learner, rng):
        for length, window in ((9, 2), (8, 1), (7, 3), (10, 4), (20, 8)):
            ids = rng.integers(100, 200, size=length)
            with unchanged(ids):
                result = learner.skip_gram_pairs(ids, window)
            assert_array(result, np.array(oracles.skip_gram_pairs(ids, window)))

    def test_equal_ids_are_neighbours_too(self, learner, rng):
        ids = rng.integers(2, size=12)
        assert_array(learner.skip_gram_pairs(ids, 2), np.array(oracles.skip_gram_pairs(ids, 2)))

    @pytest.mark.edges
    def test_a_window_wider_than_the_text(self, learner, rng):
        ids = rng.integers(100, 200, size=4)
        for window in (3, 4, 9):
            assert_array(learner.skip_gram_pairs(ids, window), np.array(oracles.skip_gram_pairs(ids, window)))

    @pytest.mark.edges
    def test_texts_without_a_pair(self, learner, rng):
        for size in (0, 1):
            result = learner.skip_gram_pairs(rng.integers(9, size=size), 2)
            assert_array(result, np.zeros((0, 2)))

    @pytest.mark.dtype
    def test_pairs_are_integers_also_where_there_are_none(self, learner, rng):
        for size in (7, 1, 0):
            ids = rng.integers(9, size=size)
            expected = np.array(oracles.skip_gram_pairs(ids, 2)).reshape(-1, 2)
            assert_array(learner.skip_gram_pairs(ids, 2), expected, dtype="int64")

    @pytest.mark.refusals
    def test_what_is_no_text_or_no_window_is_refused(self, learner, rng):
        for window in (0, -1):
            with pytest.raises(ValueError):
                learner.skip_gram_pairs(rng.integers(9, size=5), window)
        for shape in ((3, 4), (1, 4)):
            with pytest.raises(ValueError):
                learner.skip_gram_pairs(rng.integers(9, size=shape), 2)


@pytest.mark.criterion("nearest-neighbors")
class TestNearestNeighbors:
    def check(self, learner, table, query, k, **options):
        """Compare the ids exactly and the similarities within rounding."""
        with unchanged(table, query):
            result = learner.nearest_neighbors(table, query, k)
        ids, similarities = unpack_neighbors(result)
        expected_ids, expected = oracles.neighbors(table, query, k)
        assert_array(ids, np.array(expected_ids), name="ids")
        assert_array(similarities, np.array(expected), name="similarities", **options)

    def test_any_number_of_neighbours(self, learner, rng):
        for rows, dim in ((6, 3), (25, 7), (4, 4)):
            table, query = oracles.draw_table(rng, rows, dim)
            for k in (1, 3, rows):
                self.check(learner, table, query, k, terms=40)

    @pytest.mark.edges
    def test_vectors_of_any_length(self, learner, rng):
        for scale in (1e-6, 1e6, 1e-13, 1e-100):
            table, query = oracles.draw_table(rng, 9, 4)
            self.check(learner, scale * table, query, 9, terms=40)
            self.check(learner, table, scale * query, 9, terms=40)

    @pytest.mark.edges
    def test_equal_similarities_and_zero_vectors(self, learner, rng):
        """Each row has one entry, a power of two, so that all ways to compute a similarity give equal numbers."""
        table = np.zeros((60, 3))
        table[np.arange(60), rng.integers(3, size=60)] = rng.choice([-2.0, -1.0, 0.0, 0.5, 1.0, 4.0], size=60)
        table[rng.permutation(60)[:6]] = 0.0
        for query in (np.array([2.0, 0.0, 0.0]), np.array([0.0, 0.0, -0.5]), np.zeros(3)):
            self.check(learner, table, query, 60)

    @pytest.mark.dtype
    def test_single_precision_stays(self, learner, rng):
        table, query = (array.astype(np.float32) for array in oracles.draw_table(rng, 9, 4))
        _, similarities = unpack_neighbors(learner.nearest_neighbors(table, query, 3))
        assert_array(similarities, np.array(oracles.neighbors(table, query, 3)[1]), rtol=1e-4, dtype="float32")

    @pytest.mark.dtype
    def test_ids_are_integers(self, learner, rng):
        table, query = oracles.draw_table(rng, 9, 4)
        ids, _ = unpack_neighbors(learner.nearest_neighbors(table, query, 3))
        assert_array(ids, np.array(oracles.neighbors(table, query, 3)[0]), name="ids", dtype="int64")

    @pytest.mark.dtype
    def test_similarities_of_whole_tables_have_fractions(self, learner, rng):
        table, query = rng.permutation(np.arange(-18, 18)).reshape(9, 4), np.array([3, -1, 2, 5])
        _, similarities = unpack_neighbors(learner.nearest_neighbors(table, query, 3))
        assert_array(similarities, np.array(oracles.neighbors(table.astype(float), query.astype(float), 3)[1]))

    @pytest.mark.refusals
    def test_what_does_not_fit_is_refused(self, learner, rng):
        for k in (0, -1, 6):
            with pytest.raises(ValueError):
                learner.nearest_neighbors(rng.normal(size=(5, 3)), rng.normal(size=3), k)
        for table, query in (((5, 3), (4,)), ((5, 3), (1,)), ((5, 3), (3, 5)), ((3, 3, 3), (3, 3)), ((5, 3), (1, 3))):
            with pytest.raises(ValueError):
                learner.nearest_neighbors(rng.normal(size=table), rng.normal(size=query), 2)


def unpack_neighbors(result):
    """Return the ids and the similarities."""
    return oracles.unpack(result, "ids", "similarities")
