"""What an answer tells of its cause, NaN alone nothing, whole numbers little; and how long a test takes to repeat."""

from __future__ import annotations

from typing import cast

import numpy as np
import pytest

from grader.diagnosis.slips.probes import Failing, holds_numbers, is_of_bits, is_poor, size_of
from grader.sandbox.proxies import RemoteValue
from grader.sandbox.record import Record
from grader.sandbox.values import Requests

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


class Gone:
    """Stands for the connection of a test that is over."""

    def request(self, *_: object, **__: object) -> object:
        raise AssertionError("an object of another test was asked for something")


def asked(*args: object) -> Failing:
    return Failing("test_it", [Record("op", 1, "add", "T.__add__", args, {})], {})


def test_an_object_of_the_learners_is_not_asked_for_its_size() -> None:
    theirs = RemoteValue(cast("Requests", Gone()), 2, "object", "T", ())
    assert size_of(asked(theirs)) == size_of(asked(2.0)) < size_of(asked(np.ones((2, 3))))


@pytest.mark.parametrize(
    ("result", "few"),
    [
        (np.array([0.0, 1.0, 1.0]), True),
        (np.array([1.0, 2.0]), False),
        (np.array([0, 1]), False),
        (1.0, True),
        (True, False),
    ],
)
def test_floats_that_are_0_or_1_come_of_many_changes(result: object, few: bool) -> None:
    assert is_of_bits(result) is few
