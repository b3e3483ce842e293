"""Numbers that never read the same, and notes about shapes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from grader.diagnosis.comparison.wording import Shape, name_axes, not_numbers, number_pair, shape_note, shape_text


class TestNumberPair:
    @pytest.mark.parametrize(
        ("expected", "actual", "texts"),
        [
            (8.0, 4.0, ("8.0", "4.0")),
            (0.1, 0.25, ("0.1", "0.25")),
            (1 / 3, 0.5, ("0.333333", "0.5")),
            (2.9999999999, 4.0, ("3.0", "4.0")),
            (3.0, 2.9999999999999996, ("3.0", "2.9999999999999996")),
            (1e-12, 5e9, ("1e-12", "5e+09")),
            (3, 4.5, ("3", "4.5")),
            (1000000, 1000000.25, ("1000000", "1000000.2")),
            (True, False, ("True", "False")),
            (np.float32(0.1), 0.2, ("0.1", "0.2")),
            (1 + 2j, 1 - 2j, ("1.0+2.0j", "1.0-2.0j")),
            (-np.inf, 0.0, ("-inf", "0.0")),
            (1e-20, math.nextafter(1e-20, 1), ("1e-20", "1.0000000000000001e-20")),
            (np.longdouble(1), np.longdouble(1) + np.finfo(np.longdouble).eps, ("1.0", "1.0000000000000000001e+00")),
        ],
    )
    def test_numbers_are_short_unless_that_hides_the_difference(
        self, expected: object, actual: object, texts: tuple[str, str]
    ) -> None:
        if isinstance(actual, np.longdouble) and np.finfo(np.longdouble).eps > 1e-17:
            pytest.skip("longdouble is float64 on this system")
        assert number_pair(expected, actual) == texts

    @given(st.floats(), st.floats())
    def test_different_floats_never_read_the_same(self, expected: float, actual: float) -> None:
        assume(expected != actual and not (expected != expected and actual != actual))
        first, second = number_pair(expected, actual)
        assert float(first) != float(second)

    @given(st.floats(), st.integers(1, 4))
    def test_neighbours_never_read_the_same(self, value: float, steps: int) -> None:
        other = value
        for _ in range(steps):
            other = math.nextafter(other, math.inf)
        assume(other != value and value == value)
        first, second = number_pair(value, other)
        assert float(first) != float(second)

    @given(st.integers(-(2**64), 2**64), st.floats(allow_nan=False))
    def test_a_whole_number_and_a_float_never_read_the_same(self, whole: int, number: float) -> None:
        assume(whole != number)
        first, second = number_pair(whole, number)
        assert float(second) != int(first)

    @given(st.complex_numbers(allow_nan=False), st.complex_numbers(allow_nan=False))
    def test_different_complex_numbers_never_read_the_same(self, expected: complex, actual: complex) -> None:
        assume(expected != actual)
        first, second = number_pair(expected, actual)
        assert first != second

    def test_a_number_of_many_digits_is_measured_instead(self) -> None:
        assert number_pair(3, 10**5000) == ("3", "an integer of 16610 bits")


class TestShapeNote:
    @pytest.mark.parametrize(
        ("shape", "expected", "note"),
        [
            ((2, 6, 8), (2, 8, 6), "axes 1 and 2 are swapped"),
            ((2, 3, 4), (3, 4, 2), "the axes are in another order"),
            ((3, 1), (1, 3), "axes 0 and 1 are swapped"),
            ((5, 1), (5,), "an axis of size 1 is left over: axis 1 (keepdims and np.newaxis make one)"),
            ((5,), (5, 1), "an axis of size 1 is missing: axis 1 (keepdims=True keeps it)"),
            ((5,), (1, 5, 1), "an axis of size 1 is missing (keepdims=True keeps it)"),
            ((1, 2, 3), (2, 1, 3), "axes 0 and 1 are swapped"),
            ((6, 4), (2, 6, 4), "an axis is missing: axis 0"),
            ((6,), (6, 6), "an axis is missing"),
            ((2, 6, 4), (6, 4), "there is one axis too many: axis 0; is something left to sum or to index?"),
            ((5,), (6,), "axis 0 is one too short"),
            ((2, 7), (2, 6), "axis 1 is one too long"),
            ((2, 6, 8), (2, 2, 6, 4), "the same number of values, 96, in another arrangement"),
            ((3,), (), "a single number was expected: is something left to sum, to average or to index?"),
            ((2, 3), (4, 5), None),
            ((), (4, 5), None),
        ],
    )
    def test_what_probably_happened(self, shape: Shape, expected: Shape, note: str | None) -> None:
        assert shape_note(shape, expected) == note

    def test_a_missing_axis_is_named(self) -> None:
        assert shape_note((6, 4), (2, 6, 4), ("batch", "seq", "d_k")) == "an axis is missing: axis 0 (batch)"

    @given(*[st.lists(st.integers(0, 4), max_size=5).map(tuple)] * 2)
    def test_no_pair_of_shapes_raises(self, shape: Shape, expected: Shape) -> None:
        assume(shape != expected)
        assert shape_note(shape, expected) != ""


class TestShapeText:
    def test_names_stand_before_sizes(self) -> None:
        assert shape_text((2, 6), ("batch", "seq")) == "(batch 2, seq 6)"

    @pytest.mark.parametrize("axes", [None, (), ("batch",)])
    def test_without_a_name_for_each_axis_there_are_none(self, axes: tuple[str, ...] | None) -> None:
        assert shape_text((2, 6), axes) == "(2, 6)"


class TestNotNumbers:
    @pytest.mark.parametrize("value", [1, 1.5, True, 2j, np.float32(1), np.array(1), np.longdouble(2)])
    def test_single_numbers_are_numbers(self, value: object) -> None:
        assert not_numbers(value, ()) is None

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            (np.str_("a"), "returned an array of text where a number was expected"),
            (np.datetime64("2020-01-01"), "returned an array of dates where a number was expected"),
            ({"a": 1}, "returned a dict of 1 where a single number was expected"),
            ([1.0], "returned a list of 1 where a single number was expected"),
            (Ellipsis, "returned an ellipsis where a single number was expected"),
        ],
    )
    def test_other_things_are_named(self, value: object, text: str) -> None:
        assert not_numbers(value, ()) == text

    def test_a_foreign_length_is_not_asked_for(self) -> None:
        class Hostile(list[Any]):
            def __len__(self) -> int:
                raise RuntimeError

        assert not_numbers(Hostile([1.0]), (2,)) == "returned a list of 1; wrap it with np.array"

    def test_a_stand_in_of_the_grader_says_what_it_stands_for(self) -> None:
        stand_in = type(
            "RemoteValue", (), {"__module__": "grader.sandbox.proxies", "__repr__": lambda self: "<Layer>"}
        )()
        assert not_numbers(stand_in, (2,)) == "returned <Layer> where one array was expected"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("reversed along axis 1", "reversed along axis 1 (heads)"),
        ("axes 0 and 2 are swapped", "axes 0 and 2 (batch and seq) are swapped"),
        ("along axis 0 (query)", "along axis 0 (query)"),
        ("axis 7", "axis 7"),
        ("index 1 (the last) of axis 2", "index 1 (the last) of axis 2 (seq)"),
    ],
)
def test_axes_that_are_told_by_number_are_named(text: str, told: str) -> None:
    assert name_axes(text, ("batch", "heads", "seq")) == told
