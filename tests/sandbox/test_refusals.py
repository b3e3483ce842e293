"""How a refused value is told: what it is, and what the stage takes at most."""

from __future__ import annotations

import msgpack
import pytest

from grader.protocol import codec
from grader.sandbox.values import refusal


def too_large(body: bytes | None) -> codec.TooLarge:
    error = codec.TooLarge("9 MB of arrays; this stage takes at most 4 MB")
    error.body = body
    return error


def test_a_value_that_is_too_large_is_over_a_limit_and_another_failed() -> None:
    assert refusal(codec.TooLarge("much"), "f", "returned") == ("over_limit", "f returned much")
    assert refusal(codec.Refused("a value that contains itself"), "f")[0] == "failed"


def test_arrays_that_were_refused_unseen_are_told_by_the_largest_shape() -> None:
    forms = [[codec.ARRAY, "int8", [2, 3], False, 0, True], [codec.ARRAY, "int8", [9, 1 << 20], False, 64, True]]
    body = msgpack.packb([1, "ok", ["", []], 0.0, [codec.TUPLE, *forms]])
    assert refusal(too_large(body), "f")[1].startswith("f sent back an array of shape (9, 1048576): 9 MB of arrays")


@pytest.mark.parametrize("body", [None, b"", b"\xc1", msgpack.packb([[codec.ARRAY, "int8", [1] * 99]])])
def test_without_a_shape_the_size_is_told(body: bytes | None) -> None:
    assert refusal(too_large(body), "f")[1] == "f sent back 9 MB of arrays; this stage takes at most 4 MB"
