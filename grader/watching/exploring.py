"""The picture of a stage that has passed: what `grader explore` prints, run as a command of its own."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

from grader.watching.events import Event, Explored
from grader.watching.kept import own_environment

SECONDS = 120.0


class Exploring:
    """Runs `grader explore` in a thread, and posts what it printed."""

    def __init__(self, root: Path, post: Callable[[Event], None], width: Callable[[], int], colour: bool) -> None:
        self._root = root
        self._post = post
        self._width = width
        self._colour = colour

    def __call__(self, stage: str) -> None:
        """Begin, and return at once."""
        threading.Thread(target=self._run, args=(stage, self._width()), daemon=True).start()

    def _run(self, stage: str, width: int) -> None:
        self._post(Explored(stage, explored(self._root, stage, width, self._colour)))


def explored(root: Path, stage: str, width: int, colour: bool) -> str:
    """Return what `grader explore` prints for a stage, in so many columns; empty where it has nothing to show."""
    environment = {**own_environment(), "COLUMNS": str(width), "PYTHONIOENCODING": "utf-8"}
    for name in ("FORCE_COLOR", "NO_COLOR"):
        environment.pop(name, None)
    environment["FORCE_COLOR" if colour else "NO_COLOR"] = "1"
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-m", "grader", "explore", stage], cwd=root, env=environment, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, start_new_session=os.name == "posix",
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode("utf-8", "replace") if done.returncode in (0, 1) else ""
