"""Stage 6 explored: the line of least squares, the way down to it, and errors by degree."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, maps, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("seed", [0, 7])
def test_the_reference_shows_fit_descent_and_errors(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s06", seed=seed)
    assert found.fine, parts(found)
    line, samples = charts(found, "line")["Samples and line"].series
    slope, bias = np.polyfit(samples.x, samples.y, 1)
    np.testing.assert_allclose(line.y, np.array(line.x) * slope + bias, atol=1e-6)
    (surface,) = maps(found, "surface").values()
    (path,) = surface.paths
    assert (path.x[0], path.y[0]) == (0, 0)
    np.testing.assert_allclose((path.x[-1], path.y[-1]), (slope, bias), atol=0.1)
    training, test = charts(found, "errors")["Training and test"].series
    assert training.y[-1] < training.y[0]
    assert min(test.y) < test.y[0]
    assert list(charts(found, "degrees")) == ["Degree 1", "Degree 3", "Degree 12"]


test_what_is_wrong_is_told = wrong_is_told("s06", [
    ("normal_equation", "w, b = _right(*args); return w, b + 1", "line", "warning", "what is left has mean 0"),
    ("normal_equation", "w, b = _right(*args); return w * np.nan, b", "line", "failed", "weights: all 1 values"),
    ("mse_loss", "return _right(*args) / 2", "least", "warning", "the mean of the squared errors"),
    (
        "fit_gradient_descent",
        "w, b, h = _right(*args); return w, b, h[::-1]",
        "losses",
        "warning",
        "raise the loss",
    ),
    ("polynomial_features", "return _right(*args)[:, ::-1]", "errors", "failed", "in this order"),
    ("standardize", "return 1 / 0", "errors", "failed", "ZeroDivisionError"),
    ("train_test_split", "a, b, c, d = _right(*args); return a, b, c[::-1], d", "errors", "failed", "own target"),
])  # fmt: skip
