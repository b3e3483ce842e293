"""Stage 13 explored: feature maps, pooling, a filter that learns, and a LeNet's first layer."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


def test_the_reference_shows_feature_maps_and_learns_the_filter(tmp_path: Path) -> None:
    found = explored(tmp_path, "s13", seed=1)
    assert found.fine, parts(found)
    maps = {title: np.array(image.values) for title, image in images(found, "maps").items()}
    assert list(maps) == ["picture", "vertical edges", "horizontal edges", "blur", "all edges"]
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(maps["picture"], 1), (3, 3))
    expected = (windows * [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]).sum(axis=(2, 3))
    np.testing.assert_allclose(maps["vertical edges"], expected / np.abs(expected).max(), atol=1e-9)
    assert all(np.shape(image.values) == (10, 10) for image in images(found, "pooled").values())
    last = np.array(images(found, "learning")["after 60 steps"].values)
    np.testing.assert_allclose(last, np.array([[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]]) / 2, atol=0.05)
    (loss,) = charts(found, "loss")["Mean squared error"].series
    assert loss.y[-1] < 1e-4 * loss.y[0]
    assert len(images(found, "lenet")) == 6


test_what_is_wrong_is_told = wrong_is_told("s13", [
    ("conv2d_forward", "return _right(args[0], args[1][:, :, ::-1, ::-1], args[2], **kwargs)", "maps", "warning",
     "turned over"),
    ("conv2d_forward", "return _right(*args, **kwargs)[0]", "maps", "failed", "one array where (out, cache)"),
    ("im2col", "return _right(*args)[:, ::-1]", "columns", "warning", "line by line"),
    ("max_pool2d_forward", "return _right(-args[0], *args[1:])", "max", "warning", "the largest of a window"),
    ("conv2d_backward", "a, b, c = _right(*args); return a, -b, c", "looks", "warning", "the loss should fall"),
    ("build_lenet", "return [_right(*args)[0]]", "lenet", "failed", "scores: shape (1, 6, 28, 28)"),
    ("build_lenet", "return 3", "lenet", "failed", "where a list of layers was expected"),
])  # fmt: skip
