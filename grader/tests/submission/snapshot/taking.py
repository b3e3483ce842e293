"""A module as it is handed in, and what is said where it is refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import take

SOURCE = b"def split_heads(x, num_heads):\n    return x\n"
IN_TREE = "stages/s15_attention/attention.py"

needs_links = pytest.mark.skipif(not hasattr(os, "O_NOFOLLOW"), reason="links need rights here")


def put(path: Path, source: bytes = SOURCE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(source)
    return path


def refusal(stage: Stage, path: Path | None, course: Path) -> str:
    with pytest.raises(SubmissionError) as caught:
        take(stage, path, course)
    return str(caught.value)
