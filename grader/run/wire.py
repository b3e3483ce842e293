"""Values to bytes and back: the only thing that crosses between the grader and a learner's process.

A frame is a fixed header, one msgpack body and one blob. Arrays lie in the blob, 64-byte aligned, and are described in
the body by dtype name, shape, order and offset, so that neither side copies or executes anything to read them. Decoding
builds plain ndarrays from an allow-list of dtypes; any bytes give a value or WireError, within the caps below.
This module is also imported by the untrusted worker: it needs the standard library, NumPy and msgpack only.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable
from typing import Any

import msgpack
import numpy as np

MAGIC = b"AGW1"
HEADER = struct.Struct("<4sIQ")
MAX_BODY = 8 << 20  # bytes; plain values decode to at most 32 times as much
MAX_CONTAINERS = 1 << 18  # lists, tuples, dicts, sets and arrays in one frame, at most 400 bytes each
MAX_EXPANDED = 1 << 23  # values, where one that is shared counts each time: whoever walks over it meets so many
MAX_HARD_KEYS = 10_000  # keys that are tuples, complex or big: their hashes can be made to collide
MAX_BLOB = 256 << 20  # bytes of array data in one frame
MAX_DEPTH = 64
MAX_TEXT_ITEM = 4096  # bytes of one element of a string array
MAX_INTEGER = 1 << 16  # bytes
MT19937_WORDS = 624
MAX_CODE_POINT = 0x10FFFF
ALIGNMENT = 64

LIST, TUPLE, DICT, SET, FROZENSET, ARRAY, SCALAR, BIGINT, COMPLEX, SLICE, ELLIPSIS, RANGE = range(12)
REFERENCE, GENERATOR, TYPE, HANDLE, CALLBACK, NOT_IMPLEMENTED = range(12, 18)

_DTYPE_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    " longdouble clongdouble"
)
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in _DTYPE_NAMES.split()}
_NAMES = {dtype: name for name, dtype in reversed(DTYPES.items())}
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
_TYPES: dict[str, type] = {
    t.__name__: t for t in (bool, int, float, complex, str, bytes, list, tuple, dict, set, object)
}


class WireError(ValueError):
    """Bytes that are no frame of ours, a value that cannot be sent, or one past a cap."""


class Unsendable(WireError):
    """A learner's value that has no plain form: an object array, an ndarray subclass, one past the size cap."""


Wrap = Callable[[object], "list[Any] | None"]
Unwrap = Callable[[int, "list[Any]", "Callable[[Any], Any]"], Any]


def _no_wrap(value: object) -> list[Any] | None:
    return None


