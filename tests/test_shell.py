"""Words of a command line as POSIX shells and those of Windows take them."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from grader import shell
from grader.judging.fresh_judge import _end_of
from grader.shell import Start, command, here, portable, typed
from grader.watching.keys import opening
from tests.support.places import ROOT


@pytest.fixture(params=["linux", "darwin", "win32"])
def platform(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr(sys, "platform", request.param)
    return str(request.param)


def test_a_folder_with_a_space_can_be_pasted(platform: str) -> None:
    assert shell.quoted("my course") == ('"my course"' if platform == "win32" else "'my course'")
    assert shell.quoted("course") == "course"
    path = r"C:\Users\Ada\course"
    assert shell.quoted(path) == (path if platform == "win32" else f"'{path}'")


def test_what_was_joined_is_split_again(platform: str) -> None:
    words = ["uv", "run", "grader", "a b/c"]
    assert shell.split(shell.joined(words)) == words


def test_a_path_of_windows_keeps_its_backslashes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    code = r"C:\Program Files\Microsoft VS Code\bin\code.cmd"
    environment = {"EDITOR": f'"{code}" --wait'}
    assert opening("a.py", 7, environment, lambda name: name).command[:2] == (code, "--wait")
    assert opening("a.py", 7, {"EDITOR": r"C:\bin\vim.exe"}, lambda name: name).command[0] == r"C:\bin\vim.exe"


def test_a_quote_that_is_not_closed_is_an_error(platform: str) -> None:
    with pytest.raises(ValueError, match="closing quotation"):
        shell.split('code "a')


@pytest.mark.usefixtures("platform")
def test_a_terminal_that_says_it_is_dumb_is_believed() -> None:
    assert shell.is_dumb("dumb") and not shell.is_dumb("xterm")


def test_a_terminal_of_windows_has_no_name(platform: str) -> None:
    assert shell.is_dumb(None) == (platform != "win32")


@pytest.mark.parametrize(
    ("status", "words"),
    [(-11, "signal 11"), (-15, "an unexpected end"), (1, "an unexpected end"), (0xC0000005, "exit code 0xc0000005")],
)
def test_the_end_of_a_process_is_told_as_the_system_has_it(status: int, words: str) -> None:
    assert _end_of(status) == words


UV = {"UV_RUN_RECURSION_DEPTH": "1", "VIRTUAL_ENV": "/course/.venv"}
SCRIPT, MODULE = "/course/.venv/bin/grader", "/course/grader/__main__.py"


def started(
    script: str, environment: Mapping[str, str] | None = None, parent: Sequence[str] = (), on_path: str | None = None
) -> str:
    return command(Start(script, ["python3"], "/course/.venv", parent, environment or {}, lambda name: on_path))


@pytest.mark.parametrize(
    ("script", "told"),
    [
        (SCRIPT, "uv run grader"),
        (MODULE, "uv run python -m grader"),
        ("pytest", "grader"),
        ("/x/pytest/__main__.py", "grader"),
    ],
)
def test_uv_marks_what_it_runs(script: str, told: str) -> None:
    assert started(script, UV) == told == started(script, UV, on_path=SCRIPT)  # its own PATH finds the script


def test_a_mark_of_another_project_is_not_ours() -> None:
    assert started(SCRIPT, UV | {"VIRTUAL_ENV": "/elsewhere"}, on_path=SCRIPT) == "grader"
    assert started(SCRIPT, {"UV": "/bin/uv"}, on_path=SCRIPT) == "grader"  # a setting of uv's, not a run


@pytest.mark.parametrize(
    ("parent", "script", "told"),
    [
        ("/bin/uv run grader check s01", SCRIPT, "uv run grader"),
        ("uv run --project ../course -q grader check", SCRIPT, "uv run --project ../course -q grader"),
        ("uv run python -m grader check", MODULE, "uv run python -m grader"),
        ("uvx grader check", SCRIPT, "uvx grader"),
        ("uv tool uvx --from attention-grader grader init x", SCRIPT, "uvx --from attention-grader grader"),
        ("bash", SCRIPT, "uv run grader"),
        ("uv run bash -c x", SCRIPT, "uv run grader"),
        (f"uv run --with {'x' * 80} grader check", SCRIPT, "uv run grader"),
        ("uv pip install grader", SCRIPT, "uv run grader"),
    ],
)
def test_the_options_of_uv_are_kept(parent: str, script: str, told: str) -> None:
    assert started(script, UV, parent.split()) == told


def test_a_script_on_path_is_called_by_its_name() -> None:
    assert started(SCRIPT, on_path=SCRIPT) == "grader"
    assert started("C:/course/.venv/Scripts/grader.exe", on_path="C:/course/.venv/Scripts/grader.EXE") == "grader"


def test_one_that_is_not_is_called_by_its_path(tmp_path: Path) -> None:
    assert started(".venv/bin/grader") == ".venv/bin/grader"
    other, own = tmp_path / "grader", tmp_path / "my course" / "grader"
    own.parent.mkdir()
    for each in (other, own):
        each.touch()
    assert started(str(own), on_path=str(other)) == f"'{own}'"
    assert started(str(own), on_path=str(own)) == "grader"


def test_a_module_is_called_as_one() -> None:
    assert started(MODULE, on_path=SCRIPT) == "python3 -m grader"


def test_commands_alone_and_quoted_are_told_anew() -> None:
    assert typed("`grader` says more; `grader hint s01 a` helps", "uv run grader") == (
        "`uv run grader` says more; `uv run grader hint s01 a` helps"
    )
    assert typed("grader check s01", "x") == "x check s01" and typed("grader", "x") == "x"
    for text in ("this grader is new", "`graders check`", "`git grader`", "grader's", "attention-grader check"):
        assert typed(text, "x") == text
    assert here() == "grader" and typed("grader check") == "grader check"


def test_the_module_says_so_in_a_real_start() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "grader"], cwd=ROOT, capture_output=True, text=True, timeout=60,
        env={"PATH": "/usr/bin:/bin", "COLUMNS": "300", "PYTHONUTF8": "1"},
    )  # fmt: skip
    assert done.returncode == 0 and f"{sys.executable} -m grader check" in done.stdout, done.stderr


def test_a_page_that_travels_names_no_folder() -> None:
    assert [portable(name) for name in ("grader", "uv run grader", "python -m grader")] == [
        "grader",
        "uv run grader",
        "python -m grader",
    ]
    assert portable("/home/ada/my course/bin/grader") == portable(r"C:\venv\grader.exe") == "grader"
