"""Which functions of a stage lead to which others in a learner's module, as far as its text tells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from grader.course.stage import Stage
from grader.submission.source.forbidden.reach import key_of, reached
from grader.submission.source.looking import laid_out
from grader.submission.source.problem import Problem


def reaches(stage: Stage, text: str | None) -> Mapping[str, frozenset[str]]:
    """Return for each function of the checklist the others that it mentions, or that what it mentions does.

    text is None where the module's is not one that Python reads at once: then nothing is known, and no function leads
    to any other.
    """
    return {} if text is None else _reaches(_names(stage), text)


def helpers(stage: Stage, text: str | None) -> Mapping[str, frozenset[str]]:
    """Return for each function of the checklist those that it leads to and that are the module's own; text as above."""
    return {} if text is None else _helpers(_names(stage), text)


def _names(stage: Stage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in stage.criteria for name in row.functions))


@lru_cache(8)
def _reaches(names: tuple[str, ...], text: str) -> Mapping[str, frozenset[str]]:
    if isinstance(layout := laid_out(text), Problem):
        return {}
    keys = {name: key_of(layout, name) for name in names}
    leading = {name: reached(layout, [key]) for name, key in keys.items() if key in layout.owners}
    return {
        name: frozenset(other for other in leading if keys[other] != keys[name] and keys[name] in leading[other])
        for name in names
    }


@lru_cache(8)
def _helpers(names: tuple[str, ...], text: str) -> Mapping[str, frozenset[str]]:
    """Return for each name what it leads to and is not among the names; asked for where a test failed alone."""
    if isinstance(layout := laid_out(text), Problem):
        return {}
    known = {name.partition(".")[0] for name in names}
    leading = {key: reached(layout, [key]) for key in layout.owners if key.isidentifier() and key not in known}
    return {name: frozenset(key for key in leading if key_of(layout, name) in leading[key]) for name in names}
