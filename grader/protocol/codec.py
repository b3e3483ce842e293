"""Values to bytes and back: the only thing that crosses between the grader and a learner's process.

A frame is a fixed header, one msgpack body and one blob. Arrays lie in the blob, 64-byte aligned, and are described in
the body by dtype name, shape, order and offset, so that neither side copies or executes anything to read them. Decoding
builds plain ndarrays from an allow-list of dtypes; any bytes give a value or WireError, within the caps of `bounds.py`.
This module is also imported by the untrusted worker: it needs the standard library, NumPy and msgpack only.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterable
from typing import Any

import msgpack
import numpy as np

from grader.protocol.bounds import (
    MAX_BLOB,
    MAX_BODY,
    MAX_CONTAINERS,
    MAX_DEPTH,
    MAX_HARD_KEYS,
    MAX_INTEGER,
    MAX_RANGE,
    MAX_SIZES,
    MAX_TEXT_ITEM,
    Bounds,
    HardKeys,
    Meter,
    Refused,
    TooLarge,
    Unsendable,
    WireError,
)

__all__ = [
    "ALIGNMENT", "ARRAY", "BIGINT", "BIT_GENERATORS", "CALLBACK", "COMPLEX", "DICT", "DTYPES", "EARLIER", "EXTENDS",
    "FROZENSET", "GENERATOR", "HANDLE", "HEADER", "LIST", "MAGIC", "MAX_BLOB", "MAX_BODY", "MAX_CONTAINERS",
    "MAX_DEPTH", "MAX_HARD_KEYS", "MAX_INTEGER", "MAX_RANGE", "RANGE", "REFERENCE", "SCALAR", "SET", "SLICE", "TUPLE",
    "TYPE", "Bounds", "Decoder", "Encoder", "Refused", "TooLarge", "Unsendable", "WireError", "generator_state",
    "plain_state", "set_generator_state", "shared_in",
]  # fmt: skip

MAGIC = b"AGW1"
HEADER = struct.Struct("<4sIQ")
MT19937_WORDS = 624
MAX_CODE_POINT = 0x10FFFF
ALIGNMENT = 64

LIST, TUPLE, DICT, SET, FROZENSET, ARRAY, SCALAR, BIGINT, COMPLEX, SLICE, ELLIPSIS, RANGE = range(12)
REFERENCE, GENERATOR, TYPE, HANDLE, CALLBACK, NOT_IMPLEMENTED, EXTENDS, EARLIER = range(12, 20)
CONTAINERS = frozenset((LIST, TUPLE, DICT, SET, FROZENSET))

_DTYPE_NAMES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
    " longdouble clongdouble"
)
DTYPES: dict[str, np.dtype[Any]] = {name: np.dtype(name) for name in _DTYPE_NAMES.split()}
EXTENDED = ("longdouble", "clongdouble")
NAMES = {dtype: name for name, dtype in reversed(DTYPES.items())}
BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
TYPES: dict[str, type] = {
    t.__name__: t for t in (bool, int, float, complex, str, bytes, list, tuple, dict, set, object)
}

Wrap = Callable[[object], "list[Any] | None"]
Unwrap = Callable[[int, "list[Any]", Any], Any]  # a tag, its fields, the decoder


def no_wrap(value: object) -> list[Any] | None:
    return None


def no_unwrap(tag: int, fields: list[Any], decoder: object) -> Any:
    raise WireError(f"tag {tag} is not expected here")


def dtype_name(dtype: np.dtype[Any]) -> str:
    """Return the name under which a dtype travels; Unsendable for one outside the allow-list."""
    if dtype.kind in "US":
        if dtype.itemsize > MAX_TEXT_ITEM:
            raise Unsendable(f"strings of {dtype.itemsize} bytes in an array; at most {MAX_TEXT_ITEM} are carried")
        return f"{dtype.kind}{dtype.itemsize // (4 if dtype.kind == 'U' else 1)}"
    name = NAMES.get(dtype) or NAMES.get(dtype.newbyteorder("="))
    if name is None:
        raise Unsendable(
            f"an array of dtype {dtype}; booleans, integers, floats, complex numbers and strings are carried"
        )
    return name


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


def container_counter() -> Callable[[list[Any]], list[Any]]:
    """Return a hook for msgpack that stops at one list too many: an empty one takes a byte there and 60 here."""
    left = MAX_CONTAINERS

    def count(found: list[Any]) -> list[Any]:
        nonlocal left
        left -= 1
        if left < 0:
            raise WireError(f"more than {MAX_CONTAINERS} containers")
        return found

    return count


def refuse_twice(result: set[Any] | frozenset[Any], fields: list[Any]) -> None:
    if len(result) != len(fields):
        raise WireError("a set with a member that is there twice")


def make_numbers(values: np.ndarray[Any, Any]) -> None:
    """Turn bits that are no number of the processor's own long format into NaN, in place."""
    parts = values.view(np.longdouble)
    with np.errstate(all="ignore"):
        np.multiply(parts, np.longdouble(1), out=parts)


