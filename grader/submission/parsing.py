"""From a module's bytes to its syntax tree, or to the problem that stands in the way of grading it."""

from __future__ import annotations

import ast
import codecs
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal


@dataclass(frozen=True)
class Problem:
    """Why a learner's module cannot be graded as it is; the message stands alone, hint says what to do.

    absent says that what was handed in holds none for this stage.
    """

    kind: Literal["syntax", "encoding", "forbidden", "import", "import-error", "missing", "waits", "locked"]
    message: str
    line: int | None
    hint: str | None
    absent: bool = False


@dataclass(frozen=True)
class SourceFindings:
    """What a module's text tells against it: one problem with the whole, or with each function that reaches one.

    forbidden is the first thing that the module uses and that its stage forbids, whether or not a function of the
    stage reaches it. stood_in are the packages that it imports and that are not there.
    """

    problem: Problem | None = None
    refused: Mapping[str, Problem] = field(default_factory=dict)
    forbidden: Problem | None = None
    stood_in: tuple[str, ...] = ()

    @property
    def first(self) -> Problem | None:
        """Any reason to refuse the module, for those who take it whole or not at all."""
        return self.problem or self.forbidden


def clean(text: str) -> str:
    """A learner's text as a terminal can show it, character for character."""
    return "".join(char if char.isprintable() else " " for char in text)


def clipped(name: str) -> str:
    """A learner's name or message, cut where it would fill the screen."""
    return name if len(name) <= 80 else f"{name[:79]}…"


# Codecs in C that take time in proportion to the text. Others may not: punycode takes minutes for a megabyte.
_QUICK = frozenset({"utf-8", "ascii", "iso8859-1", "iso8859-15", "cp1252"})


def decoded(source: bytes) -> str | Problem:
    """The text with \\n at the end of each line, whatever the file has there."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _encoding_problem("the file is saved as UTF-16", 1)
    if b"\0" in source:
        return _null_problem(_line_at(source, source.index(b"\0")))
    try:
        text = with_newlines(source.decode(_declared(source)))
    except UnicodeDecodeError as error:
        line = _line_at(source, error.start)
        what = f"line {line} holds a byte (0x{source[error.start]:02x}) that is not {error.encoding.upper()} text"
        return _encoding_problem(what, line)
    except (SyntaxError, LookupError, UnicodeError) as error:
        what = f"the encoding that the file declares cannot be used: {clipped(clean(str(error)))}"
        return _encoding_problem(what, 1)
    if "\0" in text:  # UTF-7 and others can spell one without a null byte
        return _null_problem(text.count("\n", 0, text.index("\0")) + 1)
    return text


def shown_text(source: bytes) -> str:
    """The text of a module; of one that cannot be read, with signs in the place of what is no UTF-8."""
    text = decoded(source) if quick_to_decode(source) else None
    return text if isinstance(text, str) else with_newlines(source.decode("utf-8", "replace"))


def lines_of(source: bytes) -> list[str]:
    """The lines of a module as Python counts them, to which a form feed is a sign like another."""
    return shown_text(source).split("\n")


def quick_to_decode(source: bytes) -> bool:
    """Say whether the declared encoding is one that takes no time to speak of; so is one that does not exist."""
    try:
        return codecs.lookup(_declared(source).removesuffix("-sig")).name in _QUICK
    except (SyntaxError, LookupError, UnicodeError):
        return True


def with_newlines(text: str) -> str:
    """The text with each line end made \\n, as Python's tokenizer does before anything else."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _declared(source: bytes) -> str:
    """The name of the encoding; the first two lines are those that Python sees, also where they end in \\r."""
    lines = source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    try:
        return tokenize.detect_encoding(io.BytesIO(lines).readline)[0]
    except SyntaxError:
        source.decode()  # a bad byte says more than "invalid or missing encoding declaration"
        raise


def _null_problem(line: int) -> Problem:
    return _encoding_problem(f"line {line} holds a null byte, which no Python text has", line)


def _encoding_problem(message: str, line: int) -> Problem:
    return Problem("encoding", message, line, "Save the file as UTF-8.")


def _line_at(source: bytes, position: int) -> int:
    return len(re.findall(rb"\r\n|\r|\n", source[:position])) + 1


