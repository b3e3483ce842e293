"""By recursion with a memory."""

from functools import cache


def edit_distance(a, b):
    @cache
    def rest(i, j):
        if i == len(a):
            return len(b) - j
        if j == len(b):
            return len(a) - i
        if a[i] == b[j]:
            return rest(i + 1, j + 1)
        return 1 + min(rest(i + 1, j), rest(i, j + 1), rest(i + 1, j + 1))

    return rest(0, 0)


def closest(word, words):
    if len(words) == 0:
        raise ValueError("nothing to choose from")
    best = words[0]
    for other in words[1:]:
        if edit_distance(word, other) < edit_distance(word, best):
            best = other
    return best
