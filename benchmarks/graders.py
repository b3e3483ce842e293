"""The commands of this grader, and of the graders that it is measured beside, for the same tests and the same module.

The others start a process for each submission, with the stage's public and hidden tests in one folder beside the
submitted module:

- `pytest` is plain pytest with `-n0` and the plugins of this environment, which `uv sync` makes;
- `pytest alone` loads no plugin but the one that the tests need, as where only the grader is installed;
- `pytest-json-report` is `pytest` with that plugin;
- `gradescope-utils` is `python run_tests.py`: unittest with its JSONTestRunner, without pytest's runner.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import sysconfig
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path

from benchmarks.processor import BenchmarkError
from grader.course.answers import hidden_folder, reference_source
from grader.course.stage import Course, Stage

OTHERS = ("pytest", "pytest alone", "pytest-json-report", "gradescope-utils")
PACKAGES = {"pytest-json-report": "pytest_jsonreport", "gradescope-utils": "gradescope_utils"}
POLICY = 'schema = 1\nlend = "always"\n'
CASES = Path(__file__).with_name("unittest_cases.py")
RUN_TESTS = """\
import sys
import unittest
from pathlib import Path

from gradescope_utils.autograder_utils.json_test_runner import JSONTestRunner

sys.path.insert(0, str(Path(__file__).parents[2]))  # the modules of earlier stages

if __name__ == "__main__":
    suite = unittest.defaultTestLoader.discover("tests", pattern="case_*.py")
    with open("results.json", "w") as stream:
        result = JSONTestRunner(visibility="visible", stream=stream).run(suite)
    sys.exit(not result.wasSuccessful())
"""
CASE = """\
from unittest_cases import cases

Tests = cases("{module}", "{tests}")
"""


def grader(*arguments: str | Path) -> list[str]:
    """Return a command of this grader, as a user starts it."""
    return [str(Path(sysconfig.get_path("scripts")) / "grader"), *map(str, arguments)]


def check(stage: Stage, module: Path, isolation: str = "auto") -> list[str]:
    """Return the command that checks a module; references stand in for the modules of earlier stages."""
    options = ("--submission", module, "--lend", "always", "--isolation", isolation, "--json")
    return grader("check", stage.id, *options)


def class_grade(stage: Stage, submissions: Path, out: Path, jobs: int, isolation: str = "auto") -> list[str]:
    """Return the command that grades a folder into a new gradebook."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "class.toml").write_text(POLICY, encoding="utf-8")
    options = ("--out", out, "--jobs", str(jobs), "--isolation", isolation, "--require-isolation", "process", "--json")
    return grader("class", "grade", submissions, "--stage", stage.id, "--proceed", *options)


def folders(course: Course) -> list[str]:
    """Return the names of the folders that a course has beside its stages."""
    settings = course.settings
    demo = Path(settings.demo.file).parts[0] if settings.demo is not None else None
    return [name for name in (settings.hidden, settings.drawings, demo) if name and (course.root / name).is_dir()]


def installed(names: Sequence[str] = OTHERS) -> list[str]:
    """Return those of the other graders that are installed here."""
    return [name for name in names if name not in PACKAGES or importlib.util.find_spec(PACKAGES[name])]


class OtherGraders:
    """A copy of a course in which each of the other graders can grade one module of a stage after the other."""

    def __init__(self, course: Course, stage: Stage, folder: Path) -> None:
        self.stage = stage
        self.root = folder
        self._copy(course)
        self.submit(reference_source(stage))

    def submit(self, text: str) -> None:
        """Put a submission in the place of the one before."""
        self._module.write_text(text, encoding="utf-8")

    def command(self, name: str) -> tuple[list[str], Path]:
        """Return the command of a grader and the folder that it runs in; BenchmarkError where it is not installed."""
        if not installed([name]):
            raise BenchmarkError(f"{name} is not installed", "Use `uv run --group benchmarks python -m benchmarks`.")
        if name == "gradescope-utils":
            return [sys.executable, "run_tests.py"], self._own
        blocked = [] if name == "pytest-json-report" else ["-p", "no:pytest_jsonreport", "-p", "no:metadata"]
        command = [sys.executable, "-m", "pytest", "-c", "pytest.ini", "-p", "no:cacheprovider", *blocked]
        if name == "pytest alone":
            command = ["env", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1", *command, "-p", "grader.judging.plugin"]
        else:
            command.append("-n0")
        if name == "pytest-json-report":
            command += ["--json-report", "--json-report-file=report.json"]
        return [*command, str(self._tests.relative_to(self.root))], self.root

    @cached_property
    def _own(self) -> Path:
        return self.root / "stages" / self.stage.name

    @property
    def _tests(self) -> Path:
        return self._own / "tests"

    @property
    def _module(self) -> Path:
        return self._own / self.stage.module

    def _copy(self, course: Course) -> None:
        """Copy the stage with its hidden tests, and the stages that it builds on with their references."""
        self.root.mkdir(parents=True, exist_ok=True)
        shutil.copy(course.root / "pyproject.toml", self.root)
        (self.root / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib -q\n", encoding="utf-8")
        for name in folders(course):
            os.symlink(course.root / name, self.root / name)
        ignored = shutil.ignore_patterns("__pycache__", "pictures")
        (self.root / "stages").mkdir()
        for each in course.stages:
            copy = self.root / "stages" / each.name
            if each in (*self.stage.builds_on, self.stage):
                shutil.copytree(each.folder, copy, ignore=ignored)
                (copy / each.module).write_text(reference_source(each), encoding="utf-8")
            else:
                os.symlink(each.folder, copy)
        for test in sorted(hidden_folder(self.stage).glob("test_*.py")):
            shutil.copy(test, self._tests)
        shutil.copy(CASES, self._own)
        (self._own / "run_tests.py").write_text(RUN_TESTS, encoding="utf-8")
        for test in sorted(self._tests.glob("test_*.py")):
            text = CASE.format(module=self.stage.module, tests=f"tests/{test.name}")
            (self._tests / f"case_{test.stem.removeprefix('test_')}.py").write_text(text, encoding="utf-8")
