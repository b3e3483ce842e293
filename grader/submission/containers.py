"""The module in a folder, an archive or a notebook, also where it lies deeper or is misnamed.

One archive within another is opened, no more; each within its own budget. Nothing of a notebook is run."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from grader.course.stage import Stage, public_names
from grader.errors import NotHandedIn, SubmissionError
from grader.submission.archives import MAX_DEPTH, MAX_MEMBERS, Archive, ArchiveMember, Tar, Zip, check_name, read_chosen
from grader.submission.files import (
    MAX_BYTES,
    NOTEBOOK,
    ZIP,
    expect_size,
    is_archive,
    is_renamed,
    kind,
    printable,
    read,
    several,
    shown,
)

MAX_NOTEBOOK = 8 << 20  # of a notebook, which holds pictures; as JSON it takes twenty times as much memory at worst
_SHOWN = 60  # characters of a line
_STARTS = re.compile(rb"^[ \t]*[%!]", re.MULTILINE)
_PYTHON_CELLS = re.compile(r"%%(?:time|timeit|capture|prun)\b")
_OWN = re.compile(
    r"\s*(?:%{1,2}[A-Za-z]|!(?!=)|\?\??\w|[\w.]+\?\??\s*$)"
)  # a line of IPython's: %magic, !command, ?help


def notebook_code(data: bytes, label: str) -> bytes:
    """Return the code of a notebook; SubmissionError for one that cannot be read, or holds none."""
    try:
        document = json.loads(data.decode("utf-8-sig"))
        cells = [_source(cell) for cell in _cells(document) if cell.get("cell_type") == "code"]
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError) as error:
        raise SubmissionError(f"{label} is not a notebook that can be read", "Save it again in Jupyter.") from error
    if not any(cell.strip() for cell in cells):
        raise SubmissionError(f"{label} is a notebook without code", "Hand in the notebook that holds the functions.")
    return "\n\n".join(_plain(cell) for cell in cells).encode("utf-8", "surrogatepass") + b"\n"


def without_magics(source: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Return a Python file that was exported from a notebook without IPython's lines, and what was left out, in words.

    Only a file that Python cannot read otherwise, and can read then, is changed; all lines keep their place.
    """
    if _STARTS.search(source) is None or _reads(source):
        return source, ()
    try:
        text = source.decode("utf-8-sig")
    except UnicodeDecodeError:
        return source, ()
    lines = text.replace("\r\n", "\n").split("\n")
    changed = [_commented(line, lines[at - 1] if at else "") for at, line in enumerate(lines)]
    new = "\n".join(changed).encode()
    if not _reads(new):
        return source, ()
    out = [line.strip() for line, now in zip(lines, changed, strict=True) if line != now]
    what = printable(out[0][:_SHOWN])
    if len(out) == 1:
        return new, (f"{what} is left out: only IPython understands it",)
    more = "1 more line" if len(out) == 2 else f"{len(out) - 1} more lines"
    return new, (f"{what} and {more} are left out: only IPython understands them",)


def _reads(source: bytes) -> bool:
    """Say whether a text is Python; one that may take long to read is taken for it."""
    from grader.submission.parsing import Problem, parsed
    from grader.submission.source import plain_text

    text = plain_text(source)
    return text is None or not isinstance(parsed(text), Problem)


def _cells(document: Any) -> list[dict[str, Any]]:
    if "cells" in document:
        return list(document["cells"])
    return [cell for sheet in document["worksheets"] for cell in sheet["cells"]]  # nbformat 3


def _source(cell: dict[str, Any]) -> str:
    text = cell.get("source", cell.get("input", ""))
    return text if isinstance(text, str) else "".join(text)


def _plain(cell: str) -> str:
    """Return a cell with each line that is IPython's own as a comment, so that all lines keep their place."""
    lines = cell.split("\n")
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and not _PYTHON_CELLS.match(first):  # a cell of another language
        return "\n".join(f"# {line}" for line in lines)
    return "\n".join(_commented(line, lines[at - 1] if at else "") for at, line in enumerate(lines))


