"""Names, byte budgets and bounded reading of files, without following a link below the folder that was named."""

from __future__ import annotations

import os
import re
import stat
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import SubmissionError

SHOWN = 160
ZIP = (".zip",)
TAR = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")
NOTEBOOK = ".ipynb"


def is_archive(name: str) -> bool:
    """Say whether a name is that of an archive that is read."""
    return name.lower().endswith((*ZIP, *TAR))


def printable(text: str) -> str:
    """A file name as a terminal can show it: no control characters; of bytes that are no UTF-8 the Latin-1 letters.

    >>> printable("\\udce9tude\\t.py")
    'étude\ufffd.py'
    """
    letters = (chr(ord(char) - 0xDC00) if "\udc80" <= char <= "\udcff" else char for char in text)
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in letters)


def shown(text: str) -> str:
    """As printable, and cut where it is long."""
    return printable(text if len(text) <= SHOWN else f"{text[: SHOWN - 1]}…")


def folded(parts: Iterable[str]) -> tuple[str, ...]:
    """A path as a file system takes it that knows no case, and no two ways to write an accent."""
    return tuple(unicodedata.normalize("NFC", unicodedata.normalize("NFC", part).casefold()) for part in parts)


def places(stage: Stage) -> tuple[tuple[str, ...], ...]:
    """Where the module of a stage may lie, below a folder, an archive or a revision; the first that is there counts."""
    return ("stages", stage.name, stage.module), (stage.module,)


def is_renamed(name: str, module: str) -> bool:
    """Say whether a name is a module's as uploads and downloads change it: lovelaceada_1_numbers-1.py.

    A learning platform puts names and numbers before it, the last a number; whoever has the name already, a number
    behind it. What else ends alike is another module: my_numbers.py.
    """
    stem = re.escape(module.removesuffix(".py"))
    return re.fullmatch(rf"(.*[0-9][_-])?{stem}([_-][0-9]{{1,3}}| ?\([0-9]{{1,3}}\))?\.py", name, re.DOTALL) is not None


def several(label: str, paths: Sequence[str]) -> SubmissionError:
    """The error where it cannot be told which of several files is the module."""
    some = ", ".join(shown(path) for path in paths[:3])
    what = f"{label} holds {len(paths)} files that could be the module: {some}"
    return SubmissionError(what, "Hand in one module, or an archive with it at the top.")


def expected(stage: Stage) -> str:
    """The same in words."""
    return " or ".join("/".join(parts) for parts in places(stage))


def suggestion(names: Iterable[str]) -> str | None:
    """Python files that are there instead, since a misspelt name is the likeliest mistake."""
    found = sorted(shown(name) for name in names if name.endswith(".py"))
    return f"Python files in it: {', '.join(found[:5])}" if found else None


_ALONE = "Hand in the module alone."
MAX_TOTAL = 128 << 20  # bytes that an archive may become, and of objects that are read of a repository
MAX_NAMES = 16 << 20  # bytes that the names of a repository's revisions take on a disk
MAX_RATIO = 200  # bytes that one byte of an archive may become
ALWAYS = 8 << 20  # bytes that any archive may become, however small it is
BLOCK = 4096  # bytes that the smallest file and the smallest folder take on a disk


