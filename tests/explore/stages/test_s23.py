"""Stage 23 explored: products by distance, heads that share keys, a rolling cache, and a training."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import broken, charts, explored, images, parts, reference, stubbed

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


def test_a_stub_begins_with_rotation(tmp_path: Path) -> None:
    found = stubbed(tmp_path, "s23")
    assert (found.fine, found.drawings, found.next_function) == (False, (), "rotary_forward")


def changed(function: str, body: str) -> str:
    """Return the reference with one method replaced; the right one is _right."""
    head = f"_right = {function}\n\n\ndef _wrong(self, *args):\n    {body}\n\n\n{function} = _wrong\n"
    return f"{reference('s23')}\n\n{head}"


@pytest.mark.some_of(3)
@pytest.mark.parametrize(
    ("function", "body", "part", "status", "message"),
    [
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
    ],
)
def test_what_is_wrong_is_told(tmp_path: Path, function: str, body: str, part: str, status: str, message: str) -> None:
    text = changed(function, body) if "." in function else broken("s23", function, body)
    found = explored(tmp_path, "s23", text, seconds=PATIENCE)
    assert (found.fine, parts(found)[part].status) == (False, status)
    assert message in parts(found)[part].message
