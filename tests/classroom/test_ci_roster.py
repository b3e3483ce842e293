"""A roster is held to its form, and what a student chose becomes a name that no shell and no file can misread."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.classroom.ci_roster import (
    MAX_BYTES,
    MAX_NAME,
    Student,
    batches,
    document,
    group,
    one,
    read_csv,
    read_json,
    slug,
    unknown,
)
from grader.errors import UsageError
from grader.gradebook.roster import MAX_BYTES as MAX_SHEET

A, B = "a" * 40, "b" * 40
HEADER = "student,repository,revision\n"


def from_csv(folder: Path, data: str | bytes) -> tuple[Student, ...]:
    (folder / "class.csv").write_bytes(data.encode() if isinstance(data, str) else data)
    return read_csv(folder / "class.csv")


def test_a_csv_file_gives_students(tmp_path: Path) -> None:
    found = from_csv(tmp_path, f"{HEADER}Zoë O'Hara,class/zoe,{A}\n\n ada , class/ada , {B} \n")
    assert found == (Student("zoe-o-hara", "class/zoe", A), Student("ada", "class/ada", B))
    assert (found[0].repository, found[0].revision) == ("class/zoe", A)


def test_a_file_that_a_spreadsheet_wrote_is_read(tmp_path: Path) -> None:
    data = f'\ufeffStudent,Repository,Revision\r\n"Lovelace, Ada",class/ada,{A}\r\n'
    assert from_csv(tmp_path, data) == (Student("lovelace-ada", "class/ada", A),)


def test_semicolons_part_cells_as_in_a_class_csv(tmp_path: Path) -> None:
    assert from_csv(tmp_path, f"student;repository;revision\nada;class/ada;{A}\n") == (Student("ada", "class/ada", A),)


def test_columns_may_come_in_any_order_beside_those_of_a_class(tmp_path: Path) -> None:
    found = from_csv(tmp_path, f"Name,Revision,Student,Section,Repository\nAda L,{A},ada,1,class/ada\n")
    assert [(each.name, each.repository, each.revision) for each in found] == [("ada", "class/ada", A)]


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ("", "begins with ''"),
        ("name;repo\n", "begins with 'name,repo'"),
        (HEADER, "names no student"),
        (b"\xff\xfe", "line 1 is not in UTF-8"),
        (f'{HEADER}"ada,class/ada,{A}\n', "not 3 values"),
        (f"{HEADER}ada,class/ada\n", "line 2: not 3 values"),
        (f"{HEADER}ada,class/ada,main\n", "line 2: 'main' is not the full name of a commit"),
        (f"{HEADER}ada,../ada,{A}\n", "line 2: '../ada' is not a repository"),
        (f"{HEADER}ada,-x/ada,{A}\n", "line 2: '-x/ada' is not a repository"),
        (f"{HEADER}李,李/李,{A}\n", "line 2: '李/李' is not a repository"),
        (f"{HEADER}ada,class/ada,{A}\nADA!,class/bob,{B}\n", "line 3: the student 'ada' is in line 2 already"),
        (f"{HEADER}李,class/li,{A}\n王,class/li,{B}\n", "line 3: the student 'class-li' is in line 2 already"),
        (HEADER + "ada,x,y\n" * 20, "and 12 more"),
        (HEADER + "x" * MAX_SHEET, "has more than 16,777,216 bytes"),
    ],
)
def test_a_roster_of_another_form_is_refused_with_its_lines(data: str | bytes, what: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        from_csv(tmp_path, data)
    assert what in caught.value.message


def test_a_roster_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_csv(tmp_path / "class.csv")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("ada", "is not a list in JSON"),
        ("{}", "is not a list in JSON"),
        ("[" * 100_000, "is not a list in JSON"),
        (" " * MAX_BYTES + "[]", "is not a list in JSON"),
        ("[]", "names no student"),
        ("[1]", "entry 1: not 3 values"),
        ('[{"student": "ada", "repository": 1, "revision": "x"}]', "entry 1: not 3 values"),
        ('[{"student": "ada", "more": "x"}]', "entry 1: not 3 values"),
    ],
)
def test_a_list_of_another_form_is_refused(text: str, what: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_json(text)
    assert what in caught.value.message


def test_a_list_may_leave_the_student_to_the_repository() -> None:
    text = json.dumps([{"repository": "Class/Ada.L", "revision": A}])
    assert read_json(text) == one("Class/Ada.L", A) == (Student("class-ada-l", "Class/Ada.L", A),)


@pytest.mark.full_matrix("grader/commands/classes")
@given(st.lists(st.text(max_size=80), max_size=4))
def test_whatever_a_student_is_called_the_output_is_two_plain_lines(names: list[str]) -> None:
    entries = [{"student": name, "repository": f"class/{at}", "revision": A} for at, name in enumerate(["ada", *names])]
    try:
        found = read_json(json.dumps(entries))
    except UsageError:
        return
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9_-]{0,58}[a-z0-9])?", each.name) for each in found)
    assert re.fullmatch(r"[]\[{}\":,a-z0-9_/-]+", document(found))
    assert read_json(document(found)) == found


def test_a_long_name_is_cut() -> None:
    assert slug("x" * 500) == "x" * MAX_NAME


def test_a_group_tells_what_is_graded_apart() -> None:
    ada, bob = one("class/ada", A), one("class/bob", A)
    groups = {group(ada, ["s01"]), group(bob, ["s01"]), group(ada, ["s02"]), group(ada, ["s01", "s02"])}
    assert len(groups) == 4
    assert all(re.fullmatch("[0-9a-f]{8}", each) for each in groups)


def test_a_team_has_one_repository_and_a_name_in_any_script_that_of_its_own(tmp_path: Path) -> None:
    found = from_csv(tmp_path, f"{HEADER}ada,class/red,{A}\nbob,class/red,{A}\n李明,class/li,{A}\ncy,class/cy,\n")
    assert [(each.name, each.revision) for each in found] == [("ada", A), ("bob", A), ("class-li", A), ("cy", "")]


def test_a_run_has_room_for_so_many_jobs() -> None:
    students = [Student(f"s{at}", f"class/{at}", A) for at in range(300)]
    assert [len(each) for each in batches(students)] == [20] * 15
    assert batches([Student("ada", "class/ada", "")]) == ()
    with pytest.raises(UsageError, match="300 jobs are too many"):
        batches(students, 1)
    with pytest.raises(UsageError, match="1200 students are too many"):
        batches(students * 4)


def test_who_has_a_verdict_on_the_same_commit_is_not_graded_again(tmp_path: Path) -> None:
    ada, bob, cy = (Student(name, f"class/{name}", A) for name in ("ada", "bob", "cy"))
    results = tmp_path / "results.csv"
    results.write_text(
        "student,stage,outcome,file\n"
        f"ada,s01,graded,class/ada@{A}\nada,s02,missing,class/ada@{A}\n"
        f"bob,s01,graded,class/bob@{B}\nbob,s02,graded,class/bob@{A}\ncy,s01,fault,class/cy@{A}\n"
    )
    assert unknown((ada, bob, cy), ["s01", "s02"], results) == (bob, cy)
    assert unknown((ada, bob, cy), ["s02"], results) == (cy,)
