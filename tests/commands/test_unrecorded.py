"""A disk that takes nothing keeps nobody from a hint."""

from __future__ import annotations

import pytest

from grader.errors import ProgressError
from tests.support.command import Here


def test_a_hint_is_told_where_it_cannot_be_recorded(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here("hint", "s02", "total")

    def full(*_: object, **__: object) -> None:
        raise ProgressError("progress.json cannot be written: No space left on device")

    monkeypatch.setattr("grader.progress.store.write_atomically", full)
    for _ in range(2):
        done = here("hint", "s02", "total")
        assert (done.code, "hint 2 of 3" in done.out) == (0, True)
        assert "warning: progress.json cannot be written: No space left" in done.err and "comes next time" in done.err
