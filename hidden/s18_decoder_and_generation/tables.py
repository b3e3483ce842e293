"""Tables that count which word followed which, and how well they tell sentences they were not counted in.

    uv run python -m hidden.s18_decoder_and_generation.tables

A table of order n sees the last n - 1 words:  p(word | words before) = (count + a) / (counts of all + a V).  The
smoothing a is what a word gets that never followed; too little is punished by one surprise, too much flattens all. It
is chosen for each table by the sentences to choose by, never by those that are held out.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from hidden.s18_decoder_and_generation.sentences import PARTS, TARGET

NAMES = {2: "pairs", 3: "triples", 4: "quadruples", 5: "quintuples"}
SMOOTHINGS = (1, 0.3, 0.1, 0.03, 0.01, 0.003, 0.001)
STOP = "."

Lines = Sequence[str]


class Reached(NamedTuple):
    """The smoothing that was chosen, and the perplexity with it on the sentences that are held out."""

    smoothing: float
    perplexity: float


def parts(text: str) -> tuple[Lines, Lines, Lines]:
    """Return the lines to train on, to choose by, and held out."""
    lines, first, second = text.splitlines(), PARTS[0], PARTS[0] + PARTS[1]
    return lines[:first], lines[first:second], lines[second:]


def _places(lines: Lines, order: int) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the words before each word, order - 1 of them, and the word; in front of a line stands a full stop."""
    for line in lines:
        words = [*[""] * (order - 2), STOP, *line.split()]
        for place in range(order - 1, len(words)):
            yield tuple(words[place - order + 1 : place]), words[place]


def perplexity(training: Lines, measured: Lines, order: int, smoothing: float) -> float:
    """Return the perplexity of a table that counts in the one and is measured on the other.

    >>> round(perplexity(["a b ."], ["a b ."], 2, 1), 4)  # three times (1 + 1) / (1 + 3)
    2.0
    """
    counts, before_counts = Counter(_places(training, order)), Counter(before for before, _ in _places(training, order))
    size = len({word for line in (*training, *measured) for word in line.split()})
    losses = [
        -math.log((counts[before, word] + smoothing) / (before_counts[before] + smoothing * size))
        for before, word in _places(measured, order)
    ]
    return math.exp(sum(losses) / len(losses))


def reached(text: str, order: int) -> Reached:
    """Return what a table of that order reaches with the smoothing that does best on the sentences to choose by."""
    training, choosing, held_out = parts(text)
    best = min(SMOOTHINGS, key=lambda smoothing: perplexity(training, choosing, order, smoothing))
    return Reached(best, perplexity(training, held_out, order, best))


if __name__ == "__main__":
    for order, name in NAMES.items():
        print(name, *reached(TARGET.read_text(encoding="utf-8"), order))
