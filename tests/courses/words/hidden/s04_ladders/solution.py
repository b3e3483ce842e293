"""Ladders of words: each differs from the one before it by one letter added, taken away or changed."""

from stages.s02_distance.distance import edit_distance
from stages.s03_graphs.graphs import steps_from


def neighbours(words):
    """Return a graph: each word with the list of the words that are one change away, in the order of words.

    Example:
        >>> neighbours(["cat", "cart", "dog"])
        {'cat': ['cart'], 'cart': ['cat'], 'dog': []}
    """
    return {word: [other for other in words if edit_distance(word, other) == 1] for word in words}


def fewest_changes(words, start, end):
    """Return the number of steps of the shortest ladder from start to end, both among words.

    Raises:
        ValueError: no ladder leads there.

    Example:
        >>> fewest_changes(["cat", "cot", "dot", "dog"], "cat", "dog")
        3
    """
    steps = steps_from(neighbours(words), start)
    if end not in steps:
        raise ValueError(f"end: no ladder leads to {end!r}")
    return steps[end]
