"""`grader ci pull` and `grader ci publish`, as a workflow types them: exit codes, summary, statuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.classroom import publish as publishing
from grader.classroom.ci_roster import Student
from grader.classroom.publish import Status
from grader.classroom.receipt import new_signing_key, read_public_key, verified
from grader.commands.publishing import SUMMARY
from grader.course.manifest import load_course
from grader.course.stage import Course
from grader.isolation.tiers import TIERS
from grader.report.document import dumps, verdict_document
from grader.submission import take
from grader.verdict import CriterionResult, Verdict
from tests.support.places import ROOT
from tests.support.repositories import commit, make, needs_git
from tests.support.verdicts import RUN

SHA = "a" * 40


class Command:
    """The command in this process, in the course's folder."""

    def __init__(self, context: pytest.MonkeyPatch, capsys: Any) -> None:
        self.context, self.capsys = context, capsys
        self.out = self.err = ""

    def __call__(self, *arguments: str) -> int:
        self.context.setattr(sys, "argv", ["grader", "ci", *arguments])
        with pytest.raises(SystemExit) as left:
            cli.main()
        captured = self.capsys.readouterr()
        self.out, self.err = captured.out, " ".join(captured.err.split())
        return int(left.value.code or 0)


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(ROOT)
    for name in (SUMMARY, "PULL_TOKEN", "PUBLISH_TOKEN", "GITHUB_API_URL", "GITHUB_SERVER_URL", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    return Command(monkeypatch, capsys)


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(ROOT)


def leave(folder: Path, course: Course, name: str, passing: int | None = None, isolation: str = "bubblewrap") -> None:
    """Leave what a grading job does; so many of the first rows pass, by default all."""
    stage = course.find(name)
    count = len(stage.criteria) if passing is None else passing
    rows = tuple(
        CriterionResult(row.id, row.text, "passed" if place < count else "failed", 1 if place < count else 0, 1)
        for place, row in enumerate(stage.criteria)
    )
    verdict = Verdict(stage.id, stage.title, passing is None, rows, RUN)
    document = verdict_document(verdict) | {"isolation": isolation}
    (folder / f"verdict-{name}").mkdir(parents=True)
    (folder / f"verdict-{name}" / "verdict.json").write_text(dumps(document), encoding="utf-8")


def test_verdicts_are_told_and_summed_up(command: Command, course: Course, tmp_path: Path) -> None:
    leave(tmp_path / "verdicts", course, "s01")
    leave(tmp_path / "verdicts", course, "s15", passing=2)
    (tmp_path / "summary").write_text("before\n", encoding="utf-8")
    command.context.setenv(SUMMARY, str(tmp_path / "summary"))
    assert command("publish", "--stages", '["s01", "s15"]', "--", str(tmp_path / "verdicts"), "class/ada", SHA) == 0
    total = len(course.find("s15").criteria)
    assert f"grader/s15: failure. 2 of {total} criteria pass (seed 40817)" in command.err
    assert "grader/s01: success." in command.err
    assert "PUBLISH_TOKEN is not set" in command.err
    text = (tmp_path / "summary").read_text("utf-8")
    assert text.startswith("before\n## ` class/ada@aaaaaaaaaaaa `\n")
    assert text.count("| ✓ |") == len(course.find("s01").criteria) + 2


def test_statuses_are_put_beside_the_commit(command: Command, course: Course, tmp_path: Path) -> None:
    sent: list[tuple[list[Status], Student, str, str]] = []
    command.context.setattr(publishing, "post", lambda *given: sent.append(given))
    command.context.setenv("PUBLISH_TOKEN", "secret\n")  # as it is pasted
    command.context.setenv("GITHUB_API_URL", "https://git.example.org/api/v3")
    leave(tmp_path, course, "s01")
    assert command("publish", "--stages", '["s01"]', "--", str(tmp_path), "class/ada", SHA) == 0
    ((statuses, whose, server, token),) = sent
    assert [(each.context, each.state) for each in statuses] == [("grader/s01", "success")]
    assert (whose, server, token) == (
        Student("class-ada", "class/ada", SHA),
        "https://git.example.org/api/v3",
        "secret",
    )
    assert "secret" not in command.out + command.err


def test_a_stage_without_a_verdict_ends_with_4_after_all_is_published(
    command: Command, course: Course, tmp_path: Path
) -> None:
    sent: list[list[Status]] = []
    command.context.setattr(publishing, "post", lambda statuses, *_: sent.append(statuses))
    command.context.setenv("PUBLISH_TOKEN", "secret")
    leave(tmp_path, course, "s01")
    assert command("publish", "--stages", '["s01", "s15"]', "--", str(tmp_path), "class/ada", SHA) == 4
    assert [(each.context, each.state) for each in sent[0]] == [("grader/s01", "success"), ("grader/s15", "error")]
    assert "not graded: s15: the grading job left no verdict" in command.err


def test_a_weaker_isolation_is_not_taken(command: Command, course: Course, tmp_path: Path) -> None:
    leave(tmp_path, course, "s01", isolation="process")
    arguments = ("--stages", '["s01"]', "--", str(tmp_path), "class/ada", SHA)
    assert command("publish", *arguments) == 4
    assert "isolation, expected bubblewrap" in command.err
    assert command("publish", "--require-isolation", TIERS[-1], *arguments) == 0


def test_a_summary_that_cannot_be_written_is_a_fault(command: Command, course: Course, tmp_path: Path) -> None:
    leave(tmp_path, course, "s01")
    command.context.setenv(SUMMARY, str(tmp_path))
    assert command("publish", "--stages", '["s01"]', "--", str(tmp_path), "class/ada", SHA) == 4
    assert "GITHUB_STEP_SUMMARY names, cannot be written" in command.err


@pytest.mark.parametrize(
    ("stages", "what"),
    [
        ("s01", "is not a list of stages"),
        ("[]", "is not a list of stages"),
        ('{"s01": 1}', "is not a list of stages"),
        ("[1]", "is not a list of stages"),
        ('["s77"]', "is not a stage of this course"),
        ('["attention"]', "'attention' is not the id of a stage"),
        ('["s01", "s01"]', "names a stage twice"),
        (json.dumps(["s01"] * 51), "51 stages are too many"),
    ],
)
def test_a_list_of_stages_of_another_form_is_refused(stages: str, what: str, command: Command, tmp_path: Path) -> None:
    assert command("publish", "--stages", stages, "--", str(tmp_path), "class/ada", SHA) == 2
    assert what in command.err


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("ada", SHA), "is not a repository"),
        (("class/ada", "main"), "is not the full name of a commit"),
    ],
)
def test_a_commit_of_another_form_is_refused(
    arguments: tuple[str, str], what: str, command: Command, tmp_path: Path
) -> None:
    assert command("publish", "--stages", '["s01"]', "--", str(tmp_path), *arguments) == 2
    assert what in command.err


