"""What the causes of one module's failures may take in all."""

from __future__ import annotations

import time

import pytest

from grader.diagnosis.bounds import purse
from grader.diagnosis.bounds.purse import Purse


def work(seconds: float) -> None:
    ends_at = time.process_time() + seconds
    while time.process_time() < ends_at:
        pass


def test_what_a_block_takes_is_gone_whether_it_ends_well_or_not() -> None:
    found = Purse(1.0)
    with found.spending():
        work(0.02)
    assert 0.9 < found.left <= 0.98
    before = found.left
    with pytest.raises(KeyError), found.spending():
        work(0.02)
        raise KeyError
    assert before - 0.1 < found.left <= before - 0.02


def test_time_of_other_processes_counts() -> None:
    found, taken = Purse(1.0), [0.0]
    with found.spending(lambda: taken[0]):
        taken[0] = 0.5
    assert 0.4 < found.left <= 0.5


def test_what_is_taken_beyond_is_not_owed() -> None:
    found = Purse(0.01)
    with found.spending():
        work(0.03)
    assert found.left == 0


def test_a_purse_holds_the_time_of_the_moment_that_it_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(purse, "SECONDS", 3.0)
    assert Purse().left == 3.0
