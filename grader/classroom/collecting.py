"""Verdicts of CI, Gradescope and other machines, left in folders or in an export, and taken into a gradebook.

Of a verdict's file only what has the form of a verdict is taken (results.py), and of what explains its failures plain
text. Beside it may lie `about.json` (whose it is, and when it was handed in) and the module's text, which has to have
the digest that the verdict names. The criteria's words are the course's own.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import Any

from grader.atomic import write_atomically
from grader.classroom.ci_roster import Student, slug
from grader.classroom.receipt import InvalidReceiptError, Receipt, verified
from grader.classroom.results import FILE, MAX_BYTES, Malformed, StageResult, checked, document, parsed
from grader.course.provenance import made_here
from grader.course.stage import Stage
from grader.criterion import Passes
from grader.errors import GraderFault, NotHandedIn, SubmissionError, UsageError
from grader.gradebook.intake import MISSING, commit_times
from grader.gradebook.job import ungraded
from grader.gradebook.marks import Entry, table, update_marks
from grader.gradebook.policy import Policy
from grader.gradebook.records import Attempt, Clock, Key, Member, Outcome, Versions, Waiting
from grader.gradebook.records import Result as Kept
from grader.gradebook.roster import METADATA, keys, moment, read_metadata, read_sheet
from grader.gradebook.store import Gradebook
from grader.report.document import counts_document, kinds_document, robustness_document
from grader.report.gradescope import unpacked, words_in
from grader.submission import take
from grader.submission.files import folded, printable
from grader.submission.snapshot import whole_digest
from grader.verdict import SCHEMA

ABOUT = "about.json"
RESULTS = "results.json"  # of Gradescope
TABLE = "results.csv"  # of `grader ci publish`
GRADED = (0, 1)  # exit codes of a check
TOLD = (3, 5)  # it waits, or there is nothing that can be graded: a result where a verdict says so
REPORTS = "github,json={0}/verdict.json,junit={0}/junit.xml,gradescope={0}/results.json"
MOST_FILES = 100_000
MOST_TEXT = 4000
MAX_MODULE = 1 << 20


@dataclass(frozen=True)
class ImportedVerdict:
    """A verdict that was found, whose it is, and what is known of what was handed in.

    clock says who tells submitted; member is the student as a platform's export describes them.
    """

    student: str
    result: StageResult
    values: Mapping[str, Any] = field(default_factory=dict)
    submitted: datetime | None = None
    label: str = ""
    text: bytes | None = None
    clock: Clock = "commit"
    member: Member | None = None


@dataclass(frozen=True)
class Collected:
    """What came of a collection: how many results are new, who is known to no roster, and which files were refused.

    faults are those for whom the grader failed elsewhere, and why.
    """

    new: int = 0
    known: int = 0
    missing: int = 0
    strangers: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    lacking_receipts: tuple[str, ...] = ()
    faults: tuple[tuple[str, str], ...] = ()


def found_in(
    place: Path, stages: Sequence[Stage], tiers: Sequence[str], zone: tzinfo
) -> tuple[tuple[ImportedVerdict, ...], tuple[str, ...]]:
    """Return the verdicts below a folder, or of a file, and which files could not be taken, with why."""
    if not place.exists():
        raise UsageError(f"{place} does not exist", "Name a folder of verdicts, as CI leaves it, or a verdict.json.")
    reading = VerdictReader(stages, tiers, zone)
    if place.suffix.lower() == ".csv":
        hint = "Give the export of the submissions here, and the list with --roster: it says who they are, and when."
        raise UsageError(f"{place} is a list, and holds no verdict", hint)
    exports: list[Path] = []
    for each in sorted(place.rglob(METADATA), key=lambda path: len(path.parts)) if place.is_dir() else ():
        if not any(each.is_relative_to(export) for export in exports):
            exports.append(each.parent)
    for path in sorted(place.rglob("*.json"))[:MOST_FILES] if place.is_dir() else [place]:
        if path.is_symlink() or any(path.is_relative_to(each) for each in exports):  # there students' own files lie
            continue
        if path.name == ABOUT or path.name.endswith(".receipt.json"):
            continue
        if path.name == RESULTS and path.with_name(FILE).is_file():  # the same once more
            continue
        reading.file(path)
    for path in sorted(place.rglob(TABLE)) if place.is_dir() else ():
        if not any(path.is_relative_to(each) for each in exports):
            reading.faults(path)
    for export in exports:
        reading.export(export)
    return tuple(reading.found), tuple(reading.refused)


class VerdictReader:
    """Reads verdicts from files and exports; what cannot be taken is refused, with why."""

    def __init__(self, stages: Sequence[Stage], tiers: Sequence[str], zone: tzinfo) -> None:
        self._stages, self._tiers, self._zone = stages, tiers, zone
        self.found: list[ImportedVerdict] = []
        self.refused: list[str] = []

    def file(self, path: Path) -> None:
        """Read a verdict.json, a results.json or, of any other name, what has the form of one of these."""
        with self._refusing(path):
            values = document(path)
            if words := list(words_in(values)):
                self.found += [self._of_folder(path, each) for each in _opened(words)]
            elif "criteria" in values and "stage" in values:
                self.found.append(self._of_folder(path, values))
            elif path.name in (FILE, RESULTS):
                raise Malformed("it is no verdict")

    def faults(self, path: Path) -> None:
        """Read a results.csv of CI: for whom the grader failed there, so that nobody takes them for missing."""
        with self._refusing(path):
            for line in read_sheet(path, "Expected the results.csv that CI leaves.").lines:
                cell = {
                    name: line.cells.get(name, "").strip() for name in ("student", "stage", "outcome", "reason", "file")
                }
                stage = next((each for each in self._stages if each.id == cell["stage"]), None)
                if stage is not None and cell["outcome"] == "fault" and printable(cell["student"]) == cell["student"]:
                    why = printable(cell["reason"])[:MOST_TEXT] or "the grader failed in CI"
                    self.found.append(
                        ImportedVerdict(cell["student"], StageResult(stage, why=why), label=printable(cell["file"]))
                    )

    def export(self, folder: Path) -> None:
        """Read an export of Gradescope: of its files the metadata alone, and the modules that the verdicts name."""
        for name, submission in read_metadata(folder / METADATA, self._zone).items():
            with self._refusing(folder / name):
                if not submission.words:
                    raise Malformed("no verdict of this grader is in its results")
                for values in _opened(submission.words):
                    _, result = self._checked(values)
                    text = _text(folder / name, result)
                    self.found += [
                        ImportedVerdict(each.student, result, values, submission.created, name, text, "csv", each)
                        for each in submission.members
                    ]

    @contextmanager
    def _refusing(self, path: Path) -> Iterator[None]:
        try:
            yield
        except (Malformed, UsageError) as error:
            self.refused.append(f"{printable(str(path))}: {error}")

    def _checked(self, values: dict[str, Any]) -> tuple[Stage, StageResult]:
        stage = next((each for each in self._stages if each.id == values.get("stage")), None)
        if stage is None:
            raise Malformed("stage")
        return stage, checked(values, stage, self._tiers)

    def _of_folder(self, path: Path, values: dict[str, Any]) -> ImportedVerdict:
        """Return a verdict of a student whom the files beside it name, or its folder."""
        stage, result = self._checked(values)
        about = document(path.parent / ABOUT) if (path.parent / ABOUT).exists() else {}
        made = values.get("provenance") or {}
        names = [about.get("student"), made.get("student") if isinstance(made, dict) else None, _of_name(path, stage)]
        student = next((each for each in names if isinstance(each, str) and each.strip()), "")
        if not student or printable(student) != student or len(student) > 100:
            raise Malformed("student: nobody is named; `grader check --student NAME` names one")
        label = "@".join(str(each) for each in (about.get("repository"), about.get("revision")) if each)
        when = submitted_in(about, self._zone)
        label = printable(label) or printable(path.parent.name)
        return ImportedVerdict(student.strip(), result, values, when, label, _text(path.parent, result))


def _opened(words: Iterable[str]) -> Iterator[dict[str, Any]]:
    """Yield the documents that were packed into results of Gradescope."""
    for word in words:
        text = unpacked(word, MAX_BYTES)
        if text is None:
            raise Malformed("extra_data, verdict")
        yield parsed(text, "its verdict")


def submitted_in(about: Mapping[str, Any], zone: tzinfo) -> datetime | None:
    """Return when something was handed in, as about.json says it."""
    found = moment(str(about.get("submitted") or ""), zone)
    return found if isinstance(found, datetime) else None


def _of_name(path: Path, stage: Stage) -> str:
    """Return whose folder it is: `verdict-STUDENT-STAGE-GROUP` of CI, else one that bears the student's name."""
    name = path.parent.name
    if name.startswith("verdict-") and f"-{stage.id}" in name:
        return name.removeprefix("verdict-").rpartition(f"-{stage.id}")[0]
    if name in (stage.id, stage.name):
        return path.parent.parent.name
    return name if path.name in (FILE, RESULTS) else path.stem


