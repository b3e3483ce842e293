"""The course of this grader brought into a learner's folder that was made from an older one.

A change is decided from the old release, the new one and what stands there. A learner's code and a newer stub are
joined by `git merge-file` from the stub that both began with.
"""

from __future__ import annotations

import ast
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal

from grader.course.sealed import RECORD, ReleaseRecord, digest, is_newer, read_record
from grader.errors import UsageError
from grader.setup.course_files import backup_folder, read, remove, write
from grader.setup.edition import Edition

SECONDS = 30.0


def merged(mine: bytes, base: bytes, theirs: bytes) -> bytes | None:
    """Return mine with what is new in theirs; None where both changed the same lines, or git is not there.

    Line ends stay those of mine. What was Python before is Python afterwards, or there is no result.
    """
    git = shutil.which("git")
    if git is None:
        return None
    with tempfile.TemporaryDirectory(prefix="grader-merge-") as folder:
        paths = [Path(folder, name) for name in ("mine", "base", "theirs")]
        for path, data in zip(paths, (mine, base, theirs), strict=True):
            path.write_bytes(data.replace(b"\r\n", b"\n"))
        try:
            done = subprocess.run(
                [git, "merge-file", "-p", "-q", *map(str, paths)],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, check=False,
            )  # fmt: skip
        except (OSError, subprocess.TimeoutExpired):
            return None
    if done.returncode != 0 or (_is_python(mine) and not _is_python(done.stdout)):
        return None
    return done.stdout.replace(b"\n", b"\r\n") if b"\r\n" in mine else done.stdout


def _is_python(text: bytes) -> bool:
    try:
        ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


Action = Literal["add", "replace", "merge", "beside", "remove", "keep"]
Read = Callable[[str], bytes | None]  # what a file of the folder holds, by its path
Merge = Callable[[bytes, bytes, bytes], bytes | None]  # mine, base and theirs; None where they cannot be joined
BESIDE = ".new"  # ends the name of a stub that is put next to a module which it cannot be merged into


@dataclass(frozen=True)
class FileUpdate:
    """What happens to one file; data is what it holds afterwards, backup says that its old text is kept.

    add, replace, merge (the new stub into a learner's code), beside (the new stub next to it), remove, and keep: a
    learner's module that the course no longer has stays as it is.
    """

    path: str
    action: Action
    data: bytes | None = None
    backup: bool = False
    sealed: bool = False  # a bundle, or what lies with it


def plan(
    edition: Edition, old: ReleaseRecord, read: Read, merge: Merge, wheels: Iterable[str] = ()
) -> tuple[FileUpdate, ...]:
    """Return the changes in the order in which they are made; a run that was cut short is completed by another one.

    wheels are the paths of those in the folder: the new one is there before pyproject.toml names it, and an old one
    until it does not. Modules come before the stubs that they began from; the record of the release comes last.
    """
    own = {**modules(old.files, edition.sealed), **modules(edition.record.files, edition.sealed)}
    first = [change for path in sorted(own) for change in _module(path, own[path], edition, old, read, merge)]
    others = sorted({*edition.files, *old.files, *_old_bundles(old, edition)} - own.keys())
    plain = [path for path in others if not path.startswith(f"{edition.sealed}/")]
    sealed = [path for path in others if path.startswith(f"{edition.sealed}/")]
    record = edition.path(RECORD)
    sealed.sort(key=lambda path: path == record)
    return (
        *(change for path in sorted(edition.wheel) for change in _own(path, edition.wheel[path], read)),
        *first,
        *(change for path in plain for change in _plain(path, edition, old, read)),
        *(change for path in sorted(set(wheels) - edition.wheel.keys()) for change in _own(path, None, read)),
        *(change for path in sealed for change in _own(path, edition.files.get(path), read, sealed=True)),
    )


def modules(files: Mapping[str, str], sealed: str) -> dict[str, str]:
    """Return the modules that a learner writes, each with the path of its stub: they were released with one digest."""
    found: dict[str, str] = {}
    for stub in files:
        if stub.startswith(f"{sealed}/") and stub.endswith(".stub"):
            folder = f"stages/{stub.removeprefix(f'{sealed}/').removesuffix('.stub')}/"
            direct = (path for path in files if path.startswith(folder) and "/" not in path.removeprefix(folder))
            found |= {path: stub for path in direct if path.endswith(".py") and files[path] == files[stub]}
    return found


def _module(
    path: str, stub: str, edition: Edition, old: ReleaseRecord, read: Read, merge: Merge
) -> Iterator[FileUpdate]:
    """A learner's code is never overwritten."""
    mine, new, was = read(path), edition.files.get(path), old.files.get(path)
    if mine is None:
        if new is not None:
            yield FileUpdate(path, "add", new)
    elif new is None:
        yield FileUpdate(path, "remove", backup=True) if digest(mine) == was else FileUpdate(path, "keep")
    elif digest(new) in (was, digest(mine)):
        return  # the stub is the same, or stands there already
    elif digest(mine) == was:
        yield FileUpdate(path, "replace", new, backup=True)
    else:
        base = read(stub)
        if base is not None and digest(base) == digest(new):
            return  # an update that was cut short has been here
        known = base is not None and digest(base) == was
        joined = merge(mine, base, new) if base is not None and known else None
        if joined is None:
            yield from _beside(path, new, read)
        elif joined != mine:
            yield FileUpdate(path, "merge", joined, backup=True)


def _beside(path: str, new: bytes, read: Read) -> Iterator[FileUpdate]:
    there = read(f"{path}{BESIDE}")
    if there is None or digest(there) != digest(new):
        yield FileUpdate(f"{path}{BESIDE}", "beside", new, backup=there is not None)


def _plain(path: str, edition: Edition, old: ReleaseRecord, read: Read) -> Iterator[FileUpdate]:
    """READMEs, tests and what lies around them: a learner's version is kept where the course's takes its place."""
    mine, new, was = read(path), edition.files.get(path), old.files.get(path)
    if new is None:
        if mine is not None:
            yield FileUpdate(path, "remove", backup=digest(mine) != was)
    elif mine is None:
        yield FileUpdate(path, "add", new)
    elif digest(new) not in (was, digest(mine)):
        yield FileUpdate(path, "replace", new, backup=digest(mine) != was)


def _own(path: str, new: bytes | None, read: Read, sealed: bool = False) -> Iterator[FileUpdate]:
    """Bundles, stubs, key, record and the grader's wheel are never a learner's: nothing is kept of them."""
    mine = read(path)
    if new is None:
        if mine is not None:
            yield FileUpdate(path, "remove", sealed=sealed)
    elif mine != new:
        yield FileUpdate(path, "add" if mine is None else "replace", new, sealed=sealed)


def _old_bundles(old: ReleaseRecord, edition: Edition) -> set[str]:
    start = f"{edition.sealed}/"
    return {path.removesuffix(".stub") + ".sealed" for path in old.files if path.startswith(start) and ".stub" in path}


RELEASED = ("grader/", ".grader/wheels/")  # where a copy that `grader release` built has the grader, as its record says
LOCK_SECONDS = 10.0


@dataclass(frozen=True)
class Update:
    """What an update of a folder changes, from which course version to which; kept is where old files go, if any."""

    before: str
    after: str
    changes: tuple[FileUpdate, ...]
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
