"""Changes in place: within the bounds or as large as what was sent, and never one that contains itself."""

from __future__ import annotations

from typing import Any

import pytest

from grader.protocol import codec
from grader.sandbox.connection import WriteBack

BOUNDS = codec.Bounds(1 << 20, 50)
EMPTY = [codec.TUPLE]


def replay(changes: WriteBack, sent: list[Any], *content: Any) -> bool:
    form = [codec.LIST, *[[codec.TUPLE, *pair] for pair in content]]
    return bool(changes.replay(form, codec.Decoder(known=sent, bounds=BOUNDS), sent))


def test_a_list_may_stay_as_long_as_it_was() -> None:
    sent: list[Any] = [[0] * 200, {}]
    changes = WriteBack(BOUNDS)
    assert replay(changes, sent, (0, [codec.TUPLE, *[1] * 200])) and sent[0] == [1] * 200
    changes.undo()
    assert sent[0] == [0] * 200


def test_a_dict_is_made_of_keys_and_values_in_turn() -> None:
    sent: list[Any] = [dict.fromkeys(range(90), 0)]
    assert replay(WriteBack(BOUNDS), sent, (0, [codec.TUPLE, *range(180)])) and len(sent[0]) == 90


def test_a_list_that_grows_past_the_bounds_is_refused() -> None:
    with pytest.raises(codec.TooLarge, match="a tuple of 51 entries"):
        replay(WriteBack(BOUNDS), [[1]], (0, [codec.TUPLE, *[1] * 51]))


@pytest.mark.parametrize(
    "content",
    [
        [(0, [codec.TUPLE, [codec.REFERENCE, 0]])],
        [(0, [codec.TUPLE, [codec.REFERENCE, 1]]), (1, [codec.TUPLE, [codec.TUPLE, [codec.REFERENCE, 0]]])],
        [(2, [codec.TUPLE, "a", [codec.REFERENCE, 2]])],
    ],
)
def test_arguments_that_come_to_contain_themselves_are_refused_and_undone(content: list[Any]) -> None:
    sent: list[Any] = [[1], [2], {}]
    changes = WriteBack(BOUNDS)
    with pytest.raises(codec.Refused, match="contains itself"):
        replay(changes, sent, *content)
    changes.undo()
    assert sent == [[1], [2], {}]


def test_an_argument_that_unfolds_without_end_is_refused() -> None:
    sent: list[Any] = [[n] for n in range(30)]
    content = [(n, [codec.TUPLE, *[[codec.REFERENCE, n + 1]] * 4]) for n in range(29)]
    with pytest.raises(codec.TooLarge, match="unfolds to more than"):
        replay(WriteBack(BOUNDS), sent, *content)


@pytest.mark.parametrize("target", [{}, {1}], ids=["dict", "set"])
def test_what_becomes_keys_is_counted(target: Any) -> None:
    hard = [codec.Encoder().encode(1 << 80 + n) for n in range(codec.MAX_HARD_KEYS + 1)]
    parts = [part for key in hard for part in (key, 1)] if target == {} else hard
    bounds = codec.Bounds(1 << 20, 1 << 16)
    decoder = codec.Decoder(known=[target], bounds=bounds)
    with pytest.raises(codec.TooLarge, match="keys"):
        WriteBack(bounds).replay([codec.LIST, [codec.TUPLE, 0, [codec.TUPLE, *parts]]], decoder, [target])
