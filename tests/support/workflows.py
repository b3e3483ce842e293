"""Workflows as data, and their steps run as GitHub's runner runs them: each in a shell of its own, in a workspace."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.support.authors_copy import RUN
from tests.support.places import ROOT

TEMPLATES = ROOT / "grader" / "classroom" / "templates" / "github" / "workflows"
OURS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
THEIRS = sorted(TEMPLATES.glob("*.yml"))
GRADE = ROOT / ".github" / "workflows" / "grade.yml"
RELEASE = ROOT / ".github" / "workflows" / "release.yml"
FILES = ("GITHUB_OUTPUT", "GITHUB_ENV", "GITHUB_PATH", "GITHUB_STATE")  # what a step writes is obeyed
UV = f"""\
#!/bin/sh
shift 3 # run --no-sync grader
exec "{sys.executable}" -c "{RUN}" "$@"
"""
Document = dict[str, Any]
needs_bash = pytest.mark.skipif(
    sys.platform == "win32" or shutil.which("bash") is None, reason="the steps are scripts for bash"
)


def read(path: Path) -> Document:
    """Return a workflow as values."""
    found: Document = YAML(typ="safe").load(path.read_text(encoding="utf-8"))
    return found


def steps(workflow: Document) -> Iterator[tuple[str, Document]]:
    """Yield each step with the name of its job."""
    for name, job in workflow["jobs"].items():
        for step in job["steps"]:
            yield name, step


def step(workflow: Document, job: str) -> Document:
    """Return the step of a job that has the job's name as its id."""
    return next(step for step in workflow["jobs"][job]["steps"] if step.get("id") == job)


class Runner:
    """A runner with a workspace: it runs the scripts of steps, and carries artifacts as GitHub does."""

    def __init__(self, workspace: Path, temp: Path, uv: str = UV) -> None:
        self.workspace, self.temp = workspace, temp
        (temp / "bin").mkdir(parents=True)
        (temp / "bin" / "uv").write_text(uv, encoding="utf-8")
        (temp / "bin" / "uv").chmod(0o755)
        for name in (*FILES, "GITHUB_STEP_SUMMARY"):
            (temp / name).touch()

    def run(self, step: Document, values: Mapping[str, str], **environment: str) -> subprocess.CompletedProcess[str]:
        """Run a step's script; values are those of the expressions in its env."""
        own = {name: values.get(text, "") for name, text in step["env"].items()}
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        named = {name: str(self.temp / name) for name in (*FILES, "GITHUB_STEP_SUMMARY")}
        around = {
            "PATH": f"{self.temp / 'bin'}:{os.environ['PATH']}",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_TEMP": str(self.temp),
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.workspace,
            env={**kept, **around, **named, **environment, **own},
            capture_output=True,
            text=True,
            check=False,
            timeout=200,
        )

    def said(self, name: str) -> str:
        """Return what steps have written into one of the runner's files."""
        return (self.temp / name).read_text(encoding="utf-8")


def carry(source: Path, target: Path) -> None:
    """Copy an artifact: files travel, empty folders and what begins with a dot do not."""
    for path in source.rglob("*"):
        if path.is_file() and not path.name.startswith("."):
            (target / path.relative_to(source)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path.relative_to(source))
