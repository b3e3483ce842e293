"""`grader course`: stub writes what is stale and keeps what stood there; verify says what falls short of a proof."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from grader import __version__
from grader.authoring import proof
from grader.authoring.new import new_stage
from grader.authoring.verify import StageProof
from grader.course.manifest import load_course
from grader.course.stage import Course, Stage
from tests.support.command import Command
from tests.support.places import HIDDEN, ROOT

FIRST = "s01_matrix_operations"


def write(root: Path) -> Path:
    """Write a course of the first stage alone."""
    for source, folder in ((ROOT / "stages", "stages"), (HIDDEN, "hidden")):
        shutil.copytree(source / FIRST, root / folder / FIRST, ignore=shutil.ignore_patterns("__pycache__"))
    (root / "hidden" / "__init__.py").touch()
    (root / "pyproject.toml").write_text('[tool.grader]\npackages = ["numpy"]\n', encoding="utf-8")
    return root


@pytest.fixture
def course(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A course of one stage, in which the command is run."""
    monkeypatch.chdir(write(tmp_path))
    return tmp_path


def test_what_is_up_to_date_is_left_alone(course: Path, command: Command) -> None:
    done = command("course", "stub")
    assert (done.code, done.out) == (0, "") and course


def test_a_stale_stub_is_named_by_check_and_written_without(course: Path, command: Command) -> None:
    stub = course / "stages" / FIRST / "matrices.py"
    text = stub.read_text(encoding="utf-8")
    stub.write_text("pass\n", encoding="utf-8")
    told = command("course", "stub", "--check")
    assert told.code == 1 and "s01_matrix_operations/matrices.py" in told.err
    assert stub.read_text(encoding="utf-8") == "pass\n"
    done = command("course", "stub", "s01")
    assert done.code == 0 and "matrices.py" in done.out
    assert stub.read_text(encoding="utf-8") == text
    (kept,) = (course / ".grader" / "backups").rglob("*.py")
    assert kept.read_text(encoding="utf-8") == "pass\n"


@pytest.mark.parametrize(("line", "what"), [("def (\n", "invalid syntax"), ("x = '\0'\n", "null byte")])
def test_a_solution_that_is_no_python_is_named_as_the_authors(
    course: Path, command: Command, line: str, what: str
) -> None:
    solution = course / "hidden" / FIRST / "solution.py"
    solution.write_text(solution.read_text(encoding="utf-8") + line, encoding="utf-8")
    done = command("course", "stub", "s01")
    assert done.code == 4 and f"hidden/{FIRST}/solution.py" in done.err and what in done.err
    assert "fault of the grader" not in done.err


def test_minutes_of_steps_are_named_by_check_and_written_without(course: Path, command: Command) -> None:
    page = course / "stages" / FIRST / "README.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(re.sub(r"\*About \d+ minutes", "*About 7 minutes", text), encoding="utf-8")
    told = command("course", "stub", "--check")
    assert told.code == 1 and "s01_matrix_operations/README.md" in told.err
    done = command("course", "stub", "s01")
    assert (done.code, done.out) == (0, "wrote stages/s01_matrix_operations/README.md\n")
    assert page.read_text(encoding="utf-8") == text and not (course / ".grader").exists()


