"""Stage 4 explored: densities, samples, coins, and estimates."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, maps, parts, wrong_is_told


@pytest.mark.parametrize("seed", [0, 4])
def test_the_reference_shows_densities_samples_and_estimates(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s04", seed=seed)
    assert found.fine, parts(found)
    for series in charts(found, "densities")[""].series:
        x, y = np.array(series.x), np.array(series.y)
        assert abs(((y[1:] + y[:-1]) / 2 * np.diff(x)).sum() - 1) < 0.01
    entropy, apart = charts(found, "entropy")[""].series
    np.testing.assert_allclose(np.array(entropy.y) + apart.y, np.log(2))
    belief, means = charts(found, "belief")[""].series
    assert belief.y[0] == 0
    assert abs(belief.y[-1] - means.y[-1]) < abs(belief.y[1] - means.y[0])
    (coin,) = charts(found, "coin")[""].series
    assert abs(coin.x[int(np.argmax(coin.y))] - 0.7) < 1e-9
    (cloud,) = maps(found, "cloud").values()
    assert [path.name for path in cloud.paths] == ["1 standard deviation", "2 standard deviations"]


test_what_is_wrong_is_told = wrong_is_told("s04", [
    ("normal_pdf", "return _right(*args) * 2", "densities", "warning", "integrates to 1"),
    ("normal_log_pdf", "return np.log(np.exp(_right(*args)))", "logs", "failed", "returned -inf"),
    ("fit_normal", "return 1.0", "fitted", "failed", "where (mean, std) was expected"),
    ("covariance_matrix", "return _right(*args) * 2", "covariance", "warning", "over n - 1"),
    ("categorical_sample", "return _right(*args) * 0", "shares", "warning", "should come up"),
    ("entropy", "return _right(*args) / np.log(2)", "entropy", "warning", "log 2 = 0.693"),
    ("log_sum_exp", "return _right(*args) + 1", "coin", "warning", "sum to 1, not 0.368"),
    ("map_normal_mean", "return args[0].mean() if len(args[0]) else 1.0", "belief", "warning", "without samples"),
    ("monte_carlo_mean", "return args[0]('x')[0], 1.0", "carlo", "failed", "f was called with something else"),
    ("monte_carlo_mean", "e, s = _right(*args); return e, s * 10", "carlo", "warning", "should be off by about"),
])  # fmt: skip
