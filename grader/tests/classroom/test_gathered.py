"""The results of a class: told in a table and a file, and published for each student whatever befalls another."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from grader.classroom import gathered
from grader.classroom.gathered import Graded, class_summary, expect_all_graded, gather, post_all, results_csv
from grader.classroom.publish import Commit, Status, summary
from grader.classroom.results import Result, Row
from grader.classroom.roster import Student
from grader.course.stage import Stage
from grader.errors import GraderFault

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention mechanisms", "attention.py", (), ())
ROWS = (Row("one", "passed", 5, 5), Row("two", "failed", 0, 3))
PASSED = Result(STAGE, ROWS[:1], True, 7, "bubblewrap", "ab" * 32)
FAILED = Result(STAGE, ROWS, False, 7, "bubblewrap", "ab" * 32)
UNGRADED = Result(STAGE, why="no verdict")


def student(name: str) -> Student:
    return Student(name, f"class/{name}", "a" * 40)


CLASS = (
    Graded(student("ada"), (PASSED,)),
    Graded(student("bob_the_b"), (FAILED,)),
    Graded(student("eve"), (UNGRADED,)),
)


def test_a_class_is_a_table_with_details_below() -> None:
    html = MarkdownIt("commonmark").enable("table").render(class_summary(CLASS))
    assert html.startswith("<h2>3 students</h2>\n<table>")
    assert "<td>bob_the_b</td>\n<td><code>class/bob_the_b@aaaaaaaaaaaa</code></td>\n<td>✗ 1 of 2</td>" in html
    assert html.count("<details>") == html.count("</details>") == 3
    assert "<td>not graded</td>" in html


def test_one_student_needs_no_table() -> None:
    assert class_summary(CLASS[:1]) == summary([PASSED], CLASS[0].student.commit)


def test_a_summary_has_room_for_so_much() -> None:
    whole = class_summary(CLASS)
    cut = class_summary(CLASS, len(whole.encode()) - 1)
    assert len(cut.encode()) < len(whole.encode())
    assert cut.count("<details>") == cut.count("</details>") == 2
    assert cut.rstrip().endswith("results.csv._")


def test_the_file_has_counts_where_there_are_some() -> None:
    rows = list(csv.DictReader(results_csv(CLASS).splitlines()))
    told = [(row["student"], row["passed"], row["criteria_passed"], row["criteria"], row["why"]) for row in rows]
    assert told == [
        ("ada", "True", "1", "1", ""),
        ("bob_the_b", "False", "1", "2", ""),
        ("eve", "", "", "", "no verdict"),
    ]


def test_the_file_holds_no_formula_for_a_spreadsheet_that_separates_at_a_semicolon() -> None:
    written = results_csv((Graded(student("ada"), (Result(STAGE, why="x;=1+1"), Result(STAGE, why="＝1+1"))),))
    rows = list(csv.DictReader(written.splitlines()))
    assert [row["why"] for row in rows] == ["x;'=1+1", "'＝1+1"]
    cells = [cell for line in csv.reader(written.splitlines(), delimiter=";") for cell in line]
    assert len(cells) == 4 and not any(cell.startswith(("=", "＝")) for cell in cells)


def test_the_others_are_published_where_one_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []

    def post(statuses: Sequence[Status], commit: Commit, *_: object) -> None:
        sent.append(commit.repository)
        if commit.repository != "class/eve":
            raise GraderFault("not published", "a hint")

    monkeypatch.setattr(gathered, "post", post)
    with pytest.raises(GraderFault) as caught:
        post_all(CLASS, "https://api.github.com", "token")
    assert sent == ["class/ada", "class/bob_the_b", "class/eve"]
    assert caught.value.message == "ada, not published; bob_the_b, not published"
    assert caught.value.hint == "a hint"


@pytest.mark.parametrize(("count", "pauses"), [(60, 0), (61, 60)])
def test_many_statuses_are_given_time(count: int, pauses: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gathered, "post", lambda *_: None)
    slept: list[float] = []
    post_all([CLASS[0]] * count, "https://api.github.com", "token", slept.append)
    assert slept == [gathered.PAUSE] * pauses


def test_whoever_was_not_graded_is_named() -> None:
    expect_all_graded(CLASS[:2])
    with pytest.raises(GraderFault) as caught:
        expect_all_graded([CLASS[0], *[CLASS[2]] * 7])
    assert caught.value.message == f"not graded: {'; '.join(['eve, s15: no verdict'] * 5)}; and 2 more"


def test_verdicts_are_looked_for_under_the_roster_s_names(tmp_path: Path) -> None:
    (tmp_path / "verdict-ada-s15-0123abcd").mkdir()
    (tmp_path / "verdict-ada-s15-0123abcd" / "verdict.json").write_text("{}", encoding="utf-8")
    here, elsewhere = (gather(tmp_path, [student("ada")], [STAGE], (), group) for group in ("0123abcd", "ffffffff"))
    assert "cannot be read (No such file" not in here[0].results[0].why
    assert "cannot be read (No such file" in elsewhere[0].results[0].why
