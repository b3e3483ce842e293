"""The module in a folder or an archive, also where an archive or a notebook in it holds it, or where it is misnamed.

One archive within another is opened, no more; each within its own budget.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.course.stage import Stage, public_names
from grader.errors import NotHandedIn, SubmissionError
from grader.submission import notebook
from grader.submission.files import MAX_BYTES
from grader.submission.members import Archive, Member, check_name, read_chosen
from grader.submission.names import NOTEBOOK, ZIP, is_archive, is_renamed, several, shown
from grader.submission.tarred import Tar
from grader.submission.tree import Tree
from grader.submission.zipped import Zip

MAX_INNER = 16 << 20  # bytes of an archive within a folder or another archive
MOST_INNER = 3  # such archives that are opened
MOST_TEXTS = 100  # files whose text is searched for a stage's functions
MOST_UNPACKED = 256 << 20  # bytes that a tar archive is unpacked to for that, from its beginning for each file
_LITTER = ("__MACOSX", ".ipynb_checkpoints")
_TEXTS = (".py", ".py.txt", "_py.txt", ".txt", NOTEBOOK)


@dataclass(frozen=True)
class Found:
    """A module: its path within what was handed in, its bytes, and what was done to get at them, in words."""

    parts: tuple[str, ...]
    source: bytes
    notes: tuple[str, ...] = ()


def opened(data: bytes, name: str, label: str) -> Archive:
    """Return the archive in data; SubmissionError where it is broken."""
    return Zip(data, label) if name.lower().endswith(ZIP) else Tar(data, label)


def module_in(stage: Stage, archive: Archive, label: str, depth: int = 1) -> Found:
    """Return the module of a stage in an archive or a folder; depth is how many archives deep it may lie in it."""
    members = archive.members()
    what = "a folder" if isinstance(archive, Tree) else "an archive"
    try:
        return Found(*read_chosen(stage, archive, members, label, what))
    except NotHandedIn:
        inner = _in_archives(stage, archive, members, label, depth) if depth else None
        found = inner or _in_notebook(stage, archive, members, label)
        if found is None:
            raise
        return found


def misnamed_in(stage: Stage, archive: Archive, label: str) -> Found | None:
    """Return the text in an archive or a folder that has a stage's functions, under whatever name; None without one.

    Of several the one with the most functions is taken, and none where that does not decide.
    """
    members = archive.members()
    texts = [each for each in _files(members, label) if each.name.lower().endswith(_TEXTS)]
    whole = sum(each.size for each in members) if isinstance(archive, Tar) else 0
    most_texts = min(MOST_TEXTS, MOST_UNPACKED // whole) if whole else MOST_TEXTS
    found: list[tuple[int, Member, bytes]] = []
    for member in texts[:most_texts]:
        is_notebook = member.name.lower().endswith(NOTEBOOK)
        if member.size <= (notebook.MAX_BYTES if is_notebook else MAX_BYTES):
            source = text_of(member.parts[-1], archive.read(member, max(member.size, 1)), label)
            if count := functions_in(stage, source):
                found.append((count, member, source))
    most = max((count for count, _, _ in found), default=0)
    best = {source: member for count, member, source in found if count == most}
    if len(best) != 1:
        return None
    ((source, member),) = best.items()
    return Found(member.parts, source, (misnamed(stage, member.parts[-1]),))


def misnamed(stage: Stage, name: str) -> str:
    """Return in words that a file is taken for the module of a stage."""
    return f"{shown(name)} is taken for {stage.module}"


def text_of(name: str, data: bytes, label: str) -> bytes:
    """Return the text of a file; of a notebook its code, nothing where that cannot be read."""
    if not name.lower().endswith(NOTEBOOK):
        return data
    try:
        return notebook.code(data, label)
    except SubmissionError:
        return b""


def functions_in(stage: Stage, source: bytes) -> int:
    """Return how many of a stage's functions and classes a text defines; 0 where it defines less than half of them."""
    names = public_names(stage)
    defined = set(re.findall(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", source, re.MULTILINE))
    count = sum(name.encode() in defined for name in names)
    return count if 2 * count >= len(names) else 0


def _in_archives(stage: Stage, archive: Archive, members: Sequence[Member], label: str, depth: int) -> Found | None:
    """Return the module in the one inner archive that holds it."""
    found: list[Found] = []
    failed: list[SubmissionError] = []
    inner = [each for each in _files(members, label) if is_archive(each.name) and each.size <= MAX_INNER]
    for member in inner[:MOST_INNER]:
        within = f"{label}/{shown(member.name)}"
        try:
            each = module_in(stage, opened(archive.read(member, MAX_INNER), member.name, within), within, depth - 1)
            found.append(Found((*member.parts, *each.parts), each.source, each.notes))
        except NotHandedIn:
            continue
        except SubmissionError as error:
            failed.append(error)
    if len({each.source for each in found}) > 1:
        raise several(label, ["/".join(each.parts) for each in found])
    if not found and failed:
        raise failed[0]
    return found[0] if found else None


def _in_notebook(stage: Stage, archive: Archive, members: Sequence[Member], label: str) -> Found | None:
    """Return the code of the one notebook that bears the module's name."""
    named = [each for each in _files(members, label) if is_named_notebook(each.parts[-1], stage)]
    if not named:
        return None
    if len(named) > 1:
        raise several(label, [each.name for each in named])
    (member,) = named
    within = f"{label}/{shown(member.name)}"
    if member.size > notebook.MAX_BYTES:
        raise SubmissionError(f"{within} has {member.size:,} bytes: at most {notebook.MAX_BYTES:,} are accepted")
    return Found(
        member.parts, notebook.code(archive.read(member, notebook.MAX_BYTES), within), (from_cells(member.parts[-1]),)
    )


def is_named_notebook(name: str, stage: Stage) -> bool:
    """Say whether a name is that of a stage's module as a notebook, also as an upload changes it."""
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" == NOTEBOOK and is_renamed(f"{stem}{dot}py", stage.module)


def from_cells(name: str) -> str:
    """Return in words that a module is the code of a notebook."""
    return f"the code cells of {shown(name)}"


def _files(members: Sequence[Member], label: str) -> Iterator[Member]:
    """Yield the files that somebody may have written, and no editor or system."""
    for each in members:
        check_name(each.name, label)
        hidden = any(part in _LITTER or part.startswith("._") for part in each.parts)
        if each.kind == "a file" and each.parts and not hidden:
            yield each
