"""An answer whose values are right is told by what it is, and by nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.course.manifest import load_course
from grader.diagnosis.obvious import another_type
from tests.support.places import ROOT


@pytest.mark.parametrize("number", [2.5, np.float64(2.5), np.array(2.5)])
@pytest.mark.parametrize("shape", [(1,), (1, 1)])
def test_a_number_in_an_array_is_told(number: Any, shape: tuple[int, ...]) -> None:
    stage = load_course(ROOT).stages[0]
    found = another_type("trace", np.full(shape, 2.5), number, stage, "trace")
    assert found is not None and found.mistake == "another-container"
    assert (
        found.text == f"The value of trace is right; it is in an array of shape {shape}, where a number is asked for."
    )
    assert another_type("trace", np.full(shape, 2.0), number, stage, "trace") is None


def test_a_number_for_a_number_is_nothing_to_tell() -> None:
    stage = load_course(ROOT).stages[0]
    assert another_type("trace", 2.5, 2.5, stage, "trace") is None
    assert another_type("trace", np.array([2.5, 2.5]), 2.5, stage, "trace") is None
