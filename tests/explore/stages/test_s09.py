"""Stage 9 explored: weights as the penalty grows, which penalty is right, dropout, and early stopping."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import broken, charts, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("seed", [0, 8])
def test_the_reference_shows_how_weights_shrink(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s09", seed=seed)
    assert found.fine, parts(found)
    paths = {title: np.array([each.y for each in chart.series]) for title, chart in charts(found, "paths").items()}
    assert (paths["Ridge"] != 0).all()
    assert not paths["Lasso"][:, -1].any()
    left = (paths["Lasso"] != 0).sum(axis=0)
    assert left[0] > left[len(left) // 2] > left[-1] == 0
    training, validated = charts(found, "errors")["Ridge"].series
    assert all(a < b for a, b in zip(training.y, validated.y, strict=True))
    loss, best, stop = charts(found, "stopping")["Patience 5"].series
    assert stop.x[0] == best.x[0] + 5
    assert best.y[0] == min(loss.y[: int(stop.x[0]) + 1])
    half = np.array(images(found, "dropout")["rate 0.5"].values)
    assert set(np.unique(half)) == {0.0, 2.0}


test_what_is_wrong_is_told = wrong_is_told("s09", [
    ("ridge_gradient", "return _right(*args) / 2", "penalties", "warning", "ridge penalty has the slopes 3.000"),
    ("soft_threshold", "return _right(*args) * 2", "threshold", "warning", "move towards 0"),
    ("fit_ridge", "return _right(args[0], args[1], 1 / args[2])", "ridge", "warning", "not make weights larger"),
    ("fit_lasso", "return _right(args[0], args[1], 0.1, 5)", "lasso", "warning", "no weight at all"),
    ("k_fold_indices", "return _right(*args)[:-1]", "validated", "failed", "a list of 5 pairs"),
    ("cross_val_score", "args[0](1, 2); return np.ones(5)", "validated", "failed", "something else than rows of X"),
    ("cross_val_score", "f, s, X, y, k = args; m = f(X, y); return np.array([s(m, X, y)] * 5)", "validated",
     "warning", "without the fold's test samples"),
    ("dropout", "y, m = _right(*args); return (m > 0) * 1.0, m", "dropped", "warning", "scale up what is kept"),
    ("early_stopping", "return 39, 39", "stop", "warning", "the loss is least in epoch"),
])  # fmt: skip


def test_folds_that_are_no_arrays_are_told(tmp_path: Path) -> None:
    body = "return [([1, [2]], 'x')] * 5"
    found = explored(tmp_path, "s09", broken("s09", "k_fold_indices", body))
    assert "should be arrays of whole numbers" in parts(found)["validated"].message
