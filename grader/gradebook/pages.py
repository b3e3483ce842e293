"""The report of a class: a page of figures for whoever teaches, and a page of feedback for each student.

Pages are HTML without scripts, which a browser opens from anywhere. Whatever a template prints goes through Jinja2's
escaping, after characters that only pretend to be shown are spelt out. A report is one file, or a folder, which is made
beside its place and then moved there, so that nobody finds half a report, and a failure leaves the earlier one.
"""

from __future__ import annotations

import hashlib
import math
import os
import re
import secrets
import shutil
import unicodedata
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from grader.course.stage import FEEDBACK, Course, Feedback
from grader.criterion import counts_in
from grader.errors import GraderError, UsageError
from grader.gradebook.dossier import MOST_SAID, marked
from grader.gradebook.exports import OWN_WORKSHEET, of_worksheet, participant
from grader.gradebook.figures import AGAIN, MANY, SIGNS, STATES, Document, Figures, StudentRecord
from grader.gradebook.marks import Entry
from grader.gradebook.records import Mixture
from grader.gradebook.roster import Worksheet
from grader.gradebook.store import FILE
from grader.report.feedback import HELD_BACK, TESTS, lower
from grader.report.templates import cut, environment
from grader.report.terminal.words import lacking_words
from grader.verdict import SOURCE

HOME = Path(__file__).parent
SHOWN_MISTAKES, SHOWN_STUCK = 25, 50
MOST_LINES = 200  # of a matrix
OUTCOMES = {
    "missing": "nothing handed in", "rejected": "cannot be accepted", "waits": "waits for an earlier stage",
    "fault": "the grader failed",
}  # fmt: skip
WORDS = {
    "passed": "✓ passed", "failed": "✗ failed", "not_started": "○ not started", "blocked": "– waits",
    "crashed": "✗ crashed", "timed_out": "✗ timed out", "over_limit": "✗ over a limit", "grader_fault": "grader fault",
}  # fmt: skip
INDEX = "index.html"
STUDENTS = "students"
UNTOLD = "the reason is not shown here"  # of points by hand, since it may hold the name
ENDINGS = (".html", ".htm", ".zip")
FEEDBACK_FILE = "feedback.html"
_PAGE = re.compile(r"[a-z0-9-]{1,40}-[0-9a-f]{12}\.html")
_OURS = b'<meta name="generator" content="grader class report">'
MOST_FAILURES = 3  # of a criterion


class ClassPages:
    """The pages of one report. Raises UsageError without Jinja2.

    feedback is what class.toml says now; a page tells no more than that, the stage and the stored verdict allow. mixed
    are the stages whose marks are of several versions. With numbers, these stand for the names of students.
    """

    def __init__(
        self,
        course: Course,
        feedback: Feedback,
        now: datetime,
        numbers: Mapping[str, int] | None = None,
        mixed: tuple[Mixture, ...] = (),
    ) -> None:
        self._levels = {stage.id: lower(stage.feedback, feedback) for stage in course.stages}
        self._order = {stage.id: place for place, stage in enumerate(course.stages)}
        self._feedback = feedback
        self.numbers, self._mixed = numbers, mixed
        self._common: Mapping[str, Any] = {"title": course.settings.title, "made": now.strftime("%Y-%m-%d %H:%M %Z")}
        self._templates = environment(HOME / "templates", "class", "grader")
        self._templates.filters["percent"] = percent

    def overview(self, figures: Figures) -> Iterator[str]:
        """Yield the text of the class's page, piece by piece."""
        return self._templates.get_template("overview.html").generate(
            figures=figures,
            stages=sorted(figures.stages.values(), key=lambda each: (self._order.get(each.id, math.inf), each.id)),
            mistakes=figures.commonest(SHOWN_MISTAKES),
            stuck=figures.longest(SHOWN_STUCK),
            zeros=figures.nothing_earned(SHOWN_MISTAKES),
            anonymous=self.numbers is not None,
            mixed=self._mixed,
            many=MANY,
            again=AGAIN,
            states={SIGNS[state]: words for state, words in STATES.items()},
            most=MOST_LINES,
            **self._common,
        )

    def student(self, sheet: StudentRecord) -> str:
        """Return the text of one student's page; nobody else is named in it."""
        return self._templates.get_template("student.html").render(
            student=sheet.called,
            passed=sheet.passed,
            points=sheet.points,
            parts=[self._part(entry, sheet.texts.get(entry.stage)) for entry in sheet.entries],
            words=WORDS,
            **self._common,
        )

    def _part(self, entry: Entry, text: bytes | None) -> dict[str, Any]:
        """Return a stage: problem and hint say why nothing could be run, notes what was stood in for.

        code is the module with what is wrong on each line, as far as the criteria say so.
        """
        verdict = entry.verdict or {}
        problem = verdict.get("problem") or {}
        failed = entry.outcome != "graded" or bool(problem)
        level = self._levels.get(entry.stage, self._feedback)
        told = () if failed else criteria(verdict, level)
        by_hand = {each.criterion: each for each in entry.corrections}
        return {
            "entry": entry,
            "by_hand": by_hand,
            "code": marked(text, _said(told)) if text is not None and any(each.failures for each in told) else (),
            "title": str(verdict.get("title") or ""),
            "outcome": "passed" if entry.passed else OUTCOMES.get(entry.outcome, "not passed"),
            "problem": entry.problem,
            "hint": str(problem.get("hint") or ""),
            "criteria": told,
            "notes": tuple(map(str, verdict.get("notes") or ())),
        }


