"""`grader class override`, `export`, `history` and `report`: what is done with marks that are there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.classes.class_options import Folder, OneStage, PolicyFile, Stages, Student, course_and_policy
from grader.commands.classes.messages import some, tell, tell_mixed, tell_twice
from grader.commands.options import Json, stage_names
from grader.course.table import did_you_mean, listed, together
from grader.errors import UsageError
from grader.progress.workspace import open_workspace
from grader.report.document import dumps
from grader.report.formats import CLASSES
from grader.report.terminal.screen import say, write
from grader.report.terminal.words import count

if TYPE_CHECKING:
    from grader.gradebook.marks import Entry
    from grader.gradebook.records import Change
    from grader.gradebook.store import Gradebook


MOST_POINTS = 1e6


def _format_names(incomplete: str) -> list[str]:
    return [name for name in CLASSES if name.startswith(incomplete)]


FormName = Annotated[
    str,
    typer.Option(
        "--format", metavar="NAME", help=f"{listed(CLASSES.own)} (extra `parquet`).", autocompletion=_format_names
    ),
]
Assignments = Annotated[
    list[str] | None,
    typer.Option("--assignment", metavar="[STAGE=]NUMBER", help="Canvas's number of a stage's assignment."),
]


Sheet = Annotated[
    Path | None,
    typer.Option(
        "--worksheet", metavar="FILE", help="Moodle's grading worksheet of the assignment: its numbers and maximum."
    ),
]


def override(
    student: Student,
    stage: Annotated[str, typer.Argument(metavar="STAGE", autocompletion=stage_names)],
    out: Folder,
    points: Annotated[float | None, typer.Option("--points", metavar="N", help="What counts from now on.")] = None,
    criterion: Annotated[
        str | None, typer.Option("--criterion", metavar="CRITERION", help="Points of this criterion alone.")
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Let the automatic points count again.")] = False,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; the student reads it.")] = "",
    ungraded: Annotated[
        bool, typer.Option("--ungraded", help="Give points for a stage that was never graded.")
    ] = False,
    policy: PolicyFile = None,
) -> None:
    """Give points by hand, with a reason.

    They count instead of the automatic ones, and a regrade leaves them alone. With --criterion they are of that
    criterion, and lateness counts as for any other. Exports and the student's page show the reason.
    """
    from grader.gradebook.marks import update_marks
    from grader.gradebook.records import Override
    from grader.gradebook.store import Gradebook

    if clear == (points is not None):
        raise UsageError("expected either --points N or --clear", "--clear lets the automatic points count again.")
    if points is not None and not 0 <= points <= MOST_POINTS:
        raise UsageError(f"--points {points:g} is out of range", f"Expected 0 to {MOST_POINTS:g}.")
    if points is not None and not reason.strip():
        raise UsageError("--reason is missing", "Say why, as in --reason 'oral exam'; the student reads it.")
    course, rules = course_and_policy(out, policy)
    target = course.find(stage)
    criterion_id = target.asked(criterion).id if criterion is not None else ""
    with Gradebook.open(out) as book, book.changing():
        now = datetime.now(UTC)
        student = student_meant(book, student, out)
        if points is None:
            if not book.drop_override(student, target.id, criterion_id):
                what = f"{student} has no points by hand for {criterion_id or target.id}"
                raise UsageError(what, "There is nothing to clear.")
        else:
            if not ungraded or criterion_id:
                _expect_result(book, student, target.id, criterion_id)
            book.keep_override(Override(student, target.id, points, reason.strip(), user(), now, criterion_id))
        book.decide_by(rules.passes(course.stages))
        if criterion_id:
            update_marks(book, rules, student, reason.strip() or "points given by hand are taken back", now)
        mark = next((each for each in book.marks(student) if each.stage == target.id), None)
        whole = [each for each in book.overrides(student) if each.stage == target.id and not each.criterion]
    whose = f"{student} {target.id}" + (f" {criterion_id}" if criterion_id else "")
    total = f"; {mark.points:g} of {mark.out_of:g} in all" if criterion_id and mark is not None else ""
    if criterion_id and whole:
        total += f", but {count(whole[0].points, 'point')} given by hand for all of {target.id} count instead"
    if points is None:
        say(f"{whose}: the automatic points count again{total}.")
        return
    most = mark.out_of if mark is not None and not criterion_id else None
    more = f", more than the stage's {most:g}" if most is not None and points > most else ""
    say(f"{whose}: {count(points, 'point')}{more}{total}.")


def export(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="[FILE]", help="Where to write; without it, or with -, the table is printed."),
    ] = None,
    out: Folder = Path(),
    form: FormName = "csv",
    stage: OneStage = None,
    assignment: Assignments = None,
    worksheet: Sheet = None,
) -> None:
    """Write the marks for other programs."""
    wanted = None if stage is None else stage_id(stage)
    write_table(out, form, file, wanted, assignment_numbers(assignment, wanted), worksheet)
    tell_mixed(out)


def assignment_numbers(given: list[str] | None, stage: str | None) -> dict[str, str]:
    """Return the numbers of assignments by stage; UsageError for what is none, or of no stage."""
    found: dict[str, str] = {}
    for each in given or ():
        name, sign, number = each.rpartition("=")
        if not number.isdecimal():
            raise UsageError(f"{number!r} is not the number of an assignment", "Its address in Canvas ends with it.")
        if not sign and stage is None:
            raise UsageError(f"{each} is of which stage?", f"Add --stage, or write --assignment STAGE={each}.")
        found[stage_id(name) if sign else str(stage)] = number
    return found


def write_table(
    out: Path,
    form: str,
    file: Path | None = None,
    stage: str | None = None,
    assignments: Mapping[str, str] | None = None,
    worksheet: Path | None = None,
) -> None:
    """Write the marks in one of the formats into a file, or to stdout."""
    from grader.commands.publishing import expect_writable, put
    from grader.gradebook.exports import of_worksheet, told_of_maximum
    from grader.gradebook.marks import table
    from grader.gradebook.roster import read_worksheet
    from grader.gradebook.store import Gradebook

    if form not in CLASSES:
        raise UsageError(f"{form!r} is not a format{did_you_mean(form, CLASSES)}", f"Choose {listed(CLASSES)}.")
    chosen = CLASSES[form]
    if assignments and not chosen.has_assignments:
        raise UsageError(f"--assignment says nothing to {form}", "It belongs to --format canvas.")
    if worksheet is not None and form != "moodle":
        raise UsageError(f"--worksheet says nothing to {form}", "It belongs to --format moodle.")
    sheet = None if worksheet is None else read_worksheet(worksheet, UTC)
    chosen.needs(os.environ)
    with Gradebook.open(out) as book:
        entries: tuple[Entry, ...] = tuple(each for each in table(book) if stage in (None, each.stage))
    entries = entries if sheet is None else of_worksheet(entries, sheet)
    content = chosen.render(entries, assignments) if chosen.has_assignments else chosen.render(entries)
    if file is None or str(file) == "-":
        if isinstance(content, bytes):
            raise UsageError(f"{form} is not text and cannot be printed", f"Name a file, as in marks.{form}.")
        write(content)
    else:
        expect_writable(file)
        put(file, content)
        unknown = sum(entry.points is None for entry in entries)
        more = f"; {unknown} are not known yet." if unknown else "."
        say(f"Wrote {count(len(entries), 'mark')} to {file}{more}")
    for note in (*chosen.notes(entries), told_of_maximum(entries, sheet) if form == "moodle" else ""):
        if note:
            say(note)
    tell_twice(entries)


def history(
    student: Annotated[str | None, typer.Argument(metavar="[STUDENT]", help="Only this student.")] = None,
    out: Folder = Path(),
    stage: OneStage = None,
    as_json: Json = False,
) -> None:
    """Show every change of every mark, and each grader fault."""
    from grader.gradebook.store import Gradebook

    wanted = None if stage is None else stage_id(stage)
    with Gradebook.open(out) as book:
        if student is not None:
            student = student_meant(book, student, out)
        changes = [each for each in book.history() if student in (None, each.student) and wanted in (None, each.stage)]
    if as_json:
        write(dumps({"schema": 1, "changes": list(map(asdict, changes))}))
        return
    for each in changes:
        tell(told_of(each))


def told_of(change: Change) -> str:
    """Return a line of the history in words."""
    whose = f"{change.student} {change.stage}".strip() or f"line {change.number}"
    said, why = _told(change), change.why
    return f"{change.at}  {whose}  {change.what}: {said}" + (f"  ({why})" if why and why != said else "")


def _told(change: Change) -> str:
    """Return what a change did, in words."""
    if change.what == "fault":
        return "the grader failed"
    if change.what == "result":
        after = change.after or {}
        if change.why in ("missing", "rejected"):
            return "nothing to grade"
        seed = f"seed {after.get('seed')}, {after.get('isolation')}, course {after.get('course')}"
        found = "no verdict" if change.why == "fault" else "passed" if after.get("passed") else "did not pass"
        return f"{found}, {seed}"
    if change.what in ("rename", "merge", "answer", "forgotten"):
        return change.why or "erased"
    if change.what == "waits":
        return f"for {', '.join((change.after or {}).get('for') or ())}"
    of = next((each["criterion"] for each in (change.after, change.before) if each and each.get("criterion")), "")
    points = ["none" if document is None else f"{document['points']:g}" for document in (change.before, change.after)]
    return " ".join(filter(None, [of, " → ".join(points)]))


def stage_id(name: str) -> str:
    """Return the id of a stage that somebody means."""
    return open_workspace(Path.cwd()).course.find(name).id


def expect_student(book: Gradebook, student: str, out: Path) -> None:
    """Raise UsageError for a name that the gradebook does not have."""
    known = book.students()
    if student not in known:
        hint = f"The gradebook has {len(known)} students; `grader class export --out {out}` lists them."
        raise UsageError(f"{student!r} is not in the gradebook{did_you_mean(student, known)}", hint)


def student_meant(book: Gradebook, named: str, out: Path) -> str:
    """Return the student of a name, or of what the roster knows of one alone; UsageError for nobody."""
    from grader.gradebook.roster import known_as
    from grader.submission.files import folded

    known = book.students()
    found = named if named in known else known_as(known, book.roster()).get(folded([named])[0])
    if found not in known:
        expect_student(book, named, out)
    return str(found)


def _expect_result(book: Gradebook, student: str, stage: str, criterion: str) -> None:
    mine = [attempt for attempt in book.attempts(student) if attempt.stage == stage]
    results = [book.result(attempt.result) for attempt in mine if attempt.result is not None]
    graded = [each.verdict for each in results if each.outcome == "graded"]  # else a criterion's points never count
    if criterion and results and not any(one["id"] == criterion for each in graded for one in each["criteria"]):
        what = f"{student} has no verdict on the criteria of {stage}"
        raise UsageError(what, "Give points of the whole stage: leave out --criterion.")
    if not results:
        more = "Give points of the whole stage with --ungraded." if criterion else "add --ungraded."
        if waits := [each for each in book.waiting().values() if (each.student, each.stage) == (student, stage)]:
            named = together(waits[-1].verdict["waits_for"])
            message = f"{student} has no mark for {stage} yet: it waits for {named}"
            raise UsageError(message, more if criterion else "Add --ungraded to give points now.")
        found = "the grader has failed so far" if mine else "nothing of theirs was ever graded"
        hint = f"Mind the stage. If the points are meant all the same, {more}"
        raise UsageError(f"{student} has no result for {stage}: {found}", hint)


def user() -> str:
    """Return who types the command."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user without a name
        return "unknown"


