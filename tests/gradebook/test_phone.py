"""The pages of a class on a phone: identifiers break at underscores and dots alone, and wide tables scroll.

Skipped where there is no Chromium, and in part where there is no axe-core (`npm install --no-save axe-core`).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from grader.course.manifest import load_course
from grader.gradebook.figures import Figures
from grader.gradebook.pages import ClassPages
from grader.similarity.compare import compared, text
from grader.similarity.page import page as similar
from tests.gradebook.made import NOW, failure, sheet, verdict
from tests.similarity.test_compare import program
from tests.support.browser import Page, browser, found
from tests.support.command import Place
from tests.web.browsing import accessible

LONG = "scaled_dot_product_attention_backward_through_mask"
# Pairs of letters of one word that stand in different lines, unless the first is an underscore or a dot.
TORN = r"""(() => {
    const torn = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const range = document.createRange();
    const box = (node, place) => { range.setStart(node, place); range.setEnd(node, place + 1); return range.getBoundingClientRect(); };
    while (walker.nextNode()) {
        const node = walker.currentNode;
        for (const word of node.data.matchAll(/[\w.]{2,}/g))
            for (let place = word.index; place < word.index + word[0].length - 1; place++) {
                const [one, next] = [box(node, place), box(node, place + 1)];
                if (one.width && next.width && next.top > one.top + 4 && !'_.'.includes(node.data[place])) torn.push(word[0]);
            }
    }
    return torn;
})()"""  # noqa: E501


@pytest.fixture(scope="module")
def browsing(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    found()
    with browser(tmp_path_factory.mktemp("browser")) as made:
        made.resize(390, 844)
        yield made


@pytest.fixture(scope="module")
def written(original: Place, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the pages of a class whose rows, students, tests and files have long names."""
    cause = {"id": "m", "text": f"`{LONG}` is used where `{LONG}.transposed_values` is needed.", "fix": LONG}
    told = failure(test=f"test_{LONG}[3]", cause=cause, where=f"{LONG}.py:7", call=f"{LONG}(x)", message=LONG)
    bad = verdict(double=False, title="Numbers of several kinds")
    bad["criteria"][0] |= {"id": LONG.replace("_", "-"), "text": f"{LONG} gives the gradient", "failures": [told]}
    bad["criteria"][1] |= {"text": "multi_head_attention_forward is right", "waits_for": [LONG], "status": "blocked"}
    one = sheet(bad, bad, bad, student="ada.maria_lovelace-of-london_and_elsewhere", points=1.0)
    pages, figures = ClassPages(load_course(original.root), "full", NOW), Figures()
    figures.add(one, "student.html")
    folder = tmp_path_factory.mktemp("pages")
    (folder / "class.html").write_text("".join(pages.overview(figures)), encoding="utf-8")
    (folder / "student.html").write_text(pages.student(one), encoding="utf-8")
    both = [text(f"{name}_{LONG}", program(0, 200).encode()) for name in ("ada", "bob")]
    (folder / "similar.html").write_text(similar(compared(both), [], LONG, 0.3), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["class", "student", "similar"])
def test_identifiers_break_at_underscores_and_dots_alone(browsing: Page, written: Path, name: str) -> None:
    browsing.open((written / f"{name}.html").as_uri())
    browsing.run("document.querySelectorAll('details').forEach(each => { each.open = true })")
    assert browsing.run("document.body.innerText").count("scaled_dot_product") > 1
    assert browsing.run(TORN) == []
    assert browsing.run("document.documentElement.scrollWidth <= innerWidth")
    wide = "[...document.querySelectorAll('table')].filter(each => each.scrollWidth > innerWidth)"
    assert browsing.run(f"{wide}.every(each => getComputedStyle(each.parentElement).overflowX === 'auto')")


@pytest.mark.parametrize("width", [360, 390, 1280])
@pytest.mark.parametrize("name", ["class", "student", "similar"])
def test_the_pages_are_accessible_and_no_wider_than_the_window(
    browsing: Page, written: Path, name: str, width: int
) -> None:
    browsing.resize(width, 844)
    try:
        browsing.open((written / f"{name}.html").as_uri())
        accessible(browsing)
        assert browsing.run("document.documentElement.scrollWidth <= innerWidth")
    finally:
        browsing.resize(390, 844)
