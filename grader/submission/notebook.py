"""The code cells of a Jupyter notebook as one module; what only IPython understands becomes a comment.

Format: nbformat 3 and 4, as https://nbformat.readthedocs.io describes them. Nothing of a notebook is run.
"""

from __future__ import annotations

import json
import re
from typing import Any

from grader.errors import SubmissionError
from grader.submission.names import printable

MAX_BYTES = 8 << 20  # of a notebook, which holds pictures; as JSON it takes twenty times as much memory at worst
_SHOWN = 60  # characters of a line
_STARTS = re.compile(rb"^[ \t]*[%!]", re.MULTILINE)
_PYTHON_CELLS = re.compile(r"%%(?:time|timeit|capture|prun)\b")
_OWN = re.compile(
    r"\s*(?:%{1,2}[A-Za-z]|!(?!=)|\?\??\w|[\w.]+\?\??\s*$)"
)  # a line of IPython's: %magic, !command, ?help


def code(data: bytes, label: str) -> bytes:
    """Return the code of a notebook; SubmissionError for one that cannot be read, or holds none."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
        cells = [_source(cell) for cell in _cells(document) if cell.get("cell_type") == "code"]
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError) as error:
        raise SubmissionError(f"{label} is not a notebook that can be read", "Save it again in Jupyter.") from error
    if not any(cell.strip() for cell in cells):
        raise SubmissionError(f"{label} is a notebook without code", "Hand in the notebook that holds the functions.")
    return "\n\n".join(_plain(cell) for cell in cells).encode("utf-8", "surrogatepass") + b"\n"


def without_magics(source: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a Python file that was exported from a notebook without IPython's lines, and what was left out, in words.

    Only a file that Python cannot read otherwise, and can read then, is changed; all lines keep their place.
    """
    if _STARTS.search(source) is None or _reads(source):
        return source, ()
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        return source, ()
    lines = text.replace("\r\n", "\n").split("\n")
    changed = [_commented(line, lines[at - 1] if at else "") for at, line in enumerate(lines)]
    new = "\n".join(changed).encode()
    if not _reads(new):
        return source, ()
    first = next(line.strip() for line, now in zip(lines, changed, strict=True) if line != now)
    return new, (f"{printable(first[:_SHOWN])} is left out: only IPython understands it",)


def _reads(source: bytes) -> bool:
    """Say whether a text is Python; one that may take long to read is taken for it."""
    from grader.submission.source import plain_text
    from grader.submission.source.parsing import parsed
    from grader.submission.source.problem import Problem

    text = plain_text(source)
    return text is None or not isinstance(parsed(text), Problem)


def _cells(document: Any) -> list[dict[str, Any]]:
    if "cells" in document:
        return list(document["cells"])
    return [cell for sheet in document["worksheets"] for cell in sheet["cells"]]  # nbformat 3


def _source(cell: dict[str, Any]) -> str:
    text = cell.get("source", cell.get("input", ""))
    return text if isinstance(text, str) else "".join(text)


def _plain(cell: str) -> str:
    """Return a cell with each line that is IPython's own as a comment, so that all lines keep their place."""
    lines = cell.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and not _PYTHON_CELLS.match(first):  # a cell of another language
        return "\n".join(f"# {line}" for line in lines)
    return "\n".join(_commented(line, lines[at - 1] if at else "") for at, line in enumerate(lines))


def _commented(line: str, before: str) -> str:
    goes_on = before.rstrip().endswith((",", "(", "[", "\\"))  # then % is the operator
    if not _OWN.match(line) or goes_on:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}pass  # {line.strip()}" if indent else f"# {line}"
