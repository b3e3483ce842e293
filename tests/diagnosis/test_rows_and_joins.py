"""Arrays that are joined along the first axis, and rows that are taken where an entry of each is needed."""

from __future__ import annotations

import numpy as np
import pytest

from tests.diagnosis.engine import Call, causes

RIGHT = """
    import numpy as np


    def states(x, w):
        found = []
        for t in range(x.shape[1]):
            found.append(np.tanh(x[:, t] @ w))
        return np.stack(found, axis=1)


    def both(x, w):
        some, more = [], []
        for t in range(x.shape[1]):
            some.append(x[:, t] @ w)
            more.append(np.tanh(x[:, t]))
        return np.stack(some, axis=1), np.stack(more, axis=1)


    def slope(p, targets):
        grad = p.copy()
        grad[np.arange(len(targets)), targets] -= 1
        return grad / len(targets)


    def picked(p, targets):
        chosen = p[np.arange(len(targets)), targets]
        return -np.log(chosen).mean()
"""


RNG = np.random.default_rng(3)
XS = [RNG.normal(size=(2, n, 3)) for n in (3, 4, 2)]
WS = RNG.normal(size=(3, 3))
PS = [RNG.dirichlet(np.ones(3), size=n) for n in (4, 5, 3)]
TARGETS = [np.array([0, 2, 1, 1]), np.array([2, 2, 0, 1, 0]), np.array([1, 0, 2])]
STATES: list[list[Call]] = [[("states", (x, WS))] for x in XS]
BOTH: list[list[Call]] = [[("both", (x, WS))] for x in XS]
SLOPES: list[list[Call]] = [[("slope", pair)] for pair in zip(PS, TARGETS, strict=True)]
PICKED: list[list[Call]] = [[("picked", pair)] for pair in zip(PS, TARGETS, strict=True)]


@pytest.mark.parametrize(
    ("old", "new", "calls", "told"),
    [
        ("return np.stack(found, axis=1)", "return np.stack(found)", STATES, ("axis-missing", 8)),
        (
            "np.stack(some, axis=1), np.stack(more, axis=1)",
            "np.stack(some), np.stack(more)",
            BOTH,
            ("axis-missing", 16),
        ),
        ("grad[np.arange(len(targets)), targets]", "grad[targets]", SLOPES, ("rows-for-entries", 21)),
        ("grad[np.arange(len(targets)), targets]", "grad[:, targets]", SLOPES, ("rows-for-entries", 21)),
        ("p[np.arange(len(targets)), targets]", "p[targets]", PICKED, ("rows-for-entries", 26)),
    ],
)
def test_it_is_told(old: str, new: str, calls: list[list[Call]], told: tuple[str, int]) -> None:
    assert RIGHT.count(old) == 1
    found = causes(RIGHT, RIGHT.replace(old, new), calls)
    assert [(each.id, each.line) for each in found] == [told]


@pytest.mark.parametrize(
    ("old", "new", "calls", "never"),
    [
        ("np.tanh(x[:, t] @ w)", "np.exp(x[:, t] @ w)", STATES, "axis-missing"),
        ("targets] -= 1", "targets] += 1", SLOPES, "rows-for-entries"),
    ],
)
def test_neighbours_are_told_something_else(old: str, new: str, calls: list[list[Call]], never: str) -> None:
    assert RIGHT.count(old) == 1
    assert never not in [each.id for each in causes(RIGHT, RIGHT.replace(old, new), calls)]
