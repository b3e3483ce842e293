"""Right modules of a class say by their values where a learner's first go wrong, and nothing else."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.edited import Cause
from grader.diagnosis.likeness import MOST_ALIKE
from grader.diagnosis.pool import Pool
from grader.diagnosis.runner import STEPS, LocalRunner, RunnerGone
from tests.diagnosis.engine import Call, causes

RIGHT = """
import numpy as np


def spread(x, eps):
    mean = x.mean(axis=-1, keepdims=True)
    var = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) / np.sqrt(var + eps)
"""
OTHERWISE = """
import numpy as np


def spread(x, eps):
    pooled_n = x.shape[-1]
    pooled_first = x.sum(axis=-1) / pooled_n
    pooled_second = (x * x).sum(axis=-1) / pooled_n
    pooled_width = np.sqrt(pooled_second - pooled_first**2 + eps)
    return x / pooled_width[:, None] - (pooled_first / pooled_width)[:, None]
"""
FAULTY = """
import numpy as np


def spread(x, eps):
    n = x.shape[-1]
    first = x.sum(axis=-1) / n
    second = (x * x).sum(axis=-1) * n
    width = np.sqrt(second - first**2 + eps)
    return x / width[:, None] - (first * width)[:, None]
"""
X = np.array([[1.0, 2.0, 4.0], [0.0, 3.0, 1.0]])
CALLS: list[Sequence[Call]] = [[("spread", (X, 0.125))], [("spread", (X**2 + 1, 0.5))]]


def with_pool(*texts: str, start: Callable[[], Any] = lambda: LocalRunner("pooled")) -> list[Cause]:
    pool = Pool([textwrap.dedent(each).encode() for each in texts], start) if texts else None
    return causes(RIGHT, FAULTY, CALLS, pool=pool)


def test_two_faults_in_a_style_of_its_own_are_named_only_with_a_right_module_of_that_style() -> None:
    assert with_pool() == []
    (cause,) = with_pool(OTHERWISE)
    assert (cause.function, cause.line) == ("spread", 7)
    assert "line 7" in cause.text and "Line 9" in cause.text


def test_the_same_pool_gives_the_same_words_and_none_of_its_own() -> None:
    said = {(each.text, each.fix) for _ in range(3) for each in with_pool(OTHERWISE)}
    assert len(said) == 1 and not any("pooled" in text for pair in said for text in pair)


class Hanging(LocalRunner):
    """A process that answers nothing in time."""

    asked = 0

    def attempt(self, groups: Any, requests: Any, steps: int = STEPS, is_noted: bool = False) -> list[Any] | None:
        type(self).asked += 1
        return None


class Lying(LocalRunner):
    """A process that answers in another form, or rightly with values that no module held."""

    def attempt(self, groups: Any, requests: Any, steps: int = STEPS, is_noted: bool = False) -> list[Any] | None:
        told = super().attempt(groups, requests, steps, is_noted)
        assert told is not None
        told[0][2] = [[["x", 3]], {"spread": {"x": 3}}, None] if len(told[0]) == 3 else None
        return told


def refused() -> Any:
    raise RunnerGone


@pytest.mark.parametrize("start", [lambda: Hanging("pooled"), lambda: Lying("pooled"), refused])
def test_one_that_hangs_or_lies_or_does_not_start_is_left_out(start: Callable[[], Any]) -> None:
    Hanging.asked = 0
    assert with_pool(OTHERWISE, start=start) == []
    assert Hanging.asked <= 1  # it gets no second process


@pytest.mark.parametrize(
    "bad",
    [
        OTHERWISE.replace("pooled_n = x.shape[-1]", "while True: pass"),
        OTHERWISE.replace("pooled_n = x.shape[-1]", "raise MemoryError"),
        OTHERWISE.replace("def ", "deaf "),
        OTHERWISE.replace("import numpy as np", "raise RuntimeError"),
        FAULTY,
    ],
)
def test_what_does_not_answer_rightly_counts_for_nothing(bad: str) -> None:
    assert with_pool(bad) == []
    assert [each.line for each in with_pool(bad, OTHERWISE)] == [7]


def test_only_a_few_are_run() -> None:
    started: list[LocalRunner] = []

    def start() -> LocalRunner:
        started.append(LocalRunner("pooled"))
        return started[-1]

    with_pool(*([OTHERWISE] * 5), start=start)
    assert len(started) == MOST_ALIKE


def test_values_that_one_makes_up_bring_in_no_other_cause() -> None:
    made_up = "    pooled_wrong = (x * x).sum(axis=-1) * pooled_n\n    pooled_width"
    lying = OTHERWISE.replace("    pooled_width", made_up, 1)
    assert {each.line for each in with_pool(lying)} <= {7}
    assert {each.line for each in with_pool(lying, OTHERWISE)} <= {7}
