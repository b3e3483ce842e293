"""requirements-dev.txt: held equal to the lock, without the name of an index, and moved on by a script."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.tests.support.places import ROOT
from grader.tests.support.workflows import needs_bash, read, steps

SCRIPTS = ("requirements.py", "bump.py")
LOCKED = "one==1.0 ; python_full_version < '3.12' \\\n    --hash=sha256:0a \\\n    --hash=sha256:0b\n    # via two\n"
Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run one of the scripts in a repository, with a uv that exports the text of `locked` and notes its calls."""
    for name in (".ci", "bin"):
        (tmp_path / name).mkdir()
    for script in SCRIPTS:
        shutil.copy(ROOT / ".ci" / script, tmp_path / ".ci")
    (tmp_path / "locked").write_text(LOCKED, encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text('[tool.uv]\nexclude-newer = "2026-11-14T00:00:00Z" # why\n', "utf-8")
    uv = tmp_path / "bin" / "uv"
    uv.write_text('#!/bin/sh\necho "$*" >>called\ntest "$1" = lock || cat locked\n', encoding="utf-8")
    uv.chmod(0o755)

    def started(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(tmp_path / ".ci" / script), *arguments]
        variables = {**os.environ, "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"}
        return subprocess.run(command, env=variables, capture_output=True, text=True, check=False)

    return started


def test_the_committed_file_names_no_place_and_has_a_hash_for_every_package() -> None:
    text = (ROOT / "requirements-dev.txt").read_text(encoding="utf-8")
    assert "://" not in text and not re.search(r"^\s*-(?!-hash=)|\s@\s", text, re.MULTILINE)
    packages = re.findall(r"^([a-z][^\s=]*)==\S+(?: ; .*)? \\\n    --hash=sha256:[0-9a-f]{64}", text, re.MULTILINE)
    assert {"numpy", "pytest", "hypothesis", "ruff", "hatchling"} <= set(packages)
    assert len(packages) == len(re.findall(r"^[^#\s]", text, re.MULTILINE))
    assert not {"attention-grader", "mkdocs"} & set(packages)


@needs_bash
def test_the_file_is_written_and_then_equals_the_lock(run: Run, tmp_path: Path) -> None:
    done = run("requirements.py", "--check")
    assert done.returncode == 1 and "differs from the lock in one. Run `uv run" in done.stderr
    assert run("requirements.py").returncode == 0
    assert (tmp_path / "requirements-dev.txt").read_text(encoding="utf-8").endswith(LOCKED)
    assert run("requirements.py", "--check").returncode == 0


@needs_bash
@pytest.mark.parametrize(
    ("old", "new", "code"),
    [
        ("# via two", "# via three", 0),
        ("==1.0", "==1.1", 1),
        ("sha256:0b", "sha256:0c", 1),
        (" \\\n    --hash=sha256:0b", "", 1),
        ("3.12", "3.13", 1),
        (LOCKED, f"{LOCKED}two==2 --hash=sha256:0d\n", 1),
    ],
)
def test_a_version_a_hash_or_a_package_makes_a_difference(
    run: Run, tmp_path: Path, old: str, new: str, code: int
) -> None:
    run("requirements.py")
    (tmp_path / "locked").write_text(LOCKED.replace(old, new), encoding="utf-8")
    assert run("requirements.py", "--check").returncode == code


@needs_bash
@pytest.mark.parametrize(
    "line", ["--index-url https://example.org/simple", "-e .", "two @ file:///somewhere", "two @ ../two"]
)
def test_a_lock_with_a_place_in_it_is_never_written(run: Run, tmp_path: Path, line: str) -> None:
    (tmp_path / "locked").write_text(f"{LOCKED}{line}\n", encoding="utf-8")
    done = run("requirements.py")
    assert done.returncode == 1 and "names a place in line 6" in done.stderr
    assert not (tmp_path / "requirements-dev.txt").exists()


@needs_bash
def test_the_day_is_moved_on_and_the_file_written(run: Run, tmp_path: Path) -> None:
    done = run("bump.py", "2026-11-20")
    assert (done.returncode, done.stdout) == (0, "exclude-newer: 2026-11-14 -> 2026-11-20\n")
    assert 'exclude-newer = "2026-11-20T00:00:00Z" # why\n' in (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    assert (tmp_path / "requirements-dev.txt").is_file()
    assert (tmp_path / "called").read_text(encoding="utf-8").startswith("lock --quiet --upgrade\nexport ")


@needs_bash
@pytest.mark.parametrize(("day", "said"), [("soon", "date: soon, expected one such as"), ("2026-11-13", "none before")])
def test_a_day_that_is_none_or_lies_before_changes_nothing(run: Run, tmp_path: Path, day: str, said: str) -> None:
    text = (tmp_path / "pyproject.toml").read_text(encoding="utf-8")
    done = run("bump.py", day)
    assert done.returncode == 2 and said in done.stderr
    assert (tmp_path / "pyproject.toml").read_text(encoding="utf-8") == text
    assert not (tmp_path / "called").exists()


@needs_bash
def test_the_day_stays_where_it_was_if_nothing_can_be_locked(run: Run, tmp_path: Path) -> None:
    (tmp_path / "bin" / "uv").write_text("#!/bin/sh\nexit 3\n", encoding="utf-8")
    assert run("bump.py", "2026-11-20").returncode == 3
    assert "2026-11-14" in (tmp_path / "pyproject.toml").read_text(encoding="utf-8")


def test_the_check_installs_by_hash_and_a_job_proposes_a_newer_day() -> None:
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert re.search(r"^uv pip sync .*--require-hashes .*requirements-dev\.txt$", script, re.MULTILINE)
    runs = [each.get("run", "") for _, each in steps(read(ROOT / ".github" / "workflows" / "bump.yml"))]
    first, check = (next(at for at, run in enumerate(runs) if words in run) for words in (".ci/bump.py", ".ci/run"))
    assert first < check
