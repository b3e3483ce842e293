"""Hidden tests of stage s19: clipped n-gram matches and BLEU.

SACREBLEU holds what sacrebleu 2.6 computes: corpus_bleu(candidates, references, smooth_method="none",
tokenize="none", max_ngram_order=max_n, force=True), over 100.
"""

import pytest

from grader.testing import assert_array, assert_equal
from hidden.s19_encoder_decoder import counts

pytestmark = pytest.mark.values

CANDIDATES = ["the cat sat on the mat today", "a dog barks"]
REFERENCES = [
    ["the cat sat on a mat", "a cat sat on the mat here today"],
    ["a big dog barks loudly", "the dog barks at night"],
]
SACREBLEU = {4: 0.6896662857896068, 2: 0.7433997970995402}


def words(sentences):
    """Return each sentence as a list of words."""
    return [sentence.split() for sentence in sentences]


def draw(rng, sentences=3, vocabulary=4):
    """Return candidates and references of few different ids, so that n-grams repeat; numbers of references differ."""

    def sentence(least, most):
        return [int(token) for token in rng.integers(0, vocabulary, size=rng.integers(least, most))]

    candidates = [sentence(5, 12) for _ in range(sentences)]
    return candidates, [[sentence(4, 14) for _ in range(rng.integers(1, 4))] for _ in candidates]


@pytest.mark.criterion("clipped-matches")
class TestMatches:
    @pytest.mark.parametrize("n", [1, 2, 3, 4])
    def test_any_corpus(self, learner, rng, n):
        for vocabulary in (2, 4):
            candidates, references = draw(rng, vocabulary=vocabulary)
            expected = counts.matches(candidates, references, n)
            assert_equal(list(learner.clipped_matches(candidates, references, n)), expected, name="matches and total")

    def test_references_are_not_pooled(self, learner):
        candidate, answers = words(["the the the"]), [words(["the cat", "the mat", "a the"])]
        assert_equal(list(learner.clipped_matches(candidate, answers, 1)), [1, 3], name="matches and total")

    def test_sentences_are_not_joined(self, learner):
        candidates, references = words(["a b", "c d"]), [words(["a b"]), words(["c d"])]
        assert_equal(list(learner.clipped_matches(candidates, references, 2)), [2, 2], name="matches and total")
        assert_equal(list(learner.clipped_matches(candidates, references, 3)), [0, 0], name="matches and total")

    def test_words_are_not_joined(self, learner):
        candidates, references = [["ab", "c"], ["1", "2"]], [[["a", "bc"]], [["12", "1"]]]
        assert_equal(list(learner.clipped_matches(candidates, references, 2)), [0, 2], name="matches and total")

    @pytest.mark.edges
    def test_empty_candidates(self, learner, rng):
        candidates, references = [[], [3, 4]], [[[3, 4, 5]], [[3, 5], [4]]]
        assert_equal(list(learner.clipped_matches(candidates, references, 1)), [2, 2], name="matches and total")
        assert_equal(list(learner.clipped_matches([], [], 1)), [0, 0], name="matches and total of no candidates")

    @pytest.mark.refusals
    def test_what_does_not_go_together_is_refused(self, learner, rng):
        candidates, references = draw(rng)
        for fewer in (references[:2], [*references, references[0]], [references[0], [], references[2]]):
            with pytest.raises(ValueError):
                learner.clipped_matches(candidates, fewer, 1)
        for n in (0, -1):
            with pytest.raises(ValueError):
                learner.clipped_matches(candidates, references, n)


@pytest.mark.criterion("bleu")
class TestBleu:
    @pytest.mark.parametrize("max_n", [1, 2, 4])
    def test_any_corpus(self, learner, rng, max_n):
        for vocabulary in (2, 3):
            candidates, references = draw(rng, 4, vocabulary)
            expected = counts.score(candidates, references, max_n)
            assert_array(learner.bleu(candidates, references, max_n), expected)

    def test_sacrebleu(self, learner):
        references = [words(answers) for answers in REFERENCES]
        for max_n, expected in SACREBLEU.items():
            assert_array(learner.bleu(words(CANDIDATES), references, max_n), expected)

    def test_four_by_default(self, learner, rng):
        candidates, references = draw(rng, 4, 2)
        assert_array(learner.bleu(candidates, references), counts.score(candidates, references, 4))

    def test_of_two_close_lengths_the_shorter_counts(self, learner):
        references = [words(["a b c d e f", "a b c d"])]
        assert_array(learner.bleu(words(["a b c d e"]), references), 1.0)

    def test_lengths_are_those_of_the_corpus(self, learner, rng):
        short, long = [0, 1, 0, 1, 0], [0, 1] * 5
        candidates, references = [short, long], [[long], [short]]  # too short and too long: alike in sum
        assert_array(learner.bleu(candidates, references), counts.score(candidates, references, 4))

    @pytest.mark.edges
    def test_no_match_of_one_order_gives_zero(self, learner):
        assert_array(learner.bleu(words(["a b x c d"]), [words(["a b y c d"])]), 0.0)
        assert_array(learner.bleu([[]], [[[1, 2]]], 1), 0.0)
        assert_array(learner.bleu(words(["a b"]), [words(["a b"])], 3), 0.0)

    @pytest.mark.refusals
    def test_what_does_not_go_together_is_refused(self, learner, rng):
        candidates, references = draw(rng)
        for fewer in (references[:2], [references[0], [], references[2]]):
            with pytest.raises(ValueError):
                learner.bleu(candidates, fewer)
        for max_n in (0, -1):
            with pytest.raises(ValueError):
                learner.bleu(candidates, references, max_n)
