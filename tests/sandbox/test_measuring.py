"""How much memory a call took, in a learner's process and in this one."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from grader.isolation import tiers
from grader.sandbox.values import Unusable
from grader.testing import peak_memory
from tests.conftest import Learner, Start
from tests.sandbox.learners import MODULE
from tests.sandbox.vectors import CONTRACT

SIZE = 1 << 17
MOST = 8 * SIZE + 100_000  # bytes: an array of so many numbers, and what a call needs beside it


@pytest.fixture(scope="module")
def process(tier: tiers.Tier, start: Start) -> Learner:
    return start(MODULE, tier, contract=CONTRACT)


class TestRemote:
    def test_a_call_holds_what_it_allocates_at_once(self, remote: Any) -> None:
        result, peak = peak_memory(remote.filled, SIZE)
        assert result == SIZE and 8 * SIZE <= peak <= MOST
        again = peak_memory(remote.filled, size=2 * SIZE)[1]
        assert 16 * SIZE <= again <= MOST + 8 * SIZE

    def test_arguments_do_not_count(self, remote: Any) -> None:
        x = np.ones(SIZE)
        result, peak = peak_memory(remote.same, x)
        assert np.array_equal(result, x) and peak < SIZE

    def test_methods_and_exceptions(self, remote: Any) -> None:
        assert peak_memory(remote.Vector(3, 4).norm)[0] == 5
        with pytest.raises(ValueError, match="no"):
            peak_memory(remote.raise_own, "no")
        assert peak_memory(remote.filled, SIZE)[1] <= MOST

    def test_who_stops_the_measurement_is_measured_as_nothing(self, remote: Any) -> None:
        assert peak_memory(remote.unseen, SIZE) == (SIZE, 0)

    def test_the_call_is_recorded_and_never_replayed(self, process: Learner, remote: Any) -> None:
        peak_memory(remote.filled, 3)
        (record,) = vars(remote)["_connection"].records
        assert (record.label, record.args, record.replayable) == ("filled", (3,), False)


@pytest.mark.parametrize("answer", [None, 3, (1, -1), (1, 2.0), (1, True), (1, 2, 3)])
def test_an_answer_of_another_form_is_no_figure(remote: Any, monkeypatch: pytest.MonkeyPatch, answer: object) -> None:
    monkeypatch.setattr(type(remote.filled), "_measured", lambda self, *args, **kwargs: answer)
    with pytest.raises(Unusable, match="measured by its process in a form that holds no figure"):
        peak_memory(remote.filled, 3)


def test_a_function_of_this_process() -> None:
    result, peak = peak_memory(np.ones, SIZE)
    assert len(result) == SIZE and 8 * SIZE <= peak <= MOST
    assert not tracemalloc.is_tracing()


def test_what_is_measured_already_goes_on() -> None:
    tracemalloc.start()
    try:
        held = np.ones(4 * SIZE)
        assert 8 * SIZE <= peak_memory(np.ones, SIZE)[1] <= MOST and tracemalloc.is_tracing()
        assert len(held) == 4 * SIZE
    finally:
        tracemalloc.stop()
