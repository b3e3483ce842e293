"""Marks in the forms of other programs, each read back by a reader of that form."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from junitparser import Error, Failure, JUnitXml

from grader.errors import UsageError
from grader.gradebook import exports
from grader.gradebook.exports import of_worksheet, told_of_maximum
from grader.gradebook.marks import Entry
from grader.gradebook.records import Mark, Member, Override
from grader.gradebook.roster import Worksheet, read_worksheet
from grader.report.formats import CLASSES
from tests.support.packages import installed

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
    entry("dee", outcome="fault", mark=None, verdict=None, fault="the course broke"),
    entry(NASTY, points=0, outcome="rejected", verdict=verdict(False, NASTY)),
)


def rows(form: str, entries: tuple[Entry, ...] = ENTRIES) -> list[dict[str, str]]:
    text = CLASSES[form].render(entries)
    assert isinstance(text, str)
    return list(csv.DictReader(io.StringIO(text, newline=""), strict=True))


def test_json_is_as_the_published_schema_says() -> None:
    found = json.loads(CLASSES["json"].render(ENTRIES))
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
    assert (found[2]["automatic"], found[2]["override"]) == ("1.25", "1.75")
    assert [line["reason"] for line in found[:5]] == ["", "", "oral exam", "cy handed in nothing", "the course broke"]
    assert found[5]["reason"] == f"'{NASTY}"
    assert found[0]["submitted"] == NOW.isoformat() and found[3]["outcome"] == "missing"
    assert found[5]["student"] == f"'{NASTY}"


@pytest.mark.parametrize("form", ["csv", "canvas", "moodle"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_no_cell_is_a_formula_whichever_separator_a_spreadsheet_takes(form: str, separator: str) -> None:
    texts = ("=1+1", "x;=1+1", "＝1+1", 'x;"=1+1;y', "x\t@SUM(1)", "x\n-1")
    given = [
        entry(text, override=Override(text, "s01", 1.0, text, "prof", NOW), identity=text if place % 2 else "")
        for place, text in enumerate(texts)
    ]
    written = str(CLASSES[form].render(given))
    cells = [cell for line in csv.reader(io.StringIO(written, newline=""), delimiter=separator) for cell in line]
    assert [cell for cell in cells if cell.lstrip(' "').startswith(("=", "+", "-", "@", "＝"))] == []


def test_canvas_has_a_line_for_each_student_and_a_column_for_each_stage() -> None:
    most, *found = rows("canvas")
    assert (most["Student"].strip(), most["s01"], most["s02"]) == ("Points Possible", "2", "2")
    assert [(line["Student"], line["ID"], line["s01"], line["s02"]) for line in found[:2]] == [
        ("ada", "12", "2", "0.5"), ("bob", "", "1.75", ""),
    ]  # fmt: skip
    assert found[3]["s01"] == "" and len(found) == 5


@dataclass
class Moodle:
    """An assignment as Moodle's importer of worksheets treats it (mod/assign/feedback/offline, importgradeslib.php)."""

    most: float
    grades: dict[str, tuple[float, datetime]]
    comments: dict[str, str]

    def take(self, text: str, people: Collection[str]) -> None:
        lines = list(csv.DictReader(io.StringIO(text, newline=""), strict=True))
        assert {"Identifier", "Grade", "Last modified (grade)"} <= set(lines[0]), "invalidgradeimport"
        for line in lines:
            who = line["Identifier"][len("Participant ") :]
            if who not in people:
                continue
            modified = datetime.fromisoformat(line["Last modified (grade)"].replace(" UTC", "+00:00"))
            before = self.grades.get(who)
            is_stale = before is not None and before[1] > modified + timedelta(seconds=60)
            if line["Grade"] and not is_stale and 0 <= float(line["Grade"]) <= self.most:
                self.grades[who] = float(line["Grade"]), modified
            if not is_stale and line["Feedback comments"] != self.comments.get(who, ""):
                self.comments[who] = line["Feedback comments"]


