"""Words of a command line as POSIX shells and those of Windows take them."""

from __future__ import annotations

import sys

import pytest

from grader import shell
from grader.judging.fresh_judge import _end_of
from grader.watching.keys import opening


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
