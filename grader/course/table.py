"""Typed access to a table of a TOML file: every mistake is noted with its place, and none stops the reading.

This is the only reader of TOML.
"""

from __future__ import annotations

import functools
import math
import re
import reprlib
from collections.abc import Iterable
from pathlib import Path
from typing import TypeGuard, TypeVar

from grader.errors import CourseError

Rule = tuple[str, str]  # the pattern that a text must match in full, and that in words
_Kind = TypeVar("_Kind")
_Number = TypeVar("_Number", int, float)
_TEXT: Rule = r"(?s).*\S.*", "a text that says something"
_KINDS = {
    bool: "true or false",
    str: "a text",
    int: "a whole number",
    float: "a number",
    list: "a list",
    dict: "a table",
}


def listed(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def together(names: Iterable[object]) -> str:
    """Return all of some names as a sentence has them, and nothing of none.

    >>> together(["split", "join", "merge"]), together(["split", "join"])
    ('split, join and merge', 'split and join')
    """
    *first, last = [*map(str, names)] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def near(name: str, known: Iterable[str]) -> list[str]:
    """Up to three known names that are spelt alike, the nearest first."""
    import difflib  # only a mistake needs it

    return difflib.get_close_matches(name, sorted(known))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    alike = near(name, known)
    return f"; did you mean '{alike[0]}'?" if alike else ""


class Table:
    """A table of the file: typed access that notes each mistake, and each key that was asked for."""

    def __init__(self, values: dict[str, object], place: str, mistakes: list[str]) -> None:
        self.values = values
        self._place = place
        self._mistakes = mistakes
        self._asked: set[str] = set()

    def wrong(self, key: str, what: str) -> None:
        self._mistakes.append(f"{self._place}{key}: {what}")

    def value(self, key: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind | None:
        """The value of a key; None once noted that it is of another kind or, if there is no default, missing."""
        self._asked.add(key)
        value: object = self.values.get(key, default)
        if value is None:
            self.wrong(key, f"is missing; expected {_KINDS[kind]}")
            return None
        if _is(value, kind):
            return value
        self.wrong(key, f"{reprlib.repr(value)} is not {_KINDS[kind]}")
        return None

    def text(self, key: str, rule: Rule = _TEXT) -> str:
        value = self.value(key, str)
        if value is not None and not _pattern(rule[0]).fullmatch(value):
            self.wrong(key, f"{value!r} is not {rule[1]}")
        return value or ""

    def texts(self, key: str, rule: Rule = _TEXT, *, required: bool = False) -> tuple[str, ...]:
        texts: list[str] = []
        pattern = _pattern(rule[0])
        for place, value in self._items(key, str, required):
            if value in texts:
                self.wrong(f"{key}[{place}]", f"{value!r} occurs here twice")
            if not pattern.fullmatch(value):
                self.wrong(f"{key}[{place}]", f"{value!r} is not {rule[1]}")
            texts.append(value)
        return tuple(texts)

    def number(self, key: str, default: _Number, below: float) -> _Number:
        value = self.value(key, type(default), default)
        if value is None:
            return default
        if not 0 < value < below:
            expected = "positive and finite" if below == math.inf else f"between 0 and {below:g}"
            self.wrong(key, f"{value} is not {expected}")
        return type(default)(value)

    def table(self, key: str) -> Table:
        return Table(self.value(key, dict, {}) or {}, f"{self._place}{key}.", self._mistakes)

    def tables(self, key: str) -> list[Table]:
        items = self._items(key, dict, required=True)
        return [Table(values, f"{self._place}{key}[{place}].", self._mistakes) for place, values in items]

    def knows(self, *keys: str) -> None:
        """Take keys for ones of this table, whether they are asked for or not."""
        self._asked.update(keys)

    def close(self) -> None:
        """Note the keys that nobody asked for."""
        for key in self.values:
            if key not in self._asked:
                self.wrong(key, f"is not a key of this table{did_you_mean(key, self._asked)}")

    def _items(self, key: str, kind: type[_Kind], required: bool) -> list[tuple[int, _Kind]]:
        """The entries of a list that are of this kind, by their places; the others are noted."""
        values: list[object] | None = self.value(key, list, None if required else [])
        if required and values == []:
            self.wrong(key, "is empty; expected at least one entry")
        items: list[tuple[int, _Kind]] = []
        for place, value in enumerate(values or ()):
            if _is(value, kind):
                items.append((place, value))
            else:
                self.wrong(f"{key}[{place}]", f"{reprlib.repr(value)} is not {_KINDS[kind]}")
        return items


_pattern = functools.cache(re.compile)  # compiled where it is first used


def _is(value: object, kind: type[_Kind]) -> TypeGuard[_Kind]:
    """Say whether a value is of a kind; a whole number is a number, and true is none."""
    return type(value) is kind or (kind is float and type(value) is int)


def read_toml(path: Path, place: str) -> dict[str, object]:
    """Return what a TOML file holds; CourseError, which begins with place, where it cannot be read."""
    return parsed(text_of(path, place), place)


def text_of(path: Path, place: str) -> str:
    """Return the text of a file; CourseError, which begins with place, where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) and error.strerror else error
        raise CourseError(f"{place}: cannot be read: {why}") from error


def parsed(text: str, place: str) -> dict[str, object]:
    """Return what a text in TOML holds; CourseError, which begins with place, where it is none."""
    import tomli  # compiled: a course of 22 stages is read in a third of the time; `grader --help` reads no manifest

    try:
        return tomli.loads(text)
    except tomli.TOMLDecodeError as error:
        found = re.fullmatch(r"(.*) \(at (.*)\)", str(error), re.DOTALL)
        what, where = found.groups() if found else (str(error), "TOML")
        raise CourseError(f"{place}: {where}: {what}") from error
