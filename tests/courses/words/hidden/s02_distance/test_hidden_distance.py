"""Hidden tests of distances, with fresh words each time."""

import pytest

from grader.testing import assert_equal
from hidden.s02_distance.oracles import distance, draw_word


@pytest.mark.criterion("distance")
@pytest.mark.values
def test_distance_of_drawn_words(learner, rng):
    for _ in range(12):
        a, b = draw_word(rng), draw_word(rng)
        assert_equal(learner.edit_distance(a, b), distance(a, b))


@pytest.mark.criterion("distance")
@pytest.mark.edges
def test_an_empty_word_is_as_far_as_the_other_is_long(learner, rng):
    word = draw_word(rng, 1)
    assert_equal([learner.edit_distance("", word), learner.edit_distance(word, "")], [len(word)] * 2)


@pytest.mark.criterion("closest")
@pytest.mark.values
def test_closest_of_drawn_words(learner, rng):
    word = "".join("abcdefg"[letter] for letter in rng.permutation(7)[:5])
    near, as_near, as_long, far = word + "x", "x" + word, "z" * 5, "z" * 9
    assert_equal(learner.closest(word, [as_long, near, far, as_near]), near)
    assert_equal(learner.closest(word, [far, as_near, near, as_long]), as_near)


@pytest.mark.criterion("closest")
@pytest.mark.refusals
def test_no_words_are_refused(learner):
    with pytest.raises(ValueError):
        learner.closest("a", [])
