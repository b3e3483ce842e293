"""In a few words how a criterion did, and how many of them and of stages pass: what all screens and formats say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from grader.course.table import together

if TYPE_CHECKING:
    from grader.criterion import KindCount
    from grader.outcome import Kind
    from grader.progress.last_check import CriterionCheck
    from grader.progress.state import State
    from grader.submission.snapshot import Use
    from grader.verdict import CriterionResult, Verdict

    Found = CriterionResult | CriterionCheck  # a criterion as a check finds it, and as it is kept

SEVERAL = 4  # names in a sentence
PUBLIC_ONLY = " (public tests only)"
VALUES_RIGHT = (
    "values_right"  # the kind of a criterion that fails although its values are right: edges or purity are not
)
# A criterion's words where it is not simply passed, failed, not started or waiting.
WORDS = {"crashed": "crashed", "timed_out": "timed out", "over_limit": "over a limit", "grader_fault": "grader fault"}
# What is wrong where tests of a kind fail: so many of so many.
LACKING: dict[Kind, str] = {
    "values": "{} of {} values wrong",
    "refusals": "{} of {} refusals missing",
    "dtype": "{} of {} dtypes wrong",
    "edges": "{} of {} edge cases wrong",
    "purity": "arguments changed in {} of {} tests",
    "speed": "too slow in {} of {} tests",
    "memory": "too much memory in {} of {} tests",
}


def status_words(result: Found) -> str:
    """Return in a few words how a criterion did."""
    return status_choices(result)[0]


def status_choices(result: Found) -> tuple[str, ...]:
    """Return the words for how a criterion did, and shorter ones where a line has no room for them."""
    total = count(result.tests_total, "test")
    match result.status:
        case "passed" if result.robust:
            return (total,)
        case "passed":
            missing = lacking_words(result.kinds)
            return f"{result.tests_passed} of {total} · {missing}", missing, "not robust"
        case "failed" if result.values_pass:
            missing = lacking_words(result.kinds)
            return f"values right · {missing}", missing, "values right"
        case "failed":
            return (f"{result.tests_passed} of {total}",)
        case "not_started":
            return ("not started",)
        case "blocked":
            more = f" and {len(result.waits_for) - 1} more" if len(result.waits_for) > 1 else ""
            return (f"waits for {result.waits_for[0]}{more}" if result.waits_for else "waits",)
        case _:
            return (WORDS[result.status],)


def tests_words(result: Found) -> str:
    """Return how many tests a criterion has or, where some fail, how many of how many pass; nothing where it waits."""
    if result.status in ("not_started", "blocked"):
        return ""
    passed, total = result.tests_passed, result.tests_total
    return str(total) if passed == total else f"{passed}/{total}"


def note_choices(result: Found) -> tuple[str, ...]:
    """Return what a criterion's line says beside the number of its tests, and shorter words; nothing if it says all."""
    if result.robust or (result.status == "failed" and not result.values_pass):
        return ("",)
    choices = status_choices(result)
    return choices[1:2] if result.status == "passed" else choices[:2]


def passing_words(number: int) -> str:
    """Return how many criteria pass."""
    return f"{count(number, 'criterion')} {'passes' if number == 1 else 'pass'}"


def left_words(criteria: Sequence[Found]) -> str:
    """Return how many criteria are not started, and how many wait for what."""
    waits = Counter(each.waits_for[0] if each.waits_for else "another" for each in criteria if each.status == "blocked")
    if len(waits) > 2:
        waits = Counter({f"{next(iter(waits))} and others": waits.total()})
    fresh = sum(each.status == "not_started" for each in criteria)
    said = [f"{count(fresh, 'criterion')} not started"] if fresh else []
    for name, number in waits.items():
        many = str(number) if said else count(number, "criterion")
        said.append(f"{many} {'waits' if number == 1 else 'wait'} for {name}")
    return " · ".join(said)


