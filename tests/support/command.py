"""The command `grader` in a small course: in an interpreter of its own, or in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest

from grader import cli
from grader.course.stub import stub_of
from grader.progress.store import Store
from tests.support.places import HOUSE

PACKAGE = HOUSE
RUN = "import sys; from grader.cli import main; sys.argv[0] = 'grader'; main()"
PROJECT = """\
[tool.grader]
title = "Small numbers"
packages = ["numpy"]
demo = { stage = "s01", file = "demo/numbers_.py" }
"""
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

    def run(self, *arguments: str, folder: Path | None = None, **environment: str) -> Done:
        """Run the command in the course and return what it printed; never with a traceback.

        It runs in this process, which has imported everything already, and shares its zygotes.
        """
        variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "LANG", "LC_ALL")}
        done = _in_this_process(arguments, folder or self.root, {**variables, "COLUMNS": "100", **environment})
        assert "Traceback" not in done.err, done.err
        return done

    def process(self, *arguments: str, folder: Path | None = None, code: str = RUN, **environment: str) -> Done:
        """Run the command in an interpreter of its own, which imports the copy of the grader."""
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


def _in_this_process(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Done:
    """Run the command with streams, a folder and an environment of its own; as after a start, no error is pending."""
    with pytest.MonkeyPatch.context() as context, warnings.catch_warnings(), ExitStack() as files:
        warnings.resetwarnings()
        out, err = (files.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(2))
        nothing = files.enter_context(open(os.devnull, encoding="utf-8"))
        for name, stream in (("stdin", nothing), ("stdout", out), ("stderr", err)):
            context.setattr(sys, name, stream)
        context.setattr(sys, "argv", ["grader", *arguments])
        context.chdir(folder)
        for name in os.environ.keys() - variables.keys():
            context.delenv(name)
        for name, value in variables.items():
            context.setenv(name, value)
        with pytest.raises(SystemExit) as left:
            cli.main()
        for stream in (out, err):
            stream.seek(0)
        return Done(int(left.value.code or 0), out.read(), err.read())


def write_stage(root: Path, number: int, module: str, title: str, solution: str, requires: list[str]) -> None:
    names = [line.split("(")[0].removeprefix("def ") for line in solution.splitlines() if line.startswith("def ")]
    folder = f"s{number:02}_{title.lower()}"
    stage, hidden = root / "stages" / folder, root / "hidden" / folder
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


@dataclass
class Command:
    """The command in this process, in the current folder."""

    capsys: pytest.CaptureFixture[str]
    monkeypatch: pytest.MonkeyPatch

    def __call__(self, *arguments: str) -> Done:
        self.monkeypatch.setattr(sys, "argv", ["grader", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = self.capsys.readouterr()
        return Done(int(left.value.code or 0), captured.out, captured.err)


class Here(Command):
    """The command in this process, with its course as the current folder."""

    def __init__(self, place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        super().__init__(capsys, monkeypatch)
        self.place = place
