"""`grader check --format` and `--feedback`, as they are typed: reports, exit codes, and who may hear what."""

from __future__ import annotations

import base64
import errno
import json
import os
import re
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml

from grader import cli
from grader.errors import CourseError, IsolationRefused
from grader.progress.actions import Workspace
from grader.progress.store import Store
from grader.tests.conftest import SmallCourse
from grader.tests.support.places import HOUSE
from grader.tests.support.verdicts import obeyed_by_a_runner

SCHEMAS = HOUSE / "report"
MANIFEST = """
    schema = 1
    id = "s90"
    title = "Small things"
    module = "small.py"
    requires = []

    [[criteria]]
    id = "double"
    text = "double doubles"
    functions = ["double", "halve"]
    needs = []
    hints = ["a", "b", "c"]
"""
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
    monkeypatch.setattr(
        "grader.progress.actions.open_workspace", lambda *_: Workspace(small_course.course, Store(tmp_path))
    )
    monkeypatch.setenv("COLUMNS", "100")
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_WORKSPACE", "CLASSROOM", "LANG", "LC_ALL", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(small_course, tmp_path, monkeypatch, capsys)


ARGUMENTS = ("s90", "--isolation", "process", "--seed", "5")


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
        "::error file=stages/s90_small/small.py,line=3,title=s90 double::double doubles: 0 of 2"
    )
    assert "✗ double doubles" in command.out
    assert r"#\x23[add-mask]1" in command.out


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
    command.context.setattr("grader.course.provenance.provenance_of", None)
    assert command(*ARGUMENTS) == 0
    assert "NumPy" not in command.out
    assert command(*ARGUMENTS, "--student", "\x1b[2J") == 2
    assert "cannot be the name of a student" in command.err


def test_one_row_is_graded_by_the_name_of_its_function(command: Command) -> None:
    command.small.write_text(RIGHT, encoding="utf-8")
    assert command(*ARGUMENTS, "--only", "halve", "--json") == 0
    assert json.loads(command.out)["only"] == "double"


def test_one_row_is_shown_by_the_name_of_its_function(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    assert command(*ARGUMENTS, "--row", "halve") == 1
    assert "✗ double doubles" in command.out and "nothing is recorded" not in command.err


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

    command.context.setattr("grader.progress.actions.open_workspace", broken)
    file = command.folder / "junit.xml"
    file.write_text("all green", encoding="utf-8")
    assert command(*ARGUMENTS, "--format", f"junit={file}") == 4
    assert not file.exists()


def test_all_stages_stand_in_one_report(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    file = command.folder / "j.xml"
    assert command("--all", "--isolation", "process", "--format", f"junit={file}") == 1
    assert [suite.name for suite in JUnitXml.fromstring(file.read_bytes())] == ["s90 · Small things"]
    assert "All stages" in command.out


def test_a_fault_among_all_stages_is_an_error_too(command: Command) -> None:
    def grade(*_: object) -> None:
        raise IsolationRefused("isolation bubblewrap is unavailable")

    command.context.setattr("grader.judging.grading.grade", grade)
    command.small.write_text(WRONG, encoding="utf-8")
    file = command.folder / "v.json"
    assert command("--all", "--format", f"json={file}") == 4
    found = json.loads(file.read_text(encoding="utf-8"))
    assert (found["passed"], found["verdicts"][0]["faults"]) == (False, ["isolation bubblewrap is unavailable"])


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
