"""Points of rows, partial credit, deadlines, late days and attempts: what results are worth."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from grader.gradebook.marks import credit, differences, marks, points, update_marks
from grader.gradebook.policy import PARTIAL, Policy, StagePolicy, Which
from grader.gradebook.records import Attempt, Key, Outcome, Result
from grader.gradebook.store import Gradebook

DUE = datetime(2026, 11, 30, 23, 59, tzinfo=UTC)


def row(
    name: str, status: str = "passed", done: int = 4, values: tuple[int, int] = (2, 2), **more: Any
) -> dict[str, Any]:
    kinds = {"values": values, "edges": (done - values[0], 4 - values[1])}
    counted = {kind: {"tests_passed": some, "tests_total": total} for kind, (some, total) in kinds.items()}
    right = status == "failed" and values[0] == values[1]
    found = {"id": name, "status": status, "tests_passed": done, "tests_total": 4, "kinds": counted}
    return found | {"values_right": right} | more


def verdict(*rows: dict[str, Any]) -> dict[str, Any]:
    return {"passed": all(each["status"] == "passed" for each in rows), "criteria": list(rows)}


def counted(
    points: int, submitted: datetime | None, stage: str = "s15", outcome: Outcome = "graded"
) -> tuple[Attempt, Result]:
    """Return an attempt of which that many of ten rows pass."""
    rows = [row(f"r{i}", "passed" if i < points else "failed", 4 if i < points else 0, (0, 2)) for i in range(10)]
    digest = f"{stage}{points}{submitted}"
    key = Key("ada", stage, digest, "0.1.0", 7, "process")
    attempt = Attempt("ada", stage, digest, submitted, "file", "ada.py", result=points)
    return attempt, Result(key, outcome, verdict(*rows), DUE, 1.0)


def test_each_row_is_worth_a_point_unless_the_policy_says_otherwise() -> None:
    found = verdict(row("a"), row("b", "failed", 3))
    assert points(found, StagePolicy()) == (1.0, 2.0)
    assert points(found, StagePolicy(criteria={"a": 3.0})) == (3.0, 4.0)
    assert points(found, StagePolicy(criteria={"a": 3.0}, points=100)) == (75.0, 100)
    assert points(verdict(), StagePolicy(points=10)) == (0.0, 10)


@pytest.mark.parametrize(
    ("found", "none", "tests", "kinds"),
    [
        (row("a"), 1.0, 1.0, 1.0),
        (row("values are right", "failed", 2), 0.0, 0.5, 0.75),
        (row("one value is wrong", "failed", 3, (1, 2)), 0.0, 0.75, 0.0),
        (row("refuses everything", "failed", 2, (0, 2)), 0.0, 0.0, 0.0),
        (row("ended abruptly", "crashed", 3), 0.0, 0.75, 0.0),
        (row("refused by its text", "failed", 0, kinds={}, values_right=False), 0.0, 0.0, 0.0),
    ],
    ids=lambda value: value["id"] if isinstance(value, dict) else "",
)  # fmt: skip
def test_partial_credit(found: dict[str, Any], none: float, tests: float, kinds: float) -> None:
    assert credit(found, StagePolicy()) == none
    assert credit(found, StagePolicy(partial="tests")) == tests
    assert credit(found, StagePolicy(partial="kinds", kinds={"values": 3, "edges": 1, "speed": 9})) == kinds
    assert credit(found, StagePolicy(partial="kinds", kinds={"speed": 1})) == none


def textbook(status: str) -> dict[str, Any]:
    """Return a row that lacks one of two refusals, as its verdict decided it."""
    kinds = {"values": {"tests_passed": 2, "tests_total": 2}, "refusals": {"tests_passed": 1, "tests_total": 2}}
    return row("textbook", status, 3, kinds=kinds)


@pytest.mark.parametrize("status", ["passed", "failed"])  # the latter by version 1, or where all tests count
def test_a_row_that_is_not_robust_earns_all_of_its_points_unless_all_tests_count(status: str) -> None:
    found = textbook(status)
    for partial in PARTIAL:
        assert credit(found, StagePolicy(partial=partial, kinds={"values": 3, "refusals": 1})) == 1.0
    strict = [StagePolicy(partial=each, kinds={"values": 3, "refusals": 1}, passes="all") for each in PARTIAL]
    assert [credit(found, each) for each in strict] == [0.0, 0.75, 0.75]


@pytest.mark.parametrize(
    ("late", "days"),
    [
        (timedelta(minutes=-1), 0), (timedelta(), 0), (timedelta(minutes=15), 0), (timedelta(minutes=15, seconds=1), 1),
        (timedelta(days=1), 1), (timedelta(days=1, seconds=1), 2), (timedelta(days=30), 30),
    ],
)  # fmt: skip
def test_begun_days_count_in_full_after_the_grace(late: timedelta, days: int) -> None:
    policy = Policy(grace=timedelta(minutes=15), stages={"s15": StagePolicy(deadline=DUE)})
    assert policy.late_days("ada", "s15", DUE + late) == days
    assert policy.late_days("ada", "s15", None) == policy.late_days("ada", "s16", DUE + late) == 0


def test_an_extension_moves_the_deadline_of_one_student() -> None:
    stages = {"s15": StagePolicy(deadline=DUE)}
    policy = Policy(stages=stages, extensions={"ada": {"s15": timedelta(days=2)}, "bob": {"s15": DUE + timedelta(1)}})
    late = DUE + timedelta(days=2)
    assert [policy.late_days(name, "s15", late) for name in ("ada", "bob", "cy")] == [0, 1, 2]


def test_lateness_costs_what_the_factors_say_and_then_everything() -> None:
    policy = Policy(factors=(0.9, 0.5), stages={"s15": StagePolicy(deadline=DUE)})
    found = [marks(policy, [counted(8, DUE + timedelta(days=days))])[0] for days in range(4)]
    assert [mark.points for mark in found] == [8.0, 7.2, 4.0, 0.0]
    assert [mark.late_days for mark in found] == [0, 1, 2, 3]


def test_the_budget_is_used_in_the_order_of_deadlines() -> None:
    stages = {"s16": StagePolicy(deadline=DUE), "s15": StagePolicy(deadline=DUE + timedelta(days=7))}
    policy = Policy(factors=(0.5,), budget=3, stages=stages)
    first = counted(10, DUE + timedelta(days=2), "s16")
    second = counted(10, DUE + timedelta(days=9), "s15")
    s15, s16 = marks(policy, [second, first])
    assert (s16.points, s16.budget_days) == (10.0, 2)
    assert (s15.points, s15.budget_days, s15.late_days) == (5.0, 1, 2)


def test_the_best_attempt_counts_or_the_last() -> None:
    tries = [counted(0, None, outcome="missing"), counted(9, DUE), counted(10, DUE + timedelta(days=1))]
    best = Policy(factors=(0.8,), stages={"s15": StagePolicy(deadline=DUE)})
    last = Policy(factors=(0.8,), stages={"s15": StagePolicy(deadline=DUE, attempts="last")})
    assert (marks(best, tries)[0].points, marks(last, tries)[0].points) == (9.0, 8.0)


@pytest.mark.parametrize("which", ["best", "last"])
def test_what_was_handed_in_at_an_unknown_time_counts_before_nothing(which: Which) -> None:
    policy = Policy(stages={"s15": StagePolicy(attempts=which)})
    (mark,) = marks(policy, [counted(5, None), counted(0, None, outcome="missing")])
    assert mark.points == 5.0


def test_an_attempt_that_earns_nothing_uses_no_budget_and_a_fault_counts_for_nothing() -> None:
    policy = Policy(budget=3, stages={"s15": StagePolicy(deadline=DUE)})
    (mark,) = marks(policy, [counted(5, DUE + timedelta(days=2), outcome="rejected")])
    assert (mark.points, mark.budget_days, mark.out_of) == (0.0, 0, 10.0)
    assert marks(policy, [counted(5, DUE, outcome="fault")]) == ()


DEFAULTS = Policy()
LATE = Policy(factors=(0.5, 0.2), other=StagePolicy(deadline=DUE - timedelta(days=1)))


def why(folder: Path, course: str, policy: Policy, *rows: dict[str, Any], given_by: Policy = DEFAULTS) -> list[str]:
    """Return why marks would change that were given by a policy and version 0.1.0+aa.bb of a course."""
    attempt = Attempt("ada", "s15", "text", DUE, "file", "ada.py")
    with Gradebook.open(folder, create=True) as book, book.changing():
        book.keep_attempt(attempt)
        results = [
            Result(Key("ada", "s15", "text", each, 7, "process"), "graded", verdict(*rows), DUE, 1.0)
            for each in ("0.1.0+aa.bb", course)
        ]
        before, after = map(book.keep_result, results)
        book.count_for("ada", "s15", "text", before)
        update_marks(book, given_by, "ada", "graded", DUE)
        return [each.why for each in differences(book, policy, {("ada", "s15", "text"): after})]


@pytest.mark.parametrize(
    ("course", "told"),
    [
        ("0.1.0+cc.bb", "the tests"),
        ("0.1.0+aa.cc", "other files of the course"),
        ("0.2.0+aa.cc", "the grader 0.1.0 → 0.2.0, other files of the course"),
        ("0.1.0+aacc", "the tests or other files of the course"),
    ],
)
def test_what_has_changed_of_tests_course_and_grader_is_named(course: str, told: str, tmp_path: Path) -> None:
    assert why(tmp_path, course, Policy(other=StagePolicy(points=5)), row("a")) == [f"changed: {told}"]


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        (Policy(), Policy(other=StagePolicy(points=5)), "the points in class.toml"),
        (Policy(), Policy(other=StagePolicy(passes="all")), "which tests make a criterion pass"),
        (Policy(), replace(LATE, other=StagePolicy(points=5, deadline=DUE - timedelta(days=2))),
         "the points in class.toml, days late by class.toml: 0 → 2"),
        (LATE, replace(LATE, budget=1), "late days that are free: 0 → 1"),
        (LATE, replace(LATE, factors=(0.7,)), "what lateness costs by class.toml"),
    ],
)  # fmt: skip
def test_what_has_changed_of_class_toml_is_named(before: Policy, after: Policy, told: str, tmp_path: Path) -> None:
    found = why(tmp_path, "0.1.0+aa.bb", after, row("a"), textbook("passed"), given_by=before)
    assert found == [f"changed: {told}"]
