"""Containers of learner's classes, and values that a call changed in place: how both travel."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.protocol.codec import generator_state

PLAIN = (dict, list, tuple, set, frozenset)


def base_of(value: object) -> type | None:
    """Return the plain container that an object is, or extends; None where it is none."""
    return next((base for base in PLAIN if isinstance(value, base)), None)


def members(value: Any) -> Iterator[Any]:
    """Yield what is inside of a container, whatever it says of itself; keys and values of a dict in turn."""
    base: Any = base_of(value)
    if base is dict:
        for item in dict.items(value):
            yield from item
    else:
        yield from base.__iter__(value)


class Extended:
    """The containers of one test that travelled by content, by their numbers, and what that content was."""

    def __init__(self) -> None:
        self._stamps: dict[int, int] = {}
        self._met: dict[int, int] = {}
        self._passed: dict[int, object] = {}

    def begin(self) -> None:
        """Begin another frame to the test: what a call did to its arguments is told there, too."""
        self._met.clear()
        for number, value in self._passed.items():
            self.sent(number, value)
        self._passed.clear()

    def sent(self, number: int, value: object) -> None:
        """Note the content with which an object is being sent."""
        self._stamps[number] = stamp(value, self._met)

    def back(self, number: int, own: Any, given: Any, shared: list[Any], place: int) -> Any:
        """Return the object that was passed back with some content.

        What the frame refers to from place on refers to the learner's own objects from now on.
        """
        if base_of(own) is not base_of(given):
            return given
        content = stamp(given, {})
        pour = _Pour(self._stamps.get(number) != content)
        found = pour.into(own, given)
        if stamp(own, {}) == content:  # else the test has an older one, and is not told of changes as a whole
            self._passed[number] = own
        shared[place:] = [pour.instead.get(id(each), each) for each in shared[place:]]
        return found


class _Pour:
    """Puts given content into a learner's object, where it differs from what was sent; instead says what is whose."""

    def __init__(self, differs: bool) -> None:
        self.differs = differs
        self.instead: dict[int, Any] = {}

    def into(self, own: Any, given: Any) -> Any:
        """Return the learner's own object with that content, as far as it has the same form; else what was given."""
        if given is own:
            return own
        if type(given) is np.ndarray:
            return self._array(own, given)
        base = base_of(given)
        if base is None or base_of(own) is not base:
            return given if self.differs else own
        if id(given) in self.instead:
            return self.instead[id(given)]
        if base is not tuple and base is not frozenset:
            self.instead[id(given)] = own
        poured = self._items(own, given, base)
        if not self.differs:
            return own
        if base in (tuple, frozenset):
            unchanged = len(poured) == base.__len__(own) and all(map(_alike, poured, members(own)))
            return own if unchanged else base(poured)
        _fill(own, poured, base)
        return own

    def _array(self, own: Any, given: np.ndarray[Any, Any]) -> Any:
        if type(own) is not np.ndarray or own.shape != given.shape or own.dtype != given.dtype:
            return given if self.differs else own
        if self.differs and own.tobytes() != given.tobytes():
            if not own.flags.writeable:
                return given
            own[...] = given
        self.instead[id(given)] = own
        return own

    def _items(self, own: Any, given: Any, base: type) -> list[Any]:
        if base is dict:
            table = dict(dict.items(own))
            pairs = [(key, self.into(table[key], value) if key in table else value) for key, value in given.items()]
            return [part for pair in pairs for part in pair]
        if base in (set, frozenset):
            return list(given)
        held = list(members(own))
        return [self.into(held[i], item) if i < len(held) else item for i, item in enumerate(members(given))]


def _alike(one: Any, other: Any) -> bool:
    return one is other or stamp(one, {}) == stamp(other, {})


def _fill(own: Any, items: list[Any], base: type) -> None:
    if base is list:
        list.__setitem__(own, slice(None), items)
    elif base is dict:
        dict.clear(own)
        dict.update(own, zip(items[::2], items[1::2], strict=True))
    else:
        set.clear(own)
        set.update(own, items)


def stamp(value: Any, met: dict[int, int]) -> int:
    """Return a number that changes with what a value holds: of containers what is inside, of arrays their bytes.

    met holds those of the containers that were met already, and 0 for those that are being looked at.
    """
    base = base_of(value)
    if base is not None:
        if id(value) not in met:
            met[id(value)] = 0
            inner = [stamp(each, met) for each in members(value)]
            met[id(value)] = hash((base.__name__, frozenset(inner) if base in (set, frozenset) else tuple(inner)))
        return met[id(value)]
    if type(value) is np.ndarray:
        native = value.astype(value.dtype.newbyteorder("="), copy=False)
        return hash((native.dtype.str, native.shape, native.tobytes()))
    if isinstance(value, np.random.Generator):
        return hash(repr(generator_state(value)))
    if isinstance(value, (bool, complex, np.generic, slice, range, type(None))):
        return hash(repr(value))
    for plain in (int, float, str, bytes):
        if isinstance(value, plain):
            return hash((plain.__name__, plain.__repr__(value)))
    return id(value)


FEW_BYTES = 1 << 16  # of an array: they are compared fastest as bytes of Python's, more of them as arrays


class Before:
    """Remembers a call's mutable arguments, so that what the call changed in place can be told."""

    def __init__(self, shared: list[Any]) -> None:
        self.shared = list(shared)
        self._held = [_copied(value) for value in self.shared]

    def changes(self) -> list[Any]:
        """Return (argument's number, its new content) of each one that changed."""
        pairs = enumerate(zip(self.shared, self._held, strict=True))
        return [(index, _content(value)) for index, (value, held) in pairs if not _is_still(value, held)]


# Arrays come first in each: a learner's code may have made `isinstance` say yes to all.


def _copied(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return _content(value)
    return value.tobytes("A") if value.nbytes <= FEW_BYTES else value.copy("K")


def _content(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy("K")
    return generator_state(value) if isinstance(value, np.random.Generator) else tuple(members(value))


def _is_still(value: Any, held: Any) -> bool:
    """Say whether a value holds what it held: an array its bytes, a container the same objects."""
    if isinstance(value, np.ndarray):
        return value.tobytes("A") == held if type(held) is bytes else np.array_equal(_bytes(value), _bytes(held))
    if isinstance(value, np.random.Generator):
        return bool(generator_state(value) == held)
    now = _content(value)
    return len(now) == len(held) and all(map(operator.is_, now, held))


def _bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return array.reshape(-1, order="A").view(np.uint8)
