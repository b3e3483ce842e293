"""The workflows: valid, with few rights, and no value from outside in a script; the page says what they take."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from tests.support.places import ROOT
from tests.support.workflows import GRADE, OURS, RELEASE, THEIRS, needs_bash, read, step, steps

ALL = pytest.mark.parametrize("path", [*OURS, *THEIRS], ids=lambda path: path.name)


def test_there_is_something_to_look_at() -> None:
    assert GRADE in OURS
    assert THEIRS


def test_every_workflow_is_valid_against_the_published_schema() -> None:
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", "vendor.github-workflows"]
    done = subprocess.run([*command, *map(str, [*OURS, *THEIRS])], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", [path for path in (*OURS, *THEIRS) if path != RELEASE], ids=lambda path: path.name)
def test_a_workflow_may_read_contents_and_nothing_else(path: Path) -> None:
    found = read(path)
    assert found["permissions"] == {"contents": "read"}
    assert not [name for name, job in found["jobs"].items() if "permissions" in job]


@ALL
def test_no_workflow_runs_for_others_with_its_own_rights(path: Path) -> None:
    assert not {"pull_request_target", "workflow_run", "issue_comment"} & set(read(path)["on"])


@ALL
def test_no_expression_stands_in_a_script(path: Path) -> None:
    assert [each["run"] for _, each in steps(read(path)) if "${{" in each.get("run", "")] == []


@ALL
def test_no_checkout_leaves_its_token_behind(path: Path) -> None:
    checkouts = [each for _, each in steps(read(path)) if each.get("uses", "").startswith("actions/checkout@")]
    assert checkouts
    assert all(each["with"]["persist-credentials"] is False for each in checkouts)
    assert not [each for each in checkouts if {"ref", "repository", "submodules", "lfs"} & set(each["with"])]


@ALL
def test_every_job_ends_in_time(path: Path) -> None:
    assert [name for name, job in read(path)["jobs"].items() if not 0 < job.get("timeout-minutes", 0) <= 350] == []


@needs_bash
@ALL
def test_every_script_is_bash(path: Path) -> None:
    for _, each in steps(read(path)):
        done = subprocess.run(["bash", "-n", "-c", each.get("run", "")], capture_output=True, check=False)
        assert done.returncode == 0, each


def test_windows_and_macos_walk_the_learner_s_road_and_the_package_says_so() -> None:
    road = read(ROOT / ".github" / "workflows" / "ci.yml")["jobs"]["road"]
    assert road["strategy"]["matrix"]["os"] == ["macos-latest", "windows-latest"]
    run = " ".join(each["run"] for each in road["steps"] if "run" in each)
    paths = re.findall(r"tests/\S+", run)
    assert {"tests/packaging/test_folder.py", "tests/test_road.py"} < set(paths)
    assert [path for path in paths if not (ROOT / path).is_file()] == []
    found = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["classifiers"]
    systems = {each for each in found if each.startswith("Operating System ::")}
    assert systems == {
        "Operating System :: POSIX :: Linux", "Operating System :: MacOS", "Operating System :: Microsoft :: Windows"
    }  # fmt: skip


class TestGrade:
    """What each job of grade.yml holds."""

    workflow = read(GRADE)

    def test_each_job_has_its_own_secrets_in_one_step(self) -> None:
        found = [(job, re.findall(r"secrets\.(\w+)", str(each))) for job, each in steps(self.workflow)]
        assert [(job, names) for job, names in found if names] == [
            ("roster", ["PULL_TOKEN"]),
            ("grade", ["TESTS_KEY"]),
            ("publish", ["PUBLISH_TOKEN", "SIGNING_KEY"]),
        ]
        assert not [job for job in self.workflow["jobs"].values() if "secrets" in str({**job, "steps": []})]

    def test_a_student_s_code_comes_to_the_grading_job_only(self) -> None:
        taken = {
            (job, each["with"].get("name") or each["with"]["pattern"])
            for job, each in steps(self.workflow)
            if each.get("uses", "").startswith("actions/download-artifact@")
        }
        group = "${{ needs.roster.outputs.group }}"
        assert taken == {("grade", f"class-{group}"), ("publish", f"verdicts-*-{group}")}

    def test_what_fetches_runs_nothing_of_a_student_and_has_one_token(self) -> None:
        fetching = [each for job, each in steps(self.workflow) if job == "roster" and "PULL_TOKEN" in str(each)]
        assert [each["id"] for each in fetching] == ["pull"]
        assert fetching[0]["run"] == 'uv run --no-sync grader ci pull --students "$STUDENTS" -- class'

    def test_no_job_writes_what_another_one_reads_from_a_cache(self) -> None:
        found = [each["with"] for _, each in steps(self.workflow) if "setup-uv" in each.get("uses", "")]
        assert found == [{"enable-cache": False}] * 3

    def test_isolation_is_required_in_both_jobs_that_see_a_verdict(self) -> None:
        for job in ("grade", "publish"):
            assert '--require-isolation "$ISOLATION"' in step(self.workflow, job)["run"]
        inputs = self.workflow["on"]["workflow_dispatch"]["inputs"]
        assert inputs["isolation"]["options"] == ["bubblewrap", "landlock"]

    def test_both_ways_of_starting_it_take_the_same(self) -> None:
        called, started = (self.workflow["on"][name]["inputs"] for name in ("workflow_call", "workflow_dispatch"))
        plain = [{name: each.get("default") for name, each in inputs.items()} for inputs in (called, started)]
        assert plain[0] == plain[1]
        assert plain[0]["isolation"] == "bubblewrap"

    def test_values_from_outside_come_through_the_environment(self) -> None:
        known = r"\$\{\{ (inputs|secrets|matrix|needs\.roster\.outputs|steps\.roster\.outputs)\.\w+ \}\}"
        for _, each in steps(self.workflow):
            for text in each.get("env", {}).values():
                assert re.fullmatch(known, text)

    def test_results_are_published_also_where_one_stage_could_not_be_graded(self) -> None:
        assert "!cancelled()" in self.workflow["jobs"]["publish"]["if"]
        assert self.workflow["jobs"]["grade"]["strategy"]["fail-fast"] is False

    def test_a_class_of_n_costs_a_job_for_each_batch_and_two_more(self) -> None:
        assert list(self.workflow["jobs"]) == ["roster", "grade", "publish"]
        matrices = {job: each.get("strategy", {}).get("matrix") for job, each in self.workflow["jobs"].items()}
        batches = {"batch": "${{ fromJSON(needs.roster.outputs.batches) }}"}
        assert matrices == {"roster": None, "grade": batches, "publish": None}

    def test_verdicts_of_one_batch_or_of_several_lie_in_the_same_folder(self) -> None:
        (found,) = [
            each["with"]
            for job, each in steps(self.workflow)
            if job == "publish" and "download-artifact@" in each.get("uses", "")
        ]
        assert found["merge-multiple"] is True and found["path"] == "verdicts"


@pytest.mark.parametrize("path", THEIRS, ids=lambda path: path.name)
def test_the_student_s_side_has_no_secrets_and_no_hidden_tests(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"secrets|GITHUB_TOKEN|github\.token|key", text)
    assert set(read(path)["on"]) == {"push", "pull_request"}


def test_the_page_names_every_secret_and_every_input() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    called = read(GRADE)["on"]["workflow_call"]
    assert [name for name in [*called["inputs"], *called["secrets"]] if name not in page] == []


def test_the_page_s_example_calls_the_workflow_as_it_is() -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    example = "\n".join(line[4:] for line in page[page.index("    jobs:\n") :].partition("\n\n")[0].splitlines())
    (job,) = YAML(typ="safe").load(example)["jobs"].values()
    called = read(GRADE)["on"]["workflow_call"]
    assert job["uses"] == "./.github/workflows/grade.yml"
    assert set(job["with"]) <= set(called["inputs"])
    assert {name for name, each in called["inputs"].items() if each.get("required")} <= set(job["with"])
    assert set(job["secrets"]) <= set(called["secrets"])
