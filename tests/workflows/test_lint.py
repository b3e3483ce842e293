"""What .ci/lint runs: style, spelling, counters, fragments of the changelog, and the audit."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from tests.support.places import ROOT
from tests.support.workflows import needs_bash, read, steps

CI = ROOT / ".ci"
TOOLS = (
    "ruff check", "ruff format --check", "mypy", "bandit", "python .ci/spelling.py",
    "python .ci/requirements.py --check", "python .ci/counters.py", "zizmor", "actionlint",
)  # fmt: skip


@needs_bash
@pytest.mark.parametrize("name", ["audit", "lint", "run", "sandbox"])
def test_every_script_of_the_check_is_bash(name: str) -> None:
    assert subprocess.run(["bash", "-n", str(CI / name)], check=False).returncode == 0


def test_the_tests_that_a_script_names_are_there() -> None:
    scripts = [path for path in CI.iterdir() if path.is_file()]
    named = {place for path in scripts for place in re.findall(r"\btests/[\w/]+(?:\.py)?", path.read_text("utf-8"))}
    assert named
    assert [place for place in sorted(named) if not (ROOT / place).exists()] == []


def test_the_check_and_the_hook_run_the_same_script() -> None:
    assert "\nbash .ci/lint " in (CI / "run").read_text(encoding="utf-8")
    (repository,) = read(ROOT / ".pre-commit-config.yaml")["repos"]
    (hook,) = repository["hooks"]
    assert (repository["repo"], hook["language"]) == ("local", "system")
    assert (hook["entry"], hook["pass_filenames"], hook["always_run"]) == ("bash .ci/lint", False, True)


def lint(folder: Path, *programs: str, fails: str = "none", uname: str = "Linux") -> tuple[int, str, str]:
    """Run the script among programs that only note how they are called; return exit code, notes and messages."""
    for name in (".ci", "bin"):
        (folder / name).mkdir()
    (folder / ".ci" / "lint").write_bytes((CI / "lint").read_bytes())
    for program in programs:
        path = folder / "bin" / program
        path.write_text(f'#!/bin/sh\necho "{program} $*" >> called\n[ "$4" != {fails} ]\n', encoding="utf-8")
        path.chmod(0o755)
    system = folder / "bin" / "uname"
    system.write_text(f"#!/bin/sh\necho {uname}\n", encoding="utf-8")
    system.chmod(0o755)
    command = ["bash", str(folder / ".ci" / "lint")]
    path_of_tools = f"{folder / 'bin'}:/usr/bin:/bin"
    done = subprocess.run(command, env={"PATH": path_of_tools}, capture_output=True, text=True, check=False)
    return done.returncode, (folder / "called").read_text(encoding="utf-8"), done.stderr


@needs_bash
def test_each_tool_runs(tmp_path: Path) -> None:
    code, called, _ = lint(tmp_path, "uv")
    assert code == 0
    assert [tool for tool in TOOLS if f"uv run --group dev {tool}" not in called] == []
    assert "uv run --group dev actionlint .github/workflows/" in called


@needs_bash
def test_a_finding_fails_the_check(tmp_path: Path) -> None:
    code, called, _ = lint(tmp_path, "uv", fails="mypy")
    assert code == 1
    assert called.endswith("uv run --group dev mypy\n")


@needs_bash
def test_where_actionlint_has_no_wheel_that_is_said(tmp_path: Path) -> None:
    code, called, messages = lint(tmp_path, "uv", uname="Darwin")
    assert code == 0
    assert "actionlint" not in called and "skipped here" in messages


@needs_bash
@pytest.mark.parametrize(("linted", "tested", "code"), [(0, 0, 0), (1, 0, 1), (0, 3, 3), (1, 3, 1)])
def test_the_check_fails_where_its_lint_or_a_test_does_and_shows_both(
    tmp_path: Path, linted: int, tested: int, code: int
) -> None:
    for name in (".ci", "bin"):
        (tmp_path / name).mkdir()
    for name in ("run", "base"):
        shutil.copy(CI / name, tmp_path / ".ci")
    (tmp_path / ".ci" / "lint").write_text(f"sleep 0.2; echo a line is too long; exit {linted}\n", encoding="utf-8")
    for name, does in (
        ("uv", f'case "$*" in "run --group dev pytest"*) echo a test; exit {tested};; esac'),
        ("bwrap", ""),
    ):
        (tmp_path / "bin" / name).write_text(f"#!/bin/sh\n{does}\n", encoding="utf-8")
        (tmp_path / "bin" / name).chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}", "GIT_DIR": str(tmp_path / "none")}
    done = subprocess.run(
        ["bash", ".ci/run"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout.splitlines()) == (code, ["a test", "a line is too long"]), done.stderr


@pytest.fixture(scope="module")
def spelling() -> ModuleType:
    pytest.importorskip("codespell_lib", reason="codespell is not installed")
    spec = importlib.util.spec_from_file_location("spelling", ROOT / ".ci" / "spelling.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("one\n\nThe color of the center.", [(3, "color"), (3, "center")]),
        ("The colour of the centre.", []),
        ("```\ncenter\n```\ncenter", [(4, "center")]),
        ("    x = center\n`normalize` and center_table", []),
        ('Ioffe, [Batch Normalization](https://example.org), "Adam: Stochastic Optimization", *Optimization*', []),
        ("[the color](page.md)", [(1, "color")]),
    ],
)
def test_american_words_are_found_in_prose_only(page: str, found: list[tuple[int, str]], spelling: ModuleType) -> None:
    assert list(spelling.american(page, spelling.british())) == found


def test_the_pages_have_one_spelling(spelling: ModuleType) -> None:
    pages = [name for name in spelling.tracked() if name.endswith(".md")]
    assert "README.md" in pages
    known = spelling.british()
    assert {name: list(spelling.american((ROOT / name).read_text("utf-8"), known)) for name in pages} == {
        name: [] for name in pages
    }


MODULES = {
    "__init__.py": '"""A grader."""\n',
    "one/__init__.py": '"""What a room is for."""\n',
    "one/same.py": '"""Whether it is the same."""\n\nfrom grader.two import used\n\nclass Plan: pass\n',
    "two/__init__.py": '"""A room."""\n',
    "two/same.py": '"""Whatever it is."""\n\nif True:\n    class Plan: pass\n\ndef long():\n' + "    x = 1\n" * 60,
    "two/used.py": '"""A part of `one`."""\n\nclass Once:\n    class Inner: pass\n',
}
COUNTED = {
    "shared-types": ["Plan: grader/one/same.py:5, grader/two/same.py:4"],
    "shared-modules": ["same: grader/one/same.py, grader/two/same.py"],
    "small-modules": ["grader/two/used.py (4 lines): grader.one.same"],
    "long-functions": ["grader/two/same.py:6 long (61 lines)"],
    "questions": ["grader/one/__init__.py: What a room is for.", "grader/one/same.py: Whether it is the same."],
}
MOST = "".join(f"{name} = {len(found)}\n" for name, found in COUNTED.items())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A repository with a small grader, the script, and the numbers as they are."""
    for name, text in MODULES.items():
        (tmp_path / "grader" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "grader" / name).write_text(text, encoding="utf-8")
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "counters.py", tmp_path / ".ci")
    (tmp_path / ".ci" / "counters.toml").write_text(MOST, encoding="utf-8")
    return tmp_path