def _no_unwrap(tag: int, fields: list[Any], decode: Callable[[Any], Any]) -> Any:
    raise WireError(f"tag {tag} is not expected here")


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return the name under which a dtype travels; Unsendable for one outside the allow-list."""
    if dtype.kind in "US":
        if dtype.itemsize > MAX_TEXT_ITEM:
            raise Unsendable(f"strings of {dtype.itemsize} bytes in an array; at most {MAX_TEXT_ITEM} are carried")
        return f"{dtype.kind}{dtype.itemsize // (4 if dtype.kind == 'U' else 1)}"
    known = _NAMES.get(dtype)
    if known is not None:
        return known
    native = dtype.newbyteorder("=")
    if native not in _NAMES:
        raise Unsendable(
            f"an array of dtype {dtype}; booleans, integers, floats, complex numbers and strings are carried"
        )
    return _NAMES[native]


def named_dtype(name: object) -> np.dtype[Any]:
    """Return the dtype of an allow-listed name; WireError for any other text."""
    if not isinstance(name, str):
        raise WireError("a dtype's name is text")
    if name in DTYPES:
        return DTYPES[name]
    if name[:1] in ("U", "S") and name[1:].isascii() and name[1:].isdigit() and len(name) < 6:
        dtype = np.dtype(name)
        if dtype.itemsize <= MAX_TEXT_ITEM:
            return dtype
    raise WireError(f"dtype {name[:40]!r} is not on the list")


class Encoder:
    """Turns values into one frame; objects sent twice arrive as one object.

    known holds the mutable objects that the other side has already (a call's arguments, when its reply is encoded).
    """

    def __init__(self, wrap: Wrap = _no_wrap, known: list[Any] | None = None) -> None:
        self.wrap = wrap
        self.shared: list[Any] = list(known or ())
        self._index = {id(value): index for index, value in enumerate(self.shared)}
        self.blobs: list[np.ndarray[Any, Any]] = []
        self.size = 0
        self.containers = 0

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return a msgpack-ready form of value; Unsendable where there is none."""
        if depth > MAX_DEPTH:
            raise Unsendable(f"a value nested more than {MAX_DEPTH} deep")
        kind = type(value)
        if value is None or kind in (bool, float, str, bytes):
            return value
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
            return wrapped
        if isinstance(value, np.ndarray):
            raise Unsendable(
                f"a {type(value).__module__}.{type(value).__qualname__}; a plain numpy.ndarray is expected"
            )
        for base, builder in _BASES:
            if isinstance(value, base):
                return builder(self, value, depth)
        raise Unsendable(f"a {type(value).__module__}.{type(value).__qualname__}, which has no plain form")

    @staticmethod
    def _type_name(value: type) -> list[str] | None:
        if _TYPES.get(value.__name__) is value:
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
            raise Unsendable(f"an integer of {length} bytes")
        return [BIGINT, value.to_bytes(length, "little", signed=True)]

    def _list(self, value: list[Any], depth: int) -> list[Any]:
        self.share(value)
        return [LIST, *(self.encode(item, depth) for item in value)]

    def _tuple(self, value: tuple[Any, ...], depth: int) -> list[Any]:
        return [TUPLE, *(self.encode(item, depth) for item in value)]

    def _dict(self, value: dict[Any, Any], depth: int) -> list[Any]:
        self.share(value)
        forms = [self.encode(part, depth) for item in value.items() for part in item]
        _refuse_hard(forms[::2])
        return [DICT, *forms]

    def _set(self, value: set[Any], depth: int) -> list[Any]:
        self.share(value)
        return [SET, *self._items(value, depth)]

    def _frozenset(self, value: frozenset[Any], depth: int) -> list[Any]:
        return [FROZENSET, *self._items(value, depth)]

    def _items(self, value: set[Any] | frozenset[Any], depth: int) -> list[Any]:
        forms = [self.encode(item, depth) for item in value]
        _refuse_hard(forms)
        return forms

    def _array(self, value: np.ndarray[Any, Any], depth: int) -> list[Any]:
        name = dtype_name(value.dtype)
        flags = value.flags
        fortran = flags.f_contiguous and not flags.c_contiguous
        offset = -(-self.size // ALIGNMENT) * ALIGNMENT
        if offset + value.nbytes > MAX_BLOB:  # before a copy is made: a broadcast array may be larger than the memory
            raise Unsendable(
                f"arrays of {(offset + value.nbytes) >> 20} MB in one call; at most {MAX_BLOB >> 20} MB are carried"
            )
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
    range: lambda self, value, depth: [RANGE, *(self.encode(p, depth) for p in (value.start, value.stop, value.step))],
}
# Subclasses of the plain containers (OrderedDict, Counter, named tuples) travel as what they extend.
_BASES: tuple[tuple[type, Callable[[Encoder, Any, int], Any]], ...] = (
    (bool, lambda self, value, depth: bool(value)),
    (int, lambda self, value, depth: self.encode(int(value), depth)),
    (float, lambda self, value, depth: float(value)),
    (str, lambda self, value, depth: str.__str__(value)),
    (dict, Encoder._dict),
    (tuple, Encoder._tuple),
)


class Decoder:
    """Turns one frame's body and blob into values; the mirror of Encoder."""

    def __init__(self, unwrap: Unwrap = _no_unwrap, known: list[Any] | None = None) -> None:
        self.unwrap = unwrap
        self.shared: list[Any] = list(known or ())
        self.blob: np.ndarray[Any, Any] = np.empty(0, np.uint8)
        self._met = 0  # values so far, each as often as it is reached
        self._sizes: dict[int, int] = {}  # values in each shared container, by its number

    def message(self, body: bytes | bytearray | memoryview, blob: np.ndarray[Any, Any] | None = None) -> list[Any]:
        """Return a frame's fields, not yet decoded; WireError for anything but a list."""
        if blob is not None:
            self.blob = blob
        try:
            hook = _counter() if len(body) > MAX_CONTAINERS else None
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
        place, before = len(self.shared), self._met
        try:
            result = reader(self, fields, depth + 1)
        except WireError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError) as error:
            raise WireError(f"tag {tag}: {type(error).__name__}: {str(error)[:80]}") from None
        if tag in (LIST, DICT, SET):
            self._sizes[place] = self._met - before
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
        _refuse_hard(fields[::2])
        result: dict[Any, Any] = {}
        self.shared.append(result)
        for key, value in zip(fields[::2], fields[1::2], strict=True):
            plain = self.decode(key, depth)
            result[plain] = self.decode(value, depth)
        return result

    def _set(self, fields: list[Any], depth: int) -> set[Any]:
        _refuse_hard(fields)
        result: set[Any] = set()
        self.shared.append(result)
        result.update(self.decode(item, depth) for item in fields)
        return result

    def _frozenset(self, fields: list[Any], depth: int) -> frozenset[Any]:
        _refuse_hard(fields)
        return frozenset([self.decode(item, depth) for item in fields])

    def _array(self, fields: list[Any], depth: int) -> np.ndarray[Any, Any]:
        name, shape, fortran, offset, writeable = fields
        dtype = named_dtype(name)
        if not dtype.itemsize:  # NumPy makes such values one character long, whatever their number
            raise WireError("an array of strings without characters")
        if type(shape) is not list or len(shape) > 32 or any(type(n) is not int or n < 0 or n > 1 << 40 for n in shape):
            raise WireError("an array's shape is a list of at most 32 sizes")
        if (
            type(offset) is not int
            or type(fortran) is not bool
            or type(writeable) is not bool
            or offset < 0
            or offset % ALIGNMENT
        ):
            raise WireError("an array's place is not aligned")
        count = math.prod(shape)
        if offset + count * dtype.itemsize > self.blob.size:
            raise WireError(f"an array of {count} values lies outside of its frame")
        flat = np.frombuffer(self.blob, dtype, count, offset) if count else np.empty(count, dtype)
        if dtype.kind == "U" and count and int(flat.view(np.uint32).max()) > MAX_CODE_POINT:
            raise WireError("a string array holds no code points")
        if dtype.kind == "b" and count and int(flat.view(np.uint8).max()) > 1:
            raise WireError("a boolean array holds bytes other than 0 and 1")
        result = flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
        if not writeable:
            result.flags.writeable = False
        self.shared.append(result)
        return result

    @staticmethod
    def _scalar(decoder: Decoder, fields: list[Any], depth: int) -> Any:
        name, data = fields
        dtype = named_dtype(name)
        if type(data) is not bytes or len(data) != dtype.itemsize or dtype.itemsize == 0:
            raise WireError("a scalar's bytes do not fit its dtype")
        if dtype.kind == "b" and data not in (b"\0", b"\1"):
            raise WireError("a boolean is 0 or 1")
        if dtype.kind == "U" and max(struct.unpack(f"={len(data) // 4}I", data)) > MAX_CODE_POINT:
            raise WireError("a string holds no code points")
        return np.frombuffer(data, dtype)[0]

    def _reference(self, fields: list[Any], depth: int) -> Any:
        (index,) = fields
        if type(index) is not int or not 0 <= index < len(self.shared):
            raise WireError("a reference to nothing")
        self._met += self._sizes.get(index, 0)
        if self._met > MAX_EXPANDED:
            raise WireError(f"a value in which shared ones are met more than {MAX_EXPANDED} times")
        return self.shared[index]

    def _big(self, fields: list[Any], depth: int) -> int:
        (data,) = fields
        if type(data) is not bytes or len(data) > MAX_INTEGER:
            raise WireError(f"a big integer is at most {MAX_INTEGER} bytes")
        return int.from_bytes(data, "little", signed=True)

    def _generator(self, fields: list[Any], depth: int) -> np.random.Generator:
        (name, state) = fields
        result = np.random.Generator(_bit_generator(name))
        set_generator_state(result, name, state)
        self.shared.append(result)
        return result

    def _type(self, fields: list[Any], depth: int) -> Any:
        kind, name = fields
        if kind == "dtype":
            return named_dtype(name)
        return _TYPES[name] if kind == "type" else DTYPES[name].type

    def _numbers(self, fields: list[Any], depth: int) -> list[Any]:
        return [self.decode(field, depth) for field in fields]


