"""A class before it is graded: what is taken, when it came, and what of it is in doubt."""

from __future__ import annotations

import os
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.gradebook.intake import MISSING, Intake, ReadAttempt, alarms, document, expected, survey, taken
from grader.gradebook.policy import Policy, StagePolicy
from grader.gradebook.records import Member
from grader.gradebook.submissions import Doubt, StudentSubmission, SubmittedFile, listing
from tests.support.places import ROOT
from tests.support.repositories import commit, git, make, needs_git

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


def test_what_is_rejected_is_of_one_reason_where_it_is_of_one_kind(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE, *(f"right{at}.py" for at in range(6)), "hal.pdf", "ivy.rar", "kim.7z")
    assert not of(tmp_path, s15).alarms
    put(tmp_path, "x = 1\n", DEADLINE, "leo.pdf", "mia.PDF")
    assert [each.summary for each in of(tmp_path, s15).alarms] == ["rejected (.pdf): 3 of 11 students"]


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


def test_a_repository_of_github_classroom_asks_for_the_list_that_says_whose_it_is(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE, "hw1-ada-l.py", "hw1-bob.py")
    roster = Member("ada", login="Ada-L"), Member("bob", login="bob", submission="hw1-bob"), Member("cy")
    (row,) = [each for each in of(tmp_path, s15, roster).rows if each.student == "hw1-ada-l"]
    assert row.doubts[0].text == "hw1-ada-l is not in the roster, which has the login Ada-L, but not this repository"
    assert "grades.csv with --roster as well" in row.doubts[0].remedy
    assert "grades.csv" not in of(tmp_path, s15, (Member("ada"),)).rows[1].doubts[0].remedy


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


def test_what_canvas_calls_late_and_the_file_does_not_is_noted(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, "x = 1\n", DEADLINE - timedelta(days=1), "ada_1_98_attention.py", "bob_LATE_2_99_attention.py")
    found = of(tmp_path, s15)
    assert not found.alarms
    noted = {row.student: [(each.reason, each.text[:20]) for each in row.doubts] for row in found.rows}
    assert noted == {"ada_1": [], "bob_2": [("note", "Canvas calls it late")]}


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


THEN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def attempts_of(path: Path, stage: Stage) -> dict[str, ReadAttempt]:
    found = [each for arrival in listing(path, UTC).arrivals for each in taken(arrival, stage, ROOT, only=True)]
    assert len(found) == expected(listing(path, UTC).arrivals, stage, only=True)
    return {each.attempt.student: each for each in found}


def test_what_cannot_be_taken_is_a_result_of_its_own(tmp_path: Path, s15: Stage) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "misnamed").mkdir()
    (tmp_path / "misnamed" / "atention.py").touch()
    (tmp_path / "ada_1_homework.py").touch()
    for name, size in (("large.py", 2 << 20), ("huge.zip", 2 << 30)):
        with (tmp_path / name).open("wb") as file:
            file.truncate(size)  # sparse: it takes no room
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and no more")
    (tmp_path / "words.docx").write_bytes(b"words")
    (tmp_path / "link.py").symlink_to("/etc/passwd")
    found = attempts_of(tmp_path, s15)
    outcomes = {student: each.outcome for student, each in found.items()}
    assert outcomes == {
        "empty": "missing", "misnamed": "missing", "ada_1": "missing", "large": "rejected", "huge": "rejected",
        "broken": "rejected", "words": "rejected", "link": "rejected",
    }  # fmt: skip
    assert all(each.snapshot is None and each.error is not None for each in found.values())
    assert found["empty"].attempt.digest == found["misnamed"].attempt.digest == MISSING
    assert found["huge"].attempt.digest != found["large"].attempt.digest
    assert "at most 67,108,864 are accepted" in str(found["huge"].error)
    assert found["misnamed"].error and "atention.py" in str(found["misnamed"].error.hint)


def test_a_link_to_what_somebody_else_handed_in_is_not_followed(tmp_path: Path, s15: Stage) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "attention.py").write_text("x = 1\n", encoding="utf-8")
    (tmp_path / "eve").symlink_to("ada")
    found = attempts_of(tmp_path, s15)
    assert found["ada"].snapshot is not None and found["eve"].outcome == "rejected"
    assert str(found["eve"].error) == "eve is a link: expected a file, an archive or a folder"


