"""How alike two texts go about one function: loops or arrays, einsum or products; they are searched, not parsed."""

from __future__ import annotations

import re
from collections.abc import Iterable

_WORDS = re.compile(r"\b(?:for|while|if|return|yield)\b|\b[A-Za-z_]\w*\b(?=\()|@|\*\*|\+=")
MOST_ALIKE = 3  # right modules of a class that are run for one submission
_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)


def manner_of(text: str, function: str) -> frozenset[str]:
    """Return what stands in the lines of a function or method: what it calls, loops, operators; empty if not found."""
    return frozenset(_WORDS.findall(_DOCSTRING.sub("", _lines_of(text, function))))


def passes(text: str, function: str, called: str, keyword: str) -> bool:
    """Say whether a line of a function passes an argument of a name to what is called so."""
    call = rf"\b{re.escape(called)}\([^\n]*\b{re.escape(keyword)}\s*="
    return re.search(call, _DOCSTRING.sub("", _lines_of(text, function))) is not None


def asks(text: str, function: str, names: Iterable[str]) -> bool:
    """Say whether a condition in the lines of a function asks for all of some names."""
    lines = _DOCSTRING.sub("", _lines_of(text, function)).splitlines()
    conditions = [set(re.findall(r"\w+", line)) for line in lines if re.match(r"\s*(?:el)?if\b", line)]
    wanted = set(names)
    return bool(wanted) and any(wanted <= each for each in conditions)


def _lines_of(text: str, function: str) -> str:
    """Return the lines of a function or method; nothing if it is not found."""
    for depth, part in enumerate(function.split(".")):
        indent = "    " * depth
        head = re.search(rf"^{indent}(?:def|class) {re.escape(part)}\b", text, re.MULTILINE)
        if head is None:
            return ""
        end = re.compile(rf"^{indent}[^\s)\]}}#]", re.MULTILINE).search(text, head.end())
        text = text[head.end() : end.start() if end else len(text)]
    return text


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """Return the share of two sets' names that they have in common (Jaccard), 0 to 1."""
    return len(one & other) / len(one | other) if one and other else 0.0
