"""Imports whole modules, one of them when it is needed."""

import stages.s02_distance.distance as words_apart


def neighbours(words):
    graph = {word: [] for word in words}
    for word, near in graph.items():
        near += filter(lambda other: words_apart.edit_distance(word, other) == 1, words)
    return graph


def fewest_changes(words, start, end):
    from stages.s03_graphs import graphs

    try:
        return graphs.steps_from(neighbours(words), start)[end]
    except KeyError:
        raise ValueError("no ladder") from None
