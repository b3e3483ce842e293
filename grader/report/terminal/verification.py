"""A course's proof as `grader course verify` shows it, and the naming of its mutants: lines, or a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from grader.report.terminal.layout import Look, paragraph

if TYPE_CHECKING:
    from rich.text import Text

    from grader.authoring.cases import Planned
    from grader.authoring.claims import Shortfall
    from grader.authoring.evaluation import Mutation, Ratio
    from grader.authoring.naming import GradedMutant, NamedCauses, Naming
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
    return (proof.stage, str(proof.criteria), str(proof.tests), *map(_tally, tallies), _mutation(proof.mutation))


def _tally(tally: Ratio) -> str:
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
    tallies: dict[str, Ratio] = {name: getattr(proof, name) for name in names}
    return {
        "stage": proof.stage,
        "title": proof.title,
        "criteria": proof.criteria,
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


STATES = {"right": "right", "in_function": "in the function", "false": "false", "unnamed": "not named"}
WAYS = {"reference": "reference alone", "alternatives": "alternatives too", "pool": "a pool of them"}


def naming_lines(found: Sequence[Naming], look: Look) -> list[Text]:
    """Return how mutants of second solutions are named in each way, and what is told falsely."""
    from rich.text import Text

    lines = [Text(""), Text("mutants of a second solution", "bold")]
    for each in found:
        lines += paragraph(f"{each.stage}: {_sizes(each)}", look, hanging=4)
        lines += _table_of_naming(each, look) if each.solution else []
        for one in each.graded:
            lines += _false(each, one, look)
    return lines


def _table_of_naming(found: Naming, look: Look) -> list[Text]:
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


def _false(found: Naming, graded: GradedMutant, look: Look) -> list[Text]:
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


def _told(told: NamedCauses) -> dict[str, Any]:
    causes = [
        {"id": each.cause, "function": each.function, "line": each.line, "text": each.text} for each in told.causes
    ]
    return {"state": told.state, "causes": causes}
