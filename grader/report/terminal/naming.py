"""What `grader course verify --naming` adds: a table a stage, and what is told falsely; or a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.report.terminal.layout import Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

    from grader.authoring.naming import Graded, Naming, Told

STATES = {"right": "right", "in_function": "in the function", "false": "false", "unnamed": "not named"}
WAYS = {"reference": "reference alone", "alternatives": "alternatives too", "pool": "a pool of them"}


def naming_lines(found: Sequence[Naming], look: Look) -> list[Text]:
    """Return how mutants of second solutions are named in each way, and what is told falsely."""
    from rich.text import Text

    lines = [Text(""), Text("mutants of a second solution", "bold")]
    for each in found:
        lines += paragraph(f"{each.stage}: {_sizes(each)}", look, hanging=4)
        lines += _table(each, look) if each.solution else []
        for one in each.graded:
            lines += _false(each, one, look)
    return lines


def _table(found: Naming, look: Look) -> list[Text]:
    """Return how many are in each state: a line a way."""
    heads = "  ".join(STATES.values())
    rows = [f"{'known':20}  {heads}"]
    for way, known in WAYS.items():
        counts = "  ".join(f"{found.count(way, state):{len(words)}}" for state, words in STATES.items())
        rows.append(f"{known:20}  {counts}")
    return [line for row in rows for line in paragraph(f"    {row}", look)]


def _sizes(found: Naming) -> str:
    if not found.solution:
        return "no alternative solution, so nothing is measured"
    sizes = f"{found.solution}.py has {found.mutants} mutants; {found.caught} of {len(found.graded)} caught"
    return sizes if found.others else f"{sizes}; it is the only alternative, so that three times the same is measured"


def _false(found: Naming, graded: Graded, look: Look) -> list[Text]:
    """Return what a mutant is told falsely, once, with the ways in which it is told."""
    ways: dict[str, list[str]] = {}
    for way, told in graded.told.items():
        if told.state == "false":
            said = " / ".join(f"{each.cause} ({each.function or '-'}, line {each.line})" for each in told.causes)
            ways.setdefault(said, []).append(WAYS[way])
    mutant = graded.mutant
    changed = f"{found.solution}.py:{mutant.line} {mutant.function}: {mutant.was}  ->  {mutant.now}"
    return [
        line
        for said, known in ways.items()
        for line in paragraph(f"    false ({', '.join(known)}): {changed}; told: {said}", look, hanging=8)
    ]


def naming_document(found: Naming) -> dict[str, Any]:
    """Return what was measured of one stage."""
    counts = {way: {state: found.count(way, state) for state in STATES} for way in WAYS}
    told = [
        {
            "line": each.mutant.line,
            "function": each.mutant.function,
            "was": each.mutant.was,
            "now": each.mutant.now,
            "changed_lines": list(each.lines),
            **{way: _told(told) for way, told in each.told.items()},
        }
        for each in found.graded
    ]
    sizes = {"others": found.others, "mutants": found.mutants, "graded": len(found.graded), "caught": found.caught}
    return {"stage": found.stage, "solution": found.solution or None, **sizes, **counts, "told": told}


def _told(told: Told) -> dict[str, Any]:
    causes = [
        {"id": each.cause, "function": each.function, "line": each.line, "text": each.text} for each in told.causes
    ]
    return {"state": told.state, "causes": causes}
