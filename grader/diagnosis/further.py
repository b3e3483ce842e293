"""Further calls of a plain function: those of the tests with one argument changed, where right modules agree.

Many edits give the plain answers that the tests ask for. One that breaks what was right in another call, or leaves much
of the others wrong, is a coincidence.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from grader.diagnosis.checks import Check
from grader.diagnosis.module_text import ModuleText
from grader.diagnosis.search import right_answer

MOST = 24  # further calls
MOST_OF_ONE = 6  # of one call of a test
MOST_RIGHT = 3  # right modules that are asked


def further(checks: Sequence[Check], rights: Sequence[ModuleText]) -> list[Check]:
    """Return calls like some calls, with the answers on which right modules agree; without calls that these refuse."""
    found: list[Check] = []
    seen = {repr(each.last.args) for each in checks}
    for each in checks:
        if len(each.records) > 1 or each.last.kind != "call" or not each.is_plain:
            continue
        for args in islice(_changed(each.last.args), MOST_OF_ONE):
            if repr(args) in seen or len(found) == MOST:
                continue
            seen.add(repr(args))
            check = _asked(each, args, rights)
            if check is not None:
                found.append(check)
    return found


def _asked(check: Check, args: tuple[Any, ...], rights: Sequence[ModuleText]) -> Check | None:
    record = copy.copy(check.last)
    record.args = record.given = args
    record.error, record.result, record.returned = None, None, None
    made = Check(check.stage, check.outcome, [record], check.names, [[record]])
    answers = [right_answer(each, made) for each in rights[:MOST_RIGHT]]
    if None in answers or len({repr(each) for each in answers}) != 1 or answers[0] is None:
        return None
    right = copy.copy(record)
    right.result = answers[0][0]
    return Check(check.stage, check.outcome, [record], check.names, [[right]])


def _changed(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield arguments with one of them changed, each in turn."""
    waiting = [(place, _near(value)) for place, value in enumerate(args)]
    while waiting:
        left = []
        for place, values in waiting:
            for value in islice(values, 1):
                yield (*args[:place], value, *args[place + 1 :])
                left.append((place, values))
        waiting = left


def _near(value: Any) -> Iterator[Any]:
    """Yield values of the same sort that differ a little."""
    match value:
        case bool() | None | float():
            return
        case int():
            yield from (value + 1, value - 1, 0)
        case str():
            yield from (value[1:], value.replace(" ", ""), value[::-1], value.swapcase(), value[:-1], value + value)
        case list() | tuple() if value:
            kind = type(value)
            inner = next(_near(value[0]), value[0])
            if isinstance(value[0], str):
                yield kind([f"{value[0]} {value[0]}", *value[1:]])
            yield from (
                value[1:],
                kind([*value, value[0]]),
                value[::-1],
                kind([inner, *value[1:]]),
                value[:-1],
                value[:2],
            )
        case dict() if value:
            yield dict(list(value.items())[1:])
