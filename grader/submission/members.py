"""The module among the members of an archive: chosen by names and kinds, before anything is unpacked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from grader.course.stage import Stage
from grader.errors import NotHandedIn, SubmissionError
from grader.submission.files import MAX_BYTES, expect_kind, expect_parent, expect_size
from grader.submission.names import expected, folded, is_renamed, places, printable, several, shown, suggestion

MAX_MEMBERS = 20_000
MAX_PATH = 1024  # characters
MAX_DEPTH = 40  # folders within folders
_LITTER = "__MACOSX"  # where macOS puts what it knows about the other members


@dataclass(frozen=True)
class Member:
    """One entry of an archive: its name as written there, what it is, its size, and its position."""

    name: str
    kind: str
    size: int
    index: int

    @property
    def parts(self) -> tuple[str, ...]:
        """The name as a path; ./ and doubled slashes mean nothing."""
        return tuple(part for part in self.name.split("/") if part not in ("", "."))


class Archive(Protocol):
    """What zipped.py and tarred.py make of bytes."""

    def members(self) -> Sequence[Member]:
        """All that it holds; raises SubmissionError where that is too much, or broken."""

    def read(self, member: Member, limit: int = MAX_BYTES) -> bytes:
        """The bytes of a regular file in it, no more than limit; raises SubmissionError."""


def read_module(stage: Stage, archive: Archive, label: str) -> tuple[tuple[str, ...], bytes]:
    """The path within an archive, and the bytes, of the module of a stage."""
    return read_chosen(stage, archive, archive.members(), label)


def read_chosen(
    stage: Stage, archive: Archive, members: Sequence[Member], label: str, what: str = "an archive"
) -> tuple[tuple[str, ...], bytes]:
    """The same, where the members are known already; what says of what they are."""
    member = choose(stage, members, label, what)
    return member.parts, archive.read(member)


def choose(stage: Stage, members: Sequence[Member], label: str, what: str = "an archive") -> Member:
    """The module, where the members leave no doubt which it is.

    It lies where it would lie in a folder or, since archives often hold one folder with everything, below others; else
    it has a name that an upload changed. Two such are one too many. Raises SubmissionError.
    """
    for member in members:
        check_name(member.name, label)
    paths = [(member, member.parts) for member in members if member.parts and member.parts[0] != _LITTER]
    for place in places(stage):
        if any(parts == place for _, parts in paths):
            return _checked(place, paths, label)
    below = [{parts for _, parts in paths if parts[-len(place) :] == place} for place in places(stage)]
    for found in (*below, {parts for _, parts in paths if is_renamed(parts[-1], stage.module)}):
        if len({folded(parts) for parts in found}) > 1:
            raise several(label, ["/".join(parts) for parts in sorted(found)])
        if found:
            return _checked(min(found), paths, label)
    names = ["/".join(parts) for _, parts in paths]
    raise NotHandedIn(f"{label} is {what} without {expected(stage)}", suggestion(names))


def check_name(name: str, label: str) -> None:
    """Raise SubmissionError where a name is made to lead out of the archive, or to exhaust whoever reads it."""
    parts = name.split("/")
    fault = None
    if len(name) > MAX_PATH:
        fault = f"has {len(name):,} characters: at most {MAX_PATH:,} are accepted"
    elif len(parts) > MAX_DEPTH:
        fault = f"lies {len(parts) - 1} folders deep: at most {MAX_DEPTH - 1} are accepted"
    elif ".." in parts:
        fault = "leads out of the archive: expected no .."
    elif name.startswith("/") or re.match("[A-Za-z]:", name):
        fault = "is absolute: expected a path within the archive"
    elif "\\" in name:
        fault = "holds a backslash: expected / between folders"
    elif "\0" in name:
        fault = "holds a null byte"
    if fault:
        raise SubmissionError(
            f"{label} cannot be accepted: the name '{shown(name)}' {fault}", "Create the archive again."
        )


def _checked(path: tuple[str, ...], paths: Sequence[tuple[Member, tuple[str, ...]]], label: str) -> Member:
    """The one member of that path; nothing on the way to it may be a link, or have a second of almost the same name."""
    label = f"{label}/{printable('/'.join(path))}"
    key = folded(path)
    same = [member for member, parts in paths if parts == path]
    for member, parts in paths:
        common = len(parts) if len(parts) <= len(path) else len(path)
        if parts[:common] == path[:common]:
            if common < len(path):
                expect_parent(member.kind, label, parts[-1])
        elif (alike := _alike(parts, path, key)) is not None:
            names = f"'{shown('/'.join(path[:alike]))}' and '{shown('/'.join(parts[:alike]))}'"
            raise SubmissionError(f"{label} cannot be accepted: {names} differ only in how they are written")
    if len(same) > 1:
        raise SubmissionError(f"{label} is there {len(same)} times: expected once", "Create the archive again.")
    expect_kind(same[0].kind, label)
    expect_size(same[0].size, label)
    return same[0]


def _alike(parts: tuple[str, ...], path: tuple[str, ...], key: tuple[str, ...]) -> int | None:
    """How many parts, from the top, differ only in how they are written; None where one truly differs."""
    for at, (part, wanted) in enumerate(zip(parts, path, strict=False)):
        if part != wanted:
            return at + 1 if folded([part]) == key[at : at + 1] else None
    return None