def test_an_unknown_isolation_is_refused(command: Command, tmp_path: Path) -> None:
    arguments = ("--stages", '["s01"]', "--require-isolation", "none", "--", str(tmp_path), "class/ada", SHA)
    assert command("publish", *arguments) == 2
    assert "'none' is not an isolation tier" in command.err


def test_receipts_are_signed_and_hold(command: Command, course: Course, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="the extra class is not installed")
    private, public = new_signing_key()
    (tmp_path / "key").write_bytes(private)
    (tmp_path / "pub").write_bytes(public)
    leave(tmp_path, course, "s01")
    signing = ("--receipts", str(tmp_path / "receipts"), "--signing-key", str(tmp_path / "key"))
    assert command("publish", "--stages", '["s01", "s15"]', *signing, "--", str(tmp_path), "class/ada", SHA) == 4
    (file,) = (tmp_path / "receipts").iterdir()
    found = verified(file.read_bytes(), read_public_key(tmp_path / "pub"))
    assert (file.name, found.stage, found.passed) == ("s01.receipt.json", "s01", True)
    assert list(found.criteria) == [row.id for row in course.find("s01").criteria]


def test_receipts_that_cannot_be_written_are_a_fault(command: Command, course: Course, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="the extra class is not installed")
    (tmp_path / "key").write_bytes(new_signing_key()[0])
    leave(tmp_path, course, "s01")
    signing = ("--receipts", str(tmp_path / "key"), "--signing-key", str(tmp_path / "key"))
    assert command("publish", "--stages", '["s01"]', *signing, "--", str(tmp_path), "class/ada", SHA) == 4
    assert "cannot be written: File exists" in command.err


@pytest.mark.parametrize("option", ["--receipts", "--signing-key"])
def test_a_receipt_needs_folder_and_key(option: str, command: Command, tmp_path: Path) -> None:
    assert command("publish", "--stages", '["s01"]', option, "x", "--", str(tmp_path), "class/ada", SHA) == 2
    assert "--receipts and --signing-key need each other" in command.err


@needs_git
def test_a_revision_is_pulled(command: Command, course: Course, tmp_path: Path) -> None:
    ada = make(tmp_path / "class" / "ada.git")
    name = commit(ada, {"matrices.py": b"x = 1\n"})
    command.context.setenv("GITHUB_SERVER_URL", tmp_path.as_uri())
    folder = tmp_path / "submission.git"
    assert command("pull", "--", str(folder), "class/ada", name) == 0
    assert f"--submission {folder}@{name}".replace(" ", "") in command.err.replace(" ", "")
    assert take(course.find("s01"), Path(f"{folder}@{name}"), ROOT).source == b"x = 1\n"


@needs_git
def test_the_commits_of_a_class_are_pulled_and_one_that_is_not_there_costs_the_others_nothing(
    command: Command, course: Course, tmp_path: Path
) -> None:
    name = commit(make(tmp_path / "class" / "red.git"), {"matrices.py": b"x = 1\n"})
    team = [{"student": each, "repository": "class/red", "revision": name} for each in ("ada", "bob")]
    students = json.dumps([*team, {"student": "cy", "repository": "class/no", "revision": SHA},
                           {"student": "dee", "repository": "class/dee", "revision": ""}])  # fmt: skip
    command.context.setenv("GITHUB_SERVER_URL", tmp_path.as_uri())
    assert command("pull", "--students", students, "--", str(tmp_path / "all")) == 0
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["ada.git", "bob.git"]
    assert "cy: class/no@aaaaaaaaaaaa cannot be fetched" in command.err and "Fetched 2 of 3" in command.err


@pytest.mark.parametrize(("given", "used"), [("", None), (" \n", None), ("secret\n", "secret")])
def test_the_token_to_pull_with_comes_from_the_environment(
    given: str, used: str | None, command: Command, tmp_path: Path
) -> None:
    asked: list[str | None] = []
    command.context.setattr("grader.classroom.pull.pull", lambda _, __, token: asked.append(token))
    command.context.setenv("PULL_TOKEN", given)
    assert command("pull", "--", str(tmp_path / "x"), "class/ada", SHA) == 0
    assert asked == [used]
    assert "secret" not in command.out + command.err


def test_a_server_that_is_none_is_refused(command: Command, tmp_path: Path) -> None:
    assert command("pull", "--server", "http://x", "--", str(tmp_path / "x"), "class/ada", SHA) == 2
    assert "is not a server to fetch from" in command.err
