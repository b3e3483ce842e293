"""What the process that grades tells before its verdict: one row, then all, unexplained."""

from __future__ import annotations

import pytest

from grader.outcome import Outcome, Status
from grader.progress.actions import open_workspace
from grader.tests.support.command import Place
from grader.tests.watching.fakes import SQUARE
from grader.verdict import CriterionResult, Verdict
from grader.watching.service import Service


def test_what_one_row_found_is_told_ahead_without_explanation_unless_its_text_fails_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[object, ...]] = []
    workspace = open_workspace(place.root)
    service = Service(workspace, lambda *fields: told.append(fields))
    stage = workspace.course.stages[0]
    found = [Outcome("t::1", "double", True, "failed", "expected 6, got 9", explains=(SQUARE,))]
    service._glimpse(4, stage, found)
    ((kind, ticket, row),) = told
    assert (kind, ticket) == ("glimpsed", 4) and isinstance(row, CriterionResult)
    assert (row.id, row.status, row.failures[0].message) == ("double", "failed", "expected 6, got 9")
    assert row.failures[0].diagnosis is None
    service._glimpse(5, stage, [])
    monkeypatch.setattr("grader.watching.service.refused_rows", lambda *_: {"double": None})
    service._glimpse(6, stage, found)
    assert len(told) == 1


def test_what_all_tests_found_is_told_ahead_unless_they_pass_or_nothing_is_written(place: Place) -> None:
    told: list[tuple[object, ...]] = []
    workspace = open_workspace(place.root)
    service = Service(workspace, lambda *fields: told.append(fields))
    stage = workspace.course.stages[0]

    def found(*ends: Status) -> list[Outcome]:
        rows = zip(stage.criteria, ends, strict=True)
        return [Outcome(f"t::{row.id}", row.id, True, end, "why", explains=(SQUARE,)) for row, end in rows]

    service._decide(3, stage, found("passed", "passed"))
    service._decide(3, stage, found("not_started", "not_started"))
    service._decide(3, stage, found("passed", "grader_fault"))
    assert told == []
    service._decide(4, stage, found("failed", "passed"))
    ((kind, ticket, verdict),) = told
    assert (kind, ticket) == ("decided", 4) and isinstance(verdict, Verdict)
    assert [row.status for row in verdict.criteria] == ["failed", "passed"]
    assert verdict.criteria[0].failures[0].diagnosis is None
