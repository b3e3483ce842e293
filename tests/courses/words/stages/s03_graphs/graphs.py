"""Steps and orders in graphs: dicts from each node to the nodes that it leads to."""


def steps_from(graph, start):
    """Return the least number of steps from start to each node that can be reached.

    Example:
        >>> steps_from({"a": ["b"], "b": []}, "a")
        {'a': 0, 'b': 1}
    """
    raise NotImplementedError("steps_from")


def topological_order(graph):
    """Return all nodes, each before those that it leads to; where several could be next, the first of the alphabet.

    Raises:
        ValueError: nodes lead to each other in a circle.

    Example:
        >>> topological_order({"b": [], "a": ["b"]})
        ['a', 'b']
    """
    raise NotImplementedError("topological_order")
