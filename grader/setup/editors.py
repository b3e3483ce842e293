"""Settings of an editor: tasks that check, tests in its explorer, failures at the learner's lines.

What an editor has settings for already stays as it is: only what is missing is added.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from grader import shell
from grader.errors import UsageError
from grader.setup.course_files import backup_folder, read, write

EDITORS = ("vscode",)
Values = dict[str, Any]
_MATCHER = {  # of what `grader check --format problems` prints
    "owner": "grader",
    "source": "grader",
    "fileLocation": ["relative", "${workspaceFolder}"],
    "pattern": {
        "regexp": r"^(.+?):(\d+): (error|warning): (.*)$",
        "file": 1,
        "line": 2,
        "severity": 3,
        "message": 4,
    },
}


@dataclass(frozen=True)
class Written:
    """What was done to the files of an editor: those that were written, and where the old ones are kept, if any are."""

    files: tuple[str, ...]
    kept: str | None


def editor_settings(editor: str, command: str = "grader") -> dict[str, Values]:
    """Return the settings of an editor, by their path in the folder; UsageError for one that is not known.

    command is what is typed in place of `grader`.
    """
    if editor not in EDITORS:
        raise UsageError(f"there are no settings for the editor {editor!r}", f"Choose {', '.join(EDITORS)}.")
    first, *words = shell.split(command)
    shown = {"reveal": "always", "panel": "dedicated", "clear": True}

    def task(label: str, *arguments: str, **more: Any) -> Values:
        return {"label": f"grader: {label}", "type": "shell", "command": first, "args": [*words, *arguments],
                "problemMatcher": [], "presentation": shown, **more}  # fmt: skip

    default = {"kind": "build", "isDefault": True}
    tasks = [
        task("check this stage", "check", "${file}", "--format", "problems", group=default, problemMatcher=_MATCHER),
        task("check the current stage", "check", "--format", "problems", problemMatcher=_MATCHER),
        task("show the checklist of this stage", "check", "${file}"),
        task("hint for this stage", "hint", "${file}"),
    ]
    settings = {
        "python.testing.pytestEnabled": True,
        "python.testing.unittestEnabled": False,
        "python.testing.pytestArgs": ["stages"],
        "files.exclude": {"**/__pycache__": True, "**/.pytest_cache": True},
    }
    return {
        ".vscode/settings.json": settings,
        ".vscode/extensions.json": {"recommendations": ["ms-python.python"]},
        ".vscode/tasks.json": {"version": "2.0.0", "tasks": tasks},
    }


def encoded(values: Values) -> bytes:
    """Return settings as the text of a file."""
    return (json.dumps(values, indent=4, ensure_ascii=False) + "\n").encode()


def write_settings(root: Path, wanted: Mapping[str, Values], now: datetime) -> Written:
    """Add settings to those that a folder has; the old files are kept below .grader/backups.

    Every file is read before one is written. Raises UsageError for one that is not understood, and nothing is changed.
    """
    old = {name: read(root, name) for name in wanted}
    new: dict[str, bytes] = {}
    for name, values in wanted.items():
        text = old[name]
        there = {} if text is None or not text.strip() else _parsed(name, text)
        if text is None or (both := merged(name, there, values)) != there:
            new[name] = encoded(values if text is None else both)
    kept = None
    if any(old[name] is not None for name in new):
        kept = backup_folder(root, now, "editor")
        for name in new:
            if (text := old[name]) is not None:
                write(root / kept / name, text)
    for name, data in new.items():
        write(root / name, data)
    return Written(tuple(new), kept)


def merged(name: str, there: Values, wanted: Values) -> Values:
    """Return what is there with what it lacks.

    Of a list, entries are added that it lacks; a task is known by its label, a list among the settings stays as it is.
    """
    found = dict(there)
    for key, value in wanted.items():
        if key not in there:
            found[key] = value
        elif isinstance(value, list) and not name.endswith("/settings.json"):
            if not isinstance(there[key], list):
                raise UsageError(f"{key} in {name} is not a list: {there[key]!r}", _BY_HAND)
            known = [_label(each) for each in there[key]]
            found[key] = [*there[key], *(each for each in value if _label(each) not in known)]
    return found


def _label(entry: object) -> object:
    return entry.get("label", entry) if isinstance(entry, dict) else entry


_BY_HAND = (
    "Nothing was changed. Repair the file and run the same command again, or add by hand what "
    "`grader editor vscode --print` shows."
)


def _parsed(name: str, text: bytes) -> Values:
    """Return the settings that a file holds; UsageError where it holds none that are understood."""
    try:
        found = json.loads(text.decode("utf-8-sig"))
    except json.JSONDecodeError as error:
        what = f"{name} is not JSON: line {error.lineno}, column {error.colno}: {error.msg}"
        if "//" in text.decode("utf-8", "replace") or "/*" in text.decode("utf-8", "replace"):
            what += " (comments are not understood)"
        raise UsageError(what, _BY_HAND) from error
    except (UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{name} is not JSON: {error}", _BY_HAND) from error
    if not isinstance(found, dict):
        raise UsageError(f"{name} holds a {type(found).__name__}, expected an object with settings", _BY_HAND)
    return found
