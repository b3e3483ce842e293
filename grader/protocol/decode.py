"""One frame to values: any bytes give a value or WireError, within the caps; the mirror of encode."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

from grader.protocol.arrays import array_of, scalar_of
from grader.protocol.definitions import (
    ARRAY,
    BIGINT,
    CALLBACK,
    COMPLEX,
    DICT,
    DTYPES,
    ELLIPSIS,
    FROZENSET,
    GENERATOR,
    HANDLE,
    LIST,
    MAX_BLOB,
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_EXPANDED,
    MAX_INTEGER,
    MAX_RANGE,
    NOT_IMPLEMENTED,
    RANGE,
    REFERENCE,
    SCALAR,
    SET,
    SLICE,
    TUPLE,
    TYPE,
    TYPES,
    Unwrap,
    WireError,
    container_counter,
    extent,
    hard_keys_among,
    named_dtype,
    no_unwrap,
    refuse_twice,
)
from grader.protocol.generator_state import bit_generator_named, set_generator_state


class Decoder:
    """Turns one frame's body and blob into values; the mirror of Encoder."""

    def __init__(self, unwrap: Unwrap = no_unwrap, known: list[Any] | None = None) -> None:
        self.unwrap = unwrap
        self.shared: list[Any] = list(known or ())
        self.blob: np.ndarray[Any, Any] = np.empty(0, np.uint8)
        self._met = 0  # values so far, each as often as it is reached
        self._again = 0  # bytes of arrays that were met before, each as often as it is reached
        self._sizes: dict[int, tuple[int, int]] = {}  # values in each shared object and bytes of arrays, by its number
        self._own = 0  # bytes of arrays of this frame
        self._hard_keys = 0

    def message(self, body: bytes | bytearray | memoryview, blob: np.ndarray[Any, Any] | None = None) -> list[Any]:
        """Return a frame's fields, not yet decoded; WireError for anything but a list."""
        if blob is not None:
            self.blob = blob
        try:
            hook = container_counter() if len(body) > MAX_CONTAINERS else None
            fields = msgpack.unpackb(
                body, unicode_errors="surrogatepass", strict_map_key=True, max_ext_len=0, max_map_len=0, list_hook=hook
            )
        except Exception as error:  # msgpack raises many kinds; each means that these bytes are no body
            raise WireError(f"not a message: {type(error).__name__}: {str(error)[:80]}") from None
        if type(fields) is not list:
            raise WireError("a message is a list")
        return fields

    def decode(self, form: Any, depth: int = 0) -> Any:
        """Return the value that form describes; WireError for anything malformed."""
        self._met += 1
        if type(form) is not list:
            if form is None or type(form) in (bool, int, float, str, bytes):
                return form
            raise WireError(f"a {type(form).__name__} is no value")
        if depth > MAX_DEPTH:
            raise WireError(f"nested more than {MAX_DEPTH} deep")
        if not form or type(form[0]) is not int:
            raise WireError("a value without a tag")
        tag, fields = form[0], form[1:]
        if tag in (HANDLE, CALLBACK):
            return self.unwrap(tag, fields, lambda inner: self.decode(inner, depth + 1))
        reader = _READERS.get(tag)
        if reader is None:
            raise WireError(f"tag {tag} is unknown")
        place, before = len(self.shared), (self._met, self._bytes())
        try:
            result = reader(self, fields, depth + 1)
        except WireError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError) as error:
            raise WireError(f"tag {tag}: {type(error).__name__}: {str(error)[:80]}") from None
        if tag in (LIST, DICT, SET):
            self._sizes[place] = self._met - before[0], self._bytes() - before[1]
        return result

    def _list(self, fields: list[Any], depth: int) -> list[Any]:
        result: list[Any] = []
        self.shared.append(result)
        result.extend(self.decode(item, depth) for item in fields)
        return result

    def _tuple(self, fields: list[Any], depth: int) -> tuple[Any, ...]:
        return tuple([self.decode(item, depth) for item in fields])

    def _dict(self, fields: list[Any], depth: int) -> dict[Any, Any]:
        if len(fields) % 2:
            raise WireError("a dict with a key and no value")
        self._hard_keys += hard_keys_among(fields[::2], self._hard_keys)
        result: dict[Any, Any] = {}
        self.shared.append(result)
        for key, value in zip(fields[::2], fields[1::2], strict=True):
            plain = self.decode(key, depth)
            result[plain] = self.decode(value, depth)
        if 2 * len(result) != len(fields):
            raise WireError("a dict with a key that is there twice")
        return result

    def _set(self, fields: list[Any], depth: int) -> set[Any]:
        self._hard_keys += hard_keys_among(fields, self._hard_keys)
        result: set[Any] = set()
        self.shared.append(result)
        result.update(self.decode(item, depth) for item in fields)
        refuse_twice(result, fields)
        return result

    def _frozenset(self, fields: list[Any], depth: int) -> frozenset[Any]:
        self._hard_keys += hard_keys_among(fields, self._hard_keys)
        result = frozenset([self.decode(item, depth) for item in fields])
        refuse_twice(result, fields)
        return result

    def _array(self, fields: list[Any], depth: int) -> np.ndarray[Any, Any]:
        result = array_of(fields, self.blob)
        self.shared.append(result)
        self._own += result.nbytes
        return result

    def _reference(self, fields: list[Any], depth: int) -> Any:
        (index,) = fields
        if type(index) is not int or not 0 <= index < len(self.shared):
            raise WireError("a reference to nothing")
        values, size = self._sizes.get(index) or self._sizes.setdefault(index, extent(self.shared[index]))
        self._met += values
        self._again += size
        if self._met > MAX_EXPANDED or self._again > MAX_BLOB:
            raise WireError(f"a value in which shared ones are met more than {MAX_EXPANDED} times")
        return self.shared[index]

    def _bytes(self) -> int:
        return self._again + self._own

    def _big(self, fields: list[Any], depth: int) -> int:
        (data,) = fields
        if type(data) is not bytes or len(data) > MAX_INTEGER:
            raise WireError(f"a big integer is at most {MAX_INTEGER} bytes")
        return int.from_bytes(data, "little", signed=True)

    def _generator(self, fields: list[Any], depth: int) -> np.random.Generator:
        (name, state) = fields
        result = np.random.Generator(bit_generator_named(name))
        set_generator_state(result, name, state)
        self.shared.append(result)
        return result

    def _type(self, fields: list[Any], depth: int) -> Any:
        kind, name = fields
        if kind == "dtype":
            return named_dtype(name)
        return TYPES[name] if kind == "type" else DTYPES[name].type

    def _range(self, fields: list[Any], depth: int) -> range:
        bounds = self._numbers(fields, depth)
        if len(bounds) != 3 or not all(type(bound) is int for bound in bounds):
            raise WireError("a range is three integers")
        result = range(*bounds)
        length = (result[-1] - result[0]) // result.step if result else 0
        self._met += length
        if length >= MAX_RANGE or self._met > MAX_EXPANDED:
            raise WireError(f"a range of more than {MAX_RANGE} numbers")
        return result

    @staticmethod
    def _complex(decoder: Decoder, fields: list[Any], depth: int) -> complex:
        if [type(part) for part in fields] != [float, float]:
            raise WireError("a complex number is two floating ones")
        return complex(*fields)

    def _numbers(self, fields: list[Any], depth: int) -> list[Any]:
        return [self.decode(field, depth) for field in fields]


_READERS: dict[int, Callable[[Decoder, list[Any], int], Any]] = {
    LIST: Decoder._list,
    TUPLE: Decoder._tuple,
    DICT: Decoder._dict,
    SET: Decoder._set,
    FROZENSET: Decoder._frozenset,
    ARRAY: Decoder._array,
    SCALAR: lambda self, fields, depth: scalar_of(fields),
    BIGINT: Decoder._big,
    COMPLEX: lambda self, fields, depth: Decoder._complex(self, fields, depth),
    SLICE: lambda self, fields, depth: slice(*self._numbers(fields, depth)),
    ELLIPSIS: lambda self, fields, depth: Ellipsis,
    NOT_IMPLEMENTED: lambda self, fields, depth: NotImplemented,
    RANGE: Decoder._range,
    REFERENCE: Decoder._reference,
    GENERATOR: Decoder._generator,
    TYPE: Decoder._type,
}
