"""Rosters: class.csv and the exports of platforms as they are, and how entries are held against them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.errors import UsageError
from grader.gradebook.records import Member
from grader.gradebook.roster import as_csv, merged, read_roster, read_rosters
from grader.gradebook.submissions import listing

CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,s15 (4711),Final Score\n"
    "    Points Possible,,,,,20,(read only)\n"
    '"Lovelace, Ada",4711,S1,ada@uni.edu,Lab 1,,\n"Hopper, Grace",4712,S2,grace@uni.edu,Lab 2,,\n'
    '"Student, Test",99,,abc,Lab 1,,\n'
)
MOODLE = (
    "Identifier;Full name;Email address;Status;Grade;Maximum Grade;Last modified (submission);Last modified (grade);"
    "Feedback comments\r\n"
    'Participant 300123;Zoë O\'Hara;zoe@uni.edu;Submitted;;18;"Friday, 20 November 2026, 10:05 AM";-;\r\n'
    "Participant 300124;李明;li@uni.edu;No submission;;18;-;-;\r\n"
)
GRADESCOPE = (
    "First Name,Last Name,SID,Email,Sections,Total Score,Status,Submission ID,Submission Time\n"
    "Ada,Lovelace,1001,ada@uni.edu,A,,Graded,312,2026-11-20 10:05:00 +0100\n"
    "Alan,Turing,1002,alan@uni.edu,A,,Missing,,\n"
)
STAFF = "First Name,Last Name,SID,Email,Role\nAda,Lovelace,1001,ada@uni.edu,Student\nP,Rof,,p@uni.edu,Instructor\n"
GITHUB = (
    '"identifier","github_username","github_id","name"\n"Lovelace, Ada","ada-l","7","Ada"\n"Turing","alan","8",""\n'
)
PARTICIPANTS = "First name,Last name,Email address,Groups\nAda,Lovelace,ada@uni.edu,Team A\nAlan,Turing,alan@uni.edu,\n"


def rows(folder: Path, text: str, zone: str = "UTC") -> dict[str, Member]:
    (folder / "class.csv").write_text(text, encoding="utf-8")
    return {each.student: each for each in read_roster(folder / "class.csv", ZoneInfo(zone))}


def test_our_own_list_may_have_capitals_semicolons_any_order_and_more_columns(tmp_path: Path) -> None:
    found = rows(tmp_path, "\ufeffNotes;E-Mail;Student;Canvas ID;Team\nx;a@b.c;ada;4711;red\n;;李明;;\n;;;;\n")
    assert found["ada"] == Member("ada", email="a@b.c", canvas_id="4711", team="red")
    assert list(found) == ["ada", "李明"]


def test_canvas_export_has_ids_and_neither_points_possible_nor_the_test_student(tmp_path: Path) -> None:
    found = rows(tmp_path, CANVAS)
    assert list(found) == ["ada@uni.edu", "grace@uni.edu"]
    ada = Member(
        "ada@uni.edu", "Lovelace, Ada", section="Lab 1", canvas_id="4711", sis_id="S1", sis_login="ada@uni.edu"
    )
    assert found["ada@uni.edu"] == ada


def test_moodle_worksheet_has_participants_and_times(tmp_path: Path) -> None:
    found = rows(tmp_path, MOODLE, "Europe/Berlin")
    zoe = found["zoe@uni.edu"]
    assert (zoe.name, zoe.moodle_id) == ("Zoë O'Hara", "300123")
    assert zoe.submitted and zoe.submitted.astimezone(UTC) == datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
    assert found["li@uni.edu"].submitted is None


def test_gradescope_github_and_participants_are_read(tmp_path: Path) -> None:
    ada = rows(tmp_path, GRADESCOPE)["ada@uni.edu"]
    assert (ada.name, ada.gradescope_id, ada.submission) == ("Ada Lovelace", "1001", "submission_312")
    assert ada.submitted == datetime(2026, 11, 20, 9, 5, tzinfo=UTC)
    assert list(rows(tmp_path, STAFF)) == ["ada@uni.edu"]
    assert rows(tmp_path, GITHUB)["ada-l"].name == "Lovelace, Ada"
    assert rows(tmp_path, PARTICIPANTS)["ada@uni.edu"].team == "Team A"


def test_two_of_one_name_bear_their_numbers(tmp_path: Path) -> None:
    head = "Student,ID,Section\n"
    assert list(rows(tmp_path, f'{head}"Li, M",1,\n"Li, M",2,\n"Xu, A",3,\n')) == ["Li, M_1", "Li, M_2", "Xu, A"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "first line is empty"),
        ("studnet,mail\nada,x\n", "did you mean 'student'"),
        ("student\n", "lists no student"),
        ("student,email\nada,a@b.c\nAda,d@e.f\n", "line 3: student 'Ada' is that of line 2, too"),
        ("student,canvas_id\nada,1\nbob,1\n", "line 3: canvas_id '1' is that of line 2, too"),
        ("student,email\n,\nada,\n,x@y.z\n", None),
        ("name,team\n,red\n", "line 2: no name: expected one of"),
        ("student,submitted\nada,soon\n", "line 2: submitted: 'soon' is not a moment"),
        ("student,student\nada,bob\n", "column 'student' is there twice"),
    ],
)
def test_a_roster_that_cannot_be_used_is_told(text: str, told: str | None, tmp_path: Path) -> None:
    if told is None:
        assert list(rows(tmp_path, text)) == ["ada", "x@y.z"]
        return
    with pytest.raises(UsageError, match=told):
        rows(tmp_path, text)


def test_a_second_roster_fills_in_what_the_first_leaves_blank(tmp_path: Path) -> None:
    first = [Member("ada", email="ada@uni.edu"), Member("bob")]
    found = merged(first, [Member("x", name="Ada", email="Ada@uni.edu", canvas_id="1"), Member("cy")])
    assert found == (Member("ada", "Ada", email="ada@uni.edu", canvas_id="1"), Member("bob"), Member("cy"))
    (tmp_path / "class.csv").write_text(as_csv(found), encoding="utf-8")
    assert read_roster(tmp_path / "class.csv", UTC) == found


def names(folder: Path, roster: list[Member]) -> dict[str, list[str]]:
    return {each.student: [thing.path.name for thing in each.things] for each in listing(folder, UTC, roster).arrivals}


def test_an_entry_is_found_by_number_login_mail_name_or_canvas_letters(tmp_path: Path) -> None:
    roster = [
        Member("ada", "Lovelace, Ada", canvas_id="4711"), Member("grace", login="ghopper"),
        Member("zoe", "Zoë O'Hara", moodle_id="300126"), Member("alan", email="alan@uni.edu"),
        Member("ken", "Thompson, Ken"), Member("li", "李明"), Member("gone"),
    ]  # fmt: skip
    files = [
        "wrongletters_4711_98_attention.py", "GHopper.py", "alan.zip", "thompsonken_5_97_attention.py", "李明.py",
        "Other Name_300126_assignsubmission_file_attention.py", "eve.py",
    ]  # fmt: skip
    for name in files:
        (tmp_path / name).touch()
    assert names(tmp_path, roster) == {
        "ada": [files[0]], "grace": [files[1]], "alan": [files[2]], "ken": [files[3]], "li": [files[4]],
        "zoe": [files[5]], "eve": ["eve.py"], "gone": [],
    }  # fmt: skip
    found = {each.student: each for each in listing(tmp_path, UTC, roster).arrivals}
    assert not found["eve"].is_known and [doubt.reason for doubt in found["eve"].doubts] == ["unknown"]
    assert (found["ada"].identity, found["zoe"].identity, found["gone"].identity) == ("4711", "300126", "")


def test_what_a_team_hands_in_is_each_members(tmp_path: Path) -> None:
    (tmp_path / "red.py").touch()
    (tmp_path / "blue_9_98_attention.py").touch()
    roster = [Member("ada", team="Red"), Member("bob", team="Red"), Member("cy", team="blue"), Member("dee")]
    assert names(tmp_path, roster) == {
        "ada": ["red.py"],
        "bob": ["red.py"],
        "cy": ["blue_9_98_attention.py"],
        "dee": [],
    }


def test_names_that_two_students_share_stand_for_neither(tmp_path: Path) -> None:
    (tmp_path / "Ada.py").touch()
    roster = [Member("a1", "Ada"), Member("a2", "Ada")]
    assert names(tmp_path, roster) == {"Ada": ["Ada.py"], "a1": [], "a2": []}


def test_a_list_of_repositories_may_have_the_columns_of_a_roster(tmp_path: Path) -> None:
    text = "Student,Repository,Revision,Name,Section\nada,repos/ada,main,Ada L,1\n"
    (tmp_path / "class.csv").write_text(text, encoding="utf-8")
    (ada,) = listing(tmp_path / "class.csv", UTC).arrivals
    assert ada.student == "ada"
    (tmp_path / "class.csv").write_text("student,repository,revision\nada,https://github.com/class/ada,HEAD\n")
    with pytest.raises(
        UsageError, match=r"line 2: 'https://github\.com/class/ada' is not a repository on this machine"
    ):
        listing(tmp_path / "class.csv", UTC)


def test_members_who_submitted_together_stay_two(tmp_path: Path) -> None:
    text = GRADESCOPE.replace("Missing,,", "Graded,312,2026-11-20 10:05:00 +0100")
    (tmp_path / "grades.csv").write_text(text, encoding="utf-8")
    (tmp_path / "own.csv").write_text("student,repository\nbo,class/red\ncy,class/red\n", encoding="utf-8")
    found = read_rosters([tmp_path / "grades.csv", tmp_path / "own.csv"], UTC)
    assert [each.student for each in found] == ["ada@uni.edu", "alan@uni.edu", "bo", "cy"]
