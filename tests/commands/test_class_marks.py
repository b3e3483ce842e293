"""`grader class override` and `export` on a gradebook that is there: what has no result, and files that are no text."""

from __future__ import annotations

import csv
import zipfile
from pathlib import Path

import pytest

from grader.gradebook.records import Attempt
from grader.gradebook.store import Gradebook
from tests.gradebook.made import NOW, keep, verdict
from tests.support.command import Here


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """Return a gradebook in which ada has a result for s01, and bob's grading has failed so far."""
    with Gradebook.open(tmp_path / "out", create=True) as found:
        keep(found, "ada", verdict())
        with found.changing():
            found.keep_attempt(Attempt("bob", "s01", "digest", NOW, "csv", "x"))
    return tmp_path / "out"


def test_marks_are_written_into_a_file_or_printed(book: Path, here: Here, tmp_path: Path) -> None:
    done = here("class", "export", str(tmp_path / "marks.csv"), "--out", str(book), "--format", "csv")
    said = " ".join(done.err.split())
    assert (done.code, done.out) == (0, "") and "Wrote 2 marks" in said and "; 1 are not" in said
    header = next(csv.reader((tmp_path / "marks.csv").read_text().splitlines()))
    assert header[:4] == ["student", "identity", "stage", "points"]
    assert here("class", "export", "--out", str(book), "--format", "json", "--stage", "s02").json["marks"] == []


def test_a_dash_prints_and_writes_no_file(book: Path, here: Here) -> None:
    printed = here("class", "export", "-", "--out", str(book))
    assert printed.out == here("class", "export", "--out", str(book)).out and printed.out.startswith('"student",')
    assert not Path("-").exists()


def test_points_beyond_those_of_the_stage_are_given_and_told(book: Path, here: Here) -> None:
    give = ("class", "override", "ada", "s01", "--out", str(book), "--reason", "bonus", "--points")
    most = here("class", "export", "--out", str(book), "--format", "json").json["marks"][0]["out_of"]
    told = here(*give, f"{most + 1:g}")
    assert told.code == 0 and f"{most + 1:g} points, more than the stage's {most:g}." in " ".join(told.err.split())
    assert "more than" not in here(*give, f"{most:g}").err


def test_a_name_that_is_unknown_is_told_with_the_command_that_lists_the_others(book: Path, here: Here) -> None:
    refused = here("class", "override", "zoe", "s01", "--out", str(book), "--points", "3", "--reason", "oral exam")
    told = "".join(refused.err.split())
    assert refused.code == 2 and f"classexport--out{book}`" in told


def test_points_for_what_was_never_graded_are_given_on_request_only(book: Path, here: Here) -> None:
    for student, stage, why in (
        ("ada", "s02", "nothing of theirs was ever graded"),
        ("bob", "s01", "has failed so far"),
    ):
        give = ("class", "override", student, stage, "--out", str(book), "--points", "3", "--reason", "oral exam")
        refused = here(*give)
        told = " ".join(refused.err.split())
        assert refused.code == 2 and f"{student} has no result for {stage}: " in told and why in told
        assert "add --ungraded" in told
        assert here(*give, "--ungraded").code == 0
    lines = list(csv.DictReader(here("class", "export", "--out", str(book)).out.splitlines()))
    assert [(each["student"], each["stage"], each["points"], each["outcome"], each["reason"]) for each in lines] == [
        ("ada", "s01", "2", "graded", ""), ("ada", "s02", "3", "missing", "oral exam"),
        ("bob", "s01", "3", "fault", "oral exam"),
    ]  # fmt: skip


def test_a_worksheet_of_moodle_says_the_numbers_and_the_most_points(book: Path, here: Here, tmp_path: Path) -> None:
    (sheet := tmp_path / "sheet.csv").write_text("Identifier,Full name,Grade,Maximum Grade\nParticipant 7,Ada,,1.00\n")
    export = ("class", "export", "--out", str(book), "--stage", "s01", "--format")
    done = here(*export, "moodle", "--worksheet", str(sheet))
    assert done.code == 0 and '"Participant 7"' in done.out
    assert "which is 1: 1 student would have up to 2." in " ".join(done.err.split())
    assert "it has to be 2 or more" in " ".join(here(*export, "moodle").err.split())
    assert here(*export, "canvas", "--worksheet", str(sheet)).code == 2
    pages = here("class", "report", str(book), "--out", str(tmp_path / "back.zip"), "--worksheet", str(sheet))
    with zipfile.ZipFile(tmp_path / "back.zip") as found:
        assert found.namelist() == ["ada_7_assignfeedback_file_/feedback.html"]
    assert pages.code == 0 and "left out: bob" in pages.err
    refused = here("class", "report", str(book), "--out", str(tmp_path / "report"), "--worksheet", str(sheet))
    assert refused.code == 2 and "--out FILE.zip" in " ".join(refused.err.split())


def test_parquet_goes_into_a_file_and_not_to_a_terminal(book: Path, here: Here, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import parquet

    refused = here("class", "export", "--out", str(book), "--format", "parquet")
    assert (refused.code, refused.out) == (2, "") and "Name a file, as in marks.parquet." in refused.err
    file = tmp_path / "marks.parquet"
    done = here("class", "export", str(file), "--out", str(book), "--format", "parquet")
    assert done.code == 0 and "Wrote 2 marks" in done.err
    assert parquet.read_table(file).column("student").to_pylist() == ["ada", "bob"]


def test_the_history_keeps_how_the_grader_failed(book: Path, here: Here) -> None:
    with Gradebook.open(book) as found, found.changing():
        found.note_fault("bob", "s01", "no memory", NOW)
    told = " ".join(here("class", "history", "bob", "--out", str(book)).out.split())
    assert told.endswith("bob s01 fault: the grader failed (no memory)")
    lines = list(csv.DictReader(here("class", "export", "--out", str(book)).out.splitlines()))
    assert [(each["student"], each["reason"]) for each in lines] == [("ada", ""), ("bob", "no memory")]
