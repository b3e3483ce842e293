"""What is believed of a grading job: numbers of the right form for the criteria of the course, and nothing else."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from grader.classroom import results
from grader.classroom.results import FILE, MAX_BYTES, StageResult, read
from grader.course.stage import Criterion, Stage
from grader.errors import GraderFault
from grader.report.document import dumps, verdict_document
from grader.verdict import CriterionResult, Verdict
from tests.support.verdicts import PASSED, RIGHT, SYNTAX, TEXTBOOK, TEXTS, UNMARKED, VERDICT, written

TIERS = ("bubblewrap",)


def stage_of(verdict: Verdict) -> Stage:
    rows = tuple(Criterion(row.id, row.text, (), (), ("", "", "")) for row in verdict.criteria)
    return Stage("s15", Path("stages/s15_attention"), "Attention mechanisms", "attention.py", (), rows)


STAGE = stage_of(VERDICT)


def left(folder: Path, text: str | bytes) -> Path:
    (folder / FILE).write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def of(verdict: Verdict, folder: Path, stage: Stage | None = None) -> StageResult:
    return read(left(folder, dumps(verdict_document(verdict))), stage or stage_of(verdict), TIERS)


def test_statuses_and_counts_are_taken(tmp_path: Path) -> None:
    found = of(VERDICT, tmp_path)
    assert (found.why, found.passed, found.seed, found.isolation) == ("", False, 40817, "bubblewrap")
    assert found.submission == "ab" * 32
    assert [(row.status, row.passed, row.total) for row in found.criteria] == [
        ("passed", 5, 5),
        ("failed", 2, 4),
        ("not_started", 0, 3),
        ("blocked", 0, 5),
        ("crashed", 0, 1),
    ]


def test_right_values_follow_from_the_counts_of_a_row_that_fails(tmp_path: Path) -> None:
    verdict = replace(VERDICT, criteria=(RIGHT,))
    assert of(verdict, tmp_path).criteria[0].values_right
    assert not of(replace(VERDICT, criteria=(replace(RIGHT, status="not_started"),)), tmp_path).criteria[0].values_right
    document = verdict_document(replace(VERDICT, criteria=(replace(RIGHT, kinds=()),)))
    document["criteria"][0]["values_right"] = True  # what it says of itself is not believed
    assert not read(left(tmp_path, dumps(document)), stage_of(verdict), TIERS).criteria[0].values_right


def test_a_pass_is_a_pass(tmp_path: Path) -> None:
    assert of(PASSED, tmp_path).passed


def test_a_module_that_cannot_be_read_by_python_has_been_graded(tmp_path: Path) -> None:
    found = of(SYNTAX, tmp_path)
    assert (found.why, found.passed) == ("", False)


@pytest.mark.parametrize("name", UNMARKED)
def test_what_gives_no_marks_is_no_result(name: str, tmp_path: Path) -> None:
    found = of(UNMARKED[name], tmp_path)
    assert found.why
    assert not found.passed
    assert found.criteria == ()


def test_public_tests_alone_are_no_result(tmp_path: Path) -> None:
    public = replace(PASSED, passed=False, run=replace(PASSED.run, public_only=True))
    assert "hidden tests were not run" in of(public, tmp_path).why


def test_a_row_that_fails_its_public_tests_is_no_result_either(tmp_path: Path) -> None:
    public = replace(VERDICT, run=replace(VERDICT.run, public_only=True))
    assert "hidden tests were not run" in of(public, tmp_path).why


def test_names_are_the_course_s_own(tmp_path: Path) -> None:
    told = replace(PASSED, title="other", criteria=(replace(PASSED.criteria[0], text="![x](//evil)"),))
    found = of(told, tmp_path, stage_of(PASSED))
    assert (found.stage.title, found.criteria[0].text) == ("Attention mechanisms", PASSED.criteria[0].text)


@given(TEXTS)
def test_nothing_that_a_student_wrote_gets_through(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    folder = tmp_path_factory.mktemp("left")
    found = of(replace(written(text), problem=None), folder)
    assert found.why == ""
    assert found == of(replace(written("harmless"), problem=None), folder)


def test_no_file_is_no_verdict(tmp_path: Path) -> None:
    assert read(tmp_path / "nothing", STAGE, TIERS).why.startswith("the grading job left no verdict that can be read")


@pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links need rights here")
def test_a_link_is_no_verdict(tmp_path: Path) -> None:
    left(tmp_path, dumps(verdict_document(PASSED))).joinpath(FILE).rename(tmp_path / "real")
    (tmp_path / FILE).symlink_to(tmp_path / "real")
    assert "not a regular file" in read(tmp_path, stage_of(PASSED), TIERS).why


def test_a_file_that_is_too_large_is_no_verdict(tmp_path: Path) -> None:
    text = dumps(verdict_document(PASSED))
    assert read(left(tmp_path, text.ljust(MAX_BYTES)), stage_of(PASSED), TIERS).passed
    assert "at most 4 MB" in read(left(tmp_path, text.ljust(MAX_BYTES + 1)), stage_of(PASSED), TIERS).why


@pytest.mark.parametrize(
    "data",
    [b"", b"{", b"\xff\xfe", b"[]", b"null", b'{"schema": NaN}', b"[" * 100_000, b'{"schema": ' + b"9" * 5000 + b"}"],
)
def test_what_is_no_document_is_no_verdict(data: bytes, tmp_path: Path) -> None:
    assert "is not " in read(left(tmp_path, data), STAGE, TIERS).why


CHANGES: list[tuple[str, Any]] = [
    ("schema", 4),
    ("schema", 0),
    ("schema", True),
    ("schema", "1"),
    ("stage", "s16"),
    ("stage", None),
    ("only", "split-heads"),
    ("locked", True),
    ("faults", None),
    ("problem", "none"),
    ("public_only", 1),
    ("public_only", None),
    ("passed", True),
    ("passed", 0),
    ("passed", "false"),
    ("isolation", "process"),
    ("isolation", "landlock"),
    ("isolation", ["bubblewrap"]),
    ("submission", ""),
    ("submission", "AB" * 32),
    ("submission", f"{'ab' * 32}\n"),
    ("submission", None),
    ("seed", -1),
    ("seed", 1.0),
    ("seed", True),
    ("seed", 10**30),
    ("feedback", "all"),
    ("feedback", ["full"]),
    ("criteria", []),
    ("criteria", None),
    ("criteria", [1]),
    ("criteria", {}),
]


@pytest.mark.parametrize(("name", "value"), CHANGES, ids=[f"{name}={value}" for name, value in CHANGES])
def test_a_value_of_another_form_is_no_verdict(name: str, value: Any, tmp_path: Path) -> None:
    document = verdict_document(VERDICT) | {name: value}
    found = read(left(tmp_path, json.dumps(document)), STAGE, TIERS)
    assert found.why.startswith("the grading job left no verdict that can be read")
    assert name in found.why


@pytest.mark.parametrize("made", [{"python": 3}, {"numpy": "2.4\n"}, {"numpy": "<b>"}])
def test_versions_are_held_to_their_form(made: dict[str, object], tmp_path: Path) -> None:
    document = verdict_document(VERDICT) | {"provenance": {"python": "3.13.1", "numpy": "2.4.0"}}
    found = read(left(tmp_path, json.dumps(document)), STAGE, TIERS)
    assert (found.why, found.python, found.numpy) == ("", "3.13.1", "2.4.0")
    (tmp_path / "other").mkdir()
    found = read(left(tmp_path / "other", json.dumps(document | {"provenance": made})), STAGE, TIERS)
    assert f"provenance, {next(iter(made))}" in found.why


def test_uses_are_those_of_the_stage_and_held_to_their_form(tmp_path: Path) -> None:
    use = {"stage": "s02", "source": "own", "digest": "ab" * 32}
    stage = replace(STAGE, builds_on=(replace(STAGE, id="s02"),))
    for name, uses, why in (("a", [use], ""), ("b", [use | {"stage": "s03"}], "uses"), ("c", [1], "uses")):
        folder = tmp_path / name
        folder.mkdir()
        found = read(left(folder, json.dumps(verdict_document(VERDICT) | {"uses": uses})), stage, TIERS)
        assert found.why.endswith(why) and [each.stage for each in found.uses] == (["s02"] if not why else [])


@pytest.mark.parametrize("name", verdict_document(VERDICT))
def test_every_key_that_is_taken_has_to_be_there(name: str, tmp_path: Path) -> None:
    document = verdict_document(VERDICT)
    del document[name]
    unread = {"title", "waits_for", "isolation_note", "duration_s", "course", "file", "only", "problem", "unlocked"}
    unread |= {"provenance", "uses", "notes", "robust", "passes", "counts"}  # earlier verdicts have none
    found = read(left(tmp_path, json.dumps(document)), STAGE, TIERS)
    assert (found.why == "") == (name in unread)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("id", "other"),
        ("id", None),
        ("status", "skipped"),
        ("status", None),
        ("status", []),
        ("tests_total", -1),
        ("tests_total", 10**9),
        ("tests_passed", 6),
        ("tests_passed", 4),
        ("tests_passed", 5.0),
        ("tests_passed", None),
    ],
)
def test_a_row_of_another_form_is_no_verdict(name: str, value: Any, tmp_path: Path) -> None:
    document = verdict_document(PASSED)
    document["criteria"][0][name] = value
    assert read(left(tmp_path, json.dumps(document)), stage_of(PASSED), TIERS).why.startswith("the grading job left")


def test_a_row_passes_only_with_tests(tmp_path: Path) -> None:
    document = verdict_document(PASSED)
    document["criteria"][0] |= {"tests_passed": 0, "tests_total": 0}
    assert "counts of scores" in read(left(tmp_path, json.dumps(document)), stage_of(PASSED), TIERS).why


@pytest.mark.parametrize("rows", [(), (0, 0), (1, 0), (0, 1, 2, 3, 4, 4)])
def test_the_rows_are_those_of_the_stage(rows: tuple[int, ...], tmp_path: Path) -> None:
    picked: tuple[CriterionResult, ...] = tuple(VERDICT.criteria[place] for place in rows)
    assert "criteria" in of(replace(VERDICT, criteria=picked), tmp_path, STAGE).why


def test_a_stage_without_rows_is_not_passed(tmp_path: Path) -> None:
    empty = replace(VERDICT, criteria=(), passed=True)
    assert "criteria" in of(empty, tmp_path).why


def test_what_was_not_graded_is_said(tmp_path: Path) -> None:
    results.expect_graded([of(VERDICT, tmp_path)])
    with pytest.raises(GraderFault) as caught:
        results.expect_graded([of(VERDICT, tmp_path), StageResult(STAGE, why="the key is missing")])
    assert caught.value.message == "not graded: s15: the key is missing"


@pytest.mark.parametrize(
    "kinds",
    [
        None, [], {"taste": {"tests_passed": 1, "tests_total": 1}}, {"values": 3},
        {"values": {"tests_passed": 2, "tests_total": 1}}, {"values": {"tests_passed": True, "tests_total": 1}},
        {"values": {"tests_passed": 12, "tests_total": 12}}, {"refusals": {"tests_passed": 0, "tests_total": 2}},
    ],
)  # fmt: skip
def test_counts_by_kind_that_do_not_fit_are_no_verdict(kinds: Any, tmp_path: Path) -> None:
    verdict = replace(PASSED, criteria=(TEXTBOOK,))
    document = verdict_document(verdict)
    document["criteria"][0]["kinds"] = kinds
    assert "left no verdict" in read(left(tmp_path, dumps(document)), stage_of(verdict), TIERS).why


def test_a_row_that_lacks_refusals_passes_and_is_not_robust(tmp_path: Path) -> None:
    found = of(replace(PASSED, criteria=(TEXTBOOK,)), tmp_path)
    assert (found.why, found.passed, found.criteria[0].status, found.criteria[0].robust) == ("", True, "passed", False)


@pytest.mark.parametrize("passed", [True, False])
def test_the_verdict_of_an_earlier_grader_is_decided_by_what_counts_now(passed: bool, tmp_path: Path) -> None:
    row = PASSED.criteria[0] if passed else replace(TEXTBOOK, status="failed")
    verdict = replace(PASSED, passed=passed, criteria=(row,))
    document = verdict_document(verdict) | {"schema": 1}
    for key in ("robust", "passes", "counts"):
        del document[key]
    for key in ("robust", "robustness"):
        del document["criteria"][0][key]
    found = read(left(tmp_path, dumps(document)), stage_of(verdict), TIERS)
    assert (found.why, found.passed, found.criteria[0].robust) == ("", True, passed)
    strict = read(tmp_path, replace(stage_of(verdict), passes="all"), TIERS)
    assert (strict.why, strict.passed) == ("", passed)
