"""`grader check`, `grader check --all` and `grader demo`: grade, print, and say with the exit code how it went."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader import actions
from grader.errors import StageLocked, UsageError
from grader.report import screen

if TYPE_CHECKING:
    from grader.actions import Desk, Wish
    from grader.manifest import Stage
    from grader.verdict import Verdict

ALL_PASS, SOME_DO_NOT, FAULT = 0, 1, 4
DEMO = Path(__file__).resolve().parent.parent / "demo" / "attention.py"
DEMO_STAGE = "s15"
DEMO_NOTE = (
    "This was {file}, a half-finished module that comes with the grader, graded as yours will be. "
    "`grader` says where you begin."
)


def check(desk: Desk, stage: Stage, wish: Wish, as_json: bool, verbose: bool) -> int:
    """Grade one stage and print the verdict; returns the exit code."""
    from grader.report.document import dumps, verdict_document

    try:
        with screen.ticking(stage.id) as tick:
            verdict = actions.check(desk, stage, wish, tick)
    except StageLocked:
        if as_json:
            first = [each.id for each in actions.locked_by(desk, stage, desk.store.read())]
            screen.write(dumps(verdict_document(actions.locked_verdict(stage, wish), first)))
        raise
    if as_json:
        screen.write(dumps(verdict_document(verdict)))
    else:
        _print(verdict, _command(f"grader check {stage.id}", wish), verbose)
        _what_next(desk, stage, wish, verdict)
    if wish.submission is not None and (note := verdict.run.isolation_note):
        screen.say(f"warning: graded in isolation {verdict.run.isolation} only: {note}", style="yellow")
    return _exit_code((verdict,))


def check_all(desk: Desk, wish: Wish, as_json: bool) -> int:
    """Grade stage after stage and print one summary; returns the exit code."""
    from grader.report.document import dumps, summary_document
    from grader.report.terminal import summary_lines

    if wish.only is not None:
        raise UsageError("--all grades whole stages, --only one row", "Leave one of them out.")
    if wish.submission is not None and not wish.submission.is_dir():
        message = f"--all needs a folder of stages, and {wish.submission} is none"
        raise UsageError(message, "Name a stage to grade one module.")
    with screen.ticking("all stages") as tick:
        verdicts = tuple(actions.check_all(desk, wish, tick))
    if as_json:
        screen.write(dumps(summary_document(verdicts)))
    else:
        screen.show(summary_lines(verdicts, screen.look()))
    return _exit_code(verdicts)


def demo(wish: Wish, verbose: bool) -> int:
    """Grade the bundled module without recording anything; returns 0 however many of its rows pass."""
    desk = actions.open_desk(DEMO.parent)
    stage = desk.course.find(DEMO_STAGE)
    wish = replace(wish, submission=DEMO)
    with screen.ticking(stage.id) as tick:
        verdict = actions.check(desk, stage, wish, tick)
    _print(verdict, "grader demo", verbose)
    screen.say(DEMO_NOTE.format(file=verdict.run.label))
    return FAULT if verdict.grader_fault else 0


def _print(verdict: Verdict, again: str, verbose: bool) -> None:
    from grader.report.terminal import Style, verdict_lines

    screen.show(verdict_lines(verdict, Style(screen.look(), again, verbose)))


def _what_next(desk: Desk, stage: Stage, wish: Wish, verdict: Verdict) -> None:
    """Tell a learner what a verdict on the own module leads to."""
    if wish.submission is not None or verdict.grader_fault:
        return
    if wish.only is not None:
        screen.say(f"Only {wish.only} was graded, so nothing is recorded.")
    elif verdict.passed:
        screen.say(f"{stage.id} has passed.", _after_pass(desk, verdict))
    elif verdict.problem is None and all(row.status == "not_started" for row in verdict.criteria):
        screen.say(f"Begin in {verdict.run.label}; `grader show {stage.id}` explains the stage.")


def _after_pass(desk: Desk, verdict: Verdict) -> str:
    opened = [desk.course.find(each) for each in verdict.unlocked]
    if opened:
        names = ", ".join(f"{each.id} ({each.title})" for each in opened)
        return f"Unlocked: {names}. `grader show {opened[0].id}` is next."
    return "`grader` says what is next."


def _command(command: str, wish: Wish) -> str:
    """Return the command that repeats a run, as it can be typed."""
    parts = [command]
    parts += ["--submission", shlex.quote(str(wish.submission))] if wish.submission is not None else []
    parts += ["--only", wish.only] if wish.only is not None else []
    return " ".join(parts)


def _exit_code(verdicts: tuple[Verdict, ...]) -> int:
    if any(verdict.grader_fault for verdict in verdicts):
        return FAULT
    return ALL_PASS if verdicts and all(verdict.passed for verdict in verdicts) else SOME_DO_NOT
