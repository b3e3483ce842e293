"""What an exception that NumPy or Python really raises means on its line, told from the line and what was at hand."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.course.stage import Stage
from grader.diagnosis.exceptions import Place, help_with, helped, is_of_a_call
from grader.remote.exceptions import described
from grader.remote.record import Record
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


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("Q @ K", "K transposed would fit: (6, 4) · (4, 5)"),
        ("return np.matmul(Q, K) / 2", "K transposed would fit: (6, 4) · (4, 5)"),
        ("np.dot(Q, K)", "K transposed would fit: (6, 4) · (4, 5)"),
        ("W = K.T\nreturn (Q @ W.T) @ X", "W.T transposed would fit: (6, 4) · (4, 5)"),
        ("Q @ K.T @ K.T", "K.T transposed would fit: (6, 5) · (5, 4)"),
        ("A, B = np.ones((2, 5, 3)), np.ones((2, 6, 3))\nA @ B",
         "B transposed (its last two axes swapped) would fit: (5, 3) · (3, 6)"),
        ("B = X\nX @ B", "B transposed would fit: (5, 3) · (3, 5); X transposed would fit: (3, 5) · (5, 3)"),
        ("V = np.ones((7, 9))\nreturn X @ V", "The last axis of X has 3 entries, the last axis but one of V has 7: "
         "these have to be equal."),
        ("w = np.ones(1)\nreturn w @ X", "The last axis of w has 1 entry, the last axis but one of X has 5: "
         "these have to be equal."),
        ("Q @ np.concatenate([K, K])", "A matrix product sums over the last axis of its left operand, which has "
         "4 entries, "
         "and the last but one of its right operand (the only one of a vector), which has 10: these have to be equal."),
        ("Layer(3).forward(X.T)", "x transposed would fit: (5, 3) · (3, 2)"),
        ("p = {'W': np.ones((2, 3))}\nreturn X @ p['W']", "p['W'] transposed would fit: (5, 3) · (3, 2)"),
    ],
)  # fmt: skip
def test_products_of_matrices(code: str, text: str) -> None:
    assert told(code) == text


def test_axes_that_have_one_name_say_which_operand_is_meant() -> None:
    assert told("Q @ K", AXES) == "K has to be transposed: (seq_q 6, d_k 4) · (d_k 4, seq_k 5)"
    stacks = "Q, K = np.ones((2, 6, 4)), np.ones((2, 5, 4))\nreturn Q @ K"
    told_of_stacks = "K has to be transposed (its last two axes swapped): (seq_q 6, d_k 4) · (d_k 4, seq_k 5)"
    assert told(stacks, AXES) == told_of_stacks
    same = "K = Q\nreturn Q @ K"
    assert told(same, AXES) == "K has to be transposed: (seq_q 6, d_k 4) · (d_k 4, seq_k 6)"
    assert told("Q @ K", {"Q": ("n", "d"), "K": ("m", "e")}).startswith("K transposed would fit: (n 6, d 4)")


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("X - X.mean(axis=1)", "Shapes are compared from the last axis on: axis 1 of the first has 3 entries, "
         "axis 0 of the "
         "second has 5. With an axis of length 1, the second would fit as (5, 1): keepdims=True keeps one, "
         "np.newaxis makes one."),
        ("means = X.mean(axis=1)\nreturn X - means", "Shapes are compared from the last axis on: axis 1 of X "
         "has 3 entries, "
         "axis 0 of means has 5. With an axis of length 1, means would fit as (5, 1): keepdims=True keeps one, "
         "np.newaxis makes one."),
        ("s = np.ones((2, 5))\nreturn np.ones((2, 5, 3)) * s", "Shapes are compared from the last axis on: axis "
         "2 of the first "
         "has 3 entries, axis 1 of the second has 5. With an axis of length 1, the second would fit as (2, 5, 1): "
         "keepdims=True keeps one, np.newaxis makes one."),
        ("s = np.ones((4, 2))\nreturn X + s",
         "Shapes are compared from the last axis on: axis 1 of X has 3 entries, axis 1 of s has 2."),
        ("out = np.ones(3)\nout += X", "In place, out keeps its shape (3,); the result has shape (5, 3) and "
         "needs a new array."),
        ("X[0] = np.ones(2)", "The place takes shape (3,), and what is assigned has shape (2,)."),
        ("whole[0:2] = X", "What is assigned has 2 axes, and its place 1: is one left to sum or to index?"),
        ("X.sum(axis=2)", "The array has axes 0 to 1, or -2 to -1 from the end."),
        ("whole.max(axis=-2)", "The array has only axis 0, which is -1 as well."),
        ("np.sum(3.0, axis=0).sum(axis=1)", "A single number has no axes."),
        ("np.concatenate([X, X], axis=2)", "The array has axes 0 to 1, or -2 to -1 from the end."),
        ("np.expand_dims(whole, 5)", ""),
        ("X[5]", "Indices start at 0: axis 0 has 0 to 4."),
        ("X[:, [0, 4]]", "Indices start at 0: axis 1 has 0 to 2."),
        ("X[:0][0]", "Axis 0 is empty: it has no index at all."),
        ("whole[0, 1]", "The array has 1 axis, and 2 indices are given."),
        ("X[np.ones(3) > 0]", "A mask is as long as the axis that it picks from: axis 0 has 5 entries, the mask 3."),
        ("X.reshape(4, 2)", "4 × 2 = 8 values are asked for, and there are 15."),
        ("X.reshape(-1, 2)", ""),
        ("np.einsum('ij,jk', X, X)", ""),
    ],
)  # fmt: skip
def test_shapes_axes_and_indices(code: str, text: str) -> None:
    assert told(code) == text


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("whole /= 2", "whole holds int64 and keeps that dtype in place, where float64 values do not fit. Make "
         "it an array of "
         "float64 first, as .astype does, or make a new array: whole = whole / …"),
        ("whole += 0.5", "whole = whole + …"),
        ("whole[:2] -= 0.5", "whole[:2] holds int64 and keeps that dtype in place, where float64 values do not fit."),
        ("np.add(whole, 0.5, out=whole)", "The array that takes the result holds int64 and keeps"),
        ("if X > 0:\n    pass", "np.where chooses element by element"),
        ("return X > 0 and X < 1", "& stands for `and`"),
        ("return 0 < X < 1", "& stands for `and`"),
        ("return not X", "~ stands for `not`"),
        ("return max(X, 0)", "Several values are not one True or False, which is needed here"),
        ("return np.array([[1, 2], [3]])", "The rows differ in shape, so they make no array"),
        ("X[0, 0] = [1, 2]", "One element of an array holds one number"),
        ("whole[0] = np.ones(2)", "One element of an array holds one number"),
        ("return float(X)", "A single number is needed here"),
        ("return range(6 / 2)", "/ gives a float even where it divides evenly; // gives an int."),
        ("n = 3.0\nreturn np.zeros((n, 2))", "A whole number is needed here"),
        ("return whole[4 / 2]", "An index is a whole number, a slice, or an array of whole numbers or of True "
         "and False: / gives"),
        ("return items['a']", "An index is a whole number"),
        ("return np.zeros(2, 3)", "The shape is one argument, a tuple: np.zeros((2, 3))."),
        ("return items.shape", "A list has no .shape: np.asarray makes an array of it."),
        ("return items - items", "A list does not compute element by element"),
        ("return X(1)", "Round brackets call a function; square ones index an array."),
        ("(_ for _ in ()).throw(BlockingIOError(11, 'Resource temporarily unavailable'))", "A test may start only so"),
        ("return -(X > 0)", "True and False have no minus"),
        ("return (X > 0) - (X > 1)", "True and False have no minus"),
    ],
)  # fmt: skip
def test_types(code: str, text: str) -> None:
    assert text in told(code)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("rows = [3, 1].sort()\nreturn rows[0]", "rows is None here: .sort() changes [3, 1] itself and returns None."),
        ("y = nothing(X)\nreturn y.shape", "y is None here: nothing has no return with a value (line 10)."),
        ("a, b = nothing(X)", "nothing has no return with a value (line 10)."),
        ("return nothing(X)[0]", "nothing has no return with a value (line 10)."),
        ("return none + 1", "none is None here: that was passed, or nothing was."),
        ("return none[0]", "none is None here: that was passed, or nothing was."),
        ("y = None\nreturn X + y", "y is None here."),
        ("return len(none)", "none is None here: that was passed, or nothing was."),
        ("for each in none:\n    pass", "none is None here: that was passed, or nothing was."),
        ("y = {}.get('a')\nz = None\nreturn y[0] + z[0]", ""),
        ("a, b = X.shape[0:1]", ""),
        ("a, b, c = X.shape", "X has 2 axes, and 3 names stand on the left."),
        ("a, = X.shape", "X has 2 axes, and 1 name stands on the left."),
        ("a, b, c = some(1)", "some gives 2 values, and 3 names stand on the left."),
        ("return some()", "some is defined as some(x, y=2) in line 14."),
        ("return some(1, 2, 3)", "some is defined as some(x, y=2) in line 14."),
        ("return some(1, z=3)", "some is defined as some(x, y=2) in line 14."),
        ("return Layer.forward(X)", "forward is defined as forward(self, x) in line 22. Called on an object, "
         "that object is self."),
        ("return Layer(2).lost(X)", "lost is defined as lost(x) in line 25. "
         "A method gets its object as the first argument, which is called self."),
        ("return np.linalg.inv()", ""),
        ("raise ValueError('index 5 is out of bounds for axis 1 with size 3')", ""),
        ("return 1 / 0", ""),
        ("return undefined", ""),
    ],
)  # fmt: skip
def test_none_unpacking_and_arguments(code: str, text: str) -> None:
    assert told(code) == text


def test_nothing_is_said_of_a_module_that_cannot_be_read_but_what_the_message_tells() -> None:
    assert helped("axis 3 is out of bounds for array of dimension 1", Place("x = (", 1)) == ""
    assert helped("index 5 is out of bounds for axis 1 with size 3", Place("", 1)).startswith("Indices start at 0")
    assert Place("x = 1\n" * 20_000, 3).nodes == []


def test_what_a_process_tells_of_shapes_is_held_to_its_form() -> None:
    names: list[Any] = [["ValueError"], "ValueError", 0, "no", [], [[1, "f"]], 0]
    seen = [["x", [2, 3]], ["n", None], ["y", ["a"]], ["z", [-1]], [3, [1]], "w", ["q", [True]], ["x" * 900, [1]]]
    assert described([*names, seen]).seen == {"x": (2, 3), "n": None, "x" * 200: (1,)}
    assert described([*names, "what"]).seen == {} and described(names).seen == {}
    assert len(described([*names, [[str(n), [1]] for n in range(500)]]).seen) == 60


def test_an_object_that_cannot_be_looked_at_is_left_out() -> None:
    class Table:
        @property
        def __dict__(self) -> Any:  # type: ignore[override]
            raise RuntimeError

    def fail(self: object) -> None:
        x = np.ones(3)
        raise ValueError(x.shape, self)

    try:
        fail(Table())
    except ValueError as error:
        assert over_there.described(error, __file__, "", lambda _: 0)[-1] == []


def test_what_cannot_be_told_costs_the_help_alone() -> None:
    stage = Stage("s90", Path("s90_small"), "Small", "small.py", (), ())

    class Silent(ValueError):
        learner_seen: dict[str, Any] = {}  # noqa: RUF012

        def __str__(self) -> str:
            raise RuntimeError

    assert (
        help_with(Silent(), b"x = 1", stage) == help_with(None, b"", stage) == help_with(ValueError(), b"", stage) == ""
    )


def test_an_exception_is_of_the_call_that_raised_it() -> None:
    error = TypeError("f() missing 1 required positional argument: 'x'")
    record = Record("call", 1, "", "f", (), {}, error=error)
    assert not is_of_a_call([record], error)  # a function of the test raised it
    error.learner_seen = {}  # type: ignore[attr-defined]
    assert is_of_a_call([record], error) and not is_of_a_call([record], TypeError()) and not is_of_a_call([], None)
    record.kind = "getattr"
    assert not is_of_a_call([record], error)
