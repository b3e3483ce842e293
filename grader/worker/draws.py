"""The entropy of random generators without a seed: the same in each test, so that one text gets one verdict.

A process that nobody seeds draws other numbers each time, and what is told of a module would change from run to run.
"""

from __future__ import annotations

import copy
import random
from typing import Any

import numpy.random

_SEED = 0
_generators: Any = numpy.random.bit_generator  # its `randbits` is what SeedSequence() asks for its entropy


class Draws:
    """One test's entropy: each generator that is made without a seed begins from another number, in one order.

    >>> def drawn():
    ...     Draws().use()
    ...     return numpy.random.default_rng().random(), numpy.random.default_rng().random()
    >>> drawn() == drawn(), len(set(drawn()))
    (True, 2)
    """

    def __init__(self) -> None:
        self._source: random.Random | None = None  # made at the first draw: most tests draw nothing without a seed

    def use(self) -> None:
        """Be where NumPy takes its entropy from, from now on."""
        _generators.randbits = self._bits

    def copied(self) -> Draws:
        """Return one that goes on from here, and leaves this one as it is."""
        other = Draws()
        other._source = copy.copy(self._source)
        return other

    def _bits(self, number: int) -> int:
        self._source = self._source or random.Random(_SEED)  # nosec B311 # it has to be foreseeable
        return self._source.getrandbits(number)


def begin_process() -> None:
    """Give the generators that a whole process shares their first state: NumPy's old functions, and `random`."""
    numpy.random.seed(_SEED)
    random.seed(_SEED)
    Draws().use()
