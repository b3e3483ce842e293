"""What two texts of a module tell about which of its functions still do what they did."""

from __future__ import annotations

import pytest

from grader.submission.source.unchanged import Unchanged

TEXT = """
import numpy as np
EPS = 1e-5

def base(x):
    return x + EPS

def above(x):
    return base(x) * 2

class Layer:
    def forward(self, x):
        return above(x)

    def shape(self):
        return 1

def with_layer(layer):
    return layer.forward(3)

def apart(x):
    return np.sum(x)
"""
NAMES = ("base", "above", "Layer", "with_layer", "apart")


def kept(now: str, before: str = TEXT) -> str:
    """Return the names that hold, joined."""
    found = Unchanged(before, now)
    return " ".join(name for name in NAMES if found.holds([name]))


@pytest.mark.parametrize(
    ("before", "after", "names"),
    [
        ("", "", "base above Layer with_layer apart"),
        ("np.sum(x)", "np.sum(x, axis=0)", "base above Layer with_layer"),
        ("x + EPS", "x - EPS", "apart"),
        ("return 1", "return 2", "base above apart"),
        ("above(x)\n\n    def", "above(x) + 1\n\n    def", "base above apart"),
        ("EPS = 1e-5", "EPS = 1e-6", ""),
        ("def apart", "@staticmethod\ndef apart", "base above Layer with_layer"),
        ("def apart", "@base\ndef apart", ""),  # what it gets while the module is loaded, it may keep anywhere
        ("def apart", "def sum(x):\n    return x\n\ndef apart", "base above Layer with_layer apart"),
        ("def apart", "def other():\n    return above(1)\n\ndef apart", "base above Layer with_layer apart"),
        ("def apart(x):\n    return np.sum(x)\n", "", "base above Layer with_layer"),
        ("np.sum(x)", "globals()['base'](x)", ""),
        ("np.sum(x)", "getattr(x, 'sum')()", "base above Layer with_layer"),
        ("import numpy", "import sys\nimport numpy", ""),
        ("np.sum(x)", "np.sum(x", ""),
        ("def apart", "def base(x):\n    return x\n\ndef apart", ""),  # a line between two of a name may use either
        ("return np", "# a remark\n    return np", "base above Layer with_layer"),
        ("def apart", "# a remark\n\n\ndef apart", "base above Layer with_layer apart"),
    ],
)
def test_what_holds(before: str, after: str, names: str) -> None:
    changed = TEXT.replace(before, after) if before else TEXT
    assert kept(changed) == names
    assert kept(TEXT, before=changed) == names


REGISTRY = """
import numpy as np

class Registry:
    def __init__(self):
        self.table = {}

    def add(self, function):
        self.table[function.__name__] = function
        return function

known = Registry()

@known.add
def relu(x):
    return np.maximum(x, 0)

def activate(x, name):
    return known.table[name](x)

def apart(x):
    return x
"""
DERIVED = """
class Base:
    table = {}

    def __init_subclass__(cls):
        Base.table[cls.__name__] = cls

class Relu(Base):
    slope = 0

def made(name):
    return Base.table[name]()
"""
DRAWN = """
import numpy as np
rng = np.random.default_rng(0)

class First:
    weights = rng.normal(size=3)

def first(start=rng.normal()):
    return start

class Second:
    weights = rng.normal(size=3)
"""


@pytest.mark.parametrize(
    ("text", "before", "after", "name"),
    [
        (REGISTRY, "(x, 0)", "(x, 1)", "activate"),
        (DERIVED, "slope = 0", "slope = 1", "made"),
        (DRAWN, "size=3", "size=4", "Second"),
        (DRAWN, "start=rng.normal()", "start=rng.uniform()", "Second"),
        (DRAWN, "start=rng.normal()", "start=np.random.rand()", "Second"),
    ],
)
def test_what_a_definition_does_while_the_module_is_loaded_may_change_any(
    text: str, before: str, after: str, name: str
) -> None:
    assert Unchanged(text, text).holds([name])
    assert not Unchanged(text, text.replace(before, after, 1)).holds([name])


@pytest.mark.parametrize(
    "lines",
    [
        ["from numpy import *", "def tanh(x):\n    return x", "def uses(x):\n    return tanh(x)"],
        ["def stable(x):\n    return x", "softmax = stable", "def softmax(x):\n    return -x"],
        ["EPS = 1", "def norm(x, eps=EPS):\n    return eps", "EPS = 2"],
    ],
)
def test_what_stands_in_another_order_may_be_another(lines: list[str]) -> None:
    text, other = ("\n".join(each) + "\ndef apart(x):\n    return x\n" for each in (lines, lines[::-1]))
    assert Unchanged(text, text).holds(["apart"])
    assert not Unchanged(text, other).holds(["apart"])


def test_a_method_is_asked_for_by_its_class_and_several_names_hold_together() -> None:
    found = Unchanged(TEXT, TEXT.replace("return 1", "return 2"))
    assert not found.holds(["Layer.forward"]) and not found.holds(["apart", "Layer"]) and found.holds(["apart", "base"])
    assert found.holds(["np"]) and not found.holds([])


def test_a_function_that_takes_the_place_of_a_builtin() -> None:
    text = TEXT.replace("np.sum", "sum")
    assert kept(text + "\ndef sum(x):\n    return 0\n", before=text) == "base above Layer with_layer"


def test_what_one_function_changes_for_another() -> None:
    text = "count = 0\n\ndef sets():\n    global count\n    count = 1\n\ndef reads():\n    return count\n"
    found = Unchanged(text, text.replace("= 1", "= 2"))
    assert not found.holds(["reads"])


@pytest.mark.parametrize("texts", [(None, TEXT), (TEXT, None), (None, None)])
def test_of_a_text_that_is_not_read_at_once_nothing_is_told(texts: tuple[str | None, str | None]) -> None:
    assert not Unchanged(*texts).holds(["apart"])
