"""The caps of one frame, the errors past them, and a meter that counts while a frame is read.

The worker imports it, too, as it does the rest of this room: standard library, NumPy and msgpack only.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

MAX_BODY = 8 << 20  # bytes; plain values decode to at most 32 times as much
MAX_CONTAINERS = 1 << 18  # lists, tuples, dicts, sets and arrays in one frame, at most 400 bytes each
MAX_EXPANDED = 1 << 23  # values, where one that is shared counts each time: whoever walks over it meets so many
MAX_RANGE = 1 << 20  # a few bytes describe a range of any length, and a test may well turn it into a list
MAX_SIZES = 1 << 30  # product of an array's sizes other than 0: an empty one can still have rows without end
MAX_BLOB = 256 << 20  # bytes of array data in one frame
MAX_DEPTH = 64
MAX_TEXT_ITEM = 4096  # bytes of one element of a string array
MAX_INTEGER = 1700  # bytes: Python writes no whole number of more than 4,300 digits, which 1,785 bytes may hold


class WireError(ValueError):
    """Bytes that are no frame of ours, a value that cannot be sent, or one past a cap."""


class Unsendable(WireError):
    """A learner's value that has no plain form: an object array, an ndarray subclass, one past the size cap."""


class Refused(WireError):
    """A value in good form that no test takes; the message completes `f returned …`."""


class TooLarge(Refused):
    """A value of more bytes or entries than a stage takes.

    body is what came beside the arrays, where they were refused by their sizes alone.
    """

    body: bytes | None = None


@dataclass(frozen=True)
class Bounds:
    """What one value from the other side may be: bytes of arrays, and entries along an axis or in a container.

    A value that is held to bounds may not contain itself, either.
    """

    size: int = 4 << 20
    rows: int = 1 << 16
    who = "this stage takes"

    @property
    def values(self) -> int:
        """How many values one may hold, where one that is shared counts each time."""
        return min(MAX_EXPANDED, max(self.size // 4, 8 * self.rows))


def extent(value: Any) -> tuple[int, int, int]:
    """Return how many values an object holds, bytes of arrays, each as often as it is met, and how deep it is."""
    values = size = deepest = 0
    left = [(value, 0)]
    while left and values <= MAX_EXPANDED and size <= MAX_BLOB:
        one, depth = left.pop()
        values += 1
        deepest = max(deepest, depth)
        if isinstance(one, np.ndarray):
            size += one.nbytes
        elif isinstance(one, dict):
            left += [(part, depth + 1) for item in one.items() for part in item]
        elif isinstance(one, (list, tuple, set, frozenset)):
            left += [(part, depth + 1) for part in one]
    return values, size, deepest


MAX_HARD_KEYS = 2000  # keys of a frame that are tuples, complex or big: their hashes can be made to collide
MAX_HARD_WORK = 1 << 24  # keys times what they hold: twice the comparisons where all of them collide


class HardKeys:
    """Counts the hard keys of one frame by their forms, before a dict or a set is built of them."""

    def __init__(self, error: type[WireError]) -> None:
        self._error = error
        self.count = 0
        self.weight = 0

    def add(self, forms: list[Any]) -> None:
        """Count keys; the error where a frame has too many."""
        for form in forms:
            if type(form) is list:
                self.count += 1
                self.weight += _weight(form)
        if self.count > MAX_HARD_KEYS or self.count * self.weight > MAX_HARD_WORK:
            raise self._error(f"more than {MAX_HARD_KEYS} keys that are tuples, complex or very large, or long ones")


def _weight(form: list[Any]) -> int:
    """Return about how many machine words a comparison of two such keys looks at."""
    total, left = 0, [form]
    while left:
        for part in left.pop():
            total += 1
            if type(part) is list:
                left.append(part)
            elif type(part) in (bytes, str):
                total += len(part) // 8
    return total


KEYS_AT_ONCE = 1024  # that are put into a dict or a set before its time is looked at


class Meter:
    """Counts the values of one frame; shared holds those that may be referred to, by their numbers."""

    def __init__(self, shared: list[Any], bounds: Bounds | None, until: float) -> None:
        self.shared = shared
        self.bounds = bounds
        self.until = until
        self.keys = HardKeys(TooLarge)
        self.met = 0  # values so far, each as often as it is reached
        self.own = 0  # bytes of arrays of this frame
        self.deepest = 0
        self._again = 0  # bytes of arrays that were met before, each as often as it is reached
        self._sizes: dict[int, tuple[int, int, int]] = {}  # of each shared object by its number, as extent tells them
        self._open: set[int] = set()  # numbers of the shared objects that are being read

    @property
    def most(self) -> int:
        """How many values one frame may have, where a shared one counts each time."""
        return MAX_EXPANDED if self.bounds is None else self.bounds.values

    def begin(self, depth: int) -> tuple[int, int, int, int]:
        """Begin an object that may be referred to later; what is returned is for its end."""
        place = len(self.shared)
        began = place, self.met, self._again + self.own, self.deepest
        self.deepest = depth
        self._open.add(place)
        return began

    def end(self, began: tuple[int, int, int, int], depth: int) -> None:
        """Note how much whoever walks over the object that has been read will meet."""
        place, met, size, deepest = began
        self._open.discard(place)
        self._sizes[place] = self.met - met, self._again + self.own - size, self.deepest - depth
        self.deepest = max(deepest, self.deepest)

    def meet(self, index: int, depth: int) -> None:
        """Count one that is met again; Refused where it holds itself or grows too deep, TooLarge where it unfolds."""
        if self.bounds is not None and index in self._open:
            raise Refused("a value that contains itself")
        values, size, height = self._sizes.get(index) or self._sizes.setdefault(index, extent(self.shared[index]))
        self.met += values
        self._again += size
        self.deepest = max(self.deepest, depth + height)
        if self.bounds is not None and depth + height > MAX_DEPTH:
            raise Refused(f"a value nested more than {MAX_DEPTH} deep")
        if self.past(0) or self._again > MAX_BLOB:
            raise TooLarge(f"a value in which shared ones are met more than {self.most} times")

    def past(self, more: int) -> bool:
        """Count more values, and say whether these are too many."""
        self.met += more
        return self.met > self.most

    def few(self, kind: str, count: int) -> None:
        if self.bounds is not None and count > self.bounds.rows:
            raise TooLarge(f"a {kind} of {count} entries; {self.bounds.who} at most {self.bounds.rows}")

    def in_time(self, count: int) -> None:
        """Look at the time now and then: keys can be chosen so that each is compared with all before it."""
        if not count % KEYS_AT_ONCE and time.thread_time() > self.until:
            raise TooLarge("dicts or sets whose keys take too long to tell apart")

    def table_of(self, keys: Iterable[Any], values: Iterable[Any]) -> dict[Any, Any]:
        """Return a dict of values that are there already; TooLarge where telling its keys apart takes too long."""
        result: dict[Any, Any] = {}
        for key, value in zip(keys, values, strict=True):
            result[key] = value
            self.in_time(len(result))
        return result

    def set_of(self, members: Iterable[Any]) -> set[Any]:
        """Return a set of members that are there already; TooLarge where telling them apart takes too long."""
        result: set[Any] = set()
        for member in members:
            result.add(member)
            self.in_time(len(result))
        return result
