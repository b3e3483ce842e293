"""What is graded anew for a signature: every module that was begun, none on the word of a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from grader.errors import SubmissionError, UsageError
from grader.progress.actions import GradingRequest
from grader.progress.workspace import open_workspace
from grader.submission import take
from grader.tests.support.command import NUMBERS, SUMS, Place
from grader.tests.watching.fakes import verdict
from grader.verdict import Verdict
from grader.web import proving
from grader.web.proving import Proof, proven

NOW = datetime(2026, 11, 21, 8, 38, 2, tzinfo=UTC)


@contextmanager
def silent(name: str) -> Iterator[None]:
    yield None


def proof(place: Place, grade: Callable[..., Verdict]) -> Proof:
    workspace = replace(open_workspace(place.root), grade=grade)
    return proven(workspace, GradingRequest(), silent, lambda: NOW)


def grading(**statuses: str) -> Callable[..., Verdict]:
    def grade(course: Any, stage: Any, snapshot: Any, options: Any, on_test: Any, *_: Any) -> Verdict:
        return verdict(stage, *[statuses.get(stage.id, "passed")] * len(stage.criteria))

    return grade


def test_what_passes_now_is_certified_and_the_rest_is_accounted_for(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    place.sums.write_text(SUMS, encoding="utf-8")
    found = proof(place, grading(s02="failed"))
    (entry,) = found.entries
    digest = take(open_workspace(place.root).course.stages[0], None, place.root).digest
    assert (entry.stage, entry.module, entry.when) == ("s01", digest, "2026-11-21T08:38:02+00:00")
    assert found.left_out == ("s02: 0 of 2 criteria pass",)


def test_a_record_alone_certifies_nothing(place: Place) -> None:
    place.passed("s01", "s02")
    assert proof(place, grading()) == Proof((), ())


def test_nothing_is_recorded(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    proof(place, grading())
    assert place.recorded == set()


def test_a_fault_of_the_grader_certifies_nothing(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    found = proof(place, grading(s01="grader_fault"))
    assert found == Proof((), ("s01: the grader failed, which says nothing of the module",))


def test_where_hidden_tests_are_sealed_nobody_can_vouch(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    monkeypatch.setattr(proving, "public_only", lambda stage: True)
    with pytest.raises(UsageError, match="the hidden tests of s01 are sealed"):
        proof(place, grading())


def test_a_module_that_cannot_be_taken_is_accounted_for(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")

    def refused(*_: object) -> None:
        raise SubmissionError("numbers_.py is too large")

    monkeypatch.setattr(proving, "take", refused)
    assert proof(place, grading()) == Proof((), ("s01: numbers_.py is too large",))
