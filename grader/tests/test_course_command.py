"""`grader course stub` writes what is stale and keeps what stood there; with --check it only says so."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def course(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "stages", tmp_path / "stages", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def grader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from grader.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_what_is_up_to_date_is_left_alone(course: Path) -> None:
    done = grader(course, "course", "stub")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_stale_stub_is_named_by_check_and_written_without(course: Path) -> None:
    stub = course / "stages" / "s01_matrix_operations" / "matrices.py"
    text = stub.read_text(encoding="utf-8")
    stub.write_text("pass\n", encoding="utf-8")
    told = grader(course, "course", "stub", "--check")
    assert told.returncode == 1 and "s01_matrix_operations/matrices.py" in told.stderr
    assert stub.read_text(encoding="utf-8") == "pass\n"
    done = grader(course, "course", "stub", "s01")
    assert done.returncode == 0 and "matrices.py" in done.stdout
    assert stub.read_text(encoding="utf-8") == text
    (kept,) = (course / ".grader" / "backups").rglob("*.py")
    assert kept.read_text(encoding="utf-8") == "pass\n"


def test_an_unknown_stage_is_a_usage_error(course: Path) -> None:
    assert grader(course, "course", "stub", "s99").returncode == 2
