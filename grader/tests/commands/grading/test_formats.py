"""`grader check --format`: documents, reports and the log of a build, all from one run."""

from __future__ import annotations

import base64
import json
import re
import sys
from pathlib import Path

import jsonschema
import pytest
from junitparser import JUnitXml

from grader.tests.commands.grading.typed import ARGUMENTS, EVIL, RIGHT, WRONG, Command
from grader.tests.support.packages import installed
from grader.tests.support.places import HOUSE
from grader.tests.support.verdicts import obeyed_by_a_runner

SCHEMAS = HOUSE / "report"


def test_every_format_is_written_from_one_run(command: Command) -> None:
    command.small.write_text(EVIL, encoding="utf-8")
    files = {name: command.folder / name for name in ("junit", "gradescope", "json", "autograding")}
    summary = command.folder / "summary"
    command.context.setenv("GITHUB_STEP_SUMMARY", str(summary))
    formats = ",".join(f"{name}={path}" for name, path in files.items())
    assert command(*ARGUMENTS, "--format", f"github,{formats}") == 1
    assert json.loads(files["json"].read_text("utf-8"))["seed"] == 5
    (suite,) = JUnitXml.fromstring(files["junit"].read_bytes())
    assert (suite.tests, suite.failures) == (1, 1)
    jsonschema.validate(
        json.loads(files["gradescope"].read_text("utf-8")),
        json.loads((SCHEMAS / "schemas" / "gradescope.schema.json").read_text("utf-8")),
    )
    assert json.loads(base64.b64decode(files["autograding"].read_text("utf-8")))["max_score"] == 1
    assert "&lt;/code&gt;&lt;/pre&gt;&lt;script&gt;" in summary.read_text("utf-8")


def test_a_build_s_log_obeys_the_annotations_and_nothing_else(command: Command) -> None:
    command.small.write_text(EVIL, encoding="utf-8")
    command.context.setenv("GITHUB_WORKSPACE", str(command.course.root))
    assert command(*ARGUMENTS, "--verbose", "--format", f"github={command.folder / 'summary'}") == 1
    (annotation,) = obeyed_by_a_runner(command.out + command.err)
    assert annotation.startswith(
        "::error file=stages/s90_small/small.py,line=3,title=s90 double::double doubles: 0 of 2"
    )
    assert "✗ 0/2  double doubles" in command.out
    assert r"#\x23[add-mask]1" in command.out


def test_who_handed_in_nothing_is_named_too(command: Command, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert command("s90", "--submission", str(tmp_path / "empty"), "--json", "--student", "Ada Lovelace") == 5
    found = json.loads(command.out)
    assert (found["provenance"]["student"], found["problem"]["kind"]) == ("Ada Lovelace", "missing")


def test_a_document_says_what_it_was_made_with_and_a_plain_check_does_not_ask(command: Command) -> None:
    command.small.write_text(RIGHT, encoding="utf-8")
    assert command(*ARGUMENTS, "--json", "--student", "Ada Lovelace") == 0
    made = json.loads(command.out)["provenance"]
    assert made["python"] == ".".join(map(str, sys.version_info[:3]))
    assert (made["student"], made["revision"], made["commit"]) == ("Ada Lovelace", None, None)
    assert command(*ARGUMENTS, "--verbose") == 0
    assert f"Python {made['python']} · NumPy {made['numpy']}" in command.out
    command.context.setattr("grader.course.provenance.provenance_of", None)
    assert command(*ARGUMENTS) == 0
    assert "NumPy" not in command.out
    assert command(*ARGUMENTS, "--student", "\x1b[2J") == 2
    assert "cannot be the name of a student" in command.err


def test_without_a_format_a_build_s_log_obeys_nothing(command: Command) -> None:
    command.small.write_text(EVIL, encoding="utf-8")
    command.context.setenv("COLUMNS", "40")  # lines are broken in new places
    assert command(*ARGUMENTS, "--verbose") == 1
    assert obeyed_by_a_runner(command.out + command.err) == []


@pytest.mark.parametrize(("source", "code"), [(RIGHT, 0), (WRONG, 1)])
def test_a_document_without_a_file_has_stdout_to_itself(command: Command, source: str, code: int) -> None:
    command.small.write_text(source, encoding="utf-8")
    assert command(*ARGUMENTS, "--format", "gradescope") == code
    assert [test["score"] for test in json.loads(command.out)["tests"]] == [1.0 - code]
    assert command.err == ""


def test_json_is_as_it_was(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    assert command(*ARGUMENTS, "--json") == 1
    first = command.out
    assert command(*ARGUMENTS, "--format", "json") == 1
    assert re.sub(r'"duration_s": .*', "", command.out) == re.sub(r'"duration_s": .*', "", first)


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("html", "'html' is not a format"),
        ("junit=/no/such/folder/x", "/no/such/folder/x cannot be written"),
        ("github", "GITHUB_STEP_SUMMARY is not set"),
        ("classroom50=x", "CLASSROOM"),
    ],
)
def test_a_format_that_cannot_be_is_refused_before_grading(command: Command, option: str, message: str) -> None:
    command.context.setattr("grader.progress.actions.check", lambda *_: pytest.fail("it was graded"))
    assert command(*ARGUMENTS, "--format", option) == 2
    assert command.out == ""
    assert message in command.err


def test_all_stages_stand_in_one_report(command: Command) -> None:
    command.small.write_text(WRONG, encoding="utf-8")
    file = command.folder / "j.xml"
    assert command("--all", "--isolation", "process", "--format", f"junit={file}") == 1
    assert [suite.name for suite in JUnitXml.fromstring(file.read_bytes())] == ["s90 · Small things"]
    assert "All stages" in command.out


def test_a_format_of_an_installed_package_is_written_like_any_other(command: Command, tmp_path: Path) -> None:
    installed(tmp_path, command.context, "grader.formats", "words")
    command.small.write_text(RIGHT, encoding="utf-8")
    assert command(*ARGUMENTS, "--format", f"words={tmp_path / 'words'},json") == 0
    assert (tmp_path / "words").read_text("utf-8") == "s90: 1 of 1 criterion\n"
