"""Hidden tests of stage s10: vocabularies and byte pair encoding."""

import numpy as np
import pytest

from grader.testing import assert_array, assert_equal
from hidden.s10_tokens_and_embeddings import oracles

pytestmark = pytest.mark.values


@pytest.mark.criterion("build-vocabulary")
class TestBuildVocabulary:
    def test_ties_are_ordered_by_the_token(self, learner, rng):
        for counts in ((5, 3, 3, 2, 2, 2, 1, 1, 1), (2,) * 9, (9, 8, 7, 6, 5, 4, 3, 2, 1)):
            tokens = oracles.draw_tokens(rng, counts)
            assert_equal(learner.build_vocabulary(tokens), oracles.vocabulary(tokens, 1))

    def test_rare_tokens_are_left_out(self, learner, rng):
        tokens = oracles.draw_tokens(rng, (5, 3, 3, 2, 2, 2, 1, 1, 1))
        for min_count in (1, 2, 3, 5, 6):
            assert_equal(learner.build_vocabulary(tokens, min_count=min_count), oracles.vocabulary(tokens, min_count))

    @pytest.mark.edges
    def test_unk_in_the_text_keeps_the_id_0(self, learner, rng):
        for number in (1, 7):
            tokens = oracles.draw_tokens(rng, (5, 3, 3, 2, 2, 2, 1, 1, 1)) + ["<unk>"] * number
            assert_equal(learner.build_vocabulary(tokens, 2), oracles.vocabulary(tokens, 2))

    @pytest.mark.refusals
    def test_least_counts_below_one_are_refused(self, learner, rng):
        for min_count in (0, -1):
            with pytest.raises(ValueError):
                learner.build_vocabulary(oracles.draw_tokens(rng, (1,) * 9), min_count)


def draw_vocabulary(rng, *more):
    """Return a vocabulary of nine words and more, with shuffled ids, in shuffled order."""
    words = rng.permutation([*oracles.WORDS, *more]).tolist()
    return {word: int(index) for word, index in zip(words, rng.permutation(len(words)), strict=True)}


@pytest.mark.criterion("encode")
class TestEncode:
    def test_known_and_unknown_tokens(self, learner, rng):
        for _ in range(3):
            vocabulary = draw_vocabulary(rng, "<unk>")
            copy = dict(vocabulary)
            tokens = rng.permutation([*oracles.WORDS, *oracles.WORDS[:4], "Ape", "<unk>", "", "gnu", "gnu"]).tolist()
            unknown = vocabulary["<unk>"]
            expected = np.array([vocabulary.get(token, unknown) for token in tokens])
            assert_array(learner.encode(tokens, vocabulary), expected)
            assert_equal(vocabulary, copy, name="the vocabulary after the call")

    @pytest.mark.edges
    def test_known_tokens_need_no_unk(self, learner, rng):
        vocabulary = draw_vocabulary(rng)
        tokens = rng.permutation(oracles.WORDS).tolist()
        assert_array(learner.encode(tokens, vocabulary), np.array([vocabulary[token] for token in tokens]))

    @pytest.mark.refusals
    def test_unknown_tokens_without_unk_are_refused(self, learner, rng):
        with pytest.raises(ValueError):
            learner.encode([*rng.permutation(oracles.WORDS).tolist(), "gnu"], draw_vocabulary(rng))

    @pytest.mark.edges
    def test_no_tokens_give_an_empty_array(self, learner, rng):
        assert_array(learner.encode([], draw_vocabulary(rng, "<unk>")), np.zeros(0))

    @pytest.mark.dtype
    def test_ids_are_integers_also_where_there_are_none(self, learner, rng):
        vocabulary = draw_vocabulary(rng, "<unk>")
        for tokens in (["gnu", "ape"], []):
            ids = [vocabulary.get(token, vocabulary["<unk>"]) for token in tokens]
            assert_array(learner.encode(tokens, vocabulary), np.array(ids, dtype=np.int64), dtype="int64")


