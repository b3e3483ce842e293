"""The bank of slips: wrong answers that no stage knows, each an edit of a solution that is not the reference.

A folder a stage: `<stage id>/solution.py`, which is right, and `slips.toml` beside it. Of some stages `holdout.toml`
has more: slips that were written before it was known how they fare. A holdout tells the honest figure as long as
nothing is made to fit it. What is told of them stands in `golden.json` (golden.py).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from grader.course.answers import KEBAB, Replacement, patch_in
from grader.course.table import Table, read_toml
from grader.errors import GraderError

FOLDER = Path(__file__).parent
SLIPS, HOLDOUT = "slips.toml", "holdout.toml"


class BankError(GraderError):
    """A stage's slips cannot be read; the message has a line for each thing that is wrong."""


@dataclass(frozen=True)
class Slip:
    """One wrong answer: what is wrong with it in truth, the row that fails for it, and its module's text."""

    stage: str
    id: str
    what: str
    row: str
    edits: tuple[Replacement, ...]
    source: str


def stages_with_slips(folder: Path = FOLDER, file: str = SLIPS) -> tuple[str, ...]:
    """Return the ids of the stages that the bank has slips of, or a holdout."""
    return tuple(sorted(path.parent.name for path in folder.glob(f"*/{file}")))


def solution_of(stage: str, folder: Path = FOLDER) -> str:
    """Return the text of a stage's right module, which its slips are edits of; BankError where it is missing."""
    path = folder / stage / "solution.py"
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        hint = f"The bank has slips of {', '.join(stages_with_slips(folder)) or 'no stage'}."
        raise BankError(f"{stage}/solution.py: cannot be read: {error.strerror}", hint) from error


@functools.cache
def slips_of(stage: str, folder: Path = FOLDER, file: str = SLIPS) -> tuple[Slip, ...]:
    """Return the slips of a stage, or of its holdout, applied; BankError with a line for each mistake in the file."""
    solution = solution_of(stage, folder)
    place = f"{stage}/{file}"
    mistakes: list[str] = []
    top = Table(read_toml(folder / stage / file, place), f"{place}: ", mistakes)
    tables = top.tables("slip")
    slips = tuple(_slip(stage, table, solution) for table in tables)
    ids = [slip.id for slip in slips]
    for number, (table, slip) in enumerate(zip(tables, slips, strict=True)):
        if slip.id and slip.id in ids[:number]:
            table.wrong("id", f"'{slip.id}' is already the id of slip[{ids.index(slip.id)}]")
    top.close()
    if mistakes:
        raise BankError("\n".join(mistakes))
    return slips


def _slip(stage: str, table: Table, solution: str) -> Slip:
    told = table.text("id", KEBAB), table.text("what"), table.text("row", KEBAB)
    patch = patch_in(table)
    source = patch.applied(solution, "solution.py")
    table.close()
    return Slip(stage, *told, tuple(edit for _, edit in patch.edits), source)
