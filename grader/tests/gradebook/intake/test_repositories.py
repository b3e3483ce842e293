"""A class as a CSV list: students, repositories, times, and every mistake in it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.errors import UsageError
from grader.gradebook.intake.arrivals import Arrival, Handed
from grader.gradebook.intake.listing import listing

HEAD = "student,repository,revision\n"


def read(folder: Path, text: str, zone: str = "UTC") -> tuple[Arrival, ...]:
    path = folder / "class.csv"
    path.write_text(text, encoding="utf-8")
    return listing(path, ZoneInfo(zone)).arrivals


def test_a_list_names_repositories_beside_it_and_who_handed_in_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "\ufeff" + HEAD + "ada,repos/ada,main\nbob,,\ncy,repos/cy,\n")
    ada = Handed(tmp_path / "repos/ada@main", "repos/ada@main")
    assert found == (Arrival("ada", (ada,)), Arrival("bob", ()), Arrival("cy", ()))


def test_semicolons_quotes_and_absolute_paths_are_read(tmp_path: Path) -> None:
    (found,) = read(tmp_path, 'student;repository;revision\n"Lovelace, Ada";/srv/ada;v1\n')
    assert (found.student, found.things[0].path) == ("Lovelace, Ada", Path("/srv/ada@v1"))


def test_lines_of_separators_and_blanks_alone_are_nobodys(tmp_path: Path) -> None:
    found = read(tmp_path, "student;repository;revision\r\nada;r;main\r\n;;\r\n ; ; \r\n\r\n;;;;\r\nbob;;\r\n")
    assert [each.student for each in found] == ["ada", "bob"]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028", "\x0b", "\x85"])
def test_a_name_with_an_end_of_a_line_in_it_becomes_no_other_name(end: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"the name 'a\ufffd+da' has characters that cannot be shown"):
        read(tmp_path, HEAD + f'"a{end}da",r,main\n')


def test_several_lines_of_a_student_with_times_are_attempts(tmp_path: Path) -> None:
    head = "student,repository,revision,submitted\n"
    (ada,) = read(tmp_path, head + "ada,r,a,2026-11-30T23:59:00\nada,r,b,2026-12-01T00:10:00Z\n", "Europe/Berlin")
    times = [thing.submitted and thing.submitted.astimezone(UTC) for thing in ada.things]
    assert times == [datetime(2026, 11, 30, 22, 59, tzinfo=UTC), datetime(2026, 12, 1, 0, 10, tzinfo=UTC)]


def test_every_mistake_is_told_with_its_line(tmp_path: Path) -> None:
    head = "student,repository,revision,submitted\n"
    lines = "ada,r,a,\nada,r,b,\n,r,c,\nbob,r\ncy,r,d,yesterday\ndee,r,e,,more\n"
    with pytest.raises(UsageError) as found:
        read(tmp_path, head + lines)
    assert [line.partition(", ")[2][:27] for line in found.value.message.splitlines()] == [
        "line 3: ada is there twice;", "line 4: student is missing", "line 5: expected 4 columns,",
        "line 6: submitted: 'yesterd",
        "line 7: expected 4 columns,",
    ]  # fmt: skip
    assert found.value.hint == "Nothing was graded."


def test_students_that_differ_in_case_only_are_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="are of the same student"):
        read(tmp_path, HEAD + "Ada,r,a\nada,r,b\n")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "column 'student' is missing"),
        ("student,repositories,revision\n", "'repositories' is not a column of a list; did you mean 'repository'"),
        ("student,student,repository,revision\n", "column 'student' is there twice"),
        (HEAD, "lists no student"),
        ("student,repository,revision\n" + "x" * 140_000, "field larger than field limit"),
    ],
)
def test_a_file_that_is_no_such_list_is_told(text: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=told):
        read(tmp_path, text)


def test_a_list_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no\.csv does not exist"):
        listing(tmp_path / "no.csv", UTC)
    (tmp_path / "loop.csv").symlink_to("loop.csv")
    with pytest.raises(UsageError, match=r"loop\.csv cannot be read: Too many levels of symbolic links"):
        listing(tmp_path / "loop.csv", UTC)


@pytest.mark.parametrize(
    ("data", "line"), [(HEAD.encode() + "ada,r,main\nJürgen,r,main\n".encode("cp1252"), 3), (b"\xff\xfes\0t\0", 1)]
)
def test_a_list_in_another_encoding_is_told_with_its_line(data: bytes, line: int, tmp_path: Path) -> None:
    (tmp_path / "class.csv").write_bytes(data)
    with pytest.raises(UsageError, match=f"class.csv cannot be read: line {line} is not in UTF-8") as found:
        listing(tmp_path / "class.csv", UTC)
    assert found.value.hint == "Save it as CSV in UTF-8."


def test_a_list_that_is_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.gradebook.intake.spreadsheet.MAX_BYTES", 40)
    with pytest.raises(UsageError, match="has more than 40 bytes"):
        read(tmp_path, HEAD + "ada,r,main\n" * 2)
