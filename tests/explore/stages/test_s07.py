"""Stage 7 explored: probabilities, costs, and the borders of softmax regression."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, images, maps, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("seed", [0, 6])
def test_the_reference_parts_the_clouds_by_lines(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s07", seed=seed)
    assert found.fine, parts(found)
    borders = maps(found, "borders")
    assert list(borders) == ["After 1 step", "After 10 steps", "After 150 steps"]
    last = borders["After 150 steps"]
    assert last.field is not None
    wrong = 0
    for label, points in enumerate(last.points):
        for x, y in zip(points.x, points.y, strict=True):
            row, column = np.abs(np.array(last.field.y) - y).argmin(), np.abs(np.array(last.field.x) - x).argmin()
            wrong += last.field.values[row][column] != label
    table = np.array(images(found, "confusion")["Samples"].values)
    assert table.sum() == 120
    assert abs(wrong - (120 - np.trace(table))) < 12  # the grid is coarse
    (loss,) = charts(found, "losses")["Softmax regression"].series
    assert abs(loss.y[0] - np.log(3)) < 1e-9
    curves = charts(found, "curves")
    np.testing.assert_allclose(np.sum([each.y for each in curves["Softmax of z, 0 and -z"].series], axis=0), 1)


test_what_is_wrong_is_told = wrong_is_told("s07", [
    ("sigmoid", "return np.tanh(args[0])", "sigmoid", "warning", "should add up to 1"),
    ("softmax", "return _right(*args) * 2", "softmax", "warning", "probabilities should sum to 1"),
    ("softmax", "e = np.exp(args[0]); return e / e.sum()", "softmax", "warning", "row "),
    ("log_softmax", "return _right(*args)[0]", "softmax", "failed", "shape (3,) should be"),
    (
        "fit_softmax_regression",
        "w, b, h = _right(*args); return -w, b, h",
        "losses",
        "warning",
        "more of the samples",
    ),
    ("fit_softmax_regression", "w, b, h = _right(*args); return w, b, h[1:]", "losses", "failed", "150 numbers"),
    ("cross_entropy_gradient", "return _right(*args) + 1", "entropy", "warning", "should sum to 0"),
    ("confusion_matrix", "return _right(args[1], args[0], args[2]) + 1", "table", "warning", "each row"),
    ("roc_auc", "return float('nan')", "table", "failed", "roc_auc: returned nan"),
])  # fmt: skip
