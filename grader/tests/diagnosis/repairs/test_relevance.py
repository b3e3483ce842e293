"""How far statements are from a wrong answer: the lines that make it are near, others take no part."""

from __future__ import annotations

import ast

from grader.diagnosis.repairs.relevance import Relevance
from grader.tests.diagnosis.repairs.made import written

TEXT = """
def helper(x):
    return 2 * x

def pair(x, y):
    a = helper(x)
    b = y + 1
    if x:
        b = b + 1
    return a, b

class Layer:
    def __init__(self, W):
        self.params = {"W": W, "b": 0}
        self.grads = {}

    def forward(self, x):
        self.x = x
        out = x * self.params["W"]
        return out

    def backward(self, grad):
        self.grads["W"] = self.x * grad
        self.grads["b"] = grad
        return grad * self.params["W"]
"""


def _depths(label: str, *parts: int | str) -> dict[str, int]:
    """Return how far each line is, by its text."""
    definitions = written(TEXT, "pair(1, 2)").definitions
    found = Relevance(definitions).depths(label, parts)
    nodes = [each for node in definitions.values() for each in ast.walk(node) if isinstance(each, ast.stmt)]
    return {ast.unparse(each).splitlines()[0]: found[id(each)] for each in nodes if id(each) in found}


def test_one_of_two_results_is_made_by_its_own_lines() -> None:
    found = _depths("pair", 1)
    assert found == {"return (a, b)": 0, "b = y + 1": 1, "b = b + 1": 1, "if x:": 1}


def test_a_function_that_is_called_takes_part() -> None:
    found = _depths("pair", 0)
    assert found["return 2 * x"] == 2
    assert "b = y + 1" not in found


def test_an_attribute_is_made_where_it_is_set() -> None:
    assert _depths("Layer.x")["self.x = x"] == 0


def test_an_entry_is_made_where_its_key_is_set() -> None:
    found = _depths("Layer.grads", "W")
    assert found["self.grads['W'] = self.x * grad"] == 0
    assert found["self.x = x"] == 1
    assert "self.grads['b'] = grad" not in found


def test_the_whole_answer_has_all_of_its_lines() -> None:
    assert _depths("Layer.backward")["return grad * self.params['W']"] == 0
    assert set(_depths("Layer")) >= {"self.params = {'W': W, 'b': 0}", "self.grads = {}"}


def test_what_is_not_there_has_none() -> None:
    assert not _depths("nothing")


def test_what_an_attribute_is_made_of_was_given_by_those_who_made_the_object() -> None:
    text = """
class Dual:
    def __init__(self, slope):
        self.slope = slope

def apply(x, f):
    return Dual(f(x))

def other(x):
    return x

def square(x):
    return apply(x, lambda a: 2 * a)
"""
    definitions = written(text, "square(1.0)").definitions
    found = Relevance(definitions).depths("Dual.slope", ())
    depths = [found.get(id(definitions[name].body[0])) for name in ("Dual.__init__", "apply", "square", "other")]
    assert depths == [0, 1, 2, None]
    assert id(definitions["square"].body[0]) not in Relevance(definitions).depths("apply", ())


def _of(text: str, call: str, label: str) -> dict[str, int]:
    definitions = written(text, call).definitions
    found = Relevance(definitions).depths(label, ())
    nodes = [each for node in definitions.values() for each in ast.walk(node) if isinstance(each, ast.stmt)]
    return {ast.unparse(each).splitlines()[0]: found[id(each)] for each in nodes if id(each) in found}


def test_what_ends_a_loop_early_takes_part_in_its_lines() -> None:
    text = """
def f(x, most):
    unused = most + 1
    limit = 2 * most
    for _ in range(3):
        gap = limit - x
        if gap < 0:
            break
        x = x + 1
    return x
"""
    found = _of(text, "f(1, 2)", "f")
    assert found["if gap < 0:"] == found["x = x + 1"] == 1
    assert found["gap = limit - x"] == 2 and found["limit = 2 * most"] == 3
    assert "unused = most + 1" not in found


def test_what_a_generator_yields_is_made_by_its_own_lines() -> None:
    text = """
def batches(x, size):
    unused = size + 1
    order = x[::-1]
    for start in range(0, len(x), size):
        chosen = order[start : start + size]
        yield chosen
"""
    found = _of(text, "list(batches([1, 2, 3], 2))", "generator.__next__")
    assert found["yield chosen"] == 0 and found["order = x[::-1]"] == 2
    assert "unused = size + 1" not in found
