"""Which functions of a stage lead to which others in a learner's module, as far as its text tells."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from grader.course.stage import Stage
from grader.submission.source.forbidden import Layout
from grader.submission.source.forbidden.reach import key_of, reached
from grader.submission.source.parsing import parsed, without_main_block
from grader.submission.source.problem import Problem


def reaches(stage: Stage, text: str | None) -> Mapping[str, frozenset[str]]:
    """Return for each function of the checklist the others that it mentions, or that what it mentions does.

    text is None where the module's is not one that Python reads at once: then nothing is known, and no function leads
    to any other.
    """
    return {} if text is None else _reaches(_names(stage), text)[0]


def helpers(stage: Stage, text: str | None) -> Mapping[str, frozenset[str]]:
    """Return for each function of the checklist those that it leads to and that are the module's own; text as above."""
    return {} if text is None else _reaches(_names(stage), text)[1]


def _names(stage: Stage) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for row in stage.criteria for name in row.functions))


@lru_cache(8)
def _reaches(names: tuple[str, ...], text: str) -> tuple[Mapping[str, frozenset[str]], Mapping[str, frozenset[str]]]:
    """Return for each name the others that it leads to, and what is not among the names."""
    tree = parsed(text)
    if isinstance(tree, Problem):
        return {}, {}
    try:
        layout = Layout(without_main_block(tree))
    except RecursionError:
        return {}, {}
    keys = {name: key_of(layout, name) for name in names}
    leading = {name: reached(layout, [key]) for name, key in keys.items() if key in layout.owners}
    classes = {name.partition(".")[0] for name in names}
    own = {key: reached(layout, [key]) for key in layout.owners if key.isidentifier() and key not in classes}
    return {
        name: frozenset(other for other in leading if keys[other] != keys[name] and keys[name] in leading[other])
        for name in names
    }, {name: frozenset(each for each in own if keys[name] in own[each]) for name in names}
