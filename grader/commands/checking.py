"""`grader check` and `grader demo`: grade, tell the verdict in every format that was asked for, and what comes next."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from grader import shell
from grader.commands.learning import open_here
from grader.commands.options import (
    AnyStage,
    Anyway,
    BegunStages,
    CriterionName,
    CriterionOption,
    EveryStage,
    FeedbackLevel,
    Formats,
    GradedFiles,
    Isolation,
    Json,
    KeyFile,
    Lend,
    OnlyCriterion,
    Receipt,
    RequireIsolation,
    Seed,
    SigningKey,
    Student,
    Verbose,
    lent_from,
)
from grader.course.provenance import provenance_of
from grader.course.sealed import expect_key
from grader.course.stage import FEEDBACK
from grader.errors import GraderError, StageLocked, SubmissionError, UsageError
from grader.progress import actions
from grader.progress.workspace import locked_by, locked_verdict, no_run, open_workspace
from grader.report.formats import parsed
from grader.report.terminal import screen
from grader.submission import holds_stages

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.text import Text

    from grader.commands.classroom import Signing
    from grader.commands.publishing import ReportWriter
    from grader.course.stage import Feedback, Stage
    from grader.progress.actions import GradingRequest, Which, Workspace
    from grader.report.terminal.checklist import Style
    from grader.report.terminal.screen import Ticker
    from grader.verdict import Verdict


def check(
    stage: AnyStage = None,
    criterion: CriterionName = None,
    only: OnlyCriterion = None,
    seed: Seed = None,
    verbose: Verbose = False,
    every: EveryStage = False,
    begun: BegunStages = False,
    anyway: Anyway = False,
    isolation: Isolation = "auto",
    as_json: Json = False,
    formats: Formats = "",
    submission: GradedFiles = None,
    lend: Lend = "passed",
    student: Student = None,
    require_isolation: RequireIsolation = "auto",
    feedback: FeedbackLevel = "full",
    key_file: KeyFile = None,
    receipt: Receipt = None,
    signing_key: SigningKey = None,
    named: CriterionOption = None,
) -> None:
    """Grade a stage and show its checklist.

    When all its criteria pass, that is recorded, and the stages that waited for it open. Exit codes: 0 all pass; 1 some
    do not; 2 usage; 3 locked, or waits for an earlier stage; 4 grader fault; 5 nothing that can be graded; 130 stopped.
    """
    from grader.commands import classroom

    if None not in (criterion, named):
        raise UsageError(f"{criterion!r} and {named!r} are named, and one criterion is shown", "Leave one of them out.")
    criterion = criterion or named
    request = actions.GradingRequest(
        submission, only, seed, isolation, require_isolation, student, lent=_lent(lend, submission), anyway=anyway
    )
    several = _several(every, begun, stage, request, criterion)
    signing = classroom.signing(receipt, signing_key, only, several is not None)
    output, workspace = _output_options(formats, as_json, feedback, verbose, signing), open_here(key_file)
    if several is not None:
        raise typer.Exit(_grade_all(workspace, request, output, several))
    target, criterion = actions.stage_and_criterion(workspace, stage, criterion)
    output = replace(output, criterion=None if criterion is None else target.asked(criterion).id)
    raise typer.Exit(_grade_one(workspace, target, request, output))


def demo(
    criterion: CriterionName = None, seed: Seed = None, isolation: Isolation = "auto", verbose: Verbose = False
) -> None:
    """Grade an example, to show what a check looks like.

    The example comes with the grader, is graded like any other module, and nothing is recorded.
    """
    workspace = open_workspace(Path.cwd())
    example = workspace.course.settings.demo
    if example is None:
        message = "this course has no demonstration; a learner's copy has none, since it would hold answers"
        raise UsageError(message, "`grader check` grades what you have written.")
    stage = workspace.course.find(example.stage)
    shown = None if criterion is None else stage.asked(criterion).id
    file = workspace.course.root / example.file
    request = actions.GradingRequest(file, seed=seed, isolation=isolation, ours=True, asked=shown)
    page = CheckScreen("grader demo", verbose, shown, fix=True)
    with screen.ticking(stage.id) as tick:
        verdict = actions.check(workspace, stage, request, tick, page.ahead(tick, lambda found: found))
    page.show(verdict)
    screen.say(DEMO_NOTE.format(file=verdict.run.label, first=workspace.course.stages[0].id))
    raise typer.Exit(FAULT if verdict.grader_fault else 0)


def _lent(lend: str, submission: Path | None) -> datetime | None:
    """Return from when on --lend lends references, None for never.

    UsageError where it is given for one's own files, beside which references always serve.
    """
    if lend != "passed" and submission is None:
        message = f"--lend needs --submission: {lend} says when references serve a submission"
        raise UsageError(message, "Your own check is graded with the references that it needs.")
    return lent_from(lend)


def _several(
    every: bool, begun: bool, stage: str | None, request: GradingRequest, criterion: str | None = None
) -> Which | None:
    """Return which stages to grade, None for the one that is named or current; raises UsageError."""
    if criterion is not None and (request.only is not None or every or begun):
        other = "--only grades and shows another" if request.only is not None else "many stages were asked for"
        raise UsageError(
            f"{criterion!r} names one criterion of one stage to show, and {other}", "Leave one of them out."
        )
    _expect_one(request, every, begun)
    if not every and not begun:
        return None
    option = "--all" if every else "--begun"
    if every and begun:
        raise UsageError("--all grades every stage, --begun only those that are begun", "Leave one of them out.")
    if stage is not None:
        raise UsageError(f"{option} grades every stage, and {stage!r} is one", "Leave one of them out.")
    if request.only is not None:
        raise UsageError(f"{option} grades whole stages, --only one criterion", "Leave one of them out.")
    if begun and request.submission is not None:
        raise UsageError("--begun is about your own files, and --submission names others", "Use --all.")
    if request.submission is not None and not holds_stages(request.submission):
        message = f"--all needs a folder of stages, and {request.submission} is not one"
        raise UsageError(message, "Name a stage to grade one module.")
    return "begun" if begun else "all"


def _expect_one(request: GradingRequest, every: bool, begun: bool) -> None:
    """Raise UsageError where --anyway is given for anything but one stage of one's own."""
    other = "--submission" if request.submission is not None else "--all" if every else "--begun" if begun else ""
    if request.anyway and other:
        message = f"--anyway is about one locked stage of your own, and {other} grades others"
        raise UsageError(message, "Leave one of them out.")


