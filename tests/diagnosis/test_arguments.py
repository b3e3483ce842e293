"""An argument that a call changed in place is told by the name of its parameter."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from grader.diagnosis.calls import changed_argument, parameter, with_parameter
from grader.sandbox.record import Record

TOLD = "x was changed in place: it was 1.0 and is 3.0 now"


def scale(X: Any, factors: Any) -> Any:
    return X


REFERENCE = SimpleNamespace(scale=scale)


def record(*given: Any, touched: Any, **named: Any) -> Record:
    return Record("call", 1, "", "scale", given, named, True, given, named, changed=True, touched=(touched,))


@pytest.mark.parametrize("wrapped", [lambda y: y, lambda y: [y], lambda y: {"a": (y,)}], ids=["alone", "list", "dict"])
def test_the_parameter_is_named(wrapped: Any) -> None:
    x, y = np.zeros(2), np.zeros(2)
    assert parameter(record(x, wrapped(y), touched=y), y, REFERENCE) == "factors"
    assert parameter(record(x, touched=y, factors=wrapped(y)), y, REFERENCE) == "factors"
    told = changed_argument([record(x, wrapped(y), touched=y)], REFERENCE)
    assert told == "scale changed its argument factors in place; it is meant to leave it as it was"
    assert with_parameter(TOLD, y, [record(x, wrapped(y), touched=y)], REFERENCE).startswith(
        "factors was changed in place: it"
    )


def test_what_is_not_known_is_not_said() -> None:
    x = np.zeros(2)
    assert "changed an argument in place" in changed_argument([record(x, touched=x)], None)
    assert with_parameter(TOLD, x, [record(x, touched=np.ones(2))], REFERENCE) == TOLD
    assert with_parameter(TOLD, x, [record(x, touched=x)], None) == TOLD
    assert with_parameter("expected 1, got 2", x, [record(x, touched=x)], REFERENCE) == "expected 1, got 2"
    assert changed_argument([], REFERENCE) == ""
