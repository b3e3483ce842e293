"""Prints tell values apart: numbers up to rounding, other values by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.diagnosis.instrument import Probes, Trace
from grader.diagnosis.module_text import ModuleText
from grader.diagnosis.runner import LocalRunner
from grader.diagnosis.values import Prints, Sample, sample_of
from grader.diagnosis.variants import compiled


def sample(value: Any) -> Sample:
    """Return what a run notes of a value."""
    module = ModuleText("def f(x):\n    return x\n")
    probes = Probes(module, ["f"])
    runner = LocalRunner()
    runner.load([compiled(module.whole(probes.definitions()))])
    told = runner.attempt([[]], [["call", "f", "", [value], {}, False]], is_noted=True)
    assert told is not None
    return Trace.of(probes, told[0][2]).held["f"]["x"]


@pytest.mark.parametrize(
    ("one", "other"),
    [(1.5, np.float32(1.5)), ([1, 2], np.array([1.0, 2.0])), (np.ones((2, 1)) / 3, np.ones((2, 1)) * (1 / 3 + 1e-12)),
     ({"a": 1, "b": 2}, {"b": 2, "a": 1}), ("text", "text"), ((1, (2.0, "c")), [1, [2.0, "c"]])],
)  # fmt: skip
def test_one_value_in_two_forms_is_like(one: Any, other: Any) -> None:
    first, second = sample(one).known, sample(other).known
    assert first is not None and second is not None
    assert first.is_like(second) and first in Prints([second])


@pytest.mark.parametrize(
    ("one", "other"),
    [(1, 2), (True, 1), ([1, 2], [2, 1]), (np.ones(3), np.ones((3, 1))), ({"a": 1}, {"b": 1}), ("ab", "ba"),
     (None, 0), ([], {}), (np.nan, 0.5)],
)  # fmt: skip
def test_two_values_are_told_apart(one: Any, other: Any) -> None:
    first, second = sample(one).known, sample(other).known
    assert first is not None and second is not None
    assert not first.is_like(second) and first not in Prints([second])


@pytest.mark.parametrize("form", [None, 1, ["array"], ["array", "x", 1, 2, 3, 4, 5], {"a": 1}, [1, 2, 3, 4, 5, 6, 7]])
def test_what_has_another_form_is_a_value_of_which_nothing_is_known(form: Any) -> None:
    assert sample_of(form) == Sample("other")
