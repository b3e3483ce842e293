"""Whether a random generator can have come to a state by drawing from it: only so may a call move the test's own."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from grader.protocol import codec

MOST_DRAWS = 1 << 40
MOST_REPLAYED = 10_000_000  # draws that are repeated one by one, for generators without a short cut
SEARCHED = 1_000_000  # draws among which the half that is kept for a draw of 32 bits is looked for
MULTIPLIERS = {"PCG64": 0x2360ED051FC65DA44385DF649FCCF645, "PCG64DXSM": 0xDA942042E4DD58B5}
HALF = ("has_uint32", "uinteger")
MASK = (1 << 128) - 1
MT19937_WORDS = 624


def move(generator: np.random.Generator, content: Any) -> bool:
    """Move a test's random generator on to where a call left its copy; False, and no move, for any other state.

    Raises WireError for what is no state.
    """
    if type(content) not in (list, tuple) or len(content) != 2:
        raise codec.WireError("a change of a random generator that is no state")
    before = copy.deepcopy(generator.bit_generator.state)
    codec.set_generator_state(generator, *content)
    if reachable(dict(before), dict(generator.bit_generator.state)):
        return True
    generator.bit_generator.state = before
    return False


def reachable(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Say whether the second state of a bit generator follows from the first by drawing.

    >>> rng = np.random.default_rng(1)
    >>> before = rng.bit_generator.state
    >>> _ = rng.random(5)
    >>> reachable(before, rng.bit_generator.state), reachable(rng.bit_generator.state, before)
    (True, False)
    """
    name = before["bit_generator"]
    if after["bit_generator"] != name:
        return False
    if name == "MT19937":
        return _twisted(before, after)
    draws = _distance(name, before["state"], after["state"], before, after)
    if draws is None or not 0 <= draws <= MOST_DRAWS:
        return False
    twin: Any = getattr(np.random, name)(0)
    twin.state = before
    if name in MULTIPLIERS:
        twin.advance(draws)
    elif draws > MOST_REPLAYED:
        return False
    else:
        twin.random_raw(draws, output=False)
    return _same(twin.state, after) and _half_is_drawn(name, before, after, draws)


def _distance(name: str, start: Any, end: Any, before: Any, after: Any) -> int | None:
    if name in MULTIPLIERS:
        return (
            _steps(start["state"], end["state"], MULTIPLIERS[name], start["inc"])
            if start
            == {
                **end,
                "state": start["state"],
            }
            else None
        )
    if name == "SFC64":
        return (int(end["state"][3]) - int(start["state"][3])) % (1 << 64)
    blocks = _whole(end["counter"]) - _whole(start["counter"])  # Philox: four draws a block
    return 4 * blocks + int(after["buffer_pos"]) - int(before["buffer_pos"])


def _whole(words: Any) -> int:
    return sum(int(word) << 64 * place for place, word in enumerate(words))


def _steps(start: int, end: int, multiplier: int, increment: int) -> int | None:
    """Return how many steps of a linear congruential generator modulo 2**128 lead from one state to another.

    Bit by bit, since its lowest n bits have the period 2**n (Brown, "Random Number Generation with Arbitrary Strides").
    """
    steps, bit = 0, 1
    while start != end:
        if bit > MASK:
            return None
        if (start ^ end) & bit:
            start = (start * multiplier + increment) & MASK
            steps |= bit
        bit <<= 1
        increment = (multiplier + 1) * increment & MASK
        multiplier = multiplier * multiplier & MASK
    return steps


def _twisted(before: dict[str, Any], after: dict[str, Any]) -> bool:
    twin: Any = np.random.MT19937(0)
    twin.state = before
    start, key, end = before["state"]["pos"], after["state"]["key"], after["state"]["pos"]
    if np.array_equal(before["state"]["key"], key):
        return bool(start <= end)
    twin.random_raw(MT19937_WORDS - start + 1, output=False)
    for _ in range(MOST_REPLAYED // MT19937_WORDS):
        if np.array_equal(twin.state["state"]["key"], key):
            return bool(end > 0)
        twin.random_raw(MT19937_WORDS, output=False)
    return False


def _same(one: Any, other: Any) -> bool:
    """Compare two states but for the half of a draw that is kept."""
    if isinstance(one, dict):
        return all(key in HALF or _same(value, other[key]) for key, value in one.items())
    return bool(np.array_equal(one, other))


def _half_is_drawn(name: str, before: dict[str, Any], after: dict[str, Any], draws: int) -> bool:
    """Say whether the kept half is that of a draw on the way; a way too long to look through is trusted."""
    if not after["has_uint32"] or draws > SEARCHED:
        return True
    if before["has_uint32"] and after["uinteger"] == before["uinteger"]:
        return True
    twin: Any = getattr(np.random, name)(0)
    twin.state = before
    return bool((np.atleast_1d(twin.random_raw(draws)) >> np.uint64(32) == after["uinteger"]).any()) if draws else False
