"""The check of spelling: what it finds in a page, and what it leaves alone because it is code, a name or a title."""

from __future__ import annotations

import importlib.util
from types import ModuleType

import pytest

from grader.tests.support.places import ROOT


@pytest.fixture(scope="module")
def spelling() -> ModuleType:
    pytest.importorskip("codespell_lib", reason="codespell is not installed")
    spec = importlib.util.spec_from_file_location("spelling", ROOT / ".ci" / "spelling.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("one\n\nThe color of the center.", [(3, "color"), (3, "center")]),
        ("The colour of the centre.", []),
        ("```\ncenter\n```\ncenter", [(4, "center")]),
        ("    x = center\n`normalize` and center_table", []),
        ('Ioffe, [Batch Normalization](https://example.org), "Adam: Stochastic Optimization", *Optimization*', []),
        ("[the color](page.md)", [(1, "color")]),
    ],
)
def test_american_words_are_found_in_prose_only(page: str, found: list[tuple[int, str]], spelling: ModuleType) -> None:
    assert list(spelling.american(page, spelling.british())) == found


def test_the_pages_have_one_spelling(spelling: ModuleType) -> None:
    pages = [name for name in spelling.tracked() if name.endswith(".md")]
    assert "README.md" in pages
    known = spelling.british()
    assert {name: list(spelling.american((ROOT / name).read_text("utf-8"), known)) for name in pages} == {
        name: [] for name in pages
    }
