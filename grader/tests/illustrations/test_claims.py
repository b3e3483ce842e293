"""What a picture is drawn to show is so."""

from __future__ import annotations

import numpy as np

from illustrations.learning import descents, height


def test_down_a_narrow_valley_descent_is_left_behind_and_zigzags() -> None:
    (_, _, plain), (_, _, momentum), (_, _, adam) = descents()
    ends = [height(path[-1]) for path in (plain, momentum, adam)]
    assert ends[0] > 50 * max(ends[1:])
    assert (np.sign(plain[:-1, 1]) == -np.sign(plain[1:, 1])).all()  # over the valley with each step
    assert (momentum[:, 0] > 0).any() and (plain[:, 0] < -2).all()  # momentum swings past, descent has barely moved
    assert np.sum(np.diff(np.sign(adam[:, 1])) != 0) < np.sum(np.diff(np.sign(momentum[:, 1])) != 0)  # Adam curves
