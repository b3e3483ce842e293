"""`grader class show`, `override --criterion`, `rename`, `merge`, `forget` and `regrade-requests`."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from grader.gradebook.marks import update_marks
from grader.gradebook.policy import Policy
from grader.gradebook.records import Attempt, Key, Member, Result
from grader.gradebook.store import FILE, Gradebook
from tests.gradebook.made import NOW, failure, keep, verdict
from tests.support.command import Here

SECRET = "a comment that nobody else wrote"
TEXT = f"import numpy as np\n\n\ndef double(x):\n    # {SECRET}\n    return x * x\n"


def wrong() -> dict[str, object]:
    found = verdict(double=False)
    cause = {"id": "squared", "criterion": "double", "line": 6, "text": "This is the square.", "fix": "Multiply by 2."}
    found["criteria"][0]["failures"] = [failure(cause=cause)]
    return found


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """Return a gradebook in which ada's double is wrong, and bob has everything right."""
    with Gradebook.open(tmp_path / "out", create=True) as book:
        keep(book, "ada", wrong())
        keep(book, "bob", verdict())
        with book.changing():
            book.keep_source("ada-s01-0", TEXT.encode())
            book.keep_roster([Member("ada", "Ada Lovelace", email="ada@uni.edu"), Member("bob")])
    return tmp_path / "out"


def marks(here: Here, out: Path) -> dict[str, dict[str, str]]:
    lines = csv.DictReader(here("class", "export", "--out", str(out)).out.splitlines())
    return {each["student"]: each for each in lines}


def test_a_student_is_shown_with_points_causes_and_the_lines_where_they_are(here: Here, out: Path) -> None:
    told = here("class", "show", "ada", "--out", str(out))
    assert told.code == 0
    assert "1 of 2 points" in told.out and "0 of 1  double is right" in told.out
    assert ">    6 |     return x * x" in told.out and "^ This is the square." in told.out
    found = here("class", "show", "ada", "s01", "--out", str(out), "--json").json
    assert [line["causes"] for line in found["stages"][0]["lines"] if line["causes"]] == [["This is the square."]]
    assert found["stages"][0]["criteria"][0]["calls"] == ["double(3): got 9"]
    assert here("class", "show", "ada", "s02", "--out", str(out)).code == 2
    assert here("class", "show", "adda", "--out", str(out)).code == 2


def test_a_student_is_meant_by_what_the_roster_knows_of_them_alone(here: Here, out: Path) -> None:
    assert here("class", "show", "ada@uni.edu", "--out", str(out)).out.startswith("ada (Ada Lovelace) · s01 Numbers: ")
    give = ("class", "override", "ada lovelace", "s01", "--points", "2", "--reason", "oral", "--out", str(out))
    assert here(*give).code == 0 and marks(here, out)["ada"]["points"] == "2"
    assert "oral" in here("class", "history", "Ada Lovelace", "--out", str(out)).out
    with Gradebook.open(out) as book, book.changing():
        book.keep_roster([Member("ada", "Ada Lovelace"), Member("bob", "Lovelace, Ada")])
    assert here("class", "show", "Ada Lovelace", "--out", str(out)).code == 2
    assert here("class", "forget", "Ada Lovelace", "--yes", "--out", str(out)).code == 2


def test_the_history_is_a_document_as_well(here: Here, out: Path) -> None:
    give = ("class", "override", "ada", "s01", "--points", "2", "--reason", "oral", "--out", str(out))
    assert here(*give).code == 0
    found = here("class", "history", "ada", "--out", str(out), "--json").json
    assert found["schema"] == 1 and {each["student"] for each in found["changes"]} == {"ada"}
    last = found["changes"][-1]
    assert (last["what"], last["stage"], last["before"], last["why"]) == ("override", "s01", None, "oral")
    assert last["after"]["points"] == 2
    assert [each["at"] for each in found["changes"]] == [
        line.split()[0] for line in here("class", "history", "ada", "--out", str(out)).out.splitlines()
    ]


