"""`grader class show`, `rename`, `merge` and `forget`: one student of a class."""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader.commands.classes.class_options import Folder, PolicyFile, Student, course_and_policy
from grader.commands.classes.marks import expect_student, student_meant, told_of
from grader.commands.classes.messages import tell
from grader.commands.options import Json, stage_names
from grader.course.table import together
from grader.errors import UsageError
from grader.report.document import dumps
from grader.report.terminal.layout import MARKS
from grader.report.terminal.screen import say, write
from grader.report.terminal.words import count

if TYPE_CHECKING:
    from grader.gradebook.dossier import CriterionPoints, StageDossier

NAME = 100  # characters
AROUND = 2  # lines of code before and after one with a cause


def show(
    student: Student,
    stage: Annotated[str | None, typer.Argument(metavar="[STAGE]", autocompletion=stage_names)] = None,
    out: Folder = Path(),
    html: Annotated[
        Path | None, typer.Option("--html", metavar="FILE", help="Write the student's page (extra `class`).")
    ] = None,
    policy: PolicyFile = None,
    as_json: Json = False,
) -> None:
    """Show one student: points, why, and the history.

    The lines of the module where it is wrong are shown as well.

    --html writes the page that `report` makes for the student, to hand back as it is.
    """
    from grader.gradebook.dossier import as_document, dossier
    from grader.gradebook.figures import sheets
    from grader.gradebook.store import Gradebook

    course, rules = course_and_policy(out, policy)
    wanted = None if stage is None else course.find(stage).id
    with Gradebook.open(out) as book:
        student = student_meant(book, student, out)
        book.decide_by(rules.passes(course.stages))
        found = dossier(book, rules, student, wanted)
        pages = sheets(book, None if wanted is None else frozenset({wanted}), student)
        sheet = next(pages, None) if html is not None else None
    if not found:
        of = f"{student} for {wanted}" if wanted else student
        hint = "If a class is being graded, it may not be their turn yet; otherwise check the name of the stage."
        raise UsageError(f"nothing of {of} is graded so far", hint)
    if html is not None and sheet is not None:
        from grader.commands.publishing import expect_writable, put
        from grader.gradebook.pages import ClassPages

        expect_writable(html)
        put(html, ClassPages(course, rules.feedback, datetime.now(rules.zone)).student(sheet))
        say(f"{html} shows {student}.")
    if as_json:
        write(dumps(as_document(found, student)))
    elif html is None:
        for each in found:
            _tell(each)


def _tell(each: StageDossier) -> None:
    entry = each.entry
    points = "no points yet" if entry.points is None else f"{entry.points:g} points"
    most = f" of {entry.mark.out_of:g}" if entry.mark and entry.points is not None else ""
    said = entry.reached or entry.outcome
    whose = f"{entry.student} ({entry.member.name})" if entry.member and entry.member.name else entry.student
    about = f"{entry.stage} {each.title}".strip()
    tell(f"{whose} · {about}: {points.replace(' points', f'{most} points')}, {said}")
    if entry.reason:
        tell(f"  {entry.reason}")
    if entry.mark and entry.mark.late_days:
        left = f"{100 * entry.mark.factor:g} % of {entry.mark.raw:g} points count"
        late = count(entry.mark.late_days, "day")
        write(f"  {late} late, {entry.mark.budget_days} of them free: {left}")
    is_handed_in = entry.outcome != "missing" or bool(entry.label)
    if each.attempt is not None and is_handed_in:
        when = f"{each.attempt.submitted:%Y-%m-%d %H:%M %Z} ({each.attempt.clock})" if each.attempt.submitted else "-"
        tell(f"  submitted {when}, attempts: {entry.attempts}, file {each.attempt.label}")
    if each.result is not None and entry.outcome == "graded":
        key, made = each.result.key, each.result.made
        tell(
            f"  graded {each.result.at:%Y-%m-%d %H:%M %Z}: seed {key.seed}, {key.isolation}, course {key.course}, "
            f"Python {made.python}, NumPy {made.numpy}"
        )
    for criterion in each.criteria if entry.outcome == "graded" else ():
        mark = MARKS[criterion.status][0] if criterion.status in MARKS else "?"
        tell(f"  {mark} {told_points(criterion)}  {criterion.text}")
        if criterion.reason:
            tell(f"      given by hand: {criterion.reason}")
        for cause in criterion.causes or criterion.calls[:1]:
            tell(f"      {cause}")
    for line in around(each):
        tell(line)
    for change in each.history:
        tell(f"  {told_of(change)}")


def told_points(criterion: CriterionPoints) -> str:
    """Return the points of a criterion in words."""
    return f"{round(criterion.points, 2):g} of {round(criterion.out_of, 2):g}"


