"""What an update changes in a learner's folder: decided from the old release, the new one and what stands there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from grader.course.sealed import RECORD, ReleaseRecord, digest
from grader.setup.edition import Edition

Action = Literal["add", "replace", "merge", "beside", "remove", "keep"]
Read = Callable[[str], bytes | None]  # what a file of the folder holds, by its path
Merge = Callable[[bytes, bytes, bytes], bytes | None]  # mine, base and theirs; None where they cannot be joined
BESIDE = ".new"  # ends the name of a stub that is put next to a module which it cannot be merged into


@dataclass(frozen=True)
class Change:
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
) -> tuple[Change, ...]:
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


def _module(path: str, stub: str, edition: Edition, old: ReleaseRecord, read: Read, merge: Merge) -> Iterator[Change]:
    """A learner's code is never overwritten."""
    mine, new, was = read(path), edition.files.get(path), old.files.get(path)
    if mine is None:
        if new is not None:
            yield Change(path, "add", new)
    elif new is None:
        yield Change(path, "remove", backup=True) if digest(mine) == was else Change(path, "keep")
    elif digest(new) in (was, digest(mine)):
        return  # the stub is the same, or stands there already
    elif digest(mine) == was:
        yield Change(path, "replace", new, backup=True)
    else:
        base = read(stub)
        if base is not None and digest(base) == digest(new):
            return  # an update that was cut short has been here
        known = base is not None and digest(base) == was
        joined = merge(mine, base, new) if base is not None and known else None
        if joined is None:
            yield from _beside(path, new, read)
        elif joined != mine:
            yield Change(path, "merge", joined, backup=True)


def _beside(path: str, new: bytes, read: Read) -> Iterator[Change]:
    there = read(f"{path}{BESIDE}")
    if there is None or digest(there) != digest(new):
        yield Change(f"{path}{BESIDE}", "beside", new, backup=there is not None)


def _plain(path: str, edition: Edition, old: ReleaseRecord, read: Read) -> Iterator[Change]:
    """READMEs, tests and what lies around them: a learner's version is kept where the course's takes its place."""
    mine, new, was = read(path), edition.files.get(path), old.files.get(path)
    if new is None:
        if mine is not None:
            yield Change(path, "remove", backup=digest(mine) != was)
    elif mine is None:
        yield Change(path, "add", new)
    elif digest(new) not in (was, digest(mine)):
        yield Change(path, "replace", new, backup=digest(mine) != was)


def _own(path: str, new: bytes | None, read: Read, sealed: bool = False) -> Iterator[Change]:
    """Bundles, stubs, key, record and the grader's wheel are never a learner's: nothing is kept of them."""
    mine = read(path)
    if new is None:
        if mine is not None:
            yield Change(path, "remove", sealed=sealed)
    elif mine != new:
        yield Change(path, "add" if mine is None else "replace", new, sealed=sealed)


def _old_bundles(old: ReleaseRecord, edition: Edition) -> set[str]:
    start = f"{edition.sealed}/"
    return {path.removesuffix(".stub") + ".sealed" for path in old.files if path.startswith(start) and ".stub" in path}