def percent(share: float) -> str:
    """Return a share in percent: never 0 or 100 where it is only near.

    >>> percent(0.999), percent(0.001), percent(0.5), percent(1.0)
    ('99', '1', '50', '100')
    """
    return str(round(share * 100) if share in (0.0, 1.0) else min(max(round(share * 100), 1), 99))


@dataclass(frozen=True)
class ShownFailure:
    """One failed test as its page tells it; line is where in the module its cause lies, 0 where that is not told."""

    test: str
    call: str
    message: str
    help: str
    mistake: str
    fix: str
    where: str
    line: int = 0


@dataclass(frozen=True)
class ShownCriterion:
    """One criterion as it is shown; more counts failures that are left out, lacking names the robustness missing."""

    id: str
    text: str
    status: str
    passed: int
    total: int
    lacking: str
    waits_for: tuple[str, ...]
    failures: tuple[ShownFailure, ...]
    more: int


def criteria(verdict: Document, feedback: Feedback) -> tuple[ShownCriterion, ...]:
    """Return the criteria of a stored verdict with what may be told of their failures."""
    stored = verdict.get("feedback")
    before: Feedback = next((each for each in FEEDBACK if each == stored), "full")
    level = lower(feedback, before)
    lent = any(use.get("source") == "reference" for use in verdict.get("uses") or ())
    return tuple(_criterion(each, level, level != before, lent) for each in verdict.get("criteria") or ())


def _kept(criterion: Document, beside_reference: bool) -> list[Document]:
    """Return the failures of a criterion; of a run beside a reference, whose code could read it, only our own words.

    Earlier graders stored more of such a run.
    """
    failures: list[Document] = list(criterion.get("failures") or ())
    return [each for each in failures if each.get("test") in (TESTS, SOURCE)] if beside_reference else failures


def _criterion(criterion: Document, level: Feedback, lowered: bool, beside_reference: bool) -> ShownCriterion:
    told = tuple(_told(_kept(criterion, beside_reference), level, lowered))
    counts = counts_in(criterion)
    is_told = criterion["status"] == "passed" or criterion["values_right"]
    return ShownCriterion(
        str(criterion["id"]),
        str(criterion.get("text") or criterion["id"]),
        str(criterion["status"]),
        int(criterion["tests_passed"]),
        int(criterion["tests_total"]),
        lacking_words(counts.lacking) if is_told else "",
        () if lowered else tuple(map(str, criterion.get("waits_for") or ())),
        told[:MOST_FAILURES],
        max(0, len(told) - MOST_FAILURES),
    )


