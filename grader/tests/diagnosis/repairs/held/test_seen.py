"""What a learner's process tells of its values becomes stand-ins of the same sort, and nothing that costs memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.diagnosis.repairs.held.seen import MOST_LENGTH, Seen, stood_in
from grader.tests.diagnosis.repairs.made import written


def test_values_of_expressions_and_names_are_noted() -> None:
    source = written("def f(x, table):\n    y = x[0] * table['k']\n    return y", "f(np.ones((2, 3)), {'k': 2.5})")
    names = source.seen.names["f"]
    assert names["y"].shape == (3,) and names["x"].shape == (2, 3) and names["table"] == {"k": 2.5}
    assert any(getattr(value, "shape", None) == (3,) for value in source.seen.expressions.values())


def test_one_value_under_two_names_is_one_here_too() -> None:
    names = written("def f(x):\n    y = x\n    z = x + 0\n    return z", "f(np.ones(2))").seen.names["f"]
    assert names["x"] is names["y"] and names["x"] is not names["z"]


def test_notes_are_taken_of_a_call_that_raises() -> None:
    source = written("def f(x):\n    try:\n        return g(x)\n    except ValueError:\n        return x\n\n"
                     "def g(x):\n    y = x + 1\n    raise ValueError", "f(1)")  # fmt: skip
    assert source.seen.names["g"]["y"] == 2


@pytest.mark.parametrize("form", [
    ["array", 0, "V2000000000", [1]], ["array", 0, "<f8", [1] * 70], ["array", 0, "<f8"], ["plain", 0, [1]], [], None,
    ["other", 0, "no name", True], {"a": 1}, ["dict", 0, 7],
])  # fmt: skip
def test_what_has_another_form_is_nothing(form: Any) -> None:
    assert stood_in(form) is None


def test_a_large_array_costs_no_memory() -> None:
    made = stood_in(["array", 0, "<f8", [2**40, 2**40]])
    assert made.shape == (MOST_LENGTH, MOST_LENGTH) and made.base is not None and made.strides == (0, 0)


@pytest.mark.parametrize("noted", [None, [], [{"1": 7}, 7], [{"x": 7}, {"f": 7}], "text", np.ones(2)])
def test_notes_in_another_form_say_nothing(noted: Any) -> None:
    seen = Seen.of(noted)
    assert not any(seen.names.values())


def test_a_generator_that_is_not_asked_to_its_end_has_its_names() -> None:
    loop = "    for start in range(3):\n        part = x[start:]\n        if start < 2:\n            yield part"
    text = f"def parts(x):\n{loop}"
    seen = written(text, "next(parts(np.ones(4)))").seen
    assert seen.names["parts"]["part"].shape == (4,) and seen.names["parts"]["start"] == 0
