"""The picture in the README is what `grader demo` prints now, and the package's front page shows some of it."""

from __future__ import annotations

import html
import re

from illustrations.demo import PICTURE, drawn
from tests.support.places import ROOT


def said(svg: str) -> list[str]:
    """Return the texts of a picture."""
    return re.findall(r"<text [^>]*>([^<]*)</text>", svg)


def test_the_picture_of_the_demo_is_what_the_demo_prints() -> None:
    now = drawn()
    assert now == PICTURE.read_text(encoding="utf-8"), "uv run --group dev python -m illustrations.demo"
    assert any("split_heads" in text for text in said(now))


def test_the_front_page_of_the_package_shows_lines_of_it() -> None:
    page = (ROOT / "docs" / "package.md").read_text(encoding="utf-8").partition("## Begin")[0]
    lines = ["".join(line.split()) for line in page.splitlines() if line.startswith("    ")]
    shown = "".join(html.unescape("".join(said(PICTURE.read_text(encoding="utf-8")))).split())
    assert lines and [line for line in lines if line not in shown] == []
