"""`grader check`: what it shows, records and unlocks, its options and formats, and what goes wrong."""

from __future__ import annotations

import base64
import csv
import errno
import io
import json
import os
import re
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml

from grader import cli
from grader.commands.checking import CheckScreen
from grader.errors import CourseError, IsolationRefused
from grader.gradebook.marks import table
from grader.gradebook.store import Gradebook
from grader.progress.actions import Workspace
from grader.progress.store import Store
from grader.report.terminal.checklist import Style, verdict_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.screen import SEARCHING, Ticker
from tests.conftest import SmallCourse
from tests.report.terminal.made import DIAGNOSIS, VERDICT, text_of
from tests.support.command import NUMBERS, PACKAGE, SUMS, Place
from tests.support.command import WRONG as SQUARED
from tests.support.places import HOUSE
from tests.support.small_course import manifest
from tests.support.verdicts import obeyed_by_a_runner


@pytest.fixture
def command(
    small_course: SmallCourse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    small_course.write(
        manifest=MANIFEST,
        solution=SOLUTION,
        public=TEST.format(name="public", value=3),
        hidden=TEST.format(name="secret", value=4711),
    )
    monkeypatch.chdir(small_course.root)
    for module in ("learning", "checking"):
        monkeypatch.setattr(
            f"grader.commands.{module}.open_workspace", lambda *_: Workspace(small_course.course, Store(tmp_path))
        )
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CLASSROOM", "LANG", "LC_ALL", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(small_course, tmp_path, monkeypatch, capsys)


ARGUMENTS = ("s90", "--isolation", "process", "--seed", "5")
MANIFEST = manifest({"double": ["double", "halve"]})
SOLUTION = """
    def double(x):
        return 2 * x

    def halve(x):
        return x / 2
"""
TEST = """
    @pytest.mark.criterion("double")
    def test_{name}(learner):
        assert_equal(learner.double({value}), 2 * {value})
"""
EVIL = """\
def double(x):
    print("::error::printed\\n##[add-mask]1\\n::stop-commands::x")
    raise ValueError("::set-output name=a::b\\n##[group]c </code></pre><script> ]]> @octocat \\x1b[2J")
"""
WRONG = "def double(x):\n    return x\n"
RIGHT = "def double(x):\n    return x + x\n"


class Command:
    """The command in this process, on a small course; small is the learner's module."""

    def __init__(self, course: SmallCourse, folder: Path, context: pytest.MonkeyPatch, capsys: Any) -> None:
        self.course, self.folder, self.context, self.capsys = course, folder, context, capsys
        self.small = course.stage_folder / "small.py"
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        self.context.setattr(sys, "argv", ["grader", "check", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = self.capsys.readouterr()
        self.out, self.err = captured.out, captured.err
        return int(left.value.code or 0)


def test_a_fresh_course_shows_the_checklist_of_its_first_stage(place: Place) -> None:
    done = place.process("check", "--seed", "5")
    assert (done.code, place.recorded) == (1, set())
    assert done.out.splitlines()[:3] == [
        "s01 · Numbers" + " " * 47 + "0 of 2 criteria   " + "░" * 20,
        "○ double is right" + " " * 61 + "not started",
        "○ quadruple is right" + " " * 58 + "not started",
    ]
    assert "seed 5" in done.out
    assert done.err.splitlines() == [
        "Begin in stages/s01_numbers/numbers_.py; `grader show s01` explains the stage.",
        "Next: `grader show s01 double` says what to write.",
    ]


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
    place.numbers.write_text(SQUARED, encoding="utf-8")
    done = place.run("check", "s01", "--seed", "40817")
    assert (done.code, done.err, place.recorded) == (1, "", set())
    for line in (
        "✗ double is right",
        "    This is the square.",
        "    --> stages/s01_numbers/numbers_.py:8    return x * x",
        "    double(x=3)",
        "more help: grader hint s01 double    same inputs again: --seed 40817",
        "–      quadruple is right" + " " * 53 + "waits for double",
    ):
        assert line in done.out.splitlines()
    assert "Multiply by 2." not in done.out  # that comes with the hint
    assert "Multiply by 2." not in place.run("check", "s01", "-v").out
    assert "Multiply by 2." in place.run("check", "s01", "--submission", str(place.numbers)).out
    assert place.store.read().last == "s01"


def test_a_locked_stage_says_what_comes_first_and_how_to_start_there(place: Place) -> None:
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "s02")
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("error: s02 is locked: s01 (Numbers) comes first\n")
    for way in ("grader check s01", "grader start s02", "grader check s02 --anyway"):
        assert f"- `{way}` " in done.err
    assert place.recorded == set()


def test_a_locked_stage_says_on_one_screen_what_it_builds_on(place: Place) -> None:
    readme = place.sums.with_name("README.md")
    needed = f"**You need** doubling (s01) of $x_i$. {'More of it. ' * 99}"
    readme.write_text(f"# Sums\n\n{needed}\n\nText.\n", encoding="utf-8")
    lines = place.run("check", "s02", COLUMNS="80").err.splitlines()
    assert lines[1].startswith("hint: To work on s02 you need doubling (s01) of xᵢ.")
    assert len(lines) < 20 and all(len(line) <= 80 for line in lines)
    assert "Its module imports no earlier stage." in lines


def test_a_locked_stage_is_graded_anyway_and_nothing_is_recorded(place: Place) -> None:
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "s02", "--anyway", "--isolation", "process")
    assert done.code == 0 and "2 of 2 criteria" in done.out
    assert "s02 is locked, so nothing is recorded." in done.err
    assert not place.store.file.exists()
    assert place.run("check", "s02").code == 3
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    assert place.run("check", "s01", "--anyway", "--isolation", "process").code == 0
    assert place.recorded == {"s01"}  # which is open, so that there is nothing to go past


def test_anyway_is_about_one_stage_of_ones_own(place: Place) -> None:
    for other in ("--all", "--begun", "--submission=stages"):
        done = place.run("check", *(["s02"] if "=" in other else []), "--anyway", other)
        assert done.code == 2
        assert f"--anyway is about one locked stage of your own, and {other.split('=')[0]}" in done.err


def test_a_locked_stage_is_a_verdict_too(place: Place) -> None:
    done = place.run("check", "s02", "--json")
    assert done.code == 3
    assert (done.json["locked"], done.json["passed"], done.json["waits_for"]) == (True, False, ["s01"])
    assert done.json["problem"]["kind"] == "locked"
    assert "`grader check s02 --anyway`" in done.json["problem"]["hint"]
    jsonschema.validate(done.json, json.loads((PACKAGE / "report" / "verdict.schema.json").read_text("utf-8")))


def test_someones_files_are_graded_without_locks_and_without_recording(place: Place, tmp_path: Path) -> None:
    handed_in = tmp_path / "anna's sums.py"
    handed_in.write_text(SUMS.replace("2 * x", "3 * x"), encoding="utf-8")
    done = place.run("check", "s02", "--submission", "../anna's sums.py", "--seed", "5", "--isolation", "process")
    assert done.code == 1
    assert any(line.endswith("same inputs again: --seed 5") for line in done.out.splitlines())
    handed_in.write_text(SUMS, encoding="utf-8")
    assert place.run("check", "s02", "--submission", str(handed_in)).code == 0
    assert not place.store.file.exists()


def test_one_row_is_shown_and_all_are_graded(place: Place) -> None:
    place.run("reset", "s01")
    done = place.run("check", "s01", "quadruple", "--isolation", "process")
    assert "○ quadruple is right" in done.out and "double is right" not in done.out
    assert "0 of 2 criteria" in done.out and "nothing is recorded" not in done.err


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
    assert (hint.code, hint.out) == (5, "")
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
    (place.root / "hidden" / "s01_numbers" / "test_hidden_double.py").write_text("def (", encoding="utf-8")
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


def test_what_is_begun_is_graded_and_an_untouched_course_is_fine(place: Place, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    done = place.run("check", "--begun", "--format", "github", GITHUB_STEP_SUMMARY=str(summary))
    assert (done.code, done.out, done.err) == (0, "", "No stage is begun yet, so nothing was graded.\n")
    assert summary.read_text(encoding="utf-8") == ""
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--begun")
    assert (done.code, [line.split("  ")[0] for line in done.out.splitlines()]) == (0, ["Stages begun", "✓ s02 · Sums"])


def test_a_damaged_progress_file_is_named_and_rebuilt_even_beyond_a_lock(place: Place) -> None:
    place.passed("s01", "s02")
    place.store.file.write_text("{", encoding="utf-8")
    place.numbers.write_text(SQUARED, encoding="utf-8")
    place.sums.write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--all", "--json")
    assert "warning: .grader/progress.json is damaged" in done.err
    assert [(each["stage"], each["passed"]) for each in done.json["verdicts"]] == [("s01", False), ("s02", True)]
    assert (done.code, done.json["passed"], place.recorded) == (1, False, {"s02"})


def test_all_of_someones_stages_are_graded_and_missing_ones_named(place: Place, tmp_path: Path) -> None:
    handed_in = tmp_path / "anna"
    shutil.copytree(place.root / "stages", handed_in / "stages")
    (handed_in / "stages" / "s01_numbers" / "numbers_.py").unlink()
    elsewhere = handed_in / "stages" / "s01_numbers" / "other.py"
    elsewhere.write_text("x = 1", encoding="utf-8")
    (handed_in / "stages" / "s02_sums" / "sums.py").write_text(SUMS, encoding="utf-8")
    done = place.run("check", "--all", "--submission", str(handed_in))
    assert done.code == 1
    assert "1 of 2 stages" in done.out.splitlines()[0]
    assert done.out.splitlines()[1].startswith("✓ s02 · Sums")
    assert done.out.splitlines()[2:] == ["Not handed in: s01."]
    document = place.run("check", "--all", "--submission", str(handed_in), "--json").json
    assert [(each["stage"], each["passed"]) for each in document["verdicts"]] == [("s01", False), ("s02", True)]
    assert not place.store.file.exists()


def test_all_stages_of_an_archive_are_graded(place: Place, tmp_path: Path) -> None:
    (place.root / "stages" / "s02_sums" / "sums.py").write_text(SUMS, encoding="utf-8")
    archive = shutil.make_archive(str(tmp_path / "anna"), "gztar", place.root, "stages")
    done = place.run("check", "--all", "--submission", archive)
    assert done.out.splitlines()[-1].endswith("2 of 2 criteria")
    assert not place.store.file.exists()


ARRAYS = """\
import numpy as np
import pytest
from grader.testing import assert_equal


@pytest.mark.criterion("double")
def test_of_an_array(learner):
    assert_equal(learner.double(np.array([1.0, 2.0, 4.0])), np.array([2.0, 4.0, 8.0]))
"""


def test_what_the_numbers_look_like_is_told_only_where_no_cause_is_named(place: Place) -> None:
    hidden = place.root / "hidden" / "s01_numbers"
    for file in (hidden / "test_hidden_double.py", place.root / "stages/s01_numbers/tests/test_double.py"):
        file.write_text(ARRAYS, encoding="utf-8")
    mistakes = (hidden / "mistakes.py").read_text(encoding="utf-8").replace("x * x", "1.0 * x")
    (hidden / "mistakes.py").write_text(mistakes, encoding="utf-8")
    place.numbers.write_text(NUMBERS.replace("2 * x", "x * 1.0"), encoding="utf-8")
    pattern = "every value is 0.5 times (1/2 times) the expected one"
    shown = place.run("check", "s01").out
    assert "This is the square." in shown and "expected 2.0, got 1.0" in shown and pattern not in shown
    failures = place.run("check", "s01", "--json").json["criteria"][0]["failures"]
    assert failures and not any(pattern in each["message"] for each in failures)


def test_a_criterion_may_follow_the_stage_or_stand_alone_as_with_hint_and_show(place: Place) -> None:
    place.numbers.write_text(SQUARED, encoding="utf-8")
    told = [
        place.run("check", *row, "--seed", "5").out for row in (["s01", "double"], ["double"], ["s01", "quadruple"])
    ]
    assert told[0].splitlines()[:3] == told[1].splitlines()[:3] != told[2].splitlines()[:3]


def test_a_script_may_name_the_criterion_with_an_option_but_not_two(place: Place) -> None:
    place.numbers.write_text(SQUARED, encoding="utf-8")
    with_option, with_word = (
        place.run("check", *words, "--seed", "5") for words in (["s01", "--row", "double"], ["s01", "double"])
    )
    assert with_option.out.splitlines()[:3] == with_word.out.splitlines()[:3]
    two = place.run("check", "s01", "double", "--row", "quadruple")
    assert (two.code, "one criterion is shown" in two.err) == (2, True)


def test_a_result_that_cannot_be_recorded_is_told_and_decides_the_exit_code(command: Command) -> None:
    def read_only(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    command.context.setattr("filelock.FileLock.acquire", read_only)
    command.small.write_text(RIGHT, encoding="utf-8")
    for words in (ARGUMENTS, ("--all", *ARGUMENTS[1:])):
        assert command(*words) == 0
        assert " ".join(command.err.split()).count("warning: nothing is recorded: ") == 1
        assert "cannot be written: Read-only file system" in " ".join(command.err.split())
        assert "Unlocked" not in command.err
    command.small.write_text(WRONG, encoding="utf-8")
    assert command(*ARGUMENTS) == 1
    assert "warning: nothing is recorded: " in " ".join(command.err.split())


def told(command: Command, name: str) -> str:
    return (command.folder / name).read_text(encoding="utf-8")


def failing(command: Command, error: Exception) -> int:
    """Check with every format while grading ends in an error; returns the exit code."""

    def grade(*_: object) -> None:
        raise error

    command.context.setattr("grader.judging.grading.grade", grade)
    names = ("junit", "gradescope", "json", "autograding", "github")
    return command(*ARGUMENTS, "--format", ",".join(f"{name}={command.folder / name}" for name in names))


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (IsolationRefused("isolation bubblewrap is unavailable"), "isolation bubblewrap is unavailable"),
        (ZeroDivisionError("4711"), "ZeroDivisionError in the grader"),
    ],
)
def test_a_fault_is_an_error_in_each_format_and_never_a_zero(command: Command, error: Exception, said: str) -> None:
    command.small.write_text(RIGHT, encoding="utf-8")
    assert failing(command, error) == 4
    (*_, suite) = JUnitXml.fromstring(told(command, "junit").encode())
    assert suite.errors == 1
    gradescope = json.loads(told(command, "gradescope"))
    assert "score" not in json.dumps(gradescope) and said in gradescope["output"]
    autograding = json.loads(base64.b64decode(told(command, "autograding")))
    assert (autograding["status"], autograding["max_score"]) == ("error", 0)
    assert json.loads(told(command, "json"))["faults"] == [said]
    assert "Not graded" in told(command, "github") and said in told(command, "github")
    assert "::error title=grader::" in command.out
    for name in ("junit", "gradescope", "json", "github"):
        assert "4711" not in told(command, name)


def test_what_cannot_be_taken_is_told_without_marks(command: Command) -> None:
    (command.folder / "handed_in").mkdir()
    result = command.folder / "results.json"
    code = command(*ARGUMENTS, "--submission", str(command.folder / "handed_in"), "--format", f"gradescope={result}")
    assert code == 5
    document = json.loads(result.read_text(encoding="utf-8"))
    assert "without" in document["output"] and "tests" not in document
    assert "small.py" in command.err


def test_a_row_that_is_none_is_a_mistake_of_whoever_asks_and_no_report(command: Command) -> None:
    file = command.folder / "x"
    assert command(*ARGUMENTS, "--only", "nothing", "--format", f"json={file}") == 2
    assert not file.exists()


def test_a_broken_course_leaves_no_report_of_an_earlier_run(command: Command) -> None:
    def broken(*_: object) -> None:
        raise CourseError("stages/s90_small/stage.toml: id: is missing")

    command.context.setattr("grader.commands.learning.open_workspace", broken)
    file = command.folder / "junit.xml"
    file.write_text("all green", encoding="utf-8")
    assert command(*ARGUMENTS, "--format", f"junit={file}") == 4
    assert not file.exists()


def test_a_fault_among_all_stages_is_an_error_too(command: Command) -> None:
    def grade(*_: object) -> None:
        raise IsolationRefused("isolation bubblewrap is unavailable")

    command.context.setattr("grader.judging.grading.grade", grade)
    command.small.write_text(WRONG, encoding="utf-8")
    file = command.folder / "v.json"
    assert command("--all", "--format", f"json={file}") == 4
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["passed"], found["verdicts"][0]["faults"]) == (False, ["isolation bubblewrap is unavailable"])


