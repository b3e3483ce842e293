"""The picture in the README is what `grader demo` prints now."""

from __future__ import annotations

from illustrations.demo import PICTURE, drawn


def test_the_demo_in_the_readme_is_what_it_prints() -> None:
    again = "draw it again: uv run --group dev python -m illustrations.demo"
    assert drawn() == PICTURE.read_text(encoding="utf-8"), again