def test_the_history_of_a_fault_says_nothing_of_passing(here: Here, out: Path) -> None:
    with Gradebook.open(out) as book, book.changing():
        book.keep_attempt(Attempt("cy", "s01", "x", NOW, "csv", "cy.py"))
        book.keep_result(Result(Key("cy", "s01", "x", "1", 7, "process"), "fault", {"passed": False}, NOW, 0.0))
    told = here("class", "history", "cy", "--out", str(out)).out
    assert "result: no verdict, seed 7" in told and "pass" not in told


def test_of_who_handed_in_nothing_no_attempt_and_no_grading_is_told(here: Here, out: Path) -> None:
    with Gradebook.open(out) as book, book.changing():
        attempt = Attempt("cy", "s01", "nothing", None, "unknown", "")
        book.keep_attempt(attempt)
        number = book.keep_result(Result(Key("cy", "s01", "nothing", "1", 7, "process"), "missing", wrong(), NOW, 0.0))
        book.count_for("cy", "s01", "nothing", number)
        update_marks(book, Policy(), "cy", "missing", NOW)
    told = here("class", "show", "cy", "--out", str(out)).out.splitlines()
    assert told[0] == "cy · s01 Numbers: 0 of 2 points, missing"
    assert (marks(here, out)["cy"]["attempts"], marks(here, out)["ada"]["attempts"]) == ("0", "1")
    assert not [line for line in told if "seed" in line or "submitted" in line or "double" in line]
    give = ("class", "override", "cy", "s01", "--points", "1", "--reason", "was ill", "--out", str(out))
    assert here(*give, "--criterion", "double").code == 2  # it would never count
    assert here(*give).code == 0 and marks(here, out)["cy"]["points"] == "1"


def test_the_page_of_a_student_has_the_code(here: Here, out: Path, tmp_path: Path) -> None:
    page = tmp_path / "ada.html"
    assert here("class", "show", "ada", "--out", str(out), "--html", str(page)).code == 0
    text = page.read_text(encoding="utf-8")
    assert SECRET in text and "This is the square." in text and "bob" not in text and "<script" not in text


def test_points_of_a_criterion_are_given_with_a_reason_that_the_student_reads(
    here: Here, out: Path, tmp_path: Path
) -> None:
    give = ("class", "override", "ada", "s01", "--out", str(out), "--criterion", "double")
    done = here(*give, "--points", "0.5", "--reason", "the idea is right")
    assert done.code == 0 and "1.5 of 2 in all." in done.err
    assert marks(here, out)["ada"]["points"] == "1.5"
    assert "the idea is right" in marks(here, out)["ada"]["reason"]
    page = tmp_path / "ada.html"
    here("class", "show", "ada", "--out", str(out), "--html", str(page))
    assert "0.5 points given by hand: the idea is right" in page.read_text(encoding="utf-8")
    assert "double none → 0.5" in here("class", "history", "ada", "--out", str(out)).out
    assert here(*give, "--clear").code == 0
    assert (marks(here, out)["ada"]["points"], marks(here, out)["ada"]["reason"]) == ("1", "")
    refused = here("class", "override", "ada", "s02", "--out", str(out), "--criterion", "total", "--points", "1",
                   "--reason", "x")  # fmt: skip
    assert refused.code == 2


def test_points_of_a_criterion_below_points_of_the_whole_stage_are_said_not_to_count(here: Here, out: Path) -> None:
    give = ("class", "override", "ada", "s01", "--out", str(out), "--reason", "oral exam", "--points")
    here(*give, "2")
    done = here(*give, "0.5", "--criterion", "double")
    assert "1.5 of 2 in all, but 2 points given by hand for all of s01 count instead." in " ".join(done.err.split())
    assert marks(here, out)["ada"]["points"] == "2"