def _told(failures: Any, level: Feedback, lowered: bool) -> Iterator[ShownFailure]:
    for each in failures:
        held = bool(each.get("hidden", True)) and level != "full"
        if held and level == "verdict":
            continue
        cause: Document = {} if lowered else each.get("cause") or {}
        mistake, fix = str(cause.get("text") or ""), str(cause.get("fix") or "")
        test = str(each.get("test") or "")
        if held:
            line = int(cause.get("line") or 0)
            yield ShownFailure(test.partition("[")[0], "", HELD_BACK, "", mistake, fix, "", line)
        else:
            message, call = str(each.get("message") or ""), str(each.get("call") or "")
            where = re.split(r"[/\\]", str(each.get("where") or ""))[-1]  # folders are of the machine that graded
            place = where.rpartition(":")[2]
            line = int(cause.get("line") or (place if place.isdecimal() else 0))
            yield ShownFailure(test, call, message, str(each.get("help") or ""), mistake, fix, where, line)


def _said(criteria: Iterable[ShownCriterion]) -> Iterator[tuple[int, str]]:
    """Yield what criteria tell of lines of the module."""
    for criterion in criteria:
        if criterion.status != "not_started":
            for each in criterion.failures:
                yield each.line, cut(each.mistake or each.message.partition("\n")[0], MOST_SAID)


def write_report(pages: ClassPages, sheets: Iterable[StudentRecord], place: Path) -> int:
    """Write a file where place ends in .html, else a folder; return how many students are in it.

    Raises UsageError where something else is in the way, which is left as it is.
    """
    with _fresh(place) as fresh:
        return _write(pages, sheets, fresh, is_folder(place))


def write_feedback(
    pages: ClassPages, sheets: Iterable[StudentRecord], place: Path, worksheet: Worksheet | None = None
) -> tuple[int, tuple[str, ...]]:
    """Write a zip of Moodle's feedback files: a page for each student; return how many, and who has no number there.

    Names are as its importer reads them (mod/assign/feedback/file/importziplib.php): a folder
    `Full name_NUMBER_assignfeedback_file_`, whose parts `_` separates, NUMBER being the participant's.
    """
    expect_free(place)
    lost: list[str] = []
    kept = 0
    with _fresh(place) as fresh, zipfile.ZipFile(fresh, "x", zipfile.ZIP_DEFLATED) as archive:
        for sheet in sheets:
            entry = sheet.entries[0] if worksheet is None else of_worksheet(sheet.entries[:1], worksheet)[0]
            number = participant(entry)
            if not number.isdecimal():
                lost.append(sheet.student)
                continue
            name = (entry.member.name if entry.member else "") or sheet.student.removesuffix(f"_{number}")
            folder = re.sub(r'[_/\\:*?"<>|\x00-\x1f]', " ", name).strip(" .~") or "student"
            archive.writestr(f"{folder}_{number}_assignfeedback_file_/{FEEDBACK_FILE}", pages.student(sheet))
            kept += 1
        if not kept:
            raise UsageError("no participant's number of Moodle is known of anybody", OWN_WORKSHEET)
    return kept, tuple(lost)


def is_folder(place: Path) -> bool:
    """Return whether a report there is a folder."""
    return place.suffix.lower() not in ENDINGS


def expect_free(place: Path) -> None:
    """Raise UsageError unless a report can be put there; only an earlier report is replaced."""
    if place.name in ("", ".."):
        raise UsageError(f"{place} has no name of its own", "Name a file or a folder, as in --out report.")
    if not place.parent.is_dir():
        raise UsageError(f"{place.parent} is not a folder", "Name a place in a folder that exists.")
    if not os.path.lexists(place):
        return
    if (place / FILE).exists():
        hint = f"Name the gradebook first, as in `grader class report {place} --out report`."
        raise UsageError(f"{place} holds a gradebook, and no report is put there", hint)
    if place.is_symlink():
        raise UsageError(f"{place} is a link; it was not replaced", "Name another place with --out.")
    if not (_is_report(place) if is_folder(place) else place.is_file()):
        kind = "an empty folder, or an earlier report with nothing added" if is_folder(place) else "a file"
        raise UsageError(f"{place} is in the way: expected {kind}", "Name another place with --out.")


