"""What is told of changes that were found: which function is meant, how likely they are; else where it goes wrong."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass

from grader.diagnosis.slips.found import Found
from grader.diagnosis.slips.source import Source
from grader.outcome import Diagnosis

_VAGUE = re.compile(
    r"were used where|were called instead|were not passed on|\ba term were not|stood in the other order|only .* kept"
    r"|-?\b[012] stood where the formula has"
)
SLIP = "slip-"  # how the id of a change of a right module begins
LOCATED = "located"  # the id of what says where a slip is, and not which
OF_POOR_ANSWERS = 3  # tests that a change has to explain, where each answer tells little
MOST_OF_THEM = 0.7  # of the tests of the same functions that a less likely change has to explain


@dataclass(frozen=True)
class Slip:
    """A change that explains tests: what is told, how likely it is, and which tests it answers for."""

    diagnosis: Diagnosis
    rank: tuple[int, ...]
    tests: frozenset[str]


def diagnosis_of(found: Found, source: Source, label: str, row: str, fine: frozenset[str]) -> Diagnosis:
    """Return what is told of changes, by the name of the public function that they are in.

    A function that passes is right in the learner's module: what goes wrong is where it was written once more.
    """
    inside = found.changes[0].function
    known = source.public
    public = (inside in known or inside.partition(".")[0] in known) and not is_fine(inside, fine)
    function = inside.removesuffix(".__init__") if public and "._" not in inside.replace(".__", "") else label
    criterion = source.stage.criterion_of(function)
    said = listed(dict.fromkeys(each.said for each in found.clauses))
    fixes = " ".join(dict.fromkeys(each.fix for each in found.clauses))
    text = f"{function} answers as if {said}."
    return Diagnosis(
        slip_id(text, found.source),
        criterion.id if criterion and public else row,
        text,
        fixes,
    )


def located(source: Source, label: str, row: str, fine: frozenset[str]) -> Diagnosis | None:
    """Return where a function goes wrong: in its own lines, if all that it calls is right; None where it is not."""
    called = source.calls(label)
    if not called or not set(called) <= fine or label in fine:
        return None
    names = called[0] if len(called) == 1 else f"{', '.join(called[:-1])} and {called[-1]}"
    are = "is" if len(called) == 1 else "are"
    text = f"{names} {are} right when called alone: what differs is in the lines of {label} itself."
    fix = "Look at what each of these calls is given, in which order, and at what becomes of its result."
    return Diagnosis(LOCATED, row, text, fix)


def slip_id(text: str, source: int) -> str:
    """Return the id of what is told of a change of one source, the same in each run: slip-1b4e7a90."""
    return f"{SLIP}{hashlib.sha256(f'{source} {text}'.encode()).hexdigest()[:8]}"


def is_fine(name: str, fine: frozenset[str]) -> bool:
    """Say whether a function, or its class, is among those of which every row passes."""
    return bool({name, name.partition(".")[0]} & fine)


def stands(found: Found, explained: int, asked: int, is_poor: bool = False) -> bool:
    """Say whether so many of the tests of the same functions are enough: the less likely a slip, the more it needs.

    Poor answers, such as a bool or two whole numbers, have many causes: all of several tests have to fit.
    """
    if is_poor:
        return explained == asked and explained >= OF_POOR_ANSWERS
    if found.rank == (1, 0):
        return 2 * explained > asked
    if found.rank == (1, 1):
        return explained >= MOST_OF_THEM * asked
    return explained == asked and (found.rank[1] < 2 or explained > 1)


def is_vague(text: str) -> bool:
    """Say whether an explanation by a change of the right module is a coincidence more often than not.

    Where no change of the learner's own lines explains an answer, one name for another, or 0 for 1, seldom does.
    """
    return _VAGUE.search(text) is not None


def distance(name: str, label: str, own: frozenset[str]) -> int:
    """Return how far a function's lines are from what a test asked: 0 for those of the function itself."""
    owner, _, own_name = name.rpartition(".")
    if name == label or (own_name == "__init__" and owner == label):
        return 0
    if own_name == "__init__":
        return 3
    if own_name.startswith("_") and owner in ("", label.rpartition(".")[0]):
        return 1
    return 2 if name in own or owner in own else 3


def listed(clauses: Iterable[str]) -> str:
    """Return clauses as one: a, and as if b."""
    return ", and as if ".join(clauses)