def _text(folder: Path, result: StageResult) -> bytes | None:
    """Return the text of the module that a result is of, from a folder; None where it is not there, or another."""
    try:
        taken = take(result.stage, folder, folder)
    except (SubmissionError, GraderFault, OSError, MemoryError):
        return None
    return taken.source if whole_digest(taken.digest, result.uses) == result.submission else None


def receipts_in(places: Iterable[Path], key: Any) -> dict[tuple[str, str, int], Receipt]:
    """Return the genuine receipts below folders, by stage, digest and seed."""
    found: dict[tuple[str, str, int], Receipt] = {}
    for place in places:
        for path in sorted(place.rglob("*.receipt.json"))[:MOST_FILES] if place.is_dir() else ():
            try:
                with path.open("rb") as file:
                    receipt = verified(file.read(MAX_BYTES), key)
            except (OSError, InvalidReceiptError):
                continue
            found[receipt.stage, receipt.submission, receipt.seed] = receipt
    return found


def is_vouched(each: ImportedVerdict, receipts: Mapping[tuple[str, str, int], Receipt]) -> bool:
    """Say whether a genuine receipt says the same of every criterion; what was not graded needs none."""
    result = each.result
    if result.why:
        return True
    receipt = receipts.get((result.stage.id, result.submission, result.seed))
    pairs = zip(result.stage.criteria, result.criteria, strict=True)
    return receipt is not None and dict(receipt.criteria) == {each.id: graded.status for each, graded in pairs}


