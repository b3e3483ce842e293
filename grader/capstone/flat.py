"""Plain values as arrays and a structure of JSON, and back: what a checkpoint holds, without pickle.

The structure has each array's number in its place: {"array": 0}. Dicts, lists and tuples keep their kind, scalars of
NumPy their dtype, and a value that is taken apart and put together again has the same bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

KINDS = "biufc"  # of dtypes
DEEPEST = 30
Array = NDArray[Any]


class Unkept(Exception):
    """A value has no plain form; place says where it stands, kind what it is."""

    def __init__(self, place: str, kind: str) -> None:
        super().__init__(f"{place} is {kind}")
        self.place = place
        self.kind = kind


class Misshapen(Exception):
    """A structure is none that was made here."""


def flattened(value: Any, name: str) -> tuple[Any, list[Array]]:
    """Return the structure and the arrays of a value called name; Unkept where a part of it is no plain value.

    >>> flattened({"rate": 0.5, "w": np.zeros(2)}, "state")
    ({'dict': [['rate', 0.5], ['w', {'array': 0}]]}, [array([0., 0.])])
    """
    arrays: list[Array] = []
    return _down(value, name, arrays, 0), arrays


def _down(value: Any, place: str, arrays: list[Array], depth: int) -> Any:
    if depth > DEEPEST:
        raise Unkept(place, f"nested more than {DEEPEST} deep")
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, np.generic | np.ndarray) and value.dtype.kind in KINDS and type(value) is not np.matrix:
        arrays.append(np.array(value, order="C"))
        return {"array" if isinstance(value, np.ndarray) else "scalar": len(arrays) - 1}
    if type(value) in (list, tuple):
        items = [_down(each, f"{place}[{i}]", arrays, depth + 1) for i, each in enumerate(value)]
        return {"list" if type(value) is list else "tuple": items}
    if type(value) is dict:
        return {"dict": [[_key(key, place), _down(each, f"{place}[{key!r}]", arrays, depth + 1)]
                         for key, each in value.items()]}  # fmt: skip
    raise Unkept(place, f"an object of the class {getattr(value, '_shown', None) or type(value).__name__}")


def _key(key: Any, place: str) -> str | int:
    if type(key) not in (str, int):
        raise Unkept(place, f"a dict with a key that is neither a text nor a whole number ({type(key).__name__})")
    plain: str | int = key
    return plain


def restored(structure: Any, arrays: Sequence[Array]) -> Any:
    """Return the value of a structure and its arrays; Misshapen where they do not fit together."""
    match structure:
        case None | bool() | int() | float() | str():
            return structure
        case {"array": int(number), **more} if not more and 0 <= number < len(arrays):
            return arrays[number]
        case {"scalar": int(number), **more} if not more and 0 <= number < len(arrays) and arrays[number].ndim == 0:
            return arrays[number][()]
        case {"list": list(items), **more} if not more:
            return [restored(each, arrays) for each in items]
        case {"tuple": list(items), **more} if not more:
            return tuple(restored(each, arrays) for each in items)
        case {"dict": list(pairs), **more} if not more:
            return dict(_pair(each, arrays) for each in pairs)
    raise Misshapen(f"a structure holds {type(structure).__name__} where a value was expected")


def _pair(pair: Any, arrays: Sequence[Array]) -> tuple[str | int, Any]:
    match pair:
        case [str() | int() as key, value]:
            return key, restored(value, arrays)
    raise Misshapen("a structure has a dict whose entries are no pairs")
