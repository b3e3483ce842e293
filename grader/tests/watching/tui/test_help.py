"""The window that says what the keys do."""

from __future__ import annotations

import pytest

pytest.importorskip("textual")

from grader.watching.tui.panels import help_text


def test_the_keys_fit_into_a_window_of_80_columns_and_24_lines() -> None:
    lines = help_text().splitlines()
    assert max(map(len, lines)) <= 66 and len(lines) <= 16