def test_moodle_has_a_worksheet_of_one_stage() -> None:
    with pytest.raises(UsageError, match="of one assignment, and the gradebook has s01, s02"):
        rows("moodle")
    found = rows("moodle", tuple(each for each in ENTRIES if each.stage == "s01"))
    assert (found[0]["Identifier"], found[0]["Full name"], found[0]["Grade"]) == ("Participant 12", "ada", "2")
    assert (found[0]["Maximum Grade"], found[2]["Feedback comments"]) == ("2", "cy handed in nothing; 3 days late")
    assert (found[1]["Grade"], found[1]["Feedback comments"]) == ("1.75", "given by hand: oral exam")


def test_moodle_takes_the_worksheet_and_loses_nothing_of_a_teachers() -> None:
    later = NOW + timedelta(hours=1)
    given = (
        entry("ada", identity="1", graded=NOW, verdict=verdict(True)),
        entry("bob", identity="2", graded=NOW, override=Override("bob", "s01", 2.5, "bonus", "prof", later)),
        entry("cy", identity="3", mark=None, verdict=None, outcome="fault"),
        entry("dee", identity="4", points=0.5, graded=NOW),
        entry("eve", points=1.0, graded=NOW),
    )
    old = NOW - timedelta(days=1)
    there = Moodle(
        2.0, {"2": (1.0, later - timedelta(minutes=9)), "4": (2.0, later)}, dict.fromkeys("34", "Well done.")
    )
    there.take(str(CLASSES["moodle"].render(given)), tuple("1234"))
    assert {who: grade for who, (grade, _) in there.grades.items()} == {"1": 2.0, "2": 2.0, "4": 2.0}
    assert there.comments == {
        "1": "3 days late", "2": "given by hand: 2.5 of 2 points; bonus", "3": "Well done.", "4": "Well done.",
    }  # fmt: skip
    assert there.grades["2"][1] > old
    told = " ".join(CLASSES["moodle"].notes(given))
    assert "Moodle finds no eve" in told and "1 student without points" in told


def sheet_of(folder: Path, most: str) -> Worksheet:
    path = folder / "sheet.csv"
    lines = [f'"Participant {number}","{name}","{mail}",,"{most}"' for number, name, mail in (
        (901, "Ada Lovelace", "ada@uni.edu"), (902, "Bob", ""), (904, "李明", ""),
    )]  # fmt: skip
    path.write_text("\n".join(["Identifier,Full name,Email address,Grade,Maximum grade", *lines]), encoding="utf-8-sig")
    return read_worksheet(path, UTC)


def test_a_worksheet_has_the_numbers_of_its_assignment(tmp_path: Path) -> None:
    """Moodle numbers participants anew in each assignment, and passes over numbers of another one."""
    ada = Member("ada", "Lovelace, Ada", email="ada@uni.edu", moodle_id="301")
    given = (
        entry("ada", identity="301", member=ada),
        entry("bob_302", identity="302"),
        entry("cy", identity="303", member=Member("cy", moodle_id="303")),
        entry("dee", identity="904", member=Member("dee", moodle_id="304")),
    )
    taken = of_worksheet(given, sheet_of(tmp_path, "2.00"))
    assert [line["Identifier"] for line in rows("moodle", taken)] == [
        "Participant 901", "Participant 902", "cy", "Participant 904",
    ]  # fmt: skip
    told = " ".join(CLASSES["moodle"].notes(taken))
    assert "Moodle finds no cy: no participant's number of theirs is known." in told and "the roster has" not in told
    assert rows("moodle", given)[3]["Identifier"] == "Participant 904"  # by the name of the folder, not by class.csv


def test_points_above_moodles_maximum_are_told_with_what_to_do(tmp_path: Path) -> None:
    given = (entry("ada", points=2.0), entry("bob", points=1.5), entry("cy", points=1.0), entry("dee", mark=None))
    told = told_of_maximum(given, sheet_of(tmp_path, "1,00"))
    assert "which is 1: 2 students would have up to 2." in told
    assert "Make it 2 in Moodle, or write `points = 1` under [stages.s01]" in told
    assert told_of_maximum(given, sheet_of(tmp_path, "2.00")) == ""
    for unknown in (None, sheet_of(tmp_path, "-")):
        assert "it has to be 2 or more" in told_of_maximum(given, unknown)
    assert told_of_maximum(given[3:], None) == ""


