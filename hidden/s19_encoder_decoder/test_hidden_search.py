"""Hidden tests of stage s19: the length penalty and beam search."""

import itertools
import math

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal, plain_array
from hidden.s19_encoder_decoder import counts

pytestmark = pytest.mark.values

START, END = 0, 1


@pytest.mark.criterion("length-penalty")
class TestLengthPenalty:
    def test_any_length_and_alpha(self, learner, rng):
        for length in (0, 1, 2, 5, 17, int(rng.integers(20, 200))):
            for alpha in (0.0, 0.6, 1.0, float(rng.uniform(0.1, 2))):
                assert_array(learner.length_penalty(length, alpha), counts.penalty(length, alpha))

    def test_arrays(self, learner, rng):
        lengths, alpha = rng.integers(0, 50, size=(2, 3)), float(rng.uniform(0.1, 2))
        expected = [[counts.penalty(length, alpha) for length in row] for row in lengths.tolist()]
        assert_array(learner.length_penalty(lengths, alpha), expected)

    def test_six_tenths_by_default(self, learner, rng):
        length = int(rng.integers(2, 50))
        assert_array(learner.length_penalty(length), counts.penalty(length, 0.6))

    @pytest.mark.refusals
    def test_negative_lengths_are_refused(self, learner):
        for length in (-1, -6, np.array([3, -1, 2])):
            with pytest.raises(ValueError):
                learner.length_penalty(length)


class Language:
    """Log-probabilities of the next token, drawn anew for each prefix; it counts what it is asked."""

    def __init__(self, rng, size, ending=1.0, spread=1.5):
        self.seed, self.size = int(rng.integers(2**31)), size
        self.ending, self.spread = ending, spread
        self.asked, self.known = [], {}

    def after(self, prefix):
        """Return them for a prefix that begins with START, the same each time that it is asked."""
        tokens = tuple(int(token) for token in prefix)
        if tokens not in self.known:
            rng = np.random.default_rng([self.seed, *tokens])
            weights = np.exp(self.spread * rng.normal(size=self.size))
            weights[END] *= self.ending
            self.known[tokens] = np.log(weights / weights.sum())
        return self.known[tokens].copy()

    def ask(self, prefix):
        """Return them for a prefix as beam_search gives it, an array."""
        self.asked.append([int(token) for token in np.asarray(prefix)])
        return self.after(prefix)


def agreed(rng, size, beam_size, max_length, alpha, ending=1.0, spread=1.5):
    """Return a language whose best answer is the same by both kinds of beam search, and that answer with its score."""
    while True:
        language = Language(rng, size, ending, spread)
        options = (language.after, START, END, beam_size, max_length, alpha)
        (tokens, score), (others, _) = counts.search(*options), counts.search(*options, keeps_places=True)
        if tokens == others:
            return language, tokens, score


def check(learner, language, tokens, score, **options):
    """Compare an answer and its score with what they should be."""
    result = learner.beam_search(language.ask, START, END, **options)
    assert_equal([int(plain_array(token)) for token in result[0]], tokens, name="tokens")
    assert_array(result[1], score, name="score")


