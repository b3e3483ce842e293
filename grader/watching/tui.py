"""The full screen: stages on the left, the checklist in the middle, and what is wrong first on the right.

Where the terminal is narrow the checklist stands above what is wrong, and the stages are a list under `l`. This module
and `windows.py` alone import Textual.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, ClassVar

from rich.console import Console
from rich.text import Text
from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.events import Resize
from textual.message import Message
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from grader.course.stage import Stage
from grader.errors import GraderError
from grader.progress.actions import Workspace
from grader.report.terminal.layout import Look
from grader.report.terminal.words import tests_words
from grader.watching import board_lines
from grader.watching.board import Board, Event, FinalVerdict
from grader.watching.keys import ENDS, error_text, opening, started
from grader.watching.session import Post, WatchSession, Width, made
from grader.watching.windows import (
    Choice,
    Question,
    TextWindow,
    comparison_window,
    hint_window,
    lesson_window,
    readme_window,
)

STYLE = """
Screen { layout: vertical; }
#title { height: 1; background: $panel; padding: 0 1; }
#body { height: 1fr; layout: horizontal; }
#stages { width: 28; border: none; border-right: solid $primary-darken-2; }
#rows { width: 2fr; border: none; border-right: solid $primary-darken-2; }
#detail { width: 3fr; padding: 0 1; scrollbar-gutter: stable; }
#foot { height: 1; background: $panel; padding: 0 1; color: $text-muted; }
OptionList { background: $surface; padding: 0; height: 1fr; scrollbar-size-vertical: 1; }
OptionList:focus { border: none; }
OptionList > .option-list--option-highlighted { background: $primary 20%; color: $foreground; text-style: none; }
OptionList:focus > .option-list--option-highlighted { background: $primary 35%; color: $foreground; text-style: bold; }
#stages:focus, #rows:focus { border-right: solid $accent; }
.narrow #body { layout: vertical; }
.narrow #stages { display: none; }
.narrow #rows { width: 1fr; height: auto; max-height: 45%; border-right: none; border-bottom: solid $primary-darken-2; }
.narrow.done #rows { max-height: 65%; }
.narrow #rows:focus { border-right: none; border-bottom: solid $accent; }
.narrow #detail { width: 1fr; height: 1fr; }
.ascii #stages, .ascii #rows { border-right: ascii $primary; }
.ascii.narrow #rows { border-right: none; border-bottom: ascii $primary; }
ModalScreen { align: center middle; background: $background 60%; }
.window { width: 90%; max-width: 110; height: 90%; max-height: 90%;
  background: $surface; border: solid $primary; padding: 0 1; }
.wide .window { width: 98%; max-width: 210; }
.question { width: 70; height: auto; padding: 1 2; }
.ascii OptionList, .ascii #detail, .ascii #reading { scrollbar-size-vertical: 0; }
.ascii #detail { scrollbar-gutter: auto; }
.ascii .window, .ascii Input, .ascii Input:focus, .ascii #choices { border: ascii $primary; }
.ascii Toast { border-left: none; }
ToastHolder { align-horizontal: left; }
Toast { max-width: 60; }
.narrow ToastRack { dock: top; align: right top; }
.window-title { height: auto; max-height: 3; }
.window-foot { height: 1; margin-top: 1; }
#reading { height: 1fr; }
"""


LEAST_WIDTH = 24
PANELS = ("#title", "#stages", "#rows", "#detail", "#told")

FEET = (
    "n next  p prev  h hint  e explore  s spec  o edit  d diff  r reset  l list  / find  ? help  q quit",
    "n next  p prev  h hint  e explore  s spec  o edit  l list  ? help  q quit",
    "n next  p prev  h hint  s spec  ? help  q quit",
    "h hint  ? help  q quit",
)  # the first is shown that fits


class Column(VerticalScroll):
    """What is told of a criterion; refit is called once the size is another, since text is wrapped for the width."""

    def __init__(self, refit: Callable[[], None]) -> None:
        super().__init__(id="detail")
        self._refit = refit
        self._columns = 0

    def on_resize(self) -> None:
        """Wrap the text anew; another height changes nothing, and a refresh would move the list's cursor back."""
        columns = self.scrollable_content_region.width
        if columns != self._columns:
            self._columns = columns
            self._refit()


