"""Text that stays text for each thing that reads a report: logs, HTML, Markdown, workflow commands, spreadsheets.

A control character, a bidirectional mark and half a character are spelt out first, as in \\x1b, by layout.printable.
Sources: the runner of GitHub Actions (ActionCommand.cs) for workflow commands, CommonMark 0.31 for Markdown, XML 1.0,
OWASP's CSV Injection and RFC 4180 for CSV.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from grader.report.terminal.layout import printable
from grader.shell import typed

# The runner obeys '::' where a line begins, after blanks, but '##[' anywhere; other services read '##name['.
_LINE_COMMAND = r"(?m)^[^\S\n]*(:)(?=:)"
_ANY_COMMAND = r"#(#)(?=\w*\[)"
_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_COMMAND = r"`([^`\n]+)`"
_JOINT = r"(?<=\w)[_.]+(?=[^\W\d])"  # between the parts of a name, and not in a number


def obeyed(text: str) -> list[int]:
    """Return the places of the characters that make parts of a text commands to whoever reads a build's log."""
    return sorted(match.start(1) for rule in (_LINE_COMMAND, _ANY_COMMAND) for match in re.finditer(rule, text))


def spelt(character: str) -> str:
    r"""Return an ASCII character spelt out, as in \x3a."""
    return f"\\x{ord(character):02x}"


def plain(text: str) -> str:
    """Return text that neither a terminal nor a build's log obeys."""
    text = printable(text)
    for place in reversed(obeyed(text)):
        text = text[:place] + spelt(text[place]) + text[place + 1 :]
    return text


def joined(message: str) -> str:
    """Return the lines of a message as one, parted by a semicolon where a line ends without a mark.

    A line that only points at a place of the one above it is left out.

    >>> joined("line 1: invalid syntax\\n    def f(:\\n          ^")
    'line 1: invalid syntax; def f(:'
    """
    lines = [line.strip() for line in message.splitlines() if line.strip(" \t^~")]
    return " ".join([line if line[-1] in ".:;,?!" else f"{line};" for line in lines[:-1]] + lines[-1:])


def one_line(text: str) -> str:
    """Return plain text without line breaks."""
    return " ".join(plain(text).split("\n"))


def markup(text: str) -> str:
    """Return text for HTML, or for XML, between tags or in an attribute, in ASCII."""
    import html  # its table of all names of characters is of no use to a command that writes no page

    escaped = html.escape(plain(text)).replace("\n", "&#10;")
    return escaped.encode("ascii", "xmlcharrefreplace").decode()


def preformatted(text: str) -> str:
    """Return a block of Markdown that shows text as it is: Markdown, mentions and links are dead within its tags."""
    import html

    return f"<pre><code>{html.escape(plain(text), quote=False)}\n</code></pre>"


def code_span(text: str) -> str:
    """Return text on one line as a span of code, fenced by more backticks than it has in a row."""
    text = one_line(text)
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence} {text} {fence}"


def markdown(text: str) -> str:
    """Return text on one line that Markdown does not read: each ASCII sign becomes a character reference."""
    return re.sub(_PUNCTUATION, lambda sign: f"&#{ord(sign[0])};", one_line(text).strip())


def command_data(text: str) -> str:
    """Return text for the message of a workflow command."""
    return plain(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def command_property(text: str) -> str:
    """Return text for a property, such as the file, of a workflow command."""
    return command_data(text).replace(":", "%3A").replace(",", "%2C")


def commands(text: str, name: str | None = None) -> Any:
    """Return text in which a `command` is set as one, as it can be pasted here, or with another name of the grader."""
    from markupsafe import Markup, escape

    pieces = re.split(_COMMAND, printable(typed(text, name)))
    code = Markup("<code>{}</code>")  # format() escapes what is put in
    return Markup("").join(code.format(each) if place % 2 else escape(each) for place, each in enumerate(pieces))


def breakable(text: Any) -> Any:
    """Return text, or markup of `commands`, as HTML in which a name may go on in the next line behind `_` and `.`.

    >>> str(breakable("np.dot(a_b, 0.5)"))
    'np.<wbr>dot(a_<wbr>b, 0.5)'
    """
    from markupsafe import Markup, escape

    markup = text if isinstance(text, Markup) else escape(printable(str(text)))
    ends = [0, *(joint.end() for joint in re.finditer(_JOINT, markup)), len(markup)]
    return Markup("<wbr>").join(markup[start:end] for start, end in pairwise(ends))


Cell = str | int | float | None
_SIGNS = r"=+\-@＝＋－＠﹦﹢﹣﹫−"  # full-width and small forms are taken for the plain ones
_ENDS = r"\t\n\v\f\r\x85\u2028\u2029"  # of lines, and the separator that is no mark
_LEFT_OUT = r"\"' \xa0\u2000-\u200b\u202f\u3000\ufeff"  # quotes and blanks, which some readers remove
_NUMBER = rf" *[+\-] *(?:[0-9]*\.?[0-9]*(?:e[+\-]?[0-9]+)?)[\])}} ]*(?=[,{_ENDS}]|\Z)"  # or the sign alone: no formula
_FORMULA = rf"^(?=[{_ENDS}])|(?:^|(?<=[;|{_ENDS}])|(?<=,)(?!{_NUMBER}))(?=[{_LEFT_OUT}]*[{_SIGNS}])"


def csv_text(lines: Iterable[Sequence[Cell]]) -> str:
    r"""Return lines of cells as CSV; None and an empty text are an empty cell.

    >>> csv_text([("ada", "x;=1+1", 2.5, None)])
    '"ada","x;\'=1+1",2.5,\r\n'
    """
    return "".join(",".join(map(_written, line)) + "\r\n" for line in lines)


def _written(cell: Cell) -> str:
    if not isinstance(cell, str):
        return "" if cell is None else str(cell)
    text = re.sub(_FORMULA, "'", cell).replace('"', '""')
    return f'"{text}"' if text else ""