def page_name(student: str) -> str:
    """Return the name of a student's file: what of their name any system can hold, and a digest that is theirs alone.

    >>> page_name("../Ada Lovelace")
    'ada-lovelace-8a44a1f8c3f3.html'
    """
    plain = unicodedata.normalize("NFKD", student).encode("ascii", "ignore").decode().lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:40].strip("-") or "student"
    digest = hashlib.sha256(student.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"{slug}-{digest}.html"


def _write(pages: ClassPages, sheets: Iterable[StudentRecord], fresh: Path, folder: bool) -> int:
    figures = Figures()
    if folder:
        fresh.mkdir(mode=0o700)  # as private as the gradebook
        (fresh / STUDENTS).mkdir()
    for each in sheets:
        sheet = each if pages.numbers is None else nameless(each, pages.numbers[each.student])
        name = f"{STUDENTS}/{page_name(sheet.student)}" if folder else ""
        if folder:
            (fresh / name).write_text(pages.student(sheet), encoding="utf-8", newline="\n")
        figures.add(sheet, name)
    if pages.numbers is not None:  # else the order of names would tell who is who
        figures.lines.sort(key=lambda line: int(line.student.rpartition(" ")[2]))
        for stage in figures.stages.values():
            stage.matrix.sort(key=lambda line: int(line.student.rpartition(" ")[2]))
    if not figures.lines:
        raise UsageError("there are no results to report", "`grader class grade` makes some; see --stage, too.")
    index = fresh / INDEX if folder else fresh
    index.touch(0o600, exist_ok=False)
    with index.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(pages.overview(figures))
    return len(figures.lines)


def numbered(students: Iterable[str]) -> dict[str, int]:
    """Return a number for each student, the same in each report of the same class, and in no order of names.

    >>> sorted(numbered(["ada", "bob"]).values())
    [1, 2]
    """
    ranked = sorted(students, key=lambda name: hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest())
    return {name: number for number, name in enumerate(ranked, 1)}


def nameless(sheet: StudentRecord, number: int) -> StudentRecord:
    """Return a sheet under a number; texts of the student's own are left out, since they may hold the name."""
    name = f"student {number}"
    mine = tuple(
        replace(
            each,
            student=name,
            identity="",
            label="",
            member=None,
            verdict=_without_names(each, name),
            override=replace(each.override, reason=UNTOLD) if each.override else None,
            corrections=tuple(replace(one, reason=UNTOLD) for one in each.corrections),
        )
        for each in sheet.entries
    )
    return StudentRecord(name, mine, sheet.tries)


def _without_names(entry: Entry, name: str) -> Document | None:
    """Return the verdict of an entry; its problem does not say whose it is, nor where the file lay."""
    verdict = entry.verdict
    if verdict is None or not verdict.get("problem"):
        return verdict
    file = Path(entry.label).name
    message = entry.problem.replace(file, "the module") if file else entry.problem
    return {**verdict, "problem": {**verdict["problem"], "message": message.replace(entry.student, name)}}


@contextmanager
def _fresh(place: Path) -> Iterator[Path]:
    """Give a path beside a place, and move what was written there to the place once all of it is."""
    expect_free(place)
    name = secrets.token_hex(8)
    fresh, before = (place.with_name(f".{place.name[:50]}.{name}.{kind}") for kind in ("new", "old"))
    try:
        yield fresh
        if place.is_dir():
            place.rename(before)
        try:
            fresh.replace(place)
        except OSError:
            if before.exists():
                before.rename(place)
            raise
    except OSError as error:
        hint = "Free some space, or name another place with --out. An earlier report stays as it was."
        raise GraderError(f"{place} cannot be written: {error.strerror or error}", hint) from error
    finally:
        for path in (fresh, before):
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):  # a disk that is read-only says so of a file that is not there, too
                    path.unlink()


def _is_report(folder: Path) -> bool:
    """Return whether a folder is empty or a report, and holds nothing else."""
    if not folder.is_dir():
        return False
    found = {path.name for path in folder.iterdir()}
    if not found:
        return True
    students = folder / STUDENTS
    if found != {INDEX, STUDENTS} or not (folder / INDEX).is_file() or not students.is_dir() or students.is_symlink():
        return False
    with (folder / INDEX).open("rb") as file:
        ours = _OURS in file.read(4096)
    return ours and all(_PAGE.fullmatch(path.name) for path in students.iterdir())
