"""What the right module answers to the requests of a test: what a repaired one has to answer, too."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from grader.diagnosis.replay import Replay
from grader.remote.proxies import RemoteValue
from grader.remote.record import Record


def expected(replay: Replay, records: Sequence[Record]) -> list[Record] | None:
    """Return the records with the answers of the module that a replay is on; None where it cannot repeat them."""
    found = []
    for record in records:
        done = replay.perform(record)
        if done is None:
            return None
        result, error, changed, _ = done
        right = copy.copy(record)
        right.error, right.changed, right.failed = error, changed, False
        right.result = _expected(record, result)
        found.append(right)
    return found


def _expected(record: Record, result: Any) -> Any:
    """Return the right answer, with the learner's own objects where the right ones stay in their module."""
    if isinstance(record.result, RemoteValue):
        return record.result
    several = isinstance(record.result, (list, tuple)) and isinstance(result, (list, tuple))
    if several and any(isinstance(each, RemoteValue) for each in record.result):
        return record.result
    return result
