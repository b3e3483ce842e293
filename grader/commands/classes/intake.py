"""`grader class intake`: who handed in what, when and by which clock, and what is in doubt, before it is graded."""

from __future__ import annotations

from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from grader.atomic import write_new
from grader.commands.classes.class_options import Accept, Folder, PolicyFile, Rosters, Stages, Submissions, named_stages
from grader.commands.classes.messages import some, tell_ignored
from grader.commands.options import Json
from grader.report.document import dumps
from grader.report.terminal.screen import look, say, write
from grader.report.terminal.words import count

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from grader.course.stage import Course, Stage
    from grader.gradebook.class_run import RunOptions
    from grader.gradebook.intake import Alarm, Intake, IntakeEntry
    from grader.gradebook.records import Member
    from grader.gradebook.submissions import Reason

IN_ORDER, SYSTEMATIC = 0, 3
_GAP = 2
_HEADS = ("STUDENT", "FILE", "SUBMITTED", "CLOCK", "IN DOUBT")
_FILE = 1
_LEAST = (7, 8)  # columns of a student and of a file
_TIME = "%Y-%m-%d %H:%M"
_EXAMPLES = 3
_QUIET: tuple[Reason, ...] = ("note",)


def intake(
    submissions: Submissions,
    out: Folder,
    stage: Stages = None,
    roster: Rosters = None,
    policy: PolicyFile = None,
    accept: Accept = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Write nothing, not even DIR/class.csv.")] = False,
    as_json: Json = False,
) -> None:
    """Show who handed in what and when, before it is graded.

    It also shows what is in doubt.

    `grade` does the same first. A roster that is given with --roster is kept as DIR/class.csv, unless there is one.
    Exit codes: 0 nothing systematic is wrong; 3 one reason concerns more than a tenth of the class.
    """
    from grader.gradebook.class_run import RunOptions

    course, stages = named_stages(stage)
    options = RunOptions(out, policy, tuple(roster or ()))
    show_intake(course, stages, submissions, options, accept, as_json, not dry_run)


def show_intake(
    course: Course, stages: tuple[Stage, ...], submissions: Path, options: RunOptions, accept: bool, as_json: bool,
    keep: bool = False,
) -> NoReturn:  # fmt: skip
    """Print what arrived, keep the roster if asked to, and end the command."""
    from grader.gradebook.grade_class import take_in
    from grader.gradebook.intake import document
    from grader.gradebook.roster import FILE

    _, members, found = take_in(course, stages, submissions, options, accept)
    if as_json:
        write(dumps(document(found)))
    else:
        for each in stages:
            tell_table([row for row in found.rows if row.stage == each.id], found.students)
    tell_doubts(found)
    tell_ignored(found.ignored)
    if keep and members and not (options.folder / FILE).exists():
        _keep(members, options.folder / FILE)
    if found.alarms:
        tell_alarms(found.alarms)
    raise typer.Exit(SYSTEMATIC if found.alarms else IN_ORDER)


def tell_table(rows: Sequence[IntakeEntry], students: int) -> None:
    """Print a line for each attempt: whose, the file, its time and clock, and the reasons for doubt."""
    view = look()
    lines = [tuple(map(view.clean, _cells(row))) for row in rows]
    widths = _widths([_HEADS, *lines], view.width)
    for line in (_HEADS, *lines):
        write(_laid_out(line, widths))
    absent = {row.student for row in rows for doubt in row.doubts if doubt.reason == "absent"}
    handed_in = len({row.student for row in rows if row.file} - absent)
    stage = rows[0].stage if rows else ""
    write(f"{stage}: {count(students, 'student')}, {handed_in} handed in something")


