"""As the shortest way through pairs of places, found breadth first."""


def edit_distance(a, b):
    cost, places = 0, {_slide(a, b, 0, 0)}
    while (len(a), len(b)) not in places:
        steps = {(i + x, j + y) for i, j in places for x, y in ((1, 0), (0, 1), (1, 1))}
        places = {_slide(a, b, i, j) for i, j in steps if i <= len(a) and j <= len(b)}
        cost += 1
    return cost


def _slide(a, b, i, j):
    while i < len(a) and j < len(b) and a[i] == b[j]:
        i, j = i + 1, j + 1
    return i, j


def closest(word, words):
    if not words:
        raise ValueError("words")
    distances = [edit_distance(other, word) for other in words]
    return words[distances.index(min(distances))]
