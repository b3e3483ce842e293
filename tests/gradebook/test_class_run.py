"""How far a run is, counted and in words."""

from __future__ import annotations

import platform
import subprocess
import sys
from dataclasses import replace

import pytest

from grader.gradebook.class_run import MANY, Tally
from grader.gradebook.records import Key, Result
from tests.gradebook.made import NOW, verdict


def test_a_tally_says_how_far_it_is_in_words() -> None:
    tally = Tally("s15", 100, kept=10, passed=20, failed=5, rejected=1, missing=2, faults=[("ada", "no memory")])
    assert tally.words(10.0) == "s15: 20 passed, 8 not, 1 fault, 2.6/s, 0 min 23 s left"
    assert tally.words(1000.0) == "s15: 20 passed, 8 not, 1 fault, 2/min, 39 min 6 s left"
    assert Tally("s15", 100, kept=3).words(0) == "s15: 3 kept"
    assert Tally("s15", 100_000, passed=1).words(1.0).endswith("27 h 46 min left")
    assert Tally("s15", 100, missing=2).words(1.0) == "s15: 0 passed, 2 not, 0 faults"  # nothing ran: no speed is known
    assert Tally("s15", 3, kept=3).summary == "nothing is new; 3 had a result before"
    assert tally.summary == (
        "20 passed, 5 did not, 2 handed in nothing, 1 cannot be accepted, 1 grader fault; 10 had a result before"
    )


def test_each_attempt_that_the_grader_failed_at_counts() -> None:
    tally = Tally("s15", 3, passed=1, faults=[("ada", "no memory"), ("ada", "no room")])
    assert (tally.graded, tally.summary) == (3, "1 passed, 0 did not, 2 grader faults")


def _ran(student: str, *passes: str) -> Result:
    found = verdict(double="double" in passes, quadruple="quadruple" in passes)
    return Result(Key(student, "s15", student, "1", 1, "process"), "graded", found, NOW, 0.5)


def test_a_criterion_that_many_tried_and_nobody_passes_is_known() -> None:
    tally = Tally("s15", 10)
    for at in range(MANY - 1):
        tally.count(_ran(f"s{at}", "double"))
    tally.count(replace(_ran("unread"), verdict=verdict(False, False, problem={"kind": "syntax", "message": "x"})))
    assert tally.unreached == []
    tally.count(_ran("last", "double"))
    assert tally.unreached == ["quadruple"]
    tally.count(_ran("later", "quadruple"))
    assert tally.unreached == []


HEAPS = """
import ctypes, sys, threading
from grader.gradebook.class_run import share_one_heap
if sys.argv[1:]:
    share_one_heap()
held = []
start = threading.Barrier(9)
def work():
    start.wait()
    held.append(bytearray(b"x" * 100_000))
    start.wait()
for _ in range(8):
    threading.Thread(target=work, daemon=True).start()
start.wait(), start.wait()
libc = ctypes.CDLL(None)
libc.fdopen.restype = ctypes.c_void_p
out = ctypes.c_void_p(libc.fdopen(1, b"w"))
libc.malloc_info(0, out), libc.fflush(out)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="other C libraries have no such heaps")
def test_threads_of_a_run_share_one_heap() -> None:
    """What threads receive for the process would leave gaps in a heap of each, which grow with a class."""
    runs = [[sys.executable, "-c", HEAPS, *given] for given in ([], ["one"])]
    heaps = [subprocess.run(run, capture_output=True, check=True).stdout.count(b"<heap ") for run in runs]
    assert heaps[0] > heaps[1] == 1
