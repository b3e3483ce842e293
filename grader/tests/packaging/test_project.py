"""The repository itself: its workflow is valid, its lock is everyone's, and its check is a script."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

from grader.tests.support.places import ROOT


def test_workflows_are_valid_against_the_published_schema() -> None:
    workflows = sorted(map(str, (ROOT / ".github" / "workflows").glob("*.yml")))
    assert workflows
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows", *workflows]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_everyone_gets_the_same_lock_without_committing_it() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["uv"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", settings["exclude-newer"])
    assert "uv.lock" in (ROOT / ".gitignore").read_text(encoding="utf-8").splitlines()


def test_the_check_script_parses() -> None:
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "run")], check=False).returncode == 0
