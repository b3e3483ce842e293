"""Every edge is looked at until nothing changes; what is ready waits in a heap."""

from heapq import heapify, heappop, heappush


def steps_from(graph, start):
    steps, changed = {start: 0}, True
    while changed:
        changed = False
        for node in list(steps):
            for other in graph[node]:
                if steps.get(other, len(graph)) > steps[node] + 1:
                    steps[other], changed = steps[node] + 1, True
    return steps


def topological_order(graph):
    before = {node: sum(other.count(node) for other in graph.values()) for node in graph}
    heapify(ready := [node for node in graph if not before[node]])
    order = []
    while ready:
        order.append(node := heappop(ready))
        for other in graph[node]:
            before[other] -= 1
            if not before[other]:
                heappush(ready, other)
    if len(order) < len(graph):
        raise ValueError("a circle")
    return order
