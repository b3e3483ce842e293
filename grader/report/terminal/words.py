"""In a few words how a row did, and how many rows of a checklist pass: what every format says alike."""

from __future__ import annotations

from collections.abc import Sequence

from grader.outcome import Kind
from grader.report.terminal.layout import Look
from grader.submission.used import SOURCES, Use
from grader.verdict import CriterionResult, Verdict

SEVERAL = 4  # names in a sentence
PUBLIC_ONLY = " (public tests only)"
VALUES_RIGHT = "values_right"  # the kind of row that fails although its values are right
# A row's words where it is not simply passed, failed, not started or waiting.
WORDS = {"crashed": "crashed", "timed_out": "timed out", "over_limit": "over a limit", "grader_fault": "grader fault"}
# What is wrong where tests of a kind fail, values apart.
LACKING: dict[Kind, str] = {
    "values": "values wrong",
    "refusals": "refusals missing",
    "dtype": "dtype wrong",
    "edges": "edge cases wrong",
    "purity": "arguments changed",
    "speed": "too slow",
    "memory": "too much memory",
}


def status_words(result: CriterionResult) -> str:
    """Return in a few words how a row did."""
    return status_choices(result)[0]


def status_choices(result: CriterionResult) -> tuple[str, ...]:
    """Return the words for how a row did, and shorter ones where a line has no room for them."""
    total = count(result.tests_total, "test")
    if result.values_right:
        return _values_right(result)
    match result.status:
        case "passed":
            return (total,)
        case "failed":
            return (f"{result.tests_passed} of {total}",)
        case "not_started":
            return ("not started",)
        case "blocked":
            more = f" and {len(result.waits_for) - 1} more" if len(result.waits_for) > 1 else ""
            return (f"waits for {result.waits_for[0]}{more}" if result.waits_for else "waits",)
        case _:
            return (WORDS[result.status],)


def all_of(names: Sequence[str]) -> str:
    """Return names as a sentence has them; of more than SEVERAL, how many there are beside the first ones.

    >>> all_of(["split", "join", "merge"])
    'split, join and merge'
    """
    shown = [*names] if len(names) <= SEVERAL else [*names[: SEVERAL - 1], f"{len(names) - SEVERAL + 1} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), shown[-1])))


def _values_right(result: CriterionResult) -> tuple[str, ...]:
    right = "values right"
    numbers = {each.kind: f"({each.passed} of {each.total})" for each in result.kinds}
    lacking = [each.kind for each in result.kinds if each.passed < each.total]
    missing = " · ".join(f"{LACKING[kind]} {numbers[kind]}" for kind in lacking)
    brief = " · ".join(LACKING[kind] for kind in lacking)
    return f"{right} {numbers['values']} · {missing}", missing, brief, right


def kind_of_row(result: CriterionResult) -> str:
    """Return the kind of row, by which its mark is found."""
    return VALUES_RIGHT if result.values_right else result.status


def reached_choices(verdict: Verdict, look: Look) -> tuple[str, str]:
    """Return how many rows pass and in how many more all values are right, in words, and shorter with that mark."""
    done = sum(result.status == "passed" for result in verdict.criteria)
    only = PUBLIC_ONLY if verdict.run.public_only else ""
    passed = f"{done} of {count(len(verdict.criteria), 'criterion')}"
    right = sum(result.values_right for result in verdict.criteria)
    if not right:
        return f"{passed}{only}", f"{passed}{only}"
    return f"{passed} · {right} with right values{only}", f"{passed} · {right} {look.mark(VALUES_RIGHT)[0]}{only}"


def waits_words(verdict: Verdict) -> str:
    """Return which earlier stages a module waits for before it can be graded."""
    return f"waits for {all_of(verdict.waits_for)}"


def count(number: int, noun: str) -> str:
    """Return a number with its noun, in the plural where it is not one."""
    plural = {"criterion": "criteria"}.get(noun, f"{noun}s")
    return f"{number} {noun if number == 1 else plural}"


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
    of = {source: " and ".join(use.stage for use in uses if use.source == source) for source in SOURCES}
    instead = [f"the reference of {of['reference']}"] if of["reference"] else []
    instead += [f"what this course gives for {of['given']}"] if of["given"] else []
    why = ", since your own, as it is now, has not passed" if instead else ""
    if withheld:
        why = f": no {' and '.join(withheld)} that passes was submitted"
    own = [f"your own {of['own']}"] if of["own"] else []
    told = ", and with ".join([*own, " and ".join(instead)] if instead else own)
    return f"with {told}{why}"