class Panels:
    """The title, the stages, the criteria, and what is told of one."""

    def __init__(self, app: App[None], session: WatchSession, look: Look) -> None:
        self._app = app
        self._session = session
        self._look = look
        self._shown: dict[str, Any] = {}
        self._chosen: dict[str, str | None] = {}

    @property
    def width(self) -> int:
        """The columns for what is told."""
        return max(LEAST_WIDTH, int(self._base("#detail").scrollable_content_region.width))

    @property
    def are_there(self) -> bool:
        """Whether all panels are on the screen: while it is taken down some are gone before others."""
        return bool(self._app.screen_stack) and len(self._app.screen_stack[0].query(", ".join(PANELS))) == len(PANELS)

    def show(self, criterion: str | None) -> None:
        """Show the board as it is now, and of its criteria the chosen one or the first that does not pass."""
        board = self._session.board
        is_done = board.verdict is not None and board.verdict.passed
        self._app.set_class(is_done and not board.drawn, "done")  # little is to be told, so that the list has the room
        self._show_title()
        self._show_stages()
        self._show_rows(criterion)
        self._show_detail(criterion)

    def _base(self, where: str) -> Any:
        return self._app.screen_stack[0].query_one(where)  # other screens may lie over it

    def _show_title(self) -> None:
        board = self._session.board
        left = Text(self._look.clean(board_lines.title(board)), "bold")
        right = self._look.clean(board_lines.reached(board, self._look, time.monotonic()))
        room = self._app.size.width - 2 - left.cell_len
        self._put("#title", Text.assemble(left, right[: max(0, room - 2)].rjust(room)))

    def _show_stages(self) -> None:
        board = self._session.board
        lines = [(each.stage.id, board_lines.stage_line(each, self._look)) for each in board.standings]
        self._fill("#stages", lines, board.stage.id)

    def _show_rows(self, criterion: str | None) -> None:
        board = self._session.board
        if board.verdict is None or board.verdict.problem is not None:
            lines = [(each.id, Text(self._look.clean(f"  {each.text}"), "dim")) for each in board.stage.criteria]
        else:
            found, look = board.verdict.criteria, self._look
            width = max(len(tests_words(each)) for each in found)
            lines = [(each.id, board_lines.row_line(each, look, width, each.id in board.seen)) for each in found]
        self._fill("#rows", lines, criterion or (board.first.id if board.first is not None else None))

    def _show_detail(self, criterion: str | None) -> None:
        board, look = self._session.board, Look(self.width, self._look.ascii, self._look.grader)
        lines = [Text(look.clean(board.note), "yellow"), Text("")] if board.note else []
        lines += board_lines.below(board, look, criterion)
        above = len(lines) + 1
        if board.drawn and (criterion is None or board.asked):
            lines += [Text(""), Text.from_ansi(board.drawn)]
        if self._put("#told", Text("\n").join(lines)) and board.drawn and board.asked:
            self._app.call_after_refresh(self._base("#detail").scroll_to, y=above, animate=False)

    def _put(self, where: str, text: Text) -> bool:
        """Put a text where it is not yet; say whether that changed anything."""
        if self._shown.get(where) == (text.plain, text.spans):
            return False
        self._shown[where] = (text.plain, list(text.spans))
        self._base(where).update(text)
        return True

    def _fill(self, where: str, lines: list[tuple[str, Text]], chosen: str | None) -> None:
        """Put lines into a list; move to the chosen one if it is another than before, else stay."""
        target: OptionList = self._base(where)
        if self._chosen.get(where) == chosen and target.highlighted is not None:
            place = target.get_option_at_index(target.highlighted).id
        else:
            place = chosen
        self._chosen[where] = chosen
        width = target.scrollable_content_region.width
        lines = [(key, hung(text, width)) for key, text in lines]
        plain = [(key, text.plain, list(text.spans)) for key, text in lines]
        with target.prevent(OptionList.OptionHighlighted):
            if self._shown.get(where) != plain:
                self._shown[where] = plain
                target.clear_options()
                target.add_options([Option(text, id=key) for key, text in lines])
            if place is not None and place in [key for key, _ in lines]:
                target.highlighted = target.get_option_index(place)


def hung(text: Text, width: int) -> Text:
    """Return a line of a list in so many columns, what does not fit below its words and not below its mark."""
    if width < LEAST_WIDTH or text.cell_len <= width:
        return text
    mark = 2 if text.plain[1:2] == " " else 4
    first, *others = text.wrap(Console(width=width, color_system=None), width - mark)
    first.rstrip()
    return Text("\n" + " " * mark).join([first, *others])


