"""What is told of an exception may fail without changing a result."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from grader.course.stage import Stage
from grader.diagnosis.exceptions import Place, help_with, helped, is_of_a_call
from grader.sandbox.exceptions import described
from grader.sandbox.record import Record
from grader.worker import exceptions as over_there


def test_nothing_is_said_of_a_module_that_cannot_be_read_but_what_the_message_tells() -> None:
    assert helped("axis 3 is out of bounds for array of dimension 1", Place("x = (", 1)) == ""
    assert helped("index 5 is out of bounds for axis 1 with size 3", Place("", 1)).startswith("Indices start at 0")
    assert Place("x = 1\n" * 20_000, 3).nodes == ()


def test_what_a_process_tells_of_shapes_is_held_to_its_form() -> None:
    names: list[Any] = [["ValueError"], "ValueError", 0, "no", [], [[1, "f"]], 0]
    seen = [["x", [2, 3]], ["n", None], ["y", ["a"]], ["z", [-1]], [3, [1]], "w", ["q", [True]], ["x" * 900, [1]]]
    assert described([*names, seen]).seen == {"x": (2, 3), "n": None, "x" * 200: (1,)}
    assert described([*names, "what"]).seen == {} and described(names).seen == {}
    assert len(described([*names, [[str(n), [1]] for n in range(500)]]).seen) == 60


def test_an_object_that_cannot_be_looked_at_is_left_out() -> None:
    class Table:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError

    def fail(self: object) -> None:
        x = np.ones(3)
        raise ValueError(x.shape, self)

    try:
        fail(Table())
    except ValueError as error:
        assert over_there.described(error, __file__, "", lambda _: 0)[-1] == []


def test_what_cannot_be_told_costs_the_help_alone() -> None:
    stage = Stage("s90", Path("s90_small"), "Small", "small.py", (), ())

    class Silent(ValueError):
        learner_seen: dict[str, Any] = {}  # noqa: RUF012

        def __str__(self) -> str:
            raise RuntimeError

    assert (
        help_with(Silent(), b"x = 1", stage) == help_with(None, b"", stage) == help_with(ValueError(), b"", stage) == ""
    )


def test_an_exception_is_of_the_call_that_raised_it() -> None:
    error = TypeError("f() missing 1 required positional argument: 'x'")
    record = Record("call", 1, "", "f", (), {}, error=error)
    assert not is_of_a_call([record], error)  # a function of the test raised it
    error.learner_seen = {}  # type: ignore[attr-defined]
    assert is_of_a_call([record], error) and not is_of_a_call([record], TypeError()) and not is_of_a_call([], None)
    record.kind = "getattr"
    assert not is_of_a_call([record], error)
