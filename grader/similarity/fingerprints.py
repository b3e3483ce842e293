"""Fingerprints of a row of tokens: hashes of runs of K tokens, of which winnowing keeps a few wherever they stand.

Two rows that share K + WINDOW - 1 tokens in a row share a fingerprint; none is shared for less than K.
Source: Schleimer, Wilkerson, Aiken, Winnowing: Local Algorithms for Document Fingerprinting (SIGMOD 2003).
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

K = 12
WINDOW = 6
MOST_PLACES = 4  # of one fingerprint in one text that are remembered
_BASE, _PRIME = 1_000_003, (1 << 61) - 1


def runs(kinds: Sequence[str]) -> list[int]:
    """Return the hash of each run of K tokens, by the place where it begins."""
    values = [zlib.crc32(kind.encode("utf-8", "replace")) + 1 for kind in kinds]
    if len(values) < K:
        return []
    high = pow(_BASE, K - 1, _PRIME)
    current = 0
    for value in values[:K]:
        current = (current * _BASE + value) % _PRIME
    found = [current]
    for gone, value in zip(values, values[K:], strict=False):
        current = ((current - gone * high) * _BASE + value) % _PRIME
        found.append(current)
    return found


def fingerprints(kinds: Sequence[str]) -> dict[int, tuple[int, ...]]:
    """Return the fingerprints of a row of tokens, each with the first places where it stands.

    Of each window of WINDOW runs the smallest hash is kept, of equal ones the last.
    """
    hashes = runs(kinds)
    found: dict[int, tuple[int, ...]] = {}
    kept = -1
    for start in range(max(len(hashes) - WINDOW + 1, min(len(hashes), 1))):
        window = hashes[start : start + WINDOW]
        least = min(window)
        place = start + max(at for at, value in enumerate(window) if value == least)
        if place != kept:
            kept = place
            places = found.get(least, ())
            if len(places) < MOST_PLACES:
                found[least] = (*places, place)
    return found
