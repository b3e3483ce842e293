"""From a module's text to its syntax tree, or to the place where Python stops reading."""

from __future__ import annotations

import ast
import sys
import warnings

from grader.submission.source.newer import newer_syntax
from grader.submission.source.problem import Problem, clean, clipped

_WIDTH = 70  # of a quoted line, which is indented twice on 80 columns
_INDENTATION = "The lines of one block begin in the same column; indent by four spaces."
_TABS = "Tabs and spaces are mixed; indent by four spaces everywhere."
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
