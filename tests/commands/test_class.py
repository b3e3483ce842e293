"""`grader class`, as an instructor types it: a class is graded, stopped, killed, regraded, overruled and exported."""

from __future__ import annotations

import io
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import pytest

from grader.commands.classes import grade
from grader.gradebook.class_run import Tally
from grader.gradebook.marks import table
from grader.gradebook.store import FILE, Gradebook
from grader.isolation import tiers
from grader.report.terminal import screen
from tests.pace.shared import made_once
from tests.support.command import NUMBERS, RUN, WRONG, Here, Place
from tests.test_flow import loaded

HALF = NUMBERS.replace("double(double(x))", "x")
KILLS = NUMBERS.replace("return double(double(x))", "import os, signal\n    os.kill(0, signal.SIGKILL)")
OPTIONS = ("--stage", "s01", "--isolation", "process", "--require-isolation", "process")
needs_forks = pytest.mark.skipif(not tiers.FORKS, reason="a process that is killed is looked at")


def hand_in(folder: Path, **texts: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text, encoding="utf-8")
    return folder


def marks(folder: Path) -> dict[str, tuple[str, float | None]]:
    with Gradebook.open(folder) as book:
        return {entry.student: (entry.outcome, entry.points) for entry in table(book)}


def results(folder: Path) -> set[tuple[str, str]]:
    """Return whose result there is, and from when; none before there is a gradebook. It only reads."""
    try:
        with closing(sqlite3.connect(f"file:{folder / FILE}?mode=ro", uri=True)) as reader:
            return set(reader.execute("SELECT student, at FROM results"))
    except sqlite3.Error:
        return set()


@pytest.fixture
def graded(original: Place, tmp_path_factory: pytest.TempPathFactory) -> tuple[Place, Path]:
    """Return a course and a copy of a gradebook of six students, among whom one is hostile; graded once for all."""

    def make(root: Path) -> None:
        handed = hand_in(root / "handed", ada=NUMBERS, bob=WRONG, cy=HALF, dee=KILLS, eve=NUMBERS)
        handed.joinpath("flo").mkdir()
        done = original.process("class", "grade", str(handed), *OPTIONS, "--out", str(root / "out"), "--jobs", "2")
        assert (done.code, done.out) == (0, "s01: 2 passed, 3 did not, 1 handed in nothing\n"), done.err
        told = " ".join(done.err.split())
        assert "s01: nothing to grade from flo." in told and "class export --format json --out" in told

    made = made_once(tmp_path_factory, "class", make)
    return original, Path(shutil.copytree(made, tmp_path_factory.mktemp("class") / "copy"))


@pytest.mark.full_matrix("grader/gradebook")
def test_honest_ones_among_hostile_ones_keep_their_marks_in_the_pool_and_one_by_one(
    graded: tuple[Place, Path], tmp_path: Path
) -> None:
    place, root = graded
    found = marks(root / "out")
    assert found == {
        "ada": ("graded", 2.0), "bob": ("graded", 0.0), "cy": ("graded", 1.0), "dee": ("graded", 1.0),
        "eve": ("graded", 2.0), "flo": ("missing", 0.0),
    }  # fmt: skip
    done = place.process(
        "class", "grade", str(root / "handed"), *OPTIONS, "--out", str(tmp_path), "--jobs", "1", "--json"
    )
    assert marks(tmp_path) == found
    assert {each["student"]: each["points"] for each in done.json["marks"]} == {
        name: each[1] for name, each in found.items()
    }


@pytest.mark.full_matrix("grader/gradebook", "grader/process.py")
@needs_forks
def test_a_run_that_is_killed_at_any_moment_loses_nothing_and_grades_nothing_twice(
    original: Place, tmp_path: Path
) -> None:
    handed = hand_in(tmp_path / "handed", ada=NUMBERS, bob=WRONG, cy=HALF)
    arguments = ["class", "grade", str(handed), *OPTIONS, "--out", str(tmp_path / "out"), "--jobs", "1"]
    environment = {**os.environ, "PYTHONPATH": str(original.package.parent)}
    before: set[tuple[str, str]] = set()
    for number, how in enumerate((signal.SIGKILL, signal.SIGTERM), 1):
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *arguments], cwd=original.root, env=environment,
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        ends_at = time.monotonic() + 120
        while len(results(tmp_path / "out")) < number and time.monotonic() < ends_at:
            time.sleep(0.02)
        process.send_signal(how)
        told = process.communicate(timeout=60)[1]
        assert process.returncode in ({-signal.SIGKILL} if how == signal.SIGKILL else {130, 0}), told
        assert results(tmp_path / "out") >= before and "Traceback" not in told
        before = results(tmp_path / "out")
    assert (done := original.process(*arguments)).code == 0, done.err
    with Gradebook.open(tmp_path / "out") as book:
        assert len(book.results()) == 3 and results(tmp_path / "out") >= before
        changes = [(each.student, each.what) for each in book.history()]
    assert len(changes) == len(set(changes)) == 6
    assert marks(tmp_path / "out") == {"ada": ("graded", 2.0), "bob": ("graded", 0.0), "cy": ("graded", 1.0)}


