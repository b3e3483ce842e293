"""The bytes of one stage's module, read from what someone handed in, and the modules of earlier stages with it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import files
from grader.submission.files import NOTEBOOK, TAR, ZIP, is_archive, is_renamed, places, printable, several, shown

if TYPE_CHECKING:
    from grader.submission.containers import FoundModule, Tree


Source = Literal["own", "reference", "given"]
SOURCES: tuple[Source, ...] = get_args(Source)
MOST = 1000  # uses in a document
_STAGE, _DIGEST = re.compile(r"s[0-9]{2,}"), re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Use:
    """A stage whose module a submission builds on, whose text that was, and the text's SHA-256."""

    stage: str
    source: Source
    digest: str


@dataclass(frozen=True)
class UsedModule:
    """The text of a module that a submission may import by name; label is what messages call its file.

    withheld says that it is a reference which whoever handed the submission in is not to read in a report.
    """

    use: Use
    name: str
    label: str
    text: bytes
    withheld: bool = False


def uses_in(found: object) -> tuple[Use, ...] | None:
    """Return the uses in a document, which somebody else may have written; None where it has another form."""
    if not isinstance(found, list) or len(found) > MOST:
        return None
    uses: list[Use] = []
    for each in found:
        match each:
            case {"stage": str(stage), "source": str(source), "digest": str(digest), **more} if (
                not more and _STAGE.fullmatch(stage) and source in SOURCES and _DIGEST.fullmatch(digest)
            ):
                uses.append(Use(stage, next(known for known in SOURCES if known == source), digest))
            case _:
                return None
    return tuple(uses)


def whole_digest(digest: str, uses: Iterable[Use]) -> str:
    """Return the digest of a module together with all that it was graded with; of a module alone it is the module's.

    digest is the SHA-256 of the module's text.
    """
    found = [[use.stage, use.source, use.digest] for use in uses]
    return hashlib.sha256(json.dumps([digest, found]).encode()).hexdigest() if found else digest


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
    from grader.submission import git  # the course's own module, which is the common case, needs none of it

    if (found := git.split(path)) is not None:
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
    from grader.submission import containers

    label = _label(path, course_root)
    if path.is_dir():
        found = containers.misnamed_in(stage, _tree(path, label), label)
    elif _is_archive(path):
        data = files.read(path.parent, (path.name,), label, "", MAX_ARCHIVE_BYTES)
        found = containers.misnamed_in(stage, containers.opened(data, path.name, label), label)
    else:
        data = files.read(path.parent, (path.name,), label, "", containers.MAX_NOTEBOOK)
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
    from grader.submission import git

    return path.is_dir() or _is_archive(path) or git.split(path) is not None


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
    from grader.submission import containers

    label = _label(path, course_root)
    source = containers.notebook_code(
        files.read(path.parent, (path.name,), label, hint, containers.MAX_NOTEBOOK), label
    )
    files.expect_size(len(source), label)
    return replace(_snapshot(stage, source, path, label), notes=(containers.from_cells(path.name),))


def _tree(path: Path, label: str) -> Tree:
    from grader.submission.containers import Tree

    return Tree(path.parent, (path.name,) if path.name else (), label)


def _in_container(stage: Stage, found: FoundModule, path: Path, label: str) -> Snapshot:
    files.expect_size(len(found.source), label)
    where = f"{label}/{printable('/'.join(found.parts))}"
    return replace(_snapshot(stage, found.source, path.joinpath(*found.parts), where), notes=found.notes)


def _from_revision(stage: Stage, repository: Path, name: str, course_root: Path) -> Snapshot:
    from grader.submission.git import opened, read_module

    label = _label(repository, course_root)
    with opened(repository, label) as git:
        commit, parts, source = read_module(stage, git, name, label)
    origin = Path(f"{repository}@{commit}").joinpath(*parts)
    return replace(_snapshot(stage, source, origin, f"{label}@{commit[:12]}/{'/'.join(parts)}"), revision=commit)


def _snapshot(stage: Stage, source: bytes, origin: Path, label: str) -> Snapshot:
    notes: tuple[str, ...] = ()
    if b"%" in source or b"!" in source:
        from grader.submission.containers import without_magics

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
