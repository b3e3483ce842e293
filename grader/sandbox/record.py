"""The record of a test's questions and answers, kept for messages and for the diagnosis."""

from __future__ import annotations

import builtins
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.protocol import codec
from grader.sandbox.limits import UsageLimits
from grader.sandbox.values import plain

MAX_NUMBER = 1 << 62  # of a learner's object
MAX_LINE = 1 << 20  # a module is at most as many bytes
MAX_WARNINGS, KEPT_WARNINGS, MAX_PRINTED = 20, 50, 20_000
_PLAIN = frozenset({type(None), bool, int, float, str, bytes, complex})


@dataclass(frozen=True)
class Frame:
    """One line of the learner's own traceback."""

    line: int
    function: str


@dataclass(slots=True)
class Record:
    """One request as the test made it and what came back, for messages and for the diagnosis."""

    kind: str
    target: int
    name: str
    label: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    replayable: bool = True
    given: tuple[Any, ...] = ()  # the test's own objects, to recognise one that it passes on
    given_by_name: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    returned: Any = None
    error: BaseException | None = None
    changed: bool = False
    touched: tuple[Any, ...] = ()  # of the test's own objects, those that were changed in place
    failed: bool = False
    seconds: float = 0.0  # that it took, as the learner's process says

    @property
    def is_item(self) -> bool:
        """Whether it asks an iterator for its next item."""
        return self.kind == "op" and self.name == "next"


@dataclass
class Notes:
    """What the learner's code printed and warned about during one test."""

    printed: str = ""
    warnings: list[tuple[str, str, int]] = field(default_factory=list)

    def take(self, form: Any, seconds: Any, limits: UsageLimits) -> float:
        """Add what came with one answer, pass its warnings on, and return how long the call took as its process says.

        Raises WireError for notes of another form.
        """
        match form:
            case [str(printed), list(warned)] if type(seconds) is float and len(warned) <= MAX_WARNINGS:
                found = [_warning(entry) for entry in warned]
            case _:
                raise codec.WireError("notes of another form")
        self.printed = (self.printed + printed[:MAX_PRINTED])[:MAX_PRINTED]
        for name, text, line in found:
            if not limits.warning():
                break
            if len(self.warnings) < KEPT_WARNINGS:
                self.warnings.append((name, text, line))
            category = getattr(builtins, name, None)
            known = category if isinstance(category, type) and issubclass(category, Warning) else UserWarning
            warnings.warn_explicit(text, known, "learner", max(1, line))
        return max(0.0, min(seconds, 1e6))


def line_of(number: int) -> int:
    """Return a line that a learner's process tells as one that a module can have; 0 is none."""
    return min(max(0, number), MAX_LINE)


def _warning(entry: Any) -> tuple[str, str, int]:
    match entry:
        case [str(name), str(text), int(line)] if name.isidentifier():
            return name[:100], text[:500], line_of(line)
    raise codec.WireError("a warning of another form")


@dataclass(frozen=True)
class Name:
    """A public name of the learner's module: what it is and its handle."""

    kind: str
    number: int
    bases: tuple[str, ...] = ()


def copied_value(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a value whose arrays, containers and generators are not shared with the test's; cycles stay cycles.

    What stands for a container of a class of the learner's becomes that plain container.
    """
    if type(value) in _PLAIN:
        return value
    made = {} if made is None else made
    key = id(value)
    if key in made:
        return made[key]
    value = plain(value)
    if type(value) is np.ndarray:
        made[key] = array = value.copy(order="K")
        array.flags.writeable = value.flags.writeable
    elif type(value) is list:
        copied: list[Any] = []
        made[key] = copied
        copied.extend(copied_value(item, made) for item in value)
    elif type(value) in (tuple, set, frozenset):
        made[key] = type(value)([copied_value(item, made) for item in value])
    elif type(value) is dict:
        table: dict[Any, Any] = {}
        made[key] = table
        table.update((key, copied_value(item, made)) for key, item in value.items())
    elif isinstance(value, np.random.Generator):
        made[key] = generator = np.random.Generator(type(value.bit_generator)())
        generator.bit_generator.state = value.bit_generator.state
    return made.get(key, value)
