"""Explanations weighed against one another: which tests they answer for, and which one of a row's is left."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from grader.course.stage import Stage
from grader.diagnosis.obvious import MISSING, OBVIOUS
from grader.diagnosis.refused import REFUSED
from grader.diagnosis.replay import usable
from grader.diagnosis.slips.probes import Failing
from grader.diagnosis.slips.telling import Slip
from grader.outcome import Diagnosis, Outcome
from grader.sandbox.record import Record

MANY = 3  # tests that one mistake explains
UNWRITTEN = ("not_started", "blocked")  # tests of what nobody has written yet


def passed_functions(outcomes: list[Outcome], stage: Stage) -> frozenset[str]:
    """Return the functions of which every row that names them passed, but for refusals and the like."""
    wrong = {each.criterion for each in outcomes if each.status != "passed" and each.kind in ("", "values")}
    seen = {each.criterion for each in outcomes}
    failed = {name for row in stage.criteria if row.id in wrong or row.id not in seen for name in row.functions}
    owners = {name.partition(".")[0] for name in failed}
    return frozenset({name for row in stage.criteria for name in row.functions} - failed - owners)


def is_own(name: str, functions: frozenset[str]) -> bool:
    """Say whether a function is one of a row's, or the class of one."""
    return any(name == each or each.startswith(f"{name}.") for each in functions)


def is_explained(outcomes: list[Outcome]) -> bool:
    """Say whether one known mistake, and no other, explains all of a row's tests that were replayed."""
    shared = [{found.mistake for found in outcome.explains} for outcome in outcomes if outcome.status == "failed"]
    return bool(shared) and len(set.intersection(*shared)) == 1


def told(slips: list[Slip], outcome: Outcome) -> list[Diagnosis]:
    """Return what slips say of a test that they answer for, each thing once."""
    return list({slip.diagnosis.mistake: slip.diagnosis for slip in slips if outcome.test in slip.tests}.values())


def is_shown(diagnosis: Diagnosis) -> bool:
    """Say whether an explanation is what an answer shows by itself."""
    return diagnosis.mistake in OBVIOUS


def with_told(slips: list[Slip], outcome: Outcome) -> Outcome:
    """Return an outcome with what slips say of it; what its answer shows by itself is no more than their effect.

    A call that was refused, in another way than agreed, was checked: of a check that is left out nothing is said.
    """
    if any(each.mistake in REFUSED for each in outcome.explains):
        return outcome
    more = told(slips, outcome)
    own = [each for each in outcome.explains if not (more and is_shown(each))]
    return replace(outcome, explains=(*own, *more))


def chosen(outcomes: list[Outcome], slips: list[Slip]) -> list[Outcome]:
    """Return the outcomes of each row with the one explanation that answers for the most of its failing tests.

    A mistake that gives way to another explanation in its own row is told in no other: the function that it is about
    answers otherwise, and alike for what the other rows pass to it.
    """
    left = _one_a_row(outcomes, slips)
    beaten = _told_by_own_rows(outcomes) - _told_by_own_rows(left)
    if not beaten:
        return left
    standing = [
        replace(each, explains=tuple(found for found in each.explains if found.mistake not in beaten))
        for each in outcomes
    ]
    return _one_a_row(standing, slips)


def _told_by_own_rows(outcomes: list[Outcome]) -> set[str]:
    """Return the causes that stand in the row which they are about; what an answer shows by itself is no cause."""
    return {
        found.mistake
        for each in outcomes
        for found in each.explains
        if found.criterion == each.criterion and not is_shown(found)
    }


def _one_a_row(outcomes: list[Outcome], slips: list[Slip]) -> list[Outcome]:
    rank: dict[str, tuple[int, ...]] = {}
    for slip in slips:
        rank.setdefault(slip.diagnosis.mistake, slip.rank[1:])
    rows: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        rows.setdefault(outcome.criterion, Counter()).update(each.mistake for each in outcome.explains)
    total = sum(rows.values(), Counter[str]())

    def one_left(outcome: Outcome) -> Outcome:
        counts = rows[outcome.criterion]
        known = [each for each in outcome.explains if each.mistake not in rank]
        most = max((counts[each.mistake] for each in known), default=0)
        tied = [each for each in known if counts[each.mistake] == most]
        order = sorted(
            [each for each in outcome.explains if len(tied) < 2 or each not in known],  # of two that tie, neither
            key=lambda each: (-counts[each.mistake], -total[each.mistake], rank.get(each.mistake, (-1,))),
        )
        if not any(each.mistake in rank for each in order):
            return outcome
        return replace(outcome, explains=tuple(order[:1]))

    return list(map(one_left, outcomes))


