"""Values to bytes and back: what arrives is what was sent."""

from __future__ import annotations

import copy
import math
from collections import Counter, OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.protocol.codec import HEADER, Decoder, Encoder, WireError
from tests.protocol.frames import decoded, frame_of, read, same, there

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
