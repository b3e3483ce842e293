"""Values that cannot be sent, and bytes that are none: each is refused, and harms nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.codec import MAX_CONTAINERS, MAX_DEPTH, Decoder, Unsendable, WireError
from tests.protocol.frames import frame_of, read


class Sub(np.ndarray[Any, Any]):
    pass


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


class TestRefusals:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (np.array([1, "x"], object), "dtype object"),
            (np.zeros(2).view(Sub), "Sub; a plain numpy.ndarray"),
            (np.ma.masked_array([1, 2], [True, False]), "MaskedArray"),
            (np.zeros(2, [("a", "f8")]), "dtype"),
            (np.array(["2020-01-01"], "datetime64[D]"), "datetime64"),
            (np.array(["x" * 1025]), "strings of"),
            (10**4200, "a whole number of"),
            (nested(MAX_DEPTH + 1), "nested"),
            (np.random.RandomState(1), "RandomState"),
            (open, "no plain form"),
            (iter([]), "no plain form"),
            ("x" * (codec.MAX_BODY + 1), "MB outside of arrays"),
            ([()] * (MAX_CONTAINERS // 2 + 1), "containers"),
            ({(n,) for n in range(codec.MAX_HARD_KEYS + 1)}, "keys"),
            ([{(n,) for n in range(codec.MAX_HARD_KEYS // 2 + 1)} for _ in range(2)], "keys"),
            (range(10**30), "a range of more"),
            (range(codec.MAX_RANGE, -1, -1), "a range of more"),
            (np.empty((1 << 40, 0)), "an empty array of shape"),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_what_has_no_plain_form(self, value: object, message: str) -> None:
        with pytest.raises(Unsendable, match=message):
            frame_of(value)

    def test_arrays_past_the_cap(self) -> None:
        for shape in ((1 << 25, 2), (1 << 20, 1 << 20)):
            with pytest.raises(Unsendable, match="MB in one call"):
                frame_of(np.broadcast_to(0.0, shape))

    @pytest.mark.parametrize(
        "form",
        [
            [], ["x"], [99], [None], {}, [codec.LIST, {}], [codec.DICT, 1], [codec.SET, [codec.LIST]],
            [codec.DICT, [codec.LIST], 1],
            [codec.REFERENCE, 0], [codec.REFERENCE, -1], [codec.REFERENCE, "0"], [codec.REFERENCE],
            [codec.BIGINT, [1, 2]], [codec.BIGINT],
            [codec.BIGINT, b"\1" * (codec.MAX_INTEGER + 1)], [codec.RANGE, 1, 2, 0], [codec.RANGE, 1.5, 2, 1],
            [codec.SLICE], [codec.COMPLEX, "x", 1],
            [codec.COMPLEX, 1 << 2000, 1], [codec.TYPE, "type", "eval"], [codec.TYPE, "scalar", "object_"],
            [codec.TYPE, "dtype", "O"],
            [codec.TYPE, "type", []], [codec.SCALAR, "float64", b"1234567"], [codec.SCALAR, "bool", b"\2"],
            [codec.SCALAR, "U0", b""],
            [codec.SCALAR, "U1", b"\xff\xff\xff\xff"], [codec.SCALAR, "O", b"12345678"], [codec.HANDLE, 1],
            [codec.CALLBACK, 1],
            [codec.DICT, 1, 2, 1, 3], [codec.DICT, 1, 2, True, 3], [codec.SET, 1, 1], [codec.FROZENSET, 1, 1.0],
            [codec.DICT, [codec.SLICE, 1, 2, 3], 1], [codec.SET, [codec.DICT]], [codec.FROZENSET, [codec.SET]],
            [codec.RANGE, 0, [codec.BIGINT, b"\0" * 20 + b"\1"], 1], [codec.RANGE, 0, codec.MAX_RANGE + 1, 1],
            [codec.RANGE, True, 2, 1], [codec.LIST, *[[codec.RANGE, 0, codec.MAX_RANGE, 1]] * 9],
            [codec.COMPLEX, "1", "2"], [codec.COMPLEX, 1, 2], [codec.COMPLEX, 1.0],
        ],
        ids=lambda form: repr(form)[:40],
    )  # fmt: skip
    def test_forms_that_describe_nothing(self, form: object) -> None:
        with pytest.raises(WireError):
            read(form)

    @pytest.mark.parametrize(
        "fields",
        [
            ["O", [1], False, 0, True],
            ["V8", [1], False, 0, True],
            ["float64", [9], False, 0, True],
            ["float64", [1], False, 64, True],
            ["float64", [1], False, 8, True],
            ["float64", [1], False, -64, True],
            ["float64", [-1], False, 0, True],
            ["float64", [1 << 40, 1 << 40], False, 0, True],
            ["float64", [True], False, 0, True],
            ["float64", [1 << 40, 0], False, 0, True],
            ["float64", [0, *[1 << 40] * 31], False, 0, True],
            ["object", [1], False, 0, True],
            [">f8", [1], False, 0, True],
            ["datetime64[D]", [1], False, 0, True],
            ["f8,f8", [1], False, 0, True],
            ["S0", [1], False, 0, True],
            ["float64", "1", False, 0, True],
            ["float64", [1] * 33, False, 0, True],
            ["float64", [1], 1, 0, True],
            ["float64", [1], False, 0, 1],
            ["float64", [1], False, 0],
            ["U0", [1 << 30], False, 0, True],
            ["U99999", [0], False, 0, True],
            ["U-1", [0], False, 0, True],
            ["bool", [1], False, 0, True],
            ["U1", [1], False, 0, True],
        ],
        ids=str,
    )
    def test_arrays_that_do_not_fit_their_frame(self, fields: list[Any]) -> None:
        decoder = Decoder()
        decoder.blob = np.full(64, 255, np.uint8)
        with pytest.raises(WireError):
            decoder.decode([codec.ARRAY, *fields])

    def test_nesting_past_the_cap(self) -> None:
        form: list[Any] = [codec.LIST]
        for _ in range(MAX_DEPTH + 1):
            form = [codec.LIST, form]
        with pytest.raises(WireError, match="deep"):
            read(form)

    def test_shared_values_that_unfold_without_end(self) -> None:
        """Forty lists, each of which holds the one before twice, are a value of 2⁴⁰ for whoever walks over it."""
        form: list[Any] = [codec.LIST, [codec.LIST, 1]]
        for n in range(1, 40):
            form.append([codec.LIST, [codec.REFERENCE, n], [codec.REFERENCE, n]])
        with pytest.raises(WireError, match="shared ones are met"):
            read(form)

    def test_one_array_that_is_met_without_end(self) -> None:
        """A thousand references to 1 MB are 1 GB for whoever makes one array of them."""
        decoder = Decoder()
        decoder.blob = np.zeros(1 << 20, np.uint8)
        array = [codec.ARRAY, "uint8", [1 << 20], False, 0, True]
        assert len(decoder.decode([codec.LIST, array, *[[codec.REFERENCE, 1]] * 200])) == 201
        with pytest.raises(WireError, match="shared ones are met"):
            decoder.decode([codec.LIST, *[[codec.REFERENCE, 0]] * 2])

    @pytest.mark.parametrize("known", [list(range(100_000)), dict.fromkeys(range(50_000)), np.zeros(4 << 20)], ids=type)
    def test_what_the_other_side_knows_is_not_met_without_end_either(self, known: Any) -> None:
        decoder = Decoder(known=[known])
        with pytest.raises(WireError, match="shared ones are met"):
            decoder.decode([codec.LIST, *[[codec.REFERENCE, 0]] * 100])

    def test_bits_that_are_no_extended_number_become_nan(self) -> None:
        if np.dtype(np.longdouble).itemsize != 16 or np.finfo(np.longdouble).nmant != 63:
            pytest.skip("longdouble is not the extended format of x87 here")
        unnormal = b"\1" * 7 + b"\x01" + b"\xff\x3f" + b"\0" * 6  # its leading bit is missing
        decoder = Decoder()
        decoder.blob = np.frombuffer(bytearray(unnormal * 2), np.uint8)
        assert np.isnan(decoder.decode([codec.ARRAY, "longdouble", [2], False, 0, True])).all()
        assert np.isnan(Decoder().decode([codec.SCALAR, "longdouble", unnormal]))

    def test_a_message_is_a_list(self) -> None:
        for body in (
            b"",
            b"\xc0",
            b"\x80",
            b"\x81\x01\x02",
            b"\x91",
            b"\x90\x90",
            b"\xc1",
            b"\xc7\x01\x01x",
            b"\x91\xd6\xff1234",
            b"\x91\xa1\xff",
            b"\x91\xdb\xff\xff\xff\xff",
            b"\x91" * 2000,
            b"\x92\x81\x01\x02\x80",
            b"\xdd\xff\xff\xff\xff",
        ):
            with pytest.raises(WireError):
                Decoder().message(body)
