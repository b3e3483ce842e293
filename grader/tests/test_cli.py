"""The command line: the real command, on a copy of the grader with a small course of two stages."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import grader
from grader import cli
from grader.course.stub import stub_of
from grader.progress.store import Store
from grader.tests.support.places import HOUSE

PACKAGE = HOUSE
RUN = "import sys; from grader.cli import main; sys.argv[0] = 'grader'; main()"
MANIFEST = """\
schema = 1
id = "{id}"
title = "{title}"
module = "{module}.py"
requires = {requires}
"""
ROW = """
[[criteria]]
id = "{name}"
text = "{name} is right"
functions = ["{name}"]
needs = {needs}
hints = ["{name}: a nudge", "{name}: the idea", "{name}: nearly the answer"]
"""
NUMBERS = '''\
"""Numbers."""

import numpy as np


def double(x):
    """Return twice x."""
    return 2 * x


def quadruple(x):
    """Return four times x."""
    return double(double(x))
'''
SUMS = NUMBERS.replace("double", "total").replace("quadruple", "grand")
TESTS = """\
import pytest
from grader.testing import assert_equal


@pytest.mark.criterion("{name}")
def test_{name}(learner, rng):
    assert_equal(learner.{name}({argument}), {factor} * {argument})
"""
MISTAKES = """\
from grader.mistakes import mistake


@mistake(criterion="{name}", replaces="{name}", text="This is the square.", fix="Multiply by 2.")
def squared(x):
    return x * x
"""
WRONG = NUMBERS.replace("2 * x", "x * x")


@dataclass
class Done:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


class Place:
    """A folder with a copy of the grader, and a course in it that a test may do anything to."""

    def __init__(self, root: Path, package: Path) -> None:
        self.root = root
        self.package = package
        self.numbers = root / "stages" / "s01_numbers" / "numbers_.py"
        self.sums = root / "stages" / "s02_sums" / "sums.py"
        self.store = Store(root)

    def run(self, *arguments: str, folder: Path | None = None, code: str = RUN, **environment: str) -> Done:
        """Run the command in the course and return what it printed; never with a traceback."""
        variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "LANG", "LC_ALL")}
        variables |= {"PYTHONPATH": str(self.package.parent), "COLUMNS": "100", "PYTHONUTF8": "1", **environment}
        command = [sys.executable, "-c", code, *arguments]
        done = subprocess.run(
            command,
            cwd=folder or self.root,
            env=variables,
            capture_output=True,
            encoding="utf-8",
            stdin=subprocess.DEVNULL,
        )
        assert "Traceback" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    def passed(self, *stages: str) -> None:
        for stage in stages:
            self.store.record_pass(stage, "0" * 64, 7, "0.1.0", datetime.now(UTC))

    @property
    def recorded(self) -> set[str]:
        return set(self.store.read().passed)


def write_stage(
    root: Path, package: Path, number: int, module: str, title: str, solution: str, requires: list[str]
) -> None:
    names = [line.split("(")[0].removeprefix("def ") for line in solution.splitlines() if line.startswith("def ")]
    folder = f"s{number:02}_{title.lower()}"
    stage, hidden = root / "stages" / folder, package / "hidden" / folder
    (stage / "tests").mkdir(parents=True)
    hidden.mkdir()
    manifest = MANIFEST.format(id=f"s{number:02}", title=title, module=module, requires=json.dumps(requires))
    rows = [ROW.format(name=name, needs=json.dumps(names[:place])) for place, name in enumerate(names)]
    (stage / "stage.toml").write_text(manifest + "".join(rows), encoding="utf-8")
    (stage / "README.md").write_text(f"# {title}\n\nA *small* stage.\n", encoding="utf-8")
    (stage / f"{module}.py").write_text(stub_of(solution), encoding="utf-8")
    (hidden / "__init__.py").touch()
    (hidden / "solution.py").write_text(solution, encoding="utf-8")
    (hidden / "mistakes.py").write_text(MISTAKES.format(name=names[0]), encoding="utf-8")
    for place, name in enumerate(names):
        for path, argument in (
            (stage / "tests" / f"test_{name}.py", "3"),
            (hidden / f"test_hidden_{name}.py", "int(rng.integers(100, 10**9))"),
        ):
            value = "3" if argument == "3" else "drawn"
            text = TESTS.format(name=name, factor=2 ** (place + 1), argument=value)
            text = text.replace("    assert", f"    drawn = {argument}\n    assert") if value == "drawn" else text
            path.write_text(text, encoding="utf-8")


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The place as it is before any test: the grader without its own stages, and two small ones."""
    root = tmp_path_factory.mktemp("original")
    package = root / "code" / "grader"
    left_out = shutil.ignore_patterns("hidden", "tests", "bench", "classroom")
    shutil.copytree(PACKAGE, package, ignore=left_out)
    (package / "hidden").mkdir()
    (package / "hidden" / "__init__.py").touch()
    write_stage(root, package, 1, "numbers_", "Numbers", NUMBERS, [])
    write_stage(root, package, 2, "sums", "Sums", SUMS, ["s01"])
    return Place(root, package)


