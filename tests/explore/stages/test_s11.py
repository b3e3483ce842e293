"""Stage 11 explored: activations with their slopes, and what perceptrons and two layers tell apart."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, maps, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


def test_the_reference_shows_every_activation_its_slope_and_the_borders(tmp_path: Path) -> None:
    found = explored(tmp_path, "s11")
    assert found.fine, parts(found)
    shown = charts(found, "activations")
    assert list(shown) == ["relu", "leaky_relu", "elu", "gelu", "swish", "tanh", "softplus", "mish"]
    value, slope = shown["tanh"].series
    np.testing.assert_allclose(value.y, np.tanh(value.x), atol=1e-9)
    np.testing.assert_allclose(slope.y, 1 - np.tanh(slope.x) ** 2, atol=1e-9)
    borders = maps(found, "borders")
    for title, panel in borders.items():
        field = panel.field
        assert field is not None
        wrong = 0
        for label, points in enumerate(panel.points):
            for x, y in zip(points.x, points.y, strict=True):
                at = np.abs(np.array(field.y) - y).argmin(), np.abs(np.array(field.x) - x).argmin()
                wrong += field.values[at[0]][at[1]] != label
        assert (wrong > 0) == (title == "XOR, one perceptron"), title
    assert found.ran.seed is None


test_what_is_wrong_is_told = wrong_is_told("s11", [
    ("relu_derivative", "return _right(*args) * 2", "relu-slope", "warning", "the derivative says 2.000"),
    ("tanh", "return _right(*args)[:3]", "tanh", "failed", "shape (3,) should be (points 81)"),
    ("softplus", "return np.log(1 + np.exp(*args))", "softplus", "failed", "infinite"),
    ("perceptron_train", "return 1 / 0", "AND", "failed", "ZeroDivisionError"),
    ("xor_network", "return np.zeros(args[0].shape[:-1])", "two-layers", "warning", "0, 1, 1 and 0"),
], looks=True)  # fmt: skip
