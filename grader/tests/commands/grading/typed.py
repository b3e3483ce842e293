"""`grader check` as it is typed in this process, on a course of one small stage."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.tests.conftest import SmallCourse

ARGUMENTS = ("s90", "--isolation", "process", "--seed", "5")
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
