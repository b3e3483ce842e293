"""Writes a file whole or not at all."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.errors import GraderError, UsageError

NEW_MODE = 0o666  # less what the umask takes
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


class FileExists(UsageError):
    """Something has the name of a file that was to be new."""


def write_atomically(
    path: Path, content: str | bytes, error: type[GraderError] = UsageError, hint: str | None = None, *,
    mode: int = NEW_MODE, follow: bool = True, parents: bool = False,
) -> None:  # fmt: skip
    """Write a file in one step: a reader sees the old content or the new, even after a power cut.

    A text is written as UTF-8, with its line ends as they are. A file that is replaced keeps its mode; a new one gets
    mode. A link to a file stays, and the file is replaced; without follow the link is replaced. With parents, missing
    folders are made. Raises an error of the given type, with the file and the reason, and leaves nothing behind.
    """
    with _explained(path, error, hint):
        data = _encoded(content)
        target = Path(os.path.realpath(path)) if follow else path
        if parents:
            target.parent.mkdir(parents=True, exist_ok=True)
        with _draft(target, data, _kept_mode(target, follow), mode) as draft:
            os.replace(draft, target)


def write_new(
    path: Path, content: str | bytes, error: type[GraderError] = UsageError, hint: str | None = None, *,
    mode: int = NEW_MODE, free: str = "Name another file.",
) -> None:  # fmt: skip
    """Write a new file as write_atomically does; Taken, with the hint free, where something has its name."""
    with _explained(path, error, hint):
        data = _encoded(content)
        _expect_free(path, free)
        with _draft(path, data, None, mode) as draft:
            try:
                os.link(draft, path)  # unlike a rename, it replaces nothing
            except OSError:  # something has the name by now, or the file system has no hard links
                _expect_free(path, free)
                os.replace(draft, path)


def expect_new(path: Path, error: type[GraderError] = UsageError, *, free: str = "Name another file.") -> None:
    """Raise what write_new would raise now: something has the name, or its folder takes no file; leaves nothing."""
    with _explained(path, error, None):
        _expect_free(path, free)
        with _draft(path, b"", None, NEW_MODE):
            pass


def _encoded(content: str | bytes) -> bytes:
    return content.encode("utf-8") if isinstance(content, str) else content


def _expect_free(path: Path, hint: str) -> None:
    if os.path.lexists(path):
        raise FileExists(f"{path} already exists; it was not replaced", hint)


def drafts(path: Path) -> Iterator[Path]:
    """Yield what was written of a file by processes that were killed meanwhile."""
    return path.parent.glob(f".{path.name[:50]}.{'[0-9a-f]' * 16}.tmp")


def _kept_mode(target: Path, follow: bool) -> int | None:
    """Return the mode of the file that is replaced, None where there is none; OSError for what is no file."""
    try:
        found = os.lstat(target).st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(found) and not follow:
        return None
    if not stat.S_ISREG(found):
        raise OSError("it is not a regular file, and was not replaced")
    return stat.S_IMODE(found)


@contextmanager
def _draft(target: Path, data: bytes, kept: int | None, mode: int) -> Iterator[Path]:
    """Give a file beside the target that holds the content, on the disk and not only on its way to it."""
    draft = target.with_name(f".{target.name[:50]}.{os.urandom(8).hex()}.tmp")
    try:
        descriptor = os.open(draft, _FLAGS, mode if kept is None else 0o600)
        with open(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if kept is not None:
            draft.chmod(kept)
        yield draft
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def _explained(path: Path, error: type[GraderError], hint: str | None) -> Iterator[None]:
    try:
        yield
    except UnicodeEncodeError as found:
        what = f"{path} cannot be written: its text holds {found.object[found.start]!r}, which UTF-8 cannot encode"
        raise error(what, hint) from found
    except OSError as found:
        reason = found.strerror or str(found)
        if isinstance(found, FileNotFoundError) and not path.parent.is_dir():
            reason = f"there is no folder {path.parent}"
        raise error(f"{path} cannot be written: {reason}", hint) from found