def without_zeros(shape: Any) -> int:
    return math.prod(shape) or math.prod([size or 1 for size in shape])


def plain_state(state: Any) -> Any:
    """Return a bit generator's state with arrays and big integers as bytes."""
    if isinstance(state, dict):
        return [[key, plain_state(value)] for key, value in state.items()]
    if isinstance(state, np.ndarray):
        return ["a", str(state.dtype), state.tobytes()]
    return ["i", int(state).to_bytes(17, "little")] if not isinstance(state, str) else ["s", state]


def _state(form: Any, template: Any) -> Any:
    """Return form as a state of the template's layout; WireError where it differs."""
    if type(form) is not list or not all(type(part) in (list, str, bytes) for part in form):
        raise WireError("a bit generator's state is made of lists, text and bytes")
    if isinstance(template, dict):
        if [entry[0] for entry in form] != list(template):
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


def bit_generator_named(name: object) -> np.random.BitGenerator:
    if name not in BIT_GENERATORS:
        raise WireError(f"bit generator {str(name)[:40]!r} is not on the list")
    made: np.random.BitGenerator = getattr(np.random, str(name))(0)
    return made


def generator_state(generator: np.random.Generator) -> list[Any]:
    """Return a random generator as its bit generator's name and state."""
    name = type(generator.bit_generator).__name__
    if name not in BIT_GENERATORS:
        raise Unsendable(f"a random generator over {name}; {', '.join(BIT_GENERATORS)} are carried")
    return [name, plain_state(generator.bit_generator.state)]


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
    plain = type(shape) is list and len(shape) <= 32 and {*map(type, shape)} <= {int}
    if not plain or not 0 <= min(shape, default=0) <= max(shape, default=0) <= 1 << 40:
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
    kind = flat.dtype.kind
    if kind == "U" and flat.size and int(flat.view(np.uint32).max()) > MAX_CODE_POINT:
        raise WireError("a string array holds no code points")
    if kind == "b" and flat.size and int(flat.view(np.uint8).max()) > 1:
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


LEAVES = frozenset((type(None), bool, float, str, bytes))  # what msgpack carries as it is
_SHARED = frozenset((list, dict, set, np.ndarray, np.random.Generator))  # of which two names may be one object


def shared_in(value: Any) -> list[Any]:
    """Return the objects of a plain value that have numbers, in the order in which Encoder and Decoder meet them."""
    found: dict[int, Any] = {}
    left = [value]
    while left:
        each = left.pop()
        kind = type(each)
        if kind is tuple:
            left += reversed(each)
        elif kind in _SHARED and id(each) not in found:
            found[id(each)] = each
            if kind is dict:
                left += [part for item in reversed(each.items()) for part in reversed(item)]
            elif kind is not np.ndarray and kind is not np.random.Generator:
                left += reversed(list(each))
    return list(found.values())


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
        self.unsent = 0  # bytes of arrays that the other side has, and that are named
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
        if kind in _SHARED and id(value) in self._index:
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
        if tag in (HANDLE, CALLBACK, EARLIER):
            return self.unwrap(tag, fields, self)
        if tag == EXTENDS:
            return self._extended(fields, depth)
        reader = _READERS.get(tag)
        if reader is None:
            raise WireError(f"tag {tag} is unknown")
        if tag not in (LIST, DICT, SET):
            return self._read(reader, tag, fields, depth)
        began = self.begin(depth)
        result = self._read(reader, tag, fields, depth)
        self.end(began, depth)
        return result

    def _read(self, reader: Reader, tag: int, fields: list[Any], depth: int) -> Any:
        if depth > self.deepest:
            self.deepest = depth
        try:
            return reader(self, fields, depth + 1)
        except WireError:
            raise
        except (TypeError, ValueError, KeyError, IndexError, OverflowError, AttributeError) as error:
            raise WireError(f"tag {tag}: {type(error).__name__}: {str(error)[:80]}") from None

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
