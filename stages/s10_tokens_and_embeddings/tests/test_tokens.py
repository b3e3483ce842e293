"""Public tests of stage s10: small examples with the numbers written out."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, assert_gradient, plain_array

pytestmark = pytest.mark.values


@pytest.fixture
def tokens():
    """A text of ten words: "the" three times, "cat" and "dog" twice, the others once."""
    return ["the", "dog", "saw", "the", "cat", "and", "the", "cat", "saw_", "dog"]


@pytest.fixture
def vocabulary():
    """Five tokens, neither in the order of their ids nor with "<unk>" in front."""
    return {"cat": 3, "<unk>": 2, "the": 1, "saw": 4, "dog": 0}


@pytest.fixture
def table():
    """Four vectors of two features."""
    return np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])


def unpack(result, *names):
    """Return the values of a tuple; a failure that names them if it is none or has another length."""
    if not isinstance(result, (tuple, list)) or len(result) != len(names):
        got = f"{len(result)} values" if isinstance(result, (tuple, list)) else f"one {type(result).__name__}"
        raise AssertionError(f"expected the {len(names)} values ({', '.join(names)}), got {got}")
    return result


@pytest.mark.criterion("build-vocabulary")
class TestBuildVocabulary:
    def test_frequent_tokens_come_first_and_equals_by_their_letters(self, learner, tokens):
        expected = {"<unk>": 0, "the": 1, "cat": 2, "dog": 3, "and": 4, "saw": 5, "saw_": 6}
        assert_equal(learner.build_vocabulary(tokens), expected)

    def test_tokens_below_the_least_count_are_left_out(self, learner, tokens):
        assert_equal(learner.build_vocabulary(tokens, min_count=2), {"<unk>": 0, "the": 1, "cat": 2, "dog": 3})

    @pytest.mark.edges
    def test_an_empty_text_knows_unk_only(self, learner):
        assert_equal(learner.build_vocabulary([]), {"<unk>": 0})

    @pytest.mark.refusals
    def test_a_least_count_of_zero_is_refused(self, learner, tokens):
        with pytest.raises(ValueError):
            learner.build_vocabulary(tokens, min_count=0)


@pytest.mark.criterion("encode")
class TestEncode:
    def test_unknown_tokens_get_the_id_of_unk(self, learner, vocabulary):
        ids = learner.encode(["the", "cow", "saw", "the", "dog"], vocabulary)
        assert_array(ids, np.array([1, 2, 4, 1, 0]))

    @pytest.mark.refusals
    def test_an_unknown_token_without_unk_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.encode(["the", "cow"], {"the": 0, "cat": 1})


@pytest.mark.criterion("decode")
class TestDecode:
    def test_ids_become_tokens(self, learner, vocabulary):
        assert_equal(learner.decode([1, 2, 4, 1, 0], vocabulary), ["the", "<unk>", "saw", "the", "dog"])

    @pytest.mark.refusals
    def test_ids_of_no_token_are_refused(self, learner, vocabulary):
        for wrong in (5, -1):
            with pytest.raises(ValueError):
                learner.decode([1, wrong], vocabulary)


@pytest.mark.criterion("byte-pair-merges")
class TestBytePairMerges:
    def test_the_most_frequent_pair_is_merged_again_and_again(self, learner):
        merges = learner.byte_pair_merges("aaabdaaabac", 3)  # a is 97, b is 98
        assert_equal(merges, [(97, 97), (97, 98), (256, 257)])

    def test_of_equally_frequent_pairs_the_smallest_is_taken(self, learner):
        text = "mz mz_bk-bk+pa=pa/xs:xs;cz.cz"  # b is 98, k is 107
        assert_equal(learner.byte_pair_merges(text, 1), [(98, 107)])

    def test_a_pair_at_the_end_is_replaced_too(self, learner):
        assert_equal(learner.byte_pair_merges("abab-abab", 5), [(97, 98), (256, 256)])

    def test_characters_are_taken_as_bytes(self, learner):
        assert_equal(learner.byte_pair_merges("\u00e4\u00e4", 5), [(195, 164)])

    def test_pairs_that_occur_once_are_not_merged(self, learner):
        assert_equal(learner.byte_pair_merges("abcd", 2), [])


@pytest.mark.criterion("bpe-encode")
class TestBpeEncode:
    def test_merges_are_applied_in_their_order(self, learner):
        assert_array(learner.bpe_encode("abc", [(98, 99), (97, 98)]), np.array([97, 256]))
        assert_array(learner.bpe_encode("abc", [(97, 98), (98, 99)]), np.array([256, 99]))

    def test_a_run_is_merged_from_the_left(self, learner):
        assert_array(learner.bpe_encode("aaaaa", [(97, 97)]), np.array([256, 256, 97]))

    def test_the_example_of_the_lesson(self, learner):
        ids = learner.bpe_encode("aaabdaaabac", [(97, 97), (97, 98), (256, 257)])
        assert_array(ids, np.array([258, 100, 258, 97, 99]))


@pytest.mark.criterion("bpe-decode")
class TestBpeDecode:
    def test_merged_ids_are_spelled_out(self, learner):
        text = learner.bpe_decode([258, 100, 258, 97, 99], [(97, 97), (97, 98), (256, 257)])
        assert_equal(text, "aaabdaaabac")

    def test_a_character_may_be_spread_over_ids(self, learner):
        assert_equal(learner.bpe_decode([195, 164, 33], []), "\u00e4!")

    @pytest.mark.edges
    def test_bytes_that_are_no_text_are_replaced(self, learner):
        assert_equal(learner.bpe_decode([97, 195, 98], []), "a\ufffdb")

    @pytest.mark.refusals
    def test_ids_beyond_the_merges_are_refused(self, learner):
        with pytest.raises(ValueError):
            learner.bpe_decode([257], [(97, 97)])


@pytest.mark.criterion("embedding-forward")
class TestEmbeddingForward:
    def test_each_id_gives_its_row(self, learner, table):
        assert_array(learner.embedding_forward(np.array([2, 0, 2]), table), [[5.0, 6.0], [1.0, 2.0], [5.0, 6.0]])

    def test_a_batch_of_texts_keeps_its_shape(self, learner, table):
        result = learner.embedding_forward(np.array([[3, 1], [0, 0]]), table)
        assert_array(result, [[[7.0, 8.0], [3.0, 4.0]], [[1.0, 2.0], [1.0, 2.0]]])

    @pytest.mark.refusals
    def test_ids_outside_of_the_table_are_refused(self, learner):
        table = np.arange(12.0).reshape(2, 6)
        for wrong in (2, -1):
            with pytest.raises(ValueError):
                learner.embedding_forward(np.array([0, wrong]), table)


@pytest.mark.criterion("embedding-backward")
class TestEmbeddingBackward:
    def test_repeated_ids_add_up_and_absent_ones_get_zero(self, learner):
        grad_output = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
        result = learner.embedding_backward(grad_output, np.array([2, 0, 2]), 4)
        assert_array(result, [[3.0, 4.0], [0.0, 0.0], [6.0, 8.0], [0.0, 0.0]])

    def test_the_gradients_of_a_batch_are_gathered_too(self, learner):
        grad_output = np.array([[[1.0], [2.0]], [[4.0], [8.0]]])
        assert_array(learner.embedding_backward(grad_output, np.array([[0, 1], [1, 1]]), 2), [[1.0], [14.0]])

    @pytest.mark.refusals
    def test_a_gradient_of_another_shape_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.embedding_backward(np.ones((1, 2)), np.array([2, 0, 2]), 4)


@pytest.mark.criterion("skip-gram-pairs")
class TestSkipGramPairs:
    def test_neighbours_on_both_sides(self, learner):
        pairs = learner.skip_gram_pairs(np.array([7, 8, 9, 6]), 2)
        expected = [[7, 8], [7, 9], [8, 7], [8, 9], [8, 6], [9, 7], [9, 8], [9, 6], [6, 8], [6, 9]]
        assert_array(pairs, np.array(expected))

    def test_equal_ids_are_neighbours(self, learner):
        pairs = learner.skip_gram_pairs(np.array([5, 5, 6]), 2)
        assert_array(pairs, np.array([[5, 5], [5, 6], [5, 5], [5, 6], [6, 5], [6, 5]]))

    @pytest.mark.refusals
    def test_a_window_of_zero_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.skip_gram_pairs(np.array([7, 8, 9]), 0)


@pytest.fixture
def batch():
    """Two pairs with two negatives each. Scores of the first: 2 real, 1 and -1; of the second: 0 real, 3 and 3."""
    center_table = np.array([[1.0, 0.0], [0.0, 1.0], [9.0, 9.0], [5.0, 5.0]])
    context_table = np.array([[2.0, 0.0], [1.0, 3.0], [-1.0, 7.0], [8.0, 8.0]])
    return center_table, context_table, np.array([0, 1]), np.array([0, 0]), np.array([[1, 2], [1, 1]])


@pytest.mark.criterion("negative-sampling-loss")
class TestLoss:
    def test_real_pairs_should_score_high_and_negatives_low(self, learner, batch):
        loss, _ = unpack(learner.negative_sampling_loss(*batch), "loss", "grads")
        assert_array(loss, 4.2718866349, name="loss")  # (0.1269 + 1.3133 + 0.3133 + 0.6931 + 2 * 3.0486) / 2

    def test_a_score_of_zero_costs_the_logarithm_of_two(self, learner):
        zeros, one = np.zeros((3, 2)), np.array([1])
        loss, _ = unpack(learner.negative_sampling_loss(zeros, zeros, one, one, np.array([[0, 2, 0]])), "loss", "grads")
        assert_array(loss, 4 * np.log(2), name="loss")

    @pytest.mark.refusals
    def test_negatives_for_another_number_of_pairs_are_refused(self, learner, batch):
        with pytest.raises(ValueError):
            learner.negative_sampling_loss(*batch[:4], np.array([[1, 2]]))


@pytest.mark.criterion("negative-sampling-gradients")
class TestGradients:
    def test_all_that_concerns_a_row_adds_up(self, learner, batch):
        _, grads = unpack(learner.negative_sampling_loss(*batch), "loss", "grads")
        expected = [[0.11185566, 2.03788284], [0.45257413, 2.85772238], [0.0, 0.0], [0.0, 0.0]]
        assert_gradient(grads["center_table"], expected, name="grads['center_table']")
        expected = [[-0.05960146, -0.25], [0.36552929, 0.95257413], [0.13447071, 0.0], [0.0, 0.0]]
        assert_gradient(grads["context_table"], expected, name="grads['context_table']")


@pytest.mark.criterion("negative-sampling-stable")
@pytest.mark.edges
class TestFarOut:
    def test_scores_of_a_thousand(self, learner):
        center_table, context_table, zero = np.array([[1000.0], [0.0]]), np.array([[-1.0], [1.0]]), np.array([0])
        result = learner.negative_sampling_loss(center_table, context_table, zero, zero, np.array([[1]]))
        loss, grads = unpack(result, "loss", "grads")
        assert_array(loss, 2000.0, name="loss")
        assert_array(grads["center_table"], [[2.0], [0.0]], name="grads['center_table']")
        assert_array(grads["context_table"], [[-1000.0], [1000.0]], name="grads['context_table']")

    def test_a_small_loss_is_not_zero(self, learner):
        table, zero, none = np.array([[8.0]]), np.array([0]), np.zeros((1, 0), dtype=int)  # the score is 64
        loss, grads = unpack(learner.negative_sampling_loss(table, table, zero, zero, none), "loss", "grads")
        assert_array(loss, 1.6038108905e-28, name="loss", rtol=1e-8)
        assert_array(grads["center_table"], [[-1.2830487124e-27]], name="grads['center_table']", rtol=1e-8)


@pytest.mark.criterion("nearest-neighbors")
class TestNearestNeighbors:
    def test_direction_counts_and_length_does_not(self, learner):
        table = np.array([[0.0, 50.0], [3.0, 4.0], [1.0, 0.0], [-2.0, 0.0]])
        ids, similarities = unpack(learner.nearest_neighbors(table, np.array([2.0, 0.0]), 3), "ids", "similarities")
        assert_array(ids, np.array([2, 1, 0]), name="ids")
        assert_array(similarities, [1.0, 0.6, 0.0], name="similarities")

    @pytest.mark.edges
    def test_equal_ones_by_id_and_a_zero_vector_is_similar_to_none(self, learner):
        table = np.array([[0.0, 0.0], [4.0, 0.0], [-1.0, 0.0], [2.0, 0.0]])
        ids, similarities = unpack(learner.nearest_neighbors(table, np.array([1.0, 0.0]), 4), "ids", "similarities")
        assert_array(ids, np.array([1, 3, 0, 2]), name="ids")
        assert_array(similarities, [1.0, 1.0, 0.0, -1.0], name="similarities")

    @pytest.mark.refusals
    def test_more_neighbours_than_rows_are_refused(self, learner, table):
        with pytest.raises(ValueError):
            learner.nearest_neighbors(table, np.array([1.0, 0.0]), 5)


@pytest.mark.criterion("word-vectors")
def test_words_of_one_kind_find_each_other(learner):
    kinds = [["ant", "bat", "cow", "dog"], ["blue", "gold", "pink", "red"], ["five", "four", "one", "two"]]
    vocabulary = learner.build_vocabulary([word for kind in kinds for word in 3 * kind])  # ids 1 to 12, "<unk>" is 0
    found = [learner.skip_gram_pairs(learner.encode(3 * kind, vocabulary), 4) for kind in kinds]
    pairs = np.concatenate([plain_array(each) for each in found])
    negatives = 1 + (np.arange(len(pairs))[:, None] + np.array([0, 4, 8])) % 12
    center_table, context_table = 0.1 * np.random.default_rng(0).normal(size=(13, 8)), np.zeros((13, 8))
    for _ in range(60):
        result = learner.negative_sampling_loss(center_table, context_table, pairs[:, 0], pairs[:, 1], negatives)
        _, grads = unpack(result, "loss", "grads")
        center_table = center_table - 4.0 * grads["center_table"]
        context_table = context_table - 4.0 * grads["context_table"]
    for kind in kinds:
        for word in kind:
            query = center_table[vocabulary[word]]
            ids, _ = unpack(learner.nearest_neighbors(center_table, query, 4), "ids", "similarities")
            assert_equal(sorted(learner.decode(ids, vocabulary)), kind, name=f"the four words nearest to {word}")
