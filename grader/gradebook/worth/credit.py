"""From verdicts and a policy to marks: points of rows, then lateness, then the attempt that counts; all of it pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from grader.criterion import counts_in
from grader.gradebook.records import Attempt, Mark, Result
from grader.gradebook.worth.policy import Policy, StagePolicy
from grader.report.stored import row_passes

_NEVER = datetime.max.replace(tzinfo=UTC)
DIGITS = 2  # of points


@dataclass(frozen=True)
class Counted:
    """An attempt and the result that counts for it, with its number in the gradebook."""

    attempt: Attempt
    result: Result
    number: int


def credit(row: Mapping[str, Any], policy: StagePolicy) -> float:
    """Return which part of its points a row of a verdict earns, from 0 to 1.

    A row that passes earns all of them, however robust it is. One that does not earns something by kinds only if all
    its values are right, and by tests only if some are: a function that refuses everything passes all tests of
    refusals.
    """
    if row_passes(row, policy.passes):
        return 1.0
    kinds = row["kinds"]
    if policy.partial == "kinds":
        right_values = row["status"] in ("passed", "failed") and counts_in(row).values_pass
        weights = {kind: policy.kinds.get(kind, 0.0) for kind in kinds} if right_values else {}
        right = [kind for kind in weights if kinds[kind]["tests_passed"] == kinds[kind]["tests_total"]]
        whole = sum(weights.values())
        return sum(weights[kind] for kind in right) / whole if whole else 0.0
    if policy.partial == "none" or ("values" in kinds and not kinds["values"]["tests_passed"]):
        return 0.0
    return row["tests_passed"] / row["tests_total"] if row["tests_total"] else 0.0


def points(verdict: Mapping[str, Any], policy: StagePolicy) -> tuple[float, float]:
    """Return the points that a verdict earns before lateness, and how many there are to be earned."""
    weights = [(policy.rows.get(row["id"], policy.row), credit(row, policy)) for row in verdict["criteria"]]
    whole = sum(weight for weight, _ in weights)
    out_of = whole if policy.points is None else policy.points
    earned = sum(weight * part for weight, part in weights) / whole if whole else 0.0
    return round(earned * out_of, DIGITS), round(out_of, DIGITS)


def marks(policy: Policy, counted: Iterable[Counted]) -> tuple[Mark, ...]:
    """Return the marks of one student; counted holds each attempt that has a result, in order.

    The budget of late days is used in the order of the deadlines, by the attempt that counts in each stage.
    """
    by_stage: dict[str, list[Counted]] = {}
    for each in counted:
        if each.result.outcome != "fault":
            by_stage.setdefault(each.attempt.stage, []).append(each)
    left = policy.budget
    found: list[Mark] = []
    for stage in sorted(by_stage, key=lambda stage: (policy.of(stage).deadline or _NEVER, stage)):
        handed_in = [each for each in by_stage[stage] if each.result.outcome != "missing"] or by_stage[stage]
        tries = handed_in[-1:] if policy.of(stage).attempts == "last" else handed_in
        found.append(_best([_mark(policy, each, left) for each in tries]))
        left -= found[-1].budget_days
    return tuple(sorted(found, key=lambda mark: mark.stage))


def _mark(policy: Policy, each: Counted, left: int) -> Mark:
    attempt = each.attempt
    raw, out_of = points(each.result.verdict, policy.of(attempt.stage))
    if each.result.outcome != "graded":
        raw = 0.0
    days = policy.late_days(attempt.student, attempt.stage, attempt.submitted)
    covered = min(days, left) if raw else 0  # what earns nothing uses no budget
    factor = policy.factor(days - covered) if raw else 1.0
    return Mark(
        attempt.student, attempt.stage, round(raw * factor, DIGITS), out_of, raw, factor, days, covered,
        attempt.digest, each.number,
    )  # fmt: skip


def _best(tries: Sequence[Mark]) -> Mark:
    """Return the most points; among equals the fewest days of the budget, then the latest."""
    return max(reversed(tries), key=lambda mark: (mark.points, -mark.budget_days))