def test_a_file_counts_from_when_it_was_written_and_an_archive_likewise(tmp_path: Path, s15: Stage) -> None:
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "attention.py").write_text("x = 1")
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as archive:
        archive.writestr("attention.py", "x = 1")
    for path in (tmp_path / "ada" / "attention.py", tmp_path / "bob.zip"):
        os.utime(path, (0, THEN.timestamp()))
    found = attempts_of(tmp_path, s15)
    assert [(each.attempt.submitted, each.attempt.clock) for each in found.values()] == [(THEN, "file")] * 2
    assert found["ada"].attempt.digest == found["bob"].attempt.digest
    os.utime(tmp_path / "bob.zip", (0, -(10**15)))  # a clock that jumped
    assert attempts_of(tmp_path, s15)["bob"].attempt.clock in ("file", "unknown")


@needs_git
def test_a_revision_counts_from_its_commit_unless_a_list_says_when(tmp_path: Path, s15: Stage) -> None:
    repository = make(tmp_path / "ada")
    commit(repository, {"attention.py": b"x = 1"})
    git(
        repository, "-c", "user.name=Ada", "-c", "user.email=a@example.org", "commit", "--amend", "--quiet", "--no-edit"
    )
    seconds = int(git(repository, "log", "-1", "--format=%ct"))
    (tmp_path / "class.csv").write_text("student,repository,revision\nada,ada,main\nbob,bob,main\n")
    found = attempts_of(tmp_path / "class.csv", s15)
    ada = found["ada"]
    assert (ada.attempt.submitted, ada.attempt.clock) == (datetime.fromtimestamp(seconds, UTC), "commit")
    assert ada.snapshot and ada.snapshot.revision == git(repository, "rev-parse", "HEAD")
    assert found["bob"].outcome == "rejected" and "does not exist" in str(found["bob"].error)
    handed = SubmittedFile(tmp_path / "ada@main", "ada@main", submitted=THEN)
    (listed,) = taken(StudentSubmission("ada", (handed,)), s15, ROOT, only=True)
    assert (listed.attempt.submitted, listed.attempt.clock) == (THEN, "csv")


@needs_git
@pytest.mark.parametrize(
    ("times", "listed", "told"),
    [
        ([("18T10", "18T10"), ("19T10", "19T10")], "", ""),
        ([("18T10", "18T10"), ("15T10", "19T10")], "", ""),  # written before, committed later: as amended or rebased
        ([("21T10", "21T10"), ("19T10", "19T10")], "", "the commit before it says 2026-11-21 10:00 UTC"),
        ([("21T10", "19T10")], "", "its author says 2026-11-21 10:00 UTC"),
        ([("19T10", "19T10")], "2026-11-19T11:00:00Z", ""),
        ([("19T10", "19T10")], "2026-11-21T09:00:00Z", "in time by the commit alone: 2026-11-19 10:00 UTC by the "
         "commit, 2026-11-21 09:00 UTC by the list, which counts"),
        ([("21T10", "21T10")], "2026-11-19T11:00:00Z", "committed after it was handed in"),
    ],
)  # fmt: skip
def test_a_commit_whose_time_cannot_be_so_is_flagged(
    times: list[tuple[str, str]], listed: str, told: str, tmp_path: Path, s15: Stage
) -> None:
    repository = make(tmp_path / "ada")
    for author, committer in times:
        (repository / "attention.py").write_text(f"x = '{author} {committer}'\n", encoding="utf-8")
        git(repository, "add", "--all")
        parents = [f"parent {each}" for each in git(repository, "rev-list", "-1", "--all").split()]
        who = "Ada <a@example.org>"
        people = [f"author {who} {at(author)} +0000", f"committer {who} {at(committer)} +0000"]
        given = "\n".join([f"tree {git(repository, 'write-tree')}", *parents, *people, "", "work", ""])
        made = git(repository, "hash-object", "-t", "commit", "-w", "--stdin", given=given.encode())
        git(repository, "update-ref", "refs/heads/main", made)
    head, line = "student,repository,revision", "ada,ada,main"
    text = f"{head},submitted\n{line},{listed}\n" if listed else f"{head}\n{line}\n"
    (tmp_path / "list.csv").write_text(text, encoding="utf-8")
    (row,) = survey([s15], listing(tmp_path / "list.csv", UTC).arrivals, ROOT, POLICY).rows
    found = [each.text for each in row.doubts if each.reason == "commit time"]
    assert (len(found), told in "".join(found)) == (bool(told), True)


def at(day_and_hour: str) -> int:
    return int(datetime.fromisoformat(f"2026-11-{day_and_hour}:00:00+00:00").timestamp())