ALL_PASS, SOME_DO_NOT, WAITS, FAULT = 0, 1, 3, 4
DEMO_NOTE = (
    "This was {file}, a half-finished module that comes with the course, graded as yours will be; "
    "only what to write instead is left to `grader hint` there. "
    "Next: `grader start {first}`, the first stage."
)


@dataclass(frozen=True)
class OutputOptions:
    """How to tell a verdict: the reports, how much of hidden tests at most, whether all of the rest, and a receipt.

    criterion is the only one to show on a screen.
    """

    writer: ReportWriter
    feedback: Feedback = "full"
    verbose: bool = False
    signing: Signing | None = None
    criterion: str | None = None

    @property
    def of_interest(self) -> bool:
        """Whether a document, a signature or a curious reader asks for what a result was made with."""
        return bool(self.writer.targets) or self.signing is not None or self.verbose


def _output_options(
    formats: str, as_json: bool, feedback: str, verbose: bool, signing: Signing | None = None
) -> OutputOptions:
    """Read the options that say how to tell a verdict, and make sure that it can be told so; raises UsageError."""
    from grader.commands.publishing import ReportWriter

    level = next(level for level in FEEDBACK if level == feedback)
    writer = ReportWriter(parsed(formats, as_json), os.environ)
    writer.prepare()
    return OutputOptions(writer, level, verbose, signing)


def _grade_one(workspace: Workspace, stage: Stage, request: GradingRequest, output: OutputOptions) -> int:
    """Grade one stage and tell the verdict; returns the exit code. What cannot be graded is told in every report."""
    try:
        _expect_hidden(stage, request, output)
        again, foreign = _command(f"grader check {stage.id}", request), request.submission is not None
        shows = not output.writer.takes_stdout
        page = CheckScreen(again, output.verbose, output.criterion, foreign)
        request = replace(request, asked=output.criterion, feedback=output.feedback)
        with screen.ticking(stage.id) as tick:
            ahead = page.ahead(tick, partial(_shown, stage, output=output)) if shows else None
            verdict = actions.check(workspace, stage, request, tick, ahead)
    except UsageError:
        raise
    except StageLocked as why:
        first = tuple(each.id for each in locked_by(workspace, stage, workspace.store.read()))
        _publish(workspace, output, (locked_verdict(stage, request, why),), first)
        raise
    except Exception as error:
        _publish(workspace, output, traced(workspace, request, output.of_interest, (_ungraded(stage, request, error),)))
        raise
    (verdict,) = traced(workspace, request, output.of_interest, (_shown(stage, verdict, output),))
    if shows:
        page.show(verdict)
        _what_next(workspace, stage, request, verdict)
    _warn_of_record((verdict,))
    _publish(workspace, output, (verdict,))
    if output.signing is not None and verdict.waits_for:
        screen.say("No receipt is written: what waits has no result yet.")
    elif output.signing is not None:
        output.signing.give(verdict, datetime.now(UTC))
    if request.submission is not None and (note := verdict.run.isolation_note):
        screen.say(f"warning: graded in isolation {verdict.run.isolation} only: {note}", style="yellow")
    return _exit_code((verdict,))


