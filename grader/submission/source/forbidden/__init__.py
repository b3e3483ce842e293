"""What a module uses of what its stage forbids, the ways around names included, and which functions that concerns.

It is a help for learners and no wall: it reads names, and a program can be written whose names say nothing. Only
`looking.py` calls it, and `reaching.py` its `reach.py`. Begin with `uses.py`; `places.py` says where in the module a
node stands.
"""

from __future__ import annotations

from collections.abc import Iterable

from grader.course.stage import Forbidden
from grader.submission.source.forbidden.places import MODULE, Layout
from grader.submission.source.forbidden.reach import key_of, reached
from grader.submission.source.forbidden.uses import ARRAY_METHODS, Use, uses
from grader.submission.source.imports import and_more
from grader.submission.source.problem import Problem, Reading, clipped

__all__ = ["ARRAY_METHODS", "Layout", "read_forbidden"]


def read_forbidden(layout: Layout, forbidden: Forbidden, functions: Iterable[str] = ()) -> Reading:
    """What is refused: the whole module, where the use runs when it is loaded, else the functions that reach it."""
    if not (forbidden.operators or forbidden.names):
        return Reading()
    by_owner: dict[str, set[Use]] = {}
    for use, place in uses(layout, forbidden):
        by_owner.setdefault(place.user, set()).add(use)
    if not by_owner:
        return Reading()
    found = {owner: sorted(own) for owner, own in by_owner.items()}
    if MODULE in found:
        return Reading(_problem([*found.pop(MODULE), *sorted(use for own in found.values() for use in own)], forbidden))
    first = sorted(found, key=lambda owner: found[owner][0])
    concerned = reached(layout, first)
    if (owner := concerned.get(MODULE)) is not None:
        return Reading(_problem(found[owner], forbidden, f"{_shown(owner)} is used while the module is loaded."))
    refused: dict[str, Problem] = {}
    for function in functions:
        if (owner := concerned.get(key_of(layout, function))) is not None:
            through = "" if function in (owner, _shown(owner)) else f"{function} reaches it through {_shown(owner)}."
            refused[function] = _problem(found[owner], forbidden, through)
    unused = _problem(sorted(use for own in found.values() for use in own), forbidden)
    return Reading(None, refused, unused)


def _shown(owner: str) -> str:
    return clipped(owner.removesuffix(":"))


def _problem(found: list[Use], forbidden: Forbidden, note: str = "") -> Problem:
    """The first use, and how many others there are; the hint says what to write instead, and where the others are."""
    first, *others = found
    more = and_more(len(others))
    name = clipped(first.name)
    what = f"{name} is not allowed in this stage{more}."
    if first.unseen:
        what = f"{name} is not allowed in this way{more}: the check reads names, and cannot see {first.unseen}."
    also = ", ".join(f"{clipped(use.name)} in line {use.line}" for use in others[:3])
    hints = [first.instead, note, f"Also {also}" if also else ""]
    message = f"line {first.line}: {what} {forbidden.reason}"
    return Problem("forbidden", message, first.line, " ".join(filter(None, hints)) or None)
