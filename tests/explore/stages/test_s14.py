"""Stage 14 explored: memory over time, how far gradients reach, and an LSTM that learns to remember."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, images, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


@pytest.mark.parametrize("seed", [0, 3])
def test_the_reference_remembers_longer_with_gates_and_learns(tmp_path: Path, seed: int) -> None:
    found = explored(tmp_path, "s14", seed=seed)
    assert found.fine, parts(found)
    memory = {title: np.array(image.values) for title, image in images(found, "memory").items()}
    left = {title: np.linalg.norm(values[:, -1]) / np.linalg.norm(values[:, 0]) for title, values in memory.items()}
    assert left["RNN"] < 0.05
    assert min(left["LSTM"], left["GRU"]) > 0.2
    (reach,) = charts(found, "reach").values()
    share = {series.name: series.y[0] / series.y[-1] for series in reach.series}
    assert share["RNN"] < 0.01 < 0.02 < min(share["LSTM"], share["GRU"])
    (loss,) = charts(found, "loss")["Which symbol came first?"].series
    assert abs(loss.y[0] - np.log(4)) < 0.1
    assert loss.y[-1] < 0.05
    assert parts(found)["losses"].facts[1].text == "4 of 4 right"
    assert list(images(found, "kept")) == ["after a", "after b", "after c", "after d"]


test_what_is_wrong_is_told = wrong_is_told("s14", [
    ("rnn_forward", "hs, cache = _right(*args); return hs * np.nan, cache", "rnn", "failed", "hs: all 192 values"),
    ("lstm_forward", "return _right(*args)[:2]", "lstm", "failed", "2 values where (hs, cs, cache)"),
    ("gru_backward", "a, b, c = _right(*args); return a * 2, b, c", "gru-reach", "warning", "grad_x says"),
    ("gru_forward", "raise ValueError('no')", "gru", "failed", "ValueError: no   (line "),
    (
        "sequence_loss",
        "loss, grad = _right(*args); return loss, -grad",
        "losses",
        "warning",
        "the loss should fall",
    ),
    ("clip_gradients", "return {}, 1.0", "losses", "failed", "clipped should be a dict with W_x"),
])  # fmt: skip