_READERS: dict[int, Callable[[Decoder, list[Any], int], Any]] = {
    LIST: Decoder._list,
    TUPLE: Decoder._tuple,
    DICT: Decoder._dict,
    SET: Decoder._set,
    FROZENSET: Decoder._frozenset,
    ARRAY: Decoder._array,
    SCALAR: lambda self, fields, depth: Decoder._scalar(self, fields, depth),
    BIGINT: Decoder._big,
    COMPLEX: lambda self, fields, depth: complex(*(float(part) for part in fields)),
    SLICE: lambda self, fields, depth: slice(*self._numbers(fields, depth)),
    ELLIPSIS: lambda self, fields, depth: Ellipsis,
    NOT_IMPLEMENTED: lambda self, fields, depth: NotImplemented,
    RANGE: lambda self, fields, depth: range(*self._numbers(fields, depth)),
    REFERENCE: Decoder._reference,
    GENERATOR: Decoder._generator,
    TYPE: Decoder._type,
}


def _counter() -> Callable[[list[Any]], list[Any]]:
    """Return a hook for msgpack that stops at one list too many: an empty one takes a byte there and 60 here."""
    left = MAX_CONTAINERS

    def count(found: list[Any]) -> list[Any]:
        nonlocal left
        left -= 1
        if left < 0:
            raise WireError(f"more than {MAX_CONTAINERS} containers")
        return found

    return count


