"""The page on working at a stage: plain pytest and its debuggers do in a stage's folder what the page says."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from grader.course.answers import stub_source
from grader.course.manifest import load_course
from grader.tests.support.places import ROOT

PAGE = (ROOT / "docs" / "learning.md").read_text(encoding="utf-8")
STAGE = load_course(ROOT).find("s01")
FAILING = """\
print("the module is read")


def dot_product(v, w):
    print("dot_product", len(v))
    total = v[0] * w[0]
    return total


def outer_product(v, w):
    print("outer_product", len(v))
    return v[len(v)] * w
"""


@pytest.fixture
def configuration() -> dict[str, Any]:
    """The launch configuration of VS Code that the page shows."""
    (block,) = re.findall(r"^```json\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    launch = json.loads(block)
    assert set(launch) == {"version", "configurations"} and launch["version"] == "0.2.0"
    (found,) = launch["configurations"]
    return dict(found)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of a stage with two failing functions, in a copy that has this repository's settings of pytest."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(STAGE.folder, tmp_path / "stages" / STAGE.folder.name)
    (tmp_path / "stages" / STAGE.folder.name / STAGE.module_path.name).write_text(FAILING, encoding="utf-8")
    return tmp_path / "stages" / STAGE.folder.name


def plain(folder: Path, *arguments: str, typed: str = "") -> str:
    """Run plain pytest in a folder, where its tests fail, and return all that it printed."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments], cwd=folder, env=variables,
        input=typed, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode in (1, 2), done.stdout
    return done.stdout


def test_the_launch_configuration_names_what_there_is(configuration: dict[str, Any]) -> None:
    known = {"name", "type", "request", "module", "args", "cwd", "console", "justMyCode"}
    assert set(configuration) <= known and configuration["request"] == "launch"
    assert configuration["type"] == "debugpy" and importlib.util.find_spec(configuration["module"])
    assert configuration["cwd"] == "${fileDirname}"  # of the module that is open
    named = [each for each in configuration["args"] if not each.startswith("-")]
    assert named == ["tests"]
    for stage in load_course(ROOT).stages:
        assert all((stage.module_path.parent / each).is_dir() for each in named), stage.id


def test_plain_pytest_runs_in_one_process_in_order_with_prints(folder: Path, configuration: dict[str, Any]) -> None:
    told = plain(folder, *configuration["args"], "-s")
    assert "workers" not in told and told.count("FAILED ") == 1
    assert told.index("the module is read") < told.index("dot_product 3") < told.index("DotProduct.test_three_entries")
    assert "outer_product 3" not in told
    told = plain(folder, "tests/", "-v", "-s")
    assert told.index("dot_product 3") < told.index("outer_product 3")


def test_a_clone_without_the_development_group_runs_a_stage_s_tests(folder: Path) -> None:
    without = [each for name in ("xdist", "xdist.looponfail", "random_order") for each in ("-p", f"no:{name}")]
    told = plain(folder, "tests/", "-v", *without)
    assert " failed in " in told and "unrecognized arguments" not in told


def test_an_untouched_stub_has_one_line_a_test_and_still_fails(folder: Path) -> None:
    module = folder / STAGE.module_path.name
    module.write_text(stub_source(STAGE), encoding="utf-8")
    lines = plain(folder, "tests/", "-v").splitlines()
    told = [line for line in lines if "::" in line]
    assert len(told) > 20 and all("NOT WRITTEN YET: " in line for line in told), told
    assert f"{len(told)} not written yet" in lines[-1] and len(lines) < len(told) + 20
    module.write_text(FAILING, encoding="utf-8")
    assert "1 failed" in plain(folder, "tests/", "-k", "outer", "-x")


def test_the_debugger_stops_in_the_learner_s_own_line(folder: Path) -> None:
    told = plain(folder, "tests/", "-x", "--pdb", "-k", "outer", typed="p v\nll\nup\np learner\nq\n")
    assert f"{STAGE.module_path.name}(12)outer_product()" in told and "(Pdb) array([1., 2., 3.])" in told, told
    assert "->" in told and "return v[len(v)] * w" in told and "(Pdb) <module " in told
