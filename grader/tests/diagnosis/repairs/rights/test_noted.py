"""What right modules hold in a failing test: of the functions that ran, and are not known to be fine."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from grader.course.stage import Tolerance
from grader.diagnosis.repairs.rights.noted import Rights
from grader.diagnosis.repairs.rights.prepared import Prepared
from grader.sandbox.record import Record

LOOPS = "def part(x):\n    return x * 2\n\ndef f(x):\n    return [part(v) for v in x]\n\ndef other(x):\n    return x"
PLAIN = "def part(x):\n    return x * 2\n\ndef f(x):\n    return part(x) + 0"


STAGE: Any = SimpleNamespace(
    readme_path=Path("no such page"), axes={}, criteria=(), tolerance=Tolerance(), opaque=(), public=()
)


class Trial:
    """What was asked: f of an array."""

    def __init__(self) -> None:
        names = {"f": SimpleNamespace(number=1)}
        asked: Any = SimpleNamespace(
            kind="call", target=1, name="", args=(np.ones(2),), given=(None,), kwargs={}, label="f", error=None,
            failed=False, changed=False, result=None, returned=None,
        )  # fmt: skip
        self.right: list[Record] = [asked]
        self.failing: Any = SimpleNamespace(names=names, records=self.right)


def noted(learner: str, most: int, *fine: str) -> list[tuple[str, set[str]]]:
    trial: Any = Trial()
    found = Rights(STAGE, learner, (LOOPS, PLAIN), Prepared(STAGE)).noted(trial, frozenset(fine), most)
    return [(each.text, set(each.seen.held)) for each in found]


def test_the_module_most_like_the_learners_is_noted_where_it_ran() -> None:
    assert noted("def f(x):\n    return part(x) - 1", 1) == [(PLAIN, {"f", "part"})]
    assert noted("def f(x):\n    return [part(v) for v in x]", 1) == [(LOOPS, {"f", "part"})]


def test_functions_that_are_fine_are_left_out() -> None:
    assert noted("def f(x):\n    return part(x) - 1", 2, "part") == [(PLAIN, {"f"}), (LOOPS, {"f"})]
