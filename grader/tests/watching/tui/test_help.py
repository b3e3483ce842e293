"""The window that says what the keys do."""

from __future__ import annotations

import pytest

pytest.importorskip("textual")

from grader.watching.tui.panels import FEET, foot, help_text


def test_the_keys_fit_into_a_window_of_80_columns_and_24_lines() -> None:
    lines = help_text().splitlines()
    assert max(map(len, lines)) <= 66 and len(lines) <= 16


def test_every_foot_names_the_help_and_fits_where_it_is_shown() -> None:
    assert [len(each) for each in FEET] == sorted((len(each) for each in FEET), reverse=True)
    assert all(each.endswith("? help  q quit") for each in FEET)
    assert [foot(width) for width in (120, 80, 60, 34, 10)] == [*FEET, FEET[-1]]
