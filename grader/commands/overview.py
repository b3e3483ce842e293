"""`grader` alone and `grader status`: where a learner stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from grader import __version__
from grader.commands.learning import open_here
from grader.commands.options import Json

if TYPE_CHECKING:
    from grader.course.stage import Course


def greet() -> None:
    """Show where a learner is, and what comes next."""
    from grader.progress.standings import standings
    from grader.progress.steps import times_of
    from grader.report.terminal.overview import home_lines
    from grader.report.terminal.screen import look, show

    workspace = open_here()
    progress = workspace.store.read()
    times = {stage.id: times_of(stage) for stage in workspace.course.stages} if progress.last is None else {}
    show(home_lines(workspace.course, standings(workspace, progress), progress.last, times, look()))
    _tell_newer_course(workspace.course)


def status(as_json: Json = False) -> None:
    """List the stages: passed, skipped, open, or locked."""
    from grader.progress.standings import standings
    from grader.progress.steps import next_step, times_of
    from grader.report.terminal.overview import status_document, status_lines
    from grader.report.terminal.screen import look, show, write

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
        show(status_lines(workspace.course, found, times, step, look()))
        _tell_newer_course(workspace.course)


def _tell_newer_course(course: Course) -> None:
    """Say where a newer course came with this grader than the one in the folder."""
    from grader.setup.edition import newer_course

    if (told := newer_course(course.hidden)) is not None:
        from grader.report.terminal.screen import say

        say(told)
