"""Reads what was handed in, as data: the module of one stage, read once, bounded, and never followed through a link.

Every room from `isolation` on may import it; it imports `course`. Begin with `snapshot.py`; `source.py` has what a
module's text alone tells.
"""

from __future__ import annotations

from grader.submission.files import MAX_BYTES
from grader.submission.snapshot import Snapshot, holds_stages, take, take_misnamed

__all__ = ["MAX_BYTES", "Snapshot", "holds_stages", "take", "take_misnamed"]
