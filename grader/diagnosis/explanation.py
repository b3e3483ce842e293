"""The details beside a test's outcome: the call that gave a value, and its gradients; each may fail alone."""

from __future__ import annotations

import types
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.answers import Answers
from grader.diagnosis.calls import described, last_call, short
from grader.diagnosis.gradients import gradients
from grader.diagnosis.replay import Replay
from grader.outcome import Gradient
from grader.sandbox.connection import Connection
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record

TEXT_LIMIT = 300
SYMBOLS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "==", "ne": "!=",
}  # fmt: skip
SYMBOLS |= {f"i{name}": f"{SYMBOLS[name]}=" for name in tuple(SYMBOLS)[:11]}  # x += 2
UNARY = {"neg": "-{}", "pos": "+{}", "invert": "~{}", "abs": "abs({})"}
DEEPEST, LONGEST = 6, 200
MOST_PARTS = 200  # of one expression: objects may be made of one another over and over


@dataclass(frozen=True)
class Explanation:
    """The call that gave a value, and its function.

    gradients compares what a wrong backward pass gave. failure says why something is missing: making it of a learner's
    values failed, which changes no outcome.
    """

    call: str = ""
    function: str = ""
    failure: str = ""
    gradients: tuple[Gradient, ...] = ()


def explained(
    answers: Answers, connection: Connection, actual: object, wrong: bool, criterion: str = ""
) -> Explanation:
    """Return what is shown of a test that ended, by its records; wrong asks for gradients; never raises.

    actual is the value that was found wrong, where there is one; criterion is the one that the test belongs to.
    """
    shown = _called(answers, connection, actual)
    if not wrong or answers.is_stub:
        return shown
    try:
        return replace(shown, gradients=_gradients(answers, connection, criterion))
    except Exception as error:  # as below; what is known already stays
        return replace(shown, failure=shown.failure or _told(error))


def _gradients(answers: Answers, connection: Connection, criterion: str) -> tuple[Gradient, ...]:
    """Return what a wrong backward pass gave beside the right module of which the fewest gradients differ.

    There is nothing to show where one answers all that was asked alike: then they are right by its convention.
    """
    records, names = connection.records, connection.names

    def beside(module: types.ModuleType) -> tuple[Gradient, ...]:
        return gradients(answers.stage, module, records, names, criterion)

    found = beside(answers.reference)
    if not found:
        return ()
    for module in list(answers.rights.values())[1:]:
        other = beside(module)
        if not other and Replay(module, answers.stage, names, False).agrees(records):
            return ()
        found = min(found, other or found, key=lambda each: sum(bool(one.finding) for one in each))
    return found


def _called(answers: Answers, connection: Connection, actual: object) -> Explanation:
    try:
        return Explanation(*expression_of(connection.records, answers.stage, answers.reference, actual))
    except Exception as error:  # of values that a learner's process chose; memory and recursion are among its kinds
        return Explanation(failure=_told(error))


def _told(error: Exception) -> str:
    try:
        text = str(error)
    except Exception:
        text = ""
    return f"{type(error).__name__}: {text}"[:TEXT_LIMIT]


def expression_of(records: list[Record], stage: Stage, reference: object, actual: object = None) -> tuple[str, str]:
    """Return the call or operation that gave actual, else a test's last one, and its label; empty where there is none.

    A call reads as its function and arguments; where operators take part, what they were applied to is spelt out.
    """
    asked = [record for record in records if record.kind in ("call", "traced") or _is_operation(record)]
    if not asked:
        return "", ""
    last = next((record for record in reversed(asked) if _gave(record, actual)), None) or _asked_of_it(records, actual)
    last = last or asked[-1]
    tree = _Tree(records)
    text = tree.text(last)
    if tree.operations and len(text) <= LONGEST:
        return text, last.label
    call = last if last.kind in ("call", "traced") else last_call(records)
    return (described(call, stage, reference), call.label) if call is not None else ("", "")


def _asked_of_it(records: list[Record], actual: object) -> Record | None:
    """Return the last call of a method of the object in whose attribute actual was read; None for any other value."""
    read = next((place for place in reversed(range(len(records))) if _is_read(records[place], actual)), 0)
    methods = {
        _number(each.result) for each in records[:read]
        if each.kind == "getattr" and each.target == records[read].target and isinstance(each.result, RemoteValue)
    }  # fmt: skip
    return next((each for each in reversed(records[:read]) if each.kind == "call" and each.target in methods), None)


def _is_read(record: Record, actual: object) -> bool:
    return record.kind == "getattr" and _gave(record, actual)


def _gave(record: Record, actual: object) -> bool:
    """Say whether a request returned that very object, alone or among others."""
    if not isinstance(actual, (np.ndarray, float, list, tuple, dict)):  # of others there is one object of each value
        return False
    found = record.returned
    parts = found.values() if isinstance(found, dict) else found if isinstance(found, (list, tuple)) else ()
    return found is actual or any(part is actual for part in parts)


def _is_operation(record: Record) -> bool:
    name = record.name
    return record.kind == "op" and (name in SYMBOLS or name in UNARY or (name[:1] == "r" and name[1:] in SYMBOLS))


class _Tree:
    """Spells out one request with those that made its operands; operations counts the operators in it."""

    def __init__(self, records: list[Record]) -> None:
        self.operations = 0
        self._parts = 0
        self._made: dict[int, Record] = {}
        for record in records:
            if isinstance(record.result, RemoteValue):
                self._made.setdefault(_number(record.result), record)

    def text(self, record: Record, depth: int = 0) -> str:
        if _is_operation(record):
            return self._operation(record, depth)
        arguments = [self._operand(value, depth, "{}") for value in record.args]
        arguments += [f"{name}={self._operand(value, depth, '{}')}" for name, value in record.kwargs.items()]
        made = self._made.get(record.target)
        method = made is not None and made.kind == "getattr" and made.target in self._made
        function = f"{self._object(made.target, depth)}.{made.name}" if made and method else record.label
        return f"{function}({', '.join(arguments)})"

    def _operation(self, record: Record, depth: int) -> str:
        self.operations += 1
        own = self._object(record.target, depth)
        if record.name in UNARY:
            return UNARY[record.name].format(own)
        reverse = record.name not in SYMBOLS
        other = self._operand(record.args[0], depth)
        first, second = (other, own) if reverse else (own, other)
        return f"{first} {SYMBOLS[record.name.removeprefix('r') if reverse else record.name]} {second}"

    def _operand(self, value: Any, depth: int, form: str = "({})") -> str:
        made = isinstance(value, RemoteValue) and _number(value) in self._made
        return self._object(_number(value), depth, form) if made else short(value)

    def _object(self, number: int, depth: int, form: str = "({})") -> str:
        """Return what made an object, an operation in the given form."""
        record = self._made.get(number)
        self._parts += 1
        if record is None or depth >= DEEPEST or self._parts > MOST_PARTS:
            return "…"
        if record.kind == "getattr":
            return short(record.result)
        text = self.text(record, depth + 1)
        return form.format(text) if _is_operation(record) else text


def _number(value: RemoteValue) -> int:
    return int(value.__dict__["_number"])
