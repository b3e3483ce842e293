"""Keys whose hashes can be chosen: how many of them one frame may hold, since n alike take n² comparisons."""

from __future__ import annotations

from typing import Any

from grader.protocol.definitions import WireError

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
