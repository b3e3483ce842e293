"""A README on a terminal: Markdown in so many columns, with nothing cut, and a pager for what is longer than a screen.

Rich lays it out. What is other than its own way: a table that is too wide becomes a list of its rows; a drawing that is
too wide comes closer together, column by column; code breaks at wide gaps, else at spaces, and its rest is indented; a
link shows its address once, and only if it leads out of the course.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.markdown import CodeBlock, Markdown, MarkdownElement, TableElement
from rich.measure import Measurement
from rich.padding import Padding
from rich.text import Text

from grader import shell

INDENT = 4
WIDEST = (1000, 8, 6, 5, 4, 3, 2)  # how wide a gap in a drawing may stay, until it fits
_GAP = re.compile(r"(?<=\S)(?<!^\.\.\.)(?: {3,}(?=[^\s=])|  (?=# ))")  # before a second equation, or a comment
FLAGS = "FRX"  # of less, as git sets them: quit where all fits on a screen, show colours, leave the screen as it is
PROMPT = "PsSpace goes on, b goes back, q leaves"  # of less, in place of a colon


class Listed(TableElement):
    """A table or, where its cells do not fit beside each other, a list: first cells, and below each the others."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for table in super().__rich_console__(console, options):
            if Measurement.get(console, options.update(max_width=10**4), table).maximum <= options.max_width:  # type: ignore[arg-type]
                yield table
            else:
                yield from self._rows()

    def _rows(self) -> Iterator[Padding]:
        header = self.header.row.cells if self.header is not None and self.header.row is not None else []
        names = [cell.content.plain for cell in header]
        for row in self.body.rows if self.body is not None else []:
            first, *others = row.cells
            yield Padding(Text.assemble(first.content, style="bold"), (1, 0, 0, 1))
            told = [(name, cell.content) for name, cell in zip(names[1:], others, strict=False) if cell.content.plain]
            for name, content in told:
                label = f"{name}: " if name and len(names) > 2 else ""
                yield Padding(Text.assemble((label, "dim"), content), (0, 0, 0, 1 + INDENT))


class Code(CodeBlock):
    """Lines of code, each as it is where it fits."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        width = options.max_width - 1
        lines = str(self.text).rstrip().split("\n")
        drawn = lines if self.lexer_name == "python" else narrowed(lines, width)
        lines = [piece for line in drawn for piece in broken(line, width)]
        code = Text("\n".join(lines), "cyan", no_wrap=True, overflow="ignore")
        yield Padding(code, (1, 0, 0, 1), expand=False)


class Page(Markdown):
    """Markdown with these elements and links."""

    elements: ClassVar[dict[str, type[MarkdownElement]]] = {
        **Markdown.elements,
        "table_open": Listed,
        "fence": Code,
        "code_block": Code,
    }

    def __init__(self, text: str) -> None:
        super().__init__(text, hyperlinks=False)
        known: set[str] = set()
        for token in self.parsed:
            if token.children:
                token.children = _with_new_links(token.children, known)


def _with_new_links(tokens: list[Any], known: set[str]) -> list[Any]:
    """Return tokens with the links that lead out of the course and are new; of others only the words stay."""
    kept: list[Any] = []
    open_links: list[bool] = []
    for number, token in enumerate(tokens):
        if token.type == "link_open":
            address = str(token.attrs.get("href", ""))
            words = tokens[number + 1].content if number + 1 < len(tokens) else ""
            shown = bool(re.match(r"[a-z]+:", address)) and address not in (*known, words)
            known.add(address)
            open_links.append(shown)
            if not shown:
                continue
        elif token.type == "link_close" and not open_links.pop():
            continue
        kept.append(token)
    return kept


def narrowed(lines: list[str], width: int) -> list[str]:
    """Return the lines of a drawing with the blank columns between its parts made fewer, as far as it takes to fit.

    What stands below each other stays below each other. If all of it does not fit, its paragraphs are looked at one by
    one, and what still does not fit is left with gaps at which its lines can be broken.

    >>> narrowed(["a = b          (n, m)", "c = d + e      (n,)"], 18)
    ['a = b       (n, m)', 'c = d + e   (n,)']
    """
    for gap in WIDEST if len(lines) > 1 else WIDEST[:1]:
        closer = _closer(lines, gap)
        if max(map(cell_len, closer), default=0) <= width:
            return closer
    if "" in lines:
        place = lines.index("")
        return [*narrowed(lines[:place], width), "", *narrowed(lines[place + 1 :], width)]
    return lines if len(lines) < 2 else _closer(lines, 3)


def _closer(lines: list[str], widest: int) -> list[str]:
    """Return lines of which no column of blanks that they have in common, but for the first, is wider than that."""
    grid = [re.findall(r".[\u0300-\u036f]*", line) for line in lines]
    columns = range(max(map(len, grid), default=0))
    blank = "".join(" " if all(row[c : c + 1] in ([], [" "]) for row in grid) else "x" for c in columns)
    dropped: set[int] = set()
    for found in re.finditer(r"(?<=x) +", blank):
        dropped.update(range(found.start() + widest, found.end()))
    return ["".join(row[c] for c in columns if c < len(row) and c not in dropped).rstrip() for row in grid]


def broken(line: str, width: int) -> list[str]:
    """Return a line of code in pieces that fit, broken at gaps, else at spaces, later ones indented below the first.

    >>> broken("  first(second, third)", 16)
    ['  first(second,', '      third)']
    >>> broken("a = b + c          d = e", 20)
    ['a = b + c', '    d = e']
    """
    pieces: list[str] = []
    indent = len(line) - len(line.lstrip())
    while len(line) > width:
        start = (indent + INDENT if pieces else indent) + 1
        gaps = [gap.start() for gap in _GAP.finditer(line) if start <= gap.start() <= width]
        place = gaps[-1] if gaps else line.rfind(" ", start, width + 1)
        if place < 0:
            break  # one word: the terminal breaks it, and nothing is lost
        pieces.append(line[:place])
        line = " " * (indent + INDENT) + line[place + 1 :].lstrip()
    return [*pieces, line]


def pager(environment: Mapping[str, str], which: Callable[[str], str | None] = shutil.which) -> list[str] | None:
    """Return the command of the pager, as git finds it: $PAGER, else less; None where none is wanted or found."""
    try:
        words = shell.split(environment.get("PAGER", "less"))
    except ValueError:
        return None
    unwanted = not words or words == ["cat"] or shell.is_dumb(environment.get("TERM"))
    return None if unwanted or which(words[0]) is None else words


def paged(text: str, command: list[str]) -> bool:
    """Show text in a pager and wait for its end; False where it cannot be started."""
    environment = {"LESS": FLAGS + PROMPT, "LV": "-c", **os.environ}
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the pager's, as long as it runs
    try:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, env=environment)
        process.communicate(text.encode("utf-8", "backslashreplace"))  # one that is left early takes less
        return True
    except OSError:
        return False
    finally:
        signal.signal(signal.SIGINT, before)
