"""A disk that takes no byte more: files can be made, and nothing can be written into them."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

needs_limits = pytest.mark.skipif(sys.platform == "win32", reason="no limit for the size of files there")


@contextmanager
def full_disk(room: int = 0) -> Iterator[None]:
    """Let the system refuse each write beyond so many bytes of a file, as a full disk would (with another number)."""
    import resource

    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
