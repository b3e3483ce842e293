"""From what someone handed in to the bytes of one stage's module."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path

from grader.course.stage import Stage
from grader.errors import NotHandedIn, SubmissionError
from grader.submission import files
from grader.submission.names import expected, is_renamed, places, printable, several, shown, suggestion
from grader.submission.used import UsedModule, whole_digest

MAX_ARCHIVE_BYTES = 64 << 20
_ZIP = (".zip",)
_TAR = (".tar", ".tar.gz", ".tgz", ".tar.xz", ".tar.bz2")


@dataclass(frozen=True)
class Snapshot:
    """The bytes of a learner's module as they were at one moment.

    module is the file name that the stage gives it, digest the SHA-256 of source in hexadecimal, origin where it was
    read (within an archive or a revision, too), label what messages show, revision the commit that it was taken from,
    uses the modules of earlier stages that go with it.
    """

    module: str
    source: bytes
    digest: str
    origin: Path
    label: str
    revision: str | None = None
    uses: tuple[UsedModule, ...] = ()

    @property
    def whole(self) -> str:
        """The digest of all that is graded: of source, and of what goes with it."""
        return whole_digest(self.digest, (each.use for each in self.uses))

    @property
    def withheld(self) -> tuple[str, ...]:
        """The ids of the stages whose references run beside it, and must not be read in a report of that run."""
        return tuple(each.use.stage for each in self.uses if each.withheld)


def take(stage: Stage, path: Path | None, course_root: Path) -> Snapshot:
    """Read the module of a stage: the course's own, or the one at path.

    path is a tree with stages/<stage>/<module>, a folder with <module>, a zip or tar archive of either, a revision of
    a local git repository (repo@revision), or a Python file of any name. In a folder or an archive without it a name
    that an upload has changed will do, as in names.is_renamed. Neither a file nor a folder from path on may
    be a link. Raises SubmissionError.
    """
    if path is None:
        hint = f"{_misnamed(stage)}`grader reset {stage.id}` puts the stage's stub there."
        return _from_file(stage, course_root, places(stage)[0], course_root, hint)
    from grader.submission import revision  # the course's own module, which is the common case, needs none of it

    if (found := revision.split(path)) is not None:
        return _from_revision(stage, *found, course_root)
    hint = f"Give a course, a folder with {stage.module}, a zip or tar archive, repo@revision, or a Python file."
    if _is_archive(path):
        return _from_archive(stage, path, course_root, hint)
    return _from_file(stage, *_located(stage, path), course_root, hint)


def _misnamed(stage: Stage) -> str:
    """Return what to do about Python files beside the place of a module that is not there; nothing without any."""
    found = sorted(shown(path.name) for path in stage.folder.glob("*.py") if path.name != stage.module)[:3]
    return f"Rename your file to {stage.module} if it is one of these: {', '.join(found)}. " if found else ""


def holds_stages(path: Path) -> bool:
    """Say whether what is handed in may hold several stages, as a folder, an archive or a revision can."""
    from grader.submission import revision

    return path.is_dir() or _is_archive(path) or revision.split(path) is not None


def _is_archive(path: Path) -> bool:
    return path.name.lower().endswith((*_ZIP, *_TAR)) and not path.is_dir()


def _from_file(stage: Stage, root: Path, parts: tuple[str, ...], course_root: Path, hint: str) -> Snapshot:
    origin = root.joinpath(*parts)
    label = _label(origin, course_root)
    return _snapshot(stage, files.read(root, parts, label, hint), origin, label)


def _from_archive(stage: Stage, path: Path, course_root: Path, hint: str) -> Snapshot:
    from grader.submission import members
    from grader.submission.tarred import Tar
    from grader.submission.zipped import Zip

    label = _label(path, course_root)
    data = files.read(path.parent, (path.name,), label, hint, MAX_ARCHIVE_BYTES)
    archive = Zip(data, label) if path.name.lower().endswith(_ZIP) else Tar(data, label)
    parts, source = members.read_module(stage, archive, label)
    return _snapshot(stage, source, path.joinpath(*parts), f"{label}/{printable('/'.join(parts))}")


def _from_revision(stage: Stage, repository: Path, name: str, course_root: Path) -> Snapshot:
    from grader.submission import revision
    from grader.submission.git import opened

    label = _label(repository, course_root)
    with opened(repository, label) as git:
        commit, parts, source = revision.read_module(stage, git, name, label)
    origin = Path(f"{repository}@{commit}").joinpath(*parts)
    return replace(_snapshot(stage, source, origin, f"{label}@{commit[:12]}/{'/'.join(parts)}"), revision=commit)


def _snapshot(stage: Stage, source: bytes, origin: Path, label: str) -> Snapshot:
    return Snapshot(stage.module, source, hashlib.sha256(source).hexdigest(), origin, label)


def _located(stage: Stage, path: Path) -> tuple[Path, tuple[str, ...]]:
    """A folder that is taken at the user's word, and the parts below it that are not."""
    own = (path.name,) if path.name else ()  # "." has none
    if os.path.isdir(path):
        for parts in places(stage):
            if os.path.lexists(path.joinpath(*parts)):
                return path.parent, own + parts
        return path.parent, (*own, _renamed(stage, path))
    if path.suffix != ".py" and os.path.isfile(path):
        kinds = f"expected a name that ends in .py, {', '.join((*_ZIP, *_TAR))}"
        raise SubmissionError(f"{printable(str(path))} is not a Python file: {kinds}")
    return path.parent, own


def _renamed(stage: Stage, folder: Path) -> str:
    """The one file in a folder that bears the module's name as an upload changes it."""
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    found = sorted(name for name in names if is_renamed(name, stage.module))
    if len(found) == 1:
        return found[0]
    label = printable(str(folder))
    if found:
        raise several(label, found)
    raise NotHandedIn(f"{label} is a folder without {expected(stage)}", suggestion(names))


def _label(origin: Path, course_root: Path) -> str:
    """Relative to the course where it lies inside, else as the user gave it, as for the course itself."""
    absolute, root = Path(os.path.abspath(origin)), Path(os.path.abspath(course_root))
    inside = absolute.is_relative_to(root) and absolute != root
    return printable(absolute.relative_to(root).as_posix() if inside else str(origin))
