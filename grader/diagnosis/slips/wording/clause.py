"""What one change says: a clause after "as if", what to do, and how likely such a slip is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """said goes on after "answers as if"; fix is a sentence; rank is 0 for the likeliest slips, 3 for the rarest."""

    said: str
    fix: str
    rank: int


def following(before: str, what: str | None) -> str:
    """Return " of K" for of and K, and nothing where there is no K."""
    return f" {before} {what}" if what else ""
