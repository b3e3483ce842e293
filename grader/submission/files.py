"""Reading one regular file, of a bounded size, without ever following a link below the folder that was named."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from grader.errors import SubmissionError
from grader.submission.names import printable

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
        raise SubmissionError(f"{label} has {size:,} bytes: at most {limit:,} are accepted")


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
