"""Shows a compared class: as a JSON document (similar.schema.json), and as one HTML file, pairs side by side.

The page has no scripts, and a browser opens it from anywhere. All text of students goes through Jinja2's escaping,
after characters that only pretend to be shown are spelt out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from grader.report.document import dumps
from grader.report.templates import environment
from grader.report.terminal.layout import printable
from grader.similarity.compare import Comparison, Passage, SimilarPair, SubmittedModule, Text, passages

HOME = Path(__file__).parent
MOST_COPIES = 20  # submissions that are shown beside a solution of the course; all are listed
MOST_LINES = 120  # of one passage
MOST_COLUMNS = 400  # of one line
SCHEMA = 1


@dataclass(frozen=True)
class Side:
    """A passage on one side: its first line, its lines as they are shown, and how many more there are."""

    first: int
    lines: tuple[str, ...]
    more: int

    @property
    def last(self) -> int:
        """The last line of the whole passage."""
        return self.first + len(self.lines) + self.more - 1


@dataclass(frozen=True)
class Shown:
    """A pair as the page shows it."""

    pair: SimilarPair
    anchor: str

    @cached_property
    def passages(self) -> tuple[tuple[Passage, Side, Side], ...]:
        """Each passage with both of its sides."""
        return tuple(
            (each, side(self.pair.left, *each.left), side(self.pair.right, *each.right)) for each in passages(self.pair)
        )

    @property
    def names(self) -> tuple[str, str]:
        """Both students, or a student and the file of a solution, as they can be shown."""
        return shown(self.pair.left.name), shown(self.pair.right.name)

    @property
    def sections(self) -> str:
        """The sections of both, where they differ."""
        return " and ".join(map(shown, self.pair.sections or ()))

    @property
    def shares(self) -> tuple[int, int]:
        """The share of each side in percent, rounded down."""
        return int(100 * self.pair.of_left), int(100 * self.pair.of_right)


@dataclass(frozen=True)
class SimilarGroup:
    """Submissions that pairs connect, the pair with most in common first."""

    names: tuple[str, ...]
    pairs: tuple[Shown, ...]


def groups(pairs: Sequence[Shown]) -> tuple[SimilarGroup, ...]:
    """Return the groups that pairs connect, the larger ones first; pairs stay in their order.

    Who is in a group need not share much with each of the others: it is enough to share it with one.
    """
    found: list[list[Shown]] = []
    for each in pairs:
        near = [group for group in found if any({*each.names} & {*other.names} for other in group)]
        found = [group for group in found if group not in near]
        found.append([*(other for group in near for other in group), each])
    place = {each.anchor: number for number, each in enumerate(pairs)}
    ordered = [tuple(sorted(group, key=lambda each: place[each.anchor])) for group in found]
    made = [SimilarGroup(tuple(sorted({name for each in group for name in each.names})), group) for group in ordered]
    return tuple(sorted(made, key=lambda group: (-len(group.names), place[group.pairs[0].anchor])))


def page(comparison: Comparison, lacking: Sequence[SubmittedModule], title: str, least: float) -> str:
    """Return the file's text; lacking holds what could not be compared. Raises UsageError without Jinja2."""
    pairs = [Shown(pair, f"pair-{at}") for at, pair in enumerate(comparison.pairs, 1)]
    notes = [(shown(each.name), note) for each in comparison.texts for note in each.notes]
    return (
        environment(HOME, "class")
        .get_template("page.html")
        .render(
            title=title,
            copies=[Shown(pair, f"own-{at}") for at, pair in enumerate(comparison.copies, 1)],
            most=MOST_COPIES,
            own_known=comparison.own_known,
            pairs=pairs,
            groups=groups(pairs),
            count=comparison.count,
            students=len(comparison.texts),
            least=round(100 * least),
            notes=notes + [(shown(each.student), f"was not compared: {shown(each.why)}") for each in lacking],
        )
    )


def side(text: Text, first: int, last: int) -> Side:
    """Return the lines of a passage as far as they are shown."""
    lines = text.lines[first - 1 : last]
    kept = tuple(shown(line, MOST_COLUMNS) for line in lines[:MOST_LINES])
    return Side(first, kept, len(lines) - len(kept))


def shown(text: str, most: int = 200) -> str:
    """Return text on one line as it can be shown, cut where it is long."""
    plain = printable(text[:most]).replace("\n", " ")
    return plain if len(text) <= most else f"{plain}…"


def as_json(comparison: Comparison, lacking: Sequence[SubmittedModule], stage: str, least: float) -> str:
    """Return the document; lacking holds submissions that were not compared."""
    return dumps(
        {
            "schema": SCHEMA,
            "stage": stage,
            "compared": len(comparison.texts),
            "least": least,
            "own_solutions_known": comparison.own_known,
            "own_solutions": [
                {"student": each.left.name, "solution": each.right.name, **_shared(each)} for each in comparison.copies
            ],
            "count": comparison.count,
            "pairs": [
                {"left": each.left.name, "right": each.right.name, "sections": each.sections, **_shared(each)}
                for each in comparison.pairs
            ],
            "of_one_team": comparison.of_teams,
            "usual": list(comparison.usual),
            "notes": [
                {"student": each.name, "idle": each.tokens.idle, "notes": list(each.notes)}
                for each in comparison.texts
                if each.notes
            ],
            "not_compared": [{"student": each.student, "reason": each.why} for each in lacking],
        }
    )


def _shared(pair: SimilarPair) -> dict[str, Any]:
    return {
        "of_left": round(pair.of_left, 4),
        "of_right": round(pair.of_right, 4),
        "passages": [
            {"tokens": each.tokens, "left": list(each.left), "right": list(each.right)} for each in passages(pair)
        ],
    }
