"""`grader class regrade-requests`: the queue of what students ask to be looked at once more."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grader.commands.classes.class_options import Folder, PolicyFile, course_and_policy
from grader.commands.classes.marks import override, user
from grader.commands.classes.messages import tell
from grader.commands.classes.students import around, told_points
from grader.commands.options import Json
from grader.errors import UsageError
from grader.report.document import dumps
from grader.report.terminal.screen import say, write

if TYPE_CHECKING:
    from grader.gradebook.dossier import StageDossier
    from grader.gradebook.records import RegradeRequest


def regrade_requests(
    out: Folder,
    source: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="Takes in a CSV file (student, stage, criterion, words) or a folder of texts."
        ),
    ] = None,
    close: Annotated[int | None, typer.Option("--close", metavar="N", help="Answer request N.")] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="The answer, which the student reads.")] = "",
    points: Annotated[
        float | None,
        typer.Option("--points", metavar="P", help="With --close: what its criterion, or stage, is worth."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Show those that are closed, too.")] = False,
    policy: PolicyFile = None,
    as_json: Json = False,
) -> None:
    """Show and answer what students ask to look at again.

    Each request is shown with the code, the call that failed and what the verdict says. --close answers it with a
    reason alone, or with --points as `override` gives them.
    """
    from grader.gradebook.class_run import RunOptions, roster_of
    from grader.gradebook.regrade_requests import read_requests
    from grader.gradebook.store import Gradebook

    if (close is None) != (not reason.strip()) or (points is not None and close is None):
        raise UsageError("--close N and --reason TEXT need each other", "--points goes with them.")
    course, rules = course_and_policy(out, policy)
    if source is not None:
        with Gradebook.open(out) as book:
            roster = roster_of(RunOptions(out), rules.zone)
            asked = read_requests(source, course, book.students(), roster)
            with book.changing():
                new = sum(
                    book.ask(each.student, each.stage, each.criterion, each.words, datetime.now(UTC)) for each in asked
                )
        known = "; the others were known" if new < len(asked) else ""
        say(f"Took in {new} of {len(asked)} requests{known}.")
    if close is not None:
        _close(out, close, reason.strip(), points, policy)
        return
    with Gradebook.open(out) as book:
        book.decide_by(rules.passes(course.stages))
        waiting = [each for each in book.requests() if everything or each.closed is None]
        found = [(each, _of(book, rules, each)) for each in waiting]
    _show(found, as_json)


def _of(book: Any, rules: Any, request: RegradeRequest) -> StageDossier | None:
    from grader.gradebook.dossier import dossier

    return next(iter(dossier(book, rules, request.student, request.stage, request.criterion)), None)


def _close(out: Path, number: int, reason: str, points: float | None, policy: Path | None) -> None:
    from grader.gradebook.store import Gradebook

    with Gradebook.open(out) as book:
        request = next((each for each in book.requests() if each.number == number), None)
    if request is None:
        raise UsageError(f"there is no request {number}", f"`grader class regrade-requests --out {out}` lists them.")
    if request.closed is not None:
        raise UsageError(f"request {number} is closed: {request.answer}", "`override` changes points all the same.")
    if points is not None:
        override(request.student, request.stage, out, points, request.criterion or None, reason=reason, policy=policy)
    with Gradebook.open(out) as book, book.changing():
        book.answer(number, reason, user(), datetime.now(UTC))
    say(f"Request {number} of {request.student} is closed.")


def _show(found: list[tuple[RegradeRequest, StageDossier | None]], as_json: bool) -> None:
    if as_json:
        write(dumps({"schema": 1, "requests": [_document(*each) for each in found]}))
        return
    for request, known in found:
        about = f"{request.stage} {request.criterion}".strip()
        tell(f"{request.number}  {request.student} · {about}, {request.at:%Y-%m-%d %H:%M %Z}")
        tell(f"   asks: {' '.join(request.words.split())}")
        for criterion in known.criteria if known else ():
            if criterion.id == request.criterion or (not request.criterion and criterion.status != "passed"):
                tell(f"   {criterion.id}: {criterion.status.replace('_', ' ')}, {told_points(criterion)} points")
                for each in (*criterion.calls[:1], *criterion.causes):
                    tell(f"      {each}")
        for line in around(known) if known else ():
            tell(f" {line}")
        if request.closed:
            tell(f"   closed by {request.by}: {request.answer}")
    if not found:
        say("No request is open.")


def _document(request: RegradeRequest, known: StageDossier | None) -> dict[str, Any]:
    criteria = [each for each in (known.criteria if known else ()) if request.criterion in ("", each.id)]
    return {
        "number": request.number,
        "student": request.student,
        "stage": request.stage,
        "criterion": request.criterion or None,
        "words": request.words,
        "at": request.at.isoformat(),
        "answer": request.answer or None,
        "by": request.by or None,
        "closed": request.closed.isoformat() if request.closed else None,
        "criteria": [
            {"id": each.id, "status": each.status, "calls": list(each.calls), "causes": list(each.causes)}
            for each in criteria
        ],
    }
