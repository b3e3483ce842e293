"""What is said of a repair, and how many tests it has to put right to be told: the less likely it is, the more."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Collection, Sequence

from grader.diagnosis.repairs.asked import is_raised
from grader.diagnosis.repairs.attempts import Row
from grader.diagnosis.repairs.repair import Repair
from grader.diagnosis.repairs.trial import Trial
from grader.diagnosis.repairs.words.moved import leaves
from grader.diagnosis.repairs.words.told import told
from grader.diagnosis.repairs.written import Written
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import Slip
from grader.diagnosis.trees import walk
from grader.outcome import Diagnosis

REPAIR = "repair-"  # how the id of what is told begins
FEW = 4  # of so many failing tests, one is few
MANY = 3  # repairs that do equally well, each in its way
OF_SEVERAL = 3  # tests that several changes have to put right
MOST_TOLD = 1000  # characters: a learner's names may be as long as the module

Told = tuple[Slip, Repair]  # what is said, and of what


def needed(repair: Repair, constants: Collection[float]) -> int:
    """Return how many tests a repair has to put right to be no coincidence; constants are the right module's."""
    if len(repair.all) > 1:
        return OF_SEVERAL if repair.likelihood < 2 else OF_SEVERAL + 1
    old, new = repair.all[0].old, repair.all[0].new
    if repair.all[0].kind == "aligned":
        return 1  # what it is made of is right, and a right module shows what belongs there
    if repair.likelihood < 2 and isinstance(old, ast.Constant) and isinstance(new, ast.Constant):
        numbers = [each.value for each in (old, new) if isinstance(each.value, (int, float))]
        is_likely = len(numbers) < 2 or abs(numbers[0] - numbers[1]) == 1 or numbers[1] in constants
        return 1 if is_likely else 2
    return min(max(repair.likelihood, 1), 2)


def can_be_drawn(repair: Repair, others: int) -> bool:
    """Say whether a change tells something where tests pass with many values; others are the further tests that do.

    Another sign, or another rounding, also makes draws pass that have nothing to do with it.
    """
    old, new = repair.all[0].old, repair.all[0].new
    if isinstance(old, ast.Constant) and isinstance(new, ast.UnaryOp):
        return others > 0  # a bound at 0 that belongs at -limit
    if isinstance(new, ast.UnaryOp) or isinstance(getattr(new, "op", None), (ast.FloorDiv, ast.Mod, ast.Pow)):
        return False
    is_less = isinstance(old, ast.AST) and any(each is new for each in walk(old))  # what is left out is no other line
    if isinstance(old, ast.expr) and isinstance(new, ast.expr) and leaves(old) == leaves(new):
        return True  # only its brackets are others
    is_like_others = old is getattr(repair.all[0].statement, "value", None) and not is_less
    return others > 0 or is_like_others or repair.all[0].kind == "aligned"  # a right module has it in this very test


def is_weak(slip: Slip, row: Row) -> bool:
    """Say whether a repair puts few right of the tests that fail: where another puts more right, it is none."""
    return FEW * len(slip.tests) <= len(row.failing)


def diagnosis_of(repair: Repair, row: str) -> Diagnosis | None:
    """Return what is told of a repair; None where one of its changes has no words, or too many."""
    clauses = []
    for change in repair.all:
        said = told(change, repair.written.vocabulary(change.function))
        if said is None:
            return None
        clauses.append(said)
    function = repair.all[0].function.removesuffix(".__init__")
    lines = sorted({change.statement.lineno for change in repair.all})
    words = ", and as if ".join(dict.fromkeys(each.said for each in clauses))
    at = f"line{'s' if len(lines) > 1 else ''} {' and '.join(map(str, lines))}"
    text = f"{function} answers as if {words} ({at})."
    fixes = " ".join(dict.fromkeys(each.fix for each in clauses))
    if len(text) + len(fixes) > MOST_TOLD:
        return None
    return Diagnosis(REPAIR + hashlib.sha256(text.encode()).hexdigest()[:8], row, text, fixes)


def places_of(slips: Sequence[Told]) -> set[int]:
    """Return the lines that repairs change."""
    return {change.statement.lineno for _, each in slips for change in each.changes}


def is_chance(doubted: Sequence[Told], trial: Trial, failing: Sequence[Failing]) -> bool:
    """Say whether what puts right a test, and is doubted, does so by chance: it is one of many, or avoids an error."""
    is_one_of_many = (trial.is_yes_or_no and is_open(doubted)) or (trial.is_of_bits and _are_open_of_bits(doubted))
    is_one_of_many = is_one_of_many or are_many(doubted, failing, trial.failing)
    if is_one_of_many or not doubted or not is_raised(trial.failing):
        return is_one_of_many
    tests = len(doubted[0][0].tests)  # what avoids an error in one test seldom puts most of a row right
    return tests < OF_SEVERAL or 2 * tests <= len(failing)


def _are_open_of_bits(doubted: Sequence[Told]) -> bool:
    """Say whether repairs say nothing where 0 and 1 are all that is asked for: several do, or one adds a term.

    Or it calls another function: half of them make 0 and 1 of numbers.
    """
    best = [each for _, repair in doubted[:1] for each in repair.all]
    is_more = any(isinstance(each.new, ast.BinOp) and any(each.old is part for part in walk(each.new)) for each in best)
    is_other = any(isinstance(each.holder, ast.Call) and each.holder.func is each.old for each in best)
    return is_more or is_other or is_open(doubted)


def is_open(ordered: Sequence[Told]) -> bool:
    """Say whether several repairs are equally good: the likeliest first."""
    return len({slip.diagnosis.text for slip, _ in ordered if slip.rank[:3] == ordered[0][0].rank[:3]}) > 1


def are_many(ordered: Sequence[Told], tests: Sequence[Failing], probe: Failing) -> bool:
    """Say whether several repairs put the same tests right, equally well, and leave others of the same functions wrong.

    What has so many causes is a coincidence: where a cosine is 1, a sine, a tangent and nothing at all do as well.
    """
    peers = [each for each in tests if probe.called & each.called]
    if not ordered or len(ordered[0][0].tests) >= len(peers):
        return False
    best = ordered[0][0]
    alike = {slip.diagnosis.text for slip, _ in ordered if slip.tests == best.tests and slip.rank[:3] == best.rank[:3]}
    return len(alike) >= MANY


def ran_first(found: Sequence[Told], written: Written | None) -> list[Told]:
    """Return repairs, of those that are equally good the ones first whose lines ran in another failing test as well."""

    def order(pair: Told) -> tuple[object, ...]:
        slip, repair = pair
        return slip.rank[:3], not all(written is None or written.did_run(change.statement) for change in repair.changes)

    return sorted(found, key=order)


def left_wrong(slips: Sequence[Told], tests: Sequence[Failing], row: Row) -> list[Failing]:
    """Return the tests that no repair puts right, where what was found looks like a coincidence; else nothing.

    Repairs in several places that are equally good, and none of which puts most of a row right, or hardly any.
    """
    best = [pair for pair in slips if len(pair[0].tests) == len(slips[0][0].tests)]
    is_clear = slips and 2 * len(slips[0][0].tests) > len(row.failing)
    if not slips or is_clear or (len(places_of(best)) < 2 and not is_weak(slips[0][0], row)):
        return []
    right = frozenset().union(*(slip.tests for slip, _ in slips))
    return [each for each in tests if each.test not in right]
