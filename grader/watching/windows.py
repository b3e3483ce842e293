"""The windows over the screen: something to read, a question, and a list to choose from."""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar, Generic, TypeVar

from rich.console import Console
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Markdown, OptionList, Static
from textual.widgets.option_list import Option

from grader.progress.hints import Hint
from grader.report.terminal.beside import comparison_lines
from grader.report.terminal.layout import Look, in_ascii
from grader.report.terminal.overview import hint_title, hint_told
from grader.report.terminal.pager import Page
from grader.watching import board_lines
from grader.watching.session import WatchSession

Value = TypeVar("Value")


class Window(ModalScreen[Value], Generic[Value]):
    """A window over the screen, which closes once, however often the keys that close it arrive."""

    def leave(self, value: Value) -> None:
        """Close it with a value; where it is closed already, do nothing."""
        if self.app.screen is self:
            self.dismiss(value)


class TextWindow(Window[bool]):
    """Something to read; Escape or q closes it, and ? again, which opens the help.

    Where there is more, a key asks for it: its value is then True. more is that key, and what it leads to. fits makes
    the window only as high as its text, which is wrapped already.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "close", "close"),
        Binding("h", "go_on('h')", show=False),
        Binding("s", "go_on('s')", show=False),
        Binding("down,j", "scroll(1)", show=False),
        Binding("up,k", "scroll(-1)", show=False),
        Binding("pagedown,space", "scroll(10)", show=False),
        Binding("pageup,b", "scroll(-10)", show=False),
    ]

    def __init__(
        self,
        title: str,
        text: Text | str,
        markdown: bool = False,
        more: tuple[str, str] = ("", ""),
        wide: bool = False,
        fits: bool = False,
    ) -> None:
        super().__init__(classes="wide" if wide else None)
        self._fits = fits
        self._more = more
        self._title = title
        self._text = text
        self._markdown = markdown

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(Text(self._title, "bold"), classes="window-title")
            with VerticalScroll(id="reading"):
                if self._markdown:
                    yield Markdown(str(self._text), open_links=False)
                else:
                    yield Static(self._text)
            foot = "Escape closes this; arrow keys and Space scroll."
            key, what = self._more
            yield Static(Text(f"{key}: {what}. {foot}" if key else foot, "dim"), classes="window-foot")

    def on_mount(self) -> None:
        """Let arrow keys scroll at once, and make the window that fits its text as high as that."""
        self.query_one("#reading").focus()
        if self._fits:
            title = -(-len(self._title) // _usual(self.app.size.width))
            self.query_one(".window").styles.height = str(self._text).count("\n") + 1 + title + FRAME_LINES

    def action_close(self) -> None:
        """Close it."""
        self.leave(False)

    def action_go_on(self, key: str) -> None:
        """Ask for more, where this is the key for it."""
        if key == self._more[0]:
            self.leave(True)

    def action_scroll(self, lines: int) -> None:
        """Scroll by so many lines."""
        self.query_one("#reading").scroll_relative(y=lines, animate=False)


class Question(Window[bool]):
    """A question that is answered with y; any other key means no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape,q,enter", "answer(False)", "no"),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="window question"):
            yield Static(Text(self._text))
            yield Static(Text("y: yes    n: no", "bold"), classes="window-foot")

    def action_answer(self, yes: bool) -> None:
        """Give the answer."""
        self.leave(yes)


