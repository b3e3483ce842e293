"""The full screen: stages on the left, the checklist in the middle, and what is wrong first on the right.

Where the terminal is narrow the checklist stands above what is wrong, and the stages are a list under `l`.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList, Static

from grader.course.stage import Stage
from grader.errors import GraderError
from grader.progress.actions import Workspace
from grader.report.terminal.layout import Look
from grader.watching.editor import opening, started
from grader.watching.events import Event, Judged
from grader.watching.keys import ENDS, told
from grader.watching.making import Post, Width, made
from grader.watching.session import Session
from grader.watching.tui.dialogs import Choice, Question, Reading
from grader.watching.tui.panels import Column, Panels, choices, foot, help_text
from grader.watching.tui.style import STYLE
from grader.watching.tui.windows import comparison_window, hint_window, lesson_window, readme_window

WIDE = 110  # columns from which on three columns fit
TICK_SECONDS = 0.5
ERROR_SECONDS = 10.0
ACTIONS = {
    "n": "step(1)", "p": "step(-1)", "h": "hint", "e": "explore", "s": "show", "o": "edit", "d": "compare",
    "c": "check", "r": "reset", "l": "list(False)", "slash": "list(True)", "question_mark": "help", "q": "quit",
}  # fmt: skip


class Posted(Message):
    """An event that a thread has posted."""

    def __init__(self, event: Event) -> None:
        super().__init__()
        self.event = event


class Watching(App[None]):
    """Shows a session's board, and gives it keys and events."""

    CSS = STYLE
    TITLE = "grader watch"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        *(Binding(key, action) for key, action in ACTIONS.items()),
        Binding("ctrl+c,ctrl+q", "quit", priority=True),
    ]

    def __init__(self, make: Callable[[Post, Width], Session], stage: Stage, look: Look) -> None:
        super().__init__()
        self.animation_level = "none"
        self._look = look
        self._first = stage
        self._row: str | None = None  # chosen by the learner; None is the first that does not pass
        self._panels: Panels | None = None  # once there is a screen
        self.session = make(self._post, lambda: 80 if self._panels is None else self._panels.width)
        self.session.changed = self._changed

    def _post(self, event: Event) -> None:
        """Take an event from any thread; one that comes after the end is lost."""
        if self.is_running:
            self.post_message(Posted(event))

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield Static(id="title", markup=False)
        with Horizontal(id="body"):
            yield OptionList(id="stages", markup=False)
            yield OptionList(id="rows", markup=False)
            with Column(self._refresh):
                yield Static(id="told", markup=False)
        yield Static(id="foot", markup=False)

    def on_mount(self) -> None:
        """Begin with the stage that was asked for."""
        self.set_class(self._look.ascii, "ascii")
        self._panels = Panels(self, self.session, self._look)
        self._fit(self.size.width)
        self.query_one("#rows").focus()
        self.set_interval(TICK_SECONDS, self._tick)
        self.session.open(self._first)

    def on_unmount(self) -> None:
        """End what runs beside the screen."""
        self.session.close()

    def on_resize(self, event: Resize) -> None:
        """Choose the layout for a width."""
        self._fit(event.size.width)

    @on(Posted)
    def posted(self, message: Posted) -> None:
        """Do what follows from an event."""
        self.session.take(message.event)
        row = self.session.board.row(self._row)
        if isinstance(message.event, Judged) and row is not None and row.status == "passed":
            self._row = None
            self._refresh()

    @on(OptionList.OptionSelected, "#stages")
    def stage_chosen(self, event: OptionList.OptionSelected) -> None:
        """Watch the stage."""
        self._open(str(event.option_id))

    @on(OptionList.OptionHighlighted, "#rows")
    def row_chosen(self, event: OptionList.OptionHighlighted) -> None:
        """Show the row that the learner moves to."""
        first = self.session.board.first
        is_first = first is not None and event.option_id == first.id
        self._row = None if is_first else event.option_id
        self._refresh()

    def action_step(self, by: int) -> None:
        """Go on to the next stage, or back."""
        self._row = None
        if not self.session.step(by):
            self.notify(ENDS)

    def action_check(self) -> None:
        """Check again."""
        self.session.check()

    def action_hint(self) -> None:
        """Show the next hint of the row."""
        with self._told_errors():
            found = self.session.hint(self._row)
            if isinstance(found, str):
                self.notify(self._look.clean(found), markup=False)
            else:
                window = hint_window(self.session, found, self._look)
                self.push_screen(window, lambda more: self.action_hint() if more else None)

    def action_explore(self) -> None:
        """Run the functions on an example; what they give arrives as an event."""
        self.notify(self.session.explore())

    def action_show(self) -> None:
        """Show the step that the row belongs to; from there, all of the README."""

        def answered(more: bool | None) -> None:
            if more:
                self.push_screen(readme_window(self.session, self._look, self.size.width))

        with self._told_errors():
            self.push_screen(lesson_window(self.session, self._row, self._look, self.size.width), answered)

    def action_compare(self) -> None:
        """Show the module beside the reference."""
        with self._told_errors():
            self.push_screen(comparison_window(self.session, self._look, self.size.width))

    def action_reset(self) -> None:
        """Ask, then put the stub back."""

        def answered(yes: bool | None) -> None:
            with self._told_errors():
                if yes:
                    self.notify(self.session.reset(), markup=False)

        file, _ = self.session.board.place()
        self.push_screen(Question(f"Replace {file} by its stub? Your file is kept in .grader/backups/."), answered)

    def action_list(self, search: bool) -> None:
        """List the stages or, to search, stages and rows."""

        def chosen(key: str | None) -> None:
            if key is not None:
                self._open(key)

        listed = choices(self.session.board, self._look, search)
        here, title = self.session.board.stage.id, "Search" if search else "Stages"
        self.push_screen(Choice(title, listed, search, here), chosen)

    def action_help(self) -> None:
        """Show what the keys do."""
        self.push_screen(Reading("Keys", help_text()))

    @on(OptionList.OptionSelected, "#rows")
    def action_edit(self) -> None:
        """Open the failing line in the editor; one that needs the terminal gets it until it ends."""
        with self._told_errors():
            file, line = self.session.board.place(self._row)
            how = opening(str(self.session.workspace.course.root / file), line, os.environ, shutil.which)
            if not how.in_terminal:
                started(how)
                return
            with self.suspend():
                subprocess.run(how.command, check=False)

    def _open(self, key: str) -> None:
        """Watch a stage, given by its id or as the stage of a row, stage/row."""
        name, _, row = key.partition("/")
        self._row = row or None
        stage = self.session.workspace.course.find(name)
        if stage is self.session.board.stage:
            self._refresh()
        else:
            self.session.open(stage)

    @contextmanager
    def _told_errors(self) -> Iterator[None]:
        """Show an error for a while instead of ending with it."""
        try:
            yield
        except (GraderError, OSError) as error:
            said = self._look.clean(self._look.command(told(error)))
            self.notify(said, severity="error", timeout=ERROR_SECONDS, markup=False)

    def _fit(self, width: int) -> None:
        self.set_class(width < WIDE, "narrow")
        self.query_one("#foot", Static).update(foot(width))

    def _changed(self) -> None:
        """Show what the session changed; tests come by the hundred, and the clock's ticks are enough for them."""
        board = self.session.board
        if board.since is None or not board.tests:
            self._refresh()

    def _refresh(self) -> None:
        if self._panels is not None and self._panels.are_there:  # a tick may come while the screen is taken down
            self._panels.show(self._row)

    def _tick(self) -> None:
        if self.session.board.since is not None:
            self._refresh()


def watch(workspace: Workspace, stage: Stage, look: Callable[[], Look]) -> None:
    """Watch until `q`."""
    Watching(partial(made, workspace, colour="NO_COLOR" not in os.environ), stage, look()).run()
