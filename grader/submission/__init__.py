"""A learner's files as data: the module of one stage, read once, bounded, and never followed through a link."""

from __future__ import annotations

from grader.submission.files import MAX_BYTES
from grader.submission.snapshot import Snapshot, holds_stages, take

__all__ = ["MAX_BYTES", "Snapshot", "holds_stages", "take"]
