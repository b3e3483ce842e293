"""Words of a command line, as the shells of this system read and write them.

POSIX shells take shlex's quotes. Windows' take double quotes alone, and there a backslash belongs to a path.
"""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Sequence


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