@pytest.mark.parametrize(("options", "whose"), [((), ""), (("--student", "ada"), " by ada")])
def test_a_regrade_of_a_stage_without_submissions_says_so(
    here: Here, out: Path, options: tuple[str, ...], whose: str
) -> None:
    done = here.place.run("class", "regrade", "--out", str(out), "--stage", "s02", "--require-isolation", "process",
                          *options)  # fmt: skip
    told = f"s02: nothing to grade again; the gradebook holds no submission of it{whose}."
    assert done.code == 0 and told in " ".join(done.err.split())


def test_a_student_bears_another_name_with_all_that_is_kept(here: Here, out: Path) -> None:
    assert here("class", "rename", "ada", "bob", "--out", str(out)).code == 2
    assert here("class", "rename", "ada", "lovelace", "--out", str(out)).code == 0
    assert marks(here, out)["lovelace"]["points"] == "1" and "ada" not in marks(here, out)
    history = here("class", "history", "lovelace", "--out", str(out)).out
    assert "was called ada" in history and "result" in history
    with Gradebook.open(out) as book:
        assert [each.student for each in book.roster()] == ["bob", "lovelace"]


def test_two_students_with_one_number_on_a_platform_are_told(here: Here, out: Path) -> None:
    with Gradebook.open(out) as book, book.changing():
        book.keep_roster([Member("ada", canvas_id="4711"), Member("bob", canvas_id="4712")])
    assert here("class", "rename", "ada", "lovelace", "--out", str(out)).code == 0
    assert "one student" not in here("class", "export", "--out", str(out)).err
    with Gradebook.open(out) as book:  # class.csv still has the old name, and the next run grades under it
        keep(book, "ada", verdict())
        with book.changing():
            book.keep_roster([Member("ada", canvas_id="4711")])
    told = " ".join(here("class", "export", "--format", "canvas", "--out", str(out)).err.split())
    assert "ada and lovelace are one student in Canvas, number 4711" in told and "bob" not in told


def test_a_file_that_still_has_the_old_name_is_named(here: Here, out: Path) -> None:
    (out / "class.csv").write_text("student,email\nada,ada@uni.edu\nbob,\n", encoding="utf-8")
    said = here("class", "rename", "ada", "lovelace", "--out", str(out)).err
    assert "class.csv still has the name" in " ".join(said.split())


@pytest.mark.parametrize("roster", ["student,email\nlovelace,ada\n", "student\nadam\n"])
def test_an_address_or_a_longer_name_is_not_the_old_name(here: Here, out: Path, roster: str) -> None:
    (out / "class.csv").write_text(roster, encoding="utf-8")
    (out / "class.toml").write_text("# for adam and ada@uni.edu\n", encoding="utf-8")
    done = here("class", "rename", "ada", "lovelace", "--out", str(out))
    assert done.code == 0 and "still has the name" not in " ".join(done.err.split())


def test_two_names_of_one_person_become_one(here: Here, out: Path) -> None:
    with Gradebook.open(out) as book:
        keep(book, "ada2", verdict())
    assert here("class", "merge", "ada2", "ada", "--out", str(out)).code == 0
    found = marks(here, out)
    assert (found["ada"]["points"], found["ada"]["attempts"]) == ("2", "2") and "ada2" not in found
    assert "has all that was kept of ada2" in here("class", "history", "ada", "--out", str(out)).out


