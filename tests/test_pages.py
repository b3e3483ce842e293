"""The pages: each is in the index, every link leads somewhere, and the README begins with what a newcomer needs."""

from __future__ import annotations

import re
from functools import cache
from itertools import pairwise
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from grader.course.formulas import in_words
from grader.course.settings import read_settings
from tests.support.places import ROOT

INDEX = ROOT / "docs" / "README.md"
AROUND = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "stages/README.md", "stages/beyond.md")
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
    first = "\n".join(lines[:30])
    assert all(f"({path})" in first for path in ("docs/demo.svg", "docs/road.svg"))
    shown = ("uv run grader demo", "uv run grader start s01", "uv run --group dev pytest")
    demo, start, tests = map(first.index, shown)
    assert demo < start < tests
    for path in ("#learn", "#teach-a-class", "#write-a-course"):
        assert f"]({path})" in first


def test_the_readme_fits_a_terminal_of_80_columns() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if len(line) > 80 and not line.startswith("![")] == []


def test_each_direction_beyond_the_course_has_its_five_lines() -> None:
    page = ROOT / "stages" / "beyond.md"
    _, *parts = page.read_text(encoding="utf-8").split("\n## ")
    assert len(parts) == 10
    for part in parts:
        lines = re.split(r"^- \*\*", part, flags=re.MULTILINE)[1:]
        assert [line.partition(":**")[0] for line in lines] == ["What", "Why", "Numbers", "Continues", "Source"], part
        assert re.search(r"\[s\d\d\]\(s\d\d_\w+/README\.md\)", lines[3]), part
        assert "](https://arxiv.org/abs/" in lines[4] and re.search(r" 20\d\d, \[", lines[4]), part
    for stage in ("s15_attention", "s22_efficient_attention"):
        assert "../beyond.md" in links(ROOT / "stages" / stage / "README.md")


def test_the_numbers_beyond_the_course_are_right() -> None:
    text = " ".join(in_words((ROOT / "stages" / "beyond.md").read_text(encoding="utf-8")).split())
    assert "576 for a token and a block, where keys and values of all heads are 32,768" in text
    assert 512 + 64 == 576 and 2 * 128 * 128 == 32768
    p, q = np.array([0.5, 0.5]), np.array([0.8, 0.2])
    accepted, rest = np.minimum(p, q), np.maximum(0, p - q)
    assert accepted.sum() == pytest.approx(0.7) and "seven in ten are accepted" in text
    assert accepted + (1 - accepted.sum()) * rest / rest.sum() == pytest.approx(p)
    assert f"{sum(0.8**drafted for drafted in range(5)):.2f} tokens a pass" in text
    keys, values = np.array([[1, 0], [0.6, 0.8]]), np.array([10.0, 20.0])
    corrected = keys[0] * values[0]
    assert keys[1] @ corrected == pytest.approx(6) and keys[1] @ (values @ keys) == pytest.approx(26)
    assert keys[1] @ (corrected + keys[1] * (values[1] - keys[1] @ corrected)) == pytest.approx(20)
    assert "the plain sum says 26" in text and "writes 20 − 6" in text and "says 20." in text
    assert f"have {2 * 512 * 8} entries, {100 * 2 * 512 * 8 / 512**2:.1f} % of W's 262,144" in text
    assert f"ln 2 = {np.log(2):.4f}" in text and f"(r₊ − r₋) = 1 it is {np.log1p(np.exp(-1)):.4f}" in text
    rewards = np.array([1.0, 0, 0, 1])
    assert ((rewards - rewards.mean()) / rewards.std()).tolist() == [1, -1, -1, 1] and rewards.std() == 0.5
    assert "√d: 8 for d = 64" in text and np.sqrt(64) == 8