def one_cause(outcomes: list[Outcome]) -> list[Outcome]:
    """Return outcomes without a known mistake that explains one test of a row, where another explains most of it.

    What one test admits, as what becomes of NaN, is as a rule no more than the effect of the other.
    """
    rows: dict[str, list[Outcome]] = {}
    for each in outcomes:
        if each.explains:
            rows.setdefault(each.criterion, []).append(each)
    beaten: set[tuple[str, str]] = set()
    for row, own in rows.items():
        counts = Counter(found.mistake for each in own for found in each.explains if found.declared)
        most = max(counts.values(), default=0)
        if most >= MANY and list(counts.values()).count(most) == 1 and 2 * most > len(own):
            beaten |= {(row, mistake) for mistake, number in counts.items() if number == 1}
    return [
        replace(each, explains=tuple(found for found in each.explains if (each.criterion, found.mistake) not in beaten))
        for each in outcomes
    ]


def without_effects(outcomes: list[Outcome]) -> list[Outcome]:
    """Return outcomes without refusals that are missing in rows whose wrong values a known mistake explains.

    Where a step is left out, what that step would have refused is let through, too.
    """
    rows = {
        each.criterion
        for each in outcomes
        for found in each.explains
        if found.declared and each.kind in ("", "values") and found.criterion == each.criterion
    }
    return [
        replace(each, explains=tuple(found for found in each.explains if found.mistake != MISSING))
        if each.criterion in rows
        else each
        for each in outcomes
    ]


def tells(records: list[Record]) -> bool:
    """Say whether what passed may speak against a mistake: refusals do not, since mistakes may leave them out."""
    return usable(records) and all(record.error is None for record in records)


def explained(diagnosis: Diagnosis, outcomes: list[Outcome]) -> int:
    """Return how many outcomes a mistake explains."""
    return sum(any(diagnosis.mistake == found.mistake for found in other.explains) for other in outcomes)


def broken_functions(outcomes: list[Outcome], stage: Stage, told_in: str) -> dict[str, frozenset[str]]:
    """Return the functions of rows about values of which half of the tests fail, each with these tests.

    Rows that need the one in which something is told come later: what is wrong there shows nowhere before.
    """
    found: dict[str, frozenset[str]] = {}
    later = rows_that_need(told_in, stage)
    for row in stage.criteria:
        if row.id in later:
            continue
        own = [each for each in outcomes if each.criterion == row.id and each.kind in ("", "values")]
        failed = frozenset(each.test for each in own if each.status not in ("passed", *UNWRITTEN))
        if own and 2 * len(failed) >= len(own):
            found |= {name: failed | found.get(name, frozenset()) for name in row.functions}
    return found


def rows_that_need(needed: str, stage: Stage) -> set[str]:
    """Return the rows that need one, be it by others."""
    found = {needed}
    for _ in stage.criteria:
        found |= {row.id for row in stage.criteria if found & set(row.needs)}
    return found - {needed}


def without_callers(
    outcomes: list[Outcome],
    stage: Stage,
    about: Callable[[Diagnosis], str],
    reached: Callable[[str], set[str]],
) -> list[Outcome]:
    """Return outcomes without what is told of a function that calls a broken one, and explains no failure of that.

    What is wrong there shows in the caller, too, and may look like a slip of its own. about says which function an
    explanation is about, and is empty where that is certain; reached are the functions and classes that one may run.
    """
    tests: dict[str, set[str]] = {}
    for each in outcomes:
        for found in each.explains:
            tests.setdefault(found.mistake, set()).add(each.test)

    def stands(diagnosis: Diagnosis) -> bool:
        function = about(diagnosis)
        if not function:
            return True
        own = function.partition(".")[0]
        called = reached(own) - {own}
        broken = broken_functions(outcomes, stage, diagnosis.criterion)
        others = [failed for name, failed in broken.items() if name.partition(".")[0] in called]
        return all(failed & tests[diagnosis.mistake] for failed in others)

    return [replace(each, explains=tuple(filter(stands, each.explains))) for each in outcomes]


def with_problems(outcomes: list[Outcome], problems: Mapping[str, str]) -> list[Outcome]:
    """Return outcomes with why nothing explains them, where a search broke off; problems are told by row."""
    return [
        each if each.explains or each.criterion not in problems else replace(each, unexplained=problems[each.criterion])
        for each in outcomes
    ]


def has_wrong_values(failing: Sequence[Failing], outcomes: Sequence[Outcome]) -> bool:
    """Say whether more of a row is wrong than what it refuses and of which dtype it is: of that, a repair is seldom."""
    tests = {each.test for each in failing}
    return any(each.test in tests and each.kind in ("", "values") for each in outcomes)
