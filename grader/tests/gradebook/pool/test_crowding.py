"""How many share a core: what the machine says, and what stands where it says nothing."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from grader.gradebook.pool import crowding
from grader.gradebook.pool.crowding import Crowding, running


def test_the_machine_says_how_many_compute_or_wait(tmp_path: Path) -> None:
    (tmp_path / "loadavg").write_text("21.86 24.18 27.04 28/244 20362\n")
    assert running(tmp_path / "loadavg") == 28


@pytest.mark.parametrize("text", [None, "", "1 2 3", "1 2 3 many/244 5"])
def test_a_machine_that_does_not_tell_counts_as_free(text: str | None, tmp_path: Path) -> None:
    if text is not None:
        (tmp_path / "loadavg").write_text(text)
    assert running(tmp_path / "loadavg") is None
    with Crowding(tmp_path / "loadavg") as crowd:
        pass
    assert crowd.of_a_core == 1.0


def test_the_mean_of_all_looks_counts_and_a_free_core_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowding, "EVERY_SECONDS", 0.001)
    (tmp_path / "loadavg").write_text("0 0 0 12/244 1\n")
    for cores, expected in ((2, 6.0), (24, 1.0)):
        with Crowding(tmp_path / "loadavg", cores) as crowd:
            end = time.monotonic() + 60
            while not crowd._seen and time.monotonic() < end:
                time.sleep(0.001)
        assert crowd.of_a_core == expected
