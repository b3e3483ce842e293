"""Requests of students to look at a mark once more, as they come in a CSV file or as a folder of texts.

A CSV file has the columns student, stage, criterion and words; a text begins with lines `student: ada`, `stage: sums`
and, if it is about one criterion, `criterion: split-heads`, then a blank line and the words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.course.stage import Course
from grader.errors import GraderError, UsageError
from grader.gradebook.records import Member
from grader.gradebook.roster import first_of, known_as, read_sheet
from grader.submission.files import folded, printable

MOST_WORDS = 4000
ENDINGS = (".txt", ".md")
_MEANING = {"who": "student", "name": "student", "login": "student", "email": "student", "e-mail": "student",
            "assignment": "stage", "row": "criterion", "question": "criterion", "request": "words", "message": "words",
            "text": "words", "reason": "words"}  # fmt: skip
_EXPECTED = "Expected the columns student, stage, criterion and words, or a folder of texts that begin with such lines."


@dataclass(frozen=True)
class RequestLine:
    """What one student asks: about a stage, or about one criterion of it."""

    student: str
    stage: str
    criterion: str
    words: str


def read_requests(
    path: Path, course: Course, students: Sequence[str], roster: Iterable[Member]
) -> tuple[RequestLine, ...]:
    """Return the requests of a CSV file or of a folder; UsageError with every mistake in them.

    A student is meant by the name in the gradebook, or by whatever the roster knows of them.
    """
    names = known_as(students, roster)
    found: list[RequestLine] = []
    mistakes: list[str] = []
    for place, cells in _from_folder(path) if path.is_dir() else _from_sheet(path):
        try:
            found.append(_asked(cells, course, names))
        except GraderError as error:
            mistakes.append(f"{place}: {error.message}")
    if mistakes:
        raise UsageError(first_of(mistakes), "Correct them first: none was taken in.")
    if not found:
        raise UsageError(f"{path} holds no request", _EXPECTED)
    return tuple(found)


def _from_sheet(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    for line in read_sheet(path, _EXPECTED).lines:
        yield f"{path.name}, line {line.number}", {_MEANING.get(name, name): cell for name, cell in line.cells.items()}


def _from_folder(path: Path) -> Iterator[tuple[str, Mapping[str, str]]]:
    for each in sorted(path.iterdir()):
        if each.suffix.lower() not in ENDINGS or not each.is_file() or each.is_symlink():
            continue
        head, _, words = each.read_text(encoding="utf-8", errors="replace").partition("\n\n")
        pairs = (line.partition(":") for line in head.splitlines())
        cells = {name.strip().lower(): value.strip() for name, _, value in pairs}
        yield printable(each.name), {**{_MEANING.get(name, name): cell for name, cell in cells.items()}, "words": words}


def _asked(cells: Mapping[str, str], course: Course, names: Mapping[str, str]) -> RequestLine:
    who, stage, criterion, words = (cells.get(each, "").strip() for each in ("student", "stage", "criterion", "words"))
    student = names.get(folded([who])[0]) if who else None
    if student is None:
        raise UsageError(f"{printable(who)!r} is not in the gradebook")
    if not words:
        raise UsageError("there are no words")
    target = course.find(stage)
    criterion_id = target.asked(criterion).id if criterion else ""
    return RequestLine(student, target.id, criterion_id, printable(words[:MOST_WORDS]))
