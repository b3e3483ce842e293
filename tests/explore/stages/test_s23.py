"""Stage 23 explored: products by distance, heads that share keys, a rolling cache, and a training."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, images, parts, wrong_is_told

PATIENCE = 300.0  # seconds, for a training of one second
pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


def test_the_reference_is_fine(tmp_path: Path) -> None:
    found = explored(tmp_path, "s23", seconds=PATIENCE)
    assert found.fine, parts(found)
    (rotary,) = charts(found, "rotary").values()
    assert [series.y[0] for series in rotary.series] == pytest.approx([1, 1, 1])
    assert rotary.series[0].y[10] < rotary.series[1].y[10] < rotary.series[2].y[10]
    seen = [np.array(image.values) > 0 for image in images(found, "heads").values()]
    assert len(seen) == 4
    assert all(head.sum(axis=1).tolist() == [1, 2, 3, *[4] * 7] for head in seen)
    (cache,) = images(found, "cache").values()
    assert np.array(cache.values)[-1].tolist() == [0, 0, 0, 0, 0, 0, 1, 1, 1]
    ((loss, guess),) = (chart.series for chart in charts(found, "loss").values())
    assert guess.y[0] == pytest.approx(math.log(26))
    assert abs(loss.y[0] - guess.y[0]) < 0.2
    assert loss.y[-1] < loss.y[0] / 2


test_what_is_wrong_is_told = wrong_is_told("s23", [
    (
        "rotary_forward",
        "return _right(args[0] * (1 + np.asarray(args[1])[:, None]), *args[1:])",
        "products",
        "warning",
        "depend on the distance",
    ),
    (
        "grouped_query_attention_forward",
        "return _right(*args[:3], args[3] + 1 if args[3:] and args[3] else None)",
        "weights",
        "warning",
        "a key outside of the window",
    ),
    ("train", "return [1.0]", "losses", "failed", "a dict with a list of losses"),
    ("RollingCache.append", "_right(self, 0 * args[0], args[1])", "kept", "warning", "should be kept"),
    ("RollingCache.append", "_right(self, 0.5 + args[0], args[1])", "kept", "failed", "never appended"),
], seconds=PATIENCE)  # fmt: skip
