"""A pool of right programs: with what a class got right, causes are looked for that a first grading did not find.

Nothing but causes comes of it: no row, no status and no mark changes.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

MOST = 50  # texts of a pool


def pool_of(digests: Iterable[str]) -> tuple[str, ...]:
    """Return the pool of texts that passed, by their digests.

    >>> pool_of(["b", "a", "b"])
    ('a', 'b')
    """
    return tuple(sorted(set(digests))[:MOST])


def digest_of(pool: Sequence[str]) -> str:
    """Return the digest of a pool, given as the digests of its texts."""
    return hashlib.sha256(json.dumps(list(pool)).encode()).hexdigest()


def unexplained(document: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the rows of a verdict that fail with nothing told about why, where all may be told."""
    if document.get("feedback") != "full":
        return ()
    rows = [row for row in document.get("criteria") or () if row["status"] != "passed"]
    return tuple(row["id"] for row in rows if any(map(_is_wrong, found := row["failures"])) and not _has_cause(found))


def with_causes(before: Mapping[str, Any], after: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a verdict with the causes that another grading of the same text found; itself where there is none."""
    found = {
        (row["id"], each["test"], each["status"]): each
        for row in after.get("criteria") or ()
        for each in row["failures"]
        if each["cause"]
    }
    rows = [
        {**row, "failures": [_better(each, found.get((row["id"], each["test"], each["status"]))) for each in own]}
        if unexplained({**before, "criteria": [row]})
        else row
        for row in before["criteria"]
        for own in (row.get("failures") or (),)
    ]
    return before if rows == list(before["criteria"]) else {**before, "criteria": rows}


def _better(failure: Mapping[str, Any], other: Mapping[str, Any] | None) -> Mapping[str, Any]:
    return failure if other is None else other


def _is_wrong(failure: Mapping[str, Any]) -> bool:
    return failure.get("status") == "failed"


def _has_cause(failures: Iterable[Mapping[str, Any]]) -> bool:
    return any(each.get("cause") for each in failures)
