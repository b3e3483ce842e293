"""Steps and orders in graphs: dicts from each node to the nodes that it leads to."""

from collections import deque


def steps_from(graph, start):
    """Return the least number of steps from start to each node that can be reached.

    Example:
        >>> steps_from({"a": ["b"], "b": []}, "a")
        {'a': 0, 'b': 1}
    """
    steps = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in graph[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
    return steps


def topological_order(graph):
    """Return all nodes, each before those that it leads to; where several could be next, the first of the alphabet.

    Raises:
        ValueError: nodes lead to each other in a circle.

    Example:
        >>> topological_order({"b": [], "a": ["b"]})
        ['a', 'b']
    """
    waits = dict.fromkeys(graph, 0)
    for others in graph.values():
        for other in others:
            waits[other] += 1
    order = []
    while waits:
        node = min(waits, key=lambda name: (waits[name], name))
        if waits.pop(node):
            raise ValueError("graph: nodes lead to each other in a circle")
        for other in graph[node]:
            waits[other] -= 1
        order.append(node)
    return order
