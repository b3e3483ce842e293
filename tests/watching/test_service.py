"""What the process that grades tells before its verdict: one criterion, then all, unexplained."""

from __future__ import annotations

import io
import json

import pytest

from grader.outcome import Outcome, Status
from grader.progress.workspace import open_workspace
from grader.verdict import CriterionResult, Verdict
from grader.watching.service import MessageWriter, Service
from tests.support.command import WRONG, Place
from tests.watching.fakes import SQUARE


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
    monkeypatch.setattr("grader.watching.service.refused_criteria", lambda *_: {"double": None})
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


def test_failures_are_told_in_the_order_of_a_verdict(place: Place) -> None:
    told: list[tuple[object, ...]] = []
    workspace = open_workspace(place.root)
    service = Service(workspace, lambda *fields: told.append(fields))
    service._tests = {f"t::{number}": "double" for number in (2, 1, 3)}
    found = [Outcome(f"t::{number}", "double", True, "failed", f"got {number}") for number in (1, 2, 3)]
    service._glimpse(1, workspace.course.stages[0], found)
    ((_, _, row),) = told
    assert isinstance(row, CriterionResult) and [each.message for each in row.failures] == ["got 2", "got 1", "got 3"]


def test_a_module_without_the_stages_functions_is_left_to_the_verdict(place: Place) -> None:
    told: list[tuple[object, ...]] = []
    workspace = open_workspace(place.root)
    stage = workspace.course.stages[0]
    stage.module_path.write_text("x = 1\n", encoding="utf-8")
    service = Service(workspace, lambda *fields: told.append(fields))
    service._decide(1, stage, [Outcome("t::1", row.id, True, "failed", "it is missing") for row in stage.criteria])
    assert told == []


def test_a_save_meanwhile_changes_nothing_of_what_is_told(place: Place) -> None:
    kinds: list[object] = []
    workspace = open_workspace(place.root)
    stage = workspace.course.stages[0]

    def tell(kind: object, *_: object) -> None:
        kinds.append(kind)
        if kind == "tested":
            stage.module_path.unlink(missing_ok=True)  # as an editor may that replaces it

    stage.module_path.write_text(WRONG, encoding="utf-8")
    service = Service(workspace, tell)
    try:
        service.check(1, stage.id, "double")
    finally:
        service.close()
    assert [kind for kind in kinds if kind != "tested"][:2] == ["glimpsed", "decided"]


def test_an_answer_is_written_whole_before_a_check_is_broken_off() -> None:
    class Slow(io.StringIO):
        def write(self, text: str) -> int:
            count = super().write(text[:3])
            if text.startswith('["broken'):
                answers.break_off()  # as a signal does in the middle of a line
            return count + super().write(text[3:])

    stream = Slow()
    answers = MessageWriter(stream)
    answers("told", 1)
    with pytest.raises(KeyboardInterrupt):
        answers("broken off", 2)
    answers("told", 3)
    assert [json.loads(line) for line in stream.getvalue().splitlines()] == [
        ["told", 1],
        ["broken off", 2],
        ["told", 3],
    ]
    with pytest.raises(KeyboardInterrupt):
        answers.break_off()
