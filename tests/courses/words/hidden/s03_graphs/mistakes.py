"""Wrong ways through graphs."""

from collections import deque

from grader.mistakes import mistake


@mistake(
    criterion="steps",
    replaces="steps_from",
    text="Nodes are visited depth first: a node gets the length of the first way found, not of the shortest.",
    fix="Take nodes from the front of the queue (popleft), and give a distance when a node is first seen.",
)
def depth_first(graph, start):
    steps = {}

    def visit(node, count):
        if node not in steps:
            steps[node] = count
            for other in graph[node]:
                visit(other, count + 1)

    visit(start, 0)
    return steps


@mistake(
    criterion="steps",
    replaces="steps_from",
    text="The start counts as a step: every number is one too large.",
    fix="Give the start 0.",
)
def start_counted(graph, start):
    steps = {start: 1}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in graph[node]:
            if other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
    return steps


@mistake(
    criterion="steps",
    replaces="steps_from",
    text="Edges are followed in both directions.",
    fix="Go on to graph[node] only: an edge leads one way.",
)
def both_directions(graph, start):
    steps = {start: 0}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for other in graph:
            if (other in graph[node] or node in graph[other]) and other not in steps:
                steps[other] = steps[node] + 1
                queue.append(other)
    return steps


@mistake(
    criterion="order",
    replaces="topological_order",
    text="The order is backwards: each node comes after those that it leads to.",
    fix="Begin with nodes that no other leads to.",
)
def backwards(graph):
    left, order = list(graph), []
    while left:
        free = [node for node in left if not any(other in left for other in graph[node])]
        if not free:
            raise ValueError("graph")
        order.append(min(free))
        left.remove(order[-1])
    return order


@mistake(
    criterion="order",
    replaces="topological_order",
    text="Of several nodes that could be next the last of the alphabet is taken.",
    fix="Take the first of the alphabet: min, not max.",
)
def last_of_the_alphabet(graph):
    left, order = list(graph), []
    while left:
        free = [node for node in left if not any(node in graph[other] for other in left)]
        if not free:
            raise ValueError("graph")
        order.append(max(free))
        left.remove(order[-1])
    return order


@mistake(
    criterion="order",
    replaces="topological_order",
    text="A circle is not noticed: the nodes in it are left out of the order.",
    fix="Raise ValueError where nodes are left and each of them waits for another.",
)
def circle_unnoticed(graph):
    left, order = list(graph), []
    while free := [node for node in left if not any(node in graph[other] for other in left)]:
        order.append(min(free))
        left.remove(order[-1])
    return order
