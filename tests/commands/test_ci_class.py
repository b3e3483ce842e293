"""`grader ci roster`, and `grader ci publish` of a class, as a workflow types them."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from grader.classroom import publish
from grader.commands.publishing import SUMMARY
from grader.course.manifest import load_course
from tests.commands.test_ci import SHA, leave
from tests.support.command import Here

STUDENTS = json.dumps(
    [{"student": name, "repository": f"class/{name}", "revision": SHA} for name in ("Ada", "bob")],
)


def test_a_roster_is_printed_as_outputs_of_a_step(here: Here) -> None:
    done = here("ci", "roster", "--stages", '["s01"]', "--students", STUDENTS, "--file", "")
    students, batches, group = done.out.splitlines()
    assert done.code == 0
    assert [each["name"] for each in json.loads(students.removeprefix("students="))] == ["ada", "bob"]
    assert batches == "batches=[1]" and len(group.removeprefix("group=")) == 8


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ((), "0 are given"),
        (("--students", STUDENTS, "--file", "x"), "2 are given"),
        (("--revision", SHA), "'' is not a repository"),
        (("--students", "["), "is not a list in JSON"),
    ],
)
def test_a_roster_of_another_form_is_refused(arguments: tuple[str, ...], what: str, here: Here) -> None:
    done = here("ci", "roster", "--stages", '["s01"]', *arguments)
    assert (done.code, done.out) == (2, "")
    assert what in done.err


def test_a_class_is_published_under_its_names(here: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[str] = []
    monkeypatch.setattr(publish, "post", lambda _, commit, *rest: sent.append(commit.repository))
    monkeypatch.setenv("PUBLISH_TOKEN", "secret")
    monkeypatch.delenv(SUMMARY, raising=False)
    roster = here("ci", "roster", "--stages", '["s01"]', "--students", STUDENTS)
    students, _, group = (line.split("=", 1)[1] for line in roster.out.splitlines())
    assert group
    verdicts, table = tmp_path / "verdicts", tmp_path / "new" / "results.csv"
    for name in ("ada", "bob"):
        leave(verdicts, load_course(here.place.root), "s01")
        (verdicts / "verdict-s01").rename(verdicts / f"verdict-{name}-s01")
    arguments = ("--stages", '["s01"]', "--students", students, "--results", str(table), "--", str(verdicts))
    done = here("ci", "publish", *arguments)
    assert done.code == 0, done.err
    assert sent == ["class/Ada", "class/bob"]
    assert "ada, grader/s01: success." in done.err
    assert [line[0] for line in csv.reader(table.read_text("utf-8").splitlines())] == ["student", "ada", "bob"]


@pytest.mark.parametrize("whose", [("x",), ("--students", STUDENTS, "--", "x", "class/ada", SHA)])
def test_one_student_or_a_class_is_published(whose: tuple[str, ...], here: Here) -> None:
    done = here("ci", "publish", "--stages", '["s01"]', *whose)
    assert done.code == 2
    assert "or --students, and not both" in " ".join(done.err.split())
