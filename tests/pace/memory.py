"""Thousands of collected tests stay until the end: no collection of garbage looks at them, and a fork is soon made.

Judges and commands are forks of the tests' own process. Where its memory lies in large pages, a fork copies a few
hundred entries of its page table instead of a hundred thousand, which is most of what a small test costs.
"""

from __future__ import annotations

import ctypes
import gc
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LARGE = 2 << 20  # bytes of a large page on most machines; where it is another, less is gained
COLLAPSE = 25  # MADV_COLLAPSE, of Linux 6.1; an older kernel refuses it, and nothing is changed


def pytest_collection_finish() -> None:
    """Leave what there is now out of every later collection of garbage, and pack it.

    There is next to no garbage in it: to look for that would take half a second and gain nothing.
    """
    gc.freeze()
    gc.enable()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):
            pack()


def pack() -> int:
    """Have the kernel gather this process' memory in large pages; return how many bytes it was asked to gather."""
    advise = ctypes.CDLL(None, use_errno=True).madvise
    asked = 0
    for start, end in own():
        first, last = -(-start // LARGE) * LARGE, end // LARGE * LARGE
        if first < last and advise(ctypes.c_void_p(first), ctypes.c_size_t(last - first), COLLAPSE) == 0:
            asked += last - first
    return asked


def own() -> Iterator[tuple[int, int]]:
    """Yield the regions of memory that are no file's and may be written to; stacks are left as they are."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        region, permissions, _, _, inode, *name = line.split(maxsplit=5)
        if inode == "0" and permissions == "rw-p" and (not name or name[0] == "[heap]"):
            start, _, end = region.partition("-")
            yield int(start, 16), int(end, 16)
