"""Which of two versions of a course, or of the grader, is the newer one."""

from __future__ import annotations

import re

_VERSION = re.compile(r"(\d+(?:\.\d+)*)(?:(a|b|rc)(\d+))?")


def is_newer(version: str, than: str) -> bool:
    """Say whether a version comes after another; False where one is written another way: 0.2.0 after 0.2.0rc1."""
    one, other = _ordered(version), _ordered(than)
    return one is not None and other is not None and one > other


def _ordered(version: str) -> tuple[tuple[int, ...], str, int] | None:
    """Return what versions are ordered by: 1.0 is 1.0.0, and a pre-release comes before its release."""
    found = _VERSION.fullmatch(version)
    if found is None:
        return None
    numbers = [int(number) for number in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), found[2] or "release", int(found[3] or 0)
