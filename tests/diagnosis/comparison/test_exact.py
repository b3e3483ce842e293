"""inequality: plain values that must be equal, and the path to the first that is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.diagnosis.comparison.exact import inequality

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner),
    max_leaves=8,
)


def told(actual: object, expected: object) -> str | None:
    found = inequality(actual, expected, "result")
    return f"{found.path}: {found.text}" if found else None


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (np.int64(3), 3),
        (3, np.uint8(3)),
        (np.bool_(True), True),
        (np.str_("a"), "a"),
        (np.array(3), 3),
        ((1, 2), [1, 2]),
        ([1, (2, [3])], (1, [2, (3,)])),
        ({"a": [1]}, {"a": (1,)}),
        ({1, 2}, frozenset({2, 1})),
        (math.nan, math.nan),
        (np.array([1, 2]), np.array([1, 2], np.int8)),
        (np.array(["a", "b"]), np.array(["a", "b"], dtype=object)),
        ({np.int64(1): "x"}, {1: "x"}),
        (None, None),
        ("", ""),
    ],
)
def test_what_counts_as_equal(actual: object, expected: object) -> None:
    assert told(actual, expected) is None


@pytest.mark.parametrize(
    ("actual", "expected", "text"),
    [
        (True, 1, "result: an int was expected, a bool (True) came back"),
        (1, True, "result: a bool was expected, an int (1) came back"),
        (1.0, 1, "result: an int was expected, a float (1.0) came back"),
        (3, 3.0, "result: a float was expected, an int (3) came back"),
        (np.float64(3), 3, "result: an int was expected, a float (3.0) came back"),
        (np.array(3), 3.0, "result: a float was expected, an int (3) came back"),
        (4, 3.5, "result: expected 3.5, got 4"),
        ("a", [1], "result: a list was expected, a string ('a') came back"),
        (None, 3.0, "result: expected 3.0, got None"),
        ("1", 1, "result: an int was expected, a string ('1') came back"),
        (0.1 + 0.2, 0.3, "result: expected 0.3, got 0.30000000000000004"),
        (None, [1], "result: a list was expected, None came back"),
        ([1, 2], [1, 2, 3], "result: expected 3 items, got 2: [1, 2]"),
        ([1, [2, {"x": 3}]], [1, [2, {"x": 4}]], "result[1][1]['x']: expected 4, got 3"),
        ({"a": 1, "c": 2}, {"a": 1, "b": 2}, "result: the keys differ: missing 'b'; unexpected 'c'"),
        ({True: 1}, {1: 1}, "result: the keys differ: missing 1; unexpected True"),
        ([1], {"a": 1}, "result: a dict was expected, a list ([1]) came back"),
        ({1, 2}, {2, 3}, "result: the members differ: missing 3; unexpected 1"),
        ([1, 2], {1, 2}, "result: a set was expected, a list ([1, 2]) came back"),
        (np.array([1, 2]), [1, 2], "result: a list was expected, an array of shape (2,) came back"),
        (["a"], np.array(["a"]), "result: an array of shape (1,) was expected, a list (['a']) came back"),
        (
            np.array(["a"]),
            np.array(["a", "b"]),
            "result: an array of shape (2,) was expected, one of shape (1,) came back",
        ),
        (np.array(["a", "x"]), np.array(["a", "b"]), "result[1]: expected 'b', got 'x'"),
    ],
)
def test_what_differs_is_told_with_its_path(actual: object, expected: object, text: str) -> None:
    assert told(actual, expected) == text


def test_numbers_of_too_many_digits_are_measured() -> None:
    assert told(10**6000, 1) == "result: expected 1, got an integer of 19932 bits"
    assert told([10**6000], 1) == "result: an int was expected, a list came back"


def test_long_texts_are_shown_where_they_part() -> None:
    text = told("ab" * 50 + "c" * 9, "ab" * 50 + "d" * 9)
    assert (
        text
        == "result: the text differs from character 100 on: expected 'abababababddddddddd', got 'abababababccccccccc'"
    )


def test_a_text_that_ends_too_early_parts_at_its_end() -> None:
    assert "from character 70 on" in str(told("a" * 70, "a" * 90))


def test_arrays_inside_are_compared_exactly_and_keep_the_difference() -> None:
    found = inequality([np.array([1.0, 2.0])], [np.array([1.0, 2.0 + 1e-12])], "result")
    assert found is not None
    assert (found.path, found.difference is not None) == ("result[0]", True)


def test_an_object_that_calls_itself_equal_is_not_asked() -> None:
    class Agreeable(int):
        def __eq__(self, other: object) -> bool:
            return True

        __hash__ = int.__hash__

    assert told(Agreeable(1), 2) == "result: expected 2, got 1"
    assert told(Agreeable(2), 2) == "result: expected 2 (int), got 2 (Agreeable)"


class Lying(list[Any]):
    """Says that it is whatever one would like it to be, and something else when it is asked again."""

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return iter([1, 2])

    def __getitem__(self, place: Any) -> Any:
        return place + 1

    def __eq__(self, other: object) -> bool:
        return True


class LyingDict(dict[Any, Any]):
    def __iter__(self) -> Any:
        return iter(["a"])

    def items(self) -> Any:
        return [("a", 1)]

    def __getitem__(self, key: Any) -> Any:
        return 1


class LyingSet(set[Any]):
    def __iter__(self) -> Any:
        return iter([1])


class Disguised:
    """Is a list for isinstance, and for nobody else."""

    __class__ = list  # type: ignore[assignment]  # on purpose

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Any:
        return iter([1, 2])


class LyingText(str):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


@pytest.mark.parametrize(
    ("actual", "expected"),
    [
        (Lying([3, 4]), [1, 2]),
        (Lying([1, 2, 3]), (1, 2)),
        (LyingDict(a=2), {"a": 1}),
        (LyingDict(b=1), {"a": 1}),
        (LyingSet({2}), {1}),
        (Disguised(), [1, 2]),
        (LyingText("b"), "a"),
        ([LyingText("a")], ["a"]),
        (np.array([1, 2], object), [1, 2]),
        (np.array([1, 2], object), np.array([1, 2])),
        (np.array([1.0, 2.0]).view(np.recarray), np.array([1.0, 2.0])),
        (np.ma.array([1.0, 2.0]), np.array([1.0, 2.0])),
        (np.array(["2020"], "M8[Y]"), np.array([50])),
        (np.timedelta64(3, "s"), 3),
        (np.datetime64("NaT"), np.nan),
        (complex(math.nan, 1), complex(math.nan, 2)),
        (complex(1, 0), 1.0),
        (np.array(True), 1),
        (np.float32(0.1), 0.1),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_pretends_to_be_equal_is_not(actual: object, expected: object) -> None:
    assert told(actual, expected) is not None


def test_complex_nan_equals_itself() -> None:
    assert told(complex(math.nan, 1), complex(math.nan, 1)) is None


@given(PLAIN)
def test_every_value_equals_itself(value: object) -> None:
    assert told(value, value) is None


@given(PLAIN, PLAIN)
def test_inequality_is_symmetric(one: Any, other: Any) -> None:
    assert (told(one, other) is None) is (told(other, one) is None)
