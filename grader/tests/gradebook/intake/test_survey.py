"""A class before it is graded: what is in doubt, and when one reason is an alarm."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.gradebook.intake.doubts import Doubt, alarms
from grader.gradebook.intake.listing import listing
from grader.gradebook.intake.survey import Intake, document, survey
from grader.gradebook.records import Member
from grader.gradebook.worth.policy import Policy, StagePolicy
from grader.tests.support.places import ROOT

DEADLINE = datetime(2026, 11, 20, 12, tzinfo=UTC)
POLICY = Policy(stages={"s15": StagePolicy(deadline=DEADLINE)})


@pytest.fixture(scope="module")
def s15() -> Stage:
    return load_course(ROOT).find("s15")


def put(folder: Path, text: str = "x = 1\n", written: datetime = DEADLINE, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (0, written.timestamp()))


def of(folder: Path, stage: Stage, roster: tuple[Member, ...] = (), accept: bool = False) -> Intake:
    return survey([stage], listing(folder, UTC, roster).arrivals, ROOT, POLICY, accept)


def reasons(found: Intake) -> dict[str, list[str]]:
    return {row.student: [each.reason for each in row.doubts] for row in found.rows}


def test_each_student_has_a_row_with_file_time_clock_and_doubts(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE, "ada.py", "bob/other.py")
    put(tmp_path, "import msgpack\n", DEADLINE + timedelta(days=2), "cy.py")
    put(tmp_path, "def f(:\n", DEADLINE, "dee.py")
    roster = tuple(Member(name) for name in ("ada", "bob", "cy", "dee", "eve"))
    found = of(tmp_path, s15, roster)
    assert reasons(found) == {
        "ada": [], "bob": ["not found"], "cy": ["import", "late by file"], "dee": ["load"], "eve": ["absent"],
    }  # fmt: skip
    cy = next(row for row in found.rows if row.student == "cy")
    assert (Path(cy.file).name, cy.clock, cy.late_days) == ("cy.py", "file", 2)
    assert cy.submitted == DEADLINE + timedelta(days=2)
    assert found.students == 5 and not found.alarms


def test_one_reason_of_more_than_a_tenth_is_an_alarm_and_others_are_none(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE, *(f"s{at:02}.py" for at in range(17)))
    put(tmp_path, "import msgpack\n", DEADLINE, "t1.py", "t2.py")
    put(tmp_path, "def f(:\n", DEADLINE, "u1.py")
    assert not of(tmp_path, s15).alarms
    put(tmp_path, "import msgpack as t\n", DEADLINE, "t3.py")
    (alarm,) = of(tmp_path, s15).alarms
    assert (alarm.reason, alarm.cause, alarm.students, alarm.total) == ("import", "msgpack", ("t1", "t2", "t3"), 21)
    assert alarm.example.startswith("t1: line 1: msgpack is imported") and "Allow the package" in alarm.remedy


def test_a_package_that_is_stood_in_for_is_noted_and_no_alarm(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "import torch\n", DEADLINE, "ada.py", "bob.py")
    found = of(tmp_path, s15)
    assert reasons(found) == {"ada": ["note"], "bob": ["note"]} and not found.alarms
    assert found.rows[0].doubts[0].text.startswith("torch is not available when a stage is checked")


def test_different_syntax_errors_are_no_common_reason_and_the_same_one_is(tmp_path: Path, s15: Stage) -> None:
    for at, text in enumerate(("def f(:\n", "x = (\n", "  y = 1\n", "x ==\n")):
        put(tmp_path, text, DEADLINE, f"s{at}.py")
    assert not of(tmp_path, s15).alarms
    put(tmp_path, "\n\nx = (\n", DEADLINE, "more.py")
    (alarm,) = of(tmp_path, s15).alarms
    assert (alarm.reason, alarm.students) == ("load", ("more", "s1"))


def test_who_handed_in_nothing_is_no_alarm_and_who_is_not_in_the_roster_is(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE, "ada.py")
    assert not of(tmp_path, s15, (Member("ada"), Member("bob"), Member("cy"))).alarms
    put(tmp_path, "x = 1\n", DEADLINE, "b0b.py", "cyy.py")
    (alarm,) = of(tmp_path, s15, (Member("ada"), Member("bob"), Member("cy"))).alarms
    assert (alarm.reason, alarm.students) == ("unknown", ("b0b", "cyy"))


def test_files_unpacked_after_the_deadline_are_told_as_that(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE + timedelta(days=6), "ada_1_98_attention.py", "bob_LATE_2_99_attention.py")
    found = of(tmp_path, s15)
    (alarm,) = found.alarms
    assert alarm.reason == "late by file" and "all 2 were written within 1 s, as by unpacking" in alarm.example
    put(tmp_path, "x = 1\n", DEADLINE - timedelta(days=1), *(f"s{at}_1_98_attention.py" for at in range(20)))
    found = of(tmp_path, s15)
    assert not found.alarms
    late = {row.student: each.text for row in found.rows for each in row.doubts}
    assert late["ada_1"].endswith("Canvas does not call it late") and late["bob_2"].endswith("Canvas calls it late")


def test_times_of_a_roster_are_the_platforms(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE + timedelta(days=6), "ada.py", "bob.py")
    roster = tuple(Member(name, submitted=DEADLINE - timedelta(hours=1)) for name in ("ada", "bob"))
    found = of(tmp_path, s15, roster)
    assert (
        not found.alarms and [(row.clock, row.dated, row.late_days) for row in found.rows] == [("csv", "roster", 0)] * 2
    )


def test_the_document_holds_everything(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "import msgpack\n", DEADLINE, "ada.py", "bob.py")
    found = document(of(tmp_path, s15))
    text = {"type": ["string", "null"]}
    entry = {"type": "object", "required": ["student", "stage", "file", "submitted", "clock", "dated", "doubts"]}
    Draft202012Validator({
        "properties": {"entries": {"items": entry}, "alarms": {"items": {"properties": {"cause": text}}}},
        "required": ["schema", "students", "entries", "alarms", "ignored"],
    }).validate(found)  # fmt: skip
    assert found["alarms"][0]["students"] == ["ada", "bob"]


@pytest.mark.parametrize(
    ("concerned", "total", "is_alarm"), [(1, 1, True), (1, 5, False), (2, 5, True), (2, 20, False)]
)
def test_one_of_several_is_never_systematic(concerned: int, total: int, is_alarm: bool) -> None:
    cases = [(str(at), (Doubt("not found", "nothing"),)) for at in range(concerned)]
    assert bool(alarms(cases, total)) == is_alarm
