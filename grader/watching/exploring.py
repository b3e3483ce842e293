"""The picture of a stage that has passed: what `grader explore` prints, run as a command of its own."""

from __future__ import annotations

import os
import re
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

from grader import children
from grader.course.stage import Course
from grader.explore.plans import may_draw
from grader.watching.events import Event, Explored

SECONDS = 120.0
_COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class Exploring:
    """Runs `grader explore` in a thread, and posts what it printed."""

    def __init__(self, course: Course, post: Callable[[Event], None], width: Callable[[], int], colour: bool) -> None:
        self._course = course
        self._post = post
        self._width = width
        self._colour = colour

    def __call__(self, stage: str) -> bool:
        """Begin, and return at once; False, and nothing runs, for a stage without a drawing."""
        if not may_draw(self._course, stage):
            return False
        threading.Thread(target=self._run, args=(stage, self._width()), daemon=True).start()
        return True

    def _run(self, stage: str, width: int) -> None:
        self._post(explored(self._course.root, stage, width, self._colour))


def explored(root: Path, stage: str, width: int, colour: bool) -> Explored:
    """Return what `grader explore` prints for a stage, in so many columns, or why it shows nothing."""
    environment = {**children.environment(), "COLUMNS": str(width)}
    for name in ("FORCE_COLOR", "NO_COLOR"):
        environment.pop(name, None)
    environment["FORCE_COLOR" if colour else "NO_COLOR"] = "1"
    try:
        command = children.own("grader.__main__", "explore", stage)
        done = children.run(command, environment, SECONDS, cwd=root, start_new_session=os.name == "posix")
    except subprocess.TimeoutExpired:
        return Explored(stage, "", f"exploring {stage} took longer than {SECONDS:g} s, and was ended")
    except OSError as error:
        return Explored(stage, "", f"{stage} cannot be explored: {error.strerror or error}")
    if done.returncode in (0, 1):
        return Explored(stage, done.stdout.decode("utf-8", "replace"))
    return Explored(stage, "", _reason(done.stderr.decode("utf-8", "replace")) or f"{stage} cannot be explored")


def _reason(told: str) -> str:
    """Return the error among what the command told, on one line, without its hint and colours."""
    told = _COLOURS.sub("", told)
    return " ".join(told.partition("error:")[2].partition("\nhint:")[0].split())
