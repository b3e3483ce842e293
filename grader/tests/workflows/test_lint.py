"""The part of the check that runs no test: one script, run by .ci/run and by the pre-commit hook."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from grader.tests.support.places import ROOT
from grader.tests.support.workflows import needs_bash, read

CI = ROOT / ".ci"
TOOLS = (
    "ruff check", "ruff format --check", "mypy", "bandit", "python .ci/spelling.py",
    "python .ci/requirements.py --check", "python .ci/counters.py", "zizmor", "actionlint",
)  # fmt: skip


@needs_bash
@pytest.mark.parametrize("name", ["audit", "lint", "run", "sandbox"])
def test_every_script_of_the_check_is_bash(name: str) -> None:
    assert subprocess.run(["bash", "-n", str(CI / name)], check=False).returncode == 0


def test_the_tests_that_a_script_names_are_there() -> None:
    scripts = [path for path in CI.iterdir() if path.is_file()]
    named = {
        place for path in scripts for place in re.findall(r"\bgrader/tests/[\w/]+(?:\.py)?", path.read_text("utf-8"))
    }
    assert named
    assert [place for place in sorted(named) if not (ROOT / place).exists()] == []


def test_the_check_and_the_hook_run_the_same_script() -> None:
    assert "\nbash .ci/lint " in (CI / "run").read_text(encoding="utf-8")
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    (hook,) = repository["hooks"]
    assert (repository["repo"], hook["language"]) == ("local", "system")
    assert (hook["entry"], hook["pass_filenames"], hook["always_run"]) == ("bash .ci/lint", False, True)


def lint(folder: Path, *programs: str, fails: str = "none", uname: str = "Linux") -> tuple[int, str, str]:
    """Run the script among programs that only note how they are called; return exit code, notes and messages."""
    for name in (".ci", "bin"):
        (folder / name).mkdir()
    (folder / ".ci" / "lint").write_bytes((CI / "lint").read_bytes())
    for program in programs:
        path = folder / "bin" / program
        path.write_text(f'#!/bin/sh\necho "{program} $*" >> called\n[ "$4" != {fails} ]\n', encoding="utf-8")
        path.chmod(0o755)
    system = folder / "bin" / "uname"
    system.write_text(f"#!/bin/sh\necho {uname}\n", encoding="utf-8")
    system.chmod(0o755)
    command = ["bash", str(folder / ".ci" / "lint")]
    path_of_tools = f"{folder / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(command, env={"PATH": path_of_tools}, capture_output=True, text=True, check=False)
    return done.returncode, (folder / "called").read_text(encoding="utf-8"), done.stderr


@needs_bash
def test_each_tool_runs(tmp_path: Path) -> None:
    code, called, _ = lint(tmp_path, "uv")
    assert code == 0
    assert [tool for tool in TOOLS if f"uv run --group dev {tool}" not in called] == []
    assert "uv run --group dev actionlint .github/workflows/" in called


@needs_bash
def test_a_finding_fails_the_check(tmp_path: Path) -> None:
    code, called, _ = lint(tmp_path, "uv", fails="mypy")
    assert code == 1
    assert called.endswith("uv run --group dev mypy\n")


@needs_bash
def test_where_actionlint_has_no_wheel_that_is_said(tmp_path: Path) -> None:
    code, called, messages = lint(tmp_path, "uv", uname="Darwin")
    assert code == 0
    assert "actionlint" not in called and "skipped here" in messages


@needs_bash
@pytest.mark.parametrize(("linted", "tested", "code"), [(0, 0, 0), (1, 0, 1), (0, 3, 3), (1, 3, 1)])
def test_the_check_fails_where_its_lint_or_a_test_does_and_shows_both(
    tmp_path: Path, linted: int, tested: int, code: int
) -> None:
    for name in (".ci", "bin"):
        (tmp_path / name).mkdir()
    for name in ("run", "base"):
        shutil.copy(CI / name, tmp_path / ".ci")
    (tmp_path / ".ci" / "lint").write_text(f"sleep 0.2; echo a line is too long; exit {linted}\n", encoding="utf-8")
    for name, does in (
        ("uv", f'case "$*" in "run --group dev pytest"*) echo a test; exit {tested};; esac'),
        ("bwrap", ""),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "GIT_DIR": str(tmp_path / "none")}
    done = subprocess.run(
        ["bash", ".ci/run"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.splitlines()) == (code, ["a test", "a line is too long"]), done.stderr