@pytest.fixture
def place(original: Place, tmp_path: Path) -> Place:
    """A course of the test's own; the grader is shared, and may not be written to."""
    shutil.copytree(original.root / "stages", tmp_path / "course" / "stages")
    return Place(tmp_path / "course", original.package)


# What is graded, and what is recorded of it.


def test_a_fresh_course_shows_the_checklist_of_its_first_stage(place: Place) -> None:
    done = place.run("check", "--seed", "5")
    assert (done.code, place.recorded) == (1, set())
    assert done.out.splitlines()[:3] == [
        "s01 · Numbers" + " " * 47 + "0 of 2 criteria   " + "░" * 20,
        "○ double is right" + " " * 61 + "not started",
        "○ quadruple is right" + " " * 58 + "not started",
    ]
    assert "seed 5" in done.out
    assert done.err == "Begin in stages/s01_numbers/numbers_.py; `grader show s01` explains the stage.\n"


def test_a_pass_is_recorded_with_the_file_that_passed_and_unlocks_the_next_stage(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("check", "--json", "--seed", "11", "--isolation", "process")
    assert (done.code, done.err) == (0, "")
    found = done.json
    assert (found["passed"], found["seed"], found["isolation"], found["unlocked"]) == (True, 11, "process", ["s02"])
    schema = json.loads((PACKAGE / "report" / "verdict.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(found, schema)
    record = place.store.read().passed["s01"]
    assert (record.digest, record.seed) == (found["submission"], 11)
    again = place.run("check", "s01", "--json")
    assert (again.code, again.json["unlocked"]) == (0, [])
    assert "→ s02 · Sums" in place.run("status").out
    place.numbers.write_text(NUMBERS + "\n", encoding="utf-8")
    assert "changed since it passed" in place.run("status").out


def test_a_wrong_answer_is_explained_and_leads_on(place: Place) -> None:
    place.numbers.write_text(WRONG, encoding="utf-8")
    done = place.run("check", "s01", "--seed", "40817")
    assert (done.code, done.err, place.recorded) == (1, "", set())
    for line in (
        "    double(x=3)",
        "    This is the square.",
        "    Multiply by 2." + "stages/s01_numbers/numbers_.py:6".rjust(81),
        "    more help: grader hint s01 double    again with these inputs: grader check s01 --seed 40817",
        "– quadruple is right" + " " * 58 + "waits for double",
    ):
        assert line in done.out.splitlines()
    assert place.store.read().last == "s01"


def test_a_locked_stage_says_what_comes_first_and_how_to_start_there(place: Place) -> None:
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "s02")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: s02 is locked: s01 (Numbers) comes first\n")
    assert "grader start s02" in done.err
    assert place.recorded == set()


def test_a_locked_stage_is_a_verdict_too(place: Place) -> None:
    done = place.run("check", "s02", "--json")
    assert done.code == 3
    assert (done.json["locked"], done.json["passed"], done.json["waits_for"]) == (True, False, ["s01"])
    jsonschema.validate(done.json, json.loads((PACKAGE / "report" / "verdict.schema.json").read_text("utf-8")))


def test_someones_files_are_graded_without_locks_and_without_recording(place: Place, tmp_path: Path) -> None:
    handed_in = tmp_path / "anna's sums.py"
    handed_in.write_text(SUMS.replace("2 * x", "3 * x"), encoding="utf-8")
    done = place.run("check", "s02", "--submission", "../anna's sums.py", "--seed", "5", "--isolation", "process")
    assert done.code == 1
    again = "    again with these inputs: grader check s02 --submission '../anna'\"'\"'s sums.py' --seed 5"
    assert again in done.out.splitlines()
    handed_in.write_text(SUMS, encoding="utf-8")
    assert place.run("check", "s02", "--submission", str(handed_in)).code == 0
    assert not place.store.file.exists()


def test_one_row_can_be_graded_and_is_not_recorded(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("check", "--only", "double")
    assert (done.code, place.recorded) == (0, set())
    assert "quadruple" not in done.out
    assert "nothing is recorded" in done.err


def test_a_module_with_a_syntax_error_gets_one_message(place: Place) -> None:
    place.numbers.write_text("import numpy as np\ndef double(x)\n", encoding="utf-8")
    done = place.run("check")
    assert done.code == 1
    assert "✗ stages/s01_numbers/numbers_.py:2 cannot be graded as it is\n" in done.out
    assert "quadruple" not in done.out
    hint = place.run("hint", "s01")
    assert (hint.code, hint.out) == (2, "")
    assert "expected ':'" in hint.err


def test_nothing_a_learner_prints_or_raises_controls_the_terminal(place: Place) -> None:
    evil = 'print("\\x1b[2J[red]out[/red]"); raise RuntimeError("\\x1b]0;title\\x07[bold]no[/bold]")'
    place.numbers.write_text(NUMBERS.replace("return 2 * x", evil), encoding="utf-8")
    done = place.run("check", FORCE_COLOR="1")
    assert "\\x1b]0;title\\x07[bold]no[/bold]" in done.out
    assert "\\x1b[2J[red]out[/red]" in done.out
    assert "\x07" not in done.out
    assert "\x1b[2J" not in done.out


def test_a_fault_of_the_course_costs_the_learner_nothing(original: Place, tmp_path: Path) -> None:
    shutil.copytree(original.root, tmp_path / "all")
    place = Place(tmp_path / "all", tmp_path / "all" / "code" / "grader")
    place.passed("s01")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    (place.package / "hidden" / "s01_numbers" / "test_hidden_double.py").write_text("def (", encoding="utf-8")
    done = place.run("check", "s01")
    assert done.code == 4
    assert "not in your code" in done.out
    assert place.store.read().passed["s01"].digest == "0" * 64
    assert place.run("check", "--all", "--json").code == 4


# All stages at once.


def test_all_stages_are_graded_as_far_as_they_are_unlocked(place: Place) -> None:
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("check", "--all")
    assert (done.code, place.recorded) == (1, {"s01"})
    lines = done.out.splitlines()
    assert [line.split("  ")[0] for line in lines] == ["All stages", "✓ s01 · Numbers", "○ s02 · Sums"]
    assert "1 of 2 stages" in lines[0]


def test_a_damaged_progress_file_is_named_and_rebuilt_even_beyond_a_lock(place: Place) -> None:
    place.passed("s01", "s02")
    place.store.file.write_text("{", encoding="utf-8")
    place.numbers.write_text(WRONG, encoding="utf-8")
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--all", "--json")
    assert "warning: .grader/progress.json is damaged" in done.err
    assert [(each["stage"], each["passed"]) for each in done.json["verdicts"]] == [("s01", False), ("s02", True)]
    assert (done.code, done.json["passed"], place.recorded) == (1, False, {"s02"})


def test_all_of_someones_stages_are_graded_and_missing_ones_named(place: Place, tmp_path: Path) -> None:
    handed_in = tmp_path / "anna"
    shutil.copytree(place.root / "stages", handed_in / "stages")
    (handed_in / "stages" / "s01_numbers" / "numbers_.py").unlink()
    (handed_in / "stages" / "s02_sums" / "sums.py").write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--all", "--submission", str(handed_in))
    assert done.code == 1
    assert "no module" in done.out.splitlines()[1]
    assert done.out.splitlines()[-1].endswith("2 of 2 criteria")
    assert not place.store.file.exists()


def test_all_stages_of_an_archive_are_graded(place: Place, tmp_path: Path) -> None:
    (place.root / "stages" / "s02_sums" / "sums.py").write_text(SUMS, encoding="utf-8")
    archive = shutil.make_archive(str(tmp_path / "anna"), "gztar", place.root, "stages")
    done = place.run("check", "--all", "--submission", archive)
    assert done.out.splitlines()[-1].endswith("2 of 2 criteria")
    assert not place.store.file.exists()


# Commands that do not grade run in this process, which is much faster.


@dataclass
class Here:
    """The command in this process, with its course as the current folder."""

    place: Place
    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: str) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["grader", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = self.capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, captured.err)


@pytest.fixture
def here(place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    monkeypatch.chdir(place.root)
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("LANG", "LC_ALL", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("grader.course.answers.hidden_folder", lambda stage: place.package / "hidden" / stage.name)
    return Here(place, capsys, monkeypatch)


def test_alone_it_says_where_you_are_and_what_comes_next(here: Here) -> None:
    done = here()
    assert (done.code, done.err) == (0, "")
    assert "You are at s01 · Numbers." in done.out
    for command in ("grader show s01", "grader check", "grader hint s01", "grader demo", "grader start s02"):
        assert f"    {command} " in done.out
    here.place.passed("s01")
    assert "You are at s02 · Sums." in (later := here().out)
    assert "grader demo" not in later


def test_alone_it_says_when_nothing_is_left(here: Here) -> None:
    here.place.passed("s01", "s02")
    assert "Every stage is passed or skipped." in here().out
    done = here("check")
    assert (done.code, done.out) == (2, "")
    assert "no stage is left" in done.err


def test_the_status_lists_every_stage(here: Here) -> None:
    lines = here("status").out.splitlines()
    assert "0 of 2 stages passed" in lines[0]
    assert lines[1:] == [
        "→ s01 · Numbers" + " " * 63 + "you are here",
        "· s02 · Sums" + " " * 66 + "waits for s01",
    ]


def test_the_status_is_a_document_too(here: Here) -> None:
    here.place.passed("s01")
    found = here("status", "--json").json
    assert (found["schema"], found["current"], found["notice"]) == (1, "s02", None)
    assert [(each["id"], each["state"], each["waits_for"]) for each in found["stages"]] == [
        ("s01", "changed", []),
        ("s02", "open", []),
    ]


def test_a_hint_goes_one_step_further_each_time(here: Here) -> None:
    texts = [here("hint", "s02", "total").out for _ in range(4)]
    assert ["a nudge" in texts[0], "the idea" in texts[1], "nearly" in texts[2], "nearly" in texts[3]] == [True] * 4
    assert "hint 1 of 3" in texts[0]
    assert "one step further: grader hint s02 total" in texts[0]
    assert "grader show s02" in texts[3]


def test_a_hint_without_a_row_is_for_the_first_that_does_not_pass(place: Place) -> None:
    place.numbers.write_text(NUMBERS.replace("double(double(x))", "x"), encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out.splitlines()[0]) == (0, "s01 · quadruple is right · hint 1 of 3")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    done = place.run("hint", "s01")
    assert (done.code, done.out) == (0, "")
    assert "no hint is needed" in done.err


def test_show_prints_the_readme_as_it_is_into_a_pipe(here: Here) -> None:
    assert here("show", "numbers").out == "# Numbers\n\nA *small* stage.\n"


def test_show_says_so_when_there_is_no_readme(here: Here) -> None:
    (here.place.numbers.parent / "README.md").unlink()
    done = here("show", "s01")
    assert (done.code, done.out) == (4, "")
    assert "stages/s01_numbers/README.md cannot be read" in done.err


def test_start_skips_what_comes_before_and_passes_nothing(here: Here) -> None:
    done = here("start", "s02")
    assert (done.code, done.out) == (0, "")
    assert "You are at s02 · Sums. Skipped: s01." in done.err
    progress = here.place.store.read()
    assert (set(progress.skipped), set(progress.passed), progress.last) == ({"s01"}, set(), "s02")


def test_start_at_an_earlier_stage_opens_what_was_skipped(here: Here) -> None:
    here("start", "s02")
    assert "Skipped" not in here("start", "s01").err
    assert here.place.store.read().skipped == set()
    assert "You are at s01" in here().out


def test_start_leaves_passed_stages_passed(here: Here) -> None:
    here.place.passed("s01")
    assert "Skipped" not in here("start", "s02").err
    assert here.place.recorded == {"s01"}


def test_reset_asks_before_it_replaces_a_file(here: Here) -> None:
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    done = here("reset", "s01")
    assert (done.code, done.out) == (2, "")
    assert "--yes" in done.err
    assert here.place.numbers.read_text(encoding="utf-8") == "mine = 1\n"


@pytest.mark.parametrize("yes", [True, False])
def test_reset_does_what_was_answered(here: Here, yes: bool) -> None:
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    here.monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    here.monkeypatch.setattr("typer.confirm", lambda question, err: yes)
    assert here("reset", "s01").code == 0
    assert (here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)) is yes


def test_reset_puts_the_stub_back_keeps_the_old_file_and_starts_over(here: Here) -> None:
    here.place.passed("s01")
    here.place.numbers.write_text("mine = 1\n", encoding="utf-8")
    done = here("reset", "s01", "--yes")
    assert done.code == 0
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    (kept,) = (here.place.root / ".grader" / "backups" / "s01_numbers").iterdir()
    assert kept.read_text(encoding="utf-8") == "mine = 1\n"
    assert f".grader/backups/s01_numbers/{kept.name}" in done.err
    assert here.place.recorded == set()


def test_reset_keeps_no_copy_of_a_stub_and_restores_a_deleted_one(here: Here) -> None:
    here("reset", "s01", "-y")
    assert not (here.place.root / ".grader" / "backups").exists()
    here.place.numbers.unlink()
    assert here("reset", "s01", "-y").code == 0
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)


def test_a_solution_is_shown_after_passing_only(here: Here, tmp_path: Path) -> None:
    done = here("solution", "s01")
    assert (done.code, done.out) == (3, "")
    assert "once s01 has passed" in done.err
    here("start", "s02")
    assert here("solution", "s01").code == 3
    here.place.passed("s01")
    assert here("solution", "s01").out == NUMBERS
    target = tmp_path / "solution.py"
    assert here("solution", "s01", "--output", str(target)).out == ""
    assert target.read_text(encoding="utf-8") == NUMBERS


def test_a_solution_overwrites_nothing(here: Here) -> None:
    here.place.passed("s01")
    done = here("solution", "s01", "--output", str(here.place.numbers))
    assert done.code == 2
    assert "is not overwritten" in done.err
    assert here.place.numbers.read_text(encoding="utf-8") == stub_of(NUMBERS)
    assert here("solution", "s01", "-o", str(here.place.root / "no" / "folder.py")).code == 2


@pytest.mark.parametrize("name", ["s01", "1", "numbers", "s01_numbers", "stages/s01_numbers/", "NUMBERS_.py"])
def test_a_stage_answers_to_many_names(here: Here, name: str) -> None:
    assert here("show", name).out.startswith("# Numbers")


@pytest.mark.parametrize(
    ("arguments", "message", "hint"),
    [
        (("check", "numers"), "'numers' is not a stage", "Did you mean s01_numbers?"),
        (("check", "s01", "--only", "duoble"), "'duoble' is not a row", "Did you mean double?"),
        (("hint", "s01", "duoble"), "'duoble' is not a row", "Did you mean double?"),
        (("check", "s01", "--submission", "nowhere"), "nowhere", "Python file"),
        (("check", "s01", "--require-isolation", "moat"), "'moat' is no isolation", "auto, bubblewrap, landlock or"),
        (("check", "s01", "--isolation", "moat"), "'moat' is no isolation", "auto, bubblewrap, landlock or process"),
        (("check", "s01", "--all"), "--all grades every stage", "Leave one"),
        (("check", "--all", "--only", "double"), "--all grades whole stages", "Leave one"),
        (("check", "--all", "--submission", "nowhere.py"), "--all needs a folder", "Name a stage"),
        (("check", "s01", "--seed", "-1"), "-1", "Usage"),
        (("chekc",), "chekc", "Usage"),
        (("show",), "STAGE", "Usage"),
    ],
)
def test_a_mistake_on_the_command_line_is_named(
    here: Here, arguments: tuple[str, ...], message: str, hint: str
) -> None:
    done = here(*arguments)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert hint in " ".join(done.err.split())


def test_a_broken_course_is_one_clean_message(here: Here) -> None:
    (here.place.numbers.parent / "stage.toml").write_text("id = [", encoding="utf-8")
    done = here("status")
    assert (done.code, done.out) == (4, "")
    assert done.err.startswith("error: stages/s01_numbers/stage.toml: ")


def test_an_unforeseen_error_is_a_grader_fault_without_a_traceback(here: Here) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("nothing [bold]left[/bold]")

    here.monkeypatch.setattr("grader.progress.actions.open_workspace", broken)
    here.monkeypatch.delenv("GRADER_TRACEBACK", raising=False)
    done = here("status")
    assert (done.code, done.out) == (4, "")
    assert "error: ZeroDivisionError in test_cli.py:" in done.err
    assert "nothing [bold]left[/bold]" in done.err
    assert "Traceback" not in done.err
    here.monkeypatch.setenv("GRADER_TRACEBACK", "1")
    assert "Traceback" in here("status").err


def test_an_interrupted_check_is_no_verdict(here: Here) -> None:
    def interrupt(_: object) -> None:
        raise KeyboardInterrupt

    here.monkeypatch.setattr("grader.report.terminal.screen.ticking", lambda name: nullcontext(interrupt))
    done = here("check", "s01", "--isolation", "process")
    assert (done.code, done.out) == (130, "")
    assert here.place.store.read().last is None


def test_the_version_is_printed(here: Here) -> None:
    assert here("--version").out == f"grader {grader.__version__}\n"


@pytest.mark.parametrize("option", ["-h", "--help"])
def test_help_names_every_command(here: Here, option: str) -> None:
    done = here(option)
    assert done.code == 0
    for command in ("status", "check", "explore", "hint", "show", "start", "reset", "solution", "doctor", "demo"):
        assert f"\n  {command} " in done.out
        assert here(command, option).code == 0


@pytest.mark.parametrize(
    "arguments", [(), ("--help",), ("--version",), ("status",), ("status", "--json"), ("show", "s01")]
)
def test_light_commands_import_neither_numpy_nor_pytest(place: Place, arguments: tuple[str, ...]) -> None:
    code = f"import atexit, sys; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); {RUN}"
    done = place.run(*arguments, code=code)
    loaded = set(done.err.split())
    assert done.code == 0
    assert {"grader.cli", "typer"} <= loaded
    assert loaded.isdisjoint({"numpy", "pytest", "msgpack", "grader.judging.grading"})


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grader check s", {"s01", "s02", "s01_numbers", "s02_sums"}),
        ("grader show s02", {"s02", "s02_sums"}),
        ("grader hint s01 q", {"quadruple"}),
        ("grader check --only t", {"total"}),
        ("grader check --isolation b", {"bubblewrap"}),
        ("grader check --require-isolation l", {"landlock"}),
    ],
)
def test_the_shell_completes_stages_rows_and_tiers(here: Here, words: str, expected: set[str]) -> None:
    here.monkeypatch.setenv("_GRADER_COMPLETE", "complete_bash")
    here.monkeypatch.setenv("COMP_WORDS", words)
    here.monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))
    assert set(here().out.split()) == expected


def test_completion_is_silent_in_a_broken_course(here: Here) -> None:
    (here.place.numbers.parent / "stage.toml").write_text("id = [", encoding="utf-8")
    here.monkeypatch.setenv("_GRADER_COMPLETE", "complete_bash")
    here.monkeypatch.setenv("COMP_WORDS", "grader check s")
    here.monkeypatch.setenv("COMP_CWORD", "2")
    done = here()
    assert (done.out.strip(), done.err) == ("", "")


def test_the_script_of_the_package_is_this_command() -> None:
    script = Path(sys.executable).with_name("grader.exe" if sys.platform == "win32" else "grader")
    done = subprocess.run([str(script), "--version"], capture_output=True, encoding="utf-8", check=False)
    assert (done.returncode, done.stdout) == (0, f"grader {grader.__version__}\n")
