"""What the last check found is kept for hints: what may be told of it, and that nothing depends on it."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.course.stage import Criterion, Feedback, Stage
from grader.criterion import Passes
from grader.outcome import Diagnosis
from grader.progress.last_check import CriterionCheck, of, recall, remember
from grader.report.terminal.overview import about_criterion
from grader.submission.parsing import Problem
from tests.support.verdicts import FORWARD, HIDDEN, MERGE, PUBLIC, RIGHT, RUN, SCORES, SPLIT, TEXTBOOK, VERDICT

ROWS = (SCORES, FORWARD, SPLIT, MERGE, RIGHT, TEXTBOOK)
CHECKED = replace(VERDICT, criteria=ROWS)
STAGE = Stage(
    "s15", Path("s15_attention"), "Attention", "attention.py", (),
    tuple(Criterion(row.id, row.text, (row.id.replace("-", "_"),), (), ("a", "b", "c")) for row in ROWS),
)  # fmt: skip
FOUND = Diagnosis("slip-1", "split-heads", "It answers as if 4711.", "Change it.")
UNDECLARED = replace(SPLIT, failures=(replace(PUBLIC, diagnosis=FOUND),))


def kept(folder: Path, **changed: Any) -> Any:
    asked = {"submission": RUN.submission, "course": RUN.course, **changed}
    return recall(folder, STAGE, asked["submission"], asked["course"])


def test_it_comes_back_as_it_was_kept(tmp_path: Path) -> None:
    remember(tmp_path, STAGE, CHECKED)
    assert kept(tmp_path) == of(CHECKED, STAGE)
    assert [row.id for row in kept(tmp_path).open] == ["split-heads", "merge-heads", "layer-norm", "forward"]
    assert kept(tmp_path).criterion("scores") is None
    assert (kept(tmp_path).passed, kept(tmp_path).robust) == (2, 1)
    assert [row.id for row in kept(tmp_path).not_robust] == [TEXTBOOK.id]
    assert [row.id for row in kept(tmp_path).criteria if row.values_right] == [RIGHT.id]
    assert kept(tmp_path).criterion("split-heads").mistake == "Tokens are mixed across heads."


def test_a_row_is_searched_that_is_explained_fails_first_or_was_asked_for() -> None:
    unnamed = replace(SPLIT, id="other", failures=(replace(PUBLIC, diagnosis=None),))
    rows = (replace(FORWARD, status="failed", failures=unnamed.failures), SPLIT, unnamed, SCORES)
    found = of(replace(CHECKED, criteria=rows), STAGE)
    assert [found.is_searched(row.id) for row in rows] == [True, True, False, True]
    assert replace(found, asked="other").is_searched("other")


def test_the_row_that_was_asked_for_is_kept(tmp_path: Path) -> None:
    remember(tmp_path, STAGE, CHECKED, "layer-norm")
    assert kept(tmp_path).asked == "layer-norm"


@pytest.mark.parametrize("changed", [{"submission": "0" * 64}, {"course": "9.9"}])
def test_another_text_or_course_has_none(tmp_path: Path, changed: dict[str, str]) -> None:
    remember(tmp_path, STAGE, CHECKED)
    assert kept(tmp_path, **changed) is None


@pytest.mark.parametrize(
    "verdict",
    [
        replace(CHECKED, problem=Problem("syntax", "line 3", 3, None)),
        replace(CHECKED, faults=("ours",)),
        replace(CHECKED, run=replace(RUN, only="split-heads")),
        replace(CHECKED, criteria=()),
    ],
)
def test_what_says_nothing_of_all_rows_is_not_kept(tmp_path: Path, verdict: Any) -> None:
    remember(tmp_path, STAGE, verdict)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", '{"version": 1}', '{"version": 2}', "\x00\xff", "[" * 100_000, '{"version": 1, "rows": 3}'],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "checks").mkdir()
    (tmp_path / "checks" / "s15.json").write_text(text, encoding="latin-1")
    assert kept(tmp_path) is None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("id", "other"), ("status", "fine"), ("mistake", 3), ("lacking", {"values": [1]}),
        ("lacking", {"taste": [1, 2]}), ("tests_passed", "2"), ("waits_for", [1]), ("lacking", None),
    ],
)  # fmt: skip
def test_a_row_of_another_form_counts_as_none(tmp_path: Path, key: str, value: object) -> None:
    remember(tmp_path, STAGE, CHECKED)
    file = tmp_path / "checks" / "s15.json"
    data = json.loads(file.read_text("utf-8"))
    data["rows"][0][key] = value
    file.write_text(json.dumps(data), encoding="utf-8")
    assert kept(tmp_path) is None


@pytest.mark.parametrize(("passes", "status"), [("mathematics", "passed"), ("all", "failed")])
def test_a_row_that_lacked_only_refusals_is_decided_by_what_counts_now(
    tmp_path: Path, passes: Passes, status: str
) -> None:
    """An earlier grader kept it as failed."""
    remember(tmp_path, STAGE, replace(CHECKED, criteria=(*ROWS[:-1], replace(TEXTBOOK, status="failed"))))
    found = recall(tmp_path, replace(STAGE, passes=passes), RUN.submission, RUN.course)
    assert found is not None and found.criteria[-1].status == status and not found.criteria[-1].robust
    assert [row.status for row in found.criteria[:-1]] == [row.status for row in ROWS[:-1]]


def test_a_folder_that_takes_nothing_costs_nothing(tmp_path: Path) -> None:
    (tmp_path / "checks").write_text("in the way", encoding="utf-8")
    remember(tmp_path, STAGE, CHECKED)
    assert kept(tmp_path) is None


@pytest.mark.parametrize(
    ("level", "row", "is_told"),
    [
        ("full", UNDECLARED, True),
        ("hint", UNDECLARED, False),
        ("hint", replace(SPLIT, failures=(HIDDEN,)), True),
        ("verdict", replace(SPLIT, failures=(HIDDEN,)), False),
        ("verdict", SPLIT, True),
    ],
)
def test_a_mistake_is_kept_where_a_report_tells_it(level: Feedback, row: Any, is_told: bool) -> None:
    (found,) = of(replace(VERDICT, criteria=(row,)), replace(STAGE, feedback=level)).criteria
    assert bool(found.mistake) is is_told


def test_names_that_a_process_chose_are_not_kept() -> None:
    row = replace(FORWARD, waits_for=("split_heads", "\x1b[2J"))
    assert of(replace(VERDICT, criteria=(row,)), STAGE).criteria[0].waits_for == ("split_heads",)


@pytest.mark.parametrize(
    ("row", "told"),
    [
        (None, ""),
        (CriterionCheck("a", "not_started"), ""),
        (CriterionCheck("a", "failed", 2, 4, "Tokens are mixed."), "Tokens are mixed."),
        (CriterionCheck("a", "failed", 2, 4), "2 of 4 tests pass."),
        (CriterionCheck("a", "failed", 9, 12, lacking={"edges": (1, 4)}), "3 of 4 edge cases wrong."),
        (CriterionCheck("a", "passed", 11, 12, lacking={"refusals": (2, 3)}), "1 of 3 refusals missing."),
        (CriterionCheck("a", "passed", 12, 12), ""),
        (CriterionCheck("a", "timed_out", 2, 4), "A test timed out."),
        (CriterionCheck("a", "blocked", waits_for=("split", "merge")), "This criterion waits for split and merge."),
        (CriterionCheck("a", "blocked", waits_for=(*"abcde",)), "This criterion waits for a, b, c and 2 more."),
        (CriterionCheck("a", "blocked"), ""),
    ],
)  # fmt: skip
def test_a_row_is_told_in_a_sentence(row: CriterionCheck | None, told: str) -> None:
    assert about_criterion(row) == told
