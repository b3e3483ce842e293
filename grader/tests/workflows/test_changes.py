"""The changelog: a page for the first version, and a file for each change since then."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from grader.tests.support.places import ROOT

KINDS = ("added", "changed", "fixed", "removed")
CHANGES = sorted(path for path in (ROOT / "changes").iterdir() if path.name != "README.md")


def draft(root: Path) -> subprocess.CompletedProcess[str]:
    """Return what towncrier would add to the changelog of a repository."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9", "--date", "2030-01-01"]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)


@pytest.mark.parametrize("path", CHANGES, ids=lambda path: path.name)
def test_a_change_is_one_line_of_a_known_kind(path: Path) -> None:
    assert re.fullmatch(rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", path.name)
    text = path.read_text(encoding="utf-8")
    assert re.fullmatch(r"[^\s\-#][^\n]{20,400}[.!]\n", text), "one line, a sentence or two, without a bullet"


def test_every_change_comes_into_the_changelog() -> None:
    done = draft(ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## 9.9 (2030-01-01)\n") or not CHANGES
    assert [path.name for path in CHANGES if f"- {path.read_text(encoding='utf-8').strip()}" not in done.stdout] == []


def test_a_file_whose_name_says_no_kind_is_refused(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    (tmp_path / "changes" / "+more.better.md").write_text("More is better.\n", encoding="utf-8")
    done = draft(tmp_path)
    assert done.returncode != 0 and "+more.better.md" in done.stdout + done.stderr


def test_the_page_says_what_it_is_and_which_kinds_there_are() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    assert tuple(kind["directory"] for kind in settings["type"]) == KINDS
    page = (ROOT / "changes" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in page for kind in KINDS)


def test_the_first_version_has_a_page_and_no_more() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (first,) = re.findall(r"^## 0\.1\.0 .*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(first.splitlines()) <= 60
    assert "<!-- towncrier release notes start -->\n" in text
