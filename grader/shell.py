"""Words of a command line as the shells of this system read and write them, and how `grader` was started.

POSIX shells take shlex's quotes. Windows' take double quotes alone, and there a backslash belongs to a path. Suggested
commands can be pasted: they begin as this grader was started, with grader, uv run grader or python -m grader.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path, PurePath


def is_windows() -> bool:
    """Say whether a command is typed into a shell of Windows."""
    return sys.platform == "win32"


def quoted(word: str) -> str:
    """Return one word as it is typed.

    >>> quoted("my course") in ("'my course'", '"my course"')
    True
    """
    return subprocess.list2cmdline([word]) if is_windows() else shlex.quote(word)


def joined(words: Sequence[str]) -> str:
    """Return words as they are typed."""
    return subprocess.list2cmdline(words) if is_windows() else shlex.join(words)


def split(text: str) -> list[str]:
    """Return the words of a command, such as the one in EDITOR; ValueError where a quote is not closed."""
    if not is_windows():
        return shlex.split(text)
    words = shlex.split(text, posix=False)
    return [word[1:-1] if len(word) > 1 and word[0] == word[-1] and word[0] in "\"'" else word for word in words]


def is_dumb(terminal: str | None) -> bool:
    """Say of $TERM whether the terminal shows lines alone; Windows sets none, and its terminal shows more."""
    return terminal == "dumb" or (terminal is None and not is_windows())


NAME = "grader"
SCRIPTS = (NAME, f"{NAME}.exe", f"{NAME}-script.py")
LONGEST = 60  # characters; what is typed before a command is no longer, or its options are left out
_COMMAND = r"(^|`)grader(?=[ `]|$)"


@dataclass(frozen=True)
class Start:
    """What is known of a start: the script, Python's own arguments, its prefix, and the arguments of the parent."""

    script: str
    arguments: Sequence[str] = ()
    prefix: str = ""
    parent: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    which: Callable[[str], str | None] = shutil.which


def command(start: Start) -> str:
    """Return what is typed in place of `grader`.

    uv leaves a mark in the environment of what it runs, which what that starts inherits; where it is the parent, its
    own options are kept. A script that is not the one on PATH is named by its path.
    """
    script = PurePath(start.script)
    is_module = script.parts[-2:] == (NAME, "__main__.py")
    if not is_module and script.name not in SCRIPTS:  # another program that uses the grader: a test, a notebook
        return NAME
    if given := _of_uv(start.parent, is_module):
        return given
    if "UV_RUN_RECURSION_DEPTH" in start.environment and _is_of(start.environment.get("VIRTUAL_ENV"), start.prefix):
        return f"uv run python -m {NAME}" if is_module else f"uv run {NAME}"
    if is_module:
        return f"{quoted(start.arguments[0] if start.arguments else 'python')} -m {NAME}"
    found = start.which(NAME)
    return NAME if found and _same(found, start.script) else quoted(start.script)


def _of_uv(parent: Sequence[str], is_module: bool) -> str:
    """Return the words of a parent that is uv up to the grader's name; empty where there is none, or a long one."""
    words = [PurePath(parent[0]).name, *parent[1:]] if parent else []
    last = ["-m", NAME] if is_module else [NAME]
    if not words or words[0] not in ("uv", "uvx") or (words[0] == "uv" and not {"run", "uvx"} & set(words[:3])):
        return ""
    end = next((i + len(last) for i in range(1, len(words)) if words[i : i + len(last)] == last), 0)
    if words[1:3] == ["tool", "uvx"]:
        words, end = ["uvx", *words[3:]], end - 2
    text = joined(words[:end]) if end > 0 else ""
    return text if len(text) <= LONGEST else ""


def _is_of(environment: str | None, prefix: str) -> bool:
    return environment is None or not prefix or os.path.realpath(environment) == os.path.realpath(prefix)


def _same(one: str, other: str) -> bool:
    with suppress(OSError):
        return os.path.samefile(one, other)
    return PurePath(one).parent == PurePath(other).parent


def _parent() -> list[str]:
    """Return the arguments of the process that started this one; none where the system does not show them."""
    with suppress(OSError, ValueError):
        return Path(f"/proc/{os.getppid()}/cmdline").read_bytes().decode().rstrip("\0").split("\0")
    return []


@cache
def here() -> str:
    """Return what is typed in place of `grader` to start it as this one was."""
    return command(Start(sys.argv[0], tuple(sys.orig_argv), sys.prefix, _parent(), os.environ))


def portable(name: str) -> str:
    """Return what is typed in place of `grader` where a page is read elsewhere: without a folder of this machine.

    >>> portable("uv run grader"), portable("/home/ada/bin/grader")
    ('uv run grader', 'grader')
    """
    return NAME if {"/", "\\"} & set(name) else name


def typed(text: str, name: str | None = None) -> str:
    """Return text in which a command, alone or `quoted`, begins as this grader was started, or with that name.

    >>> typed("`grader status` shows the road", "uv run grader")
    '`uv run grader status` shows the road'
    """
    return re.sub(_COMMAND, lambda found: f"{found[1]}{here() if name is None else name}", text)