def test_an_unknown_stage_is_a_usage_error(course: Path, command: Command) -> None:
    assert command("course", "stub", "s99").code == 2 and course


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course with a stage that was made just now."""
    root = write(tmp_path_factory.mktemp("author"))
    new_stage(load_course(root), "s23_topic", None, ())
    return root


@pytest.fixture
def author(made: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Command:
    """The command in that course; what it proves is graded in this process."""
    started = proof.workers
    monkeypatch.setattr(proof, "workers", lambda course, number=None: started(course, 0))
    monkeypatch.chdir(made)
    return command


class TestVerify:
    @pytest.mark.full_matrix("grader/authoring")
    def test_a_whole_stage_is_proven_and_the_document_goes_to_stdout(self, author: Command) -> None:
        done = author("course", "verify", "s23", "topic", "--json", "--seeds", "1", "--isolation", "process")
        assert (done.code, done.err) == (0, ""), done.out
        document = json.loads(done.out)
        (stage,) = document.pop("stages")
        assert document == {"schema": 1, "course": __version__, "seeds": 1, "proven": True}
        assert (stage["stage"], stage["mutants"], stage["shortfalls"]) == ("s23", None, [])
        assert stage["reference"] == {"good": 1, "total": 1} and stage["named"] == {"good": 3, "total": 3}

    def test_a_stage_that_falls_short_is_exit_code_1_and_told_in_a_line(self, author: Command, made: Path) -> None:
        tests = made / "hidden" / "s23_topic" / "test_hidden_topic.py"
        text = tests.read_text(encoding="utf-8")
        tests.write_text(f"{text}\n\ndef test_more(learner):\n    pass\n", encoding="utf-8")
        try:
            done = author("course", "verify", "s23", "--seeds", "1", "--isolation", "process")
        finally:
            tests.write_text(text, encoding="utf-8")
        assert done.code == 1 and done.err == "1 stage, 5 shortfalls.\n"
        lines = " ".join(done.out.split())
        said = "test_hidden_topic.py::test_more belongs to no criterion of the checklist"
        assert f"stages/s23_topic/tests/: {said}" in lines

    @pytest.mark.some_of(3, "grader/authoring")
    @pytest.mark.parametrize(
        ("options", "processes"),
        [([], [None]), (["--jobs", "3"], [3]), (["--jobs", "3", "--naming", "1"], [3, 3])],
        ids=["by default", "said", "naming"],
    )
    def test_how_many_processes_grade_can_be_said(
        self, author: Command, monkeypatch: pytest.MonkeyPatch, options: list[str], processes: list[int | None]
    ) -> None:
        asked: list[int | None] = []
        started = proof.workers

        def workers(course: Course, number: int | None = None) -> AbstractContextManager[Executor]:
            asked.append(number)
            return started(course)

        monkeypatch.setattr(proof, "workers", workers)
        assert author("course", "verify", "s23", "--seeds", "1", "--isolation", "process", *options).code == 0
        assert asked == processes

    def test_since_a_commit_and_named_stages_exclude_each_other(self, author: Command) -> None:
        done = author("course", "verify", "s23", "--since", "HEAD")
        assert (done.code, done.out) == (2, "") and "--since selects the stages" in done.err

    def test_since_a_commit_that_touches_nothing_is_no_shortfall(self, author: Command, made: Path) -> None:
        who = ["-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false"]
        for command in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "first"]):
            subprocess.run(["git", *command], cwd=made, check=True)
        done = author("course", "verify", "--since", "HEAD")
        assert (done.code, done.out, done.err) == (0, "", "0 stages, no shortfall.\n")
        assert author("course", "verify", "--since", "no-such-commit").code == 2

    def test_since_no_commit_is_every_stage(self, author: Command, monkeypatch: pytest.MonkeyPatch) -> None:
        """So it is on the first push of a branch, where GitHub gives zeros."""
        chosen: list[str] = []

        def proven(course: Course, stages: tuple[Stage, ...], *more: object) -> list[StageProof]:
            chosen.extend(stage.id for stage in stages)
            return []

        monkeypatch.setattr("grader.authoring.verify.verify", proven)
        done = author("course", "verify", "--since", "0" * 40)
        assert done.code == 0 and "--since is all zeros" in done.err
        assert "every stage is proven" in " ".join(done.err.split()) and chosen == ["s01", "s23"]

    @pytest.mark.parametrize(
        "arguments",
        [["s99"], ["--seeds", "0"], ["--jobs", "0"], ["--seeds", "1001"], ["--isolation", "none"], ["s23", "s99"]],
        ids=" ".join,
    )
    def test_what_does_not_exist_is_a_usage_error(self, author: Command, arguments: list[str]) -> None:
        done = author("course", "verify", *arguments)
        assert (done.code, done.out) == (2, "") and done.err

    def test_its_help_tells_every_option(self, author: Command) -> None:
        done = author("course", "verify", "--help")
        assert done.code == 0
        for word in ("[STAGE]...", "--mutants", "--seeds", "--since", "--isolation", "--json"):
            assert word in done.out