def _refuse_hard(keys: list[Any]) -> None:
    if len(keys) > MAX_HARD_KEYS and sum(type(key) is list for key in keys) > MAX_HARD_KEYS:
        raise Unsendable(f"more than {MAX_HARD_KEYS} keys that are tuples, complex or very large")


def _plain_state(state: Any) -> Any:
    """Return a bit generator's state with arrays and big integers as bytes."""
    if isinstance(state, dict):
        return [[key, _plain_state(value)] for key, value in state.items()]
    if isinstance(state, np.ndarray):
        return ["a", str(state.dtype), state.tobytes()]
    return ["i", int(state).to_bytes(17, "little")] if not isinstance(state, str) else ["s", state]


def _state(form: Any, template: Any) -> Any:
    """Return form as a state of the template's layout; WireError where it differs."""
    if isinstance(template, dict):
        if len(form) != len(template):
            raise WireError("a bit generator's state has other fields")
        return {key: _state(value, template[key]) for key, value in form}
    if isinstance(template, np.ndarray):
        kind, name, data = form
        if kind != "a" or name != str(template.dtype) or len(data) != template.nbytes:
            raise WireError("a bit generator's words have another size")
        return np.frombuffer(data, template.dtype).copy()
    kind, data = form
    if isinstance(template, str):
        return template
    if kind != "i" or len(data) != 17:
        raise WireError("a bit generator's number is 17 bytes")
    return int.from_bytes(data, "little")


def _bit_generator(name: object) -> np.random.BitGenerator:
    if name not in BIT_GENERATORS:
        raise WireError(f"bit generator {str(name)[:40]!r} is not on the list")
    made: np.random.BitGenerator = getattr(np.random, str(name))(0)
    return made


def generator_state(generator: np.random.Generator) -> list[Any]:
    """Return a random generator as its bit generator's name and state."""
    name = type(generator.bit_generator).__name__
    if name not in BIT_GENERATORS:
        raise Unsendable(f"a random generator over {name}; {', '.join(BIT_GENERATORS)} are carried")
    return [name, _plain_state(generator.bit_generator.state)]


def set_generator_state(generator: np.random.Generator, name: object, state: Any) -> None:
    """Move a random generator to a state that came over the wire; WireError for one that does not fit it."""
    if type(generator.bit_generator).__name__ != name:
        raise WireError("the state of another kind of bit generator")
    try:
        made = _state(state, generator.bit_generator.state)
        if name == "MT19937" and made["state"]["pos"] > MT19937_WORDS:  # NumPy would read past its words
            raise WireError("a bit generator's position lies outside of its words")
        generator.bit_generator.state = made
    except WireError:
        raise
    except Exception as error:  # NumPy checks ranges with several kinds of exception
        raise WireError(f"no bit generator's state: {type(error).__name__}") from None