@pytest.mark.criterion("decode")
class TestDecode:
    def test_vocabulary_in_any_order(self, learner, rng):
        for _ in range(3):
            vocabulary = draw_vocabulary(rng, "<unk>")
            ids = rng.permutation([*range(10), *range(4)])
            words = {index: word for word, index in vocabulary.items()}
            expected = [words[index] for index in ids.tolist()]
            assert_equal(learner.decode(ids, vocabulary), expected, name="result for an array of ids")
            assert_equal(learner.decode(ids.tolist(), vocabulary), expected, name="result for a list of ids")

    @pytest.mark.refusals
    def test_ids_of_no_token_are_refused(self, learner, rng):
        vocabulary = draw_vocabulary(rng, "<unk>")
        for wrong in (-1, 10, -10, 11):
            with pytest.raises(ValueError):
                learner.decode([3, wrong, 0], vocabulary)

    def test_unknown_tokens_come_back_as_unk(self, learner, rng):
        vocabulary = draw_vocabulary(rng, "<unk>")
        tokens = rng.permutation([*oracles.WORDS, "gnu"]).tolist()
        ids = np.array([vocabulary.get(token, vocabulary["<unk>"]) for token in tokens])
        expected = [token if token in vocabulary else "<unk>" for token in tokens]
        assert_equal(learner.decode(ids, vocabulary), expected)


@pytest.mark.criterion("byte-pair-merges")
class TestBytePairMerges:
    def test_random_texts(self, learner, rng):
        for length in (30, 60, 90):
            text = oracles.draw_text(rng, length)
            assert_equal(learner.byte_pair_merges(text, 8), oracles.byte_pair_merges(text, 8))

    def test_the_smallest_of_equally_frequent_pairs(self, learner, rng):
        units = rng.permutation(["qa", "jz", "jk", "xs"]).tolist()
        text = "".join(f"{unit}{mark}{unit}{mark.upper()}" for unit, mark in zip(units, "bcde", strict=True))
        expected = [tuple(map(ord, pair)) for pair in ("jk", "jz", "qa", "xs")]
        assert_equal(learner.byte_pair_merges(text, 9), expected)

    def test_pairs_with_a_space_count(self, learner, rng):
        first, last, *others = rng.permutation(list("bcdefghijk")).tolist()
        text = " ".join(f"{last}{other}{first}" for other in others)  # what stands beside a space recurs, nothing else
        expected = oracles.byte_pair_merges(text, 3)
        assert_equal(any(32 in pair for pair in expected[:1]), True, name="whether the first merge holds a space")
        assert_equal(learner.byte_pair_merges(text, 3), expected)
        words = " ".join(rng.choice(["ab", "a", "ba"], size=20))
        assert_equal(learner.byte_pair_merges(words, 8), oracles.byte_pair_merges(words, 8))

    def test_runs_of_one_letter(self, learner, rng):
        for length in range(1, 12):
            text = "a" * length + "b" + "ab" * int(rng.integers(3)) + "a"
            assert_equal(learner.byte_pair_merges(text, 5), oracles.byte_pair_merges(text, 5))

    @pytest.mark.edges
    def test_it_ends_where_nothing_recurs(self, learner, rng):
        for text in ("", "a", "é", "".join(rng.permutation(list("abcdefgh")))):
            assert_equal(learner.byte_pair_merges(text, 3), [])
        text = oracles.draw_text(rng, 40)
        assert_equal(learner.byte_pair_merges(text, 1000), oracles.byte_pair_merges(text, 1000))

    def test_numbers_of_merges(self, learner, rng):
        text = oracles.draw_text(rng, 50)
        for number in (0, 1, 2):
            assert_equal(learner.byte_pair_merges(text, number), oracles.byte_pair_merges(text, number))

    @pytest.mark.refusals
    def test_numbers_of_merges_below_0_are_refused(self, learner, rng):
        for number in (-1, -5):
            with pytest.raises(ValueError):
                learner.byte_pair_merges(oracles.draw_text(rng, 50), number)


