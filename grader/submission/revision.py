"""The module of a stage in a revision of a git repository: objects read one by one, nothing checked out.

git never sees the repository's own configuration, hooks or attributes: it runs in a folder of ours, made anew, that
borrows only the objects and a copy of the names of revisions. Whatever it gives is held against its hash.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import NotHandedIn, SubmissionError
from grader.submission.files import MAX_BYTES, expect_kind, expect_parent
from grader.submission.git import Git
from grader.submission.names import expected, folded, places, printable, shown, suggestion

MAX_TREE = 4 << 20  # bytes of a folder's list
MAX_COMMIT = 1 << 20
_KINDS = {"40000": "a folder", "120000": "a link", "160000": "a submodule"}
_FILE = re.compile("100[0-7]{3}")
_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0")


@dataclass(frozen=True)
class Entry:
    """One name in a folder of a revision: what it is, and the object with its content."""

    kind: str
    object_id: str


def split(path: Path) -> tuple[Path, str] | None:
    """A repository and a revision of it, where `repo@revision` is what was given; a path that exists is a path."""
    text = str(path)
    if os.path.lexists(path):
        return None
    for at in sorted((found.start() for found in re.finditer("@", text)), reverse=True):
        if text[:at] and os.path.isdir(text[:at]):  # a revision may hold an @, too, and so may a folder
            return Path(text[:at]), text[at + 1 :]
    return None


def read_module(stage: Stage, git: Git, revision: str, label: str) -> tuple[str, tuple[str, ...], bytes]:
    """The commit that a revision stands for, the path of the module in it, and its bytes; raises SubmissionError."""
    commit = git.commit(revision)
    label = f"{label}@{commit[:12]}"
    tree = _Tree(git, label)
    top = tree.top(commit)
    for place in places(stage):
        if tree.holds(top, place):
            return commit, place, tree.read(top, place)
    raise NotHandedIn(f"{label} is a revision without {expected(stage)}", suggestion(tree.entries(top)))


class _Tree:
    """The folders of one revision."""

    def __init__(self, git: Git, label: str) -> None:
        self._git = git
        self._label = label

    def top(self, commit: str) -> str:
        """The object of the revision's topmost folder."""
        found = re.match(rb"tree ([0-9a-f]{40,64})\n", self._object(commit, "commit", MAX_COMMIT))
        if found is None:
            raise SubmissionError(f"{self._label} is broken: a commit without a tree")
        return found[1].decode()

    def holds(self, top: str, place: tuple[str, ...]) -> bool:
        """Say whether there is something of that path, be it what it may."""
        folder = top
        for part in place[:-1]:
            entry = self.entries(folder).get(part)
            if entry is None or entry.kind != "a folder":
                return entry is not None
            folder = entry.object_id
        return place[-1] in self.entries(folder)

    def read(self, top: str, place: tuple[str, ...]) -> bytes:
        """The bytes of the regular file of that path."""
        label = f"{self._label}/{'/'.join(place)}"
        folder = top
        for part in place[:-1]:
            entry = self._entry(folder, part, label)
            expect_parent(entry.kind, label, part)
            folder = entry.object_id
        entry = self._entry(folder, place[-1], label)
        expect_kind(entry.kind, label)
        return self._object(entry.object_id, "blob", MAX_BYTES, label)

    def _entry(self, folder: str, part: str, label: str) -> Entry:
        entries = self.entries(folder)
        for name in entries:
            if name != part and folded([name]) == folded([part]):
                names = f"'{printable(part)}' and '{shown(name)}'"
                raise SubmissionError(f"{label} cannot be accepted: {names} differ only in how they are written")
        return entries[part]

    def entries(self, folder: str) -> Mapping[str, Entry]:
        """What a folder holds, by name."""
        data = self._object(folder, "tree", MAX_TREE)
        width = len(folder) // 2
        found: dict[str, Entry] = {}
        at = 0
        while at < len(data):
            match = _ENTRY.match(data, at)
            if match is None or len(data) < match.end() + width:
                raise SubmissionError(f"{self._label} is broken: a folder's list cannot be read")
            mode, name = match[1].decode(), match[2].decode("utf-8", "surrogateescape")
            at = match.end() + width
            kind = "a file" if _FILE.fullmatch(mode) else _KINDS.get(mode, "something special")
            if found.setdefault(name, entry := Entry(kind, data[match.end() : at].hex())) is not entry:
                raise SubmissionError(f"{self._label} is broken: '{shown(name)}' is twice in a folder")
        return found

    def _object(self, object_id: str, kind: str, limit: int, label: str = "") -> bytes:
        """An object's content, which has the hash that names it."""
        data = self._git.content(object_id, kind, limit, label or f"{self._label}: a {kind}")
        algorithm = "sha1" if len(object_id) == 40 else "sha256"
        found = hashlib.new(algorithm, f"{kind} {len(data)}\0".encode() + data, usedforsecurity=False).hexdigest()
        if found != object_id:
            raise SubmissionError(f"{self._label} is broken: object {object_id[:12]} has another content")
        return data
