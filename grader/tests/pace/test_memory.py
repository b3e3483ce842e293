"""The tests' own memory is packed, and stays what it was."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from grader.tests.pace import memory
from grader.tests.support.places import ROOT

PACKED = """
from grader.tests.pace import memory
kept = [object() for _ in range(1_000_000)]
before = list(map(id, kept))
memory.pack()
assert list(map(id, kept)) == before and len(set(before)) == len(before)
"""


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="only Linux tells its regions there")
def test_only_ones_own_memory_is_asked_for() -> None:
    found = list(memory.own())
    assert found and all(start < end for start, end in found)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux packs")
def test_what_is_packed_stays_as_it_is() -> None:
    subprocess.run([sys.executable, "-c", PACKED], cwd=ROOT, check=True)
