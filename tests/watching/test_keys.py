"""How editors are told of a file and a line."""

from __future__ import annotations

import pytest

from grader.errors import UsageError
from grader.watching.keys import Opening, opening


def found(environment: dict[str, str], *missing: str) -> Opening:
    return opening("a b.py", 7, environment, lambda name: None if name in missing else f"/bin/{name}")


@pytest.mark.parametrize(
    ("editor", "command", "in_terminal"),
    [
        ("nano", ("nano", "+7", "a b.py"), True),
        ("/usr/bin/vim -u NONE", ("/usr/bin/vim", "-u", "NONE", "+7", "a b.py"), True),
        ("hx", ("hx", "a b.py:7"), True),
        ("subl -w", ("subl", "-w", "a b.py:7"), False),
        ("code --wait", ("code", "--wait", "--goto", "a b.py:7"), False),
        ("pycharm", ("pycharm", "--line", "7", "a b.py"), False),
        ("notepad", ("notepad", "a b.py"), False),
    ],
)
def test_each_editor_gets_the_line_in_its_own_way(editor: str, command: tuple[str, ...], in_terminal: bool) -> None:
    assert found({"EDITOR": editor}) == Opening(command, in_terminal)


def test_inside_vs_code_it_is_vs_code_if_its_command_is_there() -> None:
    inside = {"TERM_PROGRAM": "vscode", "EDITOR": "nano"}
    assert found(inside).command == ("code", "--goto", "a b.py:7")
    assert found(inside, "code").command[0] == "code-insiders"


def test_visual_comes_before_editor() -> None:
    assert found({"VISUAL": "vim", "EDITOR": "nano"}).command[0] == "vim"


@pytest.mark.parametrize(
    ("environment", "said"),
    [({}, "EDITOR is not set"), ({"EDITOR": "ed 'x"}, "cannot be read"), ({"EDITOR": "gone"}, "'gone' is not found")],
)
def test_an_editor_that_cannot_be_started_is_told(environment: dict[str, str], said: str) -> None:
    with pytest.raises(UsageError, match=said) as error:
        found(environment, "gone")
    assert error.value.hint
