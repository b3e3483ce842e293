"""Gradescope: results.json of the documented shape, and a recipe that never turns a fault of ours into a zero."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from grader.report.graded import details
from grader.report.gradescope import gradescope
from grader.tests.support.places import ROOT
from grader.tests.support.verdicts import (
    PASSED,
    SCENE,
    SPLIT,
    SYNTAX,
    TEXTS,
    UNMARKED,
    VERDICT,
    obeyed_by_a_runner,
    report,
    written,
)
from grader.verdict import Verdict

SCHEMA: dict[str, Any] = json.loads(
    resources.files("grader.report").joinpath("schemas/gradescope.schema.json").read_text("utf-8")
)
RECIPE = ROOT / "docs" / "gradescope"


def read(*verdicts: Verdict, every: bool = False) -> dict[str, Any]:
    """The document, if the schema accepts it."""
    document: dict[str, Any] = json.loads(gradescope(report(*verdicts, every=every), SCENE))
    jsonschema.Draft202012Validator(SCHEMA).validate(document)
    return document


def test_the_schema_is_a_schema_and_refuses_what_is_wrong() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    good = read(VERDICT)
    unscored = [{key: value for key, value in test.items() if key != "score"} for test in good["tests"]]
    wrongs: list[dict[str, Any]] = [
        {"visibility": "yes"},
        {"tests": []},
        {"tests": unscored},
        {"output_format": "markdown"},
        {"x": 1},
    ]
    for wrong in wrongs:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**good, **wrong}, SCHEMA)


def test_each_row_is_a_test_of_one_point() -> None:
    document = read(VERDICT)
    assert [(test["score"], test["max_score"], test["status"]) for test in document["tests"]] == [
        (1, 1, "passed"),
        *[(0, 1, "failed")] * 4,
    ]
    assert document["output"] == "s15 · Attention mechanisms: 1 of 5 criteria\nseed 40817 · isolation bubblewrap"
    assert document["tests"][1]["output"] == details(SPLIT, VERDICT)
    assert document["tests"][2]["extra_data"] == {
        "status": "not_started", "tests_passed": 0, "tests_total": 3, "robust": False,
        "robustness": {"tests_passed": 0, "tests_total": 0}, "values_right": False, "kinds": {},
    }  # fmt: skip
    assert document["extra_data"]["s15"]["submission"] == "ab" * 32


def test_every_text_is_shown_as_text_and_stdout_to_instructors_only() -> None:
    document = read(VERDICT)
    assert {test["output_format"] for test in document["tests"]} == {"text"}
    assert {test["name_format"] for test in document["tests"]} == {"text"}
    assert (document["output_format"], document["stdout_visibility"]) == ("text", "hidden")


def test_rows_of_several_stages_are_told_apart() -> None:
    document = read(PASSED, replace(PASSED, stage="s16"), every=True)
    assert [test["name"] for test in document["tests"]] == ["s15 · scores are QKᵀ/√d_k", "s16 · scores are QKᵀ/√d_k"]


def test_a_module_that_cannot_be_read_has_no_points_and_says_why() -> None:
    document = read(SYNTAX)
    assert [test["score"] for test in document["tests"]] == [0]
    assert "expected ':'" in document["output"]


OURS = {name: verdict for name, verdict in UNMARKED.items() if name != "not taken"}


@pytest.mark.parametrize("verdict", OURS.values(), ids=list(OURS))
def test_what_gives_no_marks_has_no_score_anywhere(verdict: Verdict) -> None:
    document = read(verdict)
    assert document["output"]
    assert "score" not in json.dumps(document)
    assert "tests" not in document


def test_a_module_that_is_not_there_is_a_result_of_no_points_with_the_reason() -> None:
    document = read(UNMARKED["not taken"])
    assert document["score"] == 0
    assert "attention.py does not exist" in document["output"]


@pytest.mark.parametrize(
    "verdicts",
    [(replace(UNMARKED["not taken"], faults=("broken",)),), (UNMARKED["not taken"], PASSED), ()],
    ids=["a fault of ours as well", "one stage of several", "nothing"],
)
def test_no_points_are_taken_for_anything_else(verdicts: tuple[Verdict, ...]) -> None:
    assert "score" not in json.dumps(read(*verdicts))


@given(TEXTS)
def test_whatever_a_learner_wrote_is_text(text: str) -> None:
    verdict = written(text)
    raw = gradescope(report(verdict), SCENE)
    assert raw.isascii()
    assert obeyed_by_a_runner(raw) == []
    document = read(verdict)
    for shown in (document["output"], *(test["output"] for test in document["tests"])):
        assert all(char == "\n" or char.isprintable() for char in shown)


# The recipe: what Gradescope runs, with a `uv` in its way that does as it is told.

FAKE = """\
#!/bin/sh
echo "$@" > "$AUTOGRADER_ROOT/asked"
for each; do case "$each" in gradescope=*) file="${each#gradescope=}";; esac; done
if [ -n "$FAKE_TEXT" ]; then echo "$FAKE_TEXT" > "$file"; fi
exit "$FAKE_CODE"
"""


def run_recipe(root: Path, code: int, text: str) -> subprocess.CompletedProcess[bytes]:
    """Run the recipe around a grader that ends with code and has written text."""
    bin_folder = root / "bin"
    for folder in (bin_folder, root / "source" / "course", root / "submission"):
        folder.mkdir(parents=True)
    (bin_folder / "uv").write_text(FAKE, encoding="utf-8")
    (bin_folder / "uv").chmod(0o755)
    environment = {
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "AUTOGRADER_ROOT": str(root),
        "FAKE_CODE": str(code),
        "FAKE_TEXT": text,
    }
    return subprocess.run(["bash", str(RECIPE / "run_autograder")], env=environment, capture_output=True, check=False)


def graded(root: Path, code: int, text: str) -> tuple[int, str | None]:
    """Run the recipe like run_recipe; return its exit code and the result."""
    done = run_recipe(root, code, text)
    file = root / "results" / "results.json"
    return done.returncode, file.read_text(encoding="utf-8") if file.exists() else None


needs_bash = pytest.mark.skipif(shutil.which("bash") is None, reason="the recipe is a script for bash")


@needs_bash
@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (0, "graded", (0, "graded\n")),
        (1, "graded", (0, "graded\n")),
        (5, "not taken", (0, "not taken\n")),
        (2, "", (2, None)),
        (5, "", (5, None)),
        (3, "it waits, without a score", (3, None)),
        (4, "fault", (4, None)),
        (130, "", (130, None)),
    ],
)
def test_the_recipe_leaves_a_result_only_where_there_is_one(
    tmp_path: Path, code: int, text: str, expected: tuple[int, str | None]
) -> None:
    assert graded(tmp_path / "autograder", code, text) == expected


@needs_bash
def test_the_recipe_says_what_lets_a_waiting_submission_be_graded(tmp_path: Path) -> None:
    done = run_recipe(tmp_path / "autograder", 3, "it waits, without a score")
    assert b"No mark yet: it waits for an earlier stage." in done.stdout


@needs_bash
def test_the_recipe_asks_for_isolation_and_grades_the_submission(tmp_path: Path) -> None:
    root = tmp_path / "autograder"
    graded(root, 0, "graded")
    asked = (root / "asked").read_text(encoding="utf-8")
    assert f"--submission {root}/submission" in asked
    assert f"--format gradescope={root}/results/results.json" in asked
    assert "--require-isolation landlock" in asked and "--lend passed" in asked


@needs_bash
@pytest.mark.parametrize("script", ["setup.sh", "run_autograder"])
def test_the_scripts_of_the_recipe_are_bash_and_can_be_run(script: str) -> None:
    path = RECIPE / script
    assert path.read_bytes().startswith(b"#!/usr/bin/env bash\n")
    assert b"\r" not in path.read_bytes()
    assert subprocess.run(["bash", "-n", str(path)], check=False).returncode == 0
    assert os.name == "nt" or os.access(path, os.X_OK)
