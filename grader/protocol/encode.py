"""Values to one frame: plain values as msgpack, arrays beside them; the mirror of decode."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgpack
import numpy as np

from grader.protocol.definitions import (
    ALIGNMENT,
    ARRAY,
    BIGINT,
    COMPLEX,
    DICT,
    DTYPES,
    ELLIPSIS,
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
    MAX_INTEGER,
    MAX_RANGE,
    MAX_SIZES,
    NOT_IMPLEMENTED,
    RANGE,
    REFERENCE,
    SCALAR,
    SET,
    SLICE,
    TUPLE,
    TYPE,
    TYPES,
    Unsendable,
    Wrap,
    dtype_name,
    no_wrap,
    without_zeros,
)
from grader.protocol.generator_state import generator_state
from grader.protocol.keys import HardKeys

LEAVES = frozenset((type(None), bool, float, str, bytes))  # what msgpack carries as it is
MAX_FAILURES = 3  # containers of one frame whose content turns out not to travel: finding out may take long


class Encoder:
    """Turns values into one frame; objects sent twice arrive as one object.

    known holds the mutable objects that the other side has already (a call's arguments, when its reply is encoded).
    """

    def __init__(self, wrap: Wrap = no_wrap, known: list[Any] | None = None) -> None:
        self.wrap = wrap
        self.shared: list[Any] = list(known or ())
        self._index = {id(value): index for index, value in enumerate(self.shared)}
        self.blobs: list[np.ndarray[Any, Any]] = []
        self.size = 0
        self.containers = 0
        self.keys = HardKeys(Unsendable)
        self._within = False  # a container of a class of its own
        self._failures = 0

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a msgpack-ready form of value; Unsendable where there is none."""
        kind = type(value)
        if kind in LEAVES:
            return value
        if depth > MAX_DEPTH:
            raise Unsendable(f"a value nested more than {MAX_DEPTH} deep")
        if kind is int:
            return value if -(1 << 63) <= value < 1 << 64 else self._big(value)
        if kind in (list, dict, set, np.ndarray, np.random.Generator) and id(value) in self._index:
            return [REFERENCE, self._index[id(value)]]
        builder = _BUILDERS.get(kind)
        if builder is not None:
            self._count(1)
            return builder(self, value, depth + 1)
        if isinstance(value, np.generic):
            dtype = value.dtype.newbyteorder("=") if value.dtype.itemsize else np.dtype(value.dtype.char + "1")
            return [SCALAR, dtype_name(dtype), np.asarray(value, dtype).tobytes()]
        if isinstance(value, np.dtype):
            return [TYPE, "dtype", dtype_name(value)]
        if isinstance(value, type) and value.__module__ in ("builtins", "numpy") and (names := self._type_name(value)):
            return [TYPE, *names]
        return self._other(value, depth + 1)

    def _count(self, containers: int) -> None:
        self.containers += containers
        if self.containers > MAX_CONTAINERS // 2:
            raise Unsendable(f"more than {MAX_CONTAINERS // 2} lists, tuples and other containers in one value")

    def _other(self, value: Any, depth: int) -> Any:
        wrapped = self.wrap(value)
        if wrapped is not None:
            self._count(3)
            return self._extending(wrapped, value, depth) if wrapped[0] == EXTENDS else wrapped
        if isinstance(value, np.ndarray):
            cls = type(value)
            raise Unsendable(f"a {cls.__module__}.{cls.__qualname__}; a plain numpy.ndarray is expected")
        for base, builder in _BASES:
            if isinstance(value, base):
                return builder(self, value, depth)
        raise Unsendable(f"a {type(value).__module__}.{type(value).__qualname__}, which has no plain form")

    def _extending(self, wrapped: list[Any], value: Any, depth: int) -> list[Any]:
        """Return the form of a container of a class of its own: its handle and, where that can travel, its content."""
        if id(value) in self._index:
            return [REFERENCE, self._index[id(value)]]
        builder = next(builder for base, builder in _BASES if isinstance(value, base))
        self._count(1)
        if self._within:
            return [*wrapped, builder(self, value, depth)]
        if self._failures == MAX_FAILURES:
            return [HANDLE, *wrapped[1:]]
        known, blobs, size = len(self.shared), len(self.blobs), self.size
        counted = self.containers, self.keys.count, self.keys.weight
        self._within = True
        try:
            return [*wrapped, builder(self, value, depth)]
        except Unsendable:
            for each in self.shared[known:]:
                del self._index[id(each)]
            del self.shared[known:], self.blobs[blobs:]
            self.size, (self.containers, self.keys.count, self.keys.weight) = size, counted
            self._failures += 1
            return [HANDLE, *wrapped[1:]]
        finally:
            self._within = False

    @staticmethod
    def _type_name(value: type) -> list[str] | None:
        if TYPES.get(value.__name__) is value:
            return ["type", value.__name__]
        if issubclass(value, np.generic) and DTYPES.get(value.__name__) == value:
            return ["scalar", value.__name__]
        return None

    def share(self, value: Any) -> None:
        """Give a mutable object its number, in the order in which Decoder meets it."""
        self._index[id(value)] = len(self.shared)
        self.shared.append(value)

    @staticmethod
    def _big(value: int) -> list[Any]:
        length = value.bit_length() // 8 + 1
        if length > MAX_INTEGER:
            raise Unsendable(f"a whole number of {length} bytes; at most {MAX_INTEGER} are carried")
        return [BIGINT, value.to_bytes(length, "little", signed=True)]

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        self.share(value)
        return [LIST, *self._each(list.__iter__(value), depth)]

    def _tuple(self, value: tuple[Any, ...], depth: int) -> list[Any]:
        return [TUPLE, *self._each(tuple.__iter__(value), depth)]

    def _each(self, items: Iterable[Any], depth: int) -> list[Any]:
        """Return the forms of what a container holds."""
        return [item if type(item) in LEAVES else self.encode(item, depth) for item in items]

    def _dict(self, value: dict[Any, Any], depth: int) -> list[Any]:
        self.share(value)
        forms = self._each([part for item in dict.items(value) for part in item], depth)
        self.keys.add(forms[::2])
        return [DICT, *forms]

    def _set(self, value: set[Any], depth: int) -> list[Any]:
        self.share(value)
        return [SET, *self._items(value, depth)]

    def _frozenset(self, value: frozenset[Any], depth: int) -> list[Any]:
        return [FROZENSET, *self._items(value, depth)]

    def _items(self, value: set[Any] | frozenset[Any], depth: int) -> list[Any]:
        members = set.__iter__(value) if isinstance(value, set) else frozenset.__iter__(value)
        forms = self._each(members, depth)
        self.keys.add(forms)
        return forms

    def _range(self, value: range, depth: int) -> list[Any]:
        if value and (value[-1] - value[0]) // value.step >= MAX_RANGE:  # len() of a long one overflows
            raise Unsendable(f"a range of more than {MAX_RANGE} numbers")
        return [RANGE, *(self.encode(part, depth) for part in (value.start, value.stop, value.step))]

    def _array(self, value: np.ndarray[Any, Any], depth: int) -> list[Any]:
        name = dtype_name(value.dtype)
        flags = value.flags
        fortran = flags.f_contiguous and not flags.c_contiguous
        offset = -(-self.size // ALIGNMENT) * ALIGNMENT
        if offset + value.nbytes > MAX_BLOB:  # before a copy is made: a broadcast array may be larger than the memory
            raise Unsendable(
                f"arrays of {(offset + value.nbytes) >> 20} MB in one call; at most {MAX_BLOB >> 20} MB are carried"
            )
        if without_zeros(value.shape) > MAX_SIZES:
            raise Unsendable(f"an empty array of shape {value.shape}")
        flat = value.T if fortran else value
        if not (fortran or flags.c_contiguous) or not value.dtype.isnative:
            flat = flat.astype(value.dtype.newbyteorder("="), order="C", copy=False)
        self.share(value)
        if offset > self.size:
            self.blobs.append(np.zeros(offset - self.size, np.uint8))
        self.blobs.append(flat)
        self.size = offset + flat.nbytes
        return [ARRAY, name, list(value.shape), fortran, offset, flags.writeable]

    def _generator(self, value: np.random.Generator, depth: int) -> list[Any]:
        self.share(value)
        return [GENERATOR, *generator_state(value)]

    def frame(self, message: list[Any], values: list[Any]) -> list[Any]:
        """Return the buffers of one frame: message's plain fields, then values encoded in order."""
        body = msgpack.packb([*message, *(self.encode(value) for value in values)], unicode_errors="surrogatepass")
        if len(body) > MAX_BODY:
            raise Unsendable(
                f"a value of {len(body) >> 20} MB outside of arrays; at most {MAX_BODY >> 20} MB are carried"
            )
        return [HEADER.pack(MAGIC, len(body), self.size) + body, *self.blobs]


_BUILDERS: dict[type, Callable[[Encoder, Any, int], Any]] = {
    list: Encoder._list,
    tuple: Encoder._tuple,
    dict: Encoder._dict,
    set: Encoder._set,
    frozenset: Encoder._frozenset,
    np.ndarray: Encoder._array,
    np.random.Generator: Encoder._generator,
    complex: lambda self, value, depth: [COMPLEX, value.real, value.imag],
    slice: lambda self, value, depth: [SLICE, *(self.encode(p, depth) for p in (value.start, value.stop, value.step))],
    type(Ellipsis): lambda self, value, depth: [ELLIPSIS],
    type(NotImplemented): lambda self, value, depth: [NOT_IMPLEMENTED],
    range: Encoder._range,
}
# Subclasses of the plain types (OrderedDict, Counter, named tuples) travel as what they extend: what is inside,
# whatever their own ways of iterating say.
_BASES: tuple[tuple[type, Callable[[Encoder, Any, int], Any]], ...] = (
    (bool, lambda self, value, depth: bool(value)),
    (int, lambda self, value, depth: self.encode(int(value), depth)),
    (float, lambda self, value, depth: float(value)),
    (str, lambda self, value, depth: str.__str__(value)),
    (dict, Encoder._dict),
    (list, Encoder._list),
    (tuple, Encoder._tuple),
    (set, Encoder._set),
    (frozenset, Encoder._frozenset),
)
