"""`lend` in class.toml: who is graded with which text, who waits, and what becomes of them."""

from __future__ import annotations

import csv
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from grader.gradebook import schema
from grader.gradebook.marks import Entry, table
from grader.gradebook.store import FILE, Gradebook
from tests.courses.conftest import solution
from tests.courses.uses.building import Grade, sources
from tests.support.command import Done

pytestmark = pytest.mark.usefixtures("brief_search")
FORMS = ("csv", "json", "canvas", "moodle", "junit")


class Group:
    """A class of students whose modules a test writes, and its gradebook."""

    def __init__(self, grader: Grade, place: Path) -> None:
        self._grader, self.handed, self.out = grader, place / "handed", place / "out"
        self.out.mkdir()

    def hands_in(self, student: str, **texts: str | None) -> None:
        """Let a student hand in modules by stage; None is the solution."""
        folder = self.handed / student
        folder.mkdir(parents=True, exist_ok=True)
        for stage, text in texts.items():
            name = {"s03": "graphs.py", "s04": "ladders.py"}[stage]
            (folder / name).write_text(solution(stage).read_text() if text is None else text)

    def policy(self, text: str) -> None:
        (self.out / "class.toml").write_text(text)

    def does(self, *arguments: str) -> Done:
        return self._grader("class", *arguments, "--out", str(self.out))

    def grades(self, *stages: str, proceeds: bool = False) -> Done:
        named = [word for stage in stages for word in ("--stage", stage)]
        how = ("--isolation", "process", "--require-isolation", "process", "--jobs", "2")
        return self.does("grade", str(self.handed), *named, *how, *(["--proceed"] if proceeds else []))

    def entries(self, stage: str = "s04") -> dict[str, Entry]:
        with Gradebook.open(self.out) as book:
            return {entry.student: entry for entry in table(book) if entry.stage == stage}

    def export(self, form: str) -> str:
        return self.does("export", "--format", form, "--stage", "s04").out

    def outcomes(self) -> dict[str, str]:
        return {name: entry.outcome for name, entry in self.entries().items()}


@pytest.fixture
def group(grader: Grade, tmp_path: Path) -> Group:
    return Group(grader, tmp_path)


def of(entry: Entry) -> dict[str, str]:
    return sources(entry.verdict)


def test_whoever_waits_is_graded_once_their_earlier_module_passes(group: Group) -> None:
    group.hands_in("ada", s03="def steps_from(graph, start):\n    return {}\n", s04=None)
    done = group.grades("s03", "s04")
    assert (done.code, done.out.splitlines()[-1]) == (0, "s04: 0 passed, 0 did not, 1 waits for an earlier stage")
    told = " ".join(done.err.split())
    assert "s04 waits for s03 of ada." in told and "no zero" in told
    assert "The s03 of ada was graded and does not pass." in told and "s03 has no deadline in class.toml" in told
    assert "grader class grade" not in told  # the same command again would change nothing
    entry = group.entries()["ada"]
    assert (entry.outcome, entry.points, entry.mark, entry.passed) == ("waits", None, None, False)
    found = {form: group.export(form) for form in FORMS}
    (row,) = csv.DictReader(found["csv"].splitlines())
    assert (row["outcome"], row["points"], row["out_of"]) == ("waits", "", "") and "builds on s03" in row["reason"]
    assert json.loads(found["json"])["marks"][0]["points"] is None
    assert '"ada",,,,,' in found["canvas"].splitlines()
    assert 'type="waits"' in found["junit"] and "builds on s03" in found["junit"] and "ada" not in found["moodle"]
    history = group.does("history", "ada").out
    assert "waits: for s03" in history
    assert group.grades("s04").code == 0 and group.does("history", "ada").out == history  # again, without a trace

    group.hands_in("ada", s03=None)
    done = group.grades("s03", "s04")
    assert done.out.splitlines()[-1] == "s04: 1 passed, 0 did not", done.err
    entry = group.entries()["ada"]
    assert (entry.outcome, entry.points, of(entry)) == ("graded", 2.0, {"s02": "given", "s03": "own"})
    assert "1 had a result before" in group.grades("s04").out
    assert history in group.does("history", "ada").out


def test_a_page_says_what_to_do(group: Group, grader: Grade, tmp_path: Path) -> None:
    group.hands_in("ada", s04=None)
    group.grades("s04")
    assert grader("class", "report", str(group.out), "--out", str(tmp_path / "pages")).code == 0
    (page,) = (tmp_path / "pages" / "students").iterdir()
    text = page.read_text().replace("<wbr>", "")
    assert "waits for an earlier stage" in text and "Submit graphs.py (s03)" in text
    assert "points" not in page.read_text().split("<h2>")[1].replace("no points are lost", "")


