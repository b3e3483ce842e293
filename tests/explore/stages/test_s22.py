"""Stage 22 explored: what attention costs as sequences grow, who sees whom, and what distance does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("seed", [0, 3])
def test_the_reference_holds_less_than_exact_attention(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s22", seed=seed)
    assert found.fine, parts(found)
    (held,) = charts(found, "held").values()
    growth = {series.name: series.y[-1] / series.y[-2] for series in held.series}
    assert growth["exact, all scores"] > 3
    assert max(growth["tiled"], growth["window"], growth["linear"]) < 2.5
    assert held.series[0].y[-1] > 10 * max(series.y[-1] for series in held.series[1:])
    (spent,) = charts(found, "spent").values()
    assert [series.name for series in spent.series] == [series.name for series in held.series]


def test_patterns_and_distances(tmp_path: Path) -> None:
    found = explored(tmp_path, "s22")
    seen = {title: np.array(image.values) > 0 for title, image in images(found, "patterns").items()}
    assert all(not np.triu(allowed, 1).any() for allowed in seen.values())
    assert seen["Window"].sum(axis=1).tolist() == [1, 2, 3, *[4] * 9]
    assert all(seen[title].sum() == 78 for title in ("Causal", "ALiBi, head 0", "Linear, causal"))
    (slopes,) = charts(found, "slopes").values()
    assert [series.y[4] for series in slopes.series] == [-1, -1 / 4, -1 / 16, -1 / 64, -2, -1 / 2]
    ((near, far),) = (chart.series for chart in charts(found, "rotary").values())
    assert np.allclose(near.y, far.y)


test_what_is_wrong_is_told = wrong_is_told("s22", [
    ("tiled_attention", "return _right(*args, **kwargs)[0]", "tiled-held", "failed", "(output, log_sum_exp)"),
    ("tiled_attention", "a, b = _right(*args); return a, b", "tiled-held", "warning", "that of exact attention"),
    (
        "tiled_attention",
        "all = np.zeros((len(args[0]), len(args[1]))); return _right(*args, **kwargs)",
        "tiled-held",
        "warning",
        "1024 positions took 8.1 MB: is there a number for each pair?",
    ),
    (
        "sliding_window_attention",
        "return _right(*args[:3], args[3] + 1)",
        "window",
        "warning",
        "a key outside of the pattern has weight",
    ),
    ("linear_attention", "return 2 * _right(*args, **kwargs)", "linear", "warning", "sum to"),
    ("alibi_bias", "return _right(*args) - np.inf", "alibi", "failed", "holds -inf only"),
    ("alibi_bias", "return -_right(*args, **kwargs)", "slopes", "warning", "should fall with distance"),
    (
        "rotary_embedding",
        "return _right(args[0] * (1 + np.asarray(args[1])[:, None]), args[1])",
        "near",
        "warning",
        "depend on the distance",
    ),
])  # fmt: skip
