"""`grader course`: stub writes what is stale and keeps what stood there; verify says what falls short of a proof."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader import __version__
from grader.tests.support.authors_copy import AuthorsCopy
from grader.tests.support.places import ROOT


@pytest.fixture
def course(tmp_path: Path) -> Path:
    for folder in ("stages", "hidden"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "pyproject.toml").write_text('[tool.grader]\npackages = ["numpy"]\n', encoding="utf-8")
    return tmp_path


def grader(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from grader.cli import main; main()", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def test_what_is_up_to_date_is_left_alone(course: Path) -> None:
    done = grader(course, "course", "stub")
    assert (done.returncode, done.stdout) == (0, "")


def test_a_stale_stub_is_named_by_check_and_written_without(course: Path) -> None:
    stub = course / "stages" / "s01_matrix_operations" / "matrices.py"
    text = stub.read_text(encoding="utf-8")
    stub.write_text("pass\n", encoding="utf-8")
    told = grader(course, "course", "stub", "--check")
    assert told.returncode == 1 and "s01_matrix_operations/matrices.py" in told.stderr
    assert stub.read_text(encoding="utf-8") == "pass\n"
    done = grader(course, "course", "stub", "s01")
    assert done.returncode == 0 and "matrices.py" in done.stdout
    assert stub.read_text(encoding="utf-8") == text
    (kept,) = (course / ".grader" / "backups").rglob("*.py")
    assert kept.read_text(encoding="utf-8") == "pass\n"


def test_an_unknown_stage_is_a_usage_error(course: Path) -> None:
    assert grader(course, "course", "stub", "s99").returncode == 2


@pytest.fixture(scope="module")
def author(tmp_path_factory: pytest.TempPathFactory) -> AuthorsCopy:
    """An author's copy with a stage that was made just now."""
    copy = AuthorsCopy(tmp_path_factory.mktemp("author"))
    assert copy.run("course", "new", "s23_topic").returncode == 0
    return copy


class TestVerify:
    def test_a_whole_stage_is_proven_and_the_document_goes_to_stdout(self, author: AuthorsCopy) -> None:
        done = author.run("course", "verify", "s23", "topic", "--json", "--seeds", "1", "--isolation", "process")
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        document = json.loads(done.stdout)
        (stage,) = document.pop("stages")
        assert document == {"schema": 1, "course": __version__, "seeds": 1, "proven": True}
        assert (stage["stage"], stage["mutants"], stage["shortfalls"]) == ("s23", None, [])
        assert stage["reference"] == {"good": 1, "total": 1} and stage["named"] == {"good": 3, "total": 3}

    def test_a_stage_that_falls_short_is_exit_code_1_and_told_in_a_line(self, author: AuthorsCopy) -> None:
        tests = author.root / "hidden" / "s23_topic" / "test_hidden_topic.py"
        text = tests.read_text(encoding="utf-8")
        tests.write_text(f"{text}\n\ndef test_more(learner):\n    pass\n", encoding="utf-8")
        try:
            done = author.run("course", "verify", "s23", "--seeds", "1", "--isolation", "process")
        finally:
            tests.write_text(text, encoding="utf-8")
        assert done.returncode == 1 and done.stderr == "1 stage, 5 shortfalls.\n"
        lines = " ".join(done.stdout.split())
        assert "stages/s23_topic/tests/: test_hidden_topic.py::test_more belongs to no row of the checklist" in lines

    def test_since_a_commit_and_named_stages_exclude_each_other(self, author: AuthorsCopy) -> None:
        done = author.run("course", "verify", "s23", "--since", "HEAD")
        assert (done.returncode, done.stdout) == (2, "") and "--since selects the stages" in done.stderr

    def test_since_a_commit_that_touches_nothing_is_no_shortfall(self, author: AuthorsCopy) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
            subprocess.run(["git", *command], cwd=author.root, check=True)
        done = author.run("course", "verify", "--since", "HEAD")
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "0 stages, no shortfall.\n")
        assert author.run("course", "verify", "--since", "no-such-commit").returncode == 2

    @pytest.mark.parametrize(
        "arguments",
        [["s99"], ["--seeds", "0"], ["--seeds", "1001"], ["--isolation", "none"], ["s23", "s99"]],
        ids=" ".join,
    )
    def test_what_does_not_exist_is_a_usage_error(self, author: AuthorsCopy, arguments: list[str]) -> None:
        done = author.run("course", "verify", *arguments)
        assert (done.returncode, done.stdout) == (2, "") and done.stderr

    def test_its_help_tells_every_option(self, author: AuthorsCopy) -> None:
        done = author.run("course", "verify", "--help")
        assert done.returncode == 0
        for word in ("[STAGE]...", "--mutants", "--seeds", "--since", "--isolation", "--json"):
            assert word in done.stdout