def test_who_handed_in_nothing_is_counted_alike_by_every_run(original: Place, tmp_path: Path) -> None:
    handed = hand_in(tmp_path / "handed", ada=NUMBERS)
    (tmp_path / "class.csv").write_text("student\nada\nzoe\n")
    arguments = ("class", "grade", str(handed), *OPTIONS, "--out", str(tmp_path), "--jobs", "1")
    assert original.process(*arguments).out == "s01: 1 passed, 0 did not, 1 handed in nothing\n"
    assert original.process(*arguments).out == "s01: nothing is new; 2 had a result before\n"


class Watched(io.StringIO):
    """A terminal that remembers what was written."""

    def isatty(self) -> bool:
        return True


def test_what_is_told_before_anything_is_graded_stands_on_lines_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Watched()
    monkeypatch.setattr("sys.stderr", terminal)
    monkeypatch.setenv("TERM", "xterm-256color")
    with grade.shown_progress() as told:
        screen.say("absent (1): zoe")
        assert terminal.getvalue() == "absent (1): zoe\n"
        told(Tally("s01", 2))
    assert "0/2" in terminal.getvalue()


@pytest.mark.full_matrix("grader/gradebook", "grader/commands/classes")
def test_points_by_hand_survive_a_regrade_and_the_history_tells_all(graded: tuple[Place, Path], here: Here) -> None:
    out = ("--out", str(graded[1] / "out"))
    assert here("class", "override", "bob", "s01", *out, "--points", "1.5", "--reason", "oral exam").code == 0
    text = "[stages.s01]\npoints = 10\n[extensions.adda]\ns01 = 1\n"
    (graded[1] / "out" / "class.toml").write_text(text, encoding="utf-8")
    again = graded[0].process("class", "grade", str(graded[1] / "handed"), *OPTIONS, "--out", str(graded[1] / "out"))
    told = " ".join(again.err.split())
    assert (again.code, again.out) == (0, "s01: nothing is new; 6 had a result before\n")
    assert "class.toml extends deadlines of adda, who handed in nothing under that name" in told
    assert "4 marks would differ with the class.toml of now. `grader class regrade --stage s01 --out" in told
    arguments = ("class", "regrade", *out, *OPTIONS)
    done = graded[0].process(*arguments)
    assert done.code == 0, done.err
    assert "ada s01: 2 → 10 of 10 (+8): changed: the points in class.toml" in done.out
    assert "bob s01: 0 of 10, the points stay: changed: the points in class.toml" in done.out and "+0" not in done.out
    said = " ".join(done.err.split())
    assert "The points of 4 marks would change. Nothing is changed yet. Of 2 marks with the same points" in said
    assert marks(graded[1] / "out")["ada"] == ("graded", 2.0)
    assert graded[0].process(*arguments, "--apply", "--reason", "ten points each").code == 0
    found = marks(graded[1] / "out")
    assert (found["ada"], found["bob"], found["cy"]) == (("graded", 10.0), ("graded", 1.5), ("graded", 5.0))
    told = here("class", "history", "bob", *out).out
    assert "bob s01  override: none → 1.5  (oral exam)" in told and "(ten points each)" in told
    exported = here("class", "export", *out, "--format", "moodle").out
    assert re.search(r'"bob","bob",1.5,10,"[^"]*","given by hand: oral exam"', exported)
    assert "flo is a folder without" in exported
    assert here("class", "override", "bob", "s01", *out, "--clear").code == 0
    assert marks(graded[1] / "out")["bob"] == ("graded", 0.0)


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["grade", "handed", "--out", "new"], 2, "no stage is named"),
        (["grade", "handed", "--out", "new", "--stage", "s9"], 2, "'s9' is not a stage of this course"),
        (["grade", "no", "--out", "new", "--stage", "s01"], 2, "no does not exist"),
        (["grade", "empty", "--out", "new", "--stage", "s01"], 2, "empty is empty: nothing was handed in"),
        (["grade", "twice", "--out", "new", "--stage", "s01"], 2, "ada.py and ada.zip are of the same student, ada"),
        (["grade", "handed", "--out", "file/new", "--stage", "s01"], 4, "file/new cannot be made: Not a directory"),
        (["grade", "handed", "--out", "new", "--stage", "s01", "--policy", "bad.toml"], 2, "stages.s01.deadline"),
        (["regrade", "--out", "new", "--stage", "s01"], 2, "new holds no gradebook"),
        (["regrade", "--out", "out", "--stage", "s01", "--reason", " "], 2, "--reason is empty"),
        (["export", "--out", "out", "--format", "cvs"], 2, "'cvs' is not a format; did you mean 'csv'?"),
        (["export", "no/marks.csv", "--out", "out"], 2, "no/marks.csv cannot be written"),
        (["override", "bo", "s01", "--out", "out", "--points", "1", "--reason", "x"], 2, "did you mean 'bob'?"),
        (["override", "bob", "s01", "--out", "out", "--points", "1"], 2, "--reason is missing"),
        (["override", "bob", "s02", "--out", "out", "--points", "1", "--reason", "x"], 2, "bob has no result for s02"),
        (["override", "bob", "s01", "--out", "out", "--points", "nan", "--reason", "x"], 2, "out of range"),
        (["override", "bob", "s01", "--out", "out"], 2, "expected either --points N or --clear"),
        (["override", "eve", "s01", "--out", "out", "--clear"], 2, "eve has no points by hand for s01"),
        (["history", "zoe", "--out", "out"], 2, "'zoe' is not in the gradebook"),
    ],
    ids=lambda value: " ".join(value[:2]) if isinstance(value, list) else "",
)
def test_bad_input_is_told_and_makes_nothing(
    arguments: list[str], code: int, told: str, graded: tuple[Place, Path], here: Here
) -> None:
    root = here.place.root
    hand_in(root / "handed", ada=NUMBERS)
    hand_in(root / "twice", ada=NUMBERS)
    (root / "twice" / "ada.zip").touch()
    (root / "empty").mkdir()
    (root / "file").touch()
    (root / "bad.toml").write_text("[stages.s01]\ndeadline = 3\n")
    (root / "out").symlink_to(graded[1] / "out")
    process = () if arguments[0] in ("override", "export", "history") else OPTIONS[2:]
    done = here("class", *arguments, *process)
    assert (done.code, done.out) == (code, ""), done.err
    assert told in " ".join(done.err.split())
    assert not (root / "new").exists()


