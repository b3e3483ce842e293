"""Commands of a learner beside a check: the stages, a hint, a README, where to begin, starting over, the solution."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grader import __version__
from grader.atomic import expect_new, write_new
from grader.commands.options import AnyStage, CriterionName, Json, PassedStage, StageName, StepName
from grader.errors import UsageError
from grader.progress.workspace import open_workspace
from grader.report.terminal import screen
from grader.report.terminal.screen import look, say, show_markdown, ticking, write
from grader.report.terminal.words import reached_of

if TYPE_CHECKING:
    from grader.course.stage import Course, Criterion, Stage
    from grader.progress.actions import Workspace

_OTHER_FILE = "Name another file with --output."


def open_here(key_file: Path | None = None) -> Workspace:
    """Open the course around the current folder; say so if its progress file is not as it should be."""
    workspace = open_workspace(Path.cwd(), key_file)
    if notice := workspace.store.read().notice:
        say(f"warning: {notice}", style="yellow")
    return workspace


def hint(
    stage: AnyStage = None,
    criterion: CriterionName = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="Show at once what to write in place of the fault that the check named.")
    ] = False,
) -> None:
    """Help with one criterion, a step further each time.

    There are three hints: a question, the idea, almost the answer. Last comes
    what to write in place of the fault, where the check named one.
    Without CRITERION it is the first that a check finds not passed.
    """
    from grader.progress.actions import stage_and_criterion
    from grader.progress.hints import next_hint
    from grader.report.terminal.overview import hint_lines

    workspace = open_here()
    target, criterion = stage_and_criterion(workspace, stage, criterion)
    found = next_hint(workspace, target, criterion, fix)
    if found is None:
        say(f"Every criterion of {target.id} passes: no hint is needed.", f"`grader check {target.id}` records it.")
    else:
        screen.show(hint_lines(target, found, look()))
        if found.unrecorded:
            say(f"warning: {found.unrecorded}", "The same hint comes next time.", "yellow")


def show(stage: AnyStage = None, part: StepName = None) -> None:
    """Show a stage's README, or one step of it.

    A step explains what a criterion asks for, and ends with what to write for it.
    """
    from grader.progress import readme_steps
    from grader.progress.actions import stage_and_criterion

    workspace = open_here()
    if part is None and stage and (page := readme_steps.other_page(workspace.course, stage)):
        return show_markdown(look().command(page))
    target, part = stage_and_criterion(workspace, stage, part)
    return show_markdown(
        look().command(readme_steps.readme(target) if part is None else readme_steps.part(target, part))
    )


def next_step(stage: AnyStage = None) -> None:
    """Show the step to work on now.

    It is that of the first criterion that the last check found not passed; before any check it is the first step.
    """
    from grader.progress import readme_steps
    from grader.progress.actions import stage_or_current
    from grader.progress.readme_steps import last_seen, next_criterion
    from grader.report.terminal.overview import about_criterion

    workspace = open_here()
    target = stage_or_current(workspace, stage)
    criterion = next_criterion(workspace, target)
    if (found := last_seen(workspace, target)) is not None:
        say(f"The last check of {target.id}: {reached_of(found.passed, len(found.criteria), found.robust)}.")
    if criterion is None:
        say(f"Every criterion of {target.id} passed when it was last checked.", "`grader` says where you are.")
        if found is not None and found.not_robust:
            first = found.not_robust[0]
            say(
                f"{target.id} {first.id}: {about_criterion(first)}",
                f"`grader show {target.id} {first.id}` says what it asks.",
            )
    else:
        show_markdown(look().command(readme_steps.part(target, criterion.id)))


def start(stage: StageName) -> None:
    """Begin at this stage.

    Stages before it that have not passed are recorded as skipped, never as passed.
    """
    from grader.progress import actions

    workspace = open_here()
    target = workspace.course.find(stage)
    started = actions.start(workspace, target)
    skipped = f" Skipped: {', '.join(started.skipped)}." if started.skipped else ""
    if started.here is not target:
        say(f"{target.id} · {target.title} has passed already, and stays so.{skipped}", _again(target, started.here))
        return
    say(f"You are at {target.id} · {target.title}.{skipped}")
    say(f"Write stages/{target.name}/{target.module}; `grader show {target.id}` explains it, `grader check` grades it.")


def _again(stage: Stage, here: Stage | None) -> str:
    """Say how to go over a stage that has passed, and where the learner is."""
    ways = f"`grader check {stage.id}` grades it again; `grader reset {stage.id}` starts it over."
    return ways if here is None else f"You are at {here.id} · {here.title}. {ways}"


def reset(
    stage: AnyStage = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Put a stage's stub back and start it over.

    The old file is kept in .grader/backups/.
    """
    from grader.progress import actions
    from grader.progress.actions import stage_or_current

    workspace = open_here()
    target = stage_or_current(workspace, stage)
    file = f"stages/{target.name}/{target.module}"
    if not yes and not sys.stdin.isatty():
        raise UsageError(f"reset replaces {file}, and there is no terminal to ask for confirmation", "Give --yes.")
    if not yes and not typer.confirm(f"Replace {file} by its stub, and count {target.id} as not passed?", err=True):
        say("Nothing was changed.")
        return
    kept = actions.reset(workspace, target)
    say(f"{file} is the stub again.")
    if kept is not None:
        say(f"Your file is kept as {kept.relative_to(workspace.course.root).as_posix()}.")