def collect(
    book: Gradebook,
    policy: Policy,
    found: Sequence[ImportedVerdict],
    roster: Sequence[Member],
    stages: Sequence[Stage],
    now: datetime,
) -> Collected:
    """Keep verdicts in a gradebook that were not known, all or none, and that who is in the roster handed in nothing.

    Whoever already has a result for the same text keeps it: regrading changes marks, and nothing else does.
    """
    names: dict[str, str] = {}
    for member in roster:
        for key in (*keys(member), *_number(member)):
            names.setdefault(key, member.student)
    for member in roster:  # as CI calls them
        for given in filter(None, map(slug, (member.student, member.name, member.submission))):
            names.setdefault(given, member.student)
    new = known = 0
    strangers: dict[str, None] = {}
    changed: dict[str, None] = {}
    with book.changing():
        book.keep_roster(roster)
        before = {(each.student, each.stage, each.digest) for each in book.attempts() if each.result is not None}
        faults: list[tuple[str, str]] = []
        for each in sorted(found, key=lambda each: each.result.outcome == "fault"):
            mine = [*_number(each.member), *sorted(keys(each.member))] if each.member else [folded([each.student])[0]]
            student = next((names[key] for key in mine if key in names), each.student)
            if roster and student not in {member.student for member in roster}:
                strangers[student] = None
            if each.result.outcome == "fault":
                if not any(known_as[:2] == (student, each.result.stage.id) for known_as in before):
                    _keep(book, replace(each, student=student), before, now)
                    faults.append((student, each.result.why))
            elif _keep(book, replace(each, student=student), before, now):
                new += 1
            else:
                known += 1
            changed[student] = None
        lacking = [
            (member.student, stage)
            for stage in stages
            for handed_in in ({each.student for each in book.attempts() if each.stage == stage.id},)
            for member in roster
            if member.student not in handed_in
        ]
        for name, stage in lacking:
            _keep(
                book,
                ImportedVerdict(name, StageResult(stage, why="nothing was handed in", is_missing=True)),
                before,
                now,
            )
            changed[name] = None
        for name in changed:
            update_marks(book, policy, name, "taken in", now)
    return Collected(new, known, len(lacking), tuple(strangers), faults=tuple(faults))


def _number(member: Member) -> tuple[str, ...]:
    """Return by what Gradescope knows a student, as no name is written."""
    return (f"gradescope {member.gradescope_id}",) if member.gradescope_id else ()


def _keep(book: Gradebook, each: ImportedVerdict, before: set[tuple[str, str, str]], now: datetime) -> bool:
    """Keep one; say whether it is new."""
    result, stage = each.result, each.result.stage
    digest = MISSING if result.is_missing else result.submission
    if each.text is not None:
        digest = hashlib.sha256(each.text).hexdigest()
    elif not digest:  # what waits, or failed, has none: the commit tells it from others
        digest = hashlib.sha256(f"{result.outcome} {each.label}".encode()).hexdigest()
    clock: Clock = each.clock if each.submitted else "unknown"
    identity = each.member.gradescope_id if each.member else ""
    attempt = Attempt(each.student, stage.id, digest, each.submitted, clock, each.label, identity)
    book.keep_attempt(attempt)
    if result.outcome == "fault":
        book.note_fault(each.student, stage.id, result.why, now)
        return False
    if (each.student, stage.id, digest) in before:
        return False
    whole = digest if result.is_missing else result.submission
    key = Key(each.student, stage.id, whole, result.course, result.seed, result.isolation)
    if result.outcome == "waits":
        told = NotHandedIn(result.why)
        verdict = {**ungraded(stage, key, "full", told, made_here()), "waits_for": list(result.waits_for)}
        book.keep_waiting(Waiting(each.student, stage.id, digest, verdict, now))
        return False
    if not result.is_missing:
        verdict = as_document(result, each.values)
    else:
        verdict = dict(ungraded(stage, key, "full", NotHandedIn(f"{each.student}: {result.why}"), made_here()))
    if each.text is not None:
        book.keep_source(digest, each.text)
    outcome: Outcome = "missing" if result.is_missing else "graded"
    made = Versions(result.python or "", result.numpy or "", "", "taken in")
    number = book.keep_result(Kept(key, outcome, verdict, now, 0.0, made))
    book.drop_waiting(attempt)
    book.count_for(each.student, stage.id, digest, number)
    before.add((each.student, stage.id, digest))
    return True