def test_isolation_that_is_too_weak_for_strangers_is_refused(here: Here) -> None:
    hand_in(here.place.root / "handed", ada=NUMBERS)
    done = here("class", "grade", "handed", "--out", "new", "--stage", "s01", "--isolation", "process")
    assert done.code == 4 and "at least 'landlock' is required" in " ".join(done.err.split())


def test_two_runs_into_one_gradebook_are_refused(graded: tuple[Place, Path], here: Here) -> None:
    from filelock import FileLock

    with FileLock(graded[1] / "out" / "gradebook.lock"):
        done = here("class", "grade", str(graded[1] / "handed"), *OPTIONS, "--out", str(graded[1] / "out"))
    assert done.code == 4 and "another run is grading into" in " ".join(done.err.split())


def test_a_report_names_the_mistake_and_has_a_page_for_everyone(graded: tuple[Place, Path], here: Here) -> None:
    root = here.place.root
    done = here("class", "report", str(graded[1] / "out"), "--out", "report")
    assert (done.code, done.out) == (0, "") and "Wrote the report of 6 students" in done.err, done.err
    text = (root / "report" / "index.html").read_text(encoding="utf-8")
    assert "This is the square." in text
    names = {path.name.partition("-")[0] for path in (root / "report" / "students").iterdir()}
    assert names == {"ada", "bob", "cy", "dee", "eve", "flo"}
    done = here("class", "report", str(graded[1] / "out"), "--out", "class.html", "--stage", "s01")
    assert done.code == 0 and "2 of 2" not in (root / "class.html").read_text(encoding="utf-8")


def test_a_report_tells_as_much_as_class_toml_allows(graded: tuple[Place, Path], here: Here) -> None:
    root = here.place.root
    (root / "less.toml").write_text('schema = 1\nfeedback = "verdict"\n')
    for name, policy in {"full": (), "less": ("--policy", "less.toml")}.items():
        assert here("class", "report", str(graded[1] / "out"), "--out", name, *policy).code == 0
        (page,) = (root / name / "students").glob("bob-*.html")
        assert ("test_hidden" in page.read_text(encoding="utf-8").replace("<wbr>", "")) == (name == "full")


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["none", "--out", "report"], 2, "Name the folder that holds it."),
        (["out", "--out", "out"], 2, "out holds a gradebook, and no report is put there"),
        (["out", "--out", "taken"], 2, "taken is in the way"),
        (["out", "--out", "no/where"], 2, "no is not a folder"),
        (["out", "--out", "report", "--stage", "s9"], 2, "'s9' is not a stage"),
        (["out", "--out", "report", "--stage", "s02"], 2, "there are no results to report"),
        (["out"], 2, "missing option '--out'"),
    ],
)
def test_a_report_that_cannot_be_made_says_why_and_leaves_nothing(
    arguments: list[str], code: int, told: str, graded: tuple[Place, Path], here: Here
) -> None:
    root = here.place.root
    (root / "taken").mkdir()
    (root / "taken" / "thesis.txt").touch()
    (root / "out").symlink_to(graded[1] / "out")
    done = here("class", "report", *arguments)
    assert (done.code, done.out) == (code, ""), done.err
    assert told in " ".join(done.err.split())
    assert not (root / "report").exists() and (root / "taken" / "thesis.txt").exists()


def test_help_loads_no_numpy_pytest_or_database() -> None:
    assert not {"numpy", "pytest", "_pytest", "sqlite3", "filelock"} & loaded("grader.commands.classes.commands")
