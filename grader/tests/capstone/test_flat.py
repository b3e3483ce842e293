"""Values that are taken apart and put together again are the same, bit for bit; what has no plain form is named."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from grader.capstone.flat import Misshapen, Unkept, flattened, restored


def through(value: Any) -> Any:
    structure, arrays = flattened(value, "it")
    return restored(json.loads(json.dumps(structure)), arrays)


def test_plain_values_keep_their_kinds() -> None:
    value = {"a": [1, 2.5, "three", None, True, (4, [])], 7: {}}
    assert through(value) == value
    assert type(through(value)["a"][5]) is tuple


@pytest.mark.parametrize("value", [0.1 + 0.2, 1e-320, float("inf"), -0.0, 10**30])
def test_numbers_keep_every_bit(value: float) -> None:
    assert repr(through(value)) == repr(value)


def test_arrays_and_numbers_of_numpy_keep_dtype_shape_and_bits() -> None:
    value = {"x": np.arange(6, dtype=np.float32).reshape(2, 3).T, "y": np.float32(0.1), "z": np.array(3)}
    found = through(value)
    assert found["x"].tobytes() == value["x"].tobytes() and found["x"].dtype == np.float32
    assert type(found["y"]) is np.float32 and found["z"].shape == ()


def test_an_array_is_laid_out_alike_whether_it_was_transposed_or_not() -> None:
    assert through(np.ones((2, 3)).T).flags.c_contiguous


def test_a_value_with_no_plain_form_is_named_by_its_place() -> None:
    with pytest.raises(Unkept, match=r"state\['optimizer'\]\[1\] is an object of the class object"):
        flattened({"optimizer": [1, object()]}, "state")
    with pytest.raises(Unkept, match="of the class ndarray"):
        flattened(np.array([None]), "state")
    with pytest.raises(Unkept, match=r"neither a text nor a whole number \(float\)"):
        flattened({0.5: 1}, "state")


def test_a_value_that_holds_itself_comes_to_an_end() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(Unkept, match="nested more than"):
        flattened(loop, "state")


@pytest.mark.parametrize(
    "structure",
    [[], {"array": 5}, {"scalar": 0}, {"list": 3}, {"dict": [["a"]]}, {"dict": [[None, 1]]}, {"array": 0, "more": 1}],
)
def test_a_structure_of_another_form_is_refused(structure: Any) -> None:
    with pytest.raises(Misshapen):
        restored(structure, [np.zeros(2)])
