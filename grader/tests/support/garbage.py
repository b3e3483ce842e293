"""Thousands of collected tests stay until the end: no collection of garbage looks at them, here or in a fork."""

from __future__ import annotations

import gc


def pytest_collection_finish() -> None:
    """Leave what there is now out of every later collection of garbage."""
    gc.collect()
    gc.freeze()
