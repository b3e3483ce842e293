"""The ends of axes in few characters, levels in bands, and places on lines."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from grader.explore.model import Chart, Curves, Series, chart_limits, is_counted, ticks
from grader.explore.plotting import LABEL, Raster, levelled, line_places, scaled, short


@pytest.mark.parametrize("digits", [1.0, -1.0, 3.14159, -9.876])
def test_every_end_of_an_axis_fits_beside_it(digits: float) -> None:
    for value in (digits * 10.0**power for power in range(-40, 41)):
        assert len(short(value)) < LABEL
        assert float(short(value)) == pytest.approx(value, rel=0.5)


def test_nothing_is_nothing() -> None:
    assert (short(0.0), short(-0.0)) == ("0", "0")


def test_levels_are_bands_of_about_as_many_places() -> None:
    bands = levelled(np.arange(60.0).reshape(6, 10), 6)
    assert np.bincount(bands.ravel()).tolist() == [10] * 6
    assert not levelled(np.zeros((3, 3)), 6).any()


def test_a_line_has_no_gaps() -> None:
    places = line_places(np.array([0, 9, 9]), np.array([0, 3, 12]))
    assert (places[0], places[-1]) == ((0, 0), (9, 12))
    for (a, b), (c, d) in pairwise(places):
        assert max(abs(a - c), abs(b - d)) <= 1


def test_values_far_outside_stay_near_the_surface() -> None:
    assert scaled((0.5, 1e300, -1e300), (0.0, 1.0), 10).tolist() == [4, 20, -10]
    assert scaled((1.0, 0.0), (-1.0, 1.0), 11, log=True).tolist() == [5, -11]


def test_what_is_written_over_something_is_not_written() -> None:
    raster = Raster(6, 1)
    raster.put((2, 0), "x")
    assert not raster.write((0, 0), "abc")
    assert not raster.write((4, 0), "abc")
    assert raster.write((3, 0), "abc")
    assert raster.lines()[0].plain == "  xabc"


@pytest.mark.parametrize("limits", [(-0.24, 6.3), (0.0, 3.1), (-1e-7, 2e-7), (99.0, 1234.0), (-3.0, 2.0)])
def test_an_axis_is_marked_at_round_values_within_it(limits: tuple[float, float]) -> None:
    for log in (False, True):
        found = ticks(limits, log)
        assert len(found) >= 2 and limits[0] <= found[0] and found[-1] <= limits[1] + 1e-12
    assert all(float(f"{value:.2g}") == pytest.approx(value) for value in ticks(limits))


def test_between_whole_numbers_nothing_is_marked() -> None:
    assert is_counted([(0.0, 1.0, 2.0)]) and not is_counted([(0.0, 0.5)])
    assert ticks((-0.1, 2.1), whole=True) == (0.0, 1.0, 2.0)
    assert ticks((0.0, 0.7), whole=True) == (0.0, 0.7)  # there are not two of them


def test_what_cannot_be_negative_is_shown_from_0() -> None:
    chart = Chart("", (Series("cross-entropy", (0.0, 1.0, 2.0), (6.0, 1.0, 0.001)),))
    assert chart_limits(chart, Curves("", "", "", "", "", (chart,)))[1][0] == 0.0
