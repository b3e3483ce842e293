"""A module in a revision of a git repository, and what is said where it is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.course.stage import Stage
from grader.errors import SubmissionError
from grader.submission import Snapshot, take

STAGE = Stage("s15", Path("stages/s15_attention"), "Attention", "attention.py", (), ())
IN_TREE = "stages/s15_attention/attention.py"
SOURCE = b"def split_heads(x, num_heads):\r\n    return x\n"


def taken(repository: Path, name: str = "HEAD") -> Snapshot:
    return take(STAGE, Path(f"{repository}@{name}"), repository.parent / "course")


def refused(repository: Path, name: str = "HEAD") -> str:
    with pytest.raises(SubmissionError) as caught:
        taken(repository, name)
    return caught.value.message
