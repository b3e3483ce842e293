"""The recipe for Gradescope from image to results.json, in a folder that stands for /autograder, with no rights."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from grader.tests.conftest import need
from grader.tests.support.authors_copy import RUN, AuthorsCopy
from grader.tests.support.places import HIDDEN, ROOT
from grader.tests.support.workflows import needs_bash

RECIPE = ROOT / "docs" / "gradescope"
SCHEMA = json.loads(resources.files("grader.report").joinpath("schemas/gradescope.schema.json").read_text("utf-8"))
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
