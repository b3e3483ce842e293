"""Stage 12 explored: signals through layers, and the border between two spirals over training."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, maps, parts, reference, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


def test_the_reference_bends_the_border_into_the_spirals(tmp_path: Path) -> None:
    found = explored(tmp_path, "s12", seed=2)
    assert found.fine, parts(found)
    borders = maps(found, "borders")
    assert list(borders) == ["Before training", "After 2 epochs", "After 10 epochs", "After 40 epochs"]
    shares = [parts(found)[name].facts[0].values[0] for name in ("border-0", "border-2", "border-10", "border-40")]
    assert shares[-1] > 0.97 > shares[0]
    field = borders["After 40 epochs"].field
    assert field is not None
    assert {value for row in field.values for value in row} == {0.0, 1.0}
    loss, accuracy = charts(found, "history")["Loss and accuracy"].series
    assert (len(loss.y), len(accuracy.y)) == (40, 40)
    assert loss.y[-1] < 0.2 * loss.y[0]
    (signals,) = charts(found, "signals").values()
    sizes = {series.name: series.y[-1] for series in signals.series}
    assert sizes["he, relu"] > 0.3
    assert 0.01 < sizes["xavier, relu"] < 0.1


test_what_is_wrong_is_told = wrong_is_told("s12", [
    ("he_normal", "return _right(*args) * 2", "he_normal", "warning", "variance should be near 0.0156"),
    ("batch_norm_forward", "return _right(*args)[0]", "norm", "failed", "one array where (output, running_mean"),
    ("compute_loss", "return np.float64('nan')", "loss", "failed", "nan"),
    ("compute_loss", "return _right(*args) * 2", "loss", "warning", "log 2 = 0.693, not 1.386"),
    ("compute_loss_gradient", "return _right(*args) * 2", "loss", "warning", "the gradient says"),
    ("train", "return {'loss': [1.0] * args[3]}", "trained-0", "failed", "lists loss and accuracy"),
    (
        "train",
        "n = args[3]; return {'loss': [1.0] * n, 'accuracy': [0.5] * n}",
        "border-40",
        "warning",
        "nearly all",
    ),
])  # fmt: skip


def test_a_network_that_gives_nan_is_told_and_training_waits(tmp_path: Path) -> None:
    text = reference("s12") + "\n\nNeuralNetwork.forward = lambda self, x: np.full((len(x), 2), np.nan)\n"
    found = explored(tmp_path, "s12", text)
    assert "NaN" in parts(found)["network"].message
    assert parts(found)["border-40"].waits_for == "NeuralNetwork"
    assert [each.id for each in found.drawings] == ["signals"]
    assert np.isfinite(charts(found, "signals")["128 units a layer, new weights"].series[0].y).all()
