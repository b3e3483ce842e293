"""Show a recorded call to the learner who wrote the function: names, shapes with their axes, small values."""

from __future__ import annotations

import ast
import inspect
import itertools
import reprlib
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from grader.course.stage import Stage
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record
from grader.submission.source import plain_text

SHORT = 30  # characters of a value that is shown rather than described
FEW, LINE = 6, 48  # values of an array that are shown, where that takes no more characters
ENTRIES = 4  # of a dict that are shown
LEVELS = 3  # of dicts in dicts that are shown
_BRIEF = reprlib.Repr()  # as much of each value as SHORT characters may show: a value may be large, and unfold to more
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxset = _BRIEF.maxfrozenset = _BRIEF.maxdict = SHORT
_BRIEF.maxstring = _BRIEF.maxlong = _BRIEF.maxother = 3 * SHORT
DEEPEST = 4  # containers in one another that are looked into
IN_PLACE = " was changed in place: "


def last_call(records: list[Record]) -> Record | None:
    """Return the last call of a function, class or method among the requests of a test."""
    return next((record for record in reversed(records) if record.kind in ("call", "traced")), None)


def described(record: Record, stage: Stage, reference: object) -> str:
    """Return a call as text: scaled(x: float64 (batch 2, features 8), factor=2)."""
    axes = stage.axes.get(record.label, {})
    names = parameter_names(reference, record.label)
    parts = []
    for position, value in enumerate(record.args):
        name = names[position] if position < len(names) else f"argument {position + 1}"
        parts.append(_argument(name, value, axes.get(name, ())))
    parts += [_argument(name, value, axes.get(name, ())) for name, value in record.kwargs.items()]
    return f"{record.label}({', '.join(parts)})"


def parameter_names(reference: object, label: str) -> list[str]:
    """Return the parameters of the reference's function, class or method of that name, without self."""
    target: Any = reference
    for part in label.split("."):
        target = getattr(target, part, None)
    try:
        names = list(inspect.signature(target).parameters)
    except (TypeError, ValueError):
        return []
    return names[1:] if names[:1] == ["self"] else names


def _argument(name: str, value: Any, axes: tuple[str, ...]) -> str:
    text = short(value, axes)
    return f"{name}: {text}" if isinstance(value, np.ndarray) else f"{name}={text}"


def short(value: Any, axes: tuple[str, ...] = (), level: int = 0) -> str:
    """Return a value in a few words: an array by dtype and shape, a small one by its values."""
    if isinstance(value, np.ndarray):
        named = len(axes) == value.ndim
        sizes = (
            [f"{axis} {size}" for axis, size in zip(axes, value.shape, strict=True)]
            if named
            else list(map(str, value.shape))
        )
        shape = f"{value.dtype} ({', '.join(sizes)}{',' if len(sizes) == 1 and not named else ''})"
        return f"{shape} {_few(value)}".rstrip()
    if isinstance(value, RemoteValue):
        return str(value.__dict__["_shown"])
    if isinstance(value, np.random.Generator):
        return "a random generator"
    if isinstance(value, (list, tuple)) and any(isinstance(item, (np.ndarray, list, tuple)) for item in value):
        return f"{type(value).__name__} of {len(value)}"
    if isinstance(value, Mapping):
        if level == LEVELS and value:
            return "{…}"
        first = itertools.islice(value.items(), ENTRIES)
        entries = [f"{_brief(key)}: {short(item, (), level + 1)}" for key, item in first]
        return "{" + ", ".join(entries + ["…"] * (len(value) > ENTRIES)) + "}"
    if isinstance(value, Callable):  # type: ignore[arg-type]
        name = str(getattr(value, "__name__", "a function"))
        return "<a lambda>" if name == "<lambda>" else f"<{name}>"
    return _brief(value.item() if isinstance(value, np.generic) else value)


def _brief(value: Any) -> str:
    text = _BRIEF.repr(value)
    return text if len(text) <= SHORT else f"{text[: SHORT - 1]}…"


def _few(value: np.ndarray[Any, Any]) -> str:
    """Return the values of a small array of plain numbers: [0.5, nan]; else nothing."""
    if value.size > FEW or value.ndim == 0 or value.dtype.kind not in "biuf":
        return ""

    def numbers(items: Any) -> str:
        if isinstance(items, list):
            return f"[{', '.join(map(numbers, items))}]"
        return f"{items:.6g}" if isinstance(items, float) else str(items)

    text = numbers(value.tolist())
    return text if len(text) <= LINE else ""


def definition_lines(source: bytes) -> dict[str, int]:
    """Return the line of each function, class and method of a plain module: {"Layer.forward": 142}."""
    lines: dict[str, int] = {}

    def visit(nodes: list[ast.stmt], prefix: str) -> None:
        for node in nodes:
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                lines[prefix + node.name] = node.lineno
                if isinstance(node, ast.ClassDef):
                    visit(node.body, f"{prefix}{node.name}.")

    text = plain_text(source)  # of another, reading it here may take too long
    if text is None:
        return {}
    try:
        visit(ast.parse(text).body, "")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    return lines


def changed_argument(records: list[Record], reference: object) -> str:
    """Return what is told of a test whose calls changed what they were given; nothing where none did."""
    record = next((record for record in records if record.changed), None)
    if record is None:
        return ""
    names = [name for each in record.touched if (name := parameter(record, each, reference))]
    what = f"its argument {names[0]}" if names else "an argument"
    return f"{record.label} changed {what} in place; it is meant to leave it as it was"


def with_parameter(text: str, value: object, records: list[Record], reference: object) -> str:
    """Return a message about a value that was changed in place, with the parameter that it was passed as."""
    _, middle, rest = text.partition(IN_PLACE)
    for record in reversed(records):
        if middle and any(each is value for each in record.touched):
            name = parameter(record, value, reference)
            return f"{name}{IN_PLACE}{rest}" if name else text
    return text


def parameter(record: Record, value: object, reference: object) -> str:
    """Return the name of the parameter that a value was passed as, alone or within a container; empty where unknown."""
    names = parameter_names(reference, record.label)
    for position, given in enumerate(record.given):
        if _holds(given, value):
            return names[position] if position < len(names) else ""
    return next((name for name, given in record.given_by_name.items() if _holds(given, value)), "")


def _holds(given: Any, value: object, depth: int = 0) -> bool:
    if given is value:
        return True
    if depth == DEEPEST or not isinstance(given, (list, tuple, dict)):
        return False
    return any(_holds(each, value, depth + 1) for each in (given.values() if isinstance(given, dict) else given))
