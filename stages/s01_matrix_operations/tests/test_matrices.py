"""Public tests of stage s01: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal

pytestmark = pytest.mark.values

CAT = np.array([0.0, 1.0, 1.0, 0.0, 0.5, 0.0])
SAT = np.array([0.0, 0.0, 0.5, 1.0, 1.0, 0.5])
DOWN = np.array([0.5, 0.0, 0.0, 0.5, 1.0, 1.0])


@pytest.mark.criterion("dot-product")
class TestDotProduct:
    def test_three_entries(self, learner):
        result = learner.dot_product(np.array([1.0, 2.0, 3.0]), np.array([4.0, -5.0, 6.0]))
        assert_array(result, 12.0)  # 4 - 10 + 18

    def test_perpendicular_vectors_give_zero(self, learner):
        assert_array(learner.dot_product(np.array([2.0, 1.0]), np.array([-1.0, 2.0])), 0.0)

    @pytest.mark.refusals
    def test_different_lengths_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.dot_product(np.array([1.0, 2.0, 3.0]), np.array([4.0]))


@pytest.mark.criterion("outer-product")
class TestOuterProduct:
    def test_three_rows_and_two_columns(self, learner):
        result = learner.outer_product(np.array([1.0, 2.0, 3.0]), np.array([10.0, 100.0]))
        assert_array(result, np.array([[10.0, 100.0], [20.0, 200.0], [30.0, 300.0]]))

    def test_rows_follow_the_first_vector(self, learner):
        result = learner.outer_product(np.array([1.0, 0.0]), np.array([5.0, 7.0]))
        assert_array(result, np.array([[5.0, 7.0], [0.0, 0.0]]))


@pytest.mark.criterion("vector-norm")
class TestVectorNorm:
    def test_euclidean_length_is_the_default(self, learner):
        assert_array(learner.vector_norm(np.array([3.0, -4.0])), 5.0)

    def test_one_norm_adds_absolute_values(self, learner):
        assert_array(learner.vector_norm(np.array([3.0, -4.0]), 1), 7.0)

    def test_infinity_norm_is_the_largest_absolute_value(self, learner):
        assert_array(learner.vector_norm(np.array([3.0, -4.0]), np.inf), 4.0)

    @pytest.mark.refusals
    def test_another_p_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.vector_norm(np.array([3.0, -4.0]), 3)


@pytest.mark.criterion("cosine-similarity")
class TestCosineSimilarity:
    def test_two_vectors_of_length_five(self, learner):
        assert_array(learner.cosine_similarity(np.array([3.0, 4.0]), np.array([4.0, 3.0])), 0.96)

    def test_words_of_one_sentence(self, learner):
        assert_array(learner.cosine_similarity(SAT, DOWN), 0.8)  # 2 / (sqrt 2.5 * sqrt 2.5)
        assert_array(learner.cosine_similarity(CAT, SAT), 0.4216370213557839)  # 1 / (1.5 * sqrt 2.5)

    def test_opposite_directions(self, learner):
        assert_array(learner.cosine_similarity(np.array([1.0, 2.0]), np.array([-3.0, -6.0])), -1.0)

    @pytest.mark.edges
    def test_zero_vector_gives_zero(self, learner):
        assert_array(learner.cosine_similarity(np.array([0.0, 0.0]), np.array([1.0, 2.0])), 0.0)


@pytest.mark.criterion("matmul")
class TestMatmul:
    def test_square_matrices(self, learner):
        result = learner.matmul(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([[5.0, 6.0], [7.0, 8.0]]))
        assert_array(result, np.array([[19.0, 22.0], [43.0, 50.0]]))

    def test_query_against_three_keys(self, learner):
        keys_transposed = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
        assert_array(learner.matmul(np.array([[1.0, 0.0]]), keys_transposed), np.array([[1.0, 0.0, 0.5]]))

    @pytest.mark.refusals
    def test_inner_sizes_that_differ_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.matmul(np.ones((2, 3)), np.ones((4, 2)))


@pytest.mark.criterion("batched-matmul")
class TestBatchedMatmul:
    def test_each_matrix_meets_its_partner(self, learner):
        A = np.array([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 1.0], [1.0, 0.0]]])
        B = np.array([[[5.0, 6.0], [7.0, 8.0]], [[1.0, 2.0], [3.0, 4.0]]])
        expected = np.array([[[19.0, 22.0], [43.0, 50.0]], [[3.0, 4.0], [1.0, 2.0]]])
        assert_array(learner.batched_matmul(A, B), expected)

    def test_one_matrix_serves_the_whole_stack(self, learner):
        A = np.array([[[1.0, 2.0]], [[3.0, 4.0]], [[5.0, 6.0]]])
        B = np.array([[1.0], [10.0]])
        assert_array(learner.batched_matmul(A, B), np.array([[[21.0]], [[43.0]], [[65.0]]]))


@pytest.mark.criterion("swap-last-axes")
class TestSwapLastAxes:
    def test_matrix(self, learner):
        result = learner.swap_last_axes(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        assert_array(result, np.array([[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]))

    def test_stack_keeps_its_first_axis(self, learner):
        stack = np.array([[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[7.0, 8.0, 9.0], [10.0, 11.0, 12.0]]])
        expected = np.array([[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]], [[7.0, 10.0], [8.0, 11.0], [9.0, 12.0]]])
        assert_array(learner.swap_last_axes(stack), expected)


@pytest.mark.criterion("trace")
class TestTrace:
    def test_main_diagonal(self, learner):
        assert_array(learner.trace(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, -2.0]])), 4.0)

    @pytest.mark.refusals
    def test_matrix_that_is_not_square_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.trace(np.ones((2, 3)))


@pytest.mark.criterion("frobenius-norm")
class TestFrobeniusNorm:
    def test_square_matrix(self, learner):
        assert_array(learner.frobenius_norm(np.array([[1.0, 2.0], [2.0, 4.0]])), 5.0)

    def test_single_row_with_a_negative_entry(self, learner):
        assert_array(learner.frobenius_norm(np.array([[2.0, -3.0, 6.0]])), 7.0)


@pytest.mark.criterion("broadcast-shape")
class TestBroadcastShape:
    def test_ones_are_stretched_on_both_sides(self, learner):
        assert_equal(learner.broadcast_shape((8, 1, 6), (7, 1)), (8, 7, 6))

    def test_scalar_shape_goes_with_everything(self, learner):
        assert_equal(learner.broadcast_shape((), (2, 3)), (2, 3))

    @pytest.mark.refusals
    def test_sizes_that_differ_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.broadcast_shape((2, 3), (2, 4))


@pytest.mark.criterion("pairwise-distances")
class TestPairwiseSquaredDistances:
    def test_two_points_against_three(self, learner):
        X = np.array([[0.0, 0.0], [3.0, 4.0]])
        Y = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 1.0]])
        assert_array(learner.pairwise_squared_distances(X, Y), np.array([[0.0, 9.0, 1.0], [25.0, 16.0, 18.0]]))

    def test_sign_of_the_coordinates_counts(self, learner):
        result = learner.pairwise_squared_distances(np.array([[1.0], [-1.0]]), np.array([[2.0], [-3.0]]))
        assert_array(result, np.array([[1.0, 16.0], [9.0, 4.0]]))


@pytest.mark.criterion("one-hot")
class TestOneHot:
    def test_two_indices(self, learner):
        assert_array(learner.one_hot(np.array([2, 0]), 3), np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]))

    def test_depth_may_exceed_the_largest_index(self, learner):
        assert_array(learner.one_hot(np.array([1]), 4), np.array([[0.0, 1.0, 0.0, 0.0]]))

    @pytest.mark.refusals
    def test_index_outside_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.one_hot(np.array([0, 3]), 3)
