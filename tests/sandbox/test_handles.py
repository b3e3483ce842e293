"""Handles: one proxy an object, one number a function, and nothing that was never passed."""

from __future__ import annotations

from typing import Any

import pytest

from grader.protocol import codec
from grader.sandbox.limits import OverLimit, UsageLimits
from grader.sandbox.proxies import Handles, RemoteClass, RemoteValue


@pytest.fixture
def handles() -> Handles:
    connection: Any = object()
    return Handles(connection, UsageLimits(1, handles=3))


def test_one_number_is_one_proxy(handles: Handles) -> None:
    first = handles.proxy(4, "object", "Layer", (2,))
    assert handles.proxy(4, "object", "Layer") is first and type(first) is RemoteValue
    assert type(handles.proxy(5, "class", "Layer")) is RemoteClass
    assert handles.wrap(first) == [codec.HANDLE, 4]


def test_one_class_of_exceptions_is_one_class_below_what_it_extends(handles: Handles) -> None:
    cls = handles.proxy(4, "exception", "ShapeError", (), ["ValueError", "Exception"])
    assert issubclass(cls, ValueError) and handles.exception_class(4, "Other", []) is cls
    assert handles.wrap(cls) == [codec.HANDLE, 4] and handles.class_number(KeyError) == 0


def test_one_function_is_one_number(handles: Handles) -> None:
    first, second = (lambda: 1), (lambda: 2)
    assert [handles.wrap(f) for f in (first, second, first)] == [[codec.CALLBACK, n] for n in (1, 2, 1)]
    assert handles.unwrap(codec.CALLBACK, [2], lambda form: form) is second


def test_values_travel_by_themselves(handles: Handles) -> None:
    assert handles.wrap(3) is None and handles.wrap(int) is None and handles.wrap(ValueError) is None


def test_a_proxy_of_another_test(handles: Handles) -> None:
    other: Any = object()
    with pytest.raises(codec.WireError, match="another test"):
        handles.wrap(RemoteValue(other, 1, "object", "Layer", ()))


@pytest.mark.parametrize("fields", [[], [9], ["1"], [True], [-1], [None], [1, 1]], ids=str)
def test_a_function_never_passed(handles: Handles, fields: list[Any]) -> None:
    handles.wrap(len)
    with pytest.raises(codec.WireError, match="never passed"):
        handles.unwrap(codec.CALLBACK, fields, lambda form: form)


def test_a_number_that_was_something_else(handles: Handles) -> None:
    handles.proxy(4, "object", "Layer")
    with pytest.raises(codec.WireError, match="another kind"):
        handles.proxy(4, "class", "Layer")


def test_a_test_holds_only_so_many(handles: Handles) -> None:
    with pytest.raises(OverLimit):
        for number in range(9):
            handles.proxy(number, "object", "Layer")