SCHEMAS = HOUSE / "report"


def test_every_format_is_written_from_one_run(command: Command) -> None:
    command.small.write_text(EVIL, encoding="utf-8")
    files = {name: command.folder / name for name in ("junit", "gradescope", "json", "autograding")}
    summary = command.folder / "summary"
    command.context.setenv("GITHUB_STEP_SUMMARY", str(summary))
    formats = ",".join(f"{name}={path}" for name, path in files.items())
    assert command(*ARGUMENTS, "--format", f"github,{formats}") == 1
    assert json.loads(files["json"].read_text("utf-8"))["seed"] == 5
    (suite,) = JUnitXml.fromstring(files["junit"].read_bytes())
    assert (suite.tests, suite.failures) == (1, 1)
    jsonschema.validate(
        json.loads(files["gradescope"].read_text("utf-8")),
        json.loads((SCHEMAS / "schemas" / "gradescope.schema.json").read_text("utf-8")),
    )
    assert json.loads(base64.b64decode(files["autograding"].read_text("utf-8")))["max_score"] == 1
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;" in summary.read_text("utf-8")


def test_a_build_s_log_obeys_the_annotations_and_nothing_else(command: Command) -> None:
    command.small.write_text(EVIL, encoding="utf-8")
    command.context.setenv("GITHUB_WORKSPACE", str(command.course.root))
    assert command(*ARGUMENTS, "--verbose", "--format", f"github={command.folder / 'summary'}") == 1
    (annotation,) = obeyed_by_a_runner(command.out + command.err)
    assert annotation.startswith(
        "::error file=stages/s90_small/small.py,line=3,title=s90 double::double is right: 0 of 2"
    )
    assert "✗ 0/2  double is right" in command.out
    assert r"#\x23[add-mask]1" in command.out


