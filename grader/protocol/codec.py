"""Values to bytes and back: the only thing that crosses between the grader and a learner's process.

A frame is a fixed header, one msgpack body and one blob. Arrays lie in the blob, 64-byte aligned, and are described in
the body by dtype name, shape, order and offset, so that neither side copies or executes anything to read them. Decoding
builds plain ndarrays from an allow-list of dtypes; any bytes give a value or WireError, within the caps below.
This module is also imported by the untrusted worker: it needs the standard library, NumPy and msgpack only.
"""

from __future__ import annotations

from grader.protocol.decode import Decoder
from grader.protocol.definitions import (
    ALIGNMENT,
    ARRAY,
    BIGINT,
    BIT_GENERATORS,
    CALLBACK,
    COMPLEX,
    DICT,
    DTYPES,
    EXTENDS,
    FROZENSET,
    GENERATOR,
    HANDLE,
    HEADER,
    LIST,
    MAGIC,
    MAX_BLOB,
    MAX_BODY,
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_EXPANDED,
    MAX_INTEGER,
    MAX_RANGE,
    RANGE,
    REFERENCE,
    SCALAR,
    SET,
    SLICE,
    TUPLE,
    TYPE,
    Bounds,
    Refused,
    TooLarge,
    Unsendable,
    WireError,
)
from grader.protocol.encode import Encoder
from grader.protocol.generator_state import generator_state, plain_state, set_generator_state
from grader.protocol.keys import MAX_HARD_KEYS

__all__ = [
    "ALIGNMENT", "ARRAY", "BIGINT", "BIT_GENERATORS", "CALLBACK", "COMPLEX", "DICT", "DTYPES", "EXTENDS", "FROZENSET",
    "GENERATOR", "HANDLE", "HEADER", "LIST", "MAGIC", "MAX_BLOB", "MAX_BODY", "MAX_CONTAINERS", "MAX_DEPTH",
    "MAX_EXPANDED", "MAX_HARD_KEYS", "MAX_INTEGER", "MAX_RANGE", "RANGE", "REFERENCE", "SCALAR", "SET", "SLICE",
    "TUPLE", "TYPE", "Bounds", "Decoder", "Encoder", "Refused", "TooLarge", "Unsendable", "WireError",
    "generator_state", "plain_state", "set_generator_state",
]  # fmt: skip
