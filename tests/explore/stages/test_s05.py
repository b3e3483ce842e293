"""Stage 5 explored: the paths of the optimisers, their losses, and the schedules."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.explore.exploring import charts, explored, maps, parts, wrong_is_told

pytestmark = pytest.mark.full_matrix("stages", "hidden", "drawings")


def test_the_reference_shows_paths_losses_and_schedules(tmp_path: Path) -> None:
    found = explored(tmp_path, "s05")
    assert found.fine, parts(found)
    paths = {path.name: path for panel in maps(found, "paths").values() for path in panel.paths}
    assert list(paths) == ["sgd", "line search", "momentum", "nesterov", "adagrad", "rmsprop", "adam", "adamw"]
    steps = np.arange(41)
    np.testing.assert_allclose(paths["sgd"].x, -4 * 0.85**steps)
    np.testing.assert_allclose(paths["sgd"].y, 1.5 * (-0.8) ** steps)
    assert {(path.x[0], path.y[0]) for path in paths.values()} == {(-4.0, 1.5)}
    losses = [each for chart in charts(found, "losses").values() for each in chart.series]
    assert all(each.y[-1] < each.y[0] == 21.5 for each in losses)
    rates = {each.name: each.y for each in charts(found, "schedules")["Schedules"].series}
    assert (rates["step_decay"][25], rates["warmup_cosine"][10], rates["warmup_cosine"][0]) == (0.5, 1.0, 0.0)


test_what_is_wrong_is_told = wrong_is_told("s05", [
    ("sgd_step", "return {'x': args[0]['x'] * 1.5}, {}", "sgd", "failed", "far beyond what is sensible"),
    ("momentum_step", "return args[0], {}", "momentum", "warning", "f should fall"),
    ("adam_step", "return args[0]['x'], {}", "adam", "failed", "a dict with the name x"),
    ("adam_step", "return {'x': args[0]['x'] * np.nan}, {}", "adam", "failed", "params['x']: all 2 values are NaN"),
    ("backtracking_line_search", "args[0]('here'); return 1.0", "search", "failed", "something else than a place"),
    ("backtracking_line_search", "return 1.0", "search", "warning", "does not go down"),
    ("clip_by_global_norm", "return args[0], _right(*args)[1]", "clip", "warning", "should have length 1"),
    ("cosine_annealing", "return 2.0", "cosine_annealing", "warning", "base rate 1, not 2.000"),
    ("minimize", "x, h = _right(*args, **kwargs); return x, h[1:]", "minimize", "failed", "40 numbers where 41"),
], looks=True)  # fmt: skip
