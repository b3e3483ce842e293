"""Drawn graphs, steps by relaxing every edge, and orders by trying them."""

NODES = ("ant", "bee", "cat", "dog", "eel", "fox")


def draw_graph(rng, circles):
    """Return a graph of six nodes; without circles its edges lead along a drawn order."""
    order = [NODES[place] for place in rng.permutation(len(NODES))]
    rank = {node: place for place, node in enumerate(order)}
    graph = {node: [] for node in order}
    for node in order:
        for other in order:
            if node != other and rng.random() < 0.35 and (circles or rank[node] < rank[other]):
                graph[node].append(other)
    return graph


def steps(graph, start):
    found = {start: 0}
    for _ in graph:
        for node, others in graph.items():
            for other in others:
                if node in found:
                    found[other] = min(found.get(other, len(graph)), found[node] + 1)
    return found


def first_order(graph):
    """Return the first order of the alphabet in which each node comes before those that it leads to."""
    left = sorted(graph)
    order = []
    while left:
        order.append(next(node for node in left if not any(node in graph[other] for other in left)))
        left.remove(order[-1])
    return order
