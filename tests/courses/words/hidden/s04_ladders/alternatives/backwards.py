"""From the end to the start: changes can be taken back."""

from stages.s02_distance.distance import edit_distance as apart
from stages.s03_graphs.graphs import steps_from as ways


def neighbours(words):
    pairs = {(a, b) for a in words for b in words if apart(a, b) == 1}
    return {a: [b for b in words if (a, b) in pairs] for a in words}


def fewest_changes(words, start, end):
    found = ways(neighbours(words), end).get(start)
    if found is None:
        raise ValueError("no ladder")
    return found