Version = tuple[int, int]
LONGEST = 500  # characters of a line that is looked at: fields of f-strings may stand within each other
_PREFIX = re.compile(r"[A-Za-z]{0,2}$")
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Newer:
    """A construct that a newer Python reads: since which version, the same line without it, and what to write."""

    since: Version
    line: str
    instead: str


def newer_syntax(text: str, number: int, running: Version = sys.version_info[:2]) -> Newer | None:
    """Return what a newer Python would read in a line, counted from 1, at which the running one stops; else None.

    It is told only where the running Python gets past the line once the construct is gone.
    """
    lines = text.split("\n")
    if len(lines[number - 1]) > LONGEST:
        return None
    for find in (_type_alias, _type_parameters, _bare_types, _template, _f_string):
        found = find(lines[number - 1])
        if (
            found is not None
            and found.since > running
            and _reads([*lines[: number - 1], found.line, *lines[number:]], number)
        ):
            return found
    return None


def _reads(lines: list[str], number: int) -> bool:
    """Say whether the running Python gets past a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return error.lineno is not None and error.lineno > number
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


def _type_alias(line: str) -> Newer | None:
    found = re.match(r"(\s*)type\s+([^\W\d]\w*)\s*(?:\[.*?\]\s*)?=(?!=)(.*)", line)
    return found and Newer((3, 12), f"{found[1]}{found[2]} ={found[3]}", f"Write `{found[2]} =` without `type`.")


def _type_parameters(line: str) -> Newer | None:
    found = re.match(r"(\s*(?:async\s+)?(?:def|class)\s+([^\W\d]\w*))\s*\[(.*?)\](?=\s*[(:])(.*)", line)
    if found is None:
        return None
    since = (3, 13) if "=" in found[3] else (3, 12)
    return Newer(since, f"{found[1]}{found[4]}", f"Write `{found[2]}` without the type parameters in brackets.")


def _bare_types(line: str) -> Newer | None:
    found = re.match(r"(\s*except\*?\s+)([\w.]+(?:\s*,\s*[\w.]+)+)\s*(:.*)", line)
    return found and Newer(
        (3, 14), f"{found[1]}({found[2]}){found[3]}", f"Write the types in parentheses: `({found[2]})`."
    )


def _template(line: str) -> Newer | None:
    def change(prefix: str, whole: str) -> str | None:
        return f"f{whole[len(prefix) :]}" if prefix.lower() in ("t", "tr", "rt") else None

    changed = _changed(line, change)
    return None if changed is None else Newer((3, 14), changed, "Write an f-string, which makes the text at once.")


def _f_string(line: str) -> Newer | None:
    def change(prefix: str, whole: str) -> str | None:
        return '""' if "f" in prefix.lower() else None

    changed = _changed(line, change)
    instead = "Give what stands in the braces a name on a line before, or use the other quotes there."
    return None if changed is None else Newer((3, 12), changed, instead)


def _changed(line: str, change: Callable[[str, str], str | None]) -> str | None:
    """Return a line with its strings changed, each by prefix and whole text; None where none is, or one has no end."""
    made, place, is_changed = "", 0, False
    while place < len(line):
        if line[place] == "#":
            return made + line[place:] if is_changed else None
        if line[place] not in "'\"":
            made, place = made + line[place], place + 1
            continue
        found = _PREFIX.search(made)
        prefix = found[0] if found is not None else ""
        end = _end(line, place, any(each in "fFtT" for each in prefix))
        if end is None:
            return None
        now = change(prefix, prefix + line[place:end])
        is_changed = is_changed or now is not None
        made = made[: len(made) - len(prefix)] + (prefix + line[place:end] if now is None else now)
        place = end
    return made if is_changed else None


def _end(line: str, start: int, is_format: bool) -> int | None:
    """Return where the string that begins at a place ends, as Python 3.12 reads it; None where it does not."""
    quote = line[start] * 3 if line.startswith(line[start] * 3, start) else line[start]
    place = start + len(quote)
    while place < len(line):
        if line.startswith(quote, place):
            return place + len(quote)
        if is_format and line[place] == "{" and not line.startswith("{{", place):
            after = _end_of_field(line, place + 1)
            if after is None:
                return None
            place = after
        else:
            place += 2 if line[place] == "\\" or line.startswith("{{", place) else 1
    return None


def _end_of_field(line: str, place: int) -> int | None:
    """Return the place after the brace that closes a replacement field."""
    depth = 0
    while place < len(line):
        char = line[place]
        if char in "'\"":
            found = _PREFIX.search(line[:place])
            end = _end(line, place, found is not None and any(each in "fFtT" for each in found[0]))
            if end is None:
                return None
            place = end
            continue
        if char in _CLOSING and depth == 0:
            return place + 1
        depth += (char in _OPENING) - (char in _CLOSING)
        place += 1
    return None


_WIDTH = 70  # of a quoted line, which is indented twice on 80 columns
_INDENTATION = "The lines of one block begin in the same column; indent by four spaces."
_TABS = "Tabs and spaces are mixed; indent by four spaces everywhere."
_FENCE = "Delete this line: it is a fence of Markdown, which came along when the code was copied."
TOO_DEEP = Problem("syntax", "an expression or block is nested too deeply for Python to read", None, None)


def parsed(text: str) -> ast.Module | Problem:
    """The tree of a text whose lines end in \\n; the compiler is asked too, since parsing misses a stray return."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(text, "<submission>")
            compile(tree, "<submission>", "exec", dont_inherit=True)
    except SyntaxError as error:
        return _syntax_problem(error, text)
    except (RecursionError, MemoryError):
        return TOO_DEEP
    except (ValueError, OverflowError, SystemError) as error:
        return Problem("syntax", f"Python cannot read this module: {clipped(clean(str(error)))}", None, None)
    return tree


