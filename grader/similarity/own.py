"""Finds submissions that are one of the course's own solutions, by the share of their fingerprints."""

from __future__ import annotations

from collections.abc import Sequence, Set

# Of the larger of both shares. In each stage of this course a copy with other names and comments, in another order,
# shares 0.72 or more; an alternative, or a solution written by somebody else, shares 0.34 or less.
COPIED = 0.6
LEAST = 48  # fingerprints in common, about 170 tokens or twenty lines: less may be chance


def least_shares(own: Sequence[Set[int]]) -> list[float]:
    """Return, for each of the course's own solutions, the share from which a submission is a copy of it.

    In a stage that leaves so little choice that the course's own solutions are alike, only what is far more alike than
    they are is a copy.
    """
    return [
        max(COPIED, (1 + max((share(mine, other) for at, other in enumerate(own) if at != place), default=0)) / 2)
        for place, mine in enumerate(own)
    ]


def copied(prints: Set[int], own: Sequence[Set[int]], least: Sequence[float]) -> int | None:
    """Return the place of the solution that a submission copies most of; None where it copies none.

    Example:
        >>> solution = set(range(60))
        >>> copied(solution | {61}, [{99}, solution], [0.6, 0.6])
        1
    """
    shares = [share(prints, each) if len(prints & each) >= LEAST else 0.0 for each in own]
    found = [place for place, value in enumerate(shares) if value >= least[place]]
    return max(found, key=lambda place: shares[place], default=None)


def share(one: Set[int], other: Set[int]) -> float:
    """Return how much of the smaller of two sets the other one holds."""
    return len(one & other) / max(min(len(one), len(other)), 1)
