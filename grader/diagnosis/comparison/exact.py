"""Compare two plain Python values that must be equal: numbers, text, lists, dicts, sets, arrays inside."""

from __future__ import annotations

import math
import reprlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.diagnosis.comparison.difference import Array, Difference, compare, describe
from grader.diagnosis.comparison.wording import KIND_NAMES, NUMPY_SCALARS, SCALARS, Shape, number_pair

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80
LONG_TEXT = 60
CALLED: dict[type, str] = {
    bool: "a bool", int: "an int", float: "a float", complex: "a complex number", str: "a string", list: "a list",
    tuple: "a tuple", dict: "a dict", set: "a set",
}  # fmt: skip


@dataclass(frozen=True)
class Inequality:
    """The first place where two values differ, and how: path reads result[2]['loss']."""

    path: str
    text: str
    difference: Difference | None = None


def inequality(actual: object, expected: object, path: str) -> Inequality | None:
    """The first difference from expected, None if there is none; lists and tuples are alike, so are NaNs.

    NumPy's single numbers count as Python's; True is not 1 and 1.0 is not 1.

    >>> inequality([1, {"rank": 3}], (1, {"rank": 2}), "result")
    Inequality(path="result[1]['rank']", text='expected 2, got 3', difference=None)
    """
    actual, expected = _plain(actual), _plain(expected)
    if type(expected) is np.ndarray:
        return _arrays(actual, expected, path)
    if isinstance(expected, dict):
        return _dicts(actual, expected, path)
    if isinstance(expected, (list, tuple)):
        return _sequences(actual, expected, path)
    if isinstance(expected, (set, frozenset)):
        return _sets(actual, expected, path)
    return None if _key(actual) == _key(expected) else Inequality(path, _unequal(actual, expected))


def _plain(value: object) -> object:
    single = type(value) in NUMPY_SCALARS or (type(value) is np.ndarray and value.ndim == 0)
    return value.item() if single else value  # type: ignore[attr-defined]  # both have it


def _key(value: object) -> tuple[type, object]:
    """What two equal values share; comparing types first keeps foreign objects from answering for themselves."""
    plain = _plain(value)
    if type(plain) is complex:
        return complex, (_key(plain.real), _key(plain.imag))
    return type(plain), "NaN" if type(plain) is float and math.isnan(plain) else plain


def _arrays(actual: object, expected: np.ndarray[Any, Any], path: str) -> Inequality | None:
    if expected.dtype.kind in KIND_NAMES:
        difference = compare(actual, expected, 0.0, 0.0, equal_nan=True)
        return Inequality(path, describe(difference), difference) if difference else None
    if type(actual) is not np.ndarray or actual.shape != expected.shape:
        found = f"one of shape {actual.shape}" if type(actual) is np.ndarray else _came(actual)
        return Inequality(path, f"an array of shape {expected.shape} was expected, {found} came back")
    return _sequences(actual.tolist(), expected.tolist(), path)


def _dicts(actual: object, expected: dict[Any, Any], path: str) -> Inequality | None:
    if not issubclass(type(actual), dict):
        return Inequality(path, f"a dict was expected, {_came(actual)} came back")
    table: dict[Any, Any] = dict(dict.items(actual))  # type: ignore[arg-type]  # past whatever a subclass says of itself
    found, wanted = {_key(key): key for key in table}, {_key(key): key for key in expected}
    members = _members(found, wanted)
    if members:
        return Inequality(path, f"the keys differ: {members}")
    pairs = ((table[found[key]], expected[name], f"{path}[{_shown(name)}]") for key, name in wanted.items())
    return _first(pairs)


def _sequences(actual: object, expected: list[Any] | tuple[Any, ...], path: str) -> Inequality | None:
    if not issubclass(type(actual), (list, tuple)):
        return Inequality(path, f"a {type(expected).__name__} was expected, {_came(actual)} came back")
    items = _items(actual)
    if len(items) != len(expected):
        return Inequality(path, f"expected {len(expected)} items, got {len(items)}: {_shown(actual)}")
    return _first((left, right, f"{path}[{i}]") for i, (left, right) in enumerate(zip(items, expected, strict=True)))


def _items(actual: Any) -> list[Any]:
    """The items of a list or tuple, or of one of their subclasses, read once and past whatever it says of itself."""
    return list(list.__iter__(actual) if issubclass(type(actual), list) else tuple.__iter__(actual))


def _sets(actual: object, expected: set[Any] | frozenset[Any], path: str) -> Inequality | None:
    if not issubclass(type(actual), (set, frozenset)):
        return Inequality(path, f"a set was expected, {_came(actual)} came back")
    own: frozenset[Any] = frozenset().union(actual)  # type: ignore[arg-type]  # past a subclass's own way of iterating
    members = _members({_key(item): item for item in own}, {_key(item): item for item in expected})
    return Inequality(path, f"the members differ: {members}") if members else None