@pytest.mark.criterion("bpe-encode")
class TestBpeEncode:
    def test_text_that_the_merges_were_not_learnt_from(self, learner, rng):
        for letters in ("ab", "aé", "日本"):
            text, other = ("".join(rng.choice(list(letters), size=size)) for size in (60, 25))
            merges = oracles.byte_pair_merges(text, 12)
            assert_array(learner.bpe_encode(other, merges), np.array(oracles.bpe_encode(other, merges)))

    def test_merges_that_want_the_same_bytes(self, learner, rng):
        for _ in range(4):
            merges = oracles.draw_merges(rng, "abc", 6)
            text = "".join(rng.choice(list("abc"), size=40))
            assert_array(learner.bpe_encode(text, merges), np.array(oracles.bpe_encode(text, merges)))

    def test_runs_are_merged_from_the_left(self, learner, rng):
        for length in rng.permutation(range(1, 10)).tolist():
            expected = [258] * (length // 4) + [257] * (length % 4 // 2) + [120] * (length % 2)
            merges = [(97, 98), (120, 120), (257, 257)]
            assert_array(learner.bpe_encode("x" * length, merges), np.array(expected))

    @pytest.mark.edges
    def test_an_empty_text_and_no_merges(self, learner, rng):
        text = oracles.draw_unicode(rng, 12)
        assert_array(learner.bpe_encode(text, []), np.array(list(bytes(text, "utf-8"))))
        assert_array(learner.bpe_encode("", [(97, 98)]), np.zeros(0))

    @pytest.mark.dtype
    def test_ids_are_integers_also_where_there_are_none(self, learner, rng):
        for text in (oracles.draw_text(rng, 9), ""):
            ids = np.array(list(bytes(text, "utf-8")), dtype=np.int64)
            assert_array(learner.bpe_encode(text, []), ids, dtype="int64")


@pytest.mark.criterion("bpe-decode")
class TestBpeDecode:
    def test_any_unicode_comes_back(self, learner, rng):
        for length in (1, 20, 40):
            text = oracles.draw_unicode(rng, length) + oracles.draw_text(rng, length)
            merges = oracles.byte_pair_merges(text * 2, 20)
            assert_equal(learner.bpe_decode(learner.bpe_encode(text, merges), merges), text)

    @pytest.mark.parametrize("letters", ["abc", pytest.param("aé日", marks=pytest.mark.edges)], ids=["whole", "broken"])
    def test_ids_of_merges_of_merges(self, learner, rng, letters):
        merges = oracles.draw_merges(rng, letters, 10)
        ids = [*rng.permutation(range(256, 266)).tolist(), 97, *rng.integers(256, 266, size=5).tolist()]
        expected = b"".join(oracles.expanded(index, merges) for index in ids).decode("utf-8", errors="replace")
        assert_equal(learner.bpe_decode(ids, merges), expected, name="result for a list of ids")
        assert_equal(learner.bpe_decode(np.array(ids), merges), expected, name="result for an array of ids")

    @pytest.mark.edges
    def test_bytes_that_are_no_text(self, learner, rng):
        for _ in range(3):
            ids = [*rng.integers(256, size=30).tolist(), 0xFF, 0x61, 0xE6, 0x97]
            assert_equal(learner.bpe_decode(ids, []), bytes(ids).decode("utf-8", errors="replace"))

    @pytest.mark.refusals
    def test_unknown_ids_are_refused(self, learner, rng):
        merges = oracles.draw_merges(rng, "ab", 3)
        for wrong in (-1, 259, -256, 300):
            with pytest.raises(ValueError):
                learner.bpe_decode([97, wrong, 98], merges)

    @pytest.mark.edges
    def test_the_smallest_and_the_largest_ids_are_known(self, learner, rng):
        merges = oracles.draw_merges(rng, "ab", 3)
        assert_equal(learner.bpe_decode([0, 255 - 128, 258], merges), "\0\x7f" + oracles.expanded(258, merges).decode())
