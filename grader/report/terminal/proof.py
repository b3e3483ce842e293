"""What `grader course verify` shows: a table of the stages, surviving mutants, a line a shortfall; or a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from grader.report.terminal.layout import Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

    from grader.authoring.cases import Planned
    from grader.authoring.claims import Shortfall
    from grader.authoring.evaluation import Mutation, Tally
    from grader.authoring.verify import StageProof

SCHEMA = 1
HEADS = ("stage", "rows", "tests", "reference", "stub", "alternatives", "mistakes", "named", "mutants caught")
WIDE = 96  # from here on the columns stand apart


def proof_lines(proofs: Sequence[StageProof], look: Look) -> list[Text]:
    """Return the table, then each survivor with its line, then each shortfall with its file and what mends it."""
    lines = _table(proofs, look)
    for proof in proofs:
        survivors = proof.mutation.survivors if proof.mutation else ()
        lines += [*_titled(f"{proof.stage}: mutants that no test notices", bool(survivors))]
        for mutant in survivors:
            text = f"solution.py:{mutant.line} {mutant.function}: {mutant.was}  ->  {mutant.now}"
            lines += paragraph(text, look, hanging=4)
    for proof in proofs:
        if proof.planned is not None:
            lines += _planned(proof.stage, proof.planned, look)
    for proof in proofs:
        lines += [*_titled(f"{proof.stage}: {_count(len(proof.shortfalls))}", bool(proof.shortfalls))]
        for shortfall in proof.shortfalls:
            lines += paragraph(f"{shortfall.place}: {shortfall.message}; {shortfall.fix}", look, hanging=4)
    return lines


def _planned(stage: str, planned: Planned, look: Look) -> Iterator[Text]:
    """Yield how many tests of each alternative ask as they run, though they were planned, and which are slow anyway."""
    strayed = [f"{count} with {name}" for name, count in planned.strayed.items() if count]
    if strayed:
        yield from _titled(f"{stage}: of {planned.tests} planned tests some ask something else", True)
        yield from paragraph(", ".join(strayed), look, hanging=4)
    if planned.slow:
        yield from _titled(f"{stage}: tests that could be marked live, since one answer takes them long", True)
        for test, seconds in planned.slow.items():
            yield from paragraph(f"{test}: {seconds:.1f} s", look, hanging=4)


def summary(proofs: Sequence[StageProof]) -> str:
    """Return the last line: how many shortfalls there are in how many stages."""
    number = sum(len(proof.shortfalls) for proof in proofs)
    stages = "1 stage" if len(proofs) == 1 else f"{len(proofs)} stages"
    return f"{stages}, {_count(number) if number else 'no shortfall'}."


def _count(number: int) -> str:
    return "1 shortfall" if number == 1 else f"{number} shortfalls"


def _titled(title: str, wanted: bool) -> Iterator[Text]:
    from rich.text import Text

    if wanted:
        yield Text("")
        yield Text(title, "bold")


def _table(proofs: Sequence[StageProof], look: Look) -> list[Text]:
    from rich.text import Text

    rows = [_cells(proof) for proof in proofs]
    widths = [max(len(head), *(len(row[i]) for row in rows)) for i, head in enumerate(HEADS)]
    gap = "  " if look.width >= WIDE else " "

    def line(cells: Sequence[str]) -> str:
        first, *rest = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        return gap.join([first, *(cell.strip().rjust(len(cell)) for cell in rest)])

    styles = ["red" if proof.shortfalls else "green" for proof in proofs]
    return [Text(line(HEADS), "bold"), *(Text(line(row), style) for row, style in zip(rows, styles, strict=True))]


def _cells(proof: StageProof) -> tuple[str, ...]:
    tallies = (proof.reference, proof.stub, proof.alternatives, proof.mistakes, proof.named)
    return (proof.stage, str(proof.rows), str(proof.tests), *map(_tally, tallies), _mutation(proof.mutation))


def _tally(tally: Tally) -> str:
    return f"{tally.good}/{tally.total}" if tally.total else "-"


def _mutation(mutation: Mutation | None) -> str:
    if mutation is None:
        return "-"
    return f"{mutation.killed}/{mutation.total - mutation.accepted} {100 * mutation.rate:.1f}%"


def proof_document(proofs: Sequence[StageProof], seeds: int, version: str) -> dict[str, Any]:
    """Return what was proven as a versioned document."""
    whole = all(not proof.shortfalls for proof in proofs)
    return {"schema": SCHEMA, "course": version, "seeds": seeds, "proven": whole, "stages": [*map(_document, proofs)]}


def _document(proof: StageProof) -> dict[str, Any]:
    names = ("reference", "stub", "alternatives", "mistakes", "named")
    tallies: dict[str, Tally] = {name: getattr(proof, name) for name in names}
    return {
        "stage": proof.stage,
        "title": proof.title,
        "criteria": proof.rows,
        "tests": proof.tests,
        **{name: {"good": tally.good, "total": tally.total} for name, tally in tallies.items()},
        "mistakes_of_robustness": proof.of_robustness,
        "planned": None if proof.planned is None else _plan(proof.planned),
        "mutants": None if proof.mutation is None else _mutants(proof.mutation),
        "shortfalls": [_shortfall(each) for each in proof.shortfalls],
    }


def _mutants(mutation: Mutation) -> dict[str, Any]:
    survivors = [
        {"line": each.line, "function": each.function, "was": each.was, "now": each.now} for each in mutation.survivors
    ]
    counts = {"total": mutation.total, "equivalent": mutation.accepted, "caught": mutation.killed}
    return {**counts, "rate": round(mutation.rate, 4), "survivors": survivors}


def _plan(planned: Planned) -> dict[str, Any]:
    slow = {test: round(seconds, 2) for test, seconds in planned.slow.items()}
    return {"tests": planned.tests, "strayed": dict(planned.strayed), "slow": slow}


def _shortfall(shortfall: Shortfall) -> dict[str, str]:
    return {"file": shortfall.place, "message": shortfall.message, "fix": shortfall.fix}
