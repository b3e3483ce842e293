"""bandit and pip-audit: where they run, and that each exception to them is known and has its reason."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests.support.places import ROOT
from grader.tests.support.workflows import needs_bash, read, steps


def test_every_exception_from_the_audit_has_a_reason() -> None:
    text = (ROOT / ".ci" / "audit").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^exceptions=\(\n(.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert [line for line in listed.splitlines() if not re.fullmatch(r"  [A-Z0-9-]+ # .{20,}", line)] == []


def test_every_change_is_audited() -> None:
    for name in ("ci.yml", "nightly.yml"):
        assert "bash .ci/audit" in [each.get("run") for _, each in steps(read(ROOT / ".github" / "workflows" / name))]
    assert "\nuv run --group dev bandit " in (ROOT / ".ci" / "lint").read_text(encoding="utf-8")


@needs_bash
def test_the_audit_is_bash() -> None:
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "audit")], check=False).returncode == 0


@pytest.mark.full_matrix("pyproject.toml", ".ci")
def test_what_bandit_passes_over_everywhere_stands_in_few_files() -> None:
    """A grader runs Python and names paths of a sandbox; where it begins to do so elsewhere, that is looked at."""
    pytest.importorskip("bandit")
    allowed = {
        "B102": {
            "diagnosis/known_mistakes.py",
            "diagnosis/runner.py",
            "course/answers.py",
            "course/import_guard.py",
            "judging/pytest_suite.py",
            "worker/loading.py",
        },
        "B108": {"isolation/bubblewrap.py", "isolation/leftovers.py", "isolation/zygote.py"},
        "B608": {"gradebook/schema.py", "gradebook/store.py"},
    }
    left_out = str(ROOT / "grader" / "tests")
    rules = ("--tests", ",".join(allowed), "--exclude", left_out, "--format", "json", "--quiet")
    command = [sys.executable, "-m", "bandit", "--recursive", str(ROOT / "grader"), *rules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [(each["test_id"], Path(each["filename"])) for each in json.loads(done.stdout)["results"]]
    assert found
    places = [(rule, path.relative_to(ROOT / "grader").as_posix()) for rule, path in found]
    assert [place for place in places if place[1] not in allowed[place[0]]] == []


def test_every_exception_from_a_rule_of_bandit_has_a_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    code = [path for path in (ROOT / "grader").rglob("*.py") if "tests" not in path.parts]
    marked = [line for path in code for line in path.read_text("utf-8").splitlines() if "# nosec" in line]
    assert marked
    assert [line for line in marked if not re.search(r"# nosec B\d{3}(, B\d{3})* # .{15,}", line)] == []
    skipped = [line for line in project if re.match(r'\s+"B\d{3}"', line)]
    assert [line for line in skipped if not re.search(r"# .{10,}", line)] == []