def _grade_all(
    workspace: Workspace, request: GradingRequest, output: OutputOptions, which: actions.Which = "all"
) -> int:
    """Grade stage after stage and tell all of it at the end; returns the exit code."""
    from grader.report.terminal.checklist import summary_lines

    found: list[Verdict] = []
    try:
        for stage in workspace.course.stages:
            _expect_hidden(stage, request, output)
        with screen.ticking("all stages") as tick:
            for verdict in actions.check_all(workspace, request, tick, which):
                found.append(_shown(workspace.course.find(verdict.stage), verdict, output))
    except Exception as error:
        done = {verdict.stage for verdict in found}
        at = next((each for each in workspace.course.stages if each.id not in done), workspace.course.stages[-1])
        _publish(workspace, output, (*found, _ungraded(at, request, error)), every=True)
        raise
    verdicts = traced(workspace, request, output.of_interest, tuple(found))
    if verdicts and not output.writer.takes_stdout:
        screen.show(summary_lines(verdicts, screen.look(), "Stages begun" if which == "begun" else "All stages"))
    _warn_of_record(verdicts)
    if which == "begun" and not verdicts:
        screen.say("No stage is begun yet, so nothing was graded.")
        output = replace(output, writer=output.writer.without("github"))  # it would tell that as an error
    _publish(workspace, output, verdicts, every=True)
    if which == "begun" and not verdicts:
        return ALL_PASS
    return _exit_code(verdicts)


def _expect_hidden(stage: Stage, request: GradingRequest, output: OutputOptions) -> None:
    """Raise SealError where only public tests could be run, and the result is one that others go by."""
    if output.signing is not None:
        expect_key(stage, "a receipt")
    if output.writer.gives_marks:
        expect_key(stage, "a format that gives marks")
    if request.submission is not None:
        expect_key(stage, "what somebody handed in")


def _shown(stage: Stage, verdict: Verdict, output: OutputOptions) -> Verdict:
    """Return the part of a verdict that stage and option both allow to be told; all that is told is made of it."""
    from grader.report import feedback

    level = feedback.lower(stage.feedback, output.feedback)
    return feedback.shown(verdict, level, feedback.known_names(stage))


def _publish(
    workspace: Workspace,
    output: OutputOptions,
    verdicts: tuple[Verdict, ...],
    first: tuple[str, ...] = (),
    every: bool = False,
) -> None:
    if output.writer.targets:
        from grader.report.graded import CheckReport

        output.writer.publish(CheckReport(verdicts, every, first), workspace.course.root, datetime.now(UTC))


def _ungraded(stage: Stage, request: GradingRequest, error: Exception) -> Verdict:
    """Return the verdict of a run that came to nothing; an unforeseen error may quote anything, so it is only named."""
    from grader.submission.parsing import Problem
    from grader.verdict import Verdict

    empty = Verdict(stage.id, stage.title, False, (), no_run(stage, request))
    if isinstance(error, SubmissionError):
        return replace(empty, problem=Problem("missing", error.message, None, error.hint))
    said = error.message if isinstance(error, GraderError) else f"{type(error).__name__} in the grader"
    return replace(empty, faults=(said,))


