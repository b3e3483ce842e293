"""The form of an array or a scalar to NumPy's: plain, of a known dtype, with bytes that are numbers; else WireError."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np

from grader.protocol.definitions import (
    ALIGNMENT,
    EXTENDED,
    MAX_CODE_POINT,
    MAX_SIZES,
    WireError,
    make_numbers,
    named_dtype,
    without_zeros,
)


def array_of(fields: list[Any], blob: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return the array whose form has these fields: a view of the frame's blob."""
    name, shape, fortran, offset, writeable = fields
    dtype = named_dtype(name)
    _expect_shape(dtype, shape)
    _expect_place(fortran, offset, writeable)
    count = math.prod(shape)
    if offset + count * dtype.itemsize > blob.size:
        raise WireError(f"an array of {count} values lies outside of its frame")
    flat = np.frombuffer(blob, dtype, count, offset) if count else np.empty(count, dtype)
    if dtype.kind == "U" and count and int(flat.view(np.uint32).max()) > MAX_CODE_POINT:
        raise WireError("a string array holds no code points")
    if dtype.kind == "b" and count and int(flat.view(np.uint8).max()) > 1:
        raise WireError("a boolean array holds bytes other than 0 and 1")
    if name in EXTENDED:
        make_numbers(flat)
    result = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    if not writeable:
        result.flags.writeable = False
    return result


def _expect_shape(dtype: np.dtype[Any], shape: Any) -> None:
    if not dtype.itemsize:  # NumPy makes such values one character long, whatever their number
        raise WireError("an array of strings without characters")
    if type(shape) is not list or len(shape) > 32 or any(type(n) is not int or n < 0 or n > 1 << 40 for n in shape):
        raise WireError("an array's shape is a list of at most 32 sizes")
    if without_zeros(shape) > MAX_SIZES:
        raise WireError("an array's sizes are too large")


def _expect_place(fortran: Any, offset: Any, writeable: Any) -> None:
    plain = type(offset) is int and type(fortran) is bool and type(writeable) is bool
    if not plain or offset < 0 or offset % ALIGNMENT:
        raise WireError("an array's place is not aligned")


def scalar_of(fields: list[Any]) -> Any:
    """Return the NumPy scalar whose form has these fields."""
    name, data = fields
    dtype = named_dtype(name)
    if type(data) is not bytes or len(data) != dtype.itemsize or dtype.itemsize == 0:
        raise WireError("a scalar's bytes do not fit its dtype")
    if dtype.kind == "b" and data not in (b"\0", b"\1"):
        raise WireError("a boolean is 0 or 1")
    if dtype.kind == "U" and max(struct.unpack(f"={len(data) // 4}I", data)) > MAX_CODE_POINT:
        raise WireError("a string holds no code points")
    values = np.frombuffer(bytearray(data), dtype)
    if name in EXTENDED:
        make_numbers(values)
    return values[0]
