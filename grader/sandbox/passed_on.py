"""Answers that a test passes on as they came: a planned question names them, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from grader.protocol import codec
from grader.sandbox.values import Blank

Path = tuple[int | str, ...]  # the items by which a part of an answer is reached
_KEPT = (list, tuple, dict, np.ndarray, Blank)


class PassedOn:
    """The answers of one test so far, as they came, and their parts by the objects that the test holds.

    named holds the places of those answers of which a later question names a part.
    """

    def __init__(self) -> None:
        self.named: set[int] = set()
        self._parts: dict[int, tuple[Any, Any, int, Path]] = {}

    def keep(self, at: int, answer: Any, copy: Any, given: list[Any]) -> None:
        """Note the answer to a question by its place; what the question gave is the test's own, also in there."""
        own = set(map(id, given))
        for part, copied, path in _parts(answer, copy, ()):
            if id(part) not in own:
                self._parts.setdefault(id(part), (part, copied, at, path))

    def forget(self) -> None:
        """Let go of the answers: nothing is asked any more."""
        self._parts.clear()

    def form(self, value: Any, encoder: NamingEncoder) -> list[Any] | None:
        """Return the form that names a value; None for one that is no answer's, or no longer what came."""
        if type(value) not in _KEPT or id(value) not in self._parts:
            return None
        _, copy, at, path = self._parts[id(value)]
        if not _is_same(value, copy) or not encoder.adopt(value):
            return None
        self.named.add(at)
        return [codec.EARLIER, at, *path]


class NamingEncoder(codec.Encoder):
    """Names what a test passes on of earlier answers, and encodes the rest."""

    def __init__(self, wrap: codec.Wrap, earlier: PassedOn) -> None:
        super().__init__(wrap)
        self._earlier = earlier

    def encode(self, value: Any, depth: int = 0) -> Any:
        form = self._earlier.form(value, self)
        return super().encode(value, depth) if form is None else form

    def adopt(self, value: Any) -> bool:
        """Give what a value holds its numbers, as if it were encoded; say whether nothing of it has been met before."""
        found = codec.shared_in(value)
        if any(id(each) in self._index for each in found):
            return False
        for each in found:
            self.share(each)
        self.unsent += sum(each.nbytes for each in found if type(each) is np.ndarray)
        return True


def _parts(value: Any, copy: Any, path: Path) -> Iterator[tuple[Any, Any, Path]]:
    """Yield the parts of an answer that are objects of their own, with their copies and where they are."""
    kind = type(value)
    if kind not in _KEPT or kind is not type(copy) or (kind is tuple and not value):  # there is one empty tuple
        return
    yield value, copy, path
    if kind is dict:
        for key in value:
            if type(key) in (int, str):
                yield from _parts(value[key], copy[key], (*path, key))
    elif kind in (list, tuple):
        for index, (item, other) in enumerate(zip(value, copy, strict=True)):
            yield from _parts(item, other, (*path, index))


def _is_same(value: Any, copy: Any) -> bool:
    """Say whether a value would be encoded as its copy."""
    kind = type(value)
    if kind is not type(copy):
        return False
    if kind is np.ndarray:
        alike = value.dtype == copy.dtype and value.shape == copy.shape and value.strides == copy.strides
        return bool(alike and value.flags.writeable == copy.flags.writeable and value.tobytes() == copy.tobytes())
    if kind is dict:
        return len(value) == len(copy) and all(
            _is_same(key, other) and _is_same(value[key], copy[other]) for key, other in zip(value, copy, strict=True)
        )
    if kind in (list, tuple):
        return len(value) == len(copy) and all(map(_is_same, value, copy))
    return value is copy or (kind in (int, str) and bool(value == copy))