class CheckScreen:
    """What a check prints of one stage: the checklist, on a terminal as soon as it is known, and then what was found.

    again is the command that repeats the run, only the criterion to show alone; fix tells what to write instead.
    """

    def __init__(self, again: str, verbose: bool, only: str | None, fix: bool) -> None:
        self._options = again, verbose, only, fix
        self._printed: list[Text] | None = None

    def ahead(self, tick: Ticker | None, shown: Callable[[Verdict], Verdict]) -> Callable[[Verdict], None] | None:
        """Return what prints the checklist while the cause of what fails is looked for; None where nobody watches."""
        if tick is None or not sys.stdout.isatty():
            return None

        def decided(verdict: Verdict) -> None:
            tick.clear()
            self._print_checklist(shown(verdict))
            tick.search()

        return decided

    def show(self, verdict: Verdict) -> None:
        """Print what is not printed yet; the checklist again where it has become another."""
        from grader.report.terminal.checklist import found_lines

        self._print_checklist(verdict)
        screen.show(found_lines(verdict, self._style()))

    def _print_checklist(self, verdict: Verdict) -> None:
        from grader.report.terminal.checklist import checklist_lines

        lines = checklist_lines(verdict, self._style())
        if lines != self._printed:
            screen.show(lines)
        self._printed = lines

    def _style(self) -> Style:
        from grader.report.terminal.checklist import Style

        return Style(screen.look(), *self._options)


def _warn_of_record(verdicts: tuple[Verdict, ...]) -> None:
    """Say once, if it is so, that results stand but are not recorded, and why."""
    if why := next((verdict.unrecorded for verdict in verdicts if verdict.unrecorded), ""):
        message = f"warning: nothing is recorded: {why}"
        screen.say(message, "The result counts for this run only; put that right to keep it.", "yellow")


def _what_next(workspace: Workspace, stage: Stage, request: GradingRequest, verdict: Verdict) -> None:
    """Tell a learner what a verdict on the own module leads to."""
    if request.submission is not None or verdict.grader_fault:
        return
    if request.anyway and locked_by(workspace, stage, workspace.store.read()):
        screen.say(f"{stage.id} is locked, so nothing is recorded.", f"`grader start {stage.id}` begins here.")
    elif request.only is not None:
        screen.say(f"Only {verdict.run.only} was graded, so nothing is recorded.")
    elif verdict.passed:
        screen.say(f"{stage.id} has passed.", _after_pass(workspace, verdict))
    elif verdict.public_passed:
        said = f"The public tests of {stage.id} pass; hidden tests run when you submit."
        screen.say(said, _after_pass(workspace, verdict))
    elif verdict.problem is None and all(each.status == "not_started" for each in verdict.criteria):
        said = f"Begin in {verdict.run.label}; `grader show {stage.id}` explains the stage."
        screen.say(said, _next_criterion(verdict))
    elif verdict.problem is None and (said := _next_criterion(verdict)):
        screen.say(said)


def _next_criterion(verdict: Verdict) -> str:
    """Say where the first criterion that was not begun is explained, if none before it fails; else nothing."""
    left = [each for each in verdict.criteria if each.status not in ("passed", "blocked")]
    if not left or any(each.status != "not_started" for each in left):
        return ""
    criterion = left[0]
    return f"Next: `grader show {verdict.stage} {criterion.id}` says what to write."


def _after_pass(workspace: Workspace, verdict: Verdict) -> str:
    opened = [workspace.course.find(each) for each in verdict.unlocked]
    if verdict.unrecorded:
        return "No stage opens, since that could not be recorded."
    if opened:
        names = ", ".join(f"{each.id} ({each.title})" for each in opened)
        return f"Unlocked: {names}. `grader show {opened[0].id}` is next."
    return "`grader` says what is next."


def _command(command: str, request: GradingRequest) -> str:
    """Return the command that repeats a run, as it can be typed."""
    parts = [command]
    parts += ["--submission", shell.quoted(str(request.submission))] if request.submission is not None else []
    parts += ["--only", request.only] if request.only is not None else []
    return " ".join(parts)


def _exit_code(verdicts: tuple[Verdict, ...]) -> int:
    if any(verdict.grader_fault for verdict in verdicts):
        return FAULT
    if any(verdict.waits_for for verdict in verdicts):
        return WAITS
    return ALL_PASS if verdicts and all(each.passed or each.public_passed for each in verdicts) else SOME_DO_NOT


def traced(
    workspace: Workspace, request: GradingRequest, asked: bool, verdicts: tuple[Verdict, ...]
) -> tuple[Verdict, ...]:
    """Return verdicts with their provenance; as they are where nobody asked and nobody handed anything in."""
    if not (asked or request.submission is not None or request.student is not None):
        return verdicts
    made = replace(provenance_of(workspace.course), student=request.student)
    return tuple(
        replace(each, run=replace(each.run, provenance=replace(made, revision=each.run.revision))) for each in verdicts
    )
