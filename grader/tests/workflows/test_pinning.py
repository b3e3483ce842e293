"""What workflows depend on: actions fixed by commit, kept up to date together, and without a finding of zizmor."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.release import paperwork
from grader.course.manifest import load_course
from grader.tests.support.places import ROOT
from grader.tests.support.workflows import OURS, TEMPLATES, THEIRS, read, steps

ALL = [*OURS, *THEIRS]
ACTIONS = {
    "actions/attest-build-provenance",
    "actions/checkout",
    "actions/download-artifact",
    "actions/upload-artifact",
    "astral-sh/setup-uv",
}


def used() -> list[tuple[Path, str, str]]:
    """Return each use of an action: its workflow, its name, and what follows the @, with the comment."""
    lines = [(path, line) for path in ALL for line in path.read_text(encoding="utf-8").splitlines()]
    found = [(path, re.search(r"\buses: ([^@\s]+)@(.+)", line)) for path, line in lines]
    return [(path, match[1], match[2]) for path, match in found if match]


def test_actions_are_few_and_each_step_is_looked_at() -> None:
    assert {name for _, name, _ in used()} == ACTIONS
    assert len(used()) == len([each for path in ALL for _, each in steps(read(path)) if "uses" in each])


def test_actions_are_pinned_by_commit_with_the_version_beside_it() -> None:
    assert [use for use in used() if not re.fullmatch(r"[0-9a-f]{40} # v\d+\.\d+\.\d+", use[2])] == []


def test_an_action_has_one_commit_everywhere() -> None:
    commits = defaultdict(set)
    for _, name, commit in used():
        commits[name].add(commit)
    assert {name: found for name, found in commits.items() if len(found) > 1} == {}


def valid(schema: str, *paths: Path) -> str:
    """Return what a published schema has against these files."""
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def test_updates_reach_both_folders_of_workflows() -> None:
    path = ROOT / ".github" / "dependabot.yml"
    assert valid("vendor.dependabot", path) == ""
    updates: list[dict[str, Any]] = read(path)["updates"]
    (actions,) = [each for each in updates if each["package-ecosystem"] == "github-actions"]
    assert actions["directories"] == ["/", f"/{TEMPLATES.relative_to(ROOT).as_posix()}"]
    assert [each["package-ecosystem"] for each in updates] == ["github-actions", "uv"]


def test_issue_forms_are_valid() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    assert forms
    assert valid("vendor.github-issue-forms", *forms) == ""


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The workflows of a learner's copy, as a release writes them."""
    course = load_course(ROOT)
    root = tmp_path_factory.mktemp("copy")
    for name, data in paperwork(course, (course.find("s01"),), ROOT, self_paced=False).items():
        if name.startswith(".github/workflows/"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)
    return sorted(root.rglob("*.yml"))


def audited(*paths: Path) -> subprocess.CompletedProcess[str]:
    if (zizmor := shutil.which("zizmor", path=str(Path(sys.executable).parent))) is None:
        pytest.skip("zizmor is not installed")
    command = [zizmor, "--offline", "--persona=auditor", *map(str, paths)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_no_workflow_has_a_finding_nor_has_one_of_a_learner_s_copy(rendered: list[Path]) -> None:
    assert rendered
    done = audited(ROOT / ".github", *rendered)
    assert done.returncode == 0, done.stdout
    assert "completed" in done.stderr


def test_the_audit_finds_an_action_without_its_commit(rendered: list[Path], tmp_path: Path) -> None:
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    loose = tmp_path / ".github" / "workflows" / "loose.yml"
    loose.write_text(re.sub(r"checkout@\S+ # (v\d)\S*", r"checkout@\1", rendered[0].read_text("utf-8")), "utf-8")
    done = audited(loose)
    assert done.returncode != 0
    assert "unpinned-uses" in done.stdout


class TestRelease:
    """What each job of release.yml may do."""

    workflow = read(ROOT / ".github" / "workflows" / "release.yml")

    def test_it_is_started_by_hand_only(self) -> None:
        assert set(self.workflow["on"]) == {"workflow_dispatch"}
        assert self.workflow["jobs"]["build"]["if"] == "github.ref == 'refs/heads/main'"

    def test_no_job_has_more_rights_than_its_task_needs(self) -> None:
        assert self.workflow["permissions"] == {}
        assert {name: job["permissions"] for name, job in self.workflow["jobs"].items()} == {
            "build": {"contents": "read"},
            "attest": {"id-token": "write", "attestations": "write"},
            "publish": {"id-token": "write"},
        }

    def test_a_job_with_an_identity_runs_nothing_of_the_repository(self) -> None:
        found = [each for job, each in steps(self.workflow) if job != "build"]
        assert not [each for each in found if "checkout" in each.get("uses", "")]
        assert [each["run"] for each in found if "run" in each] == ["uv publish --trusted-publishing always dist/*"]

    def test_nothing_is_published_without_check_and_attestation(self) -> None:
        assert "bash .ci/run" in [each.get("run") for job, each in steps(self.workflow) if job == "build"]
        assert self.workflow["jobs"]["publish"]["needs"] == ["build", "attest"]
        assert "secrets." not in str(self.workflow)
