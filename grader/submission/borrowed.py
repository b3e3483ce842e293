"""A git folder of our own that borrows another's objects: the names of its revisions are copied, all else is new."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from pathlib import Path

from grader.errors import GraderFault, SubmissionError
from grader.submission.budget import MAX_NAMES, Budget
from grader.submission.files import kind, read

MAX_FILES = 100_000  # with objects that are not packed
_CONFIG = """[core]
    repositoryformatversion = {version}
    bare = true
    hooksPath = /dev/null
    attributesFile = /dev/null
    commitGraph = false
    multiPackIndex = false
    bigFileThreshold = 2m
    packedGitWindowSize = 32m
    packedGitLimit = 256m
[protocol]
    allow = never
"""  # graphs and indexes are left out because they need not tell the truth about the objects
_COPIED = ("HEAD", "packed-refs", "shallow", "refs")  # no logs: they can be of any size, and name nothing else
_HINT = "Pack them (`git pack-refs --all`), or hand in a clone with the one branch (`git clone --single-branch`)."


def borrow(repository: Path, room: Path, label: str) -> Path:
    """Make room a git folder with the names of a repository's revisions; return the folder of its objects.

    Raises SubmissionError where that is not a repository, where its objects lie elsewhere, or where the names take more
    than their budget, GraderFault where the room cannot be written.
    """
    folder = _git_folder(repository, label)
    objects = folder / "objects"
    for path in _below(objects, label):
        if path.relative_to(objects).as_posix() == "info/alternates":
            what = f"{label} takes objects from another repository (objects/info/alternates)"
            raise SubmissionError(what, "Make it whole: `git repack -a -d`, then remove that file.")
    names = _names(folder, label)
    try:
        (room / "objects").mkdir()
        (room / "refs").mkdir()
        for path, size in names.items():
            data = read(path.parent, (path.name,), f"{label}: {path.name}", "", size)
            target = room / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
        (room / "config").write_text(_configuration(folder), encoding="ascii")
    except OSError as error:  # those of the repository are told as such where it is read
        what = f"{label} cannot be read: the temporary folder cannot be written: {error.strerror}"
        raise GraderFault(what, "Make room there, or name another folder in TMPDIR.") from error
    return Path(os.path.abspath(objects))


def _git_folder(repository: Path, label: str) -> Path:
    """The repository's git folder; a file that says where another one lies is not followed."""
    inner = repository / ".git"
    folder = inner if os.path.lexists(inner) else repository
    for path in (folder, folder / "objects"):
        try:
            found = kind(os.lstat(path).st_mode) if path != repository else "a folder"
        except OSError:
            raise SubmissionError(f"{label} is not a git repository") from None
        if found != "a folder":
            name = path.relative_to(repository).as_posix()
            hint = "Give the repository itself, not a worktree or a submodule of it."
            raise SubmissionError(f"{label} cannot be read: its {name} is {found}, expected a folder", hint)
    if not os.path.lexists(folder / "HEAD"):
        raise SubmissionError(f"{label} is not a git repository")
    return folder


def _below(top: Path, label: str) -> Iterator[Path]:
    """All regular files below a folder; a link among them would be someone else's file."""
    queue, count = [top], 0
    while queue:
        try:
            entries = list(os.scandir(queue.pop()))
        except OSError as error:
            raise SubmissionError(f"{label} cannot be read: {error.strerror}") from error
        for entry in entries:
            count += 1
            if count > MAX_FILES:
                raise SubmissionError(f"{label} has more than {MAX_FILES:,} files in its {top.name}", "`git gc`.")
            if entry.is_dir(follow_symlinks=False):
                queue.append(Path(entry.path))
            elif entry.is_file(follow_symlinks=False):
                yield Path(entry.path)
            else:
                raise SubmissionError(f"{label} cannot be read: there is a link in its {top.name}")


def _names(folder: Path, label: str) -> dict[Path, int]:
    """Return the files with names of revisions, and their sizes; SubmissionError where a copy would take too much."""
    budget = Budget(label, MAX_NAMES, "has branches and tags that take", _HINT)
    found: dict[Path, int] = {}
    folders: set[Path] = set()
    for source in (folder / name for name in _COPIED):
        if not os.path.lexists(source):
            continue
        for path in _below(source, label) if stat.S_ISDIR(os.lstat(source).st_mode) else [source]:
            above = {each for each in path.parents if each.is_relative_to(source)} - folders
            found[path] = os.lstat(path).st_size
            budget.spend_file(found[path], len(above))
            folders |= above
    return found


def _configuration(folder: Path) -> str:
    """Our own; how the repository names its objects is the one thing of its configuration that is needed."""
    try:
        text = read(folder, ("config",), "config", "")
    except SubmissionError:
        text = b""
    if re.search(rb"(?im)^[ \t]*objectformat[ \t]*=[ \t]*sha256[ \t]*$", text):
        return _CONFIG.format(version=1) + "[extensions]\n    objectFormat = sha256\n"
    return _CONFIG.format(version=0)
