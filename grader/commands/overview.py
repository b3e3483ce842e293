"""`grader` alone and `grader status`: where a learner stands."""

from __future__ import annotations

from grader import __version__
from grader.commands.learning import open_here
from grader.commands.options import Json


def greet() -> None:
    """Show where a learner is, and what comes next."""
    from grader.commands.setup import tell_newer_course
    from grader.progress.actions import standings
    from grader.progress.steps import times_of
    from grader.report.terminal.overview import home_lines
    from grader.report.terminal.screen import look, show

    workspace = open_here()
    progress = workspace.store.read()
    times = {stage.id: times_of(stage) for stage in workspace.course.stages} if progress.last is None else {}
    show(home_lines(workspace.course, standings(workspace, progress), progress.last, times, look()))
    tell_newer_course(workspace.course)


def status(as_json: Json = False) -> None:
    """List the stages: passed, skipped, open, or locked."""
    from grader.commands.setup import tell_newer_course
    from grader.progress.actions import standings
    from grader.progress.lessons import next_step
    from grader.progress.steps import times_of
    from grader.report.document import dumps
    from grader.report.terminal.overview import status_document, status_lines
    from grader.report.terminal.screen import look, show, write

    workspace = open_here()
    progress = workspace.store.read()
    found = standings(workspace, progress)
    times = {stage.id: times_of(stage) for stage in workspace.course.stages}
    here = next((each.stage for each in found if each.is_current), None)
    step = None if here is None else next_step(workspace, here)
    if as_json:
        write(dumps(status_document(found, times, step, progress, __version__)))
    else:
        show(status_lines(workspace.course, found, times, step, look()))
        tell_newer_course(workspace.course)
