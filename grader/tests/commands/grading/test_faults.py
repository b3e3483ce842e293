"""What is told where nothing can be graded or recorded: exit codes, and an error in each format, never a zero."""

from __future__ import annotations

import base64
import errno
import json
import os

import pytest
from junitparser import JUnitXml

from grader.errors import CourseError, IsolationRefused
from grader.tests.commands.grading.typed import ARGUMENTS, RIGHT, WRONG, Command


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

    command.context.setattr("grader.progress.workspace.open_workspace", broken)
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
