"""What a class handed in: folders, exports of platforms in the shapes that they have, and CSV lists."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from ruamel.yaml import YAML

from grader.course.manifest import load_course
from grader.course.stage import Stage
from grader.errors import NotHandedIn, UsageError
from grader.gradebook.intake import ReadAttempt, taken
from grader.gradebook.records import Member
from grader.gradebook.roster import read_metadata
from grader.gradebook.submissions import StudentSubmission, SubmittedFile, chosen, listing
from tests.support.places import ROOT


@pytest.fixture(scope="module")
def s15() -> Stage:
    return load_course(ROOT).find("s15")


def made(folder: Path, *names: str) -> Path:
    """Return the folder with these files in it; a name that ends in / is a folder."""
    for name in names:
        path = folder / name
        path.mkdir(parents=True) if name.endswith("/") else path.parent.mkdir(parents=True, exist_ok=True)
        if not name.endswith("/"):
            path.touch()
    return folder


def students(folder: Path) -> dict[str, tuple[str, list[str]]]:
    found = listing(folder, UTC).arrivals
    return {each.student: (each.identity, [thing.name for thing in each.things]) for each in found}


def test_a_student_has_a_file_an_archive_or_a_folder(tmp_path: Path) -> None:
    made(
        tmp_path,
        "ada.py",
        "bob.tar.gz",
        "cy.ZIP",
        "dee/attention.py",
        "O'Neil, Zoë/",
        ".DS_Store",
        "__MACOSX/",
        "eve.docx",
    )
    assert students(tmp_path) == {
        "O'Neil, Zoë": ("", ["O'Neil, Zoë"]), "ada": ("", ["ada.py"]), "bob": ("", ["bob.tar.gz"]),
        "cy": ("", ["cy.ZIP"]), "dee": ("", ["dee"]), "eve": ("", ["eve.docx"]),
    }  # fmt: skip


def test_exports_of_canvas_and_moodle_name_the_student_and_a_number(tmp_path: Path) -> None:
    made(
        tmp_path, "lovelaceada_123_attention-1.py", "lovelaceada_123_attention-2.py",
        "smithjo_LATE_45_678_attention.py",
        "Jo Smith_9_assignsubmission_file_/attention.py", "Al Gore_8_assignsubmission_file_attention.py",
    )  # fmt: skip
    assert students(tmp_path) == {
        "Al Gore_8": ("8", ["attention.py"]),
        "Jo Smith_9": ("9", ["Jo Smith_9_assignsubmission_file_"]),
        "lovelaceada_123": ("123", ["attention-1.py", "attention-2.py"]),
        "smithjo_45": ("45", ["attention.py"]),
    }


def test_two_entries_of_one_student_are_told_and_nothing_is_taken(tmp_path: Path) -> None:
    made(tmp_path, "ada.py", "ada.zip", "Bob/", "bob.py", "cy.py")
    with pytest.raises(UsageError) as found:
        listing(tmp_path, UTC)
    lines = found.value.message.splitlines()
    assert sorted(lines) == [
        "Bob and bob.py are of the same student, Bob",
        "ada.py and ada.zip are of the same student, ada",
    ]
    assert found.value.hint and found.value.hint.startswith("Nothing was graded. Keep one of each;")


@pytest.mark.parametrize("roster", [(), (Member("ada-l", "ada"), Member("bo", "Bo"), Member("dee"))])
def test_a_second_download_is_another_attempt_and_no_student(roster: tuple[Member, ...], tmp_path: Path) -> None:
    made(tmp_path, "ada.py", "ada (1).py", "Ada (2).zip", "bo (1).py", "dee/", "dee_copy.py")
    found = {each.student: each for each in listing(tmp_path, UTC, roster).arrivals}
    ada = found["ada-l" if roster else "ada"]
    assert sorted(each.name for each in ada.things) == ["Ada (2).zip", "ada (1).py", "ada.py"]
    assert {each.reason for each in ada.doubts} == {"note"} and "are attempts of" in ada.doubts[-1].text
    assert sorted(each.name for each in found["dee"].things) == ["dee", "dee_copy.py"] and len(found) == 3
    assert ("bo" if roster else "bo (1)") in found


@pytest.mark.parametrize("name", ["a\nb.py", " ada.py", "x" * 101 + ".py"])
def test_a_name_that_cannot_be_shown_is_told(name: str, tmp_path: Path) -> None:
    made(tmp_path, name)
    with pytest.raises(UsageError, match="the name '") as found:
        listing(tmp_path, UTC)
    assert found.value.message.isprintable()
    assert found.value.hint == "Nothing was graded. Rename what has such a name."


@pytest.mark.parametrize(("name", "student"), [("\udce9tude.py", "étude"), ("\udc81.py", "\ufffd")])
def test_a_name_that_is_not_in_utf_8_costs_nobody_anything(name: str, student: str, tmp_path: Path) -> None:
    made(tmp_path, name, "bob.py")
    found = listing(tmp_path, UTC).arrivals
    assert sorted(each.student for each in found) == sorted(["bob", student])
    (told,) = [each.doubts for each in found if each.student == student]
    assert [each.reason for each in told] == ["note"] and "not in UTF-8" in told[0].text


@pytest.mark.parametrize(
    ("name", "told"), [("no", "does not exist"), ("file.zip", "is not a folder"), ("folder", "is empty: nothing"),
                     ("litter", "holds no submission, only .hidden, notes.txt: nothing")]
)  # fmt: skip
def test_a_place_without_submissions_is_told(name: str, told: str, tmp_path: Path) -> None:
    made(tmp_path, "file.zip", "folder/", "litter/.hidden", "litter/notes.txt")
    with pytest.raises(UsageError, match=told):
        listing(tmp_path / name, UTC)


def names(arrival: StudentSubmission, stage: Stage, only: bool) -> list[str]:
    return [thing.name for thing in chosen(arrival, stage, only)]


def test_a_file_with_its_students_name_is_the_one_stage_that_is_graded(tmp_path: Path, s15: Stage) -> None:
    (plain, lms) = listing(made(tmp_path, "ada.py", "bob_1_homework.py"), UTC).arrivals
    assert names(plain, s15, only=True) == ["ada.py"]
    with pytest.raises(NotHandedIn, match=r"expected attention.py, found ada.py"):
        names(plain, s15, only=False)
    with pytest.raises(NotHandedIn, match=r"bob_1 handed in nothing for s15: expected attention.py, found homework.py"):
        names(lms, s15, only=True)
    with pytest.raises(NotHandedIn, match="cy handed in nothing for s15"):
        names(StudentSubmission("cy", ()), s15, only=True)


def test_of_several_files_of_a_submission_the_likeliest_comes_first(tmp_path: Path, s15: Stage) -> None:
    made(tmp_path, "ada_1_attention-1.py", "ada_1_attention (2).py", "ada_1_layer.py", "ada_1_all.zip")
    (ada,) = listing(tmp_path, UTC).arrivals
    assert names(ada, s15, only=False) == ["attention (2).py", "attention-1.py", "all.zip"]


def test_what_is_nobodys_is_ignored_and_named(tmp_path: Path) -> None:
    litter = [".DS_Store", "Thumbs.db", "class.toml", "desktop.ini", "marks.csv", "notes.txt"]
    made(tmp_path, "ada.py", "bob.tar.gz", "cy/", *litter, "__MACOSX/ada.py", ".git/", "marks/gradebook.sqlite")
    found = listing(tmp_path, UTC)
    assert [each.student for each in found.arrivals] == ["ada", "bob", "cy"]
    assert sorted(found.ignored) == sorted([*litter, "__MACOSX", ".git", "marks"])


def test_what_somebody_handed_in_in_another_form_is_theirs(tmp_path: Path) -> None:
    made(tmp_path, "ada.ipynb", "bob.RAR", "dee_4_answers.txt", "Eve Li_5_assignsubmission_file_answers.docx")
    found = listing(tmp_path, UTC)
    assert [each.student for each in found.arrivals] == ["Eve Li_5", "ada", "bob", "dee_4"]
    assert not found.ignored


def test_a_text_file_is_whose_name_in_the_roster_it_bears(tmp_path: Path, s15: Stage) -> None:
    full = ROOT.joinpath("stages", s15.name, s15.module).read_bytes()
    put(tmp_path, **{"ada.py": full, "bob.txt": full, "cy.py.txt": full, "notes.txt": b"call them"})
    roster = [Member(name) for name in ("ada", "bob", "cy")]
    found = listing(tmp_path, UTC, roster)
    assert ([each.student for each in found.arrivals], found.ignored) == (["ada", "bob", "cy"], ("notes.txt",))
    read = [each for arrival in found.arrivals for each in taken(arrival, s15, ROOT, only=True, accept=False)]
    assert [[doubt.reason for doubt in each.doubts] for each in read] == [[], ["another name"], ["another name"]]


MODULE = b"def compute_attention_scores(Q, K):\n    return Q @ K.T\n"
METADATA = """\
---
submission_31245001:
  :submitters:
  - :name: Zoë O'Hara
    :sid: '1001'
    :email: zoe@uni.edu
  - :name: 'O''Neil, "Al"'
    :sid:
    :email: al@uni.edu
  :created_at: 2026-11-20 10:00:05.123456789 Z
  :score: 3.0
  :results:
    tests:
    - name: |
        :submitters:
      created_at: never
  :history:
  - :created_at: 2026-11-01 10:00:00.000000000 Z
