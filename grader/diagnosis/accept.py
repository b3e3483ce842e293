"""The gate: which of the edits that put a call right is told, or that none is."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from grader.diagnosis.checks import Check
from grader.diagnosis.edits.base import RARE, UNUSUAL, USUAL, Edit
from grader.diagnosis.locate import FIRST, Places
from grader.diagnosis.runner import RunnerGone
from grader.diagnosis.search import Found, Search

SEEDS = (1, 2)  # further on, with which a test has to pass as well
MOST_SEEDED = 6  # edits that are tried with other inputs
OF_DTYPE = frozenset(("whole-numbers", "dtype-lost", "root-for-dtype", "value-aligned"))
EVIDENCE = 3  # calls, failing or right, that speak for an edit where one answer has many causes
MORE = 5  # of one call
SEVERAL = 2  # different right answers: else an edit may make the answer a constant
FEW = 2  # failing calls that choose between edits


def accepted(
    winners: Sequence[Found],
    check: Check,
    failing: Sequence[Check],
    search: Search,
    places: Places,
    before: Sequence[Edit] = (),
) -> Found | None:
    """Return the edit that is the cause of a failing call; None where none is sure enough."""
    peers = [each for each in failing if each.label == check.label and each.kind == check.kind]
    standing = [each for each in winners if _explains_enough(each, check, peers)]
    standing = [each for each in standing if not _is_constant(each.edit)]
    if before:  # of two edits at once there are many: both have to be usual, and to put more than one call right
        is_usual = all(each.rank <= USUAL for each in before)
        standing = [each for each in standing if is_usual and each.edit.rank <= USUAL and len(each.fixed) >= FEW]
    if check.kind == "dtype":
        standing = [each for each in standing if each.edit.id in OF_DTYPE]
    if not standing:
        return None
    if check.outcome.test and _is_fixed_whole(check):
        standing = _seeded(standing, check, search) or []
    if not standing:
        return None
    best = standing[0]
    tied = [each for each in standing if each.fixed >= best.fixed and each.cost <= best.cost]
    lines = {each.edit.line for each in tied}
    if len(lines) > 1 and check.says_little and len(best.fixed) <= FEW:
        return None
    if best.edit.rank >= RARE and len(best.fixed) <= FEW:
        return None
    if (
        best.edit.rank >= UNUSUAL
        and len(best.fixed) == 1
        and places.known
        and places.far.get(id(best.edit.statement), 9) > FIRST + 1
    ):
        return None
    return best


def _is_constant(edit: Edit) -> bool:
    """Say whether an edit makes all of what a line sets or returns a number that was not one."""
    old, new = edit.changes[0]
    is_whole = getattr(edit.statement, "value", None) is old
    return is_whole and isinstance(new, ast.Constant) and not isinstance(old, ast.Constant)


def _explains_enough(found: Found, check: Check, peers: Sequence[Check]) -> bool:
    """Say whether an edit puts enough of the failing calls of the same function and kind right."""
    own = sum(each in found.fixed for each in peers)
    least = EVIDENCE if own > 1 else MORE
    if check.says_little and (own + found.kept < least or found.answers < SEVERAL):
        return False
    if found.edit.rank >= UNUSUAL and own + found.kept < EVIDENCE:
        return False
    if own == len(peers):
        return len(peers) > 1 or not check.says_little or found.edit.rank < UNUSUAL
    return own >= FEW and 2 * own > len(peers) and not check.says_little


def _is_fixed_whole(check: Check) -> bool:
    """Say whether an edit puts all of the test right, so that it passes with it."""
    return check.is_whole


def _seeded(standing: Sequence[Found], check: Check, search: Search) -> list[Found]:
    """Return the edits with which a test passes with other inputs as well."""
    found: list[Found] = []
    some = list(standing[:MOST_SEEDED])
    try:
        numbers = search.place([each.edit for each in some])
        for each, number in zip(some, numbers, strict=True):
            if all(search.runner.passes([number], check.outcome.test, seed) for seed in SEEDS[: 1 if found else 2]):
                found.append(each)
    except RunnerGone:
        return list(standing)
    return found
