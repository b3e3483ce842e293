"""Objects hold again what they held."""

from __future__ import annotations

import numpy as np

from grader.diagnosis.slips.state import State


class Layer:
    def __init__(self) -> None:
        self.params = {"W": np.ones(2)}
        self.seen = [1]


def test_everything_below_an_object_is_restored_in_place() -> None:
    layer, rng = Layer(), np.random.default_rng(1)
    weights, expected = layer.params["W"], np.random.default_rng(1).random()
    state = State([layer, rng])
    weights += 5
    layer.params["b"] = np.zeros(1)
    layer.seen.append(2)
    layer.more = 1  # type: ignore[attr-defined]
    rng.random()
    state.restore()
    assert layer.params == {"W": weights} and weights.tolist() == [1.0, 1.0]
    assert layer.seen == [1] and not hasattr(layer, "more") and rng.random() == expected


def test_what_contains_itself_is_kept_once() -> None:
    circle: list[object] = []
    circle.append(circle)
    state = State([circle])
    circle.clear()
    state.restore()
    assert circle[0] is circle