def solution(
    stage: PassedStage = None,
    criterion: CriterionName = None,
    give_up: Annotated[
        bool,
        typer.Option("--give-up", help="Show the function of CRITERION alone, before the stage has passed; recorded."),
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="With --give-up: do not ask for confirmation.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the reference to a new file instead.")
    ] = None,
    compare: Annotated[
        bool | None,
        typer.Option(
            "--compare/--reference",
            help="Show it beside your own module, or alone, as a pipe gets it without either option.",
        ),
    ] = None,
    time: Annotated[bool, typer.Option("--time/--no-time", help="Measure both modules; takes a few checks.")] = True,
    json: Json = False,
) -> None:
    """Show the solution of a stage that you have passed.

    It stands beside your own module, function by function, with what differs in method and speed.

    Before that, and after the last hint of a criterion, --give-up shows the function
    of that one alone, with the private helpers that it needs. It asks first,
    since it is recorded: `status`, `watch`, `serve`, `report` and the certificate say "seen".
    The stage can still be passed.
    """
    if give_up:
        _give_up(stage, criterion, yes, output, compare, json)
        return
    if criterion is not None:
        message = f"a solution is that of a whole stage, and {criterion!r} names one criterion"
        raise UsageError(message, "Add --give-up to see that criterion alone, or leave it out.")
    from grader.progress import actions
    from grader.progress.actions import stage_or_last

    workspace = open_here()
    target = stage_or_last(workspace, stage)
    if json and (output is not None or compare is False):
        given = "--output" if output is not None else "--reference"
        raise UsageError(
            f"--json prints a comparison, and {given} asks for the reference alone", "Leave one of them out."
        )
    if output is not None:
        write_new(output, actions.solution(workspace, target), free=_OTHER_FILE)
        say(f"The solution is in {output}.")
    elif json or compare or (compare is None and sys.stdout.isatty()):
        _compare(workspace, target, time, json)
    else:
        write(actions.solution(workspace, target))


def _give_up(
    stage: str | None, criterion: str | None, yes: bool, output: Path | None, compare: bool | None, json: bool
) -> None:
    """Show the function of one criterion, after a question."""
    from grader.progress import hints
    from grader.progress.actions import stage_and_criterion

    if compare is not None or (json and output is not None):
        given = "--json with --output" if compare is None else "--compare" if compare else "--reference"
        raise UsageError(f"--give-up shows one function alone, which {given} does not fit", "Leave one of them out.")
    workspace = open_here()
    target, criterion = stage_and_criterion(workspace, stage, criterion)
    if criterion is None:
        ids = ", ".join(each.id for each in target.criteria)
        raise UsageError(
            f"--give-up is for one criterion of {target.id}, and none was named", f"The criteria are {ids}."
        )
    chosen = target.asked(criterion)
    if output is not None:
        expect_new(output, free=_OTHER_FILE)  # before anything is recorded
    if hints.is_new(workspace, target, chosen) and not yes and not _is_sure(target, chosen):
        say("Nothing was shown or recorded.")
        return
    found = hints.shown(workspace, target, chosen, datetime.now(UTC))
    if json:
        from grader.report.document import dumps, seen_document

        write(dumps(seen_document(target, found)))
    elif output is not None:
        write_new(output, found.text, free=_OTHER_FILE)
        say(f"The function is in {output}.")
    else:
        write(found.text)
    if found.when is not None:
        say(f"{chosen.id} is recorded as seen. {target.id} can still be passed: `grader check {target.id}` grades it.")


def _is_sure(stage: Stage, criterion: Criterion) -> bool:
    """Ask whether a function is to be shown; UsageError where nobody can answer."""
    asked = f"{stage.id} {criterion.id} is recorded as seen once it is shown"
    if not sys.stdin.isatty():
        raise UsageError(f"{asked}, and there is no terminal to ask for confirmation", "Give --yes.")
    say(f"{asked}. {stage.id} can still be passed.")
    return typer.confirm("Show it?", err=True)


def _compare(workspace: Workspace, stage: Stage, time: bool, json: bool) -> None:
    """Show the reference beside the learner's own module."""
    from grader.progress.comparison import compared
    from grader.report.terminal.beside import comparison_lines

    with ticking(f"{stage.id} · measuring both" if time else stage.id) as tick:
        found = compared(workspace, stage, time, on_test=tick)
    if json:
        from grader.report.document import dumps, solution_document

        write(dumps(solution_document(found)))
    else:
        screen.show(comparison_lines(found, look()))


def greet() -> None:
    """Show where a learner is, and what comes next."""
    from grader.progress.readme_steps import times_of
    from grader.progress.standings import standings
    from grader.report.terminal.overview import home_lines

    workspace = open_here()
    progress = workspace.store.read()
    times = {stage.id: times_of(stage) for stage in workspace.course.stages} if progress.last is None else {}
    screen.show(home_lines(workspace.course, standings(workspace, progress), progress.last, times, look()))
    _tell_newer_course(workspace.course)


def status(as_json: Json = False) -> None:
    """List the stages: passed, skipped, open, or locked."""
    from grader.progress.readme_steps import next_step, times_of
    from grader.progress.standings import standings
    from grader.report.terminal.overview import status_document, status_lines

    workspace = open_here()
    progress = workspace.store.read()
    found = standings(workspace, progress)
    times = {stage.id: times_of(stage) for stage in workspace.course.stages}
    here = next((each.stage for each in found if each.is_current), None)
    step = None if here is None else next_step(workspace, here)
    if as_json:
        from grader.report.document import dumps

        write(dumps(status_document(found, times, step, progress, __version__)))
    else:
        screen.show(status_lines(workspace.course, found, times, step, look()))
        _tell_newer_course(workspace.course)


def _tell_newer_course(course: Course) -> None:
    """Say where a newer course came with this grader than the one in the folder."""
    from grader.setup.edition import newer_course

    if (told := newer_course(course.hidden)) is not None:
        say(told)
