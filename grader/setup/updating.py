"""Brings the course of this grader into a learner's folder that was made from an older one."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from grader.course.sealed import RECORD, ReleaseRecord, is_newer, read_record
from grader.errors import UsageError
from grader.setup.edition import Edition
from grader.setup.files import backup_folder, read, remove, write
from grader.setup.merging import merged
from grader.setup.planning import Change, Merge, plan

RELEASED = ("grader/", ".grader/wheels/")  # where a copy that `grader release` built has the grader, as its record says
LOCK_SECONDS = 10.0


@dataclass(frozen=True)
class Update:
    """What an update of a folder changes, from which course version to which; kept is where old files go, if any."""

    before: str
    after: str
    changes: tuple[Change, ...]
    kept: str | None


def update(root: Path, edition: Edition, when: datetime, *, dry_run: bool = False, merge: Merge = merged) -> Update:
    """Bring an edition into the folder of a learner, and return what was changed; dry_run only says it.

    Raises UsageError where the folder is no learner's own or has a newer course; nothing is changed then.
    """
    expect_learners(root, edition)
    if dry_run:
        return _planned(root, edition, when, merge)
    with _locked(root):
        found = _planned(root, edition, when, merge)
        for change in found.changes:
            if change.backup:
                _keep(root, change.path, found.kept)
        for change in found.changes:
            if change.data is not None:
                write(root / change.path, change.data)
            elif change.action == "remove":
                remove(root, change.path)
    return found


def expect_learners(root: Path, edition: Edition) -> ReleaseRecord:
    """Return the record of the release that a folder was made from; UsageError where this edition cannot follow it."""
    hidden = root / edition.sealed
    if not (hidden / RECORD).is_file():
        what = f"{root} is not a folder that `grader init` made"
        raise UsageError(what, "Only such a folder is updated. An author's course changes by hand, or with git.")
    record = read_record(hidden)
    if any(name.startswith(RELEASED) for name in record.files) or not record.self_paced:
        what = f"{root} is a copy that somebody released with a grader of its own"
        raise UsageError(what, "Whoever released it gives you the next one; nothing was changed.")
    if is_newer(record.course, edition.version):
        what = f"{root} holds course {record.course}, and this grader brings {edition.version}, which is older"
        raise UsageError(what, "Install the newest grader first; nothing was changed.")
    return record


def _planned(root: Path, edition: Edition, when: datetime, merge: Merge) -> Update:
    from grader.setup.wheel import wheels_in  # what asks for a newer course does without it

    record = read_record(root / edition.sealed)
    changes = plan(edition, record, lambda path: read(root, path), merge, wheels_in(root) if edition.wheel else ())
    kept = backup_folder(root, when) if any(change.backup for change in changes) else None
    return Update(record.course, edition.version, changes, kept)


def _keep(root: Path, path: str, folder: str | None) -> None:
    """Copy a file to where old ones are kept, before anything is changed."""
    assert folder is not None
    target = root / folder / path
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(root / path, target)
    except OSError as error:
        raise UsageError(f"{target} cannot be written: {error.strerror}", "Nothing was changed.") from error


@contextmanager
def _locked(root: Path) -> Iterator[None]:
    import filelock

    folder = root / ".grader"
    lock = filelock.FileLock(folder / "update.lock", timeout=LOCK_SECONDS)
    try:
        folder.mkdir(exist_ok=True)
        lock.acquire()
    except filelock.Timeout as error:
        raise UsageError(f"another update of {root} is running", "Wait for it to finish, and try again.") from error
    except OSError as error:
        raise UsageError(f"{folder} cannot be written: {error.strerror}", "Nothing was changed.") from error
    try:
        yield
    finally:
        lock.release()