def test_the_reference_is_lent_after_a_students_own_deadline(group: Group) -> None:
    for student in ("ada", "bob"):
        group.hands_in(student, s04=None)
    group.policy("[stages.s03]\ndeadline = 2020-01-01T00:00:00\n[extensions.bob]\ns03 = 2999-12-31T12:00:00\n")
    done = group.grades("s04")
    assert done.code == 0 and group.outcomes() == {"ada": "graded", "bob": "waits"}
    entries = group.entries()
    assert of(entries["ada"])["s03"] == "reference" and entries["ada"].points == 2.0
    hint = (entries["bob"].verdict or {})["problem"]["hint"]
    assert "from 2999-12-31 12:00 UTC on the reference of s03 serves instead" in hint
    group.policy("[stages.s03]\ndeadline = 2020-01-01T00:00:00\n")
    assert group.grades("s04").out == "s04: 1 passed, 0 did not; 1 had a result before\n"
    assert group.outcomes() == {"ada": "graded", "bob": "graded"}


def test_no_time_of_a_lent_run_is_kept(group: Group, grader: Grade, tmp_path: Path) -> None:
    """A module that has read a reference chooses how long it takes."""
    group.hands_in("ada", s04=None)
    group.policy('lend = "always"\n')
    group.grades("s04")
    assert (group.entries()["ada"].verdict or {})["duration_s"] is None
    with closing(sqlite3.connect(group.out / FILE)) as book:
        assert book.execute("SELECT DISTINCT seconds FROM results").fetchall() == [(0.0,)]
    assert grader("class", "report", str(group.out), "--out", str(tmp_path / "pages")).code == 0
    assert re.search(r"\d m?s\b", (tmp_path / "pages" / "index.html").read_text().split("<h1")[1]) is None
    assert set(re.findall(r' time="([0-9.]+)"', group.export("junit"))) == {"0.000"}


def test_another_word_is_a_mistake_in_the_file(group: Group) -> None:
    group.hands_in("ada", s04=None)
    group.policy('lend = "never"\n')
    done = group.grades("s04")
    assert done.code == 2 and "lend: 'never' is unknown; expected passed, deadline or always" in done.err
    group.policy("lend = 3\n")
    done = group.grades("s04")
    assert done.code == 2 and 'lend: 3 is unknown; expected "passed", "deadline" or "always"' in done.err


def test_who_waits_for_a_stage_that_did_not_run_is_told_a_command_with_it(group: Group) -> None:
    group.hands_in("ada", s04=None)
    group.policy('timezone = "Asia/Tokyo"\n[stages.s03]\ndeadline = 2999-12-31T12:00:00Z\n')
    told = " ".join(group.grades("s04").err.split())
    assert f"`grader class grade {group.handed} --stage s03 --stage s04 --out {group.out}`" in told
    assert "From 2999-12-31 21:00 JST on the reference of s03 serves for ada." in told


def test_points_by_hand_for_what_waits_are_asked_for(group: Group) -> None:
    group.hands_in("ada", s04=None)
    group.grades("s04")
    how = ("override", "ada", "s04", "--points", "1", "--reason", "oral exam")
    done = group.does(*how)
    assert done.code == 2 and "ada has no mark for s04 yet: it waits for s03" in done.err
    assert group.does(*how, "--ungraded").code == 0 and group.entries()["ada"].points == 1.0


def test_the_history_names_no_seed_of_what_was_never_graded(group: Group) -> None:
    (group.handed / "ada").mkdir(parents=True)
    group.grades("s04", proceeds=True)  # nobody handed in anything
    history = group.does("history", "ada").out
    assert "(missing)" in history and "seed" not in history and "(graded)" not in history


def test_a_zero_for_nothing_does_not_stay_beside_what_waits(group: Group) -> None:
    (group.handed / "ada").mkdir(parents=True)
    group.grades("s04", proceeds=True)  # nobody handed in anything
    assert (group.entries()["ada"].outcome, group.entries()["ada"].points) == ("missing", 0.0)
    group.hands_in("ada", s04=None)
    group.grades("s04")
    assert (group.entries()["ada"].outcome, group.entries()["ada"].points) == ("waits", None)


def test_a_regrade_takes_no_mark_from_what_would_wait_now(group: Group) -> None:
    group.hands_in("ada", s04=None)
    group.policy('lend = "always"\n')
    group.grades("s04")
    group.policy('lend = "passed"\n')
    done = group.does(
        "regrade", "--stage", "s04", "--isolation", "process", "--require-isolation", "process", "--apply"
    )
    assert done.code == 0 and "s04 waits for s03 of ada." in done.err and "stay as they are" in done.err
    assert (group.entries()["ada"].outcome, group.entries()["ada"].points) == ("graded", 2.0)


def test_an_older_gradebook_is_brought_up_to_date(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    group.hands_in("ada", s03=None, s04=None)
    with monkeypatch.context() as older, closing(sqlite3.connect(group.out / FILE)) as book:
        older.setattr(schema, "STEPS", schema.STEPS[:1])
        for statement in schema.STEPS[0]:
            book.execute(statement)
        book.execute("PRAGMA user_version = 1")
        book.execute("INSERT INTO attempts VALUES (1, 'bob', 's03', 'x', NULL, 'unknown', 'bob', '', NULL)")
        book.commit()
    group.grades("s04")
    assert group.outcomes() == {"ada": "waits"} and group.entries("s03")["bob"].outcome == "fault"
