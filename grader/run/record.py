"""What a test asked of a learner's process and what came back: kept for messages and for the diagnosis."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from grader.run import wire

_PLAIN = frozenset({type(None), bool, int, float, str, bytes, complex})


@dataclass(frozen=True)
class Frame:
    """One line of the learner's own traceback."""

    line: int
    function: str


@dataclass
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
    result: Any = None
    returned: Any = None
    error: BaseException | None = None
    changed: bool = False
    failed: bool = False


@dataclass
class Notes:
    """What the learner's code printed and warned about during one test."""

    printed: str = ""
    warnings: list[tuple[str, str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Name:
    """A public name of the learner's module: what it is and its handle."""

    kind: str
    number: int
    bases: tuple[str, ...] = ()


def copied_value(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Return a value whose arrays, containers and generators are not shared with the test's; cycles stay cycles."""
    if type(value) in _PLAIN:
        return value
    made = {} if made is None else made
    if id(value) in made:
        return made[id(value)]
    if type(value) is np.ndarray:
        made[id(value)] = value.copy(order="K")
    elif type(value) is list:
        copied: list[Any] = []
        made[id(value)] = copied
        copied.extend(copied_value(item, made) for item in value)
    elif type(value) in (tuple, set, frozenset):
        made[id(value)] = type(value)([copied_value(item, made) for item in value])
    elif type(value) is dict:
        table: dict[Any, Any] = {}
        made[id(value)] = table
        table.update((key, copied_value(item, made)) for key, item in value.items())
    elif isinstance(value, np.random.Generator):
        made[id(value)] = generator = np.random.Generator(type(value.bit_generator)())
        generator.bit_generator.state = value.bit_generator.state
    return made.get(id(value), value)


def content_of(target: Any) -> Any:
    """Return what apply_content needs to make an array, list, set or dict what it is now."""
    if isinstance(target, np.ndarray):
        return target.astype(target.dtype.newbyteorder("="))
    return [part for item in target.items() for part in item] if isinstance(target, dict) else list(target)


def apply_content(target: Any, content: Any) -> None:
    if isinstance(target, np.ndarray):
        if (
            type(content) is not np.ndarray
            or content.shape != target.shape
            or content.dtype != target.dtype.newbyteorder("=")
        ):
            raise ValueError("an array keeps its shape and dtype")
        target[...] = content
    elif isinstance(target, np.random.Generator):
        name, state = content
        wire.set_generator_state(target, name, state)
    elif isinstance(target, list):
        target[:] = content
    elif isinstance(target, set):
        target.clear()
        target.update(content)
    elif isinstance(target, dict):
        if len(content) % 2:
            raise ValueError("a key without a value")
        fresh = dict(zip(content[::2], content[1::2], strict=True))
        target.clear()
        target.update(fresh)
