"""Words for a returned value: what it is instead of an array, how its shape is off, and numbers told apart."""

from __future__ import annotations

import re
import types
from collections.abc import Sequence
from decimal import Decimal, InvalidOperation
from math import prod
from typing import Any

import numpy as np

from grader.course.table import together
from grader.sandbox.values import Extended

Shape = tuple[int, ...]
SHORT_DIGITS, REPR_DIGITS, LONGEST_DIGITS = 6, 17, 40
LONGEST_BITS = 128
KIND_NAMES = {"b": "bool", "i": "integer", "u": "integer", "f": "floating", "c": "complex"}
SCALARS = frozenset({bool, int, float, complex})
NUMPY_SCALARS = frozenset(np.sctypeDict.values())
FUNCTIONS = frozenset({types.FunctionType, types.BuiltinFunctionType, types.MethodType})
_NUMBERED = re.compile(r"\bax[ei]s (\d)(?: and (\d))?\b(?! \()")  # that no name follows
COLLECTIONS = frozenset({list, tuple, dict, set, frozenset})


def not_numbers(value: object, shape: Shape) -> str | None:
    """Why value cannot be an array of numbers of that shape, as a sentence; None if it can.

    Plain arrays of bool, integer, floating or complex dtype can, and single numbers where shape is ().
    """
    kind = type(value)
    if kind is np.ndarray or kind in NUMPY_SCALARS:
        dtype: np.dtype[np.generic] = value.dtype  # type: ignore[attr-defined]  # both have one
        if dtype.kind not in KIND_NAMES:
            return f"returned {_unusual(dtype)} where {'an array of numbers' if shape else 'a number'} was expected"
    if kind is np.ndarray:
        return None
    if kind in NUMPY_SCALARS or kind in SCALARS:
        number = number_pair(None, value)[1]
        return f"returned the single number {number} where an array of shape {shape} was expected" if shape else None
    return _no_array(value, kind, shape)


def _no_array(value: object, kind: type, shape: Shape) -> str:
    if value is None:
        return "returned None: is a return statement missing?"
    if issubclass(kind, np.ma.MaskedArray):
        return "returned a masked array where a plain NumPy array was expected"
    if issubclass(kind, np.ndarray):
        return f"returned a {kind.__name__}, a subclass of NumPy's array; wrap it with np.asarray"
    if issubclass(kind, list) and shape:
        return f"returned a list of {list.__len__(value)}; wrap it with np.array"  # type: ignore[arg-type]  # it is one
    if kind in FUNCTIONS:
        return f"returned a function where {_wanted(shape)} was expected: are the parentheses of a call missing?"
    return f"returned {_named(value, kind)} where {_wanted(shape)} was expected"


def _named(value: object, kind: type) -> str:
    if kind.__module__.startswith("grader.sandbox.") and not issubclass(kind, Extended):
        return repr(value)  # our stand-in for an object that stays in the learner's process; its repr says what it is
    base: type | None = next((base for base in COLLECTIONS if issubclass(kind, base)), None)
    size = f" of {base.__len__(value)}" if base else ""  # type: ignore[attr-defined]  # all of these have a length
    name = _own_name(value, kind)
    return f"{'an' if name[:1].lower() in 'aeiou' else 'a'} {name}{size}"


def _own_name(value: object, kind: type) -> str:
    """The name of an object's class; of what stands for a learner's container, that of the learner's class."""
    return str(value.__dict__["_shown"]) if issubclass(kind, Extended) else kind.__name__


def _wanted(shape: Shape) -> str:
    return "one array" if shape else "a single number"


def _unusual(dtype: np.dtype[np.generic]) -> str:
    if dtype.names is not None:
        return "a structured array"
    names = {"O": "Python objects (dtype object)", "U": "text", "S": "bytes", "M": "dates", "m": "time spans"}
    return f"an array of {names.get(dtype.kind, f'dtype {dtype}')}"


def shape_text(shape: Shape, axes: Sequence[str] | None = None) -> str:
    """A shape with the names of its axes where they are known: (batch 2, seq 6)."""
    if not axes or len(axes) != len(shape):
        return str(shape)
    return "(" + ", ".join(f"{name} {size}" for name, size in zip(axes, shape, strict=True)) + ")"


def axis_text(axis: int, axes: Sequence[str] | None = None) -> str:
    """An axis by its number and, where known, its name: axis 1 (heads)."""
    return f"axis {axis} ({axes[axis]})" if axes else f"axis {axis}"


def axes_text(first: int, second: int, axes: Sequence[str] | None = None) -> str:
    """Two axes by their numbers and, where known, their names: axes 1 and 2 (heads and seq)."""
    return f"axes {first} and {second}" + (f" ({axes[first]} and {axes[second]})" if axes else "")


