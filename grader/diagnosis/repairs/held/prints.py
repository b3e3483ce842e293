"""What tells one value from another without the value itself: its shape, and sums of its numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

ROUNDING = 1e-7  # of the sum of a value's numbers: so far the sums of what is one value may differ
LARGEST = 1e300


@dataclass(frozen=True)
class Print:
    """What tells one value of numbers from another: shape, sum, sum with weights; size is the sum of what they are."""

    shape: tuple[int, ...]
    sums: tuple[float, float]
    size: float

    def is_like(self, other: Print) -> bool:
        """Say whether both stand for one value, but for rounding."""
        if self.shape != other.shape:
            return False
        near = ROUNDING * max(self.size, other.size, 1e-300)
        (plain, weighted), (others_plain, others_weighted) = self.sums, other.sums
        return abs(plain - others_plain) <= near and abs(weighted - others_weighted) <= near


class Prints:
    """Many values, to be asked whether one is among them."""

    def __init__(self, known: Iterable[Print]) -> None:
        self._by_size: dict[tuple[object, ...], list[Print]] = {}
        for each in known:
            self._by_size.setdefault(self._key(each), []).append(each)

    def __contains__(self, known: Print) -> bool:
        return any(known.is_like(each) for each in self._by_size.get(self._key(known), ()))

    @staticmethod
    def _key(known: Print) -> tuple[object, ...]:
        return known.shape, f"{known.size:.4g}"  # two that rounding parts are tried for nothing, no more


def print_of(form: Any) -> Print | None:
    """Return what tells a value of numbers apart; None for other values, and for what was noted in another form."""
    match form:
        case ["array", _, str(), list(shape), [float(plain), float(weighted), float(size)]]:
            return Print(tuple(each for each in shape if type(each) is int), (plain, weighted), size)
        case ["sizes", _, list(sizes)] if all(type(each) is int and abs(each) < LARGEST for each in sizes):
            weighted = sum(each * math.sin(n) for n, each in enumerate(sizes, 1))
            return Print((-1,), (float(sum(sizes) + len(sizes)), weighted), float(sum(map(abs, sizes)) + len(sizes)))
        case ["plain", _, int() | float() as value] if not isinstance(value, bool) and abs(value) < LARGEST:
            return Print((), (float(value), float(value) * math.sin(1.0)), abs(float(value)))
    return None


def prints_in(path: tuple[str, ...], names: Any) -> Iterator[tuple[tuple[str, ...], Print]]:
    """Yield the way to each value of numbers, as ("self", ".gamma") and ("params", "['W']"), and what tells it."""
    for name, form in names.items() if isinstance(names, dict) else ():
        match form:
            case ["dict", _, dict(items)] if not path:
                yield from prints_in((name, "[]"), items)
            case ["object", _, dict(items)] if not path and name == "self":
                yield from prints_in((name, "."), items)
            case _ if isinstance(name, str) and (known := print_of(form)) is not None:
                yield (*path, name), known