def _commented(line: str, before: str) -> str:
    goes_on = before.rstrip().endswith((",", "(", "[", "\\"))  # then % is the operator
    if not _OWN.match(line) or goes_on:
        return line
    indent = line[: len(line) - len(line.lstrip())]
    return f"{indent}pass  # {line.strip()}" if indent else f"# {line}"


class Tree:
    """The files below a folder; label names it in messages. own are the parts below root that may be no link."""

    def __init__(self, root: Path, own: tuple[str, ...], label: str) -> None:
        self._root, self._own, self._label = root, own, label

    def members(self) -> Sequence[ArchiveMember]:
        """Return all files, folders and links below the folder; SubmissionError where there are too many."""
        found: list[ArchiveMember] = []
        waiting: list[tuple[str, ...]] = [()]
        while waiting:
            parts = waiting.pop()
            for entry in self._entries(parts):
                path = (*parts, entry.name)
                found_kind = kind(entry.stat(follow_symlinks=False).st_mode)
                size = entry.stat(follow_symlinks=False).st_size if found_kind == "a file" else 0
                found.append(ArchiveMember("/".join(path), found_kind, size, len(found)))
                if found_kind == "a folder" and len(path) < MAX_DEPTH and not entry.name.startswith("."):
                    waiting.append(path)
            if len(found) > MAX_MEMBERS:
                what = f"{self._label} holds more than {MAX_MEMBERS:,} files and folders"
                raise SubmissionError(what, "Hand in the module alone.")
        return found

    def read(self, member: ArchiveMember, limit: int = MAX_BYTES) -> bytes:
        """Return the bytes of a member; SubmissionError for a link, or for more than limit bytes."""
        return read(self._root, (*self._own, *member.parts), f"{self._label}/{member.name}", "", limit)

    def _entries(self, parts: Sequence[str]) -> Sequence[os.DirEntry[str]]:
        folder = self._root.joinpath(*self._own)
        if not parts and self._own and folder.is_symlink():
            raise SubmissionError(f"{self._label} is a link: expected a folder")
        try:
            with os.scandir(folder.joinpath(*parts)) as entries:
                return sorted(entries, key=lambda entry: entry.name)
        except OSError:
            return []


MAX_INNER = 16 << 20  # bytes of an archive within a folder or another archive
MOST_INNER = 3  # such archives that are opened
MOST_TEXTS = 100  # files whose text is searched for a stage's functions
MOST_UNPACKED = 256 << 20  # bytes that a tar archive is unpacked to for that, from its beginning for each file
_LITTER = ("__MACOSX", ".ipynb_checkpoints")
_TEXTS = (".py", ".py.txt", "_py.txt", ".txt", NOTEBOOK)


@dataclass(frozen=True)
class FoundModule:
    """A module: its path within what was handed in, its bytes, and what was done to get at them, in words."""

    parts: tuple[str, ...]
    source: bytes
    notes: tuple[str, ...] = ()


def opened(data: bytes, name: str, label: str) -> Archive:
    """Return the archive in data; SubmissionError where it is broken."""
    return Zip(data, label) if name.lower().endswith(ZIP) else Tar(data, label)


def module_in(stage: Stage, archive: Archive, label: str, depth: int = 1) -> FoundModule:
    """Return the module of a stage in an archive or a folder; depth is how many archives deep it may lie in it."""
    members = archive.members()
    what = "a folder" if isinstance(archive, Tree) else "an archive"
    try:
        return FoundModule(*read_chosen(stage, archive, members, label, what))
    except NotHandedIn:
        inner = _in_archives(stage, archive, members, label, depth) if depth else None
        found = inner or _in_notebook(stage, archive, members, label)
        if found is None:
            raise
        return found