def all_of(names: Sequence[str]) -> str:
    """Return names as a sentence has them; of more than SEVERAL, how many there are beside the first ones.

    >>> all_of(["split", "join", "merge"])
    'split, join and merge'
    """
    shown = [*names] if len(names) <= SEVERAL else [*names[: SEVERAL - 1], f"{len(names) - SEVERAL + 1} more"]
    return together(shown)


def lacking_words(lacking: Iterable[KindCount]) -> str:
    """Return what is wrong where some tests of these kinds fail; nothing of a kind of which all pass.

    >>> from grader.criterion import KindCount
    >>> lacking_words([KindCount("refusals", 2, 3), KindCount("dtype", 0, 1)])
    '1 of 3 refusals missing · 1 of 1 dtypes wrong'
    """
    return " · ".join(LACKING[each.kind].format(each.missing, each.total) for each in lacking if each.missing)


def kind_of_criterion(result: Found) -> str:
    """Return the kind of a criterion, by which its mark is found."""
    return VALUES_RIGHT if result.values_right else result.status


def reached_words(verdict: Verdict) -> str:
    """Return how many criteria pass and, where that is counted apart, how many of these are robust."""
    criteria = verdict.criteria
    counted = verdict.passes == "mathematics" and any(each.counts.robustness for each in criteria)
    robust = sum(each.robust for each in criteria) if counted else None
    only = PUBLIC_ONLY if verdict.run.public_only else ""
    return f"{reached_of(sum(each.status == 'passed' for each in criteria), len(criteria), robust)}{only}"


def reached_of(passed: int, total: int, robust: int | None) -> str:
    """Return how many criteria pass and are robust; None where that is not counted apart.

    >>> reached_of(18, 18, 11), reached_of(0, 1, 0), reached_of(2, 2, None)
    ('18 of 18 criteria · 11 robust', '0 of 1 criterion', '2 of 2 criteria')
    """
    more = f" · {robust} robust" if passed and robust is not None else ""
    return f"{passed} of {count(total, 'criterion')}{more}"


def stages_words(states: Sequence[State]) -> str:
    """Return how many stages have passed as they are now, and how many have changed since.

    >>> stages_words(["passed", "changed", "open"])
    '1 of 3 stages passed · 1 changed since'
    """
    changed = states.count("changed")
    return f"{states.count('passed')} of {count(len(states), 'stage')} passed" + (
        f" · {changed} changed since" if changed else ""
    )


def waits_words(verdict: Verdict) -> str:
    """Return which earlier stages a module waits for before it can be graded."""
    return f"waits for {all_of(verdict.waits_for)}"


def count(number: float, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one.

    >>> count(1.0, "point"), count(0.5, "point"), count(12345678, "test")
    ('1 point', '0.5 points', '12345678 tests')
    """
    plural = f"{noun[:-2]}a" if noun.endswith("criterion") else f"{noun}s"
    said = f"{number:g}" if isinstance(number, float) else str(number)
    return f"{said} {noun if number == 1 else plural}"


def duration(seconds: float) -> str:
    """Return a time in the unit that suits it.

    >>> duration(0.0000123), duration(0.25), duration(2)
    ('12.3 µs', '250 ms', '2 s')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def with_uses(uses: Sequence[Use], withheld: Sequence[str] = ()) -> str:
    """Return whose modules of earlier stages a module was graded with, and why not the learner's own.

    withheld names the stages whose references were lent.
    """
    from grader.submission.snapshot import SOURCES

    of = {source: together(use.stage for use in uses if use.source == source) for source in SOURCES}
    instead = [f"the reference of {of['reference']}"] if of["reference"] else []
    instead += [f"what this course gives for {of['given']}"] if of["given"] else []
    why = ", since your own, as it is now, has not passed" if instead else ""
    if withheld:
        why = f": no {together(withheld)} that passes was submitted"
    own = [f"your own {of['own']}"] if of["own"] else []
    told = ", and with ".join([*own, " and ".join(instead)] if instead else own)
    return f"with {told}{why}"
