"""The jobs of grade.yml, run step by step as a runner does, from a repository to what is published."""

from __future__ import annotations

import csv
import json
import stat
from collections.abc import Iterator
from pathlib import Path

import jsonschema
import pytest
from junitparser import JUnitXml

from grader.classroom.receipt import new_signing_key, read_public_key, verified
from tests.conftest import need
from tests.support import workflows
from tests.support.authors_copy import AuthorsCopy
from tests.support.places import HIDDEN, ROOT
from tests.support.repositories import needs_git
from tests.support.verdicts import obeyed_by_a_runner
from tests.support.workflows import FILES, GRADE, Document, Runner, needs_bash, read, step
from tests.workflows.classroom import Class, Completed, Played, github

SCHEMAS = ROOT / "grader" / "report"
S01 = "stages/s01_matrix_operations/matrices.py"
DAYS_OF_RERUNS = 30  # GitHub runs jobs of a run again for so long
FAKE = """\
#!/bin/sh
env > "$RUNNER_TEMP/environment"
echo "$@" > "$RUNNER_TEMP/asked"
"""


@needs_bash
def test_the_key_is_a_file_of_its_owner_and_not_in_the_environment(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    runner = Runner(tmp_path / "workspace", tmp_path / "temp", FAKE)
    values = {"${{ secrets.TESTS_KEY }}": "very-secret"}
    done = runner.run(step(read(GRADE), "grade"), values)
    assert runner.said("asked").endswith(" -- class verdicts\n")
    key = tmp_path / "temp" / "tests.key"
    assert key.read_text(encoding="utf-8") == "very-secret\n"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert f"GRADER_KEY_FILE={key}" in runner.said("environment")
    assert "very-secret" not in runner.said("environment") + done.stdout + done.stderr


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> AuthorsCopy:
    return AuthorsCopy(tmp_path_factory.mktemp("checkout"))


@pytest.fixture
def classroom(course: AuthorsCopy, tmp_path: Path) -> Iterator[Class]:
    need("bubblewrap")
    with github() as (api, statuses):
        yield Class(tmp_path, course, api, statuses)


def grade(classroom: Class, files: dict[str, bytes]) -> tuple[Played, Played, list[Completed]]:
    """Grade a commit of one student; return the last two jobs, and how each ended."""
    played = classroom.run(repository="class/ada", revision=classroom.push("ada", files))
    ended = [played[name].done for name in ("roster", "grade 1", "publish")]
    return played["grade 1"], played["publish"], [done for done in ended if done is not None]


@pytest.mark.full_matrix(".github", "grader/classroom", "grader/commands/classes")
@needs_git
@needs_bash
def test_a_verdict_is_signed_where_no_student_s_code_has_run(classroom: Class) -> None:
    pytest.importorskip("cryptography", reason="the extra class is not installed")
    private, public = new_signing_key()
    (classroom.folder / "pub").write_bytes(public)
    classroom.signing_key = private.decode().strip()  # as whoever pastes it into a form
    grading, _, ended = grade(classroom, {S01: solution()})
    assert [done.returncode for done in ended] == [0, 0, 0], [done.stderr for done in ended]
    file = classroom.artifact("results") / "receipts" / "class-ada" / "s01.receipt.json"
    assert verified(file.read_bytes(), read_public_key(classroom.folder / "pub")).passed
    assert not (grading.runner.temp / "signing.key").exists()


def solution() -> bytes:
    return (HIDDEN / "s01_matrix_operations" / "solution.py").read_bytes()


@needs_git
@needs_bash
def test_a_right_module_goes_from_its_repository_to_a_green_status(classroom: Class) -> None:
    grading, publishing, ended = grade(classroom, {S01: solution()})
    assert [done.returncode for done in ended] == [0, 0, 0], [done.stderr for done in ended]
    (status,) = classroom.statuses
    assert (status["context"], status["state"]) == ("grader/s01", "success")
    left = classroom.artifact("verdicts-1") / "verdict-class-ada-s01"
    verdict = json.loads((left / "verdict.json").read_text("utf-8"))
    jsonschema.validate(verdict, json.loads((SCHEMAS / "verdict.schema.json").read_text("utf-8")))
    assert (verdict["passed"], verdict["isolation"], verdict["feedback"]) == (True, "bubblewrap", "hint")
    (suite,) = JUnitXml.fromstring((left / "junit.xml").read_bytes())
    assert (suite.failures, suite.errors) == (0, 0)
    results = json.loads((left / "results.json").read_text("utf-8"))
    jsonschema.validate(results, json.loads((SCHEMAS / "schemas" / "gradescope.schema.json").read_text("utf-8")))
    for job in (grading, publishing):
        assert "Matrix operations" in job.runner.said("GITHUB_STEP_SUMMARY").replace("&#32;", " ")


EVIL = """
import os, subprocess
for path in {paths!r}:
    for mode in ("a", "w"):
        try:
            with open(path, mode) as file:
                file.write("name=taken\\n")
        except OSError:
            pass
print("::set-output name=a::b\\n::add-path::/evil\\n##[add-mask]x")
print(dict(os.environ), file=__import__("sys").stderr)
def matmul(*given):
    print("\\n::error::" + repr(dict(os.environ)))
    raise ValueError("\\n::stop-commands::x\\n##[group] <img src=x> @octocat " + repr(dict(os.environ)))
"""


@pytest.mark.full_matrix(".github", "grader/classroom", "grader/commands/classes")
@needs_git
@needs_bash
def test_a_hostile_module_moves_nothing_on_the_runner(classroom: Class) -> None:
    temp = classroom.folder / "runner-grade-1"
    paths = [str(temp / name) for name in (*FILES, "GITHUB_STEP_SUMMARY")]
    paths += [
        str(classroom.course.root / "verdicts" / "verdict-class-ada-s01" / "verdict.json"),
        str(classroom.course.root / S01),
    ]
    before = (classroom.course.root / S01).read_bytes()
    files = {S01: EVIL.format(paths=paths).encode(), "conftest.py": b"1/0"}
    grading, publishing, ended = grade(classroom, files)
    assert [done.returncode for done in ended] == [0, 0, 0], [done.stderr for done in ended]
    assert classroom.statuses[0]["state"] == "failure"
    for job in (grading, publishing):
        assert [job.runner.said(name) for name in FILES] == [""] * len(FILES)
    log = "".join(done.stdout + done.stderr for done in ended)
    assert not [line for line in obeyed_by_a_runner(log) if not line.startswith("::error title=s01 ")]
    left = classroom.artifact("verdicts-1") / "verdict-class-ada-s01"
    told = log + "".join((left / name).read_text("utf-8") for name in ("verdict.json", "junit.xml", "results.json"))
    assert "RUNNER_TEMP" not in told
    assert "publish-secret" not in told
    assert "<img" not in grading.runner.said("GITHUB_STEP_SUMMARY") + publishing.runner.said("GITHUB_STEP_SUMMARY")
    assert "taken" not in told
    assert (classroom.course.root / S01).read_bytes() == before


@pytest.mark.full_matrix(".github", "grader/classroom", "grader/commands/classes")
@needs_git
@needs_bash
def test_a_revision_without_the_module_is_a_result_of_no_points(classroom: Class) -> None:
    _, publishing, ended = grade(classroom, {"README.md": b"later"})
    assert [done.returncode for done in ended] == [0, 0, 0], [done.stderr for done in ended]
    assert classroom.statuses[0]["state"] == "failure"
    assert "no module that can be accepted" in publishing.runner.said("GITHUB_STEP_SUMMARY")
    text = (classroom.artifact("results") / "results.csv").read_text("utf-8")
    (row,) = csv.DictReader(text.splitlines())
    assert (row["outcome"], row["points"]) == ("missing", "0")


def test_the_steps_that_are_run_here_are_those_of_the_workflow() -> None:
    found: Document = read(GRADE)
    assert [job for job in found["jobs"] if step(found, job)] == ["roster", "grade", "publish"]
    assert workflows.UV.startswith("#!/bin/sh\nshift 3 # run --no-sync grader\n")
    for job in found["jobs"]:
        assert "uv run --no-sync grader " in step(found, job)["run"]


def test_what_one_job_hands_to_another_is_there_as_long_as_a_job_can_be_run_again() -> None:
    jobs = read(GRADE)["jobs"].values()
    uploads = [each["with"] for job in jobs for each in job["steps"] if "upload-artifact@" in each.get("uses", "")]
    assert len(uploads) == 3
    assert min(each["retention-days"] for each in uploads) >= DAYS_OF_RERUNS
