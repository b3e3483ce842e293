"""Values to bytes and back: what arrives is what was sent, and bytes of any kind do no harm."""

from __future__ import annotations

import copy
import math
from collections import Counter, OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.codec import HEADER, MAX_CONTAINERS, MAX_DEPTH, Decoder, Encoder, Unsendable, WireError
from grader.tests.protocol.frames import decoded, frame_of, read, same, there

Point = namedtuple("Point", "x y")


class TestPlainValues:
    @pytest.mark.parametrize(
        "value",
        [
            None, True, False, 0, -1, 2**63, -(2**63), 2**64 - 1, 2**64, -(2**200), 2**5000, 1.5, -0.0, math.inf,
            math.nan, 1e-320,
            3 - 4j, complex(math.nan, -0.0), "", "text", "naïve \N{SNOWMAN} \x00", "\ud800", b"", b"\x00\xff",
            [], (), {}, set(), frozenset(), [1, [2, (3, {"a": None})]], {1: "a", (2, 3): [b"x"], None: {4}},
            {1, 2.5, "x", (1,)},
            frozenset({frozenset({1}), 2}), slice(1, None, -2), slice(None), ..., NotImplemented, range(3),
            range(10, -5, -3),
            range(0), range(10**30, 10**30 + 3), int, float, bool, complex, str, bytes, list, tuple, dict, set, object,
        ],
        ids=lambda value: type(value).__name__,
    )  # fmt: skip
    def test_arrive_as_they_were(self, value: object) -> None:
        assert same(there(value), value)

    @pytest.mark.parametrize(
        ("value", "plain"),
        [
            (OrderedDict(b=1, a=2), {"b": 1, "a": 2}),
            (Counter("aab"), {"a": 2, "b": 1}),
            (Point(1, 2.0), (1, 2.0)),
        ],
    )
    def test_subclasses_arrive_as_what_they_extend(self, value: object, plain: object) -> None:
        assert same(there(value), plain)

    def test_numbers_of_numpy_keep_their_dtype(self) -> None:
        for name, dtype in codec.DTYPES.items():
            value = np.ones(1, dtype)[0]
            assert same(there(value), value), name

    @pytest.mark.parametrize(
        "value", [np.str_("añb"), np.str_(""), np.bytes_(b"ab"), np.bytes_(b""), np.float64("nan")]
    )
    def test_other_numpy_scalars(self, value: np.generic) -> None:
        assert same(there(value), value)

    @pytest.mark.parametrize(
        "value", [np.float32, np.int64, np.bool_, np.complex128, np.dtype("float16"), np.dtype("U5"), np.dtype(">i4")]
    )
    def test_dtypes(self, value: Any) -> None:
        assert there(value) == (value.newbyteorder("=") if isinstance(value, np.dtype) else value)


class TestArrays:
    @pytest.mark.parametrize("name", [*codec.DTYPES, "U7", "S5"])
    @pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
    def test_every_dtype_and_shape(self, name: str, shape: tuple[int, ...]) -> None:
        dtype = np.dtype(name)
        value = (np.arange(math.prod(shape)) % 2).astype(dtype).reshape(shape)
        assert type(there(value)) is np.ndarray
        assert same(there(value), value)

    def test_fortran_order_stays(self) -> None:
        value = np.asfortranarray(np.arange(24.0).reshape(2, 3, 4))
        arrived = there(value)
        assert same(arrived, value) and arrived.flags.f_contiguous and not arrived.flags.c_contiguous

    @pytest.mark.parametrize("cut", [np.s_[::2], np.s_[::-1, 1:], np.s_[:, ::-2], np.s_[1], np.s_[..., None]], ids=str)
    def test_views_that_are_not_contiguous(self, cut: Any) -> None:
        value = np.arange(30.0).reshape(5, 6)[cut]
        assert same(there(value), value)
        assert same(there(value.T), value.T)

    def test_big_endian_arrives_native(self) -> None:
        arrived = there(np.array([1, 258], ">i4"))
        assert arrived.tolist() == [1, 258] and arrived.dtype == np.dtype("=i4")

    def test_nan_payloads_and_signed_zeros_keep_their_bits(self) -> None:
        value = np.array([0x7FF8000000000123, 0x8000000000000000, 0xFFF0000000000000], np.uint64).view(np.float64)
        assert there(value).tobytes() == value.tobytes()

    def test_a_read_only_array_stays_read_only_and_others_can_be_written(self) -> None:
        assert not there(np.broadcast_to(np.arange(3.0), (2, 3))).flags.writeable
        assert there(np.arange(3.0)).flags.writeable

    def test_arrays_lie_aligned_and_apart(self) -> None:
        values = [np.arange(n, dtype=np.int8) for n in (1, 65, 3)]
        arrived = decoded(*frame_of(*values))
        assert same(arrived, values)
        arrived[0][...] = 9
        assert same(arrived[1:], values[1:])

    def test_64_mb(self) -> None:
        value = np.arange(8 << 20, dtype=np.float64)
        assert np.array_equal(there(value), value)