def test_who_handed_in_nothing_is_named_too(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert command("s90", "--submission", str(tmp_path / "empty"), "--json", "--student", "Ada Lovelace") == 5
    found = json.loads(command.out)
    assert (found["provenance"]["student"], found["problem"]["kind"]) == ("Ada Lovelace", "missing")


def test_a_document_says_what_it_was_made_with_and_a_plain_check_does_not_ask(command: Command) -> None:
    command.small.write_text(RIGHT, encoding="utf-8")
    assert command(*ARGUMENTS, "--json", "--student", "Ada Lovelace") == 0
    made = json.loads(command.out)["provenance"]
    assert made["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (made["student"], made["revision"], made["commit"]) == ("Ada Lovelace", None, None)
    assert command(*ARGUMENTS, "--verbose") == 0
    assert f"Python {made['python']} · NumPy {made['numpy']}" in command.out
    command.context.setattr("grader.commands.checking.provenance_of", None)
    assert command(*ARGUMENTS) == 0
    assert "NumPy" not in command.out
    assert command(*ARGUMENTS, "--student", "\x1b[2J") == 2
    assert "cannot be the name of a student" in command.err


def test_without_a_format_a_build_s_log_obeys_nothing(command: Command) -> None:
    command.small.write_text(EVIL, encoding="utf-8")
    command.context.setenv("COLUMNS", "40")  # lines are broken in new places
    assert command(*ARGUMENTS, "--verbose") == 1
    assert obeyed_by_a_runner(command.out + command.err) == []


@pytest.mark.parametrize(("source", "code"), [(RIGHT, 0), (WRONG, 1)])
def test_a_document_without_a_file_has_stdout_to_itself(command: Command, source: str, code: int) -> None:
    command.small.write_text(source, encoding="utf-8")
    assert command(*ARGUMENTS, "--format", "gradescope") == code
    assert [test["score"] for test in json.loads(command.out)["tests"]] == [1.0 - code]
    assert command.err == ""


def test_json_is_as_it_was(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    assert command(*ARGUMENTS, "--json") == 1
    first = command.out
    assert command(*ARGUMENTS, "--format", "json") == 1
    assert re.sub(r'"duration_s": .*', "", command.out) == re.sub(r'"duration_s": .*', "", first)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("html", "'html' is not a format"),
        ("junit=/no/such/folder/x", "/no/such/folder/x cannot be written"),
        ("github", "GITHUB_STEP_SUMMARY is not set"),
        ("classroom50=x", "CLASSROOM"),
    ],
)
def test_a_format_that_cannot_be_is_refused_before_grading(command: Command, option: str, message: str) -> None:
    command.context.setattr("grader.progress.actions.check", lambda *_: pytest.fail("it was graded"))
    assert command(*ARGUMENTS, "--format", option) == 2
    assert command.out == ""
    assert message in command.err


def test_all_stages_stand_in_one_report(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    file = command.folder / "j.xml"
    assert command("--all", "--isolation", "process", "--format", f"junit={file}") == 1
    assert [suite.name for suite in JUnitXml.fromstring(file.read_bytes())] == ["s90 · Small things"]
    assert "All stages" in command.out


ENDLESS = NUMBERS.replace("    return 2 * x", "    n = 1\n    while n > 0:\n        n = n + x\n    return n")
SAID = "double was still in the loop of line 9 after 200,000 steps: `while n > 0`."


@pytest.fixture
def hanging(place: Place) -> Place:
    """A course in whose first stage a call may take a second, and a module that loops for ever."""
    manifest = place.root / "stages" / "s01_numbers" / "stage.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n[limits]\ncall_seconds = 1.0\n", encoding="utf-8")
    place.numbers.write_text(ENDLESS, encoding="utf-8")
    return place


def with_feedback(place: Place, level: str) -> None:
    manifest = place.root / "stages" / "s01_numbers" / "stage.toml"
    manifest.write_text(f'feedback = "{level}"\n' + manifest.read_text(encoding="utf-8"), encoding="utf-8")


def test_terminal_document_and_hint_name_the_loop_and_its_line(hanging: Place, tmp_path: Path) -> None:
    file = tmp_path / "check.json"
    done = hanging.run("check", "s01", "--isolation", "process", "--format", f"json={file}", COLUMNS="80")
    assert done.code == 1
    said = " ".join(done.out.split())
    assert SAID.replace("`", "") in said.replace("`", "") and "numbers_.py:9" in done.out
    assert "did not return within 1 s" in said
    double, quadruple = json.loads(file.read_text(encoding="utf-8"))["criteria"]
    assert (double["status"], quadruple["status"]) == ("timed_out", "blocked")
    first = double["failures"][0]
    assert first["where"].endswith("numbers_.py:9") and first["cause"]["text"] == SAID
    assert (first["cause"]["id"], first["cause"]["criterion"]) == ("long-loop", "double")
    assert [each["cause"] for each in double["failures"][1:]] == [None]
    assert "The last check: double was still in the loop of line 9" in " ".join(hanging.run("hint", "s01").out.split())


@pytest.mark.parametrize("level", ["hint", "verdict"])
def test_less_feedback_names_no_cause(hanging: Place, level: str) -> None:
    with_feedback(hanging, level)
    done = hanging.run("check", "s01", "--isolation", "process", "--json")
    (double, _) = done.json["criteria"]
    assert double["status"] == "timed_out" and "still in the loop" not in done.out
    assert not any(each["cause"] for each in double["failures"])


def test_a_module_that_loops_while_it_is_loaded(hanging: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("grader.sandbox.process.LOAD_SECONDS", 1.0)
    hanging.numbers.write_text(f"{NUMBERS}\n\nfor n in iter(int, 1):\n    n = n + 1\n", encoding="utf-8")
    done = hanging.run("check", "s01", "--isolation", "process")
    said = " ".join(done.out.split())
    assert "numbers_.py:16 cannot be graded as it is" in said
    assert "still in the loop of line 16 after 200,000 steps" in said


def test_one_row_is_graded_by_the_name_of_its_function(command: Command) -> None:
    command.small.write_text(RIGHT, encoding="utf-8")
    assert command(*ARGUMENTS, "--only", "halve", "--json") == 0
    assert json.loads(command.out)["only"] == "double"


def test_one_row_is_shown_by_the_name_of_its_function(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    assert command(ARGUMENTS[0], "halve", *ARGUMENTS[1:]) == 1
    assert "✗ 0/2  double is right" in command.out and "nothing is recorded" not in command.err


@pytest.mark.some_of(3, "grader/report", "grader/diagnosis")
@pytest.mark.parametrize(
    ("option", "stage", "level"),
    [
        ((), "", "full"),
        (("--feedback", "hint"), "", "hint"),
        (("--feedback", "verdict"), 'feedback = "hint"', "verdict"),
        (("--feedback", "full"), 'feedback = "hint"', "hint"),
        ((), 'feedback = "verdict"', "verdict"),
    ],
)
def test_the_option_can_only_lower_what_the_stage_allows(
    command: Command, option: tuple[str, ...], stage: str, level: str
) -> None:
    manifest = command.course.stage_folder / "stage.toml"
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(text.replace("requires = []", f"requires = []\n{stage}"), encoding="utf-8")
    command.small.write_text(
        f"{WRONG}    print(x)\n".replace("    return x\n    print(x)", "    print(x)\n    return x")
    )
    assert command(*ARGUMENTS, "--json", *option) == 1
    assert json.loads(command.out)["feedback"] == level
    assert ("4711" in command.out) == (level == "full")
    assert command(*ARGUMENTS, "--verbose", *option) == 1
    assert ("4711" in command.out) == (level == "full")
    assert command("--all", "--isolation", "process", "--json", *option) == 1
    assert ("4711" in command.out) == (level == "full")


def test_an_unknown_level_of_feedback_is_named(command: Command) -> None:
    assert command(*ARGUMENTS, "--feedback", "nothing") == 2
    assert "Choose full, hint or verdict." in command.err


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("grader check --format j", {"json", "junit"}),
        ("grader check --format github,gr", {"github,gradescope"}),
        ("grader check --feedback v", {"verdict"}),
    ],
)
def test_the_shell_completes_formats_and_levels(command: Command, words: str, expected: set[str]) -> None:
    command.context.setenv("_GRADER_COMPLETE", "complete_bash")
    command.context.setenv("COMP_WORDS", words)
    command.context.setenv("COMP_CWORD", str(len(words.split()) - 1))
    command()
    assert set(command.out.split()) == expected


OPTIONS = ("grader check s15", False, None, False)
BARE = replace(
    VERDICT,
    criteria=tuple(
        replace(row, failures=tuple(replace(each, diagnosis=None, where=None) for each in row.failures))
        for row in VERDICT.criteria
    ),
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    return capsys


def printed(terminal: pytest.CaptureFixture[str]) -> str:
    """Return what was printed meanwhile, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.readouterr().out)


def test_the_checklist_comes_first_and_once(terminal: pytest.CaptureFixture[str]) -> None:
    page, line = CheckScreen(*OPTIONS), io.StringIO()
    ahead = page.ahead(Ticker(line, "s15", Look(100)), lambda verdict: verdict)
    assert ahead is not None
    ahead(BARE)
    first = printed(terminal)
    assert "split_heads reshapes" in first and "split_heads(" not in first
    assert line.getvalue().rstrip().endswith(f"s15 · {SEARCHING}")
    page.show(VERDICT)
    rest = printed(terminal)
    assert first + rest == text_of(verdict_lines(VERDICT, Style(Look(100), *OPTIONS)))
    assert DIAGNOSIS.text in " ".join(rest.split())


def test_a_checklist_that_became_another_is_printed_again(terminal: pytest.CaptureFixture[str]) -> None:
    page = CheckScreen(*OPTIONS)
    ahead = page.ahead(Ticker(io.StringIO(), "s15", Look(100)), lambda verdict: verdict)
    assert ahead is not None
    ahead(replace(BARE, criteria=BARE.criteria[:2]))
    terminal.readouterr()
    page.show(VERDICT)
    assert printed(terminal) == text_of(verdict_lines(VERDICT, Style(Look(100), *OPTIONS)))


def test_what_may_not_be_told_is_not_told_ahead(terminal: pytest.CaptureFixture[str]) -> None:
    page = CheckScreen(*OPTIONS)
    ahead = page.ahead(Ticker(io.StringIO(), "s15", Look(100)), lambda verdict: replace(verdict, title="Lowered"))
    assert ahead is not None
    ahead(BARE)
    assert printed(terminal).startswith("s15 · Lowered")


def test_where_nobody_watches_nothing_is_printed_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    ticker = Ticker(io.StringIO(), "s15", Look(100))
    assert CheckScreen(*OPTIONS).ahead(ticker, lambda verdict: verdict) is None  # a pipe
    assert CheckScreen(*OPTIONS).ahead(None, lambda verdict: verdict) is None


STRICT = NUMBERS.replace(
    "    return 2 * x", '    if isinstance(x, str):\n        raise ValueError("text")\n    return 2 * x'
)
REFUSAL = """

@pytest.mark.refusals
@pytest.mark.criterion("double")
@pytest.mark.parametrize("text", ["a", "b"])
def test_text_is_refused(learner, text):
    with pytest.raises(ValueError):
        learner.double(text)
"""
CLASS = ("--stage", "s01", "--isolation", "process", "--require-isolation", "process", "--jobs", "1")
PUBLIC, HIDDEN = "stages/s01_numbers/tests/test_double.py", "hidden/s01_numbers/test_hidden_double.py"


@pytest.fixture
def asking(place: Place) -> Place:
    """A course whose first criterion asks for refusals, of which a learner knows nothing yet."""
    (place.root / "hidden" / "s01_numbers" / "solution.py").write_text(STRICT, encoding="utf-8")
    for name, more in {PUBLIC: REFUSAL, HIDDEN: ""}.items():
        text = (place.root / name).read_text(encoding="utf-8")
        text = text.replace("@pytest.mark.criterion", "@pytest.mark.values\n@pytest.mark.criterion")
        (place.root / name).write_text(text + more, encoding="utf-8")
    place.numbers.write_text(NUMBERS, encoding="utf-8")
    return place


def all_tests_count(place: Place) -> None:
    project = place.root / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("[tool.grader]", '[tool.grader]\npasses = "all"'), encoding="utf-8")


def test_it_passes_opens_the_next_stage_and_is_told_what_is_missing(asking: Place) -> None:
    done = asking.run("check", "s01", "--isolation", "process")
    assert (done.code, asking.recorded) == (0, {"s01"})
    lines = done.out.splitlines()
    assert "2 of 2 criteria · 1 robust   " + "█" * 20 in lines[0]
    assert next(line for line in lines if "double is right" in line).startswith("✓ ")
    assert "2 of 2 refusals missing" in done.out and "✗" not in done.out and "ValueError" in done.out
    assert "s01 has passed. Unlocked: s02 (Sums)" in " ".join(done.err.split())
    status = asking.run("status").out
    assert "passed · 1 of 2 criteria robust" in status and "→ s02 · Sums" in status
    (first, _) = asking.run("status", "--json").json["stages"]
    assert (first["state"], first["counts"]) == ("passed", {"criteria": 2, "passed": 2, "robust": 1})
    following = asking.run("next", "s01")
    assert "The last check of s01: 2 of 2 criteria · 1 robust." in following.err
    cause = "double accepts a call that it has to refuse with ValueError"
    assert f"s01 double: {cause}" in " ".join(following.err.split())
    assert f"The last check: {cause}" in " ".join(asking.run("hint", "s01", "double").out.split())


def test_json_counts_it_for_each_criterion_and_the_stage(asking: Place) -> None:
    done = asking.run("check", "s01", "--isolation", "process", "--json")
    found = done.json
    assert (done.code, found["schema"], found["passed"], found["robust"]) == (0, 3, True, False)
    assert (found["passes"], found["counts"]) == ("mathematics", {"criteria": 2, "passed": 2, "robust": 1})
    double, quadruple = found["criteria"]
    assert (double["status"], double["robust"], quadruple["robust"]) == ("passed", False, True)
    assert double["robustness"] == {"tests_passed": 0, "tests_total": 2}
    assert {each["kind"] for each in double["failures"]} == {"refusals"}
    assert all(each["cause"]["id"].startswith("refusal-") for each in double["failures"])


def test_a_course_may_let_all_tests_count(asking: Place) -> None:
    all_tests_count(asking)
    done = asking.run("check", "s01", "--isolation", "process")
    assert (done.code, asking.recorded) == (1, set())
    assert "1 of 2 criteria   " in done.out.splitlines()[0]
    assert not any(line.startswith("✓") and "double is right" in line for line in done.out.splitlines())
    asking.numbers.write_text(STRICT, encoding="utf-8")
    assert asking.run("check", "s01", "--isolation", "process").code == 0


def test_an_unknown_word_is_refused(asking: Place) -> None:
    project = asking.root / "pyproject.toml"
    text = project.read_text(encoding="utf-8")
    project.write_text(text.replace("[tool.grader]", '[tool.grader]\npasses = "most"'), encoding="utf-8")
    done = asking.run("check", "s01")
    assert done.code == 4 and "tool.grader.passes: 'most' is not mathematics or all" in done.err


def test_what_passed_earlier_stays_passed_where_all_tests_count_now(asking: Place) -> None:
    asking.run("check", "s01", "--isolation", "process")
    all_tests_count(asking)
    assert asking.recorded == {"s01"} and "→ s02 · Sums" in asking.run("status").out


def graded(place: Place, out: Path, *more: str) -> dict[str, tuple[bool, float | None, int | None]]:
    """Grade a class of two; return who passes, the points, and how many criteria are robust."""
    handed = place.root / "handed"
    handed.mkdir(exist_ok=True)
    (handed / "ada.py").write_text(NUMBERS, encoding="utf-8")
    (handed / "bob.py").write_text(STRICT, encoding="utf-8")
    done = place.process("class", "grade", str(handed), *CLASS, "--out", str(out), *more)
    assert done.code == 0, done.err
    with Gradebook.open(out) as book:
        return {each.student: (each.passed, each.points, each.counts.get("robust")) for each in table(book)}


@pytest.mark.full_matrix("grader/gradebook", "grader/criterion.py")
def test_a_class_follows_the_course_unless_class_toml_says_otherwise(asking: Place, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert graded(asking, out) == {"ada": (True, 2.0, 1), "bob": (True, 2.0, 2)}
    rows = asking.process("class", "export", "--out", str(out), "--format", "csv").out.splitlines()
    ada = dict(next(csv.DictReader(rows)))
    assert (ada["criteria"], ada["criteria_passed"], ada["criteria_robust"]) == ("2", "2", "1")
    told = asking.process("class", "export", "--out", str(out), "--format", "moodle", "--stage", "s01").out
    assert "2 of 2 criteria · 1 robust" in told
    (out / "class.toml").write_text('passes = "all"\npartial = "kinds"\nkinds = { values = 3, refusals = 1 }\n')
    again = asking.process("class", "regrade", *CLASS[:-2], "--out", str(out), "--apply", "--reason", "stricter")
    assert again.code == 0 and "ada s01: 2 → 1.75 of 2" in again.out, again.err
    with Gradebook.open(out) as book:  # without class.toml: what it said is kept
        found = {each.student: (each.passed, each.points) for each in table(book)}
    assert found == {"ada": (False, 1.75), "bob": (True, 2.0)}


@pytest.mark.full_matrix("grader/gradebook", "grader/criterion.py")
def test_a_class_may_ask_for_less_than_its_course(asking: Place, tmp_path: Path) -> None:
    all_tests_count(asking)
    assert graded(asking, tmp_path / "out") == {"ada": (False, 1.0, 1), "bob": (True, 2.0, 2)}
    policy = tmp_path / "class.toml"
    policy.write_text('[stages.s01]\npasses = "mathematics"\n', encoding="utf-8")
    assert graded(asking, tmp_path / "other", "--policy", str(policy)) == {"ada": (True, 2.0, 1), "bob": (True, 2.0, 2)}


def test_a_refusal_that_never_ends_costs_no_test_that_counts(asking: Place) -> None:
    """Tests of a row that timed out are left out, but none that counts for one of its robustness."""
    manifest = asking.root / "stages" / "s01_numbers" / "stage.toml"
    manifest.write_text(manifest.read_text(encoding="utf-8") + "\n[limits]\ncall_seconds = 1.0\n", encoding="utf-8")
    endless = NUMBERS.replace("    return 2 * x", "    while isinstance(x, str):\n        pass\n    return 2 * x")
    asking.numbers.write_text(endless, encoding="utf-8")
    done = asking.run("check", "s01", "--isolation", "process", "--json")
    assert (done.code, done.json["counts"]) == (0, {"criteria": 2, "passed": 2, "robust": 1})
    assert [each["status"] for each in done.json["criteria"][0]["failures"]] == ["timed_out", "timed_out"]
