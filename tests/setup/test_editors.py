"""Settings of an editor: what is there stays, what is missing is added, what is not understood is refused."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.report.problems import problems
from grader.setup.editors import editor_settings, write_settings
from tests.setup.editions import texts
from tests.support.verdicts import LABEL, PASSED, PUBLIC, RIGHT, SCENE, SPLIT, SYNTAX, VERDICT, report

NOW = datetime(2026, 11, 21, 12, 30, 5, tzinfo=UTC)
WANTED = editor_settings("vscode", "uv run grader")
TASKS, SETTINGS, EXTENSIONS = (f".vscode/{name}.json" for name in ("tasks", "settings", "extensions"))


def own(root: Path, name: str, text: str) -> Path:
    path = root / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_folder_without_settings_gets_all_of_them(tmp_path: Path) -> None:
    done = write_settings(tmp_path, WANTED, NOW)
    assert set(done.files) == set(WANTED) and done.kept is None
    assert {name: json.loads(text) for name, text in texts(tmp_path).items()} == WANTED


def test_tasks_start_the_grader_as_the_command_was_started() -> None:
    task = WANTED[TASKS]["tasks"][0]
    assert (task["command"], task["args"][:3]) == ("uv", ["run", "grader", "check"])


def test_a_second_time_nothing_is_changed(tmp_path: Path) -> None:
    write_settings(tmp_path, WANTED, NOW)
    assert write_settings(tmp_path, WANTED, NOW).files == ()


def test_a_users_own_settings_stay_and_the_old_files_are_kept(tmp_path: Path) -> None:
    mine: dict[str, Any] = {"python.testing.pytestArgs": ["mine"], "editor.fontSize": 20}
    label = WANTED[TASKS]["tasks"][0]["label"]
    tasks: dict[str, Any] = {"version": "2.0.0", "tasks": [{"label": label, "command": "mine"}, {"label": "build"}]}
    own(tmp_path, SETTINGS, json.dumps(mine))
    own(tmp_path, TASKS, "\ufeff" + json.dumps(tasks))
    own(tmp_path, EXTENSIONS, '{"recommendations": ["mine.mine"]}')
    done = write_settings(tmp_path, WANTED, NOW)
    found = {name: json.loads((tmp_path / name).read_text("utf-8")) for name in WANTED}
    assert found[SETTINGS] == {**WANTED[SETTINGS], **mine}
    assert found[TASKS]["tasks"] == [*tasks["tasks"], *WANTED[TASKS]["tasks"][1:]]
    assert found[EXTENSIONS]["recommendations"] == ["mine.mine", "ms-python.python"]
    assert done.kept == ".grader/backups/editor-20261121T123005Z"
    assert json.loads((tmp_path / done.kept / SETTINGS).read_text()) == mine


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n  // mine\n  "a": 1\n}', "line 2, column 3: .* (comments are not understood)"),
        ('{"a": 1,}', "settings.json is not JSON: line 1"),
        ("[1]", "holds a list, expected an object"),
        ("\udc80", "is not JSON"),
    ],
)
def test_what_is_not_understood_is_refused_and_nothing_is_changed(tmp_path: Path, text: str, message: str) -> None:
    path = own(tmp_path, SETTINGS, "")
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    before = path.read_bytes()
    with pytest.raises(UsageError, match=message.replace("(", r"\(").replace(")", r"\)")) as caught:
        write_settings(tmp_path, WANTED, NOW)
    assert "Nothing was changed." in (caught.value.hint or "")
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == [path] and path.read_bytes() == before


def test_tasks_that_are_no_list_are_refused(tmp_path: Path) -> None:
    own(tmp_path, TASKS, '{"tasks": {}}')
    with pytest.raises(UsageError, match=r"tasks in \.vscode/tasks\.json is not a list"):
        write_settings(tmp_path, WANTED, NOW)


def matched(text: str) -> list[tuple[str, ...]]:
    """Return what the problem matcher finds in a text."""
    pattern = WANTED[TASKS]["tasks"][0]["problemMatcher"]["pattern"]
    assert [pattern[key] for key in ("file", "line", "severity", "message")] == [1, 2, 3, 4]
    return [match.groups() for line in text.splitlines() if (match := re.match(pattern["regexp"], line))]


def test_the_matcher_finds_each_row_that_fails_at_its_line() -> None:
    found = matched(problems(report(VERDICT), SCENE))
    assert [each[:3] for each in found] == [(LABEL, "142", "error"), (LABEL, "142", "error")]
    assert "72 of 96 values differ · Tokens are mixed across heads." in found[0][3] and "Swap axes" not in found[0][3]
    two = replace(PUBLIC, message="shape (3,) is right\nevery value is 9.0\nworst at [1]:\nexpected 1.0, got 9.0")
    (line, *_) = matched(problems(report(replace(VERDICT, criteria=(replace(SPLIT, failures=(two,)),))), SCENE))
    assert "shape (3,) is right; every value is 9.0; worst at [1]: expected 1.0, got 9.0 · " in line[3]
    assert [each[:3] for each in matched(problems(report(SYNTAX), SCENE))] == [(LABEL, "3", "error")]
    assert matched(problems(report(PASSED), SCENE)) == []


def test_a_row_that_is_right_but_for_other_kinds_is_a_warning() -> None:
    found = matched(problems(report(replace(VERDICT, criteria=(RIGHT,))), SCENE))
    assert [each[:3] for each in found] == [(LABEL, "142", "warning")]
