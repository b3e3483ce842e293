"""The marks of a second judge, in memory that both judges share."""

from __future__ import annotations

import os
import time

import pytest

from grader.isolation import tiers
from grader.judging.processes.marks import IN_ALL, LEAST, LONG, UNTOLD, Mark, Marks
from grader.outcome import Status

pytestmark = pytest.mark.skipif(not tiers.FORKS, reason="needs forks")


def never(place: int, involved: int) -> bool:
    return False


def test_they_hold_what_has_passed() -> None:
    marks = Marks(3)
    marks.passed(1, Mark(0.25, 5))
    assert marks.of(0) is None
    assert marks.of(1) == Mark(0.25, 5)


def test_a_test_that_took_no_time_has_passed_all_the_same() -> None:
    marks = Marks(1)
    marks.passed(0, Mark(0.0, 1 << 63))
    found = marks.of(0)
    assert found is not None and found.involved == 1 << 63


def test_they_are_seen_by_a_fork_and_from_one() -> None:
    marks = Marks(2)
    child = os.fork()
    if child == 0:
        marks.passed(1, Mark(0.5, 1))
        while not marks.stopped:
            time.sleep(0.001)
        os._exit(0)
    marks.stop()
    assert os.waitpid(child, 0)[1] == 0
    assert marks.of(1) == Mark(0.5, 1)


@pytest.mark.parametrize(("here", "counts"), [("passed", False), ("failed", True), ("timed_out", True)])
def test_where_one_that_failed_passes_here_no_mark_counts(here: Status, counts: bool) -> None:
    marks = Marks(2)
    marks.passed(0, Mark(0.5, 1))
    marks.failed(1)
    assert marks.of(1) is None
    marks.compare(0, "passed")
    marks.compare(2, "passed")
    assert marks.of(0) is not None
    marks.compare(1, here)
    assert (marks.of(0) is not None) is counts
    assert marks.parted([0], never) == (({0: Mark(0.5, 1)}, {}, []) if counts else ({}, {}, [0]))


def test_what_is_open_is_neither_known_to_pass_nor_to_fail() -> None:
    marks = Marks(3)
    marks.passed(0, Mark(0.5, 1))
    marks.failed(1)
    assert [marks.is_open(place) for place in range(3)] == [False, False, True]
    marks.doubt()
    assert marks.of(0) is None and marks.parted([0, 2], never) == ({}, {}, [0, 2])


def test_what_is_needed_is_run_again_and_asked_about_by_place_and_bits() -> None:
    marks = Marks(4)
    asked: list[tuple[int, int]] = []

    def is_needed(place: int, involved: int) -> bool:
        asked.append((place, involved))
        return place == 1

    for place in range(3):
        marks.passed(place, Mark(0.1, UNTOLD if place else 2))
    passed, again, left = marks.parted([0, 1, 2, 3], is_needed)
    assert ([*passed], [*again], left, asked) == ([0, 2], [1], [3], [(0, 2), (1, UNTOLD), (2, UNTOLD)])


def test_what_takes_long_is_not_run_again() -> None:
    marks = Marks(2)
    for place, seconds in enumerate((LONG / 2, 2 * LONG)):
        marks.passed(place, Mark(seconds, 1))
    passed, again, left = marks.parted([0, 1], lambda *_: True)
    assert ([*passed], [*again], left) == ([1], [0], [])


def test_the_shortest_are_run_again_a_few_at_least() -> None:
    marks = Marks(40)
    for place in range(40):
        marks.passed(place, Mark(IN_ALL / 10.5 if place % 2 else IN_ALL / 5, 1))
    assert [*marks.parted([*range(40)], lambda *_: True)[1]] == list(range(1, 20, 2))
    slow = Marks(40)
    for place in range(40):
        slow.passed(place, Mark(LONG, 1))
    assert [*slow.parted([*range(40)], lambda *_: True)[1]] == list(range(LEAST))