def is_python(text: str) -> bool:
    """Say whether Python can compile a text, without a tree and without a word on why not."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(text, "<submission>", "exec", dont_inherit=True)
    except (SyntaxError, RecursionError, MemoryError, ValueError, OverflowError, SystemError):
        return False
    return True


def without_main_block(tree: ast.Module) -> ast.Module:
    """The tree without what stands under `if __name__ == "__main__":`, which never runs in a check."""
    body: list[ast.stmt] = []
    for statement in tree.body:
        match statement:
            case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), orelse=otherwise):
                body += otherwise if _is_main(left, right) or _is_main(right, left) else [statement]
            case _:
                body.append(statement)
    return ast.Module(body, tree.type_ignores)


def _is_main(name: ast.expr, value: ast.expr) -> bool:
    match name, value:
        case ast.Name(id="__name__"), ast.Constant(value="__main__"):
            return True
    return False


def _syntax_problem(error: SyntaxError, text: str) -> Problem:
    hint = _TABS if isinstance(error, TabError) else _INDENTATION if isinstance(error, IndentationError) else None
    what = clean(error.msg)
    what = what if len(what) <= 200 else f"{what[:199]}…"  # it may quote a name of any length
    lines = text.split("\n")
    if not error.lineno or error.lineno > len(lines):
        return Problem("syntax", what, error.lineno, hint)
    quoted = _quoted(lines[error.lineno - 1], (error.offset or 1) - 1)
    if lines[error.lineno - 1].lstrip().startswith("```"):
        hint = _FENCE
    if (newer := newer_syntax(text, error.lineno)) is not None:
        needed, running = (f"{major}.{minor}" for major, minor in (newer.since, sys.version_info[:2]))
        what = f"Python {needed} or newer reads this syntax, and Python {running} runs here"
        hint = newer.instead
    return Problem("syntax", f"line {error.lineno}: {what}\n{quoted}", error.lineno, hint)


def _quoted(line: str, column: int) -> str:
    """The learner's line with a caret below the column; of a long line, the part around it."""
    indent = len(line) - len(line.lstrip())
    column = min(max(column, indent), len(line))
    start = indent if column - indent < _WIDTH else column - _WIDTH // 2
    return f"    {clean(line[start : start + _WIDTH]).rstrip()}\n    {' ' * (column - start)}^"


def and_more(count: int) -> str:
    """How many others there are, in brackets; nothing where there are none."""
    return f" (and {count} more)" if count else ""


def imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names that an import statement names; a relative one begins with its dots."""
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.Import):
        return names
    module = "." * node.level + (f"{node.module}." if node.module else "")
    return [module + name for name in names]


def root(path: str) -> str:
    """The first part of a dotted name."""
    return path.partition(".")[0]


def bound_names(node: ast.AST) -> list[str]:
    """Return the names that a definition, an import or a name that is stored binds; of anything else none."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return [alias.asname or root(alias.name) for alias in aliases]
        case ast.Name(id=name, ctx=ast.Store()):
            return [name]
    return []
