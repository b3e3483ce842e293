"""How much one frame's values are to whoever walks over them, counted while they are read and before they are built."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from grader.protocol.definitions import MAX_BLOB, MAX_DEPTH, MAX_EXPANDED, Bounds, Refused, TooLarge, extent
from grader.protocol.keys import HardKeys

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