class ByteBudget:
    """Counts bytes before they are made; what is said begins with label and what it does."""

    def __init__(self, label: str, limit: int, does: str = "unpacks to", hint: str | None = None) -> None:
        self.left = limit
        self._over = f"{label} {does} more than {limit:,} bytes"
        self._hint = hint

    def spend(self, count: int) -> None:
        """Take so many bytes from what is left; SubmissionError where that is too little."""
        self.left -= count
        if self.left < 0:
            raise SubmissionError(self._over, self._hint)

    def spend_file(self, size: int, folders: int = 0) -> None:
        """Take what a file of that size takes on a disk, and so many folders that are made for it."""
        self.spend(-(-max(size, 1) // BLOCK) * BLOCK + folders * BLOCK)


class ArchiveBudget(ByteBudget):
    """Counts the bytes that an archive of a size becomes; a small one may become but a multiple of itself."""

    def __init__(self, label: str, size: int) -> None:
        most = max(ALWAYS, MAX_RATIO * size)
        super().__init__(label, min(MAX_TOTAL, most), hint=_ALONE)
        if most < MAX_TOTAL:
            self._over = f"{label} unpacks to more than {MAX_RATIO} times its size"
            self._hint = "Create the archive again."


MAX_BYTES = 1 << 20  # of a module


def _flags(*names: str) -> int:
    """The flags of os.open that this system has."""
    return sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", *names))


_FILE_FLAGS = os.O_RDONLY | _flags("O_NOFOLLOW", "O_NOCTTY", "O_BINARY")
_ROOT_FLAGS = os.O_RDONLY | _flags("O_DIRECTORY")
_FOLDER_FLAGS = _ROOT_FLAGS | _flags("O_NOFOLLOW")
_HAS_DIR_FD = {os.open, os.stat} <= os.supports_dir_fd
_KINDS = (
    (stat.S_ISREG, "a file"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


def read(root: Path, parts: Sequence[str], label: str, hint: str, limit: int = MAX_BYTES) -> bytes:
    """The bytes of the regular file root/parts, or a SubmissionError that says what stands there instead."""
    try:
        with _opened(root, parts, label) as descriptor, open(descriptor, "rb", closefd=False) as file:
            size = os.fstat(descriptor).st_size
            source = file.read(limit + 1)
    except FileNotFoundError as error:
        raise SubmissionError(f"{label} does not exist", hint) from error
    except OSError as error:
        raise SubmissionError(f"{label} cannot be read: {error.strerror}") from error
    except ValueError as error:  # a null byte in its name
        raise SubmissionError(f"{label} cannot be read: {error}") from error
    expect_size(max(size, len(source)), label, limit)
    return source


def expect_size(size: int, label: str, limit: int = MAX_BYTES) -> None:
    """Raise SubmissionError where something has more bytes than are taken."""
    if size > limit:
        hint = "Clear the notebook's outputs and save it again." if label.lower().endswith(NOTEBOOK) else _ALONE
        hint = "A module is code alone: take data and printed output out of it." if limit == MAX_BYTES else hint
        raise SubmissionError(f"{label} has {size:,} bytes: at most {limit:,} are accepted", hint)


def expect_kind(found: str, label: str) -> None:
    """Raise SubmissionError where something is not a regular file."""
    if found != "a file":
        raise SubmissionError(f"{label} is {found}: expected a regular file")


def expect_parent(found: str, label: str, part: str) -> None:
    """Raise SubmissionError where a part of a path, other than the last, is no folder."""
    if found != "a folder":
        raise SubmissionError(f"{label} cannot be accepted: '{printable(part)}' is {found}, expected a folder")


def kind(mode: int) -> str:
    """What a file's mode says that it is, in words."""
    return next((name for test, name in _KINDS if test(mode)), "a device")


@contextmanager
def _opened(root: Path, parts: Sequence[str], label: str) -> Iterator[int]:
    """A descriptor of the regular file root/parts, opened only after a look at it, since opening a device can act."""
    with ExitStack() as stack:
        folder, at = _parent(root, parts, label, stack)
        path = folder / parts[-1]
        before = os.stat(path, dir_fd=at, follow_symlinks=False)
        expect_kind(kind(before.st_mode), label)
        descriptor = os.open(path, _FILE_FLAGS, dir_fd=at)
        stack.callback(os.close, descriptor)
        after = os.fstat(descriptor)
        expect_kind(kind(after.st_mode), label)
        if not os.path.samestat(before, after):
            raise SubmissionError(f"{label} was replaced while it was read", "Try again.")
        yield descriptor


def _parent(root: Path, parts: Sequence[str], label: str, stack: ExitStack) -> tuple[Path, int | None]:
    """What the last part is relative to: an open folder or, where the system has no such thing, a path."""
    if not _HAS_DIR_FD:
        for depth in range(1, len(parts)):
            expect_parent(kind(os.lstat(root.joinpath(*parts[:depth])).st_mode), label, parts[depth - 1])
        return root.joinpath(*parts[:-1]), None
    folder = os.open(root, _ROOT_FLAGS)
    stack.callback(os.close, folder)
    for part in parts[:-1]:
        expect_parent(kind(os.stat(part, dir_fd=folder, follow_symlinks=False).st_mode), label, part)
        folder = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
        stack.callback(os.close, folder)
    return Path(), folder
