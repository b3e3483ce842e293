"""The form of an array, or of one of NumPy's numbers, to a value; all that it claims is held against what arrived."""

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
    Bounds,
    TooLarge,
    WireError,
    make_numbers,
    named_dtype,
    without_zeros,
)


def array_from(fields: list[Any], blob: np.ndarray[Any, Any], bounds: Bounds | None) -> np.ndarray[Any, Any]:
    """Return the array that lies in a blob; WireError where its description lies, TooLarge past the bounds."""
    name, shape, fortran, offset, writeable = fields
    dtype = named_dtype(name)
    _expect_shape(dtype, shape, bounds)
    _expect_place(fortran, offset, writeable)
    count = math.prod(shape)
    if offset + count * dtype.itemsize > blob.size:
        raise WireError(f"an array of {count} values lies outside of its frame")
    flat = np.frombuffer(blob, dtype, count, offset) if count else np.empty(count, dtype)
    _check_values(flat, name)
    result = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
    if not writeable:
        result.flags.writeable = False
    return result


def _expect_shape(dtype: np.dtype[Any], shape: Any, bounds: Bounds | None) -> None:
    if not dtype.itemsize:  # NumPy makes such values one character long, whatever their number
        raise WireError("an array of strings without characters")
    if type(shape) is not list or len(shape) > 32 or any(type(n) is not int or n < 0 or n > 1 << 40 for n in shape):
        raise WireError("an array's shape is a list of at most 32 sizes")
    if bounds is not None:
        _fits(tuple(shape), math.prod(shape) * dtype.itemsize, bounds)
    if without_zeros(shape) > MAX_SIZES:
        raise WireError("an array's sizes are too large")


def _expect_place(fortran: Any, offset: Any, writeable: Any) -> None:
    plain = type(offset) is int and type(fortran) is bool and type(writeable) is bool
    if not plain or offset < 0 or offset % ALIGNMENT:
        raise WireError("an array's place is not aligned")


def _fits(shape: tuple[int, ...], size: int, bounds: Bounds) -> None:
    """Raise TooLarge for an array past the bounds, in the words that follow `f returned`."""
    if max(shape, default=0) > bounds.rows:
        raise TooLarge(f"an array of shape {shape}; {bounds.who} at most {bounds.rows} along an axis")
    if not size and without_zeros(shape) > bounds.rows:  # rows of nothing can be listed, too
        raise TooLarge(f"an empty array of shape {shape}; {bounds.who} at most {bounds.rows} rows of nothing")
    if size > bounds.size:
        raise TooLarge(f"an array of shape {shape}, {-(-size >> 20)} MB; {bounds.who} at most {bounds.size >> 20} MB")


def _check_values(flat: np.ndarray[Any, Any], name: str) -> None:
    """Raise WireError for bytes that are no text or no truth value; make what is no number NaN."""
    if flat.dtype.kind == "U" and flat.size and int(flat.view(np.uint32).max()) > MAX_CODE_POINT:
        raise WireError("a string array holds no code points")
    if flat.dtype.kind == "b" and flat.size and int(flat.view(np.uint8).max()) > 1:
        raise WireError("a boolean array holds bytes other than 0 and 1")
    if name in EXTENDED:
        make_numbers(flat)


def scalar_from(fields: list[Any]) -> Any:
    """Return one of NumPy's numbers or texts; WireError where the bytes are none of its dtype."""
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
