"""git, asked for objects only: no configuration, hooks, filters, replacements or network of the repository it reads."""

from __future__ import annotations

import contextlib
import math
import os
import re
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

from grader.errors import GraderFault, SubmissionError
from grader.submission.borrowed import borrow
from grader.submission.budget import MAX_TOTAL, Budget
from grader.submission.files import expect_size
from grader.submission.names import shown

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
        self._budget = Budget(label, MAX_TOTAL, "gives", "Hand in the module alone.")  # of all objects together

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