submission_31245002:
  :created_at: 2026-11-21 10:00:00 Z
  :submitters:
    - :name: "\\u674E\\u660E"
      :sid: "1003"
      :email: li@uni.edu
"""


def zipped(**files: bytes) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return data.getvalue()


def put(folder: Path, **files: bytes) -> Path:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder


def of(folder: Path, stage: Stage, accept: bool = False) -> dict[str, ReadAttempt]:
    arrivals = listing(folder, UTC).arrivals
    found = [each for arrival in arrivals for each in taken(arrival, stage, ROOT, only=True, accept=accept)]
    assert len({each.attempt.student for each in found}) == len(found)
    return {each.attempt.student: each for each in found}


def text(found: ReadAttempt) -> bytes:
    assert found.snapshot is not None, found.error
    return found.snapshot.source


def test_files_of_one_canvas_submission_are_one_attempt_whatever_lies_beside_the_module(
    tmp_path: Path, s15: Stage
) -> None:
    put(tmp_path, **{
        "ada_7_100_attention.py": MODULE, "ada_7_101_notes.pdf": b"%PDF", "bob_8_102_attention.py": b"old",
        "bob_8_103_attention-1.py": MODULE, "cy_9_104_hw.zip": zipped(**{"a/attention.py": MODULE}),
        "cy_9_105_notes.zip": zipped(readme=b"x"), "dee_LATE_10_106_attention.py": MODULE, "dee_10_text.html": b"hi",
        "anon_uZb3X_107_attention.py": MODULE, "anon_uZb3X_108_notes.txt": b"x", "eve_11_text.html": b"see github",
    })  # fmt: skip
    found = of(tmp_path, s15)
    assert {name for name, each in found.items() if each.snapshot and text(each) == MODULE} == {
        "ada_7", "bob_8", "cy_9", "dee_10", "anon_uZb3X",
    }  # fmt: skip
    assert found["bob_8"].doubts[0].text == "attention-1.py is taken, not attention.py, which came before it"
    assert (found["eve_11"].outcome, found["eve_11"].doubts[0].reason) == ("missing", "not found")
    assert found["anon_uZb3X"].attempt.identity == ""
    put(tmp_path, **{f"eve_11_20{at}_attention.py": MODULE for at in (1, 2)})
    told = of(tmp_path, s15)["eve_11"].doubts[0].text
    assert told.startswith("eve_11_202_attention.py is taken, not eve_11_201_attention.py")


def test_moodle_words_are_ignored_beside_a_file_and_a_zip_in_the_folder_is_opened(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "Ada L_1_assignsubmission_file_/hw.zip": zipped(**{"hw/attention.py": MODULE}),
        "Ada L_1_assignsubmission_onlinetext_/onlinetext.html": b"<p>done</p>",
        "Bo B_2_assignsubmission_onlinetext/onlinetext.html": b"<p>done</p>",
        "Cy C_3_assignsubmission_file/attention.py": MODULE,
        "Cy C_3_assignsubmission_onlinetext_onlinetext.html": b"<p>done</p>",
    })  # fmt: skip
    found = of(tmp_path, s15)
    assert list(found) == ["Ada L_1", "Bo B_2", "Cy C_3"]
    assert text(found["Ada L_1"]) == text(found["Cy C_3"]) == MODULE
    assert "only words typed into a form" in found["Bo B_2"].doubts[0].text


def test_gradescope_metadata_names_members_and_times(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "export/submission_metadata.yml": METADATA.encode(),
        "export/submission_31245001/attention.py": MODULE, "export/submission_31245002/attention.py": MODULE,
        "export/submission_9/attention.py": MODULE,
    })  # fmt: skip
    with pytest.raises(UsageError, match="looks like Gradescope's export"):
        listing(tmp_path, UTC)
    found = of(tmp_path / "export", s15)
    assert list(found) == ["al@uni.edu", "li@uni.edu", "zoe@uni.edu"]
    zoe = found["zoe@uni.edu"].attempt
    assert (zoe.submitted, zoe.clock, zoe.identity) == (datetime(2026, 11, 20, 10, 0, 5, tzinfo=UTC), "csv", "1001")
    listed = listing(tmp_path / "export", UTC)
    assert listed.ignored == ("submission_9",)
    assert {each.name for each in listed.members} == {"Zoë O'Hara", 'O\'Neil, "Al"', "李明"}
    assert [each.team for each in listed.arrivals] == ["submission_31245001", "", "submission_31245001"]
    roster = [Member("zoe", email="zoe@uni.edu", submission="submission_31245001")]
    assert [each.student for each in listing(tmp_path / "export", UTC, roster).arrivals] == [
        "al@uni.edu", "li@uni.edu", "zoe",
    ]  # fmt: skip


def test_gradescope_metadata_says_what_a_reader_of_yaml_finds(tmp_path: Path) -> None:
    put(tmp_path, **{"submission_metadata.yml": METADATA.encode()})
    known = YAML(typ="safe").load(METADATA)
    found = read_metadata(tmp_path / "submission_metadata.yml", UTC)
    assert {name: [each.email for each in one.members] for name, one in found.items()} == {
        name: [person[":email"] for person in one[":submitters"]] for name, one in known.items()
    }
    assert [one.members[-1].name for one in found.values()] == [
        one[":submitters"][-1][":name"] for one in known.values()
    ]


@pytest.mark.parametrize("data", [b"", b"a: [", b"submission_1:\n  :score: 1\n", b"\xff\xfe\x00"])
def test_metadata_that_names_nobody_is_told(data: bytes, tmp_path: Path) -> None:
    put(tmp_path, **{"submission_metadata.yml": data, "submission_1/attention.py": MODULE})
    with pytest.raises(UsageError, match="names nobody who submitted"):
        listing(tmp_path, UTC)


def test_nbgrader_folders_and_its_times(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "submitted/ada/ps1/attention.py": MODULE, "submitted/ada/ps1/timestamp.txt": b"2026-11-20 10:00:00 UTC\n",
        "submitted/bob/ps1/attention.ipynb": json.dumps(
            {"cells": [{"cell_type": "code", "source": MODULE.decode().splitlines(keepends=True)}]}
        ).encode(),
        "submitted/bob/ps1/timestamp.txt": b"2026-11-21 10:00:00.5 UTC", "release/ps1/attention.py": b"stub",
        "submitted/ada/s15/attention.py": b"right", "submitted/ada/s15/timestamp.txt": b"2026-11-22 10:00:00 UTC",
    })  # fmt: skip
    found = of(tmp_path, s15)
    assert text(found["ada"]) == b"right" and MODULE in text(found["bob"])
    assert [each.attempt.submitted for each in found.values()] == [
        datetime(2026, 11, 22, 10, tzinfo=UTC), datetime(2026, 11, 21, 10, tzinfo=UTC),
    ]  # fmt: skip
    assert {each.attempt.clock for each in found.values()} == {"csv"}


def test_a_students_own_timestamp_is_no_clock(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{
        "ada/ps1/attention.py": MODULE, "ada/ps1/timestamp.txt": b"2020-01-01 10:00:00 UTC", "bob/attention.py": MODULE,
    })  # fmt: skip
    assert {each.attempt.clock for each in of(tmp_path, s15).values()} == {"file"}
    (tmp_path / "bob" / "attention.py").unlink()
    (tmp_path / "bob").rmdir()
    assert {each.attempt.clock for each in of(tmp_path, s15).values()} == {"file"}


NAMES = ["Attention.py", "hw3.py", "attention.py.txt", "hw3.ipynb"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("place", ["ada/{}", "ada_7_100_{}", "Ada L_1_assignsubmission_file_/{}"])
def test_a_file_under_another_name_is_taken_only_with_accept(name: str, place: str, tmp_path: Path, s15: Stage) -> None:
    full = ROOT.joinpath("stages", s15.name, s15.module).read_bytes()
    cells = {"cells": [{"cell_type": "code", "source": full.decode()}]}
    data = json.dumps(cells).encode() if name.endswith(".ipynb") else full
    put(tmp_path, **{place.format(name): data, place.format("notes.md"): b"x"})
    (missing,) = of(tmp_path, s15).values()
    assert (missing.snapshot, [each.reason for each in missing.doubts]) == (None, ["another name"])
    assert "--accept" in missing.doubts[0].remedy
    (accepted,) = of(tmp_path, s15, accept=True).values()
    assert text(accepted).strip() == full.strip()
    assert [each.reason for each in accepted.doubts] == ["note"]


def test_a_file_without_the_functions_is_not_the_module(tmp_path: Path, s15: Stage) -> None:
    put(tmp_path, **{"ada/other.py": b"def main():\n    pass\n", "bob/attn.py": b"# def compute_attention_scores"})
    assert [each.doubts[0].reason for each in of(tmp_path, s15, accept=True).values()] == ["not found"] * 2


def test_what_is_refused_is_no_other_name(tmp_path: Path, s15: Stage) -> None:
    full = ROOT.joinpath("stages", s15.name, s15.module).read_bytes()
    with zipfile.ZipFile(tmp_path / "ada.zip", "w") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        for _ in range(2):
            archive.writestr(s15.module, full)
    for accept in (False, True):
        (found,) = of(tmp_path, s15, accept=accept).values()
        assert (found.snapshot, [each.reason for each in found.doubts]) == (None, ["rejected"])


def test_accept_follows_no_link(tmp_path: Path, s15: Stage) -> None:
    full = ROOT.joinpath("stages", s15.name, s15.module)
    (tmp_path / "ada").mkdir()
    (tmp_path / "ada" / "hw3.py").symlink_to(full)
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "deep").symlink_to(full.parent)
    assert all(each.snapshot is None for each in of(tmp_path, s15, accept=True).values())


HEAD = "student,repository,revision\n"


def read(folder: Path, text: str, zone: str = "UTC") -> tuple[StudentSubmission, ...]:
    path = folder / "class.csv"
    path.write_text(text, encoding="utf-8")
    return listing(path, ZoneInfo(zone)).arrivals


def test_a_list_names_repositories_beside_it_and_who_handed_in_nothing(tmp_path: Path) -> None:
    found = read(tmp_path, "\ufeff" + HEAD + "ada,repos/ada,main\nbob,,\ncy,repos/cy,\n")
    ada = SubmittedFile(tmp_path / "repos/ada@main", "repos/ada@main")
    assert found == (StudentSubmission("ada", (ada,)), StudentSubmission("bob", ()), StudentSubmission("cy", ()))


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
    monkeypatch.setattr("grader.gradebook.roster.MAX_BYTES", 40)
    with pytest.raises(UsageError, match="has more than 40 bytes"):
        read(tmp_path, HEAD + "ada,r,main\n" * 2)