@pytest.mark.criterion("beam-search")
class TestBeamSearch:
    @pytest.mark.edges
    def test_what_is_asked_is_an_array_of_ids(self, learner, rng):
        language, asked = Language(rng, 5), []

        def ask(prefix):
            asked.append((isinstance(prefix, np.ndarray), np.ndim(prefix), np.asarray(prefix).dtype.kind in "iu"))
            return language.after(np.ravel(prefix))

        learner.beam_search(ask, START, END, beam_size=2, max_length=3)
        assert_equal(sorted(set(asked)), [(True, 1, True)], name="array, axes, integers of the prefixes")

    @pytest.mark.parametrize("beam_size", [1, 2, 3])
    def test_any_language(self, learner, rng, beam_size):
        for alpha in (0.0, 0.6, 1.5):
            language, tokens, score = agreed(rng, 5, beam_size, 6, alpha, ending=2.0)
            check(learner, language, tokens, score, beam_size=beam_size, max_length=6, alpha=alpha)

    def test_a_wide_beam_finds_the_best_of_all_answers(self, learner, rng):
        for alpha in (0.0, 1.0):
            language = Language(rng, 4)
            tokens, score = counts.every_answer(language.after, START, END, 3, alpha)
            check(learner, language, tokens, score, beam_size=100, max_length=3, alpha=alpha)

    def test_greedy_search_takes_what_is_best_next(self, learner, rng):
        language, prefix = Language(rng, 6, ending=0.3), [START]
        while len(prefix) < 8 and prefix[-1] != END:
            prefix.append(int(language.after(prefix).argmax()))
        expected = [token for token in prefix[1:] if token != END]
        tokens, _ = learner.beam_search(language.ask, START, END, beam_size=1, max_length=7, alpha=0.0)
        assert_equal([int(plain_array(token)) for token in tokens], expected, name="tokens")

    def test_answers_that_the_penalty_decides(self, learner, rng):
        found = [[], []]
        while len(found[0]) == len(found[1]):
            language = Language(rng, 4, ending=1.5)
            best = {alpha: counts.every_answer(language.after, START, END, 4, alpha) for alpha in (0.0, 2.0)}
            found = [tokens for tokens, _ in best.values()]
        for alpha, (tokens, score) in best.items():
            check(learner, language, tokens, score, beam_size=200, max_length=4, alpha=alpha)

    def test_prefixes_begin_with_the_start_and_have_not_ended(self, learner, rng):
        language, tokens, score = agreed(rng, 5, 3, 5, 0.6)
        check(learner, language, tokens, score, beam_size=3, max_length=5)
        assert_equal({prefix[0] for prefix in language.asked}, {START}, name="first tokens of prefixes")
        ended = [prefix for prefix in language.asked if END in prefix[1:]]
        assert_equal(ended, [], name="prefixes that had ended and were extended")
        longest = max(map(len, language.asked))
        assert_equal(longest <= 5, True, name="whether at most 5 tokens were asked for")
        at_once = [len(list(group)) for _, group in itertools.groupby(sorted(map(len, language.asked)))]
        assert_equal(max(at_once) <= 3, True, name="whether at most 3 prefixes of one length were extended")

    def test_other_ids(self, learner, rng):
        language = Language(rng, 5)
        swapped = [4, 3, 2, 1, 0]  # 4 begins an answer and 3 ends it
        tokens, score = counts.every_answer(language.after, START, END, 3, 0.6)
        result = learner.beam_search(
            lambda prefix: language.after([swapped[int(token)] for token in prefix])[swapped], 4, 3, 150, 3, 0.6
        )
        assert_equal([int(token) for token in result[0]], [swapped[token] for token in tokens], name="tokens")
        assert_array(result[1], score, name="score")

    def test_defaults(self, learner):
        sure = np.log([0.05, 0.05, 0.9])  # never likely to end: after max_length tokens it counts as it is
        tokens, score = learner.beam_search(lambda prefix: sure, START, END)
        assert_equal(len(tokens), 20, name="number of tokens by default")
        assert_array(score, 20 * math.log(0.9) / counts.penalty(20, 0.6), name="score")

    def test_four_prefixes_by_default(self, learner, rng):
        for other in (3, 5):
            found = agreed(rng, 5, 4, 6, 0.6, spread=0.7)  # of tokens that differ little one more or less decides
            while counts.search(found[0].after, START, END, other, 6, 0.6)[0] == found[1]:
                found = agreed(rng, 5, 4, 6, 0.6, spread=0.7)
            check(learner, *found, max_length=6)

    @pytest.mark.edges
    def test_impossible_tokens_are_never_chosen(self, learner, rng):
        language = Language(rng, 4)

        def only_two(prefix):
            return np.where(np.arange(4) == (2 if len(prefix) < 3 else END), language.after(prefix), -np.inf)

        tokens, score = learner.beam_search(only_two, START, END, beam_size=3, max_length=5, alpha=1.0)
        total = sum(float(only_two(prefix).max()) for prefix in ([START], [START, 2], [START, 2, 2]))
        assert_equal([int(plain_array(token)) for token in tokens], [2, 2], name="tokens")
        assert_array(score, total / counts.penalty(3, 1.0), name="score")

    @pytest.mark.edges
    def test_answers_below_every_number_that_stands_for_minus_infinity(self, learner, rng):
        language = Language(rng, 4)

        def unlikely(prefix):
            return 1e100 * language.after([int(token) for token in prefix])

        expected, score = counts.every_answer(unlikely, START, END, 3, 0.6)
        tokens, found = learner.beam_search(unlikely, START, END, beam_size=100, max_length=3, alpha=0.6)
        assert_equal([int(plain_array(token)) for token in tokens], expected, name="tokens")
        assert_array(found, score, name="score")

    @pytest.mark.edges
    def test_max_length_cuts_off(self, learner, rng):
        for max_length in (1, 2):
            language, tokens, score = agreed(rng, 5, 2, max_length, 0.6, ending=0.01)
            check(learner, language, tokens, score, beam_size=2, max_length=max_length)

    @pytest.mark.refusals
    def test_sizes_below_one_are_refused(self, learner, rng):
        for options in ({"beam_size": 0}, {"max_length": 0}, {"beam_size": -1}, {"max_length": -1}):
            with pytest.raises(ValueError):
                learner.beam_search(Language(rng, 4).ask, START, END, **options)

    @pytest.mark.refusals
    def test_a_dead_end_is_refused(self, learner):
        with pytest.raises(ValueError):
            learner.beam_search(lambda prefix: np.full(4, -np.inf), START, END)
