"""Whether a test raised, and whether its answers come of draws, is read off its requests."""

from __future__ import annotations

import numpy as np
import pytest

from grader.diagnosis.repairs.asked import has_generator, is_drawn, is_of_nothing, is_raised, says_little
from grader.diagnosis.slips.probes import Failing
from grader.sandbox.record import Record


def record(*args: object, error: Exception | None = None) -> Record:
    return Record("call", 1, "", "f", args, {}, error=error)


def test_a_test_in_which_something_was_raised_is_known() -> None:
    assert is_raised(Failing("t", [record(1), record(2, error=ZeroDivisionError())], {}))
    assert not is_raised(Failing("t", [record(1)], {}))
    at_its_end = [record(1), record(error=StopIteration())]  # of an iterator
    assert not is_raised(Failing("t", at_its_end, {}))


@pytest.mark.parametrize(
    ("args", "drawn"),
    [
        ([(np.random.default_rng(0), 3)], True),
        ([(np.ones(3),)], False),
        ([(np.ones(3),), (np.random.default_rng(0), 3)], False),
        ([(np.ones(3), np.random.default_rng(0))], True),
    ],
)
def test_answers_are_drawn_where_arrays_come_with_a_generator_alone(
    args: list[tuple[object, ...]], drawn: bool
) -> None:
    assert is_drawn([record(*each) for each in args]) == drawn


def test_a_test_of_nothing_is_known() -> None:
    assert is_of_nothing(Failing("t", [record(1), record(np.ones((0, 3)))], {}))
    assert not is_of_nothing(Failing("t", [record(np.zeros(3), [])], {}))


@pytest.mark.parametrize(
    ("result", "is_little"),
    [
        (np.array([0, 2]), True),
        ([True, False], True),
        (3, True),
        (np.arange(9), False),
        (np.array([0.5]), False),
        ([np.ones(2), np.ones(3)], False),
        ("text", False),
    ],
)
def test_few_whole_numbers_say_little(result: object, is_little: bool) -> None:
    assert says_little(Failing("t", [Record("call", 1, "", "f", (), {}, result=result)], {})) is is_little


def test_a_generator_is_known_beside_arrays() -> None:
    generator = np.random.default_rng(0)
    assert has_generator([record(np.ones(3)), record(np.ones(3), generator)])
    assert has_generator([Record("call", 1, "", "f", (), {"rng": generator})])
    assert not has_generator([record(np.ones(3))])
