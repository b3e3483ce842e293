"""A learner's copy of the real course, and the grader that its wheel brings."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.support.command import RUN
from tests.support.places import HIDDEN

NAME = "s01_matrix_operations"
REFERENCE = HIDDEN / NAME / "solution.py"
SEVERAL = """
import contextlib, io, json, sys
from grader.cli import main

ended = []
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["grader", *arguments]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        try:
            code = main()
        except SystemExit as end:
            code = end.code
    ended.append([code or 0, out.getvalue(), err.getvalue()])
print(json.dumps(ended))
"""
ENGINE = "engine"  # the folder beside a release into which its wheel is unpacked
LoggedTest = subprocess.CompletedProcess[str]


class Copy:
    """A learner's copy; what is run there imports engine, which is what its wheel holds."""

    def __init__(self, root: Path, engine: Path) -> None:
        self.root = root
        self.engine = engine
        self.module = root / "stages" / NAME / "matrices.py"
        self.key = root / "hidden" / "tests.key"
        self.bundle = root / "hidden" / f"{NAME}.sealed"

    def python(self, *arguments: str) -> LoggedTest:
        environment = {name: value for name, value in os.environ.items() if not name.startswith(("GRADER", "PYTEST"))}
        environment["PYTHONPATH"] = str(self.engine)
        command = [sys.executable, *arguments]
        return subprocess.run(
            command, cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    def grader(self, *arguments: str) -> LoggedTest:
        return self.python("-c", RUN, *arguments)

    def graders(self, *commands: tuple[str, ...]) -> list[LoggedTest]:
        """Return what comes of several commands, one after the other in one process."""
        done = self.python("-c", SEVERAL, json.dumps(commands))
        assert done.returncode == 0, done.stderr
        return [LoggedTest(list(each), *end) for each, end in zip(commands, json.loads(done.stdout), strict=True)]
