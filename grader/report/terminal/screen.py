"""The standard streams: data to stdout, messages to stderr, and a progress line only where someone watches."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

from grader.errors import GraderError, OutputError
from grader.report.escape import obeyed, spelt
from grader.report.terminal.layout import Look, in_ascii, paragraph
from grader.shell import here

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

    from grader.outcome import Outcome


def prepare() -> None:
    """Let no character that a stream cannot encode stop the output, nor a stream that was closed before the start."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, _stand_in(name))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _stand_in(name: str) -> TextIO:
    """Return a stream in place of a closed one: stdin is empty, stdout fails when it is written to, stderr is lost.

    It also takes the number of the closed one, which the next file to be opened would get otherwise.
    """
    flags = os.O_WRONLY if name == "stderr" else os.O_RDONLY
    return open(os.open(os.devnull, flags), "r" if name == "stdin" else "w", encoding="utf-8")


def unwritten(failure: OSError) -> OutputError:
    """Return what a stdout that failed is told as, with a stdout that takes all in its place."""
    sys.stdout = io.StringIO()  # Python would try again, and complain, at the end
    why = f"stdout cannot be written to: {failure.strerror}"
    return OutputError(why, "Send the output to a place that takes it.")


README_WIDTH = 100
# Of 256 colours, which no settings change: they are read on light backgrounds and on dark ones.
READABLE = {"yellow": "color(166)", "cyan": "color(31)", "green": "#009400", "dim": "color(243)"}
LOG_SECONDS = 30.0
SEARCHING = "looking for the cause"


@contextmanager
def _written(error: bool) -> Iterator[None]:
    """Raise OutputError where stdout cannot be written to; a message that stderr cannot take is lost."""
    try:
        yield
    except BrokenPipeError:  # whoever read has seen enough
        raise
    except OSError as failure:
        if error:
            return
        raise unwritten(failure) from failure


def console(error: bool = False) -> Console:
    """Return a console that shows text as it is: no markup, no emoji codes, no highlighting, no wrapping of its own."""
    from rich.console import Console
    from rich.theme import Theme

    made = Console(stderr=error, markup=False, emoji=False, highlight=False, soft_wrap=True)
    if made.color_system in ("256", "truecolor") and not made.no_color:
        made.push_theme(Theme(READABLE))
    return made


def look(error: bool = False) -> Look:
    """Return what stdout, or stderr, can show."""
    stream = sys.stderr if error else sys.stdout
    size = console(error).size
    return Look(size.width, is_ascii(stream.encoding, os.environ), here(), size.height if stream.isatty() else None)


def is_ascii(encoding: str | None, environment: Mapping[str, str]) -> bool:
    """Say whether only ASCII can be shown: by encoding or, as Python takes the C locale for UTF-8, by locale."""
    locale = environment.get("LC_ALL") or environment.get("LANG") or ""
    return not (encoding or "").lower().startswith("utf") or locale in ("C", "POSIX")


def show(lines: list[Text], error: bool = False) -> None:
    """Print lines that are laid out already; what a build's log would obey is spelt out."""
    target = console(error)
    with _written(error):
        if lines:  # in one call: each of its own would be laid out anew
            target.print(*map(_inert, lines), sep="\n")


def _inert(line: Text) -> Text:
    from rich.text import Text

    for place in reversed(obeyed(line.plain)):
        line = line[:place] + Text(spelt(line.plain[place])) + line[place + 1 :]
    return line


def write(text: str, error: bool = False) -> None:
    """Print data as it is."""
    stream = sys.stderr if error else sys.stdout
    with _written(error):
        stream.write(text if text.endswith("\n") else f"{text}\n")
        stream.flush()


def show_markdown(text: str) -> None:
    """Print Markdown: on a terminal rendered, if it can show that, and in a pager; elsewhere as it is written."""
    view = look()
    text = view.clean(view.prose(text)) if view.ascii else text
    if not sys.stdout.isatty():
        write(text)
        return
    from grader.report.terminal.pager import Page, paged, pager

    target = console()
    with target.capture() as captured:
        target.print(Page(text), width=min(target.width, README_WIDTH), soft_wrap=False)
    shown = in_ascii(captured.get()) if view.ascii else captured.get()
    command = pager(os.environ)
    if command is None or not paged(shown, command):
        write(shown)


def say(message: str, hint: str | None = None, style: str = "") -> None:
    """Print a message, and below it what to do, to stderr."""
    view = look(error=True)
    lines = []
    for text, its_style in ((message, style), (hint, "")):
        for line in view.command(text).split("\n") if text else ():
            lines += paragraph(line, view, its_style, indent=0, hanging=2 if line.startswith("- ") else 0)
    show(lines, error=True)


def complain(error: GraderError) -> None:
    """Print an error and its hint to stderr."""
    say(f"error: {error.message}", f"hint: {error.hint}" if error.hint else None, "red")


@contextmanager
def ticking(name: str) -> Iterator[Ticker | None]:
    """Show a progress line on stderr while a stage is graded, if stderr is a terminal that can take a line back."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield None
        return
    ticker = Ticker(sys.stderr, name, look(error=True))
    try:
        yield ticker
    finally:
        ticker.clear()


@contextmanager
def counting(clock: Callable[[], float] = time.monotonic) -> Iterator[Callable[[int, int, str], None]]:
    """Count on stderr while many modules are graded: a bar on a terminal, elsewhere a line every half minute."""
    if not sys.stderr.isatty() or os.environ.get("TERM") == "dumb":
        yield _lines_now_and_then(clock)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    target = console(error=True)
    target.soft_wrap = False
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=target, transient=True) as progress:
        task = progress.add_task("starting", total=None)

        def count(done: int, total: int, name: str) -> None:
            progress.update(task, completed=done, total=total, description=name)

        yield count


def _lines_now_and_then(clock: Callable[[], float]) -> Callable[[int, int, str], None]:
    told = clock()

    def count(done: int, total: int, name: str) -> None:
        nonlocal told
        if clock() - told >= LOG_SECONDS:
            told = clock()
            say(f"{name}: {done} of {total} graded")

    return count


class Ticker:
    """Counts tests on one line; it keeps the stream, because pytest puts another in its place meanwhile."""

    def __init__(self, stream: TextIO, name: str, look: Look) -> None:
        self._stream = stream
        self._name = name
        self._look = look
        self._tests = 0
        self._draw("starting")

    def __call__(self, outcome: Outcome) -> None:
        self._tests += 1
        self._draw(f"{self._tests} {'test' if self._tests == 1 else 'tests'} · {outcome.criterion}")

    def search(self) -> None:
        """Say that the tests have ended, and that the cause of what failed is being looked for."""
        self._draw(SEARCHING)

    def clear(self) -> None:
        """Take the line back."""
        self._put("", end="\r")

    def _draw(self, what: str) -> None:
        self._put(self._look.clean(f"{self._name} · {what}"))

    def _put(self, text: str, end: str = "") -> None:
        width = self._look.width - 3  # room for the ^C that a terminal echoes
        self._stream.write(f"\r{text[:width]:<{width}}{end}")
        self._stream.flush()
