"""A copy of the grader and its first stage in which an author's commands may write."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from tests.support.places import HIDDEN, ROOT

RUN = "import sys; from grader.cli import main; sys.argv[0] = 'grader'; main()"


class AuthorsCopy:
    """The copy; what is run there imports the copied grader."""

    def __init__(self, root: Path) -> None:
        self.root = root
        others = [path for path in (ROOT / "stages").iterdir() if path.is_dir() and path.name[:4] != "s01_"]
        left_out = {*others, *(HIDDEN / path.name for path in others)}

        def ignored(folder: str, names: list[str]) -> list[str]:
            is_course = not Path(folder).is_relative_to(
                ROOT / "grader"
            )  # compiled, the grader starts at twice the speed
            return [name for name in names if (is_course and name == "__pycache__") or Path(folder, name) in left_out]

        for folder in ("grader", "stages", "hidden", "drawings", "demo", "docs"):
            shutil.copytree(ROOT / folder, root / folder, ignore=ignored)
        shutil.copy(ROOT / "pyproject.toml", root)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """Run `grader` in the copy."""
        command = [sys.executable, "-c", RUN, *arguments]
        return subprocess.run(command, cwd=self.root, capture_output=True, text=True, check=False)
