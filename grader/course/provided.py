"""Data files of a stage, and references of earlier stages: what the course provides to tests, drawings and modules.

A stage imports a module of another by its full name, stages.<stage>.<module>. In the trusted process that is always
the reference, run from memory: the import guard executes no file of that path there, whatever sys.path holds.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path

from grader.course import sealed
from grader.course.answers import reference_source
from grader.course.import_guard import STAGES, Sources, Text, serving
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


def given_text(stage: Stage, used: Stage) -> tuple[str, str] | None:
    """Return the place and the text of what a stage, or one that it builds on, gives for a used stage's module.

    It is the released text where the course is a learner's copy. CourseError where it cannot be read.
    """
    givers = (each for each in (stage, *reversed(stage.builds_on)) if used.id in each.uses)
    return next((found for giver in givers if (found := _given_by(giver, used)) is not None), None)


def _given_by(giver: Stage, used: Stage) -> tuple[str, str] | None:
    path = giver.given_path(used)
    shown = path.relative_to(giver.folder.parent.parent).as_posix()
    if sealed.is_sealed(giver) and not sealed.public_only(giver):
        text = sealed.opened(giver).given.get(path.name)
        return None if text is None else (shown, text)
    if not path.is_file():
        return None
    try:
        return shown, path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CourseError(f"{shown} cannot be read: {error}") from error


def reference_texts(stage: Stage) -> dict[str, Text]:
    """Return by full name what gives the reference of each stage that one builds on; sealed ones are opened then.

    Without the key to them it is the stub, as for the stage itself.
    """
    return {used.import_name: partial(_trusted, used) for used in stage.builds_on}


def _trusted(used: Stage) -> str:
    return sealed.stub(used) if sealed.public_only(used) else reference_source(used)


def serving_stage(stage: Stage, modules: Mapping[str, str] | None = None) -> AbstractContextManager[None]:
    """Let trusted code import, for a stage, the references that it builds on and what is hidden of it.

    modules holds by full name the texts of hidden modules that were sealed; others lie in their folder.
    """
    texts = {name: partial(str, text) for name, text in (modules or {}).items()}
    folders = {} if sealed.is_sealed(stage) else {stage.hidden_root.name: stage.hidden_root.absolute()}
    tests = {f"{STAGES}.{stage.name}.tests": stage.tests_path}
    return serving(Sources({**reference_texts(stage), **texts}, folders, tests, user=stage.id))