def test_a_file_that_is_no_worksheet_is_refused(tmp_path: Path) -> None:
    (path := tmp_path / "class.csv").write_text("student\nada\n")
    with pytest.raises(UsageError, match="is not a grading worksheet of Moodle"):
        read_worksheet(path, UTC)


def test_each_line_of_a_worksheet_has_a_comment() -> None:
    plain = replace(entry("ada", identity="1"), mark=Mark("ada", "s01", 2.0, 2.0, 2.0, 1.0, 0, 0, "m", 1))
    assert rows("moodle", (plain,))[0]["Feedback comments"] == "2 of 2 points"


def test_a_column_of_canvas_bears_the_number_of_its_assignment() -> None:
    text = str(CLASSES["canvas"].render(ENTRIES, {"s01": "4711"}))
    assert next(csv.reader(io.StringIO(text)))[5:] == ["s01 (4711)", "s02"]
    assert "Canvas finds no bob, cy, dee" in " ".join(CLASSES["canvas"].notes(ENTRIES[:5]))


def test_what_the_roster_knows_of_a_student_stands_in_every_format() -> None:
    member = Member("zoe", "Zoë O'Hara", "zoe-o", "zoe@uni.edu", "Lab 1", "red", "4711", "S1", "zo12", "300123", "1001")
    given = (entry("zoe", identity="1001", member=member), entry("bob"))
    line, plain = rows("csv", given)
    assert [line[each] for each in ("name", "login", "email", "section", "team")] == [
        "Zoë O'Hara", "zoe-o", "zoe@uni.edu", "Lab 1", "red",
    ]  # fmt: skip
    assert plain["name"] == ""
    canvas = rows("canvas", given)[1]
    assert [canvas[each] for each in ("Student", "ID", "SIS User ID", "SIS Login ID", "Section")] == [
        "Zoë O'Hara", "4711", "S1", "zo12", "Lab 1",
    ]  # fmt: skip
    moodle = rows("moodle", given)[0]
    assert (moodle["Identifier"], moodle["Full name"]) == ("Participant 300123", "Zoë O'Hara")
    found = json.loads(CLASSES["json"].render(given))
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(found)
    assert found["marks"][0]["roster"]["gradescope_id"] == "1001" and found["marks"][1]["roster"] is None


@pytest.mark.parametrize(
    ("label", "message", "told"),
    [
        ("/home/prof/handed/fay.py", "/home/prof/handed/fay.py is empty", "fay.py is empty"),
        ("/home/prof/fay@v1", "/home/prof/fay has no revision 'v1'", "fay has no revision 'v1'"),
        ("/home/p@rof/fay@v1", "/home/p@rof/fay@0123456 lacks it", "fay@0123456 lacks it"),
        ("handed/fay", "handed/fay holds nothing", "fay holds nothing"),
        (".", "it ends. in 3.5 s", "it ends. in 3.5 s"),
    ],
)  # fmt: skip
def test_students_are_told_nothing_of_the_folders_of_the_instructor(label: str, message: str, told: str) -> None:
    late = Mark("fay", "s01", 0.0, 2.0, 2.0, 0.5, 1, 1, "m" * 64, 1)
    fay = entry("fay", mark=late, verdict=verdict(False, message), label=label)
    assert rows("moodle", (fay,))[0]["Feedback comments"] == f"{told}; 1 day late"
    assert json.loads(str(CLASSES["json"].render((fay,))))["marks"][0]["reason"] == fay.problem == told


