"""What an answer tells of its cause: NaN alone tells nothing, a bool or a few whole numbers little."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.slips.probes import holds_numbers, is_poor
from grader.remote.record import Record

NAN, INF = float("nan"), float("inf")


def answer(result: object) -> Record:
    return Record("call", 1, "", "f", (), {}, result=result)


@pytest.mark.parametrize("result", [NAN, np.array([NAN, INF]), (np.array([INF]), -INF), {"a": np.array([NAN])}])
def test_answers_of_nan_and_infinities_tell_nothing(result: object) -> None:
    assert not holds_numbers(answer(result))


@pytest.mark.parametrize("result", [1.5, np.array([NAN, 2.0]), (np.array([NAN]), 3.0), True, [1, 2], "text", None])
def test_other_answers_tell_something(result: object) -> None:
    assert holds_numbers(answer(result))


@pytest.mark.parametrize("result", [True, (2, 3), 7, 2.0, "text", None])
def test_a_few_whole_numbers_are_poor(result: object) -> None:
    assert is_poor(answer(result))


@pytest.mark.parametrize("result", [0.5, np.arange(2), np.array([[1.0, 2.5]]), (3, 0.1), [1, 2, 3, 4]])
def test_fractions_and_many_numbers_are_not_poor(result: object) -> None:
    assert not is_poor(answer(result))
