"""Any bytes give a value or WireError, and take no more memory than the caps say."""

from __future__ import annotations

import tracemalloc
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from grader.protocol import codec
from grader.protocol.codec import WireError
from tests.protocol.frames import CONTAINER_BYTES, PLAIN_FACTOR, decoded, frame_of, same, there

MANY = settings().max_examples  # as --all-tiers says
FUZZ = settings(max_examples=MANY * 3 // 2, deadline=None, suppress_health_check=list(HealthCheck))
ROUND = settings(max_examples=MANY * 4 // 5, deadline=None, suppress_health_check=list(HealthCheck))
arrays = hnp.arrays(
    st.sampled_from(sorted(codec.DTYPES)).map(np.dtype), hnp.array_shapes(min_dims=0, max_side=3, min_side=0)
)
keys = st.text() | st.integers() | st.tuples(st.floats())
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.complex_numbers() | st.text() | st.binary()
    | arrays | st.slices(5),
    lambda inner: st.lists(inner, max_size=4) | st.tuples(inner, inner) | st.dictionaries(keys, inner, max_size=3)
    | st.sets(st.integers() | st.text(), max_size=3) | st.frozensets(st.binary(), max_size=3),
    max_leaves=12,
)  # fmt: skip


# Frames as a hostile worker would forge them: right in form, wrong in content.
forged = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats()
    | st.text(max_size=5) | st.binary(max_size=20)
    | st.sampled_from([*codec.DTYPES, "U3", "U0", "S9", "PCG64", "MT19937", "type", "dtype"]) | st.integers(-2, 30),
    lambda inner: st.lists(inner, max_size=6)
    | st.builds(lambda tag, rest: [tag, *rest], st.integers(0, 18), st.lists(inner, max_size=6)),
    max_leaves=30,
)  # fmt: skip


def peak_of_decoding(body: bytes | bytearray, blob: np.ndarray[Any, Any] | None = None) -> int:
    """Return the most memory that decoding took; anything but a value or WireError passes through."""
    tracemalloc.start()
    try:
        decoded(body, blob)
    except WireError:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak


class TestAnyBytes:
    """A value or WireError, and never more memory than the caps say."""

    @ROUND
    @given(plain)
    def test_round_trip(self, value: Any) -> None:
        assert same(there(value), value)

    @FUZZ
    @given(st.binary(max_size=400))
    def test_bytes(self, body: bytes) -> None:
        assert peak_of_decoding(body) < 1 << 20

    @FUZZ
    @given(st.lists(forged, max_size=5), st.binary(max_size=200))
    def test_forged_forms(self, forms: list[Any], blob: bytes) -> None:
        body = msgpack.packb(forms, unicode_errors="surrogatepass")
        assert peak_of_decoding(body, np.frombuffer(bytearray(blob), np.uint8)) < 1 << 20

    @FUZZ
    @given(plain, st.data())
    def test_mutated_frames(self, value: Any, data: st.DataObject) -> None:
        body, blob = frame_of(value, np.random.Generator(np.random.MT19937(1)))
        for _ in range(data.draw(st.integers(1, 4))):
            place = data.draw(st.integers(0, len(body) - 1))
            body[place] = data.draw(st.integers(0, 255))
        cut = data.draw(st.integers(0, 20))
        assert peak_of_decoding(body[: len(body) - cut], blob) < 4 << 20

    @pytest.mark.some_of(3)
    @pytest.mark.parametrize(
        "pattern",
        [b"\x90", b"\x91\x00", b"\x91\x02", b"\x91\x03", b"\x01", b"\xa2ab", b"\xcd\x12\x34", b"\xcb" + b"\1" * 8],
        ids=bytes.hex,
    )
    def test_the_costliest_bodies_stay_under_the_cap(self, pattern: bytes) -> None:
        count = 40_000
        body = b"\x91\xdd" + (count + 1).to_bytes(4, "big") + b"\x00" + pattern * count
        containers = 0 if pattern[0] >> 4 != 9 else count
        assert peak_of_decoding(body) < PLAIN_FACTOR * len(body) + CONTAINER_BYTES * containers

    @pytest.mark.full_matrix
    def test_containers_are_counted_before_they_are_many(self) -> None:
        body = b"\x91\xdd" + (1 << 20).to_bytes(4, "big") + b"\x90" * (1 << 20)
        with pytest.raises(WireError, match="containers"):
            decoded(body)
        assert peak_of_decoding(body) < 32 << 20
