"""A report on disk: one file for the class, or a folder with the class's page and one for each student.

A folder is made beside its place and then moved there, so that nobody finds half a report, and a failure leaves the
earlier one as it was.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from grader.errors import GraderError, UsageError
from grader.gradebook.database import FILE
from grader.gradebook.pages.figures import Figures
from grader.gradebook.pages.page import Pages
from grader.gradebook.pages.sheets import Sheet

INDEX = "index.html"
STUDENTS = "students"
ENDINGS = (".html", ".htm")
_PAGE = re.compile(r"[a-z0-9-]{1,40}-[0-9a-f]{12}\.html")
_OURS = b'<meta name="generator" content="grader class report">'


def write_report(pages: Pages, sheets: Iterable[Sheet], place: Path) -> int:
    """Write a file where place ends in .html, else a folder; return how many students are in it.

    Raises UsageError where something else is in the way, which is left as it is.
    """
    with _fresh(place) as fresh:
        return _write(pages, sheets, fresh, is_folder(place))


def is_folder(place: Path) -> bool:
    """Return whether a report there is a folder."""
    return place.suffix.lower() not in ENDINGS


def expect_free(place: Path) -> None:
    """Raise UsageError unless a report can be put there; only an earlier report is replaced."""
    if place.name in ("", ".."):
        raise UsageError(f"{place} has no name of its own", "Name a file or a folder, as in --out report.")
    if not place.parent.is_dir():
        raise UsageError(f"{place.parent} is not a folder", "Name a place in a folder that exists.")
    if not os.path.lexists(place):
        return
    if (place / FILE).exists():
        hint = f"Name the gradebook first, as in `grader class report {place} --out report`."
        raise UsageError(f"{place} holds a gradebook, and no report is put there", hint)
    if place.is_symlink():
        raise UsageError(f"{place} is a link; it was not replaced", "Name another place with --out.")
    if not (_is_report(place) if is_folder(place) else place.is_file()):
        kind = "an empty folder, or an earlier report with nothing added" if is_folder(place) else "a file"
        raise UsageError(f"{place} is in the way: expected {kind}", "Name another place with --out.")


def page_name(student: str) -> str:
    """Return the name of a student's file: what of their name any system can hold, and a digest that is theirs alone.

    >>> page_name("../Ada Lovelace")
    'ada-lovelace-8a44a1f8c3f3.html'
    """
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug}-{digest}.html"


def _write(pages: Pages, sheets: Iterable[Sheet], fresh: Path, folder: bool) -> int:
    figures = Figures()
    if folder:
        fresh.mkdir(mode=0o700)  # as private as the gradebook
        (fresh / STUDENTS).mkdir()
    for sheet in sheets:
        name = f"{STUDENTS}/{page_name(sheet.student)}" if folder else ""
        if folder:
            (fresh / name).write_text(pages.student(sheet), encoding="utf-8", newline="\n")
        figures.add(sheet, name)
    if not figures.lines:
        raise UsageError("there are no results to report", "`grader class grade` makes some; see --stage, too.")
    index = fresh / INDEX if folder else fresh
    index.touch(0o600, exist_ok=False)
    with index.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(pages.overview(figures))
    return len(figures.lines)


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    """Give a path beside a place, and move what was written there to the place once all of it is."""
    expect_free(place)
    name = secrets.token_hex(8)
    fresh, before = (place.with_name(f".{place.name[:50]}.{name}.{kind}") for kind in ("new", "old"))
    try:
        yield fresh
        if place.is_dir():
            place.rename(before)
        try:
            fresh.replace(place)
        except OSError:
            if before.exists():
                before.rename(place)
            raise
    except OSError as error:
        hint = "Free some space, or name another place with --out. An earlier report stays as it was."
        raise GraderError(f"{place} cannot be written: {error.strerror or error}", hint) from error
    finally:
        for path in (fresh, before):
            _remove(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _is_report(folder: Path) -> bool:
    """Return whether a folder is empty or a report, and holds nothing else."""
    if not folder.is_dir():
        return False
    found = {path.name for path in folder.iterdir()}
    if not found:
        return True
    students = folder / STUDENTS
    if found != {INDEX, STUDENTS} or not (folder / INDEX).is_file() or not students.is_dir() or students.is_symlink():
        return False
    with (folder / INDEX).open("rb") as file:
        ours = _OURS in file.read(4096)
    return ours and all(_PAGE.fullmatch(path.name) for path in students.iterdir())