def choices(board: Board, look: Look, criteria: bool) -> list[tuple[str, Text]]:
    """Return the stages and, where criteria are wanted, too, those of each, by the key stage or stage/criterion."""
    stages = [(each.stage.id, board_lines.stage_line(each, look)) for each in board.standings]
    if not criteria:
        return stages
    pairs = [(standing.stage, each) for standing in board.standings for each in standing.stage.criteria]
    return [*stages, *((f"{s.id}/{each.id}", Text(look.clean(f"    {s.id} {each.text}"))) for s, each in pairs)]


def help_text() -> str:
    """Return what each key does."""
    lines = [f"  {key}   {what}" for key, what in board_lines.KEYS]
    more = ("Up and down choose a criterion, Enter opens its line.", "Tab moves between the columns.")
    return "\n".join([*lines, "", *more])


def foot(width: int) -> str:
    """Return the keys of the last line, as many as fit into so many columns."""
    return next((each for each in FEET if width > len(each) + 1), FEET[-1])


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

    def __init__(self, make: Callable[[Post, Width], WatchSession], stage: Stage, look: Look) -> None:
        super().__init__()
        self.animation_level = "none"
        self._look = look
        self._first = stage
        self._criterion: str | None = None  # chosen by the learner; None is the first that does not pass
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
        chosen = self.session.board.criterion(self._criterion)
        if isinstance(message.event, FinalVerdict) and chosen is not None and chosen.status == "passed":
            self._criterion = None
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
        self._criterion = None if is_first else event.option_id
        self._refresh()

    def action_step(self, by: int) -> None:
        """Go on to the next stage, or back."""
        self._criterion = None
        if not self.session.step(by):
            self.notify(ENDS)

    def action_check(self) -> None:
        """Check again."""
        self.session.check()

    def action_hint(self) -> None:
        """Show the next hint of the criterion."""
        with self._told_errors():
            found = self.session.hint(self._criterion)
            if isinstance(found, str):
                self.notify(self._look.clean(found), markup=False)
            else:
                window = hint_window(self.session, found, self._look, self.size.width)
                self.push_screen(window, lambda more: self.action_hint() if more else None)

    def action_explore(self) -> None:
        """Run the functions on an example; what they give arrives as an event."""
        self.notify(self.session.explore())

    def action_show(self) -> None:
        """Show the step that the criterion belongs to; from there, all of the README."""

        def answered(more: bool | None) -> None:
            if more:
                self.push_screen(readme_window(self.session, self._look, self.size.width))

        with self._told_errors():
            self.push_screen(lesson_window(self.session, self._criterion, self._look, self.size.width), answered)

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
        """List the stages or, to search, stages and criteria."""

        def chosen(key: str | None) -> None:
            if key is not None:
                self._open(key)

        listed = choices(self.session.board, self._look, search)
        here, title = self.session.board.stage.id, "Search" if search else "Stages"
        self.push_screen(Choice(title, listed, search, here), chosen)

    def action_help(self) -> None:
        """Show what the keys do."""
        self.push_screen(TextWindow("Keys", help_text()))

    @on(OptionList.OptionSelected, "#rows")
    def action_edit(self) -> None:
        """Open the failing line in the editor; one that needs the terminal gets it until it ends."""
        with self._told_errors():
            file, line = self.session.board.place(self._criterion)
            how = opening(str(self.session.workspace.course.root / file), line, os.environ, shutil.which)
            if not how.in_terminal:
                started(how)
                return
            with self.suspend():
                subprocess.run(how.command, check=False)

    def _open(self, key: str) -> None:
        """Watch a stage, given by its id or as the stage of a criterion, stage/criterion."""
        name, _, criterion = key.partition("/")
        self._criterion = criterion or None
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
            said = self._look.clean(self._look.command(error_text(error)))
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
            self._panels.show(self._criterion)

    def _tick(self) -> None:
        if self.session.board.since is not None:
            self._refresh()


def watch(workspace: Workspace, stage: Stage, look: Look) -> None:
    """Watch until `q`."""
    Watching(partial(made, workspace, colour="NO_COLOR" not in os.environ), stage, look).run()
