"""`grader ci roster`, and `grader ci publish` of a class, as a workflow types them."""

from __future__ import annotations

import csv
import json
import os
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest

from grader.classroom import publish
from grader.classroom.ci_roster import read_csv
from grader.commands.publishing import SUMMARY
from grader.course.manifest import load_course
from tests.commands.test_ci import SHA, leave
from tests.support.command import Here
from tests.support.places import ROOT
from tests.support.workflows import needs_bash

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


@needs_bash
def test_the_loop_of_the_page_makes_a_roster_that_is_read_whatever_the_list_is_like(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    loop = page[page.index("    echo student,repository,revision > class.csv") :].partition("\n\n")[0]
    git = tmp_path / "bin" / "git"
    git.parent.mkdir()
    git.write_text(  # a repository without a commit has no line, and one that does not exist is an error
        "#!/bin/sh\n"
        f"case $2 in *ada|*zoe) printf '{SHA}\\tHEAD\\n';; *empty) ;; *) echo fatal: no such >&2; exit 128;; esac\n"
    )
    git.chmod(0o755)
    (tmp_path / "names.csv").write_bytes(
        "Ada L.,class/ada\r\nBo,class/empty\r\nCy,class/gone\r\nZoë O'Hara,class/zoe".encode()
    )
    path = {**os.environ, "PATH": f"{git.parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", dedent(loop)], cwd=tmp_path, env=path, capture_output=True, text=True)
    assert done.stderr == "fatal: no such\n", done.stderr
    found = read_csv(tmp_path / "class.csv")
    assert [(each.name, each.repository, each.revision) for each in found] == [
        ("ada-l", "class/ada", SHA), ("bo", "class/empty", ""), ("cy", "class/gone", ""),
        ("zoe-o-hara", "class/zoe", SHA),
    ]  # fmt: skip
