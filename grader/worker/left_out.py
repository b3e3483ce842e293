"""Statements at a module's top level without which it is loaded: those that need a file, or check their own module.

What such a statement would have set becomes a stand-in, so that only the functions that use it fail.
"""

from __future__ import annotations

import ast
import types
import warnings

from grader.worker.stand_in import StandIn

MOST = 20  # statements of one module
MAKES = "__stand_in__"  # what the changed module calls a stand-in by


class LeftOut:
    """A module's text, and the statements that are left out of it so far."""

    def __init__(self, source: bytes, label: str) -> None:
        self._source, self._label = source, label
        self._reasons: dict[int, str] = {}  # by the line in which a statement begins

    def after(self, error: FileNotFoundError | AssertionError) -> types.CodeType:
        """Return the code of the module without the statement that raised; else raise the error again."""
        tree = ast.parse(self._source, self._label)
        statement = next((each for each in tree.body if _holds(each, _line(error, self._label))), None)
        if statement is None or len(self._reasons) >= MOST or not isinstance(statement, _LEFT_OUT):
            raise error
        self._reasons[statement.lineno] = _why(error, statement)
        warnings.warn_explicit(
            f"{self._reasons[statement.lineno]}: it is left out", UserWarning, self._label, statement.lineno
        )
        tree.body = [new for each in tree.body for new in self._without(each)]
        return compile(ast.fix_missing_locations(tree), self._label, "exec", dont_inherit=True)

    def _without(self, statement: ast.stmt) -> list[ast.stmt]:
        """Return a statement or, where it is left out, what takes its place."""
        if (why := self._reasons.get(statement.lineno)) is None or not isinstance(statement, _LEFT_OUT):
            return [statement]
        names = dict.fromkeys(
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )
        new: list[ast.stmt] = [ast.Pass()]
        if names:
            made = ast.ImportFrom(StandIn.__module__, [ast.alias("StandIn", MAKES)], 0)
            new = [made, *(_set(name, f"{name} is not there, because {why}") for name in names)]
        return [ast.copy_location(each, statement) for each in new]


_LEFT_OUT = (ast.Expr, ast.Assert, ast.Assign, ast.AnnAssign, ast.AugAssign, ast.With, ast.For, ast.If)


def _holds(statement: ast.stmt, line: int) -> bool:
    return statement.lineno <= line <= (statement.end_lineno or statement.lineno)


def _line(error: BaseException, label: str) -> int:
    """Return the line of the module's top level in which an exception came up; 0 where it did not come up there."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_filename == label and code.co_name == "<module>":
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def _why(error: FileNotFoundError | AssertionError, statement: ast.stmt) -> str:
    if isinstance(error, FileNotFoundError):
        return f"line {statement.lineno} needs the file {str(error.filename)[:100]!r}, which is not handed in"
    said = f": {str(error)[:100]}" if str(error) else ""
    return f"line {statement.lineno} asserts what is not so{said}"


def _set(name: str, why: str) -> ast.stmt:
    made = ast.Call(ast.Name(MAKES, ast.Load()), [ast.Constant(name), ast.Constant(why)], [])
    return ast.Assign([ast.Name(name, ast.Store())], made)
