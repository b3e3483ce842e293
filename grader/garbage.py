"""Blocks in which Python looks for no garbage: what is imported or parsed there stays, and looking takes time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def uncollected(stays: bool = False) -> Iterator[None]:
    """Keep the collector of rings of objects still until the block ends, or the one around it.

    stays says that what is there at its end lasts as long as the process: the collector never looks at it again.
    """
    was_on = gc.isenabled()
    try:
        gc.disable()
        yield
    finally:
        if stays:
            gc.freeze()
        if was_on:
            gc.enable()
