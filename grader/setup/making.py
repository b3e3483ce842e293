"""Makes a learner's folder from the course that comes with the grader."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from grader.errors import UsageError
from grader.setup.edition import Edition
from grader.setup.editors import editor_settings, encoded
from grader.setup.files import remove, write

FREE = "Name a new or an empty folder."


def make(edition: Edition, target: Path, editors: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Write the files of a learner's folder into a new or empty one and return their names.

    Raises UsageError where target cannot take them; what was written until then is removed again.
    """
    files = {
        **edition.files,
        **edition.wheel,
        **{name: data for editor in editors for name, data in editor_files(editor).items()},
    }
    _expect_free(target)
    there = target.exists()
    try:
        for name, data in sorted(files.items()):
            write(target / name, data)
    except BaseException:
        _undo(target, files, there)
        raise
    return tuple(sorted(files))


def editor_files(editor: str) -> dict[str, bytes]:
    """Return the settings of an editor, by their path in the folder; UsageError for one that is not known."""
    return {name: encoded(values) for name, values in editor_settings(editor).items()}


def _expect_free(target: Path) -> None:
    """Raise UsageError unless target is a new or an empty folder."""
    try:
        taken = any(target.iterdir())
    except FileNotFoundError:
        return
    except OSError as error:
        raise UsageError(f"{target} cannot be used: {error.strerror}", FREE) from error
    if taken:
        raise UsageError(f"{target} is not empty, and nothing in it is overwritten", FREE)


def _undo(target: Path, files: Mapping[str, bytes], was_there: bool) -> None:
    """Remove what was written; nothing else lay there."""
    with suppress(UsageError):
        for name in files:
            remove(target, name)
    if not was_there:
        with suppress(OSError):
            target.rmdir()