class TestSharing:
    def test_an_object_sent_twice_arrives_as_one(self) -> None:
        array, items = np.arange(3), [1]
        first, second, both = decoded(*frame_of(array, items, {"a": array, "b": (items, items)}))
        assert both["a"] is first and both["b"][0] is second and both["b"][1] is second

    def test_equal_objects_stay_two(self) -> None:
        first, second = decoded(*frame_of([1], [1]))
        assert first == second and first is not second

    def test_cycles(self) -> None:
        items: list[Any] = [1]
        table: dict[str, Any] = {"items": items}
        items += [table, items]
        arrived = there(items)
        assert arrived[2] is arrived and arrived[1]["items"] is arrived

    def test_known_objects_come_back_as_themselves(self) -> None:
        array, items = np.arange(3.0), [1, 2]
        encoder = Encoder(known=[array, items])
        parts = encoder.frame([], [[items, array]])
        decoder = Decoder(known=[array, items])
        (form,) = decoder.message(parts[0][HEADER.size :])
        assert [a is b for a, b in zip(decoder.decode(form), [items, array], strict=True)] == [True, True]


class TestRandomGenerators:
    @pytest.mark.parametrize("name", codec.BIT_GENERATORS)
    def test_go_on_where_they_stood(self, name: str) -> None:
        rng = np.random.Generator(getattr(np.random, name)(5))
        rng.random(7)
        rng.integers(9, dtype=np.int32)  # half of a word is kept for the next draw
        arrived = there(rng)
        assert np.array_equal(arrived.integers(99, size=9, dtype=np.int32), rng.integers(99, size=9, dtype=np.int32))
        assert np.array_equal(arrived.normal(size=9), rng.normal(size=9))

    def test_one_sent_twice_is_one(self) -> None:
        rng = np.random.default_rng(1)
        first, second = decoded(*frame_of(rng, rng))
        assert first is second

    def test_a_position_past_the_words_is_refused(self) -> None:
        """NumPy does not check it and would hand out memory that lies behind the state."""
        rng = np.random.Generator(np.random.MT19937(5))
        state = copy.deepcopy(rng.bit_generator.state)
        state["state"]["pos"] = 625
        with pytest.raises(WireError, match="outside of its words"):
            codec.set_generator_state(rng, "MT19937", codec.plain_state(state))

    @pytest.mark.parametrize(
        "state",
        [None, 3, [], [["bit_generator", ["s", "x"]]], [[1, 2]] * 4, "state", [["bit_generator", "s"]] * 4, [""] * 4],
    )
    def test_a_state_of_another_form_is_refused(self, state: object) -> None:
        with pytest.raises(WireError):
            read([codec.GENERATOR, "PCG64", state])
        with pytest.raises(WireError, match="not on the list"):
            read([codec.GENERATOR, "RandomState", state])


class Meters(float):
    pass


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
