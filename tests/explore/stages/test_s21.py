"""Stage 21 explored: who is served by which expert, and what the balancing loss makes of a collapsed router."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from drawings.s21 import steps as s21
from tests.explore.exploring import charts, drawing, explored, parts, reference, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")

TOKENS = 32


@pytest.fixture
def one_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Train in one round only: what is tested is what is told of other steps."""
    monkeypatch.setattr(s21, "ROUNDS", 1)


def test_the_reference_spreads_the_load_with_the_balancing_loss_alone(tmp_path: Path) -> None:
    found = explored(tmp_path, "s21", seed=2)
    assert found.fine, parts(found)
    titles = [panel.title for panel in drawing(found, "load").panels]
    assert titles == ["Before training", "After, without balancing", "After, with balancing"]
    chosen = {name: parts(found)[f"{name}-after"].facts[1].values for name in ("alone", "balanced")}
    assert max(chosen["alone"]) == TOKENS
    assert max(chosen["balanced"]) < 0.8 * TOKENS
    assert all(sum(values) == TOKENS for values in chosen.values())
    dropped = charts(found, "training")["Share of the tokens dropped"].series
    assert [series.name for series in dropped] == ["without balancing", "with balancing"]
    assert dropped[0].y[-1] == dropped[0].y[0] > dropped[1].y[-1]


test_what_is_wrong_is_told = pytest.mark.usefixtures("one_round")(wrong_is_told("s21", [
    ("router", "l, p = _right(*args); return l, p * 2", "router", "warning", "sum to 1"),
    ("router", "l, p = _right(*args); return 2 * l, p", "router", "warning", "x router_weights"),
    ("top_k_gating", "i, g = _right(*args, **kwargs); return i[:, ::-1], g", "gates", "warning", "come first"),
    ("top_k_gating", "return _right(*args, renormalize=False)", "gates", "warning", "over their sum"),
    ("top_k_gating", "i, g = _right(*args, **kwargs); return i + 4, g", "gates", "failed", "0 to 3"),
    ("expert_capacity", "return 3", "seats", "failed", "expert_capacity: 3, expected 20"),
    ("dispatch", "p, k = _right(*args); return p, k | True", "seats", "warning", "more than its 20 seats"),
    ("dispatch", "p, k = _right(*args); return p, k & False", "seats", "warning", "below the capacity"),
    ("load_balancing_loss", "return 2 * _right(*args)", "balance", "warning", "the loss is 1, not 2.000"),
    ("load_balancing_loss_gradient", "return 2 * _right(*args)", "balance", "warning", "the gradient says"),
    ("MoELayer", "return 3", "alone-before", "failed", "an object of your class"),
],))  # fmt: skip


def test_a_layer_that_learns_upwards_and_stays_collapsed_is_told(tmp_path: Path) -> None:
    text = reference("s21") + (
        "\n\n_right = MoELayer.backward\nMoELayer.backward = lambda self, grad_output: _right(self, -grad_output)\n"
        "load_balancing_loss_gradient = lambda p, indices: 0 * p\n"
    )
    found = explored(tmp_path, "s21", text)
    assert "the loss should fall" in parts(found)["alone-after"].message
    assert "should spread the load, one expert still has 32 of 32 tokens" in parts(found)["balanced-after"].message
    assert np.isfinite(charts(found, "training")["Loss of the task"].series[0].y).all()
