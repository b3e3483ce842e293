"""What is kept of the tests of a run, to hold explanations against."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from grader.outcome import Outcome
from grader.remote.heard import KEPT_BYTES, Heard
from grader.remote.record import Name, Record


def connection(held: int = 1) -> Any:
    record = Record("call", 1, "", "f", (), {})
    return SimpleNamespace(records=[record], names={"f": Name("function", 1)}, limits=SimpleNamespace(held=held))


def outcome(name: str, status: Any) -> Outcome:
    return Outcome(name, "row", False, status)


def test_a_test_counts_against_mistakes_only_if_it_was_held_against_all_of_them() -> None:
    heard = Heard()
    heard.keep(outcome("asked", "failed"), connection(), True)
    heard.keep(outcome("late", "failed"), connection(), False, True)
    heard.keep(outcome("neither", "failed"), connection(), False)
    heard.keep(outcome("fine", "passed"), connection(), False)
    assert [each.outcome.test for each in heard.failed] == ["asked", "late"]
    assert heard.called == {"asked": {"f"}} and heard.is_asked
    assert [each.outcome.test for each in heard.passed] == ["fine"]


def test_what_is_too_large_is_no_evidence() -> None:
    heard = Heard()
    heard.keep(outcome("large", "passed"), connection(KEPT_BYTES + 1), False)
    heard.keep(outcome("small", "passed"), connection(), False)
    assert [each.outcome.test for each in heard.passed] == ["small"]
