"""Hidden tests of ladders, in drawn words."""

import pytest

from grader.testing import assert_equal
from stages.s02_distance.distance import edit_distance


def drawn(rng, count=12):
    return list(dict.fromkeys("".join("ab"[letter] for letter in rng.integers(0, 2, 4)) for _ in range(count)))


@pytest.mark.criterion("neighbours")
@pytest.mark.values
def test_neighbours_of_drawn_words(learner, rng):
    words = [*drawn(rng), "aab", "ba"]
    expected = {a: [b for b in words if edit_distance(a, b) == 1] for a in words}
    assert_equal(learner.neighbours(words), expected)


@pytest.mark.criterion("fewest")
@pytest.mark.values
def test_a_drawn_detour(learner, rng):
    a, b, c = ("abcdefgh"[letter] for letter in rng.permutation(8)[:3])
    words = [a + a, a + a + c, a + b + c, b + b + c, b + b]  # two changes in itself, but not with these words
    order = [words[place] for place in rng.permutation(len(words))]
    assert_equal(learner.fewest_changes(order, words[0], words[-1]), 4)
    assert_equal(learner.fewest_changes([words[0], "z" * 4, "z" * 5], words[0], words[0]), 0)


@pytest.mark.criterion("fewest")
@pytest.mark.values
def test_the_shortest_ladder_in_the_list(learner, data):
    words = data("words.txt").decode().split()
    assert_equal(learner.fewest_changes(words, "cat", "dog"), 3)


@pytest.mark.criterion("fewest")
@pytest.mark.refusals
def test_without_a_ladder_it_refuses(learner):
    with pytest.raises(ValueError):
        learner.fewest_changes(["cat", "dog"], "cat", "dog")
