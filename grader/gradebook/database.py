"""A gradebook's file: opened, brought up to date, and changed in transactions, so that a sudden end loses nothing.

Whatever SQLite raises ends as GradebookError, which says what to do.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from grader.errors import GradebookError
from grader.gradebook.schema import STEPS

FILE = "gradebook.sqlite"
BUSY_SECONDS = 15.0
MAKES_ONE = "`grader class grade SUBMISSIONS --stage STAGE --out DIR` makes one."
_ADVICE = {
    sqlite3.SQLITE_BUSY: "Another program holds it; close that program, and run the command again.",
    sqlite3.SQLITE_FULL: "The disk is full. All results so far are kept: free some space, and run the command again.",
    sqlite3.SQLITE_READONLY: "It, or its folder, is read-only: change that, or name another folder with --out.",
    sqlite3.SQLITE_CANTOPEN: "Its folder has to be writable: SQLite keeps two more files beside it.",
    sqlite3.SQLITE_NOTADB: "Name another folder with --out, or put a copy of the gradebook there.",
    sqlite3.SQLITE_CORRUPT: "Put a copy of it back; `sqlite3 FILE .recover` saves what can be read.",
    sqlite3.SQLITE_IOERR: "The disk may be full, or fail. What was recorded before is kept.",
}


class Database:
    """The file of a gradebook; used as a context manager."""

    def __init__(self, path: Path, connection: sqlite3.Connection) -> None:
        self.path = path
        self._connection = connection

    @classmethod
    def open(cls, folder: Path, create: bool = False) -> Self:
        """Open the gradebook in a folder, and bring it up to date; create makes both where they are missing.

        One that cannot be written to, as on a disk that is mounted read-only, can still be read.
        """
        path = folder / FILE
        if not create and not path.is_file():
            raise GradebookError(f"{folder} holds no gradebook: expected {FILE} in it", MAKES_ONE)
        if create:
            _make(path)
        can_write = create or (os.access(path, os.W_OK) and os.access(folder, os.W_OK))
        with _told(path):
            name = path if can_write else _to_read(path)
            connection = sqlite3.connect(
                name, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False, uri=not can_write
            )
        book = cls(path, connection)
        try:
            book._expect_gradebook(create)
            with _told(path):
                connection.execute("PRAGMA foreign_keys = ON")
                if can_write:
                    connection.execute("PRAGMA journal_mode = WAL")
                    connection.execute("PRAGMA synchronous = FULL")
            book._migrate(can_write)
        except BaseException:
            connection.close()
            raise
        return book

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        with suppress(sqlite3.Error):
            self._connection.close()

    @contextmanager
    def changing(self) -> Iterator[None]:
        """Make all changes in the block, or none of them."""
        with _told(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                with suppress(sqlite3.Error):  # some failures have rolled it back already
                    self._connection.execute("ROLLBACK")
                raise
            try:
                self._connection.execute("COMMIT")
            except sqlite3.Error:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise

    def _run(self, statement: str, values: Iterable[object] = ()) -> list[Any]:
        with _told(self.path):
            return self._connection.execute(statement, tuple(values)).fetchall()

    def _expect_gradebook(self, may_be_empty: bool) -> None:
        """Raise GradebookError for a file that is empty, or a database of something else."""
        at_once = "SELECT user_version, (SELECT count(*) FROM sqlite_master) FROM pragma_user_version"
        version, tables = self._run(at_once)[0]
        if version == 0 and (tables or not may_be_empty):
            what = "is a database of something else" if tables else "is empty"
            raise GradebookError(f"{self.path} {what}: expected a gradebook", MAKES_ONE)

    def _migrate(self, can_write: bool) -> None:
        version = self._version()
        if version == len(STEPS):
            return
        if version < len(STEPS) and not can_write:
            what = (
                f"{self.path} has version {version}, and cannot be brought up to version {len(STEPS)}: it is read-only"
            )
            raise GradebookError(what, "Copy it into a folder of yours, and name that.")
        with self.changing():
            version = self._version()  # another process may have been faster
            if version > len(STEPS):
                what = f"{self.path} has version {version}, and this grader knows versions up to {len(STEPS)}"
                raise GradebookError(what, "Use the grader that wrote it, or a newer one.")
            for step in STEPS[version:]:
                for statement in step:
                    self._run(statement)
            self._run(f"PRAGMA user_version = {len(STEPS)}")

    def _version(self) -> int:
        return int(self._run("PRAGMA user_version")[0][0])


def _make(path: Path) -> None:
    """Make the file and its folder where they are missing; GradebookError where that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(0o600)  # it holds students' work; SQLite gives the files beside it the same rights
    except OSError as error:
        what = f"{path} cannot be {'written' if path.exists() else 'made'}: {error.strerror}"
        raise GradebookError(what, "Name another folder with --out.") from error


def _to_read(path: Path) -> str:
    """Return the name of a database that can only be read; without a log beside it nobody writes to it."""
    still = "" if path.with_name(f"{FILE}-wal").exists() else "&immutable=1"
    return f"{path.resolve().as_uri()}?mode=ro{still}"


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ones that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # extended codes keep the plain one in their last byte
        raise GradebookError(f"{path} cannot be used: {error}", _ADVICE.get(code)) from error
