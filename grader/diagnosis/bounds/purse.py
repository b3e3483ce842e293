"""How much processor time the causes of one module's failures may take in all: a failing check has to be quick."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

SECONDS = 0.48  # of processor time, for one stage: with the imports, a failing check costs at most 0.6 s more


def _nothing() -> float:
    return 0.0


@dataclass
class Purse:
    """What is left of it. Time of other processes counts where somebody tells how much they took."""

    left: float = field(default_factory=lambda: SECONDS)

    @contextmanager
    def spending(self, others: Callable[[], float] = _nothing) -> Iterator[None]:
        """Count what a block takes; others tells the seconds of other processes. What is taken beyond is not owed."""
        began = time.process_time() + others()
        try:
            yield
        finally:
            self.left = max(0.0, self.left - (time.process_time() + others() - began))
