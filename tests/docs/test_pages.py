"""The pages say what is so: tutorial, working at a stage, and security."""

from __future__ import annotations

import ast
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader import cli
from grader.course.answers import stub_source
from grader.course.manifest import load_course
from grader.isolation import tier
from tests.support.places import ROOT

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


def test_a_clone_without_the_development_group_runs_a_stage_s_tests(folder: Path) -> None:
    without = [each for name in ("xdist", "xdist.looponfail", "random_order") for each in ("-p", f"no:{name}")]
    told = plain(folder, "tests/", "-v", "-s", *without)
    assert " failed in " in told and "unrecognized arguments" not in told
    assert told.index("dot_product 3") < told.index("outer_product 3")


def test_an_untouched_stub_has_one_line_a_test_and_still_fails(folder: Path) -> None:
    module = folder / STAGE.module_path.name
    module.write_text(stub_source(STAGE), encoding="utf-8")
    lines = plain(folder, "tests/", "-v").splitlines()
    told = [line for line in lines if "::" in line]
    assert len(told) > 20 and all("NOT WRITTEN YET: " in line for line in told), told
    assert f"{len(told)} not written yet" in lines[-1] and len(lines) < len(told) + 20


def test_the_debugger_stops_in_the_learner_s_own_line(folder: Path) -> None:
    told = plain(folder, "tests/", "-x", "--pdb", "-k", "outer", typed="p v\nll\nup\np learner\nq\n")
    assert f"{STAGE.module_path.name}(12)outer_product()" in told and "(Pdb) array([1., 2., 3.])" in told, told
    assert "->" in told and "return v[len(v)] * w" in told and "(Pdb) <module " in told


TUTORIAL_PAGE = ROOT / "docs" / "tutorial.md"
BLOCK = re.compile(r"^```(console|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LEFT_OUT = "…"


def steps(text: str) -> list[tuple[str, str]]:
    """Return what is to be done, in order: ("write", code) or ("run", a command and what it shows)."""
    found = []
    for kind, body in BLOCK.findall(text):
        if kind == "python":
            found.append(("write", body))
        else:
            found += [("run", part) for part in re.split(r"^\$ ", body, flags=re.MULTILINE) if part]
    return found


def write(folder: Path, code: str) -> None:
    """Put the body of a function in the place of the stub's; its first line names the file."""
    first, _, text = code.partition("\n")
    path = folder / first.removeprefix("# ")
    function = ast.parse(text).body[0]
    assert isinstance(function, ast.FunctionDef)
    lines = path.read_text("utf-8").splitlines()
    old = next(
        each
        for each in ast.parse("\n".join(lines)).body
        if isinstance(each, ast.FunctionDef) and each.name == function.name
    )
    first_of_old = old.body[1] if ast.get_docstring(old) else old.body[0]
    lines[first_of_old.lineno - 1 : old.end_lineno] = text.rstrip().splitlines()[1:]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def shows(expected: str, output: str) -> bool:
    """Say whether an output is the one that a page shows, where an ellipsis stands for anything."""
    parts = [re.escape(part) for part in expected.rstrip("\n").split(LEFT_OUT)]
    return re.fullmatch(".*".join(parts) + r"\s*", output.rstrip("\n") + "\n", re.DOTALL) is not None


def test_an_ellipsis_stands_for_anything_and_nothing_else_does() -> None:
    assert shows("one\n…\nfour", "one\ntwo\nthree\nfour")
    assert shows("one …\n…\n", "one two\nthree\n")
    assert not shows("one\nfour", "one\ntwo\nthree\nfour")
    assert not shows("one\n…\nfive", "one\ntwo\nthree\nfour")


def test_the_commands_of_the_tutorial_show_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("stages", "hidden", "drawings"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    settings = (ROOT / "pyproject.toml").read_text("utf-8")
    settings = re.sub("^demo = .*\n", "", settings, flags=re.MULTILINE)  # a learner's copy has none
    (tmp_path / "pyproject.toml").write_text(settings, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    found = steps(TUTORIAL_PAGE.read_text("utf-8"))
    assert [kind for kind, _ in found].count("run") >= 7
    for kind, text in found:
        if kind == "write":
            write(tmp_path, text)
            continue
        command, _, expected = text.partition("\n")
        assert command.split()[0] == "grader"
        monkeypatch.setattr(sys, "argv", command.split())
        with pytest.raises(SystemExit):
            cli.main()
        told = capsys.readouterr()
        assert shows(expected, told.out + told.err), f"{command} shows\n{told.out}{told.err}"


TESTS = ROOT / "tests"
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
PROMISES = ("What is promised in every tier", "What a class adds")


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## )", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"SECURITY.md has no section {title!r}"
    return found[1]


def bullets(title: str) -> list[str]:
    return [each.strip() for each in re.split(r"^- ", section(title), flags=re.MULTILINE)[1:]]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("promise", [each for title in PROMISES for each in bullets(title)], ids=lambda text: text[:50])
def test_a_promise_names_the_tests_that_show_it(promise: str) -> None:
    assert NAMED.search(promise), f"no test is named beside: {promise}"


ROW = re.compile(r"^\| (?!\s|for whom|-)([^|]+) \|", re.MULTILINE)


@pytest.mark.parametrize("row", ROW.findall(section("What the tiers add")))
def test_a_row_of_the_table_of_tiers_is_shown_by_tests(row: str) -> None:
    shown = next((each for each in bullets("What the tiers add") if each.startswith(f"{row}:")), "")
    assert NAMED.search(shown), f"no test is named for the row {row!r}"


def test_the_table_of_tiers_says_what_each_tier_says_of_itself() -> None:
    found = [tier.registered()[name] for name in ("bubblewrap", "landlock", "process")]
    rows = [f"| {row} | {' | '.join(each.promises[row] for each in found)} |" for row in tier.ROWS]
    assert section("What the tiers add").strip().splitlines()[2 : 2 + len(rows)] == rows


def test_a_test_that_is_named_exists() -> None:
    named = sorted(set(NAMED.findall(TEXT)))
    there = {path for path, _ in named if (TESTS / path).is_file()}
    assert len(named) > 50 and [f"tests/{path}" for path, _ in named if path not in there] == []
    assert [f"tests/{path}::{name}" for path, name in named if name not in names_in(path)] == []
