"""Compares a class: finds which pairs of submissions share much that few others have, without looking at every pair.

What everybody was given counts nothing, nor does what the course's own solutions hold, nor what more than a quarter of
the class wrote; of the rest the rarer counts more: the logarithm of 1 + how seldom it is. Texts that are alike as a
whole count as one author here: what copies share is no usual code, however many they are. The share of a
pair is the weight of what both have, relative to all that the smaller of the two has. A submission that is one of the
course's own solutions is named as such.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, tzinfo
from itertools import combinations
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import UsageError
from grader.gradebook.intake import ReadAttempt, taken
from grader.gradebook.records import Member
from grader.gradebook.store import FILE, Gradebook
from grader.gradebook.submissions import StudentSubmission, listing
from grader.similarity.tokens import K, Tokens, decoded, fingerprints, runs, tokens

MOST_SUBMISSIONS = 2000
_EXAMPLE = re.compile(r"^```[a-z]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
LEAST_SHARE = 0.3  # in every stage, solutions written apart share less (0.22), and disguised copies more (0.75)
MOST_PAIRS = 100  # that anyone looks at
LEAST_COMMON = 6  # fingerprints that a pair has to share: fewer are a line or two
USUAL = 0.25  # what so many wrote is how it is written; in a small class up to half, but no more than SMALL
OWN = 0.25  # where less than that of a text is not usual, there is little to compare
MANY_IDLE = 10  # statements and expressions that do nothing: this course's own and outside solutions hold 3 at most
SAME_LINES = 0.95  # of both sides: nearly word for word
FEW, SMALL = 4, 6  # so many may share something in any class, and in one of at least twice as many
ALIKE = 0.6  # of the smaller of two texts: solutions written apart share less (0.34), disguised copies more (0.72)
LEAST_ALIKE = 24  # fingerprints, about fifty lines: of a shorter text it may be chance
COPIED = 0.6  # of the course's own solution, from which it is copied; the shares are those of ALIKE
LEAST_COPIED = 48  # fingerprints in common, about 170 tokens or twenty lines: less may be chance
MOST_PASSAGES = 40  # of a pair


@dataclass(frozen=True)
class Text:
    """A submission as it is compared: its lines, its tokens, and its fingerprints with their places.

    team and sections, of all who handed it in, are those of a roster, empty where none tells.
    """

    name: str
    lines: tuple[str, ...]
    tokens: Tokens
    prints: Mapping[int, tuple[int, ...]]
    team: str = ""
    sections: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """That the text was not read as usual, or holds much that does nothing."""
        idle = f"holds {self.tokens.idle} statements and expressions that do nothing, which were left out"
        return (*filter(None, [self.tokens.note]), *([idle] if self.tokens.idle >= MANY_IDLE else []))


@dataclass(frozen=True)
class SimilarPair:
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
    def is_of_one_team(self) -> bool:
        """Whether both are of the same team, which may share all it likes."""
        return bool(self.left.team) and self.left.team == self.right.team

    @property
    def sections(self) -> tuple[str, str] | None:
        """The sections of both, where they are known and nobody of one is in one of the other's."""
        left, right = self.left.sections, self.right.sections
        return (", ".join(left), ", ".join(right)) if left and right and not set(left) & set(right) else None

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
    so many others wrote that, too. own_known is False if there was no solution of the course to compare with. of_teams
    counts the pairs of one team, which are none of the others.
    """

    texts: tuple[Text, ...]
    pairs: tuple[SimilarPair, ...]
    count: int
    usual: tuple[str, ...] = ()
    copies: tuple[SimilarPair, ...] = ()
    own_known: bool = False
    of_teams: int = 0


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
    current: Sequence[Text],
    own: Sequence[Text] = (),
    least: float = LEAST_SHARE,
    most: int = MOST_PAIRS,
    earlier: Sequence[Text] = (),
) -> Comparison:
    """Return the pairs that share unusually much, as many as most, and copies of own, the course's solutions.

    Of earlier texts, as of other years, each is compared with the current ones and with no other earlier one.
    """
    copies = _copies(current, own)
    known = {each.left.name for each in copies}
    texts = [*current, *earlier]
    now = len(current)
    having: dict[int, list[int]] = defaultdict(list)
    base = {value for each in own for value in each.prints}
    for place, each in enumerate(texts):
        for value in each.prints.keys() - base:
            having[value].append(place)
    weights = _weights(having, near_duplicates([each.prints.keys() for each in texts]))
    wholes = [sum(weights.get(value, 0.0) for value in each.prints) for each in texts]
    shared: dict[tuple[int, int], float] = defaultdict(float)
    counts: dict[tuple[int, int], int] = defaultdict(int)
    for value, weight in weights.items():
        for pair in (each for each in combinations(having[value], 2) if each[0] < now):
            shared[pair] += weight
            counts[pair] += 1
    alike = (
        (-weight / min(wholes[a], wholes[b]), texts[a].name, texts[b].name, a, b)
        for (a, b), weight in shared.items()
        if counts[a, b] >= LEAST_COMMON
        and weight >= least * min(wholes[a], wholes[b])
        and not {texts[a].name, texts[b].name} <= known
    )
    pairs = [
        SimilarPair(texts[a], texts[b], shared[a, b] / wholes[a], shared[a, b] / wholes[b], ())
        for *_, a, b in sorted(alike)
    ]
    ranked = [each for each in pairs if not each.is_of_one_team]
    found = (replace(each, common=_common(each, weights)) for each in ranked[:most])
    usual = (
        each.name
        for each in current
        if each.name not in known and sum(value in weights for value in each.prints) < len(each.prints) * OWN
    )
    of_teams = len(pairs) - len(ranked)
    return Comparison(tuple(current), tuple(found), len(ranked), tuple(usual), copies, bool(own), of_teams)


def share(one: Set[int], other: Set[int]) -> float:
    """Return how much of the smaller of two sets the other one holds."""
    return len(one & other) / max(min(len(one), len(other)), 1)


def near_duplicates(prints: Sequence[Set[int]]) -> list[int]:
    """Return, for the fingerprints of each text, the place of the first text that it is like: its own if of none.

    Each is held against the first text of every group: n texts in m groups cost n × m comparisons, not n².

    Example:
        >>> same = set(range(30))
        >>> near_duplicates([same, {99}, same | {31}])
        [0, 1, 0]
    """
    firsts: dict[int, Set[int]] = {}
    found: list[int] = []
    for place, mine in enumerate(prints):
        like = (
            first
            for first, other in firsts.items()
            if min(len(mine), len(other)) >= LEAST_ALIKE and share(mine, other) >= ALIKE
        )
        found.append(next(like, place))
        if found[-1] == place:
            firsts[place] = mine
    return found


def _copies(texts: Sequence[Text], own: Sequence[Text]) -> tuple[SimilarPair, ...]:
    """Return the submissions that are one of the course's own solutions, each with the solution.

    In a stage that leaves so little choice that the course's own solutions are alike, only what is far more alike than
    they are is a copy.
    """
    solutions = [each.prints.keys() for each in own]
    least = [
        max(COPIED, (1 + max((share(mine, other) for other in solutions if other is not mine), default=0)) / 2)
        for mine in solutions
    ]
    found = []
    for each in texts:
        mine = each.prints.keys()
        shares = [share(mine, other) if len(mine & other) >= LEAST_COPIED else 0.0 for other in solutions]
        alike = [place for place, value in enumerate(shares) if value >= least[place]]
        if alike:
            source = own[max(alike, key=lambda place: shares[place])]
            common = tuple(value for value in each.prints if value in source.prints)
            found.append(SimilarPair(each, source, len(common) / len(mine), len(common) / len(source.prints), common))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.left.name)))


def _weights(having: Mapping[int, Sequence[int]], author: Sequence[int]) -> dict[int, float]:
    """Return what each fingerprint counts; the usual ones are left out. author is of each place."""
    count = len(set(author))
    most = max(FEW, int(USUAL * count), min(SMALL, count // 2))
    authors = {value: len({author[place] for place in places}) for value, places in having.items()}
    return {value: math.log1p(count / max(times, 2)) for value, times in authors.items() if times <= most}


def _common(pair: SimilarPair, weights: Mapping[int, float]) -> tuple[int, ...]:
    return tuple(value for value in pair.left.prints if value in pair.right.prints and value in weights)


@dataclass(frozen=True)
class Passage:
    """So many tokens that are equal, and the first and last line of them on each side (from 1, inclusive)."""

    tokens: int
    left: tuple[int, int]
    right: tuple[int, int]


def passages(pair: SimilarPair) -> tuple[Passage, ...]:
    """Return the passages of a pair in the order of the left side; of those that overlap the longest counts."""
    taken_left, taken_right = [False] * len(pair.left.tokens.kinds), [False] * len(pair.right.tokens.kinds)
    found: list[tuple[int, int, int]] = []
    for length, a, b in sorted(_runs(pair), key=lambda run: (-run[0], run[1], run[2])):
        while length and (taken_left[a] or taken_right[b]):
            length, a, b = length - 1, a + 1, b + 1
        free = 0
        while free < length and not (taken_left[a + free] or taken_right[b + free]):
            free += 1
        if free >= K and len(found) < MOST_PASSAGES:
            found.append((free, a, b))
            taken_left[a : a + free] = taken_right[b : b + free] = [True] * free
    return tuple(
        Passage(length, _lines(pair.left, a, length), _lines(pair.right, b, length))
        for length, a, b in sorted(found, key=lambda run: run[1])
    )


def _runs(pair: SimilarPair) -> list[tuple[int, int, int]]:
    """Return runs of equal tokens around the fingerprints that both sides have: length, and where they begin."""
    left, right = pair.left.tokens.kinds, pair.right.tokens.kinds
    done: dict[int, int] = defaultdict(int)  # by the distance of both sides, as far as has been looked
    found: list[tuple[int, int, int]] = []
    seeds = sorted((a, b) for value in pair.common for a in pair.left.prints[value] for b in pair.right.prints[value])
    for a, b in seeds:
        if a < done[a - b]:
            continue
        start, end = 0, 0
        while a + start > 0 and b + start > 0 and left[a + start - 1] == right[b + start - 1]:
            start -= 1
        while a + end < len(left) and b + end < len(right) and left[a + end] == right[b + end]:
            end += 1
        done[a - b] = a + max(end, 1)
        if end - start >= K:
            found.append((end - start, a + start, b + start))
    return found


def _lines(text: Text, start: int, length: int) -> tuple[int, int]:
    return text.tokens.lines[start], text.tokens.lines[start + length - 1]


@dataclass(frozen=True)
class SubmittedModule:
    """Whose module it is, and its bytes; why says what is in the way where there are none.

    Members of a team who handed in together are named together. team and sections are those of a roster.
    """

    student: str
    source: bytes = b""
    why: str = ""
    team: str = ""
    sections: tuple[str, ...] = ()


def handed_in(
    arrivals: Sequence[StudentSubmission], stage: Stage, root: Path, roster: Sequence[Member] = ()
) -> tuple[SubmittedModule, ...]:
    """Return what each student, or team, handed in last for a stage, in the order of names; UsageError for too many.

    A module that cannot be taken is told as why, and costs the others nothing. Who handed in nothing is left out where
    there is a roster.
    """
    if len(arrivals) > MOST_SUBMISSIONS:
        raise UsageError(f"there are {len(arrivals)} submissions", f"Expected at most {MOST_SUBMISSIONS}.")
    known = {member.student: member for member in roster}
    together: dict[tuple[object, ...], list[StudentSubmission]] = {}
    for arrival in arrivals:
        if arrival.things or not roster:
            together.setdefault((arrival.team, arrival.things if arrival.team else arrival.student), []).append(arrival)
    found = []
    for each in together.values():
        last = _last(each[0].student, list(taken(each[0], stage, root, True)))
        members = [known[one.student] for one in each if one.student in known]
        sections = tuple(sorted({member.section for member in members if member.section}))
        team = each[0].team or (members[0].team if members else "")
        found.append(replace(last, student=", ".join(one.student for one in each), team=team, sections=sections))
    return tuple(found)


def archived(folder: Path, stage: Stage, root: Path, zone: tzinfo) -> tuple[SubmittedModule, ...]:
    """Return what was handed in elsewhere, as in an earlier year: a gradebook's folder, or one of submissions.

    Names begin with the folder's.
    """
    if (folder / FILE).is_file():
        with Gradebook.open(folder) as book:
            last = {each.student: each.digest for each in book.attempts() if each.stage == stage.id}
            found = [(name, book.source(digest)) for name, digest in last.items()]
        return tuple(SubmittedModule(f"{folder.name}/{name}", text) for name, text in found if text is not None)
    read = handed_in(listing(folder, zone).arrivals, stage, root)
    return tuple(replace(each, student=f"{folder.name}/{each.student}") for each in read)


def examples(stage: Stage) -> list[str]:
    """Return the code that the README of a stage shows to everybody."""
    with suppress(OSError, UnicodeDecodeError):
        return _EXAMPLE.findall(stage.readme_path.read_text(encoding="utf-8"))
    return []


def _last(student: str, attempts: list[ReadAttempt]) -> SubmittedModule:
    """Return the last attempt that can be read, since nobody is compared with themselves."""
    read = [each for each in attempts if each.snapshot is not None]
    if not read:
        error = attempts[-1].error
        return SubmittedModule(student, why=error.message if error is not None else "nothing was handed in")
    last = max(read, key=lambda each: each.attempt.submitted or datetime.min.replace(tzinfo=UTC))
    assert last.snapshot is not None
    return SubmittedModule(student, last.snapshot.source)