def tell_doubts(found: Intake) -> None:
    """Say each reason for doubt with its students, an example and what to do; then what else was noticed."""
    clean = look(error=True).clean
    for reason, cases in _by_reason(found):
        students = list(dict.fromkeys(row.student for row, _ in cases))
        if reason == "absent":
            say(clean(f"absent ({len(students)}): {some(students)}"))
            continue
        texts: dict[tuple[str, str], list[str]] = {}
        for row, at in cases:
            doubt = row.doubts[at]
            texts.setdefault((doubt.text, doubt.remedy), []).append(row.student)
        say(clean(f"{reason} ({len(students)}):"))
        for (text, remedy), names in list(texts.items())[:_EXAMPLES]:
            say(clean(f"- {some(list(dict.fromkeys(names)))}: {text}" + (f". {remedy}" if remedy else "")))
        if len(texts) > _EXAMPLES:
            say(f"- and {len(texts) - _EXAMPLES} more; `grader class intake --json` has them all")


def tell_alarms(alarms: Sequence[Alarm]) -> None:
    """Say what is systematic, with an example and the remedy."""
    clean = look(error=True).clean
    for alarm in alarms:
        say(clean(f"One reason concerns more than a tenth of the class: {alarm.summary}."), style="bold")
        say(clean(f"For example {alarm.example}"))
        say(clean(alarm.remedy))


def _keep(members: Sequence[Member], path: Path) -> None:
    """Write a roster as class.csv, so that later commands know it."""
    from grader.gradebook.roster import as_csv

    path.parent.mkdir(parents=True, exist_ok=True)
    write_new(path, as_csv(members))
    say(f"Wrote {count(len(members), 'student')} to {path}, which later commands read.")
    if any(member.submitted for member in members):
        say("The times in the roster are of one assignment and are not kept: give it to `grade` with --roster as well.")


def _by_reason(found: Intake) -> Iterator[tuple[Reason, list[tuple[IntakeEntry, int]]]]:
    from grader.gradebook.submissions import REASONS

    for reason in REASONS:
        cases = [(row, at) for row in found.rows for at, doubt in enumerate(row.doubts) if doubt.reason == reason]
        if cases:
            yield reason, cases


def _cells(row: IntakeEntry) -> tuple[str, ...]:
    when = row.submitted.strftime(_TIME) if row.submitted else ""
    reasons = dict.fromkeys(doubt.reason for doubt in row.doubts if doubt.reason not in _QUIET)
    name = PurePath(row.file).name if row.file else ""
    student = f"{row.student} (team)" if row.team else row.student
    return student, name, when, _clock(row), ", ".join(reasons)


def _clock(row: IntakeEntry) -> str:
    """Return whose word a time is, in at most ten columns."""
    return {"submission_metadata.yml": "gradescope", "timestamp.txt": "nbgrader"}.get(row.dated, row.dated)


def _widths(lines: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the width of each column, where the first two give way until a line fits."""
    from rich.cells import cell_len

    widths = [max(cell_len(line[at]) for line in lines) for at in range(len(_HEADS))]
    while sum(widths) + _GAP * (len(widths) - 1) > width:
        at = 0 if widths[0] - _LEAST[0] >= widths[1] - _LEAST[1] else 1
        if widths[at] <= _LEAST[at]:
            break
        widths[at] -= 1
    return widths


def _laid_out(line: Sequence[str], widths: Sequence[int]) -> str:
    from rich.cells import cell_len, set_cell_size

    cells = []
    for at, (text, width) in enumerate(zip(line, widths, strict=True)):
        if cell_len(text) <= width:
            cells.append(set_cell_size(text, width))
        elif at == _FILE:  # platforms put names and numbers before what the student called it
            cells.append(f"…{_end(text, width - 1)}")
        else:
            cells.append(f"{set_cell_size(text, width - 1)}…")
    return (" " * _GAP).join(cells).rstrip()


def _end(text: str, width: int) -> str:
    """Return the end of a text that fills a width."""
    from rich.cells import cell_len

    while cell_len(text) > width:
        text = text[1:]
    return text + " " * (width - cell_len(text))
