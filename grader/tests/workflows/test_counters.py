"""The counters of .ci/counters.py: each finds what it counts, and a number that rises fails the check."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grader.tests.support.places import ROOT

MODULES = {
    "__init__.py": '"""A grader."""\n',
    "one/__init__.py": '"""What a room is for."""\n',
    "one/same.py": '"""Whether it is the same."""\n\nfrom grader.two import used\n\nclass Plan: pass\n',
    "two/__init__.py": '"""A room."""\n',
    "two/same.py": '"""Whatever it is."""\n\nif True:\n    class Plan: pass\n\ndef long():\n' + "    x = 1\n" * 60,
    "two/used.py": '"""A part of `one`."""\n\nclass Once:\n    class Inner: pass\n',
    "tests/same.py": '"""How it is tested."""\n\nclass Plan: pass\nclass Once: pass\n',
}
COUNTED = {
    "shared-types": ["Plan: grader/one/same.py:5, grader/two/same.py:4"],
    "shared-modules": ["same: grader/one/same.py, grader/two/same.py"],
    "small-modules": ["grader/two/used.py (4 lines): grader.one.same"],
    "long-functions": ["grader/two/same.py:6 long (61 lines)"],
    "questions": ["grader/one/__init__.py: What a room is for.", "grader/one/same.py: Whether it is the same."],
}
MOST = "".join(f"{name} = {len(found)}\n" for name, found in COUNTED.items())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a small grader, the script, and the numbers as they are."""
    for name, text in MODULES.items():
        (tmp_path / "grader" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "grader" / name).write_text(text, encoding="utf-8")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "counters.py", tmp_path / ".ci")
    (tmp_path / ".ci" / "counters.toml").write_text(MOST, encoding="utf-8")
    return tmp_path


def run(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(root / ".ci" / "counters.py"), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", COUNTED)
def test_each_counter_lists_what_it_counts(root: Path, name: str) -> None:
    assert run(root, "--list", name) == (0, "".join(f"{line}\n" for line in COUNTED[name]))


def test_a_number_that_rises_fails_and_cannot_be_written(root: Path) -> None:
    assert run(root) == (0, "")
    (root / "grader" / "one" / "used.py").write_text('"""Why another one."""\n', encoding="utf-8")
    for arguments in ((), ("--write",)):
        code, said = run(root, *arguments)
        assert code == 1
        assert "shared-modules: 2, and 1 is the most." in said and "questions: 3, and 2 is the most." in said
        assert "shared-types" not in said


def test_a_number_that_falls_is_said_and_then_kept(root: Path) -> None:
    (root / "grader" / "one" / "same.py").unlink()
    code, said = run(root)
    assert code == 0 and "shared-types from 1 to 0" in said
    assert run(root, "--write") == (0, "")
    values = tomllib.loads((root / ".ci" / "counters.toml").read_text(encoding="utf-8"))
    expected = {"shared-types": 0, "shared-modules": 0, "small-modules": 0, "long-functions": 1, "questions": 1}
    assert values == expected


def test_the_check_counts() -> None:
    assert "python .ci/counters.py\n" in (ROOT / ".ci" / "lint").read_text(encoding="utf-8")
