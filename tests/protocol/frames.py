"""Values through one frame and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from grader.protocol import codec
from grader.protocol.codec import HEADER, Decoder, Encoder

CONTAINER_BYTES = 400  # what one container costs at most, from MAX_CONTAINERS
PLAIN_FACTOR = 32  # what plain values cost at most for each byte of a body, from MAX_BODY


def frame_of(*values: object) -> tuple[bytearray, np.ndarray[Any, Any]]:
    """Return the body and blob of a frame with these values."""
    whole = b"".join(
        bytes(memoryview(part).cast("B")) if memoryview(part).nbytes else b""
        for part in Encoder().frame([], list(values))
    )
    magic, body, blob = HEADER.unpack(whole[: HEADER.size])
    assert (magic, HEADER.size + body + blob) == (codec.MAGIC, len(whole))
    rest = bytearray(whole[HEADER.size :])
    return rest[:body], np.frombuffer(rest[body:], np.uint8)


def decoded(body: bytes | bytearray, blob: np.ndarray[Any, Any] | None = None) -> list[Any]:
    decoder = Decoder()
    return [decoder.decode(form) for form in decoder.message(body, np.empty(0, np.uint8) if blob is None else blob)]


def there(value: object) -> Any:
    """Return what arrives of a value."""
    return decoded(*frame_of(value))[0]


def read(form: object) -> Any:
    return Decoder().decode(form)


def same(a: Any, b: Any) -> bool:
    """Say whether two values are alike in type, dtype, shape and every bit that shows."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (np.ndarray, np.generic)):
        alike = a.dtype == b.dtype.newbyteorder("=") or a.dtype.newbyteorder("=") == b.dtype
        return alike and a.shape == b.shape and np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, dict):
        return same(list(a.items()), list(b.items()))
    if isinstance(a, float):
        return (math.isnan(a) and math.isnan(b)) or (a == b and math.copysign(1, a) == math.copysign(1, b))
    if isinstance(a, complex):
        return same((a.real, a.imag), (b.real, b.imag))
    return bool(a == b)
