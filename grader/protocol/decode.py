"""One frame to values: any bytes give a value or WireError, within the caps; the mirror of encode."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

from grader.protocol.arrays import array_from, scalar_from
from grader.protocol.definitions import (
    ARRAY,
    BIGINT,
    CALLBACK,
    COMPLEX,
    CONTAINERS,
    DICT,
    ELLIPSIS,
    EXTENDS,
    FROZENSET,
    GENERATOR,
    HANDLE,
    LIST,
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_RANGE,
    NOT_IMPLEMENTED,
    RANGE,
    REFERENCE,
    SCALAR,
    SET,
    SLICE,
    TUPLE,
    TYPE,
    Bounds,
    TooLarge,
    Unwrap,
    WireError,
    container_counter,
    no_unwrap,
    refuse_twice,
)
from grader.protocol.generator_state import bit_generator_named, set_generator_state
from grader.protocol.meter import Meter
from grader.protocol.plain import big_from, complex_from, type_from

MAX_GENERATORS = 1000  # of one frame: each is made in about as much time as a thousand numbers


class Decoder(Meter):
    """Turns one frame's body and blob into values; the mirror of Encoder.

    With bounds, what is larger is refused, and so is a value that contains itself. until is the processor time of this
    thread, as time.thread_time() tells it, after which no more keys are put into a dict or a set.
    """

    def __init__(
        self,
        unwrap: Unwrap = no_unwrap,
        known: list[Any] | None = None,
        bounds: Bounds | None = None,
        until: float = math.inf,
    ) -> None:
        super().__init__(list(known or ()), bounds, until)
        self.unwrap = unwrap
        self.blob: np.ndarray[Any, Any] = np.empty(0, np.uint8)
        self._generators = 0

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
        self.met += 1
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
            return self.unwrap(tag, fields, self)
        if tag == EXTENDS:
            return self._extended(fields, depth)
        reader = _READERS.get(tag)
        if reader is None:
            raise WireError(f"tag {tag} is unknown")
        if tag in (LIST, DICT, SET):
            return self._measured(reader, tag, fields, depth)
        return self._read(reader, tag, fields, depth)

    def _read(self, reader: Reader, tag: int, fields: list[Any], depth: int) -> Any:
        if depth > self.deepest:
            self.deepest = depth
        try:
            return reader(self, fields, depth + 1)
        except WireError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError) as error:
            raise WireError(f"tag {tag}: {type(error).__name__}: {str(error)[:80]}") from None

    def _measured(self, reader: Reader, tag: int, fields: list[Any], depth: int) -> Any:
        """Read what may be referred to later, and note how much whoever walks over it will meet."""
        began = self.begin(depth)
        result = self._read(reader, tag, fields, depth)
        self.end(began, depth)
        return result

    def _list(self, fields: list[Any], depth: int) -> list[Any]:
        self.few("list", len(fields))
        result: list[Any] = []
        self.shared.append(result)
        result.extend(self.decode(item, depth) for item in fields)
        return result

    def _tuple(self, fields: list[Any], depth: int) -> tuple[Any, ...]:
        self.few("tuple", len(fields))
        return tuple([self.decode(item, depth) for item in fields])

    def _dict(self, fields: list[Any], depth: int) -> dict[Any, Any]:
        if len(fields) % 2:
            raise WireError("a dict with a key and no value")
        self.few("dict", len(fields) // 2)
        self.keys.add(fields[::2])
        result: dict[Any, Any] = {}
        self.shared.append(result)
        for key, value in zip(fields[::2], fields[1::2], strict=True):
            plain = self.decode(key, depth)
            result[plain] = self.decode(value, depth)
            self.in_time(len(result))
        if 2 * len(result) != len(fields):
            raise WireError("a dict with a key that is there twice")
        return result

    def _set(self, fields: list[Any], depth: int) -> set[Any]:
        self.few("set", len(fields))
        self.keys.add(fields)
        result: set[Any] = set()
        self.shared.append(result)
        for item in fields:
            result.add(self.decode(item, depth))
            self.in_time(len(result))
        refuse_twice(result, fields)
        return result

    def _frozenset(self, fields: list[Any], depth: int) -> frozenset[Any]:
        self.few("frozenset", len(fields))
        self.keys.add(fields)
        result = frozenset(self.set_of(self.decode(item, depth) for item in fields))
        refuse_twice(result, fields)
        return result

    def _array(self, fields: list[Any], depth: int) -> np.ndarray[Any, Any]:
        result = array_from(fields, self.blob, self.bounds)
        self.shared.append(result)
        self.own += result.nbytes
        return result

    def _extended(self, fields: list[Any], depth: int) -> Any:
        """Return what stands here for a container of a class of its own; unwrap makes it of its content."""
        form = fields[-1] if fields else None
        if type(form) is not list or not form or type(form[0]) is not int or form[0] not in CONTAINERS:
            raise WireError("what extends a container has the content of one")
        place = len(self.shared)
        content = self.decode(form, depth)
        found = self.unwrap(EXTENDS, [*fields[:-1], place, content], self)
        if form[0] in (LIST, DICT, SET):
            self.shared[place] = found
        return found

    def _reference(self, fields: list[Any], depth: int) -> Any:
        (index,) = fields
        if type(index) is not int or not 0 <= index < len(self.shared):
            raise WireError("a reference to nothing")
        self.meet(index, depth - 1)  # what a reference names stands in its own place
        return self.shared[index]

    def _generator(self, fields: list[Any], depth: int) -> np.random.Generator:
        (name, state) = fields
        self._generators += 1
        if self._generators > MAX_GENERATORS:
            raise TooLarge(f"more than {MAX_GENERATORS} random generators")
        result = np.random.Generator(bit_generator_named(name))
        set_generator_state(result, name, state)
        self.shared.append(result)
        return result

    def _range(self, fields: list[Any], depth: int) -> range:
        bounds = self._numbers(fields, depth)
        if len(bounds) != 3 or not all(type(bound) is int for bound in bounds):
            raise WireError("a range is three integers")
        result = range(*bounds)
        length = (result[-1] - result[0]) // result.step if result else 0
        self.few("range", length)
        if length >= MAX_RANGE or self.past(length):
            raise WireError(f"a range of more than {MAX_RANGE} numbers")
        return result

    def _numbers(self, fields: list[Any], depth: int) -> list[Any]:
        return [self.decode(field, depth) for field in fields]


Reader = Callable[[Decoder, list[Any], int], Any]
_READERS: dict[int, Reader] = {
    LIST: Decoder._list,
    TUPLE: Decoder._tuple,
    DICT: Decoder._dict,
    SET: Decoder._set,
    FROZENSET: Decoder._frozenset,
    ARRAY: Decoder._array,
    SCALAR: lambda self, fields, depth: scalar_from(fields),
    BIGINT: lambda self, fields, depth: big_from(fields),
    COMPLEX: lambda self, fields, depth: complex_from(fields),
    SLICE: lambda self, fields, depth: slice(*self._numbers(fields, depth)),
    ELLIPSIS: lambda self, fields, depth: Ellipsis,
    NOT_IMPLEMENTED: lambda self, fields, depth: NotImplemented,
    RANGE: Decoder._range,
    REFERENCE: Decoder._reference,
    GENERATOR: Decoder._generator,
    TYPE: lambda self, fields, depth: type_from(fields),
}