def run(root: Path, *arguments: str) -> tuple[int, str]:
    command = [sys.executable, str(root / ".ci" / "counters.py"), *arguments]
    done = subprocess.run(command, capture_output=True, encoding="utf-8", check=False)
    assert not done.stderr
    return done.returncode, done.stdout


@pytest.mark.parametrize("name", COUNTED)
def test_each_counter_lists_what_it_counts(root: Path, name: str) -> None:
    assert run(root, "--list", name) == (0, "".join(f"{line}\n" for line in COUNTED[name]))


def test_a_number_that_rises_fails_and_cannot_be_written(root: Path) -> None:
    assert run(root) == (0, "")
    (root / "grader" / "one" / "used.py").write_text('"""Why another one."""\n', encoding="utf-8")
    for arguments in ((), ("--write",)):
        code, said = run(root, *arguments)
        assert code == 1
        assert "shared-modules: 2, and 1 is the most." in said and "questions: 3, and 2 is the most." in said
        assert "shared-types" not in said


def test_a_number_that_falls_is_said_and_then_kept(root: Path) -> None:
    (root / "grader" / "one" / "same.py").unlink()
    code, said = run(root)
    assert code == 0 and "shared-types from 1 to 0" in said
    assert run(root, "--write") == (0, "")
    values = tomllib.loads((root / ".ci" / "counters.toml").read_text(encoding="utf-8"))
    expected = {"shared-types": 0, "shared-modules": 0, "small-modules": 0, "long-functions": 1, "questions": 1}
    assert values == expected


def test_the_check_counts() -> None:
    assert "python .ci/counters.py\n" in (ROOT / ".ci" / "lint").read_text(encoding="utf-8")


KINDS = ("added", "changed", "fixed", "removed")
CHANGES = sorted(path for path in (ROOT / "changes").iterdir() if path.name != "README.md")


