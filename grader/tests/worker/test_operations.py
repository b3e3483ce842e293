"""Each request does what Python's own call, attribute or operator does."""

from __future__ import annotations

import types
from typing import Any

import pytest

from grader.worker.operations import OPERATIONS, perform


@pytest.mark.parametrize(
    ("name", "target", "args", "result"),
    [
        ("len", [1, 2], (), 2),
        ("getitem", [1, 2], (1,), 2),
        ("contains", [1, 2], (2,), True),
        ("sub", 5, (3,), 2),
        ("rsub", 5, (3,), -2),
        ("rpow", 2, (3,), 9),
        ("and", 6, (3,), 2),
        ("ror", 4, (1,), 5),
        ("lt", 1, (2,), True),
        ("isub", 5, (3,), 2),
        ("iand", 6, (3,), 2),
    ],
)
def test_an_operator_by_its_name(name: str, target: Any, args: tuple[Any, ...], result: object) -> None:
    assert perform("op", target, name, args, {}) == result


def test_an_unknown_operator_is_refused() -> None:
    assert "eval" not in OPERATIONS
    with pytest.raises(KeyError):
        perform("op", 1, "eval", (), {})


def test_a_call_an_attribute_and_a_change_of_one() -> None:
    target = types.SimpleNamespace(add=lambda a, b=1: a + b)
    assert perform("call", target.add, "", (2,), {"b": 3}) == 5
    assert perform("call", target, "add", (2,), {}) == 3
    perform("setattr", target, "size", (4,), {})
    assert perform("getattr", target, "size", (), {}) == 4
