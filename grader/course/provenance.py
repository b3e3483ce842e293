"""The provenance of a result: the course's commit or release, Python, NumPy and, in a class, the student."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from grader.course.sealed import RECORD, digest, read_record
from grader.course.stage import Course
from grader.errors import CourseError

SECONDS = 5.0  # for git to say what was changed
SHOWN = 12  # characters of a commit or release, for people
VERSION = re.compile(r"[0-9A-Za-z.+-]{1,40}")
STUDENT = re.compile(r"[\w.@/+-]([\w .@/+-]{0,98}[\w.@/+-])?")  # a name, an address, or OWNER/NAME of a repository
_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_STATUS = ("-c", "core.fsmonitor=false", "status", "--porcelain", "-z", "--untracked-files=normal", "--no-renames")
_GRADING = ("grader/", ".grader/wheels/", "stages/")  # where what grades lies, and the hidden folder
_WRITTEN = re.compile(r"stages/[^/]+/[^/]+\.py|(.*/)?README\.md")  # by a learner, or for one: it grades nobody


@dataclass(frozen=True)
class Provenance:
    """commit is of the author's course, release the SHA-256 of a learner's copy's record; None is what is not known.

    changed says whether what grades differs from that commit or release; revision is the commit that was handed in.
    """

    commit: str | None = None
    changed: bool | None = None
    release: str | None = None
    python: str | None = None
    numpy: str | None = None
    student: str | None = None
    revision: str | None = None

    @property
    def words(self) -> str:
        """What is known, on one line for people."""
        source = next((f"{kind} {name[:SHOWN]}" for kind, name in self._sources if name), "")
        known = {
            "": f"course {source}{' (changed since)' if self.changed else ''}" if source else None,
            "Python ": self.python,
            "NumPy ": self.numpy,
            "student ": self.student,
            "revision ": self.revision[:SHOWN] if self.revision else None,
        }
        return " · ".join(f"{name}{value}" for name, value in known.items() if value)

    @property
    def _sources(self) -> tuple[tuple[str, str | None], ...]:
        return ("commit", self.commit), ("release", self.release)


UNKNOWN = Provenance()


def made_here() -> Provenance:
    """Return the versions of Python and NumPy alone, which takes no time."""
    return Provenance(python=".".join(map(str, sys.version_info[:3])), numpy=_numpy())


def provenance_of(course: Course) -> Provenance:
    """Return what this grader and this course are; a course that is no checkout and no copy has neither name."""
    made = made_here()
    root, hidden = course.root.resolve(), course.hidden
    if (hidden / RECORD).is_file():
        return Provenance(None, _copy_changed(root, hidden), _release(hidden), made.python, made.numpy)
    commit = head(root)
    changed = _checkout_changed(course, root, hidden.resolve()) if commit else None
    return Provenance(commit, changed, None, made.python, made.numpy)


def head(root: Path) -> str | None:
    """Return the commit that a repository's folder is at, read from its files; None where there is no telling."""
    git = root / ".git"
    try:
        if git.is_file():  # a worktree's, or a submodule's
            git = root / _text(git).removeprefix("gitdir:").strip()
        said = _text(git / "HEAD").strip()
        if not said.startswith("ref:"):
            return said if _ID.fullmatch(said) else None
        common = git / "commondir"
        shared = git / _text(common).strip() if common.is_file() else git
        return _named(said.removeprefix("ref:").strip(), (git, shared))
    except (OSError, ValueError):  # the latter for what is no text, or no name of a file
        return None


def _text(path: Path) -> str:
    """Return what a regular file says: reading a pipe or a device might never end."""
    if not path.is_file():
        raise FileNotFoundError(path)
    return path.read_text(encoding="utf-8")


def _named(name: str, folders: tuple[Path, ...]) -> str | None:
    for folder in folders:
        if (file := folder / name).is_file():
            found = file.read_text(encoding="utf-8").strip()
            return found if _ID.fullmatch(found) else None
    if not (packed := folders[-1] / "packed-refs").is_file():
        return None
    lines = (line.split() for line in packed.read_text(encoding="utf-8").splitlines())
    return next((words[0] for words in lines if words[1:] == [name] and _ID.fullmatch(words[0])), None)


def _checkout_changed(course: Course, root: Path, hidden: Path) -> bool | None:
    """Ask git whether anything that grades is not as it was committed; None where git does not say."""
    if not hidden.is_relative_to(root):
        return None  # a link leads to another place, of which this repository knows nothing
    folders = dict.fromkeys((*_GRADING, hidden.relative_to(root).parts[0]))
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(
            ["git", *_STATUS, "--", *folders], cwd=root, env=environment | {"GIT_OPTIONAL_LOCKS": "0"},
            capture_output=True, timeout=SECONDS, check=False,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode != 0:
        return None
    paths = [entry[3:].decode("utf-8", "replace") for entry in done.stdout.split(b"\0") if entry]
    own = {f"stages/{stage.name}/{stage.module}" for stage in course.stages}
    return any(path not in own for path in paths)


def _copy_changed(root: Path, hidden: Path) -> bool | None:
    """Say whether a file of a copy that grades is not the released one; None where its record cannot be read."""
    try:
        files = read_record(hidden).files
    except CourseError:
        return None
    grading = (path for path in files if path.startswith(_GRADING) and not _WRITTEN.fullmatch(path))
    try:
        return any(digest((root / path).read_bytes()) != files[path] for path in grading)
    except OSError:
        return True


def _release(hidden: Path) -> str | None:
    try:
        return digest((hidden / RECORD).read_bytes())
    except OSError:
        return None


def _numpy() -> str | None:
    """Return the version of NumPy as its own file says it: importing it takes a tenth of a second."""
    spec = find_spec("numpy")
    try:
        text = Path(spec.origin or "").with_name("version.py").read_text(encoding="utf-8") if spec else ""
    except OSError:
        return None
    found = re.search(r"""^version = ["']([^"']+)["']""", text, re.MULTILINE)
    return found[1] if found else None
