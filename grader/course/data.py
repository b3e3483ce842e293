"""The data of a stage: files that its tests and drawings read as bytes, from the course's own copy of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.course import sealed
from grader.course.stage import Stage
from grader.errors import CourseError

FOLDER = "data"
MAX_BYTES = 1_000_000  # of one file
ABOUT = "README.md"  # tells where the data are from, and is none of them


def data_files(stage: Stage) -> dict[str, bytes]:
    """Return the data of a stage by their names, as they were released; CourseError where they are not as expected."""
    if sealed.public_only(stage):
        return _read(sealed.public_data(stage))
    if sealed.is_sealed(stage):
        return dict(sealed.opened(stage).data)
    return data_beside(stage.folder)


def data_beside(folder: Path) -> dict[str, bytes]:
    """Return the data that lie in a stage's folder; CourseError for a folder among them, or too large a file."""
    place = folder / FOLDER
    if not place.is_dir():
        return {}
    paths = sorted(path for path in place.iterdir() if path.name != ABOUT and not path.name.startswith("."))
    return _read(tuple(paths))


def named(found: Mapping[str, bytes], name: str, stage: str) -> bytes:
    """Return one of a stage's data; CourseError, with the names that there are, where it has none of that name."""
    if name not in found:
        there = f"its {FOLDER}/ has {', '.join(found)}" if found else f"it has no file in {FOLDER}/"
        raise CourseError(f"{stage} has no data of the name {name!r}: {there}", "Name one of its files.")
    return found[name]


def _read(paths: tuple[Path, ...]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for path in paths:
        shown = f"stages/{path.parent.parent.name}/{FOLDER}/{path.name}"
        if not path.is_file() or path.is_symlink():
            raise CourseError(f"{shown} is not a regular file", f"{FOLDER}/ holds files, side by side.")
        try:
            found[path.name] = path.read_bytes()
        except OSError as error:
            raise CourseError(f"{shown} cannot be read: {error.strerror}") from error
        if (size := len(found[path.name])) > MAX_BYTES:
            hint = "Make it smaller, or make several of it."
            raise CourseError(f"{shown} has {size:,} bytes: at most {MAX_BYTES:,} are allowed", hint)
    return found
