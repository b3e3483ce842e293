"""In which words a value is refused that a stage does not take: what it is, and what is expected at most."""

from __future__ import annotations

import math
from typing import Any

from grader.outcome import Status
from grader.protocol import codec


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
