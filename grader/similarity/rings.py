"""Which texts of a class are alike as a whole, so that what they share tells nothing of how others write.

Each text is held against the first text of every ring: a class of n texts in m rings costs n × m comparisons, not n².
"""

from __future__ import annotations

from collections.abc import Sequence, Set

ALIKE = 0.6  # of the smaller of two texts: solutions written apart share less (0.34), disguised copies more (0.72)
LEAST = 24  # fingerprints, about fifty lines: of a shorter text it may be chance


def rings(prints: Sequence[Set[int]]) -> list[int]:
    """Return, for the fingerprints of each text, the place of the first text of its ring: its own where it is alone.

    Example:
        >>> same = set(range(30))
        >>> rings([same, {99}, same | {31}])
        [0, 1, 0]
    """
    firsts: list[int] = []
    found: list[int] = []
    for place, mine in enumerate(prints):
        ring = next((first for first in firsts if _alike(prints[first], mine)), None)
        if ring is None:
            firsts.append(place)
        found.append(place if ring is None else ring)
    return found


def _alike(first: Set[int], second: Set[int]) -> bool:
    smaller = min(len(first), len(second))
    return smaller >= LEAST and len(first & second) >= ALIKE * smaller
