"""The seeds of one run over a class: a secret pool, from which a keyed hash chooses one for each submission.

Another run has another pool, so that inputs which a report shows are of no use for what is handed in later.
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field
from typing import Self

from grader.judging.grading import MAX_SEED

POOL = 16  # seeds of a run; submissions that share one share what is computed for it
_KEY_BYTES = 32


@dataclass(frozen=True)
class Seeds:
    """The pool of a run and the key of its hash; both stay in the process that coordinates."""

    pool: tuple[int, ...] = field(repr=False)
    key: bytes = field(repr=False)

    @classmethod
    def drawn(cls) -> Self:
        """Return a pool and a key that nobody can foresee."""
        pool = secrets.SystemRandom().sample(range(MAX_SEED), POOL)
        return cls(tuple(pool), secrets.token_bytes(_KEY_BYTES))

    def of(self, student: str, stage: str, digest: str) -> int:
        """Return the seed of a submission; digest is that of its text.

        >>> Seeds((7,), b"key").of("ada", "first", "0" * 64)
        7
        """
        chosen = hmac.digest(self.key, "\0".join((student, stage, digest)).encode(), "sha256")
        return self.pool[int.from_bytes(chosen, "big") % len(self.pool)]
