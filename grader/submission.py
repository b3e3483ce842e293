"""A learner's files as data: the module of one stage, read once, bounded, and never followed through a link."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grader.errors import SubmissionError
from grader.manifest import Stage

MAX_BYTES = 1 << 20


def _flags(*names: str) -> int:
    """The flags of os.open that this system has."""
    return sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NONBLOCK", *names))


_FILE_FLAGS = os.O_RDONLY | _flags("O_NOFOLLOW", "O_NOCTTY", "O_BINARY")
_ROOT_FLAGS = os.O_RDONLY | _flags("O_DIRECTORY")
_FOLDER_FLAGS = _ROOT_FLAGS | _flags("O_NOFOLLOW")
_HAS_DIR_FD = {os.open, os.stat} <= os.supports_dir_fd
_KINDS = (
    (stat.S_ISLNK, "a link"),
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
)


@dataclass(frozen=True)
class Snapshot:
    """The bytes of a learner's module as they were at one moment.

    module is the file name that the stage gives it, digest the SHA-256 of source in hexadecimal, origin where it was
    read, label what messages show.
    """

    module: str
    source: bytes
    digest: str
    origin: Path
    label: str


def take(stage: Stage, path: Path | None, course_root: Path) -> Snapshot:
    """Read the module of a stage: the course's own, or the one at path.

    path is a tree with stages/<stage>/<module>, a folder with <module>, or a Python file of any name. Neither the file
    nor a folder from path on may be a link. Raises SubmissionError.
    """
    root, parts = (course_root, _in_tree(stage)) if path is None else _located(stage, path)
    origin = root.joinpath(*parts)
    label = _label(origin, course_root)
    hint = f"Give a course, a folder with {stage.module}, or a Python file."
    if path is None:
        hint = f"`grader reset {stage.id}` puts the stage's stub there."
    source = _read(root, parts, label, hint)
    return Snapshot(stage.module, source, hashlib.sha256(source).hexdigest(), origin, label)


def _in_tree(stage: Stage) -> tuple[str, ...]:
    return ("stages", stage.name, stage.module)


def _located(stage: Stage, path: Path) -> tuple[Path, tuple[str, ...]]:
    """A folder that is taken at the user's word, and the parts below it that are not."""
    own = (path.name,) if path.name else ()  # "." has none
    if os.path.isdir(path):
        for parts in (_in_tree(stage), (stage.module,)):
            if os.path.lexists(path.joinpath(*parts)):
                return path.parent, own + parts
        expected = f"{'/'.join(_in_tree(stage))} or {stage.module}"
        raise SubmissionError(f"{_printable(str(path))} is a folder without {expected}", _python_files(path))
    if path.suffix != ".py" and os.path.isfile(path):
        raise SubmissionError(f"{_printable(str(path))} is not a Python file: expected a name that ends in .py")
    return path.parent, own


def _python_files(folder: Path) -> str | None:
    """What a folder does have, since a misspelt name is the likeliest mistake."""
    try:
        names = sorted(_printable(name) for name in os.listdir(folder) if name.endswith(".py"))
    except OSError:
        return None
    return f"Python files in it: {', '.join(names[:5])}" if names else None


def _label(origin: Path, course_root: Path) -> str:
    """Relative to the course where it lies inside, else as the user gave it."""
    absolute, root = Path(os.path.abspath(origin)), Path(os.path.abspath(course_root))
    return _printable(absolute.relative_to(root).as_posix() if absolute.is_relative_to(root) else str(origin))


def _printable(text: str) -> str:
    """A file name as a terminal can show it: no control characters, no undecodable bytes."""
    return "".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in text)


def _read(root: Path, parts: Sequence[str], label: str, hint: str) -> bytes:
    """The bytes of a regular file of at most MAX_BYTES, or a SubmissionError that says what stands there instead."""
    try:
        with _opened(root, parts, label) as descriptor, open(descriptor, "rb", closefd=False) as file:
            size = os.fstat(descriptor).st_size
            source = file.read(MAX_BYTES + 1)
    except FileNotFoundError as error:
        raise SubmissionError(f"{label} does not exist", hint) from error
    except OSError as error:
        raise SubmissionError(f"{label} cannot be read: {error.strerror}") from error
    if len(source) > MAX_BYTES:
        raise SubmissionError(f"{label} has {max(size, len(source)):,} bytes: at most {MAX_BYTES:,} are taken")
    return source


@contextmanager
def _opened(root: Path, parts: Sequence[str], label: str) -> Iterator[int]:
    """A descriptor of the regular file root/parts, opened only after a look at it, since opening a device can act."""
    with ExitStack() as stack:
        folder, at = _parent(root, parts, label, stack)
        path = folder / parts[-1]
        before = os.stat(path, dir_fd=at, follow_symlinks=False)
        _expect_regular(before, label)
        descriptor = os.open(path, _FILE_FLAGS, dir_fd=at)
        stack.callback(os.close, descriptor)
        after = os.fstat(descriptor)
        _expect_regular(after, label)
        if not os.path.samestat(before, after):
            raise SubmissionError(f"{label} was replaced while it was read", "Try again.")
        yield descriptor


def _parent(root: Path, parts: Sequence[str], label: str, stack: ExitStack) -> tuple[Path, int | None]:
    """What the last part is relative to: an open folder or, where the system has no such thing, a path."""
    if not _HAS_DIR_FD:
        for depth in range(1, len(parts)):
            _expect_folder(os.lstat(root.joinpath(*parts[:depth])), label, parts[depth - 1])
        return root.joinpath(*parts[:-1]), None
    folder = os.open(root, _ROOT_FLAGS)
    stack.callback(os.close, folder)
    for part in parts[:-1]:
        _expect_folder(os.stat(part, dir_fd=folder, follow_symlinks=False), label, part)
        folder = os.open(part, _FOLDER_FLAGS, dir_fd=folder)
        stack.callback(os.close, folder)
    return Path(), folder


def _expect_folder(found: os.stat_result, label: str, part: str) -> None:
    if not stat.S_ISDIR(found.st_mode):
        raise SubmissionError(f"{label} cannot be taken: '{_printable(part)}' is {_kind(found)}, expected a folder")


def _expect_regular(found: os.stat_result, label: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SubmissionError(f"{label} is {_kind(found)}: expected a regular file")


def _kind(found: os.stat_result) -> str:
    if stat.S_ISREG(found.st_mode):
        return "a file"
    return next((name for test, name in _KINDS if test(found.st_mode)), "a device")
