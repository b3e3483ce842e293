"""By recursion on what is left."""


def steps_from(graph, start):
    def further(steps, edge, count):
        fresh = [other for node in edge for other in graph[node] if other not in steps]
        return further(steps | dict.fromkeys(fresh, count), fresh, count + 1) if fresh else steps

    return further({start: 0}, [start], 1)


def topological_order(graph):
    if not graph:
        return []
    led_to = {other for others in graph.values() for other in others}
    if not (free := set(graph) - led_to):
        raise ValueError("a circle")
    first = min(free)
    return [first, *topological_order({node: others for node, others in graph.items() if node != first})]
