"""Measure how alike two texts compute one function (loops or arrays, einsum or products): searched, not parsed."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.course.stage import Stage
from grader.submission.parsing import shown_text

_WORDS = re.compile(r"\b(?:for|while|if|return|yield)\b|\b[A-Za-z_]\w*\b(?=\()|@|\*\*|\+=")
MOST_ALIKE = 3  # right modules of a class that are run for one submission
_DOCSTRING = re.compile(r'""".*?"""', re.DOTALL)


def manner_of(text: str, function: str) -> frozenset[str]:
    """Return what stands in the lines of a function or method: what it calls, loops, operators; empty if not found."""
    return frozenset(_WORDS.findall(_DOCSTRING.sub("", _lines_of(text, function))))


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


def most_alike(stage: Stage, rows: Sequence[str], learner: bytes, pool: Sequence[bytes]) -> tuple[bytes, ...]:
    """Return the few texts of a pool that go about the functions of some rows most as a submission does."""
    mine = shown_text(learner)
    functions = [name for row in stage.criteria if row.id in rows for name in row.functions]
    own = {name: manner_of(mine, name) for name in functions}
    texts = {text: shown_text(text) for text in pool}
    order = sorted(pool, key=lambda text: -sum(likeness(own[each], manner_of(texts[text], each)) for each in functions))
    return tuple(order[:MOST_ALIKE])
