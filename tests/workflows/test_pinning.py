"""What workflows depend on: actions fixed by commit, kept up to date together, and without a finding of zizmor."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.release import paperwork
from grader.course.manifest import load_course
from tests.support.places import ROOT
from tests.support.workflows import OURS, TEMPLATES, THEIRS, needs_bash, read, steps

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
