"""The command `grader` in a small course: in an interpreter of its own, in a fork of this process, or in this one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import traceback
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn

import pytest

from grader import cli
from grader.course.stub import stub_of
from grader.isolation import tiers
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

        It is a process of its own, and where this one can be forked one that has imported everything already.
        """
        if not tiers.FORKS:
            return self.process(*arguments, folder=folder, **environment)
        variables = {key: value for key, value in os.environ.items() if key not in ("NO_COLOR", "LANG", "LC_ALL")}
        done = _forked(arguments, folder or self.root, {**variables, "COLUMNS": "100", **environment})
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


def _forked(arguments: Sequence[str], folder: Path, variables: Mapping[str, str]) -> Done:
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of forks beside threads: no thread of the tests holds a lock for long
            process = os.fork()
        if process == 0:
            _be_the_command(arguments, folder, variables, out.fileno(), err.fileno())
        _, status = os.waitpid(process, 0)
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8"))
        return Done(os.waitstatus_to_exitcode(status), *texts)


def _be_the_command(
    arguments: Sequence[str], folder: Path, variables: Mapping[str, str], out: int, err: int
) -> NoReturn:
    """Run the command in this process, a fork, and end it; nothing of pytest goes on in it."""
    code: object = 1
    try:
        for number, file in enumerate((os.open(os.devnull, os.O_RDONLY), out, err)):
            os.dup2(file, number)
        sys.stdin, sys.stdout, sys.stderr = (
            os.fdopen(number, mode, encoding="utf-8", closefd=False) for number, mode in enumerate("rww")
        )
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(variables)
        warnings.resetwarnings()
        sys.argv = ["grader", *arguments]
        cli.main()
        code = 0
    except SystemExit as left:
        code = left.code
    except BaseException:
        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        os._exit(code if isinstance(code, int) else 0 if code is None else 1)


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
