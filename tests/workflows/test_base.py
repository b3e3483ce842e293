"""What a workflow compares with, and so proves: on a first push, a push, a force push, a pull request, a release."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from string import Template

import pytest
from ruamel.yaml import YAML

from tests.support.places import HOUSE, ROOT
from tests.support.repositories import commit, git, needs_git
from tests.support.repositories import make as made
from tests.support.workflows import RELEASE, Document, Runner, needs_bash, read

pytestmark = [needs_git, needs_bash]
CI = ROOT / ".github" / "workflows" / "ci.yml"
THEIR_CI = HOUSE / "authoring" / "course" / "github" / "workflows" / "ci.yml.template"
NOTHING = "0" * 40  # what GitHub says that a branch was before its first push
UV = """\
#!/bin/sh
echo "$@" >> "$RUNNER_TEMP/asked"
"""
PYPROJECT = b"[tool.grader]\ntitle = 'Small'\n"


@dataclass
class Pushed:
    """A repository at GitHub, a clone in which somebody works, and one that a workflow has checked out."""

    home: Path

    @property
    def mine(self) -> Path:
        return self.home / "mine"

    def push(self, text: str, *options: str) -> str:
        name = commit(self.mine, {"stages/s01_small/README.md": text.encode()}, text)
        git(self.mine, "push", "--quiet", *options, str(self.home / "github"), "HEAD:main")
        return name

    def asked(self, step: Document, base: str) -> list[str]:
        """Run a step in a fresh checkout, as the runner does; return each `uv run …` of it."""
        work = self.home / "work"
        shutil.rmtree(work, ignore_errors=True)
        git(self.home, "clone", "--quiet", "--no-local", "--branch", "main", str(self.home / "github"), str(work))
        temp = self.home / f"temp{len(list(self.home.iterdir()))}"
        runner = Runner(work, temp, UV)
        (temp / "bin" / "bwrap").write_text("#!/bin/sh\n")
        (temp / "bin" / "bwrap").chmod(0o755)
        done = runner.run({"env": {}, **step}, dict.fromkeys(step.get("env", {}).values(), base))
        assert done.returncode == 0, done.stderr
        return runner.said("asked").splitlines()


@pytest.fixture
def pushed(tmp_path: Path) -> Pushed:
    found = Pushed(tmp_path)
    made(tmp_path / "github", "--bare")
    made(found.mine)
    (found.mine / ".ci").mkdir()
    for path in (ROOT / ".ci").iterdir():
        if path.is_file():
            shutil.copy(path, found.mine / ".ci")
    (found.mine / ".ci" / "lint").write_text("exit 0\n")  # it has tests of its own
    (found.mine / "pyproject.toml").write_bytes(PYPROJECT)
    return found


def the_step(workflow: Document, job: str, word: str) -> Document:
    found: Document = next(each for each in workflow["jobs"][job]["steps"] if word in each.get("run", ""))
    return found


def theirs() -> Document:
    """Return the workflow that a new course gets."""
    text = Template(THEIR_CI.read_text(encoding="utf-8")).substitute()
    found: Document = YAML(typ="safe").load(text)
    return found


STEPS = {
    "mutants": the_step(read(CI), "mutants", "course verify"),
    "check": the_step(read(CI), "check", ".ci/run"),
    "new course": the_step(theirs(), "verify", "course verify"),
}


def verified(asked: list[str]) -> str:
    """Return the options of the one command that proves stages."""
    (found,) = (line for line in asked if "grader course verify" in line)
    return found.partition("grader course verify")[2].strip()


@pytest.fixture(params=STEPS)
def step(request: pytest.FixtureRequest) -> Document:
    return STEPS[request.param]


def test_the_first_push_proves_every_stage(pushed: Pushed, step: Document) -> None:
    pushed.push("one")
    assert "--since" not in verified(pushed.asked(step, NOTHING))


def test_a_push_proves_what_it_changes(pushed: Pushed, step: Document) -> None:
    before = pushed.push("one")
    commit(pushed.mine, {}, "two")
    pushed.push("three")
    assert verified(pushed.asked(step, before)).startswith(f"--since {before}")


def test_a_force_push_over_commits_that_are_gone_proves_every_stage(pushed: Pushed, step: Document) -> None:
    pushed.push("one")
    gone = pushed.push("two")
    git(pushed.mine, "reset", "--quiet", "--hard", "HEAD~1")
    pushed.push("another", "--force")
    assert "--since" not in verified(pushed.asked(step, gone))


def test_a_pull_request_proves_what_differs_from_its_base(pushed: Pushed, step: Document) -> None:
    base = pushed.push("one")
    git(pushed.mine, "switch", "--quiet", "--create", "work")
    commit(pushed.mine, {}, "mine")
    pushed.push("merged")
    assert verified(pushed.asked(step, base)).startswith(f"--since {base}")


def test_the_event_names_the_base() -> None:
    for step in STEPS.values():
        assert step["env"] == {
            "COURSE_BASE": "${{ github.event.pull_request.base.sha || github.event.before || 'HEAD~1' }}"
        }
    checkouts = [each for job in ("check", "mutants") for each in read(CI)["jobs"][job]["steps"] if "with" in each]
    assert [each["with"]["fetch-depth"] for each in checkouts if "fetch-depth" in each["with"]] == [0, 0]


def test_the_check_by_hand_compares_with_the_commit_before(pushed: Pushed) -> None:
    before = pushed.push("one")
    pushed.push("two")
    assert verified(pushed.asked({"run": "bash .ci/run"}, "")).startswith(f"--since {before}")


def test_a_release_proves_every_stage_and_its_mutants_before_it_builds() -> None:
    runs = [each.get("run", "") for each in read(RELEASE)["jobs"]["build"]["steps"]]
    (place,) = (number for number, run in enumerate(runs) if "course verify" in run)
    assert "--since" not in runs[place] and "--mutants" in runs[place]
    assert place < next(number for number, run in enumerate(runs) if "uv build" in run)
