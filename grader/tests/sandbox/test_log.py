"""What is kept of the tests of a run, to hold explanations against."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.outcome import Outcome
from grader.sandbox.log import KEPT_BYTES, RequestLog
from grader.sandbox.record import Name, Record


def connection(held: int = 1) -> Any:
    record = Record("call", 1, "", "f", (), {})
    return SimpleNamespace(records=[record], names={"f": Name("function", 1)}, limits=SimpleNamespace(held=held))


def outcome(name: str, status: Any) -> Outcome:
    return Outcome(name, "row", False, status)


def test_tests_that_failed_and_passed_are_kept() -> None:
    log = RequestLog()
    log.keep(outcome("wrong", "failed"), connection())
    log.keep(outcome("gone", "crashed"), connection())
    log.keep(outcome("fine", "passed"), connection())
    assert [each.outcome.test for each in log.failed] == ["wrong"] and log.is_asked
    assert [each.outcome.test for each in log.passed] == ["fine"]


def test_what_is_too_large_is_no_evidence() -> None:
    log = RequestLog()
    log.keep(outcome("large", "passed"), connection(KEPT_BYTES + 1))
    log.keep(outcome("small", "passed"), connection())
    assert [each.outcome.test for each in log.passed] == ["small"]
