"""CSV of which a spreadsheet makes texts and numbers, never a formula, whichever separator it splits lines at.

A spreadsheet of another country splits at `;` what was separated by `,`, and then quotes no longer hold a text
together. So every text is quoted, and an apostrophe stands before each place in it at which a cell could begin with a
formula. After a comma a number may have its sign: only a reader that ignores quotes splits there, and it ends the cell
at the next comma. After `;` the cell goes on in the next text, where a sign could begin a formula.
Source: OWASP, CSV Injection; RFC 4180.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

Cell = str | int | float | None
_SIGNS = r"=+\-@＝＋－＠﹦﹢﹣﹫−"  # full-width and small forms are taken for the plain ones
_ENDS = r"\t\n\v\f\r\x85\u2028\u2029"  # of lines, and the separator that is no mark
_LEFT_OUT = r"\"' \xa0\u2000-\u200b\u202f\u3000\ufeff"  # quotes and blanks, which some readers remove
_NUMBER = rf" *[+\-] *(?:[0-9]*\.?[0-9]*(?:e[+\-]?[0-9]+)?)[\])}} ]*(?=[,{_ENDS}]|\Z)"  # or the sign alone: no formula
_FORMULA = re.compile(rf"^(?=[{_ENDS}])|(?:^|(?<=[;|{_ENDS}])|(?<=,)(?!{_NUMBER}))(?=[{_LEFT_OUT}]*[{_SIGNS}])")


def csv_text(lines: Iterable[Sequence[Cell]]) -> str:
    r"""Return lines of cells as CSV; None and an empty text are an empty cell.

    >>> csv_text([("ada", "x;=1+1", 2.5, None)])
    '"ada","x;\'=1+1",2.5,\r\n'
    """
    return "".join(",".join(map(_written, line)) + "\r\n" for line in lines)


def _written(cell: Cell) -> str:
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    text = _FORMULA.sub("'", cell).replace('"', '""')
    return f'"{text}"' if text else ""
