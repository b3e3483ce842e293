"""Marks in the forms of other programs, each read back by a reader of that form."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from junitparser import Error, Failure, JUnitXml

from grader.errors import UsageError
from grader.gradebook import exports
from grader.gradebook.exports.formats import RENDER
from grader.gradebook.records import Mark, Override
from grader.gradebook.table import Entry

NOW = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
SCHEMA = Path(exports.__file__).with_name("marks.schema.json")
NASTY = '=HYPERLINK("http://example.org") <b>&"\x07é'


def verdict(passed: bool, problem: str | None = None) -> dict[str, Any]:
    rows = [{"id": "double", "status": "passed"}, {"id": "quadruple", "status": "passed" if passed else "failed"}]
    told = {"kind": "missing", "message": problem, "line": None, "hint": None} if problem else None
    found = {"passed": passed, "criteria": rows, "problem": told, "seed": 7, "isolation": "bubblewrap"}
    return found | {"submission": "d" * 64, "duration_s": 1.5}


def entry(student: str, stage: str = "s01", points: float = 2.0, **more: Any) -> Entry:
    mark = Mark(student, stage, points, 2.0, 2.0, 0.5, 3, 1, "m" * 64, 1)
    return replace(
        Entry(student, stage, "", "graded", mark, None, verdict(points == 2.0), NOW, 1), **more
    )  # fmt: skip


ENTRIES = (
    entry("ada_12", identity="12"),
    entry("ada_12", "s02", 0.5, identity="12"),
    entry("bob", points=1.25, override=Override("bob", "s01", 1.75, "oral exam", "prof", NOW)),
    entry("cy", points=0, outcome="missing", verdict=verdict(False, "cy handed in nothing"), submitted=None),
    entry("dee", outcome="fault", mark=None, verdict=None),
    entry(NASTY, points=0, outcome="rejected", verdict=verdict(False, NASTY)),
)


def rows(form: str, entries: tuple[Entry, ...] = ENTRIES) -> list[dict[str, str]]:
    text = RENDER[form](entries)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_json_is_as_the_published_schema_says() -> None:
    found = json.loads(RENDER["json"](ENTRIES))
    Draft202012Validator.check_schema(schema := json.loads(SCHEMA.read_text(encoding="utf-8")))
    Draft202012Validator(schema).validate(found)
    ada, _, bob, cy, dee, nasty = found["marks"]
    assert (ada["points"], ada["late_days"], ada["rows"]["quadruple"]) == (2.0, 3, "passed")
    assert (bob["points"], bob["automatic"], bob["override"]["reason"]) == (1.75, 1.25, "oral exam")
    assert (cy["outcome"], cy["points"], cy["reason"]) == ("missing", 0, "cy handed in nothing")
    assert (dee["outcome"], dee["points"]) == ("fault", None)
    assert nasty["student"] == NASTY


def test_csv_has_a_line_for_each_mark_and_no_formula() -> None:
    found = rows("csv")
    assert [line["points"] for line in found] == ["2", "0.5", "1.75", "0", "", "0"]
    assert (found[2]["automatic"], found[2]["override"], found[2]["reason"]) == ("1.25", "1.75", "oral exam")
    assert found[0]["submitted"] == NOW.isoformat() and found[3]["outcome"] == "missing"
    assert found[5]["student"] == f"'{NASTY}"


def test_canvas_has_a_line_for_each_student_and_a_column_for_each_stage() -> None:
    most, *found = rows("canvas")
    assert (most["Student"].strip(), most["s01"], most["s02"]) == ("Points Possible", "2", "2")
    assert [(line["Student"], line["ID"], line["s01"], line["s02"]) for line in found[:2]] == [
        ("ada", "12", "2", "0.5"), ("bob", "", "1.75", ""),
    ]  # fmt: skip
    assert found[3]["s01"] == "" and len(found) == 5


def test_moodle_has_a_worksheet_of_one_stage() -> None:
    with pytest.raises(UsageError, match="of one assignment, and the gradebook has s01, s02"):
        rows("moodle")
    found = rows("moodle", tuple(each for each in ENTRIES if each.stage == "s01"))
    assert (found[0]["Identifier"], found[0]["Full name"], found[0]["Grade"]) == ("Participant 12", "ada", "2")
    assert (found[0]["Maximum Grade"], found[2]["Feedback comments"]) == ("2", "cy handed in nothing; 3 days late")
    assert found[3]["Grade"] == ""


def test_moodle_tells_students_nothing_of_the_folders_of_the_instructor() -> None:
    problem = verdict(False, "/home/prof/handed/fay.py did not finish loading")
    late = Mark("fay", "s01", 0.0, 2.0, 2.0, 0.5, 1, 1, "m" * 64, 1)
    fay = entry("fay", mark=late, verdict=problem, label="/home/prof/handed/fay.py")
    assert rows("moodle", (fay,))[0]["Feedback comments"] == "fay.py did not finish loading; 1 day late"


def test_junit_has_a_suite_for_each_stage_and_skips_nobody(tmp_path: Path) -> None:
    (tmp_path / "marks.xml").write_text(RENDER["junit"](ENTRIES), encoding="utf-8")
    found = {
        suite.name: {case.name: case.result for case in suite}
        for suite in JUnitXml.fromfile(str(tmp_path / "marks.xml"))
    }
    assert list(found) == ["s01", "s02"] and found["s01"]["ada_12"] == []
    kinds = [[type(each) for each in found["s01"][name]] for name in ("bob", "cy", "dee")]
    assert kinds == [[Failure], [Error], [Error]]
    assert found["s01"]["cy"][0].text == "cy handed in nothing"


@pytest.mark.parametrize("form", RENDER)
def test_a_gradebook_without_marks_has_every_form(form: str) -> None:
    assert RENDER[form](())
