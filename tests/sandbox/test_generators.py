"""Which states of a random generator can be reached by drawing: those of every draw, and no other."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from grader.protocol import codec
from grader.sandbox.proxies import move, reachable

NAMES = codec.BIT_GENERATORS
DRAWS: dict[str, Callable[[np.random.Generator], object]] = {
    "nothing": lambda rng: None,
    "one number": lambda rng: rng.random(),
    "many numbers": lambda rng: rng.normal(size=20_000),
    "halves": lambda rng: rng.integers(9, size=3, dtype=np.int32),
    "more halves": lambda rng: (rng.integers(9, size=3, dtype=np.int32), rng.random(4)),
    "bytes": lambda rng: rng.integers(9, size=5, dtype=np.uint8),
    "an order": lambda rng: rng.permutation(101),
}


def made(name: str, seed: int = 5) -> np.random.Generator:
    return np.random.Generator(getattr(np.random, name)(seed))


def state(rng: np.random.Generator) -> dict[str, Any]:
    found: dict[str, Any] = copy.deepcopy(dict(rng.bit_generator.state))
    return found


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("draw", DRAWS)
def test_every_draw_leads_on(name: str, draw: str) -> None:
    rng = made(name)
    for before_it in ("nothing", "halves"):
        DRAWS[before_it](rng)
        before = state(rng)
        DRAWS[draw](rng)
        assert reachable(before, state(rng))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.some_of(2)
def test_no_draw_leads_back_or_elsewhere(name: str) -> None:
    rng = made(name)
    before = state(rng)
    rng.random(1000)
    after = state(rng)
    assert not reachable(after, before)
    assert not reachable(before, state(made(name, 6)))
    assert not reachable(before, state(made(next(other for other in NAMES if other != name))))


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM"])
def test_a_jump_is_no_draw(name: str) -> None:
    rng = made(name)
    jumped = np.random.Generator(rng.bit_generator.jumped())  # type: ignore[attr-defined]  # these two have it
    assert not reachable(state(rng), state(jumped))
    other = state(rng)
    other["state"]["inc"] += 2
    assert not reachable(state(rng), other)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "MT19937"])
def test_a_half_that_was_never_drawn(name: str) -> None:
    rng = made(name)
    before = state(rng)
    assert not reachable(before, before | {"has_uint32": 1, "uinteger": 7})
    rng.random(3)
    assert not reachable(before, state(rng) | {"has_uint32": 1, "uinteger": 7})


def test_words_that_were_never_drawn() -> None:
    before = state(made("Philox"))
    chosen = copy.deepcopy(before)
    chosen["buffer"] = np.full(4, 7, np.uint64)
    assert not reachable(before, chosen)
    before = state(made("SFC64"))
    chosen = copy.deepcopy(before)
    chosen["state"]["state"][0] += np.uint64(1)
    assert not reachable(before, chosen)


def test_a_way_too_long_to_follow_is_refused() -> None:
    before = state(made("SFC64"))
    far = copy.deepcopy(before)
    far["state"]["state"][3] += np.uint64(1 << 40)
    assert not reachable(before, far)


def test_a_generator_is_moved_on_or_left() -> None:
    rng, ahead = made("PCG64"), made("PCG64")
    ahead.random(3)
    before = state(rng)
    assert not move(rng, tuple(codec.generator_state(made("PCG64", 9)))) and state(rng) == before
    assert move(rng, tuple(codec.generator_state(ahead))) and rng.random() == ahead.random()


@pytest.mark.parametrize("content", [None, 3, (), ("PCG64",), ("PCG64", []), ("MT19937", [[1, 2]]), "PC", b"ab"])
def test_what_is_no_state_is_refused(content: object) -> None:
    rng = made("PCG64")
    before = state(rng)
    with pytest.raises(codec.WireError):
        move(rng, content)
    assert state(rng) == before
