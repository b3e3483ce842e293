"""The results.json of Gradescope, and the recipe of docs/gradescope that makes it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given

from grader.report.graded import details
from grader.report.gradescope import gradescope
from grader.verdict import Verdict
from tests.conftest import need
from tests.support.authors_copy import RUN, AuthorsCopy
from tests.support.places import HIDDEN, ROOT
from tests.support.verdicts import (
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
from tests.support.workflows import needs_bash

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


RIGHT = (HIDDEN / "s01_matrix_operations" / "solution.py").read_text(encoding="utf-8")
NOTED = '#!/bin/sh\necho "$(basename "$0") $*" >> "$AUTOGRADER_ROOT/noted"\n'
PYTHON = f'{NOTED}mkdir -p "$3/bin"\ncp "$AUTOGRADER_ROOT/fakes/pip" "$AUTOGRADER_ROOT/fakes/uv" "$3/bin/"\n'
UV = f'{NOTED}[ "$1" = run ] || exit 0\nshift 3 # run --no-sync grader\nexec "{sys.executable}" -c "{RUN}" "$@"\n'


class Autograder:
    """A folder as Gradescope lays it out; what installs something only notes that it was asked to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.variables = {
            "AUTOGRADER_ROOT": str(root),
            "AUTOGRADER_TOOLS": str(root / "tools"),
            "AUTOGRADER_PROGRAMS": str(root / "programs"),
        }
        for name in ("fakes", "programs", "source"):
            (root / name).mkdir(parents=True)
        for name, text in (("apt-get", NOTED), ("pip", NOTED), ("python3", PYTHON), ("uv", UV)):
            (root / "fakes" / name).write_text(text, encoding="utf-8")
            (root / "fakes" / name).chmod(0o755)
        for name in ("setup.sh", "run_autograder"):
            text = (RECIPE / name).read_text(encoding="utf-8")
            (root / "source" / name).write_text(text.replace('stage="s15"', 'stage="s01"'), encoding="utf-8")
        AuthorsCopy(root / "source" / "course")

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script of the recipe; programs come before fakes, so that uv is the one that setup.sh has put there."""
        path = f"{self.root / 'programs'}:{self.root / 'fakes'}:{os.environ['PATH']}"
        kept = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        command = ["bash", str(self.root / "source" / script)]
        variables = {**kept, **self.variables, "PATH": path}
        return subprocess.run(command, env=variables, cwd="/", capture_output=True, text=True, check=False, timeout=200)

    def grade(self, files: Mapping[str, str]) -> tuple[subprocess.CompletedProcess[str], dict[str, Any]]:
        """Hand in files, and return how the run ended and the result, which has to have Gradescope's form."""
        shutil.rmtree(self.root / "submission", ignore_errors=True)
        (self.root / "submission").mkdir()
        for name, text in files.items():
            (self.root / "submission" / name).write_text(text, encoding="utf-8")
        done = self.run("run_autograder")
        document: dict[str, Any] = json.loads((self.root / "results" / "results.json").read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator(SCHEMA).validate(document)
        return done, document


@pytest.fixture(scope="module")
def autograder(tmp_path_factory: pytest.TempPathFactory) -> Autograder:
    need("landlock")
    made = Autograder(tmp_path_factory.mktemp("autograder"))
    done = made.run("setup.sh")
    assert done.returncode == 0, done.stderr
    return made


@needs_bash
class TestRecipe:
    """Both scripts, one after the other."""

    def test_the_image_has_what_a_sandbox_needs(self, autograder: Autograder) -> None:
        noted = (autograder.root / "noted").read_text(encoding="utf-8").splitlines()
        assert "apt-get install -y -qq bubblewrap libseccomp2 python3-venv" in noted
        assert noted.index("pip install --quiet uv") < noted.index("uv sync --quiet --no-dev")

    @pytest.mark.full_matrix("docs/gradescope", "grader/course")
    def test_a_right_module_has_every_point(self, autograder: Autograder) -> None:
        done, document = autograder.grade({"matrices.py": RIGHT})
        assert done.returncode == 0, done.stderr
        assert {test["score"] for test in document["tests"]} == {1}
        assert document["extra_data"]["s01"]["isolation"] in ("landlock", "bubblewrap")

    @pytest.mark.parametrize(
        ("files", "said"),
        [({}, "matrices.py"), ({"matrixes.py": RIGHT, "notes.txt": "x"}, "Python files in it: matrixes.py")],
        ids=["nothing", "misnamed"],
    )
    def test_without_the_module_there_is_a_result_that_says_so(
        self, files: dict[str, str], said: str, autograder: Autograder
    ) -> None:
        done, document = autograder.grade(files)
        assert done.returncode == 0, done.stderr
        assert document["score"] == 0
        assert said in document["output"]