def around(each: StageDossier) -> list[str]:
    """Return the lines of the module around those with a cause, and the causes below them."""
    wrong = {line.number for line in each.code if line.causes}
    near = {place for line in wrong for place in range(line - AROUND, line + AROUND + 1)}
    found: list[str] = []
    last = 0
    for line in each.code:
        if line.number not in near:
            continue
        found += ["  …"] if last and line.number > last + 1 else []
        last = line.number
        found.append(f"  {'>' if line.causes else ' '} {line.number:>4} | {line.text}")
        found += [f"         ^ {cause}" for cause in line.causes]
    return found


def rename(
    student: Student,
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the student is called from now on.")],
    out: Folder,
) -> None:
    """Call a student by another name."""
    from grader.gradebook.class_run import locked
    from grader.gradebook.store import Gradebook
    from grader.submission.files import printable

    if not name.strip() or name != name.strip() or printable(name) != name or len(name) > NAME:
        raise UsageError(f"{printable(name)!r} cannot be a name", f"Expected 1 to {NAME} characters that can be shown.")
    with Gradebook.open(out) as book, locked(out), book.changing():
        expect_student(book, student, out)
        if name in book.students():
            raise UsageError(
                f"{name} is in the gradebook already", f"`grader class merge {student} {name}` joins them."
            )
        book.rename(student, name, datetime.now(UTC))
    say(f"{student} is {name} from now on.", _beside(out, student))


def merge(
    student: Student,
    into: Annotated[str, typer.Argument(metavar="INTO", help="Who gets everything.")],
    out: Folder,
    policy: PolicyFile = None,
) -> None:
    """Join two names of one person.

    INTO gets all attempts of STUDENT.
    """
    from grader.gradebook.class_run import locked
    from grader.gradebook.marks import update_marks
    from grader.gradebook.store import Gradebook

    if student == into:
        raise UsageError(f"{student} and {into} are one name", "Name two.")
    course, rules = course_and_policy(out, policy)
    with Gradebook.open(out) as book, locked(out), book.changing():
        for each in (student, into):
            expect_student(book, each, out)
        mine = {(each.stage, each.criterion) for each in book.overrides(student)}
        if both := sorted(mine & {(each.stage, each.criterion) for each in book.overrides(into)}):
            what = f"{student} and {into} both have points by hand for {both[0][0]}"
            raise UsageError(what, "Take back those that shall not count with `grader class override … --clear`.")
        now = datetime.now(UTC)
        book.merge(student, into, now)
        book.decide_by(rules.passes(course.stages))
        update_marks(book, rules, into, f"joined with {student}", now)
    say(f"{into} has all that was kept of {student}.", _beside(out, student))


def forget(
    student: Student,
    out: Folder,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    backup: Annotated[
        bool, typer.Option("--backup/--no-backup", help="Copy the gradebook first; the copy still knows the student.")
    ] = True,
) -> None:
    """Erase a student: code, verdicts, marks and the name.

    Lines of the history stay as numbers and times. It asks first, and cannot be taken back without the copy.
    """
    from grader.gradebook.class_run import locked
    from grader.gradebook.store import FILE, Gradebook

    with Gradebook.open(out) as book, locked(out):
        expect_student(book, student, out)
        if not yes and not _agreed(f"Erase all of {student} from {out / FILE}?"):
            raise UsageError("nothing is erased", "Say y, or add --yes.")
        now = datetime.now(UTC)
        copy = out / f"gradebook-{now:%Y%m%dT%H%M%S}.sqlite"
        if backup:
            book.back_up(copy)
        texts, results = book.forget(student, now)
    say(f"Erased {count(texts, 'text')} and {count(results, 'result')} of one student.", _beside(out, student))
    if backup:
        say(f"{copy} still holds them: delete it once nobody needs the way back.")


def _agreed(question: str) -> bool:
    if not sys.stdin.isatty():
        return False
    return typer.confirm(question, err=True)


def _beside(out: Path, student: str) -> str | None:
    """Return which files beside the gradebook still have a student of that name; an e-mail address may hold it."""
    from grader.gradebook.policy import FILE as POLICY
    from grader.gradebook.roster import FILE as ROSTER
    from grader.gradebook.roster import read_roster

    named = []
    with suppress(OSError, UsageError):
        if (roster := out / ROSTER).is_file() and student in {each.student for each in read_roster(roster, UTC)}:
            named.append(str(roster))
    with suppress(OSError):
        text = (out / POLICY).read_text(encoding="utf-8", errors="replace")
        if re.search(rf"(?<![\w@.+-]){re.escape(student)}(?![\w@.+-])", text):
            named.append(str(out / POLICY))
    return f"{together(named)} still has the name: change it there as well." if named else None
