"""Numbers and types that msgpack has no form for, read from their fields: any fields give a value or WireError."""

from __future__ import annotations

from typing import Any

from grader.protocol.definitions import DTYPES, MAX_INTEGER, TYPES, TooLarge, WireError, named_dtype


def big_from(fields: list[Any]) -> int:
    """Return a whole number of more than 64 bits."""
    (data,) = fields
    if type(data) is not bytes or len(data) > MAX_INTEGER:
        raise TooLarge(f"a whole number of more than {MAX_INTEGER} bytes")
    return int.from_bytes(data, "little", signed=True)


def complex_from(fields: list[Any]) -> complex:
    if [type(part) for part in fields] != [float, float]:
        raise WireError("a complex number is two floating ones")
    return complex(*fields)


def type_from(fields: list[Any]) -> Any:
    """Return a dtype, or one of the types that a test may be handed."""
    kind, name = fields
    if kind == "dtype":
        return named_dtype(name)
    return TYPES[name] if kind == "type" else DTYPES[name].type
