"""What `grader course verify --naming` adds: a line a stage, and each sentence that is false; or a document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from grader.report.terminal.layout import Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

    from grader.authoring.naming import Naming

STATES = ("right", "false", "unnamed")


def naming_lines(found: Sequence[Naming], look: Look) -> list[Text]:
    """Return how mutants of second solutions are named, and what was told of those that are named falsely."""
    from rich.text import Text

    lines = [Text(""), Text("mutants of a second solution", "bold")]
    for each in found:
        lines += paragraph(f"{each.stage}: {_counts(each)}", look, hanging=4)
        for told in (one for one in each.told if one.state == "false"):
            changed = f"{each.solution}.py:{told.mutant.line} {told.mutant.function}: {told.mutant.was}"
            said = " / ".join(told.sentences)
            lines += paragraph(f"    false: {changed}  ->  {told.mutant.now}; told: {said}", look, hanging=8)
    return lines


def _counts(found: Naming) -> str:
    if not found.solution:
        return "no alternative solution, so nothing is measured"
    counts = ", ".join(f"{found.count(state)} {'not named' if state == 'unnamed' else state}" for state in STATES)
    caught = f"{found.caught} of {len(found.told)} caught"
    return f"{found.solution}.py has {found.mutants} mutants; {caught}: {counts}"


def naming_document(found: Naming) -> dict[str, Any]:
    """Return what was measured of one stage."""
    counts = {state: found.count(state) for state in STATES}
    told = [
        {
            "line": each.mutant.line,
            "function": each.mutant.function,
            "was": each.mutant.was,
            "now": each.mutant.now,
            "state": each.state,
            "told": list(each.sentences),
        }
        for each in found.told
    ]
    sizes = {"mutants": found.mutants, "graded": len(found.told), "caught": found.caught}
    return {"stage": found.stage, "solution": found.solution or None, **sizes, **counts, "told": told}