def as_document(result: StageResult, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Return a result as a verdict's document; values is that from which it was read, for what explains failures."""
    given = {each.get("id"): each for each in (values or {}).get("criteria") or () if isinstance(each, dict)}
    criteria = []
    for criterion, graded in zip(result.stage.criteria, result.criteria, strict=True):
        failures = given.get(criterion.id, {}).get("failures")
        criteria.append(
            {
                "id": criterion.id,
                "text": graded.text,
                "status": graded.status,
                "tests_passed": graded.passed,
                "tests_total": graded.total,
                "robust": graded.robust,
                "robustness": robustness_document(graded.counts),
                "values_right": graded.values_right,
                "kinds": kinds_document(graded.counts),
                "waits_for": [],
                "failures": list(_failures(failures)) if isinstance(failures, list) else [],
            }
        )
    return {
        "schema": SCHEMA,
        "stage": result.stage.id,
        "title": result.stage.title,
        "passed": result.passed,
        "robust": result.passed and all(each.robust for each in result.criteria),
        "passes": result.stage.passes,
        "counts": counts_document([(each.status == "passed", each.robust) for each in result.criteria]),
        "seed": result.seed,
        "isolation": result.isolation,
        "duration_s": None,
        "course": result.course,
        "submission": result.submission,
        "uses": [{"stage": use.stage, "source": use.source, "digest": use.digest} for use in result.uses],
        "notes": [],
        "problem": None,
        "faults": [],
        "criteria": criteria,
        "feedback": result.feedback,
        "provenance": {"python": result.python, "numpy": result.numpy},
    }


def _failures(found: list[Any]) -> Iterator[dict[str, Any]]:
    """Yield what explains failures, as plain text of a bounded length."""
    for each in found[:MOST_FILES]:
        if not isinstance(each, dict):
            continue
        told = {name: _plain(each.get(name)) for name in ("test", "status", "call", "message", "where", "help", "kind")}
        cause = each.get("cause")
        kept = None
        if isinstance(cause, dict) and isinstance(cause.get("text"), str):
            kept = {
                name: _plain(cause.get(name)) for name in ("id", "criterion", "function", "text", "fix", "evidence")
            }
            line = cause.get("line")
            kept["line"] = line if type(line) is int and 0 < line < MAX_MODULE else None  # type: ignore[assignment]
        yield {**told, "hidden": each.get("hidden") is not False, "cause": kept, "gradients": [], "notes": []}


def _plain(value: object) -> str | None:
    return printable(value[:MOST_TEXT]) if isinstance(value, str) else None


def table_of(
    found: Sequence[ImportedVerdict], policy: Policy, passes: Mapping[str, Passes], now: datetime
) -> tuple[Entry, ...]:
    """Return the marks of verdicts under class.toml, as a gradebook of them alone has them."""
    with tempfile.TemporaryDirectory() as folder, Gradebook.open(Path(folder), create=True) as book:
        book.decide_by(passes)
        collect(book, policy, found, (), (), now)
        return table(book)


def grade_one(
    student: Student, stage: Stage, repository: Path, folder: Path, check: Callable[[str, Path, str], int]
) -> bool:
    """Grade one stage of a student, and say whether there is a result; check takes stage, submission and formats.

    Left are the verdict, reports, the module's text, and whose it is and when it was committed.
    """
    folder.mkdir(parents=True, exist_ok=True)
    submission = Path(f"{repository}@{student.revision}")
    formats = REPORTS if "," not in str(folder) else "github"
    code = check(stage.id, submission, formats.format(folder))
    about = {"student": student.name, "repository": student.repository, "revision": student.revision}
    try:
        taken = take(stage, submission, stage.folder.parent.parent)
    except (SubmissionError, GraderFault):
        taken = None
    if taken is not None:
        write_atomically(folder / stage.module, taken.source)
        when = commit_times(repository, taken, student.revision).made
        about |= {"submitted": when.isoformat()} if when is not None else {}
    write_atomically(folder / ABOUT, json.dumps(about) + "\n")
    return code in GRADED or (code in TOLD and (folder / FILE).is_file())
