"""Files of a learner's folder, which are kept below .grader/backups before they are replaced."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from grader.atomic import write_atomically
from grader.errors import UsageError

BACKUPS = ".grader/backups"
AGAIN = "Repair that, and run the same command again."


def write(path: Path, data: bytes) -> None:
    """Write a file and the folders that it lies in; a link that waits under its name is replaced, never followed."""
    write_atomically(path, data, hint=AGAIN, follow=False, parents=True)


def remove(root: Path, name: str) -> None:
    """Delete a file, and the folders that are empty then; UsageError where that cannot be done."""
    path = root / name
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be deleted: {error.strerror}", AGAIN) from error
    for folder in path.parents:
        if folder == root:
            return
        try:
            folder.rmdir()
        except OSError:
            return


def backup_folder(root: Path, when: datetime, before: str = "update") -> str:
    """Return the name of a folder for backups that does not exist yet; before says of what."""
    stem = f"{BACKUPS}/{before}-{when.astimezone(UTC):%Y%m%dT%H%M%SZ}"
    names = (stem if number == 0 else f"{stem}-{number}" for number in count())
    return next(name for name in names if not os.path.lexists(root / name))


def read(root: Path, name: str) -> bytes | None:
    """Return what a regular file of a folder holds, None where there is none.

    Raises UsageError for anything else of that name, and where a link on the way leads out of the folder.
    """
    path = root / name
    try:
        if not path.parent.resolve().is_relative_to(root.resolve()):
            what = f"{path} lies behind a link that leads out of {root}, and nothing was changed"
            raise UsageError(what, "Put the folder itself in the link's place, and run the same command again.")
        if path.is_symlink() or (path.exists() and not path.is_file()):
            what = f"{path} is not a regular file; nothing was changed"
            raise UsageError(what, "Move it away, and run the same command again.")
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (OSError, RuntimeError) as error:  # the latter where links lead in a circle, up to Python 3.12
        why = getattr(error, "strerror", None) or error
        raise UsageError(f"{path} cannot be read: {why}", "Nothing was changed.") from error
