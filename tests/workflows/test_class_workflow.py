"""grade.yml for a class: three students from their repositories to statuses, a table, a CSV file and receipts."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.classroom.receipt import new_signing_key, read_public_key, verified
from tests.conftest import need
from tests.support.authors_copy import AuthorsCopy
from tests.support.places import HIDDEN
from tests.support.repositories import needs_git
from tests.support.workflows import needs_bash
from tests.workflows.classroom import Class, Played, filled, github

S01 = "stages/s01_matrix_operations/matrices.py"
GONE = "f" * 40
STATES = "success", "failure", "error"
NAMES = "Ada Lovelace", "Zoë `$(id)`|<b>", "=eve"


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> AuthorsCopy:
    return AuthorsCopy(tmp_path_factory.mktemp("course") / "checkout")


@pytest.fixture(scope="module")
def graded(tmp_path_factory: pytest.TempPathFactory, course: AuthorsCopy) -> Iterator[tuple[Class, dict[str, Played]]]:
    """A run over a roster: one module is right, one lacks a function, and one commit is not there."""
    need("bubblewrap")
    pytest.importorskip("cryptography", reason="the extra class is not installed")
    folder = tmp_path_factory.mktemp("class")
    private, public = new_signing_key()
    (folder / "pub").write_bytes(public)
    right = (HIDDEN / "s01_matrix_operations" / "solution.py").read_bytes()
    with github() as (api, statuses):
        classroom = Class(folder, course, api, statuses)
        classroom.signing_key = private.decode()
        revisions = (
            classroom.push("ada", {S01: right}),
            classroom.push("zoe", {S01: right.replace(b"def outer_product(", b"def outer(")}),
            GONE,
        )
        classroom.push("eve", {S01: right})
        with (classroom.course.root / "class.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(
                [
                    ("student", "repository", "revision"),
                    *zip(NAMES, ("class/ada", "class/zoe", "class/eve"), revisions, strict=True),
                ]
            )
        yield classroom, classroom.run(roster="class.csv")


@needs_git
@needs_bash
@pytest.mark.full_matrix(".github", "grader/classroom", "grader/commands/classes", "grader/report")
class TestAClass:
    """What a run leaves, seen from each side."""

    def test_a_class_costs_a_job_for_twenty_students_and_two_more(
        self, graded: tuple[Class, dict[str, Played]]
    ) -> None:
        codes = {name: job.code for name, job in graded[1].items()}
        assert codes == {"roster": 0, "grade 1": 0, "publish": 4}

    def test_each_student_has_a_status_at_the_own_commit(self, graded: tuple[Class, dict[str, Played]]) -> None:
        found = [(each["path"].split("/")[3], each["context"], each["state"]) for each in graded[0].statuses]
        assert found == [(name, "grader/s01", how) for name, how in zip(("ada", "zoe", "eve"), STATES, strict=True)]

    def test_the_summary_is_a_table_of_the_class(self, graded: tuple[Class, dict[str, Played]]) -> None:
        text = graded[1]["publish"].runner.said("GITHUB_STEP_SUMMARY")
        rows = [line for line in text.splitlines() if line.startswith("| ") and "class/" in line]
        assert [row.rpartition(" | ")[2].split()[0] for row in rows] == ["✓", "✗", "not"]
        assert "<b>" not in text and "$(id)" not in text

    def test_the_csv_file_has_a_line_for_each_student_and_stage(self, graded: tuple[Class, dict[str, Played]]) -> None:
        with (graded[0].artifact("results") / "results.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        assert [(row["student"], row["outcome"], row["passed"], row["points"]) for row in rows] == [
            ("ada-lovelace", "graded", "yes", "12"),
            ("eve", "fault", "no", ""),
            ("zoe-id-b", "graded", "no", "11"),
        ]
        assert rows[0]["submitted"] and rows[0]["file"].startswith("class/ada@")
        assert rows[1]["reason"].startswith("the grading job left no verdict")

    def test_what_has_a_verdict_is_not_graded_again(
        self, graded: tuple[Class, dict[str, Played]], tmp_path: Path
    ) -> None:
        shutil.copy(graded[0].artifact("results") / "results.csv", graded[0].course.root / "known.csv")
        shutil.copytree(graded[0].folder / "server", tmp_path / "server")
        with github() as (api, statuses):
            again = Class(tmp_path, graded[0].course, api, statuses)
            played = again.run(roster="class.csv", known="known.csv")
        assert [each["state"] for each in statuses] == ["error"]
        assert [each["name"] for each in json.loads(again.outputs["students"])] == ["eve"]
        assert list(played) == ["roster", "grade 1", "publish"]

    def test_receipts_are_told_apart_and_hold(self, graded: tuple[Class, dict[str, Played]]) -> None:
        folder = graded[0].artifact("results") / "receipts"
        found = {path.parent.name: verified(path.read_bytes(), read_public_key(graded[0].folder / "pub"))
                 for path in folder.rglob("*.json")}  # fmt: skip
        assert {name: (each.passed, each.provenance.student) for name, each in found.items()} == {
            "ada-lovelace": (True, "class/ada"),
            "zoe-id-b": (False, "class/zoe"),
        }

    def test_whoever_cannot_be_graded_is_named_at_the_end(self, graded: tuple[Class, dict[str, Played]]) -> None:
        done = graded[1]["publish"].done
        assert done is not None
        assert "not graded: eve, s01: the grading job left no verdict" in " ".join(done.stderr.split())

    def test_every_artifact_carries_the_group(self, graded: tuple[Class, dict[str, Played]]) -> None:
        group = graded[0].outputs["group"]
        assert sorted(path.name for path in graded[0].artifacts.iterdir()) == [
            f"{name}-{group}" for name in ("class", "results", "verdicts-1")
        ]


@needs_git
@needs_bash
@pytest.mark.parametrize(
    ("inputs", "what"),
    [
        ({}, "a grading needs one of --file, --students, and --repository with --revision"),
        ({"repository": "class/ada", "revision": "main"}, "is not the full name of a commit"),
        ({"students": '[{"student": "x\\ngroup=y", "repository": "a/b", "revision": "main"}]'}, "entry 1"),
        ({"roster": "nowhere.csv"}, "cannot be read"),
    ],
)
def test_a_roster_that_cannot_be_used_grades_nobody(
    inputs: dict[str, str], what: str, course: AuthorsCopy, tmp_path: Path
) -> None:
    classroom = Class(tmp_path, course, "http://127.0.0.1:1", [])
    (job,) = classroom.run(**inputs).values()
    assert job.done is not None and job.code == 2
    assert what in " ".join(job.done.stderr.split())
    assert job.runner.said("GITHUB_OUTPUT") == ""


def test_an_expression_without_a_value_is_not_passed_over() -> None:
    with pytest.raises(KeyError):
        filled("verdict-${{ matrix.unknown }}", {})
