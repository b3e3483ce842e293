"""The board of a watched stage as a page shows it: rows with what is wrong, and everything in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.outcome import Gradient
from grader.report.terminal.checklist import FAULT, Style, evidence, gradient_lines, no_cause, told
from grader.report.terminal.layout import Look
from grader.report.terminal.words import kind_of_row, status_words
from grader.verdict import CriterionResult, Failure
from grader.watching.board import Board
from grader.watching.telling import reached
from grader.web.serving.steps import StepLink

LOOK = Look(100)
COMPLETE = "Every row passes."
PUBLIC = "The public tests of every row pass; hidden tests run when you submit."


@dataclass(frozen=True)
class Told:
    """One failed test as the page tells it; gradients is a table in plain text."""

    call: str
    message: str
    help: str
    gradients: str
    notes: tuple[str, ...]
    cause: str
    where: str


@dataclass(frozen=True)
class Line:
    """One row of the checklist; is_first says that it is the one to work on, step where the page explains it.

    is_seen says that its function of the reference was shown to the learner.
    """

    id: str
    text: str
    kind: str
    words: str
    functions: tuple[str, ...]
    told: tuple[Told, ...]
    more: int
    is_first: bool
    step: StepLink | None = None
    is_seen: bool = False


@dataclass(frozen=True)
class View:
    """All that the page shows of the board; trouble holds why nothing was graded, and what to do."""

    stage: str
    title: str
    reached: str
    is_checking: bool
    done: int
    lines: tuple[Line, ...]
    trouble: tuple[str, str]
    complete: str
    opened: tuple[str, ...]
    note: str
    drawn: str


def view(board: Board, now: float, steps: Mapping[str, StepLink] | None = None) -> View:
    """Return the board as it is shown; now is on the monotonic clock, steps has the step of each row by its id."""
    known = steps or {}
    verdict = board.verdict
    rows = verdict.criteria if verdict is not None and verdict.problem is None else ()
    complete = ""
    if verdict is not None and board.complete:
        complete = PUBLIC if verdict.public_passed else COMPLETE
    stages = {each.stage.id: each.stage for each in board.standings}
    opened = verdict.unlocked if verdict is not None and not verdict.unrecorded else ()
    return View(
        board.stage.id,
        board.stage.title,
        reached(board, LOOK, now),
        board.since is not None,
        sum(row.status == "passed" for row in rows),
        tuple(_line(board, row, known.get(row.id)) for row in rows),
        _trouble(board),
        complete,
        tuple(f"{each} · {stages[each].title}" for each in opened if each in stages),
        board.note,
        board.drawn,
    )


def _trouble(board: Board) -> tuple[str, str]:
    """Return why there are no rows, or why they do not count, and what to do; nothing where all is well."""
    verdict = board.verdict
    if board.trouble is not None:
        return board.trouble[0], board.trouble[1] or ""
    if verdict is not None and verdict.problem is not None:
        line, message = verdict.problem.line, verdict.problem.message
        place = f":{line}" if line and not message.startswith(f"line {line}") else ""  # which is said once
        return f"{verdict.run.label}{place}: {message}", verdict.problem.hint or ""
    if verdict is not None and verdict.grader_fault:
        return FAULT, "\n".join(verdict.faults)
    return "", ""


def _line(board: Board, row: CriterionResult, step: StepLink | None) -> Line:
    criterion = board.stage.criterion(row.id)
    is_first = board.first is not None and board.first.id == row.id
    is_told = row.lacks_robustness or row.status not in ("passed", "not_started", "blocked")
    shown = told(row, Style(LOOK, "")) if is_told else []
    lines = tuple(_told(each) for each in shown)
    more = len(row.failures) - len(shown) if shown else 0
    words, names = status_words(row), criterion.functions
    return Line(row.id, row.text, kind_of_row(row), words, names, lines, more, is_first, step, row.id in board.seen)


def _told(failure: Failure) -> Told:
    cause = failure.diagnosis
    where = f"{failure.where.file}:{failure.where.line}" if failure.where is not None else ""
    said, help = (cause.text, "") if cause is not None else (no_cause(failure), failure.help)
    message = evidence(failure, Style(LOOK, ""))
    return Told(failure.call, message, help, _table(failure.gradients), failure.notes, said, where)


def _table(gradients: Sequence[Gradient]) -> str:
    return "\n".join(line.plain.removeprefix("    ") for line in gradient_lines(gradients, LOOK))