def report(
    out: Annotated[
        Path,
        typer.Option(
            "--out",
            metavar="PLACE",
            help="FILE.html for the class alone, FILE.zip for Moodle's feedback files, or a folder for all pages.",
        ),
    ],
    gradebook: Annotated[Path, typer.Argument(metavar="[GRADEBOOK]", help="The folder of the gradebook.")] = Path(),
    stage: Stages = None,
    policy: PolicyFile = None,
    anonymous: Annotated[
        bool,
        typer.Option("--anonymous", help="Numbers for names, and no code: for blind marking, and to show in class."),
    ] = False,
    worksheet: Sheet = None,
) -> None:
    """Write the class's results as HTML pages (extra `class`).

    A folder gets a page for the class and one for each student, which names nobody else and tells of hidden tests what
    `feedback` in class.toml allows. Pages need no network and run no scripts. An earlier report is replaced.
    """
    from grader.gradebook.figures import sheets
    from grader.gradebook.pages import ClassPages, expect_free, is_folder, numbered, write_feedback, write_report
    from grader.gradebook.roster import read_worksheet
    from grader.gradebook.store import Gradebook

    course, rules = course_and_policy(gradebook, policy)
    wanted = frozenset(course.find(name).id for name in stage) if stage else None
    expect_free(out)
    is_zip = out.suffix.lower() == ".zip"
    if worksheet is not None and not is_zip:
        raise UsageError(
            "--worksheet says nothing to a report", "It belongs to Moodle's feedback files, --out FILE.zip."
        )
    sheet = None if worksheet is None else read_worksheet(worksheet, UTC)
    with Gradebook.open(gradebook) as book:
        book.decide_by(rules.passes(course.stages))
        known = numbered(book.students()) if anonymous else None
        pages = ClassPages(course, rules.feedback, datetime.now(rules.zone), known, book.mixed())
        if is_zip:
            kept, lost = write_feedback(pages, sheets(book, wanted), out, sheet)
            say(f"Wrote {kept} feedback files for Moodle to {out}.")
            if lost:
                say(f"Without a participant's number, and so left out: {some(lost)}.")
            return
        many = write_report(pages, sheets(book, wanted), out)
    say(f"Wrote the report of {count(many, 'student')} to {out / 'index.html' if is_folder(out) else out}.")
