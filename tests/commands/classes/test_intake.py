"""`grader class intake` and the alarm of `grader class grade`, as an instructor types them."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

import pytest

from grader.gradebook.marks import table
from grader.gradebook.store import Gradebook
from tests.support.command import NUMBERS, WRONG, Here

OPTIONS = ("--stage", "s01", "--isolation", "process", "--require-isolation", "process", "--jobs", "1")
CANVAS = (
    'Student,ID,SIS User ID,SIS Login ID,Section\n"Lovelace, Ada",7,S7,ada,A\n"Li, Bo",8,S8,bo,A\n"Xu, Cy",9,S9,cy,B\n'
)


def hand_in(folder: Path, **texts: str) -> Path:
    for name, text in texts.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return folder


def words(text: str) -> str:
    return " ".join(text.split())


def marks(folder: Path) -> dict[str, tuple[str, float | None]]:
    with Gradebook.open(folder) as book:
        return {entry.student: (entry.outcome, entry.points) for entry in table(book)}


def test_intake_shows_a_table_and_grades_nothing(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    root = here.place.root
    hand_in(
        root / "handed", **{"ada/numbers_.py": NUMBERS, "a_very_long_name_of_a_student_indeed.py": "import msgpack\n"}
    )
    hand_in(root / "handed", **{"李明.py": NUMBERS, "bob/notes.md": "x"})
    for path in (root / "handed").rglob("*.*"):
        os.utime(path, (0, 1_700_000_000))
    done = here("class", "intake", "handed", "--stage", "s01", "--out", "marks")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert lines[0].split() == ["STUDENT", "FILE", "SUBMITTED", "CLOCK", "IN", "DOUBT"]
    assert all(len(line) <= 80 for line in lines) and "2023-11-14 22:13  file" in lines[2]
    assert lines[1].endswith("import") and lines[3].split()[-2:] == ["not", "found"]
    assert lines[-1] == "s01: 4 students, 4 handed in something"
    assert "import (1): - a_very_long_name_of_a_student_indeed: line 1: msgpack is imported" in words(done.err)
    assert not (root / "marks").exists()
    (root / "handed/empty").mkdir()
    assert here("class", "intake", "handed", "--stage", "s01", "--out", "marks").out.splitlines()[-1] == (
        "s01: 5 students, 4 handed in something"
    )
    (root / "handed/empty").rmdir()
    found = here("class", "intake", "handed", "--stage", "s01", "--out", "marks", "--json").json
    assert [each["student"] for each in found["entries"]] == [
        "a_very_long_name_of_a_student_indeed", "ada", "bob", "李明",
    ]  # fmt: skip


def test_a_student_of_two_attempts_is_named_once(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{"ada.py": NUMBERS, "ada (1).py": WRONG})
    done = here("class", "intake", "handed", "--stage", "s01", "--out", "marks", "--dry-run")
    assert "note (1): - ada: ada (1).py and ada.py are attempts of ada." in words(done.err)


def test_what_is_not_shown_of_many_doubts_is_where_the_message_says(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{f"s{n}.py": "\n" * n + "def f(:\n" for n in range(12)})
    told = words(here("class", "intake", "handed", "--stage", "s01", "--out", "marks", "--dry-run").err)
    assert "more; `grader class intake --json` has them all" in told


def test_a_roster_is_kept_and_its_numbers_reach_the_exports(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{"lovelaceada_7_98_numbers_.py": NUMBERS, "bo.py": WRONG})
    hand_in(root, **{"canvas.csv": CANVAS})
    arguments = ("class", "intake", "handed", "--stage", "s01", "--out", "marks", "--roster", "canvas.csv")
    done = here(*arguments, "--dry-run")
    assert (done.code, (root / "marks").exists()) == (0, False)
    done = here(*arguments)
    assert done.code == 0 and "absent (1): cy" in done.err
    assert "Wrote 3 students to marks/class.csv" in done.err
    assert (root / "marks/class.csv").read_text(encoding="utf-8").splitlines()[1] == (
        '"ada","Lovelace, Ada","A","7","S7","ada"'
    )
    done = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks")
    assert done.code == 0, done.err
    assert marks(root / "marks") == {"ada": ("graded", 2.0), "bo": ("graded", 0.0), "cy": ("missing", 0.0)}
    text = here("class", "export", "--out", "marks", "--format", "canvas").out
    assert [line[:6] for line in csv.reader(io.StringIO(text))][2:] == [
        ["Lovelace, Ada", "7", "S7", "ada", "A", "2"], ["Li, Bo", "8", "S8", "bo", "A", "0"],
        ["Xu, Cy", "9", "S9", "cy", "B", "0"],
    ]  # fmt: skip
    (root / "handed" / "lovelaceada_7_98_numbers_.py").unlink()
    done = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks")
    assert marks(root / "marks")["ada"] == ("graded", 2.0)


def test_times_of_a_worksheet_count_and_are_not_kept(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{"Ada L_300123_assignsubmission_file_/numbers_.py": NUMBERS})
    sheet = "Identifier,Full name,Last modified (submission)\n"
    hand_in(root, **{"m.csv": sheet + 'Participant 300123,Ada L,"Friday, 20 November 2026, 10:05 AM"\n'})
    hand_in(root, **{"p.toml": "schema = 1\n[stages.s01]\ndeadline = 2026-11-20T12:00:00\n"})
    arguments = ("class", "intake", "handed", "--stage", "s01", "--out", "marks", "--policy", "p.toml")
    assert here(*arguments, "--dry-run").code == 3
    done = here(*arguments, "--roster", "m.csv")
    assert done.code == 0 and "2026-11-20 10:05  roster" in done.out
    assert "not kept: give it to `grade` with --roster as well" in words(done.err)
    assert (root / "marks/class.csv").read_text(encoding="utf-8").splitlines()[0] == '"student","name","moodle_id"'


def test_a_number_of_gradescope_is_taken_for_that_of_no_other_platform(here: Here) -> None:
    root = here.place.root
    metadata = (
        "submission_7:\n  :submitters:\n  - :name: Ada L\n    :sid: '1001'\n    :email: ada@uni.edu\n"
        "  :created_at: 2026-11-20 10:00:05.000000000 Z\n"
    )
    hand_in(root / "handed", **{"submission_metadata.yml": metadata, "submission_7/numbers_.py": NUMBERS})
    hand_in(root, **{"m.csv": "Identifier,Full name,Email address\nParticipant 300123,Ada L,ada@uni.edu\n"})
    assert here("class", "grade", "handed", *OPTIONS, "--out", "marks", "--roster", "m.csv").code == 0
    exported = [
        here("class", "export", "--out", "marks", "--format", form).out for form in ("moodle", "canvas", "json")
    ]
    assert '"Participant 300123"' in exported[0] and "1001" not in exported[0] + exported[1]
    assert '"gradescope_id": "1001"' in exported[2]


def test_a_list_that_has_times_joins_the_kept_roster(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{"ada.py": NUMBERS})
    kept = "student,name,email\nada,Ada,ada@uni.edu\nbo,Bo,bo@uni.edu\n"
    hand_in(root, **{"marks/class.csv": kept, "times.csv": "email,submitted\nada@uni.edu,2026-11-20T10:05:00Z\n"})
    done = here("class", "intake", "handed", "--stage", "s01", "--out", "marks", "--roster", "times.csv")
    assert done.code == 0 and "ada  " in done.out and "2026-11-20 10:05  roster" in done.out
    assert "absent (1): bo" in done.err and "ada@uni.edu" not in done.out


def test_a_reason_that_many_share_stops_before_anything_is_graded(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{"ada/hw1.py": NUMBERS, "bob/hw1.py": NUMBERS, "cy.py": NUMBERS})
    done = here("class", "grade", "handed", *OPTIONS, "--out", "marks")
    assert (done.code, done.out) == (3, ""), done.err
    told = words(done.err)
    assert "One reason concerns more than a tenth of the class: another name: 2 of 3 students." in told
    assert "For example ada: hw1.py has the functions of numbers_.py" in told and "With --accept" in told
    assert not (root / "marks").exists()
    done = here("class", "grade", "handed", *OPTIONS, "--out", "marks", "--accept", "--dry-run")
    assert done.code == 0 and not (root / "marks").exists()
    done = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks", "--proceed")
    assert (done.code, done.out) == (3, "s01: 1 passed, 0 did not, 2 handed in nothing\n"), done.err
    done = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks", "--accept")
    assert done.code == 0, done.err
    assert set(marks(root / "marks").values()) == {("graded", 2.0)}


def test_a_reason_that_shows_only_when_modules_are_imported_stops_the_run(here: Here) -> None:
    root = here.place.root
    broken = f"x = 1 / 0\n{NUMBERS}"
    names = [f"s{at:02}.py" for at in range(12)]
    hand_in(
        root / "handed",
        **{name: f"{broken}# {name}\n" if at < 4 else f"{NUMBERS}# {name}\n" for at, name in enumerate(names)},
    )
    done = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks")
    assert (done.code, done.out) == (3, ""), done.err
    told = words(done.err)
    assert "concerns more than a tenth of the class: load (" in told and "2 of 12 students" in told
    assert "What was graded is kept. With --proceed the rest is graded" in told
    assert 2 <= len(marks(root / "marks")) < 12
    done = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks", "--proceed")
    assert done.code == 3 and len(marks(root / "marks")) == 12
    again = here.place.run("class", "grade", "handed", *OPTIONS, "--out", "marks")
    assert again.code == 3, again.err


def test_a_package_that_many_use_stops_the_run_and_one_that_they_import_does_not(here: Here) -> None:
    root = here.place.root
    uses = NUMBERS.replace("return 2 * x", "return torch.mul(x, 2)")
    hand_in(
        root / "plots", **{f"s{at}.py": f"import matplotlib.pyplot as p\np.plot([{at}])\n{NUMBERS}" for at in range(3)}
    )
    done = here.place.run("class", "grade", "plots", *OPTIONS, "--out", "first")
    assert (done.code, set(marks(root / "first").values())) == (0, {("graded", 2.0)}), done.err
    assert "matplotlib is not available when a stage is checked: the import does nothing" in words(done.err)
    hand_in(root / "uses", **{f"s{at}.py": f"import torch\n# {at}\n{uses}" for at in range(4)})
    done = here.place.run("class", "grade", "uses", *OPTIONS, "--out", "second")
    assert done.code == 3, done.err
    assert "import (torch): 2 of 4 students" in words(done.err)


def test_a_roster_that_is_wrong_is_told_and_makes_nothing(here: Here) -> None:
    root = here.place.root
    hand_in(root / "handed", **{"ada.py": NUMBERS})
    hand_in(root, **{"class.csv": "student,email\nada,x\nAda,y\n"})
    for command in ("intake", "grade"):
        more = OPTIONS[2:] if command == "grade" else ()
        done = here("class", command, "handed", "--stage", "s01", *more, "--out", "marks", "--roster", "class.csv")
        assert (done.code, done.out) == (2, "")
        assert "class.csv, line 3: student 'Ada' is that of line 2, too" in words(done.err)
    assert not (root / "marks").exists()
