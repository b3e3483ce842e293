"""The files that a check of a stage depends on: its module, those of earlier stages that it uses, and its tests."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from grader.course.stage import Stage

Kind = Literal["module", "earlier", "tests"]


def others(stage: Stage) -> tuple[Path, ...]:
    """Return the files beside the module: earlier modules, then public and, in an author's copy, hidden tests."""
    tests = [file for folder in _test_folders(stage) for file in sorted(folder.glob("*.py"))]
    return (*_earlier(stage), *tests)


def kind(stage: Stage, path: Path) -> Kind | None:
    """Say what a file is to a stage; None where its checks do not depend on it."""
    if path == stage.module_path:
        return "module"
    if path in _earlier(stage):
        return "earlier"
    return "tests" if path.suffix == ".py" and path.parent in _test_folders(stage) else None


def _earlier(stage: Stage) -> tuple[Path, ...]:
    return tuple(each.module_path for each in stage.builds_on)


def _test_folders(stage: Stage) -> tuple[Path, ...]:
    return stage.tests_path, stage.hidden_root / stage.name
