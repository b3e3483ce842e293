"""A learner's modules in a course whose stages build on one another."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader import __version__
from grader.progress.store import Store
from tests.courses.conftest import solution
from tests.support.command import Done

Grade = Callable[..., Done]
SPY = """
import sys
from pathlib import Path

if "pytest" in sys.modules or "grader.judging" in sys.modules:
    Path({marker!r}).write_text("ran where the tests are")
"""


def module(root: Path, stage: str) -> Path:
    (folder,) = (root / "stages").glob(f"{stage}_*")
    return next(folder.glob("*.py"))


def wrote(root: Path, stage: str, text: str | None = None, *, passed: bool = False) -> Path:
    """Write a learner's module, by default the solution, and record it as passed if it is said to be."""
    path = module(root, stage)
    path.write_text(solution(stage).read_text() if text is None else text)
    if passed:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        Store(root).record_pass(stage, digest, 1, __version__, datetime.now(UTC))
    return path


def sources(verdict: Any) -> dict[str, str]:
    return {use["stage"]: use["source"] for use in verdict["uses"]}
