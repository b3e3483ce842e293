"""The repository itself: its workflow is valid, its pages keep their size, and its two commands stand in the README."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from grader.tests.support.places import ROOT


def test_workflows_are_valid_against_the_published_schema() -> None:
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    assert workflows
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(("page", "lines"), [("README.md", 150), ("CONTRIBUTING.md", 80)])
def test_pages_keep_their_size(page: str, lines: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= lines


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "stages/README.md"])
def test_links_between_pages_lead_somewhere(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    targets = [link for link in re.findall(r"\]\(([^)#]+)", text) if not link.startswith("http")]
    assert [target for target in targets if not ((ROOT / page).parent / target).exists()] == []


def test_everyone_gets_the_same_lock_without_committing_it() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", settings["exclude-newer"])
    assert "uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_check_script_parses() -> None:
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=False).returncode == 0
