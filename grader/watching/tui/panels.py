"""Puts a board on the screen: what is there already stays, so that nothing flickers or loses its place."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from rich.console import Console
from rich.text import Text
from textual.app import App
from textual.containers import VerticalScroll
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from grader.report.terminal.layout import Look
from grader.watching import telling
from grader.watching.board import Board
from grader.watching.session import Session

LEAST_WIDTH = 24
PANELS = ("#title", "#stages", "#rows", "#detail", "#told")

FEET = (
    "n next  p prev  h hint  e explore  s spec  o edit  d diff  r reset  l list  / find  ? help  q quit",
    "n next  p prev  h hint  e explore  s spec  o edit  l list  ? help  q quit",
    "n next  p prev  h hint  s spec  ? help  q quit",
    "h hint  ? help  q quit",
)  # the first is shown that fits


class Column(VerticalScroll):
    """What is told of a row; refit is called once it has another size, since its text is wrapped for its width."""

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
    """The title, the stages, the rows, and what is told of one."""

    def __init__(self, app: App[None], session: Session, look: Look) -> None:
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

    def show(self, row: str | None) -> None:
        """Show the board as it is now, and of its rows the chosen one or the first that does not pass."""
        board = self._session.board
        is_done = board.verdict is not None and board.verdict.passed
        self._app.set_class(is_done and not board.drawn, "done")  # little is to be told, so that the list has the room
        self._show_title()
        self._show_stages()
        self._show_rows(row)
        self._show_detail(row)

    def _base(self, where: str) -> Any:
        return self._app.screen_stack[0].query_one(where)  # other screens may lie over it

    def _show_title(self) -> None:
        board = self._session.board
        left = Text(self._look.clean(telling.title(board)), "bold")
        right = self._look.clean(telling.reached(board, self._look, time.monotonic()))
        room = self._app.size.width - 2 - left.cell_len
        self._put("#title", Text.assemble(left, right[: max(0, room - 2)].rjust(room)))

    def _show_stages(self) -> None:
        board = self._session.board
        lines = [(each.stage.id, telling.stage_line(each, self._look)) for each in board.standings]
        self._fill("#stages", lines, board.stage.id)

    def _show_rows(self, row: str | None) -> None:
        board = self._session.board
        if board.verdict is None or board.verdict.problem is not None:
            lines = [(each.id, Text(self._look.clean(f"  {each.text}"), "dim")) for each in board.stage.criteria]
        else:
            lines = [
                (each.id, telling.row_line(each, self._look, each.id in board.seen)) for each in board.verdict.criteria
            ]
        self._fill("#rows", lines, row or (board.first.id if board.first is not None else None))

    def _show_detail(self, row: str | None) -> None:
        board, look = self._session.board, Look(self.width, self._look.ascii, self._look.grader)
        lines = [Text(look.clean(board.note), "yellow"), Text("")] if board.note else []
        lines += telling.below(board, look, row)
        above = len(lines) + 1
        if board.drawn and (row is None or board.asked):
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


def choices(board: Board, look: Look, rows: bool) -> list[tuple[str, Text]]:
    """Return the stages and, where rows are wanted, too, those of each, by the key stage or stage/row."""
    stages = [(each.stage.id, telling.stage_line(each, look)) for each in board.standings]
    if not rows:
        return stages
    pairs = [(each.stage, row) for each in board.standings for row in each.stage.criteria]
    return [*stages, *((f"{s.id}/{row.id}", Text(look.clean(f"    {s.id} {row.text}"))) for s, row in pairs)]


def help_text() -> str:
    """Return what each key does."""
    lines = [f"  {key}   {what}" for key, what in telling.KEYS]
    more = ("Up and down choose a row, Enter opens its line.", "Tab moves between the columns.")
    return "\n".join([*lines, "", *more])


def foot(width: int) -> str:
    """Return the keys of the last line, as many as fit into so many columns."""
    return next((each for each in FEET if width > len(each) + 1), FEET[-1])
