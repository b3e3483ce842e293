"""What one change says: a clause after "as if", what to do, and how likely such a slip is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Clause:
    """said follows "answers as if"; fix is a sentence of its own; rank is 0 for the likeliest slips, 3 for the rarest."""

    said: str
    fix: str
    rank: int