def _first(pairs: Iterable[tuple[object, object, str]]) -> Inequality | None:
    return next((found for pair in pairs if (found := inequality(*pair))), None)


def _members(found: dict[Any, Any], wanted: dict[Any, Any]) -> str:
    missing = [name for key, name in wanted.items() if key not in found]
    extra = [name for key, name in found.items() if key not in wanted]
    named = {"missing": missing, "unexpected": extra}
    return "; ".join(f"{what} {', '.join(map(_shown, names[:6]))}" for what, names in named.items() if names)


def _unequal(actual: object, expected: object) -> str:
    if type(actual) is str and type(expected) is str and max(len(actual), len(expected)) > LONG_TEXT:
        place = next((i for i, (a, b) in enumerate(zip(actual, expected, strict=False)) if a != b), None)
        start = min(len(actual), len(expected)) if place is None else place
        near = slice(max(0, start - 10), start + 20)
        return f"the text differs from character {start} on: expected {expected[near]!r}, got {actual[near]!r}"
    if type(actual) is type(expected) and type(actual) in SCALARS:
        texts = number_pair(expected, actual)
    else:
        texts = _shown(expected), _shown(actual)
    if _another_type(actual, expected):
        return f"{CALLED[type(expected)]} was expected, {_came(actual)} came back"
    kinds = ("", "") if texts[0] != texts[1] else (f" ({type(expected).__name__})", f" ({type(actual).__name__})")
    return f"expected {texts[0]}{kinds[0]}, got {texts[1]}{kinds[1]}"


def _another_type(actual: object, expected: object) -> bool:
    """Whether the types are what differs: of two numbers other than True and False, where their values are equal."""
    types = type(actual), type(expected)
    if types[0] is types[1] or not CALLED.keys() >= set(types):
        return False
    return not SCALARS.issuperset(types) or bool in types or actual == expected


def _came(value: object) -> str:
    """What a value of another type than expected is, in words: an int (3), an array of shape (2,), None."""
    kind = type(value)
    if kind is np.ndarray:
        return f"an array of shape {value.shape}"  # type: ignore[attr-defined]  # it is one
    shown = _shown(value)
    return f"{CALLED[kind]} ({shown})" if kind in CALLED and shown != f"a {kind.__name__}" else shown


def _shown(value: object) -> str:
    plain = _plain(value)
    try:
        return number_pair(None, plain)[1] if type(plain) in SCALARS else _SHORT.repr(plain)
    except ValueError:  # an integer somewhere inside with more digits than Python prints
        return f"a {type(plain).__name__}"


@dataclass(frozen=True)
class Likeness:
    """Why two answers do not differ, in words; the answer that is wrong, and how, where it is one alone."""

    text: str
    actual: object
    difference: Difference | None = None


def likeness(one: object, other: object, shape: Shape, dtype: object, everywhere: bool) -> Likeness | None:
    """Why two answers are not arrays of this shape and kind of dtype that differ; None where they differ.

    With everywhere no value may be equal to its counterpart. What is NaN or infinite differs from nothing.

    >>> likeness(np.ones(2), np.full(2, np.nan), (2,), float, everywhere=False).text
    'the second: shape (2,) is right; all 2 values are NaN, and finite ones were expected'
    """
    pattern = np.zeros(shape, dtype=dtype)  # type: ignore[call-overload]  # any name of a dtype
    for which, value in (("first", one), ("second", other)):
        difference = compare(value, pattern, 0.0, 0.0, equal_nan=False)
        if difference is not None and difference.kind != "values":
            return Likeness(f"the {which}: {_problem(difference)}", value, difference)
    equal: Array = np.equal(np.asarray(one), np.asarray(other))
    if equal.all() or (everywhere and equal.any()):
        return Likeness(_equal(equal, everywhere), other)
    return None


def _problem(difference: Difference) -> str:
    if difference.kind != "non-finite":
        return describe(difference)
    shape = difference.expected_shape
    wanted = "finite ones were expected" if shape else "a finite one was expected"
    return f"{f'shape {shape} is right; ' if shape else ''}{difference.problem}, and {wanted}"


def _equal(equal: np.ndarray[Any, Any], everywhere: bool) -> str:
    count = int(equal.sum())
    share = f"all {equal.size} values" if count == equal.size else f"{count} of {equal.size} values"
    wanted = "none should be" if everywhere else "some should differ"
    return f"{share} are equal in both, and {wanted}"
