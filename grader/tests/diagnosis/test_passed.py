"""Tests that passed speak against a mistake where nothing was refused; the others say what has to stay refused."""

from __future__ import annotations

from grader.diagnosis.passed import Passed, Seen
from grader.sandbox.record import Record


def seen(test: str, error: Exception | None = None) -> Seen:
    return Seen(test, [Record("call", 1, "", "f", (), {}, error=error)], {})


def test_tests_with_and_without_a_refusal_are_told_apart() -> None:
    passed = Passed()
    passed.add("row", seen("plain"))
    passed.add("row", seen("refused", ValueError()))
    passed.add("other", seen("further"))
    assert [each.test for each in passed.telling("row")] == ["plain"]
    assert [each.test for each in passed.of("row")] == ["plain"]
    assert [each.test for each in passed.of("row", refused=True)] == ["refused"]
    assert [each.test for each in passed.of()] == ["plain", "further"]
    assert not passed.telling("none") and not passed.of("none")