def draft(root: Path) -> subprocess.CompletedProcess[str]:
    """Return what towncrier would add to the changelog of a repository."""
    command = [sys.executable, "-m", "towncrier", "build", "--draft", "--version", "9.9", "--date", "2030-01-01"]
    return subprocess.run(command, cwd=root, capture_output=True, encoding="utf-8", check=False)


def test_a_change_is_one_line_of_a_known_kind() -> None:
    named, text = rf"\+[a-z0-9-]+\.({'|'.join(KINDS)})\.md", r"[^\s\-#][^\n]{20,400}[.!]\n"
    assert [path.name for path in CHANGES if not re.fullmatch(named, path.name)] == []
    wrong = [path.name for path in CHANGES if not re.fullmatch(text, path.read_text(encoding="utf-8"))]
    assert wrong == [], "one line, a sentence or two, without a bullet"


def test_every_change_comes_into_the_changelog() -> None:
    done = draft(ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("## 9.9 (2030-01-01)\n") or not CHANGES
    assert [path.name for path in CHANGES if f"- {path.read_text(encoding='utf-8').strip()}" not in done.stdout] == []


def test_a_file_whose_name_says_no_kind_is_refused(tmp_path: Path) -> None:
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    shutil.copytree(ROOT / "changes", tmp_path / "changes")
    (tmp_path / "changes" / "+more.better.md").write_text("More is better.\n", encoding="utf-8")
    done = draft(tmp_path)
    assert done.returncode != 0 and "+more.better.md" in done.stdout + done.stderr


def test_the_page_says_what_it_is_and_which_kinds_there_are() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["towncrier"]
    assert tuple(kind["directory"] for kind in settings["type"]) == KINDS
    page = (ROOT / "changes" / "README.md").read_text(encoding="utf-8")
    assert all(f"`{kind}`" in page for kind in KINDS)


def test_the_first_version_has_a_page_and_no_more() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    (first,) = re.findall(r"^## 0\.1\.0 .*?(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert len(first.splitlines()) <= 60
    assert "<!-- towncrier release notes start -->\n" in text


def test_every_exception_from_the_audit_has_a_reason() -> None:
    text = (ROOT / ".ci" / "audit").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^exceptions=\(\n(.*?)^\)", text, re.MULTILINE | re.DOTALL)
    assert [line for line in listed.splitlines() if not re.fullmatch(r"  [A-Z0-9-]+ # .{20,}", line)] == []


def test_every_change_is_audited() -> None:
    for name in ("ci.yml", "nightly.yml"):
        assert "bash .ci/audit" in [each.get("run") for _, each in steps(read(ROOT / ".github" / "workflows" / name))]
    assert "\nuv run --group dev bandit " in (ROOT / ".ci" / "lint").read_text(encoding="utf-8")


@needs_bash
def test_the_audit_is_bash() -> None:
    assert subprocess.run(["bash", "-n", str(ROOT / ".ci" / "audit")], check=False).returncode == 0


@pytest.mark.full_matrix("pyproject.toml", ".ci")
def test_what_bandit_passes_over_everywhere_stands_in_few_files() -> None:
    """A grader runs Python and names paths of a sandbox; where it begins to do so elsewhere, that is looked at."""
    pytest.importorskip("bandit")
    allowed = {
        "B102": {
            "diagnosis/known_mistakes.py",
            "diagnosis/runner.py",
            "course/answers.py",
            "course/import_guard.py",
            "judging/pytest_suite.py",
            "worker/loading.py",
        },
        "B108": {"isolation/bubblewrap.py", "isolation/leftovers.py", "isolation/zygote.py"},
        "B608": {"gradebook/schema.py", "gradebook/store.py"},
    }
    rules = ("--tests", ",".join(allowed), "--format", "json", "--quiet")
    command = [sys.executable, "-m", "bandit", "--recursive", str(ROOT / "grader"), *rules]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    found = [(each["test_id"], Path(each["filename"])) for each in json.loads(done.stdout)["results"]]
    assert found
    places = [(rule, path.relative_to(ROOT / "grader").as_posix()) for rule, path in found]
    assert [place for place in places if place[1] not in allowed[place[0]]] == []


def test_every_exception_from_a_rule_of_bandit_has_a_reason() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8").splitlines()
    code = [path for path in (ROOT / "grader").rglob("*.py") if "tests" not in path.parts]
    marked = [line for path in code for line in path.read_text("utf-8").splitlines() if "# nosec" in line]
    assert marked
    assert [line for line in marked if not re.search(r"# nosec B\d{3}(, B\d{3})* # .{15,}", line)] == []
    skipped = [line for line in project if re.match(r'\s+"B\d{3}"', line)]
    assert [line for line in skipped if not re.search(r"# .{10,}", line)] == []
