"""The reference beside a learner's own module, function by function: method, speed and both texts."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import TYPE_CHECKING

from grader.report.terminal.layout import Look, paragraph, side_by_side
from grader.report.terminal.words import count, duration

if TYPE_CHECKING:
    from rich.text import Text

    from grader.progress.comparison import FunctionPair, Piece, SolutionComparison, Timing

BESIDE = 100  # columns of a terminal from which on both texts stand side by side
WIDEST = 200
FEW = 4  # functions of NumPy that are named
ALIKE = 1.5  # a ratio of two times up to which they are called alike: that much may be noise
OWN, REFERENCE = "yours", "reference"


def comparison_lines(found: SolutionComparison, look: Look) -> list[Text]:
    """Return the whole comparison."""
    lines = paragraph(f"{found.stage} · {found.title} · {found.label} beside the reference", look, "bold", indent=0)
    if found.problem:
        lines += paragraph(f"Your own module is left out: {found.problem}", look, "yellow", indent=0)
    for pair in found.pairs:
        lines += [*paragraph("", look, indent=0), *_pair_lines(pair, look, alone=bool(found.problem))]
    lines += [*paragraph("", look, indent=0), *paragraph(summary(found), look, indent=0)]
    if found.unmeasured and not found.problem:
        lines += paragraph(look.command(f"No times: {found.unmeasured}."), look, "dim", indent=0)
    whole = f"the whole reference, in a file: {look.command(f'grader solution {found.stage} --output FILE')}"
    return [*lines, *side_by_side([whole], look, indent=0)]


def summary(found: SolutionComparison) -> str:
    """Return in a sentence how the two modules compare."""
    both = [pair for pair in found.pairs if pair.own and pair.reference]
    if not both:
        return f"{count(len(found.pairs), 'function')} of the reference."
    same = sum(pair.same for pair in both)
    ratios = [pair.timing.ratio for pair in both if pair.timing is not None and not pair.same]
    said = f"{count(len(both), 'function')} in both modules, {same} written alike."
    if ratios:
        slower, faster = sum(each > ALIKE for each in ratios), sum(each < 1 / ALIKE for each in ratios)
        rest = len(ratios) - slower - faster
        said += (
            f" Of the others, as measured, yours is slower in {slower}, faster in {faster}, about as fast in {rest}."
        )
    return said


def method_words(own: Piece, reference: Piece) -> tuple[str, str]:
    """Return in a few words each how two functions are written: their lines, and what only one of them has."""
    return f"{OWN}: {_facts(own, reference)}", f"{REFERENCE}: {_facts(reference, own)}"


def time_words(timing: Timing) -> str:
    """Return in words how long two functions take, and which is faster."""
    ratio = timing.ratio
    if 1 / ALIKE <= ratio <= ALIKE:
        said = "about as fast as each other"
    else:
        said = (
            f"yours takes {ratio:.2g} times as long"
            if ratio > 1
            else f"the reference takes {1 / ratio:.2g} times as long"
        )
    calls = f"medians, {count(timing.calls, 'call')} of the tests"
    return f"{said}: {duration(timing.own)} and {duration(timing.reference)} a call ({calls})"


def _facts(piece: Piece, other: Piece) -> str:
    facts = [count(piece.lines, "line")]
    if piece.loops != other.loops:
        facts.append(count(piece.loops, "loop") if piece.loops else "no loop")
    if piece.comprehensions != other.comprehensions:
        facts.append(count(piece.comprehensions, "comprehension") if piece.comprehensions else "no comprehension")
    only = [tool for tool in piece.tools if tool not in other.tools]
    return " · ".join([*facts, *([", ".join(only[:FEW]) + (", …" if len(only) > FEW else "")] if only else [])])


def _pair_lines(pair: FunctionPair, look: Look, alone: bool) -> Iterator[Text]:
    own, reference = pair.own, pair.reference
    one = own or reference
    if own is None or reference is None:
        where = "" if alone else " · only in the reference" if own is None else " · only in yours"
        yield from paragraph(f"{pair.name}{where}", look, "bold", indent=0)
        yield from _code(one.text if one else "", look)
        return
    yield from paragraph(pair.name + (" · as in the reference" if pair.same else ""), look, "bold", indent=0)
    if not pair.same:
        words = method_words(own, reference)
        together = 2 + len("    ".join(words)) <= look.detail
        for line in ["    ".join(words)] if together else words:
            yield from paragraph(line, look, "yellow", indent=2, hanging=2)
    if pair.timing is not None and not pair.same:
        yield from paragraph(time_words(pair.timing), look, "yellow", indent=2, hanging=2)
    if not pair.same:
        yield from _both(own, reference, look)


def _both(own: Piece, reference: Piece, look: Look) -> Iterator[Text]:
    """Yield two texts side by side or, where the terminal has no room, one after the other."""
    if look.width < BESIDE:
        for label, piece in ((OWN, own), (REFERENCE, reference)):
            yield from paragraph(label, look, "dim", indent=2)
            yield from _code(piece.text, look)
        return
    from rich.cells import set_cell_size
    from rich.text import Text

    bar = "|" if look.ascii else "│"
    width = (min(look.width, WIDEST) - 7) // 2
    yield Text(f"    {OWN:<{width}} {bar} {REFERENCE}", "dim")
    for left, right in zip_longest(_folded(own, width, look), _folded(reference, width, look), fillvalue=""):
        yield Text(f"    {set_cell_size(left, width)} {bar} {right}".rstrip())


def _folded(piece: Piece, width: int, look: Look) -> Iterator[str]:
    """Yield a function's lines, a long one in pieces, broken within a word only where the word is as long."""
    from rich.cells import cell_len, chop_cells

    from grader.report.terminal.pager import broken

    for line in look.clean(piece.text).split("\n"):
        for part in broken(line, width):
            yield from chop_cells(part, width) if cell_len(part) > width else [part]


def _code(text: str, look: Look) -> Iterator[Text]:
    for line in text.split("\n"):
        yield from paragraph(line, look, hanging=8)
