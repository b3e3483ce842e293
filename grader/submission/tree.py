"""A folder as what an archive is: its members, found without following a link, and one of them read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from grader.errors import SubmissionError
from grader.submission import files
from grader.submission.members import MAX_DEPTH, MAX_MEMBERS, Member


class Tree:
    """The files below a folder; label names it in messages. own are the parts below root that may be no link."""

    def __init__(self, root: Path, own: tuple[str, ...], label: str) -> None:
        self._root, self._own, self._label = root, own, label

    def members(self) -> Sequence[Member]:
        """Return all files, folders and links below the folder; SubmissionError where there are too many."""
        found: list[Member] = []
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            parts = waiting.pop()
            for entry in self._entries(parts):
                path = (*parts, entry.name)
                kind = files.kind(entry.stat(follow_symlinks=False).st_mode)
                size = entry.stat(follow_symlinks=False).st_size if kind == "a file" else 0
                found.append(Member("/".join(path), kind, size, len(found)))
                if kind == "a folder" and len(path) < MAX_DEPTH and not entry.name.startswith("."):
                    waiting.append(path)
            if len(found) > MAX_MEMBERS:
                what = f"{self._label} holds more than {MAX_MEMBERS:,} files and folders"
                raise SubmissionError(what, "Hand in the module alone.")
        return found

    def read(self, member: Member, limit: int = files.MAX_BYTES) -> bytes:
        """Return the bytes of a member; SubmissionError for a link, or for more than limit bytes."""
        return files.read(self._root, (*self._own, *member.parts), f"{self._label}/{member.name}", "", limit)

    def _entries(self, parts: Sequence[str]) -> Sequence[os.DirEntry[str]]:
        folder = self._root.joinpath(*self._own)
        if not parts and self._own and folder.is_symlink():
            raise SubmissionError(f"{self._label} is a link: expected a folder")
        try:
            with os.scandir(folder.joinpath(*parts)) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return []