def test_junit_has_a_suite_for_each_stage_and_skips_nobody(tmp_path: Path) -> None:
    (tmp_path / "marks.xml").write_text(str(CLASSES["junit"].render(ENTRIES)), encoding="utf-8")
    read = JUnitXml.fromfile(str(tmp_path / "marks.xml"))
    found = {suite.name: {case.name: case.result for case in suite} for suite in read}
    said = {case.name: case.system_out for suite in read for case in suite if case.system_out}
    assert list(found) == ["s01", "s02"] and found["s01"]["ada_12"] == []
    kinds = [[type(each) for each in found["s01"][name]] for name in ("bob", "cy", "dee")]
    assert kinds == [[Failure], [Error], [Error]]
    assert said == {"bob": "1.75 points given by hand: oral exam"}
    assert found["s01"]["cy"][0].text == "cy handed in nothing"
    assert found["s01"]["dee"][0].text == "the grader failed; this costs the student nothing: the course broke"


def test_how_the_grader_failed_is_for_those_who_grade() -> None:
    assert [each["reason"] for each in rows("csv") if each["student"] == "dee"] == ["the course broke"]
    found = json.loads(str(CLASSES["json"].render(ENTRIES)))["marks"]
    assert [each["reason"] for each in found if each["student"] == "dee"] == ["the course broke"]
    worksheet = rows("moodle", tuple(each for each in ENTRIES if each.student == "dee"))
    assert worksheet == []


@pytest.mark.parametrize("form", CLASSES)
def test_a_gradebook_without_marks_has_every_form(form: str) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    assert CLASSES[form].render(())


def test_junit_has_times_in_seconds_and_when_a_suite_began(tmp_path: Path) -> None:
    later = replace(entry("eve"), graded=NOW + timedelta(hours=1))
    (tmp_path / "marks.xml").write_text(
        str(CLASSES["junit"].render((replace(entry("ada"), graded=NOW), later, *ENTRIES[3:])))
    )
    (suite,) = JUnitXml.fromfile(str(tmp_path / "marks.xml"))
    assert (suite.timestamp, suite.time) == ("2026-11-22T23:59:00", 6.0)
    assert {case.name: case.time for case in suite}["ada"] == 1.5


def test_parquet_is_read_back_with_types(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    (tmp_path / "marks.parquet").write_bytes(CLASSES["parquet"].render(ENTRIES))  # type: ignore[arg-type]
    table = parquet.read_table(tmp_path / "marks.parquet")
    assert table.schema.field("points").type == pyarrow.float64()
    assert str(table.schema.field("submitted").type) == "timestamp[us, tz=UTC]"
    ada, _, bob, cy, dee, nasty = table.to_pylist()
    assert (ada["points"], ada["passed"], ada["submitted"], ada["override"]) == (2.0, True, NOW, None)
    assert dict(ada["rows"]) == {"double": "passed", "quadruple": "passed"}
    assert (bob["points"], bob["automatic"], bob["override"], bob["reason"]) == (1.75, 1.25, 1.75, "oral exam")
    assert (cy["outcome"], cy["reason"], cy["submitted"]) == ("missing", "cy handed in nothing", None)
    assert (dee["points"], dee["outcome"], nasty["student"]) == (None, "fault", NASTY)


def test_without_pyarrow_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(UsageError, match="parquet needs pyarrow") as found:
        CLASSES["parquet"].render(ENTRIES)
    assert found.value.hint == "`uv sync --extra parquet` installs it; without uv: pip install pyarrow."


def test_a_reason_of_several_lines_is_one_line_of_a_table() -> None:
    told = "invalid syntax (line 3)\n    def f(:\n          ^"
    broken = entry("eve", points=0, verdict=verdict(False, told))
    assert broken.reason == "invalid syntax (line 3); def f(:"
    assert [line["reason"] for line in rows("csv", (broken,))] == [broken.reason]


def test_a_format_of_an_installed_package_renders_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed(tmp_path, monkeypatch, "grader.class_formats", "students", "their_words:STUDENTS")
    assert [*CLASSES][-1] == "students"
    assert CLASSES["students"].render(ENTRIES[:3]) == "ada_12 ada_12 bob"