def misnamed_in(stage: Stage, archive: Archive, label: str) -> FoundModule | None:
    """Return the text in an archive or a folder that has a stage's functions, under whatever name; None without one.

    Of several the one with the most functions is taken, and none where that does not decide.
    """
    members = archive.members()
    texts = [each for each in _files(members, label) if each.name.lower().endswith(_TEXTS)]
    whole = sum(each.size for each in members) if isinstance(archive, Tar) else 0
    most_texts = min(MOST_TEXTS, MOST_UNPACKED // whole) if whole else MOST_TEXTS
    found: list[tuple[int, ArchiveMember, bytes]] = []
    for member in texts[:most_texts]:
        is_notebook = member.name.lower().endswith(NOTEBOOK)
        if member.size <= (MAX_NOTEBOOK if is_notebook else MAX_BYTES):
            source = text_of(member.parts[-1], archive.read(member, max(member.size, 1)), label)
            if count := functions_in(stage, source):
                found.append((count, member, source))
    most = max((count for count, _, _ in found), default=0)
    best = {source: member for count, member, source in found if count == most}
    if len(best) != 1:
        return None
    ((source, member),) = best.items()
    name = member.parts[-1] if member.parts[-1] != stage.module else "/".join(member.parts)
    return FoundModule(member.parts, source, (misnamed(stage, name),))


def misnamed(stage: Stage, name: str) -> str:
    """Return in words that a file is taken for the module of a stage."""
    return f"{shown(name)} is taken for {stage.module}"


def text_of(name: str, data: bytes, label: str) -> bytes:
    """Return the text of a file; of a notebook its code, nothing where that cannot be read."""
    if not name.lower().endswith(NOTEBOOK):
        return data
    try:
        return notebook_code(data, label)
    except SubmissionError:
        return b""


def functions_in(stage: Stage, source: bytes) -> int:
    """Return how many of a stage's functions and classes a text defines; 0 where it defines less than half of them."""
    names = public_names(stage)
    defined = set(re.findall(rb"^(?:async[ \t]+)?(?:def|class)[ \t]+(\w+)", source, re.MULTILINE))
    count = sum(name.encode() in defined for name in names)
    return count if 2 * count >= len(names) else 0


def _in_archives(
    stage: Stage, archive: Archive, members: Sequence[ArchiveMember], label: str, depth: int
) -> FoundModule | None:
    """Return the module in the one inner archive that holds it."""
    found: list[FoundModule] = []
    failed: list[SubmissionError] = []
    inner = [each for each in _files(members, label) if is_archive(each.name) and each.size <= MAX_INNER]
    for member in inner[:MOST_INNER]:
        within = f"{label}/{shown(member.name)}"
        try:
            each = module_in(stage, opened(archive.read(member, MAX_INNER), member.name, within), within, depth - 1)
            found.append(FoundModule((*member.parts, *each.parts), each.source, each.notes))
        except NotHandedIn:
            continue
        except SubmissionError as error:
            failed.append(error)
    if len({each.source for each in found}) > 1:
        raise several(label, ["/".join(each.parts) for each in found])
    if not found and failed:
        raise failed[0]
    return found[0] if found else None


def _in_notebook(stage: Stage, archive: Archive, members: Sequence[ArchiveMember], label: str) -> FoundModule | None:
    """Return the code of the one notebook that bears the module's name."""
    named = [each for each in _files(members, label) if is_named_notebook(each.parts[-1], stage)]
    if not named:
        return None
    if len(named) > 1:
        raise several(label, [each.name for each in named])
    (member,) = named
    within = f"{label}/{shown(member.name)}"
    expect_size(member.size, within, MAX_NOTEBOOK)
    return FoundModule(
        member.parts, notebook_code(archive.read(member, MAX_NOTEBOOK), within), (from_cells(member.parts[-1]),)
    )


def is_named_notebook(name: str, stage: Stage) -> bool:
    """Say whether a name is that of a stage's module as a notebook, also as an upload changes it."""
    stem, dot, suffix = name.rpartition(".")
    return f".{suffix.lower()}" == NOTEBOOK and is_renamed(f"{stem}{dot}py", stage.module)


def from_cells(name: str) -> str:
    """Return in words that a module is the code of a notebook."""
    return f"the code cells of {shown(name)}"


def _files(members: Sequence[ArchiveMember], label: str) -> Iterator[ArchiveMember]:
    """Yield the files that somebody may have written, and no editor or system."""
    for each in members:
        check_name(each.name, label)
        hidden = any(part in _LITTER or part.startswith("._") for part in each.parts)
        if each.kind == "a file" and each.parts and not hidden:
            yield each