def name_axes(text: str, axes: Sequence[str]) -> str:
    """A message whose axes are told by number alone, with their names: axis 1 becomes axis 1 (heads)."""

    def named(found: re.Match[str]) -> str:
        numbers = [int(number) for number in found.groups() if number is not None]
        if any(number >= len(axes) for number in numbers):
            return found[0]
        return f"{found[0]} ({together(axes[number] for number in numbers)})"

    return _NUMBERED.sub(named, text)


def shape_note(shape: Shape, expected: Shape, axes: Sequence[str] | None = None) -> str | None:
    """What probably happened when shape came back instead of expected; None when nothing is plain.

    >>> shape_note((2, 6, 1), (2, 6))
    'an axis of size 1 is left over: axis 2 (keepdims and np.newaxis make one)'
    """
    if not expected and prod(shape) == 1:
        return "it holds a single number, but is not one: index it, or sum over its axes"
    if not expected:
        return "a single number was expected: is something left to sum, to average or to index?"
    if sorted(shape) == sorted(expected):
        moved = [axis for axis, size in enumerate(shape) if size != expected[axis]]
        return f"axes {moved[0]} and {moved[1]} are swapped" if len(moved) == 2 else "the axes are in another order"
    if [size for size in shape if size != 1] == [size for size in expected if size != 1]:
        return _axis_of_size_one(shape, expected, axes)
    return _one_axis(shape, expected, axes) or (
        f"the same number of values, {prod(shape)}, in another arrangement" if prod(shape) == prod(expected) else None
    )


def _axis_of_size_one(shape: Shape, expected: Shape, axes: Sequence[str] | None) -> str:
    if len(shape) > len(expected):
        return f"an axis of size 1 is left over{_which(_without(shape, expected))} (keepdims and np.newaxis make one)"
    if len(shape) < len(expected):
        return f"an axis of size 1 is missing{_which(_without(expected, shape), axes)} (keepdims=True keeps it)"
    return "the axis of size 1 is in another place"


def _which(candidates: list[int], axes: Sequence[str] | None = None) -> str:
    return f": {axis_text(candidates[0], axes)}" if len(candidates) == 1 else ""


def _without(longer: Shape, shorter: Shape) -> list[int]:
    """The axes that can be taken from the longer shape to leave the shorter one."""
    return [axis for axis in range(len(longer)) if longer[:axis] + longer[axis + 1 :] == shorter]


def _one_axis(shape: Shape, expected: Shape, axes: Sequence[str] | None) -> str | None:
    lost, extra = _without(expected, shape), _without(shape, expected)
    if lost:
        return f"an axis is missing{_which(lost, axes)}"
    if extra:
        return f"there is one axis too many{_which(extra)}; is something left to sum or to index?"
    off = [axis for axis in range(len(expected)) if shape[axis : axis + 1] != expected[axis : axis + 1]]
    if len(shape) == len(expected) and len(off) == 1 and abs(step := shape[off[0]] - expected[off[0]]) == 1:
        return f"{axis_text(off[0], axes)} is one too {'long' if step > 0 else 'short'}"
    return None


def number_pair(expected: object, actual: object) -> tuple[str, str]:
    """Both numbers as text, short where that tells them apart, with as many digits as it takes where not.

    >>> number_pair(8.0, 4.0), number_pair(0.1, 0.1 + 1e-12)
    (('8.0', '4.0'), ('0.1', '0.100000000001'))
    """
    texts = ("", "")
    for digits in (*range(SHORT_DIGITS, REPR_DIGITS + 1), LONGEST_DIGITS):
        texts = _text(expected, digits), _text(actual, digits)
        if not _read_the_same(*texts):
            break
    return texts


def _text(value: object, digits: int) -> str:
    if isinstance(value, (complex, np.complexfloating)):
        imaginary = _real_text(value.imag, digits)
        return f"{_real_text(value.real, digits)}{'' if imaginary.startswith('-') else '+'}{imaginary}j"
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        bits = int(value).bit_length()
        return str(int(value)) if bits <= LONGEST_BITS else f"an integer of {bits} bits"
    return _real_text(value, digits) if isinstance(value, (float, np.floating)) else str(value)


def _real_text(value: float | np.floating[Any], digits: int) -> str:
    with np.errstate(all="ignore"):
        number = float(value)
        if np.isfinite(value) and number != value:  # more than float64 holds
            return np.format_float_scientific(value, precision=digits - 1, unique=digits == LONGEST_DIGITS, trim="0")
    text = f"{number:.{digits}g}" if digits < REPR_DIGITS else repr(number)
    whole = text.lstrip("-")
    return f"{text}.0" if whole.isdigit() and (len(whole) < digits or float(text) == number) else text


def _read_the_same(first: str, second: str) -> bool:
    try:
        return first == second or Decimal(first) == Decimal(second) or float(first) == float(second)
    except InvalidOperation:  # not a real number: None, complex, bool
        return False
