"""The tutorial: its commands are run against a fresh copy with the code that it shows, and show what it says."""

from __future__ import annotations

import ast
import re
import shutil
import sys
from pathlib import Path

import pytest

from grader import cli
from grader.tests.support.places import ROOT

PAGE = ROOT / "docs" / "tutorial.md"
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
    found = steps(PAGE.read_text("utf-8"))
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
