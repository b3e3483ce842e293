"""What an exception about types, None or arguments means on its line."""

from __future__ import annotations

import pytest

from tests.diagnosis.exceptions.raising import told


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
        ("return np.asarray(none).astype(bool)[:, None, :]", "none is None here: that was passed, or nothing was."),
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
