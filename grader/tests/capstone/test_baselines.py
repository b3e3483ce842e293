"""Perplexities of tables against numbers computed by hand."""

from __future__ import annotations

import math

import pytest

from grader.capstone.baselines import perplexities


def test_numbers_computed_by_hand() -> None:
    """Trained on a b a b c, held out a b c, of four tokens a b c d.

    p1: a 3/9, b 3/9, c 2/9. b after a: (2 + 1/3) / 3 = 7/9. c after b: (1 + 2/9) / 3 = 11/27. c after a b: a b is
    followed by a and by c, so (1 + 11/27) / 3 = 38/81.
    """
    found = perplexities([0, 1, 0, 1, 2], [0, 1, 2], 4)
    assert found.unigram == pytest.approx(1 / math.sqrt(3 / 9 * 2 / 9))
    assert found.bigram == pytest.approx(1 / math.sqrt(7 / 9 * 11 / 27))
    assert found.trigram == pytest.approx(1 / math.sqrt(7 / 9 * 38 / 81))


def test_a_token_that_was_never_seen_has_a_share_too() -> None:
    found = perplexities([0, 0, 0], [0, 1], 2)
    assert found.unigram == pytest.approx(5)  # (0 + 1) / (3 + 2)
    assert found.bigram == pytest.approx(15)  # (0 + 1/5) / (2 + 1)
    assert found.trigram == found.bigram  # the second token has only one before it


@pytest.mark.parametrize("before", [(0, 1), (1, 2), (2, 2)])
def test_the_shares_of_all_tokens_after_two_others_add_up_to_one(before: tuple[int, int]) -> None:
    training, shares = [0, 1, 2, 2, 1, 0, 1, 1, 2, 0], []
    for token in range(3):
        whole = perplexities(training, [*before, token], 3).trigram ** -2
        first = perplexities(training, list(before), 3).trigram ** -1
        shares.append(whole / first)
    assert sum(shares) == pytest.approx(1)


def test_long_memory_tells_what_pairs_cannot() -> None:
    training = [0, 1, 2, 3, 1, 4] * 50  # 1 is followed by 2 after 0, by 4 after 3
    found = perplexities(training, training, 5)
    assert found.trigram < found.bigram < found.unigram
    assert found.trigram < 1.1 and found.bigram > 1.2