def test_whoever_is_forgotten_leaves_numbers_alone(here: Here, out: Path) -> None:
    with Gradebook.open(out) as book:
        before = len(book.history())
    assert here("class", "forget", "ada", "--out", str(out)).code == 2  # nobody says y here
    assert "ada" in marks(here, out)
    done = here("class", "forget", "ada", "--out", str(out), "--yes")
    assert done.code == 0 and "1 text and 1 result" in done.err
    (copy,) = out.glob("gradebook-*.sqlite")
    assert b"Lovelace" in copy.read_bytes()
    left = b"".join(path.read_bytes() for path in out.glob(f"{FILE}*"))
    assert b"Lovelace" not in left and b"ada" not in left and SECRET.encode() not in left
    with Gradebook.open(out) as book:
        lines = book.history()
        assert len(lines) == before + 1 and [each.number for each in lines] == [*range(1, before + 2)]
        assert {each.student for each in lines} == {"", "bob"}
        assert book.source("ada-s01-0") is None
        with pytest.raises(Exception, match="never removed"), book.changing():  # the triggers are there again
            book._run("DELETE FROM results")
    assert list(marks(here, out)) == ["bob"]


def test_a_text_that_somebody_else_handed_in_as_well_stays_theirs(here: Here, out: Path) -> None:
    with Gradebook.open(out) as book, book.changing():
        book.keep_attempt(next(iter(book.attempts("bob"))).__class__("bob", "s01", "ada-s01-0", NOW, "csv", "x"))
    assert here("class", "forget", "ada", "--out", str(out), "--yes", "--no-backup").code == 0
    assert not list(out.glob("gradebook-*.sqlite"))
    with Gradebook.open(out) as book:
        assert book.source("ada-s01-0") == TEXT.encode()


def test_requests_are_a_queue_that_a_mark_or_a_reason_closes(here: Here, out: Path, tmp_path: Path) -> None:
    sheet, folder = tmp_path / "requests.csv", tmp_path / "texts"
    sheet.write_text("Who,Stage,Criterion,Words\nada@uni.edu,s01,double,I do not see why.\n", encoding="utf-8")
    folder.mkdir()
    (folder / "one.txt").write_text("student: bob\nstage: s01\n\nThank you!\n", encoding="utf-8")
    asked = ("class", "regrade-requests", "--out", str(out))
    first = here(*asked, str(sheet))
    assert first.code == 0 and "Took in 1 of 1" in first.err
    assert "1  ada · s01 double" in first.out and "double(3): got 9" in first.out and "return x * x" in first.out
    assert "Took in 0 of 1" in here(*asked, str(sheet)).err
    assert len(here(*asked, str(folder), "--json").json["requests"]) == 2
    assert here(*asked, "--close", "1").code == 2
    given = here(*asked, "--close", "1", "--points", "1", "--reason", "you are right")
    assert given.code == 0 and "ada s01 double: 1 point;" in given.err
    assert here(*asked, "--close", "2", "--reason", "gladly").code == 0
    assert marks(here, out)["ada"]["points"] == "2"
    assert here(*asked).err.strip() == "No request is open."
    assert "request 1: you are right" in here("class", "history", "ada", "--out", str(out)).out
    assert [each["answer"] for each in here(*asked, "--all", "--json").json["requests"]] == ["you are right", "gladly"]
    assert here(*asked, "--close", "1", "--reason", "again").code == 2


def test_a_request_about_a_criterion_shows_no_code_that_is_wrong_for_another(
    here: Here, out: Path, tmp_path: Path
) -> None:
    (tmp_path / "requests.csv").write_text("student,stage,criterion,words\nada,s01,quadruple,why\n", encoding="utf-8")
    done = here("class", "regrade-requests", str(tmp_path / "requests.csv"), "--out", str(out))
    assert "1  ada · s01 quadruple" in done.out and "quadruple: passed" in done.out and "return x * x" not in done.out


def test_a_request_of_nobody_or_without_words_is_told_with_its_place(here: Here, out: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "requests.csv"
    sheet.write_text("student,stage,words\nzoe,s01,why\nada,s99,why\nada,s01,\n", encoding="utf-8")
    done = here("class", "regrade-requests", str(sheet), "--out", str(out))
    told = " ".join(done.err.split())
    assert done.code == 2 and "line 2: 'zoe'" in told and "line 3: 's99'" in told and "line 4: there are no" in told
