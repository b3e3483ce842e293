"""Which functions a test involves: those that it calls, and what these lead to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from grader.course.stage import Criterion, Stage
from grader.judging.calls import BITS, Involved
from grader.outcome import Outcome, Status

SOURCE = b"""
def one(x):
    return x

def two(x):
    return one(x)

class Layer:
    def forward(self, x):
        return two(x)

def other(x):
    return x
"""
ONE, TWO, LAYER, OTHER = 1, 2, 4, 8


def stage(*names: str) -> Stage:
    rows = tuple(Criterion(f"row-{name}", name, (name,), (), ("a", "b", "c")) for name in names)
    return Stage("s90", Path("s90"), "Small", "small.py", (), rows)


@pytest.fixture(scope="module")
def involved() -> Involved:
    return Involved(stage("one", "two", "Layer", "other"), SOURCE)


def outcome(row: str, status: Status = "failed", *called: str) -> Outcome:
    return Outcome(f"test_{row}", f"row-{row}", True, status, called=called)


@pytest.mark.parametrize(
    ("labels", "bits"),
    [
        ([], 0),
        (["one"], ONE),
        (["two"], ONE | TWO),
        (["Layer.forward"], ONE | TWO | LAYER),
        (["one", "other"], ONE | OTHER),
        (["unknown"], 0),
    ],
)
def test_calls_involve_what_they_lead_to(involved: Involved, labels: list[str], bits: int) -> None:
    assert involved.by(labels) == bits


@pytest.mark.parametrize(
    ("outcomes", "bits"),
    [
        ([], 0),
        ([outcome("two", "passed", "two")], 0),
        ([outcome("two", "not_started"), outcome("two", "blocked")], 0),
        ([outcome("one")], ONE),
        ([outcome("one", "failed", "other")], ONE | OTHER),
        ([outcome("two", "crashed")], ONE | TWO),
        ([outcome("one"), outcome("other", "timed_out")], ONE | OTHER),
    ],
)
def test_a_failure_involves_its_row_its_calls_and_what_these_lead_to(
    involved: Involved, outcomes: list[Outcome], bits: int
) -> None:
    assert involved.by_failures(outcomes) == bits


def test_of_a_module_that_cannot_be_read_calls_alone_are_known() -> None:
    assert Involved(stage("one", "two"), b"def one(:").by(["two"]) == TWO


def test_more_functions_than_bits_share_the_last() -> None:
    names = [f"f{place}" for place in range(BITS + 3)]
    found: Any = Involved(stage(*names), b"")
    assert found.by(["f0"]) == 1
    assert found.by([names[-1]]) == found.by([names[-2]]) == 1 << (BITS - 1)


def test_a_failure_leaves_out_the_functions_of_its_row_without_what_they_lead_to(involved: Involved) -> None:
    assert involved.failing([outcome("two", "failed", "other"), outcome("one", "passed")]) == TWO


HELPERS = b"""
def _halved(x):
    return x / 2

def one(x):
    return _halved(x)

def two(x):
    return one(x)

class Layer:
    def forward(self, x):
        return _halved(x)

def other(x):
    return x
"""


@pytest.mark.parametrize(
    ("source", "failed", "rows"),
    [
        (SOURCE, (), set()),
        (SOURCE, ("one",), {"one", "two", "Layer"}),  # they lead to it
        (SOURCE, ("Layer",), {"Layer"}),
        (SOURCE, ("other",), {"other"}),
        (HELPERS, ("one",), {"one", "two", "Layer"}),  # the helper may be wrong
        (HELPERS, ("Layer",), {"Layer", "one", "two"}),
        (HELPERS, ("other", "two"), {"other", "two", "one", "Layer"}),
        (b"def one(:", ("one",), {"one"}),
    ],
)
def test_rows_that_share_code_with_one_that_fails_tell_about_it(
    source: bytes, failed: tuple[str, ...], rows: set[str]
) -> None:
    known = Involved(stage("one", "two", "Layer", "other"), source)
    assert known.kin([outcome(name) for name in failed]) == {f"row-{name}" for name in rows}


def test_of_rows_that_fail_tests_of_the_same_functions_are_held_against_a_cause(involved: Involved) -> None:
    tells = involved.telling([outcome("one")])
    assert tells("row-one", lambda: ONE) and not tells("row-one", lambda: OTHER)
    assert not tells("row-other", lambda: ONE)
    assert not involved.telling([])("row-one", lambda: ONE)


def test_of_a_row_that_shares_code_with_one_that_fails_a_few_are_enough(involved: Involved) -> None:
    tells = involved.telling([outcome("one")])
    assert [tells("row-two", lambda: 0) for _ in range(4)] == [True, True, False, False]
