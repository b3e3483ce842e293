"""Errors for what a learner's function gives and a test cannot use, and the words in which a value is refused."""

from __future__ import annotations

import math
from typing import Any

from grader.outcome import Status
from grader.protocol import codec

PLAIN = "an array, a number, text, or a list, tuple, set or dict of these"


class Unusable(AssertionError):
    """The learner's function returned something that is no plain value, or that cannot be passed on."""


class NotPlain(Unusable, TypeError):
    """An object of the learner's was used where only a plain value can be: by NumPy, in a comparison, as an operand."""


class NotAsked(Unusable, AttributeError):
    """A member that the stage's manifest does not list was read, or set, on an object of the learner's."""


def refusal(error: codec.Refused, label: str, what: str = "sent back") -> tuple[Status, str]:
    """Return the outcome of a test whose call gave such a value, and what a learner reads."""
    status: Status = "over_limit" if isinstance(error, codec.TooLarge) else "failed"
    return status, f"{label} {what} {_shape(error)}{error}"


def _shape(error: codec.Refused) -> str:
    """Return the shape of the largest array of a frame whose arrays were refused by their sizes alone."""
    if not isinstance(error, codec.TooLarge) or error.body is None:
        return ""
    try:
        fields = codec.Decoder().message(error.body)
    except codec.WireError:
        return ""
    largest: tuple[int, ...] = ()
    left: list[Any] = [fields]
    while left:
        match left.pop():
            case [codec.ARRAY, str(), list(sizes), *_] if sizes and all(type(size) is int for size in sizes):
                largest = max(largest, tuple(sizes), key=lambda shape: math.prod(shape) if shape else -1)
            case list(parts):
                left += parts
    return f"an array of shape {largest}: " if largest and len(largest) <= 32 else ""
