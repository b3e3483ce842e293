"""What two submissions share, as passages: runs of equal tokens as long as they go, none told twice."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from grader.similarity.compare import Pair, Text
from grader.similarity.fingerprints import K

MOST = 40  # passages of a pair


@dataclass(frozen=True)
class Passage:
    """So many tokens that are equal, and the first and last line of them on each side (from 1, inclusive)."""

    tokens: int
    left: tuple[int, int]
    right: tuple[int, int]


def passages(pair: Pair) -> tuple[Passage, ...]:
    """Return the passages of a pair in the order of the left side; of those that overlap the longest counts."""
    taken_left, taken_right = [False] * len(pair.left.tokens.kinds), [False] * len(pair.right.tokens.kinds)
    found: list[tuple[int, int, int]] = []
    for length, a, b in sorted(_runs(pair), key=lambda run: (-run[0], run[1], run[2])):
        while length and (taken_left[a] or taken_right[b]):
            length, a, b = length - 1, a + 1, b + 1
        free = 0
        while free < length and not (taken_left[a + free] or taken_right[b + free]):
            free += 1
        if free >= K and len(found) < MOST:
            found.append((free, a, b))
            taken_left[a : a + free] = taken_right[b : b + free] = [True] * free
    return tuple(
        Passage(length, _lines(pair.left, a, length), _lines(pair.right, b, length))
        for length, a, b in sorted(found, key=lambda run: run[1])
    )


def _runs(pair: Pair) -> list[tuple[int, int, int]]:
    """Return runs of equal tokens around the fingerprints that both sides have: length, and where they begin."""
    left, right = pair.left.tokens.kinds, pair.right.tokens.kinds
    done: dict[int, int] = defaultdict(int)  # by the distance of both sides, as far as has been looked
    found: list[tuple[int, int, int]] = []
    seeds = sorted((a, b) for value in pair.common for a in pair.left.prints[value] for b in pair.right.prints[value])
    for a, b in seeds:
        if a < done[a - b]:
            continue
        start, end = 0, 0
        while a + start > 0 and b + start > 0 and left[a + start - 1] == right[b + start - 1]:
            start -= 1
        while a + end < len(left) and b + end < len(right) and left[a + end] == right[b + end]:
            end += 1
        done[a - b] = a + max(end, 1)
        if end - start >= K:
            found.append((end - start, a + start, b + start))
    return found


def _lines(text: Text, start: int, length: int) -> tuple[int, int]:
    return text.tokens.lines[start], text.tokens.lines[start + length - 1]
