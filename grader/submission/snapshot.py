"""From what someone handed in to the bytes of one stage's module."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import files
from grader.submission.names import NOTEBOOK, TAR, ZIP, is_archive, is_renamed, places, printable, several, shown
from grader.submission.used import UsedModule, whole_digest

if TYPE_CHECKING:
    from grader.submission.containers import Found
    from grader.submission.tree import Tree

MAX_ARCHIVE_BYTES = 64 << 20


@dataclass(frozen=True)
class Snapshot:
    """The bytes of a learner's module as they were at one moment.

    module is the file name that the stage gives it, digest the SHA-256 of source in hexadecimal, origin where it was
    read (within an archive or a revision, too), label what messages show, revision the commit that it was taken from,
    uses the modules of earlier stages that go with it, notes what was done to get at the text, in words.
    """

    module: str
    source: bytes
    digest: str
    origin: Path
    label: str
    revision: str | None = None
    uses: tuple[UsedModule, ...] = ()
    notes: tuple[str, ...] = ()

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
    a local git repository (repo@revision), or a Python file or a notebook of any name. In a folder or an archive
    without it a name that an upload has changed will do, as in names.is_renamed, a folder below, an archive in it, or a
    notebook of the module's name. Neither a file nor a folder from path on may be a link. Raises SubmissionError.
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
    if path.suffix.lower() == NOTEBOOK and not path.is_dir():
        return _from_notebook(stage, path, course_root, hint)
    if (located := _located(stage, path)) is None:
        return _from_folder(stage, path, course_root)
    return _from_file(stage, *located, course_root, hint)


def take_misnamed(stage: Stage, path: Path, course_root: Path) -> Snapshot | None:
    """Return what has a stage's functions under another name: a file, or one in a folder or an archive.

    A name such as hw3.py, Numbers.py, numbers.py.txt or hw3.ipynb; None where there is none, or no telling which.
    """
    from grader.submission import containers, notebook

    label = _label(path, course_root)
    if path.is_dir():
        found = containers.misnamed_in(stage, _tree(path, label), label)
    elif _is_archive(path):
        data = files.read(path.parent, (path.name,), label, "", MAX_ARCHIVE_BYTES)
        found = containers.misnamed_in(stage, containers.opened(data, path.name, label), label)
    else:
        data = files.read(path.parent, (path.name,), label, "", notebook.MAX_BYTES)
        source = containers.text_of(path.name, data, label)
        if len(source) > files.MAX_BYTES or not containers.functions_in(stage, source):
            return None
        notes = (containers.misnamed(stage, path.name),)
        return replace(_snapshot(stage, source, path, label), notes=notes)
    return None if found is None else _in_container(stage, found, path, label)


def _misnamed(stage: Stage) -> str:
    """Return what to do about Python files beside the place of a module that is not there; nothing without any."""
    found = sorted(shown(path.name) for path in stage.folder.glob("*.py") if path.name != stage.module)[:3]
    return f"Rename your file to {stage.module} if it is one of these: {', '.join(found)}. " if found else ""


def holds_stages(path: Path) -> bool:
    """Say whether what is handed in may hold several stages, as a folder, an archive or a revision can."""
    from grader.submission import revision

    return path.is_dir() or _is_archive(path) or revision.split(path) is not None


def _is_archive(path: Path) -> bool:
    return is_archive(path.name) and not path.is_dir()


def _from_file(stage: Stage, root: Path, parts: tuple[str, ...], course_root: Path, hint: str) -> Snapshot:
    origin = root.joinpath(*parts)
    label = _label(origin, course_root)
    return _snapshot(stage, files.read(root, parts, label, hint), origin, label)


def _from_archive(stage: Stage, path: Path, course_root: Path, hint: str) -> Snapshot:
    from grader.submission import containers

    label = _label(path, course_root)
    data = files.read(path.parent, (path.name,), label, hint, MAX_ARCHIVE_BYTES)
    return _in_container(
        stage, containers.module_in(stage, containers.opened(data, path.name, label), label), path, label
    )


def _from_folder(stage: Stage, path: Path, course_root: Path) -> Snapshot:
    """Read the module of a stage from below a folder, as from an archive."""
    from grader.submission import containers

    label = _label(path, course_root)
    return _in_container(stage, containers.module_in(stage, _tree(path, label), label, depth=2), path, label)


def _from_notebook(stage: Stage, path: Path, course_root: Path, hint: str) -> Snapshot:
    from grader.submission import containers, notebook

    label = _label(path, course_root)
    source = notebook.code(files.read(path.parent, (path.name,), label, hint, notebook.MAX_BYTES), label)
    files.expect_size(len(source), label)
    return replace(_snapshot(stage, source, path, label), notes=(containers.from_cells(path.name),))


def _tree(path: Path, label: str) -> Tree:
    from grader.submission.tree import Tree

    return Tree(path.parent, (path.name,) if path.name else (), label)


def _in_container(stage: Stage, found: Found, path: Path, label: str) -> Snapshot:
    files.expect_size(len(found.source), label)
    where = f"{label}/{printable('/'.join(found.parts))}"
    return replace(_snapshot(stage, found.source, path.joinpath(*found.parts), where), notes=found.notes)


def _from_revision(stage: Stage, repository: Path, name: str, course_root: Path) -> Snapshot:
    from grader.submission import revision
    from grader.submission.git import opened

    label = _label(repository, course_root)
    with opened(repository, label) as git:
        commit, parts, source = revision.read_module(stage, git, name, label)
    origin = Path(f"{repository}@{commit}").joinpath(*parts)
    return replace(_snapshot(stage, source, origin, f"{label}@{commit[:12]}/{'/'.join(parts)}"), revision=commit)


def _snapshot(stage: Stage, source: bytes, origin: Path, label: str) -> Snapshot:
    notes: tuple[str, ...] = ()
    if b"%" in source or b"!" in source:
        from grader.submission.notebook import without_magics

        source, notes = without_magics(source)
    return Snapshot(stage.module, source, hashlib.sha256(source).hexdigest(), origin, label, notes=notes)


def _located(stage: Stage, path: Path) -> tuple[Path, tuple[str, ...]] | None:
    """A folder that is taken at the user's word, and the parts below it that are not; None where to look below it."""
    own = (path.name,) if path.name else ()  # "." has none
    if os.path.isdir(path):
        for parts in places(stage):
            if os.path.lexists(path.joinpath(*parts)):
                return path.parent, own + parts
        renamed = _renamed(stage, path)
        return None if renamed is None else (path.parent, (*own, renamed))
    if path.suffix != ".py" and os.path.isfile(path):
        kinds = f"expected a name that ends in .py, {', '.join((NOTEBOOK, *ZIP, *TAR))}"
        raise SubmissionError(f"{printable(str(path))} is not a Python file: {kinds}")
    return path.parent, own


def _renamed(stage: Stage, folder: Path) -> str | None:
    """The one file in a folder that bears the module's name as an upload changes it."""
    try:
        names = os.listdir(folder)
    except OSError:
        names = []
    found = sorted(name for name in names if is_renamed(name, stage.module))
    if len(found) > 1:
        raise several(printable(str(folder)), found)
    return found[0] if found else None


def _label(origin: Path, course_root: Path) -> str:
    """Relative to the course where it lies inside, else as the user gave it, as for the course itself."""
    absolute, root = Path(os.path.abspath(origin)), Path(os.path.abspath(course_root))
    inside = absolute.is_relative_to(root) and absolute != root
    return printable(absolute.relative_to(root).as_posix() if inside else str(origin))
