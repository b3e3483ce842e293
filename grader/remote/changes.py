"""What calls changed in place: repeated on the test's own arguments, held to bounds, undone when the test ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.protocol import codec
from grader.remote.generators import move


class Unreachable(Exception):
    """A random generator was set to a state that drawing from it does not lead to."""


class Changes:
    """Repeats on a test's own arguments what a learner's call did to its copies, and can undo all of it."""

    def __init__(self, bounds: codec.Bounds) -> None:
        self._bounds = bounds
        self._originals: dict[int, tuple[Any, Any]] = {}

    def replay(self, form: Any, decoder: codec.Decoder, sent: list[Any]) -> tuple[Any, ...]:
        """Repeat the changes of one call and return what changed but generators; Unreachable or WireError."""
        if form == [codec.LIST]:
            return ()
        decoder.bounds = _as_large_as(sent, self._bounds)
        _count_keys(form, decoder, sent)
        changes = decoder.decode(form)
        if type(changes) is not list:
            raise codec.WireError("changes are a list")
        changed: list[Any] = []
        for change in changes:
            target, content = change_of(change, sent)
            if isinstance(target, np.random.Generator):
                if not move(target, content):
                    raise Unreachable
                continue
            changed.append(target)
            self._apply(target, content, decoder)
        if changed:
            _check_graph(sent, decoder.most)
        return tuple(changed)

    def _apply(self, target: Any, content: Any, decoder: codec.Decoder) -> None:
        original = self._originals.get(id(target)) or (target, content_of(target))
        try:
            apply_content(target, content, decoder)
        except (TypeError, ValueError) as error:
            if isinstance(error, codec.WireError):
                raise
            raise codec.WireError(f"a change that does not fit: {error}") from None
        self._originals[id(target)] = original

    def undo(self) -> None:
        """Make the test's arguments what they were: a constant of the test file must not pass changes on."""
        for target, content in self._originals.values():
            apply_content(target, content, codec.Decoder())
        self._originals.clear()


def _as_large_as(sent: list[Any], bounds: codec.Bounds) -> codec.Bounds:
    """Return bounds within which whatever was sent fits, a dict as its keys and values in turn."""
    sizes = [max(one.shape, default=0) if isinstance(one, np.ndarray) else _length(one) for one in sent]
    arrays = sum(one.nbytes for one in sent if isinstance(one, np.ndarray))
    return codec.Bounds(bounds.size + arrays, max(bounds.rows, len(sent), *sizes))


def _length(value: Any) -> int:
    return 2 * len(value) if isinstance(value, (list, dict, set)) else 0


def _count_keys(form: Any, decoder: codec.Decoder, sent: list[Any]) -> None:
    """Count what is to become keys of a dict or members of a set: in a change it is but a tuple."""
    for change in form[1:] if type(form) is list else ():
        match change:
            case [codec.TUPLE, int(index), [codec.TUPLE, *content]] if 0 <= index < len(sent):
                if isinstance(sent[index], dict):
                    decoder.keys.add(content[::2])
                elif isinstance(sent[index], set):
                    decoder.keys.add(content)


def _check_graph(roots: list[Any], most: int) -> None:
    """Raise Refused where what was sent now contains itself, is deeper or unfolds further than an answer may."""
    known: dict[int, tuple[int, int]] = {}  # values and depth of each container that was walked to its end

    def walk(value: Any, depth: int) -> tuple[int, int]:
        if not isinstance(value, (list, tuple, dict, set, frozenset)):
            return 1, 0
        if id(value) not in known and depth <= codec.MAX_DEPTH:
            parts = [walk(part, depth + 1) for part in (value.values() if isinstance(value, dict) else value)]
            known[id(value)] = 1 + sum(values for values, _ in parts), 1 + max((below for _, below in parts), default=0)
        values, height = known.get(id(value), (0, 0))
        if not values or depth + height > codec.MAX_DEPTH + 1:
            raise codec.Refused(f"a value that contains itself or is nested more than {codec.MAX_DEPTH} deep")
        if values > most:
            raise codec.TooLarge(f"a value that unfolds to more than {most} values")
        return values, height

    for root in roots:
        walk(root, 0)


def content_of(target: Any) -> Any:
    """Return what apply_content needs to make an array, list, set or dict what it is now."""
    if isinstance(target, np.ndarray):
        return target.astype(target.dtype.newbyteorder("="))
    return tuple(part for item in target.items() for part in item) if isinstance(target, dict) else tuple(target)


def change_of(form: Any, sent: list[Any]) -> tuple[Any, Any]:
    """Return which of the objects that were sent changed, and its new content; WireError for another form."""
    if type(form) is tuple and len(form) == 2 and type(form[0]) is int and 0 <= form[0] < len(sent):
        return sent[form[0]], form[1]
    raise codec.WireError("a change of nothing")


def apply_content(target: Any, content: Any, decoder: codec.Decoder) -> None:
    """Make an array, list, set or dict what content says; TypeError or ValueError where that does not fit."""
    if isinstance(target, np.ndarray):
        if (
            type(content) is not np.ndarray
            or content.shape != target.shape
            or content.dtype != target.dtype.newbyteorder("=")
        ):
            raise ValueError("an array keeps its shape and dtype")
        target[...] = content
        return
    if type(content) is not tuple:  # anything else may be an object that is asked for its items without end
        raise ValueError("the content of a container is a tuple")
    if isinstance(target, list):
        target[:] = content
    elif isinstance(target, set):
        fresh = decoder.set_of(content)
        target.clear()
        target.update(fresh)
    elif isinstance(target, dict):
        if len(content) % 2:
            raise ValueError("a key without a value")
        table = decoder.table_of(content[::2], content[1::2])
        target.clear()
        target.update(table)
