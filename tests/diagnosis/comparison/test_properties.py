"""What holds for compare and describe whatever the pair of values, against exact fractions."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import assume, example, given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.diagnosis.comparison import compare, describe

FLOATS = st.sampled_from([np.float16, np.float32, np.float64, np.longdouble])
SHAPES = hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4)
ANY_ARRAY = hnp.arrays(
    st.one_of(
        hnp.scalar_dtypes(),
        hnp.complex_number_dtypes(),
        hnp.array_dtypes(),
        st.sampled_from([np.dtype(object), np.dtype(np.longdouble), np.dtype(np.clongdouble), np.dtype(">i4")]),
    ),
    SHAPES,
    fill=st.nothing(),
)
ANY_VALUE = st.one_of(
    ANY_ARRAY,
    hnp.arrays(hnp.integer_dtypes() | hnp.boolean_dtypes(), SHAPES).map(np.ma.array),
    st.from_type(type).map(lambda kind: kind),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text(),
        lambda inner: st.lists(inner) | st.tuples(inner, inner) | st.dictionaries(st.text(), inner),
        max_leaves=4,
    ),
    hnp.scalar_dtypes().flatmap(lambda dtype: hnp.arrays(dtype, ())).map(lambda array: array[()]),
)


def exact(value: Any) -> Fraction:
    return Fraction(*value.as_integer_ratio())


@given(ANY_VALUE, ANY_VALUE, st.booleans(), st.sampled_from([0.0, 1e-9, 0.5]))
def test_nothing_raises_and_messages_stay_short(a: object, b: object, equal_nan: bool, rtol: float) -> None:
    difference = compare(a, b, rtol, rtol, equal_nan)
    assert difference is None or 1 <= len(describe(difference).splitlines()) <= 4


@given(st.data(), SHAPES, hnp.scalar_dtypes(), hnp.scalar_dtypes())
def test_nothing_raises_where_shapes_agree(data: st.DataObject, shape: Any, one: Any, other: Any) -> None:
    a, b = data.draw(hnp.arrays(one, shape)), data.draw(hnp.arrays(other, shape))
    difference = compare(a, b, 1e-9, 0.0, False, ["axis"] * len(shape))
    assert difference is None or describe(difference)


@given(hnp.arrays(st.sampled_from([np.float64, np.complex64, np.int16, np.bool_]), SHAPES))
def test_an_array_equals_itself(array: np.ndarray[Any, Any]) -> None:
    assert compare(array.copy(), array, 0.0, 0.0, True) is None


@given(
    st.data(),
    hnp.integer_dtypes() | hnp.unsigned_integer_dtypes(),
    hnp.integer_dtypes() | hnp.unsigned_integer_dtypes(),
)
def test_integers_agree_exactly_when_within_the_tolerance(data: st.DataObject, one: Any, other: Any) -> None:
    a, b = data.draw(hnp.arrays(one, 3)), data.draw(hnp.arrays(other, 3))
    distances = [abs(x - y) for x, y in zip(a.tolist(), b.tolist(), strict=True)]
    atol = data.draw(st.sampled_from([0, 1, 5, 255]) | st.integers(0, 2**53))
    difference = compare(a, b, 0.0, atol, False)
    assert (difference.count if difference else 0) == sum(distance > atol for distance in distances)


@given(st.data(), FLOATS, FLOATS, st.sampled_from([0.0, 1e-9, 1e-3, 0.25]), st.sampled_from([0.0, 1e-12, 1.0]))
def test_floating_numbers_agree_only_when_within_the_tolerance(
    data: st.DataObject, one: Any, other: Any, rtol: float, atol: float
) -> None:
    a = data.draw(hnp.arrays(one, 2))
    nearby = data.draw(st.sampled_from([0.0, 1e-10, 1e-3, 0.3]))
    with np.errstate(all="ignore"):
        b = data.draw(hnp.arrays(other, 2)) if data.draw(st.booleans()) else (a * (1 + nearby)).astype(other)
    assume(np.isfinite(a).all() and np.isfinite(b).all())
    exceeded = [
        abs(exact(x) - exact(y)) / (Fraction(atol) + Fraction(rtol) * abs(exact(y)) or Fraction(1, 10**6000))
        for x, y in zip(a, b, strict=True)
    ]
    found = compare(a, b, rtol, atol, False)
    if found is None:
        assert max(exceeded) <= 1 + Fraction(1, 10**12)
    elif max(*map(abs, map(exact, [*a, *b]))) < 10**307:  # above, the difference itself may be infinite
        assert max(exceeded) >= 1 - Fraction(1, 10**12)


@given(st.data(), FLOATS, FLOATS)
@example(data=None, one=np.float64, other=np.float64)
def test_expected_and_actual_never_read_the_same(data: st.DataObject | None, one: Any, other: Any) -> None:
    a = data.draw(hnp.arrays(one, 3)) if data else np.array([1.0, 2.0, 0.1 + 0.2])
    b = data.draw(hnp.arrays(other, 3)) if data else np.array([1.0, 2.0, 0.3])
    difference = compare(a, b, 0.0, 0.0, True)
    pairs = re.findall(r"expected (\S+), got (\S+)$", describe(difference) if difference else "", re.MULTILINE)
    assert all(first != second for first, second in pairs)
    assert pairs or difference is None or difference.kind == "non-finite"
