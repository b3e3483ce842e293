"""A class compared: which pairs of submissions share much that few others have, found without looking at every pair.

What everybody was given counts nothing, nor does what the course's own solutions hold, nor what more than a quarter of
the class wrote; of the rest the rarer counts more: the logarithm of 1 + how seldom it is. Texts that are alike as a
whole count as one author here (`rings.py`): what copies share is no usual code, however many they are. The share of a
pair is the weight of what both have, relative to all that the smaller of the two has. A submission that is one of the
course's own solutions (`own.py`) is named as such.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from grader.similarity.fingerprints import fingerprints, runs
from grader.similarity.own import copied, least_shares
from grader.similarity.rings import rings
from grader.similarity.tokens import Tokens, decoded, tokens

LEAST_SHARE = 0.3  # in every stage, solutions written apart share less (0.22), and disguised copies more (0.75)
MOST_PAIRS = 100  # that anyone looks at
LEAST_COMMON = 6  # fingerprints that a pair has to share: fewer are a line or two
USUAL = 0.25  # what so many wrote is how it is written; in a small class up to half, but no more than SMALL
OWN = 0.25  # where less than that of a text is not usual, there is little to compare
MANY_IDLE = 10  # statements and expressions that do nothing: this course's own and outside solutions hold 3 at most
SAME_LINES = 0.95  # of both sides: nearly word for word
FEW, SMALL = 4, 6  # so many may share something in any class, and in one of at least twice as many


@dataclass(frozen=True)
class Text:
    """A submission as it is compared: its lines, its tokens, and its fingerprints with their places."""

    name: str
    lines: tuple[str, ...]
    tokens: Tokens
    prints: Mapping[int, tuple[int, ...]]

    @property
    def notes(self) -> tuple[str, ...]:
        """That the text was not read as usual, or holds much that does nothing."""
        idle = f"holds {self.tokens.idle} statements and expressions that do nothing, which were left out"
        return (*filter(None, [self.tokens.note]), *([idle] if self.tokens.idle >= MANY_IDLE else []))


@dataclass(frozen=True)
class Pair:
    """Two submissions that share much: the share of each side (0 to 1), and the fingerprints that both have."""

    left: Text
    right: Text
    of_left: float
    of_right: float
    common: tuple[int, ...]

    @property
    def share(self) -> float:
        """The share of the side of which more is shared."""
        return max(self.of_left, self.of_right)

    @property
    def word_for_word(self) -> bool:
        """Say whether nearly all lines of each side are lines of the other, letter for letter."""
        left, right = (Counter(filter(None, map(str.rstrip, each.lines))) for each in (self.left, self.right))
        return (left & right).total() >= SAME_LINES * max(left.total(), right.total())


@dataclass(frozen=True)
class Comparison:
    """What came of a class: all that was compared, the pairs to look at, the most first, and how many there are.

    copies holds submissions (left) that are one of the course's own solutions (right), the most alike first; a pair of
    two of them is none of the pairs. usual names the other texts of which more than three quarters count nothing, since
    so many others wrote that, too. own_known is False if there was no solution of the course to compare with.
    """

    texts: tuple[Text, ...]
    pairs: tuple[Pair, ...]
    count: int
    usual: tuple[str, ...] = ()
    copies: tuple[Pair, ...] = ()
    own_known: bool = False


def text(name: str, source: bytes, stub: Iterable[int] = ()) -> Text:
    """Return a submission as it is compared; stub holds the runs of tokens that everybody was given."""
    given = frozenset(stub)
    written = decoded(source)
    found = tokens(written)
    prints = {value: places for value, places in fingerprints(found.kinds).items() if value not in given}
    return Text(name, tuple(written.split("\n")), found, prints)


def given(*texts: str) -> frozenset[int]:
    """Return the runs of tokens of what everybody was given."""
    return frozenset(value for each in texts for value in runs(tokens(each).kinds))


def compared(
    texts: Sequence[Text], own: Sequence[Text] = (), least: float = LEAST_SHARE, most: int = MOST_PAIRS
) -> Comparison:
    """Return the pairs that share unusually much, as many as most, and copies of own, the course's solutions."""
    copies = _copies(texts, own)
    known = {each.left.name for each in copies}
    having: dict[int, list[int]] = defaultdict(list)
    base = {value for each in own for value in each.prints}
    for place, each in enumerate(texts):
        for value in each.prints.keys() - base:
            having[value].append(place)
    weights = _weights(having, rings([each.prints.keys() for each in texts]))
    wholes = [sum(weights.get(value, 0.0) for value in each.prints) for each in texts]
    shared: dict[tuple[int, int], float] = defaultdict(float)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for value, weight in weights.items():
        for pair in combinations(having[value], 2):
            shared[pair] += weight
            counts[pair] += 1
    ranked = sorted(
        (-weight / min(wholes[a], wholes[b]), texts[a].name, texts[b].name, a, b)
        for (a, b), weight in shared.items()
        if counts[a, b] >= LEAST_COMMON
        and weight >= least * min(wholes[a], wholes[b])
        and not {texts[a].name, texts[b].name} <= known
    )
    found = (
        _pair(texts[a], texts[b], shared[a, b] / wholes[a], shared[a, b] / wholes[b], weights)
        for *_, a, b in ranked[:most]
    )
    usual = (
        each.name
        for each in texts
        if each.name not in known and sum(value in weights for value in each.prints) < len(each.prints) * OWN
    )
    return Comparison(tuple(texts), tuple(found), len(ranked), tuple(usual), copies, bool(own))


def _copies(texts: Sequence[Text], own: Sequence[Text]) -> tuple[Pair, ...]:
    """Return the submissions that are one of the course's own solutions, each with the solution."""
    solutions = [each.prints.keys() for each in own]
    least = least_shares(solutions)
    found = []
    for each in texts:
        place = copied(each.prints.keys(), solutions, least)
        if place is not None:
            source = own[place]
            common = tuple(value for value in each.prints if value in source.prints)
            of_left, of_right = len(common) / len(each.prints), len(common) / len(source.prints)
            found.append(Pair(each, source, of_left, of_right, common))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.left.name)))


def _weights(having: Mapping[int, Sequence[int]], ring: Sequence[int]) -> dict[int, float]:
    """Return what each fingerprint counts; the usual ones are left out. ring gives the author of each place."""
    count = len(set(ring))
    most = max(FEW, int(USUAL * count), min(SMALL, count // 2))
    authors = {value: len({ring[place] for place in places}) for value, places in having.items()}
    return {value: math.log1p(count / max(times, 2)) for value, times in authors.items() if times <= most}


def _pair(left: Text, right: Text, of_left: float, of_right: float, weights: Mapping[int, float]) -> Pair:
    common = tuple(value for value in left.prints if value in right.prints and value in weights)
    return Pair(left, right, of_left, of_right, common)
