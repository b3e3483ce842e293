"""What tables of one, two and three tokens reach on the same text: the perplexities that a model has to beat.

Each table falls back on the shorter one, as Dirichlet smoothing does:

    p1(c)         = (n(c) + 1) / (n + V)
    p2(c | b)     = (n(b c) + p1(c)) / (n(b) + 1)
    p3(c | a b)   = (n(a b c) + p2(c | b)) / (n(a b) + 1)

n counts in the text that is trained on; n(b) is how often anything follows b there. V is the size of the vocabulary.
Source: MacKay and Peto 1995, with a weight of 1.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise


@dataclass(frozen=True)
class Perplexities:
    """exp of the mean of -log p over every held-out token but the first."""

    unigram: float
    bigram: float
    trigram: float


def perplexities(training: Sequence[int], held_out: Sequence[int], vocabulary_size: int) -> Perplexities:
    """Count in one text, and say how well that tells the other; held_out has at least two tokens.

    The second token of held_out has only one before it, and its trigram is p2.

    >>> found = perplexities([0, 1, 0, 1], [0, 1], 2)
    >>> round(found.unigram, 4), round(found.bigram, 4)  # p1 = 3/6, p2 = (2 + 0.5) / 3
    (2.0, 1.2)
    """
    ones, pairs = Counter(training), Counter(pairwise(training))
    triples = Counter(zip(training, training[1:], training[2:], strict=False))
    after_one, after_two = Counter(training[:-1]), Counter(pairwise(training[:-1]))
    sums = [0.0, 0.0, 0.0]
    for place in range(1, len(held_out)):
        before, token = held_out[place - 1], held_out[place]
        p1 = (ones[token] + 1) / (len(training) + vocabulary_size)
        p2 = (pairs[before, token] + p1) / (after_one[before] + 1)
        p3 = p2
        if place > 1:
            both = held_out[place - 2], before
            p3 = (triples[*both, token] + p2) / (after_two[both] + 1)
        for number, share in enumerate((p1, p2, p3)):
            sums[number] -= math.log(share)
    return Perplexities(*(math.exp(each / (len(held_out) - 1)) for each in sums))
