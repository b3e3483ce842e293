"""`grader demo`: a half-finished stage, graded for real, shows every kind of row and names known mistakes."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader import cli
from grader.course.answers import load_mistakes
from grader.outcome import Status
from grader.progress import actions
from grader.progress.actions import GradingRequest
from grader.progress.workspace import open_workspace
from grader.submission import take
from grader.submission.source import missing_names
from grader.verdict import CriterionResult, Verdict
from tests.support.places import ROOT

DEMO, DEMO_STAGE = ROOT / "demo" / "attention.py", "s15"
NAMED = {
    "split-heads": "reshape-without-transpose",
    "layer-norm": "sample-variance",
    "positions-added": "d-model-not-compared",
}


@pytest.fixture(scope="module")
def verdict() -> Verdict:
    workspace = open_workspace(DEMO.parent)
    return actions.check(
        workspace, workspace.course.find(DEMO_STAGE), GradingRequest(DEMO, seed=40817, isolation="process")
    )


def rows(verdict: Verdict, status: Status) -> dict[str, CriterionResult]:
    return {row.id: row for row in verdict.criteria if row.status == status}


def test_some_rows_pass_some_fail_some_are_not_started_and_one_waits(verdict: Verdict) -> None:
    assert not verdict.grader_fault
    assert len(rows(verdict, "passed")) == 8
    assert set(rows(verdict, "failed")) == {"split-heads", "layer-norm"}
    assert [row.id for row in verdict.criteria if row.lacks_robustness] == ["positions-added"]
    assert {"merge-heads", "encoder-block", "multi-head-backward", "additive-attention"} <= set(
        rows(verdict, "not_started")
    )
    assert rows(verdict, "blocked")["multi-head-forward"].waits_for


def test_each_row_that_fails_or_lacks_robustness_names_its_mistake(verdict: Verdict) -> None:
    found = {
        row.id: next(failure.diagnosis.mistake for failure in row.failures if failure.diagnosis)
        for row in verdict.criteria
        if row.status == "failed" or row.lacks_robustness
    }
    assert found == NAMED


def test_the_named_mistakes_are_those_of_the_stage() -> None:
    stage = open_workspace(DEMO.parent).course.find(DEMO_STAGE)
    known = {mistake.id: mistake.criterion for mistake in load_mistakes(stage)}
    assert {row: known.get(name) for row, name in NAMED.items()} == {row: row for row in NAMED}


def test_the_bundled_module_defines_every_name_of_its_stage() -> None:
    workspace = open_workspace(DEMO.parent)
    stage = workspace.course.find(DEMO_STAGE)
    assert missing_names(stage, take(stage, DEMO, workspace.course.root)) == ()


def test_the_command_works_anywhere_records_nothing_and_ends_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.delenv("LANG", raising=False)
    monkeypatch.delenv("LC_ALL", raising=False)
    monkeypatch.setattr(sys, "argv", ["grader", "demo", "--seed", "3"])
    with pytest.raises(SystemExit) as left:
        cli.main()
    shown = capsys.readouterr()
    assert (left.value.code or 0) == 0
    assert "8 of 18 criteria · 7 robust" in shown.out
    assert "demo/attention.py:" in shown.out
    assert "same inputs again: --seed 3\n" in shown.out
    assert "half-finished module that comes with the course" in shown.err
    told = " ".join(shown.err.split())
    assert "only what to write instead is left to `grader hint` there." in told
    assert "Next: `grader start s01`, the first stage." in told
    assert list(tmp_path.iterdir()) == []
