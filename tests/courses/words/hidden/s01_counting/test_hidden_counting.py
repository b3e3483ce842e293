"""Hidden tests of counting, with fresh texts each time."""

import pytest

from grader.testing import assert_equal
from hidden.s01_counting.oracles import draw_counts, ranking_of, text_of


@pytest.mark.criterion("count")
@pytest.mark.values
def test_counts_of_a_drawn_text(learner, rng):
    counts = draw_counts(rng)
    assert_equal(learner.count_words(text_of(counts, rng)), counts)


@pytest.mark.criterion("rank")
@pytest.mark.values
@pytest.mark.parametrize("number", [0, 1, 3, 99])
def test_ranking_of_a_drawn_text(learner, rng, number):
    counts = draw_counts(rng)
    assert_equal(learner.most_common(text_of(counts, rng), number), ranking_of(counts)[:number])


@pytest.mark.criterion("rank")
@pytest.mark.refusals
def test_a_negative_number_is_refused(learner):
    with pytest.raises(ValueError):
        learner.most_common("a", -1)
