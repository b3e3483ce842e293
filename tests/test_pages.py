"""The pages: each is in the index, every link leads somewhere, and the README begins with what a newcomer needs."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from grader.course.settings import read_settings
from tests.support.places import ROOT

INDEX = ROOT / "docs" / "README.md"
AROUND = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "stages/README.md")
TEMPLATES = "grader/classroom/templates/"  # their links lead somewhere in the learner's copy


@cache
def pages() -> tuple[Path, ...]:
    """Return every markdown file of the repository."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and (path.name[0] != "." or path.name == ".github")]
    folders = [path for path in folders if path.name != "node_modules"]  # axe-core, where somebody tests pages
    return (*sorted(ROOT.glob("*.md")), *(page for folder in sorted(folders) for page in sorted(folder.rglob("*.md"))))


@cache
def tokens(page: Path) -> tuple[Token, ...]:
    blocks = MarkdownIt("commonmark").enable("table").parse(page.read_text(encoding="utf-8"))
    return tuple(blocks) + tuple(each for block in blocks for each in block.children or ())


def links(page: Path) -> list[str]:
    """Return the targets of a page's links and images that lie in this repository."""
    found = [str(each.attrGet("href") or each.attrGet("src") or "") for each in tokens(page)]
    return [unquote(link) for link in found if link and not re.match(r"[a-z]+:", link)]


def anchors(page: Path) -> set[str]:
    """Return the names that GitHub gives to the headings of a page."""
    blocks = tokens(page)
    titles = [after.content for each, after in pairwise(blocks) if each.type == "heading_open"]
    plain = [re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in plain}


def leads_nowhere(page: Path, link: str) -> bool:
    name, _, anchor = link.partition("#")
    target = (page.parent / name).resolve() if name else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return True
    return bool(anchor) and target.suffix == ".md" and anchor not in anchors(target)


def test_every_link_leads_somewhere() -> None:
    checked = [page for page in pages() if not page.relative_to(ROOT).as_posix().startswith(TEMPLATES)]
    assert {ROOT / name for name in AROUND} <= set(checked)
    found = [(page.relative_to(ROOT).as_posix(), link) for page in checked for link in links(page)]
    assert len(found) > 200
    assert [(page, link) for page, link in found if leads_nowhere(ROOT / page, link)] == []


def test_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("[one](nowhere.md) ![two](docs/demo.svg) [three](https://example.org) `[four](code.md)`", "utf-8")
    assert links(page) == ["nowhere.md", "docs/demo.svg"]
    assert leads_nowhere(ROOT / "README.md", "nowhere.md")
    assert leads_nowhere(ROOT / "README.md", "../outside.md")
    assert leads_nowhere(ROOT / "README.md", "#no-such-heading")
    assert not leads_nowhere(ROOT / "README.md", "#teach-a-class")
    assert not leads_nowhere(ROOT / "README.md", "docs/demo.svg")


def test_the_index_lists_every_page_once() -> None:
    listed = [(INDEX.parent / link).resolve() for link in links(INDEX)]
    wanted = {page for page in pages() if INDEX.parent in page.parents} | {ROOT / name for name in AROUND}
    assert set(listed) == wanted - {INDEX} | {ROOT / "README.md"}
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize(("page", "lines"), [("README.md", 130), ("CONTRIBUTING.md", 105)])
def test_pages_keep_their_size(page: str, lines: int) -> None:
    assert len((ROOT / page).read_text(encoding="utf-8").splitlines()) <= lines


def test_the_course_has_one_name() -> None:
    title = read_settings(ROOT).title
    for page in ("README.md", "docs/package.md"):
        assert (ROOT / page).read_text(encoding="utf-8").startswith(f"# {title}\n")
    assert f"site_name: {title}\n" in (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    assert f"Welcome to {title}:" in (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")


def test_a_learners_folder_brings_the_first_hour() -> None:
    assert "docs/tutorial.md" in read_settings(ROOT).pages
    assert "docs/tutorial.md" in (ROOT / "docs" / "package.md").read_text(encoding="utf-8")


def test_the_readme_begins_with_what_a_newcomer_needs() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    first = "\n".join(lines[:25])
    assert "(docs/demo.svg)" in first
    shown = ("uv run grader demo", "uv run grader start s01", "uv run --group dev pytest")
    demo, start, tests = map(first.index, shown)
    assert demo < start < tests
    for path in ("#learn", "#teach-a-class", "#write-a-course"):
        assert f"]({path})" in first


def test_the_readme_fits_a_terminal_of_80_columns() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith("![")] == []
