"""What an answer tells of its cause: NaN alone tells nothing, a bool or a few whole numbers little."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.slips.probes import Failing, holds_numbers, is_poor, size_of
from grader.remote.proxies import RemoteValue
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


def test_an_object_of_the_learners_counts_as_one_and_is_not_asked() -> None:
    class Gone:
        def request(self, *_: object, **__: object) -> object:
            raise AssertionError("the process of this test has ended")

    passed = RemoteValue(Gone(), 1, "Network", "network", ())
    asked = Record("call", 1, "", "train", (passed, np.ones(9)), {"rate": 0.1})
    assert size_of(Failing("test", [asked], {})) == 50 + 1 + 9 + 1
