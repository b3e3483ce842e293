"""A report on disk: written whole or not at all, and never over a file that is something else."""

from __future__ import annotations

import os
from pathlib import Path

from grader.atomic import write_atomically
from grader.errors import UsageError

OURS = b'<meta name="generator" content="grader report">'
HEAD_BYTES = 4096
ENDINGS = (".html", ".htm")


def expect_free(path: Path) -> None:
    """Raise UsageError unless a report can be put there; an earlier report is replaced, nothing else is."""
    if path.suffix.lower() not in ENDINGS:
        raise UsageError(f"{path} does not end in .html", "Expected the name of a page, as in --output report.html.")
    if not path.parent.is_dir():
        raise UsageError(f"{path.parent} is not a folder", "Name a file in a folder that exists.")
    if not os.path.lexists(path):
        return
    if path.is_symlink() or not path.is_file():
        raise UsageError(f"{path} is not a regular file; it was not replaced", "Name another file with --output.")
    try:
        with path.open("rb") as file:
            ours = OURS in file.read(HEAD_BYTES)
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}", "Name another file with --output.") from error
    if not ours:
        what = f"{path} already exists and is not a report; it was not replaced"
        raise UsageError(what, "Name another file with --output.")


def write(path: Path, text: str) -> None:
    """Write a report in one step; UsageError where the disk does not take it, and an earlier one stays as it was."""
    expect_free(path)
    hint = "Put that right, or name another file with --output. An earlier report stays as it was."
    write_atomically(path, text, hint=hint, follow=False)
