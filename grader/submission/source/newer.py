"""Syntax of a newer Python than the running one: which version reads it, and what to write in its place."""

from __future__ import annotations

import ast
import re
import sys
import warnings
from collections.abc import Callable
from dataclasses import dataclass

Version = tuple[int, int]
LONGEST = 500  # characters of a line that is looked at: fields of f-strings may stand within each other
_PREFIX = re.compile(r"[A-Za-z]{0,2}$")
_OPENING, _CLOSING = "([{", ")]}"


@dataclass(frozen=True)
class Newer:
    """A construct that a newer Python reads: since which version, the same line without it, and what to write."""

    since: Version
    line: str
    instead: str


def newer_syntax(text: str, number: int, running: Version = sys.version_info[:2]) -> Newer | None:
    """Return what a newer Python would read in a line, counted from 1, at which the running one stops; else None.

    It is told only where the running Python gets past the line once the construct is gone.
    """
    lines = text.split("\n")
    if len(lines[number - 1]) > LONGEST:
        return None
    for find in (_type_alias, _type_parameters, _bare_types, _template, _f_string):
        found = find(lines[number - 1])
        if (
            found is not None
            and found.since > running
            and _reads([*lines[: number - 1], found.line, *lines[number:]], number)
        ):
            return found
    return None


def _reads(lines: list[str], number: int) -> bool:
    """Say whether the running Python gets past a line."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse("\n".join(lines))
    except SyntaxError as error:
        return error.lineno is not None and error.lineno > number
    except (ValueError, RecursionError, MemoryError):
        return False
    return True


def _type_alias(line: str) -> Newer | None:
    found = re.match(r"(\s*)type\s+([^\W\d]\w*)\s*(?:\[.*?\]\s*)?=(?!=)(.*)", line)
    return found and Newer((3, 12), f"{found[1]}{found[2]} ={found[3]}", f"Write `{found[2]} =` without `type`.")


def _type_parameters(line: str) -> Newer | None:
    found = re.match(r"(\s*(?:async\s+)?(?:def|class)\s+([^\W\d]\w*))\s*\[(.*?)\](?=\s*[(:])(.*)", line)
    if found is None:
        return None
    since = (3, 13) if "=" in found[3] else (3, 12)
    return Newer(since, f"{found[1]}{found[4]}", f"Write `{found[2]}` without the type parameters in brackets.")


def _bare_types(line: str) -> Newer | None:
    found = re.match(r"(\s*except\*?\s+)([\w.]+(?:\s*,\s*[\w.]+)+)\s*(:.*)", line)
    return found and Newer(
        (3, 14), f"{found[1]}({found[2]}){found[3]}", f"Write the types in parentheses: `({found[2]})`."
    )


def _template(line: str) -> Newer | None:
    def change(prefix: str, whole: str) -> str | None:
        return f"f{whole[len(prefix) :]}" if prefix.lower() in ("t", "tr", "rt") else None

    changed = _changed(line, change)
    return None if changed is None else Newer((3, 14), changed, "Write an f-string, which makes the text at once.")


def _f_string(line: str) -> Newer | None:
    def change(prefix: str, whole: str) -> str | None:
        return '""' if "f" in prefix.lower() else None

    changed = _changed(line, change)
    instead = "Give what stands in the braces a name on a line before, or use the other quotes there."
    return None if changed is None else Newer((3, 12), changed, instead)


def _changed(line: str, change: Callable[[str, str], str | None]) -> str | None:
    """Return a line with its strings changed, each by prefix and whole text; None where none is, or one has no end."""
    made, place, is_changed = "", 0, False
    while place < len(line):
        if line[place] == "#":
            return made + line[place:] if is_changed else None
        if line[place] not in "'\"":
            made, place = made + line[place], place + 1
            continue
        found = _PREFIX.search(made)
        prefix = found[0] if found is not None else ""
        end = _end(line, place, any(each in "fFtT" for each in prefix))
        if end is None:
            return None
        now = change(prefix, prefix + line[place:end])
        is_changed = is_changed or now is not None
        made = made[: len(made) - len(prefix)] + (prefix + line[place:end] if now is None else now)
        place = end
    return made if is_changed else None


def _end(line: str, start: int, is_format: bool) -> int | None:
    """Return where the string that begins at a place ends, as Python 3.12 reads it; None where it does not."""
    quote = line[start] * 3 if line.startswith(line[start] * 3, start) else line[start]
    place = start + len(quote)
    while place < len(line):
        if line.startswith(quote, place):
            return place + len(quote)
        if is_format and line[place] == "{" and not line.startswith("{{", place):
            after = _end_of_field(line, place + 1)
            if after is None:
                return None
            place = after
        else:
            place += 2 if line[place] == "\\" or line.startswith("{{", place) else 1
    return None


def _end_of_field(line: str, place: int) -> int | None:
    """Return the place after the brace that closes a replacement field."""
    depth = 0
    while place < len(line):
        char = line[place]
        if char in "'\"":
            found = _PREFIX.search(line[:place])
            end = _end(line, place, found is not None and any(each in "fFtT" for each in found[0]))
            if end is None:
                return None
            place = end
            continue
        if char in _CLOSING and depth == 0:
            return place + 1
        depth += (char in _OPENING) - (char in _CLOSING)
        place += 1
    return None
