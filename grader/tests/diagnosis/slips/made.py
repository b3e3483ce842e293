"""Every change of a small function with the text that it gives and what is said of it, for tests."""

from __future__ import annotations

import ast
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from grader.course.changes import replaced
from grader.course.stage import Stage
from grader.diagnosis.slips.schema import Change, Schema
from grader.diagnosis.slips.source import Source
from grader.diagnosis.slips.trace import Trace
from grader.diagnosis.slips.wording.clause import Clause
from grader.diagnosis.slips.wording.sentences import clause

NO_STAGE = cast(Stage, SimpleNamespace(readme_path=Path("no such page"), axes={}, criteria=()))


def source_of(text: str) -> Source:
    """Return a source without a stage; np is known in it."""
    module = types.ModuleType("small")
    exec(compile(f"import numpy as np\n{text}", "<small>", "exec"), module.__dict__)
    return Source(NO_STAGE, f"import numpy as np\n{text}", lambda: module, "<small>")


def lines_of(source: Source, call: str) -> set[int]:
    """Return the lines of a source that run in a call."""
    trace = Trace(source.file)
    with trace.running():
        eval(call, vars(source.module) | {"np": np})
    return trace.lines


def schema_of(source: Source, function: str, call: str) -> tuple[Schema, ast.FunctionDef]:
    """Return what changes a function, after a call that says what its names hold, and its changed definition."""
    trace = Trace(source.file)
    with trace.running():
        eval(call, vars(source.module) | {"np": np})
    schema = Schema(function, source.scope(function, trace))
    return schema, schema.definition(source.definitions[function])


def told(text: str, call: str) -> dict[str, list[Clause]]:
    """Return what is said of every change of a text's last function, by the function's text with that change."""
    source = source_of(text)
    function = list(source.definitions)[-1]
    schema, _ = schema_of(source, function, call)
    found: dict[str, list[Clause]] = {}
    for change in schema.changes:
        said = clause(change, source.vocabulary(function))
        if said is not None:
            changed = ast.unparse(ast.fix_missing_locations(applied(source.definitions[function], change)))
            found.setdefault(changed, []).append(said)
    return found


def applied(node: Any, change: Change) -> Any:
    """Return a definition with a change made in it, for good."""
    if isinstance(change.statement, ast.FunctionDef):
        return replaced(node, body=[change.new, *node.body])
    return _with(node, change)


def _with(node: Any, change: Change) -> Any:
    if node is change.old and not isinstance(change.new, list):
        return change.new
    fields: dict[str, Any] = {}
    for name, value in ast.iter_fields(node):
        if isinstance(value, list):
            is_place = isinstance(change.new, list) and any(item is change.old for item in value)
            items = [_with(item, change) if isinstance(item, ast.AST) else item for item in value]
            fields[name] = change.new if is_place and node is change.holder else items
        elif isinstance(value, ast.AST):
            fields[name] = _with(value, change)
    return replaced(node, **fields)
