"""The module of a stage in a revision of a git repository: objects read one by one, nothing checked out.

git never sees the repository's own configuration, hooks or attributes: it runs in a folder of ours, made anew, that
borrows only the objects and a copy of the names of revisions. Whatever it gives is held against its hash."""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import re
import shutil
import stat
import subprocess
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from grader.course.stage import Stage
from grader.errors import GraderFault, NotHandedIn, SubmissionError
from grader.submission.files import (
    MAX_BYTES,
    MAX_NAMES,
    MAX_TOTAL,
    ByteBudget,
    expect_kind,
    expect_parent,
    expect_size,
    expected,
    folded,
    kind,
    places,
    printable,
    read,
    shown,
    suggestion,
)

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
    budget = ByteBudget(label, MAX_NAMES, "has branches and tags that take", _HINT)
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


SECONDS = 30.0  # for all that is asked of one process
MEMORY_BYTES = 2 << 30
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_SETTINGS = {
    "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_NO_REPLACE_OBJECTS": "1", "GIT_NO_LAZY_FETCH": "1", "GIT_ALLOW_PROTOCOL": "none", "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C",
}  # fmt: skip


class Git:
    """What git says about one repository."""

    def __init__(self, room: Path, objects: Path, label: str) -> None:
        self._label = label
        self._process: subprocess.Popen[bytes] | None = None
        self._timer: threading.Timer | None = None
        kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TEMP") if name in os.environ}
        places = {"GIT_DIR": str(room), "GIT_OBJECT_DIRECTORY": str(objects), "HOME": str(room)}
        self._environment = kept | _SETTINGS | places
        self._room = room
        self._budget = ByteBudget(label, MAX_TOTAL, "gives", "Hand in the module alone.")  # of all objects together

    def commit(self, revision: str) -> str:
        """The full name of the commit that a revision expression stands for; raises SubmissionError."""
        found = None if revision.startswith("-") or "\0" in revision else self._parsed(revision)
        commit = self._parsed(f"{found}^{{commit}}") if found else None
        if commit is None:
            what = f"{self._label} has no revision '{shown(revision)}' that is a commit"
            log = "Reflogs are not copied, so @{…} does not work. " if "@{" in revision else ""
            raise SubmissionError(what, f"{log}Give a branch, a tag, or the first characters of a commit's name.")
        return commit

    def content(self, object_id: str, kind: str, limit: int, label: str) -> bytes:
        """The bytes of an object of that kind; label names it where it has more than limit."""
        answer, output = self._asked(object_id)
        match answer.split():
            case []:
                raise self._ended()
            case [name, found, size] if name == object_id and found == kind and size.isdecimal():
                expect_size(int(size), label, limit)
                self._budget.spend(int(size))
                data = output.read(int(size) + 1)  # git adds a line end
            case _:
                raise SubmissionError(f"{self._label} is broken: it lacks {kind} {object_id[:12]}", "Fetch all of it.")
        if len(data) != int(size) + 1:
            raise self._ended()
        return data[:-1]

    def close(self) -> None:
        """End the process that gives objects."""
        if self._timer is not None:
            self._timer.cancel()
        if self._process is not None:
            self._process.kill()
            for pipe in (self._process.stdin, self._process.stdout):
                with contextlib.suppress(OSError):  # what was not yet written to it
                    if pipe is not None:
                        pipe.close()
            self._process.wait()

    def _parsed(self, expression: str) -> str | None:
        process = self._started("rev-parse", "--verify", "--quiet", expression)
        with process:
            try:
                answer = process.communicate(timeout=SECONDS)[0].decode("ascii", "replace").strip()
            except subprocess.TimeoutExpired:
                raise self._ended() from None
            finally:
                process.kill()
        if process.returncode < 0:  # ended by a signal, such as that of its CPU limit
            raise self._ended()
        return answer if process.returncode == 0 and _ID.fullmatch(answer) else None

    def _asked(self, object_id: str) -> tuple[str, IO[bytes]]:
        """Ask the process that gives objects for one; return the line that it answers, and where the bytes follow."""
        if self._process is None:
            self._process = self._started("cat-file", "--batch")
            self._timer = threading.Timer(SECONDS, self._process.kill)
            self._timer.daemon = True
            self._timer.start()
        assert self._process.stdin is not None and self._process.stdout is not None
        try:
            self._process.stdin.write(f"{object_id}\n".encode())
            self._process.stdin.flush()
        except OSError:
            raise self._ended() from None
        return self._process.stdout.readline(400).decode("ascii", "replace"), self._process.stdout

    def _started(self, *arguments: str) -> subprocess.Popen[bytes]:
        program = shutil.which("git")
        if program is None:
            raise GraderFault(f"{self._label} cannot be read: git is not installed", "Install git.")
        try:
            process = subprocess.Popen(
                [program, *arguments], cwd=self._room, env=self._environment, start_new_session=True,
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except (OSError, ValueError) as error:
            raise GraderFault(f"{self._label} cannot be read: git does not start: {error}") from error
        _limit(process.pid)
        return process

    def _ended(self) -> SubmissionError:
        return SubmissionError(f"{self._label} cannot be read: git gave up, or took more than {SECONDS:.0f} seconds")


@contextlib.contextmanager
def opened(repository: Path, label: str) -> Iterator[Git]:
    """git for a repository, bare or not, that has to be the very folder that is named."""
    with TemporaryDirectory(prefix="grader-git-") as folder:
        room = Path(folder)
        git = Git(room, borrow(repository, room, label), label)
        try:
            yield git
        finally:
            git.close()


def _limit(process: int) -> None:
    """Bound the memory and time of a process that has started, where the system can."""
    with contextlib.suppress(ImportError, AttributeError, OSError, ValueError):
        import resource

        for kind, value in ((resource.RLIMIT_AS, MEMORY_BYTES), (resource.RLIMIT_CPU, math.ceil(SECONDS))):
            resource.prlimit(process, kind, (value, value))


MAX_TREE = 4 << 20  # bytes of a folder's list
MAX_COMMIT = 1 << 20
_KINDS = {"40000": "a folder", "120000": "a link", "160000": "a submodule"}
_FILE = re.compile("100[0-7]{3}")
_ENTRY = re.compile(rb"([0-7]{5,6}) ([^\0/]+)\0")


@dataclass(frozen=True)
class TreeEntry:
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
    tree = _RevisionTree(git, label)
    top = tree.top(commit)
    for place in places(stage):
        if tree.holds(top, place):
            return commit, place, tree.read(top, place)
    raise NotHandedIn(f"{label} is a revision without {expected(stage)}", suggestion(tree.entries(top)))


class _RevisionTree:
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

    def _entry(self, folder: str, part: str, label: str) -> TreeEntry:
        entries = self.entries(folder)
        for name in entries:
            if name != part and folded([name]) == folded([part]):
                names = f"'{printable(part)}' and '{shown(name)}'"
                raise SubmissionError(f"{label} cannot be accepted: {names} differ only in how they are written")
        return entries[part]

    def entries(self, folder: str) -> Mapping[str, TreeEntry]:
        """What a folder holds, by name."""
        data = self._object(folder, "tree", MAX_TREE)
        width = len(folder) // 2
        found: dict[str, TreeEntry] = {}
        at = 0
        while at < len(data):
            match = _ENTRY.match(data, at)
            if match is None or len(data) < match.end() + width:
                raise SubmissionError(f"{self._label} is broken: a folder's list cannot be read")
            mode, name = match[1].decode(), match[2].decode("utf-8", "surrogateescape")
            at = match.end() + width
            kind = "a file" if _FILE.fullmatch(mode) else _KINDS.get(mode, "something special")
            if found.setdefault(name, entry := TreeEntry(kind, data[match.end() : at].hex())) is not entry:
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
