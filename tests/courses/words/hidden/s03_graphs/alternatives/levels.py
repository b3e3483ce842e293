"""Level by level, and by trying which node waits for none."""


def steps_from(graph, start):
    steps, level, count = {}, {start}, 0
    while level:
        steps |= dict.fromkeys(level, count)
        level = {other for node in level for other in graph[node]} - set(steps)
        count += 1
    return steps


def topological_order(graph):
    left, order = sorted(graph), []
    while left:
        free = next((node for node in left if not any(node in graph[other] for other in left)), None)
        if free is None:
            raise ValueError("a circle")
        left.remove(free)
        order.append(free)
    return order
