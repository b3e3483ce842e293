"""Code that raises, and what is told of its exception."""

from __future__ import annotations

import textwrap
from typing import Any

from grader.diagnosis.exceptions import Place, helped
from grader.sandbox.exceptions import described
from grader.worker import exceptions as over_there

AXES = {"Q": ("seq_q", "d_k"), "K": ("seq_k", "d_k")}
SETUP = """
import numpy as np

Q, K, V, v = np.ones((6, 4)), np.ones((5, 4)), np.ones((5, 3)), np.ones(7)
X, row, stack = np.ones((5, 3)), np.ones(5), np.ones((2, 5, 3))
whole, mask, params, none = np.arange(3), np.ones(3) > 0, {"W": np.ones((2, 3))}, None
items, pair = [3, 1, 2], (1, 2)


def nothing(x):
    x + 1


def some(x, y=2):
    return x, y


class Layer:
    def __init__(self, size):
        self.W = np.ones((size, 2))

    def forward(self, x):
        return x @ self.W

    def lost(x):
        return x

"""


def told(code: str, axes: Any = None) -> str:
    """Run code in a function of a module of its own, and return what is told of the exception that it raises."""
    source = SETUP + "\ndef f(Q, K, X, whole, none=None):\n" + textwrap.indent(textwrap.dedent(code), "    ")
    names: dict[str, Any] = {"__name__": "a_learner"}
    exec(compile(source, "small.py", "exec"), names)
    try:
        names["f"](names["Q"], names["K"], names["X"], names["whole"])
    except Exception as error:
        found = described(over_there.described(error, "small.py", "a_learner", lambda _: 0))
        return helped(found.message, Place(source, found.frames[-1].line, found.seen, axes or {}))
    raise AssertionError(f"{code} raises nothing")