class Choice(Window[str | None]):
    """A list to choose from, narrowed by what is typed; its value is the key of what was chosen. It begins at here."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "close", "close"),
        Binding("down", "move(1)", show=False, priority=True),
        Binding("up", "move(-1)", show=False, priority=True),
    ]

    def __init__(self, title: str, choices: list[tuple[str, Text]], search: bool, here: str = "") -> None:
        super().__init__()
        self._title = title
        self._choices = choices
        self._search = search
        self._here = here

    def compose(self) -> ComposeResult:
        with Vertical(classes="window"):
            yield Static(Text(self._title, "bold"), classes="window-title")
            if self._search:
                yield Input(placeholder="type a part of the name")
            yield OptionList(*self._options(""), id="choices")
            yield Static(Text("Enter opens, Escape closes this.", "dim"), classes="window-foot")

    def on_mount(self) -> None:
        """Begin in the field, if there is one."""
        self.query_one("Input" if self._search else "#choices").focus()
        keys = [key for key, _ in self._choices]
        if self._here in keys:
            self.query_one("#choices", OptionList).highlighted = keys.index(self._here)

    @on(Input.Changed)
    def narrow(self, event: Input.Changed) -> None:
        """Show what contains the text."""
        choices = self.query_one("#choices", OptionList)
        choices.clear_options()
        found = self._options(event.value)
        choices.add_options(found or [Option(Text(f'Nothing here is called "{event.value}".', "dim"), disabled=True)])
        choices.highlighted = 0 if found else None

    @on(Input.Submitted)
    def entered(self) -> None:
        """Take what is highlighted, by default the first."""
        choices = self.query_one("#choices", OptionList)
        if choices.highlighted is not None:
            self.leave(choices.get_option_at_index(choices.highlighted).id)

    @on(OptionList.OptionSelected)
    def chosen(self, event: OptionList.OptionSelected) -> None:
        """Take what was chosen."""
        self.leave(event.option_id)

    def action_close(self) -> None:
        """Choose nothing."""
        self.leave(None)

    def action_move(self, by: int) -> None:
        """Move in the list, also while something is typed."""
        choices = self.query_one("#choices", OptionList)
        choices.action_cursor_down() if by > 0 else choices.action_cursor_up()

    def _options(self, part: str) -> list[Option]:
        return [Option(text, id=key) for key, text in self._choices if part.lower() in f"{key} {text.plain}".lower()]


USUAL_SHARE, MOST_COLUMNS = 0.9, 110  # of the screen, that any other window takes
SHARE, FRAME = 0.98, 8  # of the screen, that a wide window takes; columns of border, padding and scroll bar
FRAME_LINES = 4  # of border and foot


def _usual(columns: int) -> int:
    """Return how wide a text is in a usual window, on a screen of so many columns."""
    return min(int(columns * USUAL_SHARE), MOST_COLUMNS) - FRAME


def hint_window(session: WatchSession, hint: Hint, look: Look, columns: int) -> TextWindow:
    """Return a hint, with what the last check found; h asks for the next one."""
    goes_on = not hint.is_fix and (hint.number < hint.total or hint.has_fix)
    more = ("h", "the next hint") if goes_on else ("", "")
    text = Text("\n").join(hint_told(session.board.stage, hint, replace(look, width=_usual(columns))))
    return TextWindow(look.clean(hint_title(session.board.stage, hint)), text, more=more, fits=True)


def lesson_window(session: WatchSession, criterion: str | None, look: Look, columns: int) -> TextWindow:
    """Return a criterion's step; s asks for all of the README. It is all of it where no step is meant."""
    text = session.lesson(criterion)
    more = ("s", "all of the page") if text != session.readme() else ("", "")
    return _page(board_lines.title(session.board), text, look, columns, more)


def readme_window(session: WatchSession, look: Look, columns: int) -> TextWindow:
    """Return all of the README."""
    return _page(board_lines.title(session.board), session.readme(), look, columns)


def _page(title: str, text: str, look: Look, columns: int, more: tuple[str, str] = ("", "")) -> TextWindow:
    """Return Markdown, in ASCII laid out here: Textual draws its tables with other signs."""
    if not look.ascii:
        return TextWindow(title, text, markdown=True, more=more)
    console = Console(width=_usual(columns), color_system=None)
    with console.capture() as captured:
        console.print(Page(look.clean(look.prose(text))))
    return TextWindow(look.clean(title), in_ascii(captured.get()), more=more)


def comparison_window(session: WatchSession, look: Look, columns: int) -> TextWindow:
    """Return the module beside the reference, on a screen of so many columns."""
    found = comparison_lines(session.compared(), replace(look, width=int(columns * SHARE) - FRAME))
    return TextWindow("yours beside the reference", Text("\n").join(found), wide=True)
