"""The names of a learner's files: what of them is shown, and when two are one for some file system."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence

from grader.course.stage import Stage
from grader.errors import SubmissionError

SHOWN = 160
ZIP = (".zip",)
TAR = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
NOTEBOOK = ".ipynb"


def is_archive(name: str) -> bool:
    """Say whether a name is that of an archive that is read."""
    return name.lower().endswith((*ZIP, *TAR))


def printable(text: str) -> str:
    """A file name as a terminal can show it: no control characters, no undecodable bytes."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def shown(text: str) -> str:
    """As printable, and cut where it is long."""
    return printable(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def folded(parts: Iterable[str]) -> tuple[str, ...]:
    """A path as a file system takes it that knows no case, and no two ways to write an accent."""
    return tuple(unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold()) for part in parts)


def places(stage: Stage) -> tuple[tuple[str, ...], ...]:
    """Where the module of a stage may lie, below a folder, an archive or a revision; the first that is there counts."""
    return ("stages", stage.name, stage.module), (stage.module,)


def is_renamed(name: str, module: str) -> bool:
    """Say whether a name is a module's as uploads and downloads change it: lovelaceada_1_numbers-1.py.

    A learning platform puts names and numbers before it, the last a number; whoever has the name already, a number
    behind it. What else ends alike is another module: my_numbers.py.
    """
    stem = re.escape(module.removesuffix(".py"))
    return re.fullmatch(rf"(.*[0-9][_-])?{stem}([_-][0-9]{{1,3}}| ?\([0-9]{{1,3}}\))?\.py", name, re.DOTALL) is not None


def several(label: str, paths: Sequence[str]) -> SubmissionError:
    """The error where it cannot be told which of several files is the module."""
    some = ", ".join(shown(path) for path in paths[:3])
    what = f"{label} holds {len(paths)} files that could be the module: {some}"
    return SubmissionError(what, "Hand in one module, or an archive with it at the top.")


def expected(stage: Stage) -> str:
    """The same in words."""
    return " or ".join("/".join(parts) for parts in places(stage))


def suggestion(names: Iterable[str]) -> str | None:
    """Python files that are there instead, since a misspelt name is the likeliest mistake."""
    found = sorted(shown(name) for name in names if name.endswith(".py"))
    return f"Python files in it: {', '.join(found[:5])}" if found else None
