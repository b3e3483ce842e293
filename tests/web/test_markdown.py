"""Pages as HTML: nothing in them is obeyed, links stay within the course, and a missing package is named."""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from grader.errors import CourseError, UsageError
from grader.web import markdown
from grader.web.markdown import Headings, PageLocation, html_of, markdown_it, pictures, read_page, sections_of
from tests.similarity.test_page import EVIL, Reader
from tests.support.places import ROOT


@pytest.mark.parametrize(
    ("module", "package", "use"),
    [
        ("markdown_it", "markdown-it-py", markdown_it),
        ("latex2mathml", "latex2mathml", markdown_it),
        ("mdit_py_plugins", "mdit-py-plugins", markdown_it),
    ],
)
def test_without_a_package_the_extra_is_named(
    module: str, package: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def lacking(name: str, *more: Any) -> Any:
        if name.split(".")[0] == module:
            raise ImportError(name, name=name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(UsageError, match=f"pages need the package {package}") as caught:
        use()
    assert "uv sync --extra web" in str(caught.value.hint)


PAGES = {"stages/README.md": "/k/conventions", "stages/s02_b/README.md": "/k/stages/s02"}


def place(path: str = "stages/s01_a/README.md") -> PageLocation:
    return PageLocation(
        path, PAGES.get, lambda target: f"/k/p/{target}" if target.startswith("stages/s01_a/") else None
    )


def html(text: str) -> str:
    return html_of(text, place())


def test_the_first_pages_are_read_in_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its tables of characters are made once; who came while they were being made found them half made."""
    decoding, encoding = (importlib.import_module(f"mdurl._{name}") for name in ("decode", "encode"))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(8) as threads:
            for _ in range(40):
                monkeypatch.setattr(markdown, "_read", [])
                decoding.decode_cache.clear()
                encoding.encode_cache.clear()
                found = set(threads.map(html, ["[two](https://example.org/~a) <https://example.org/z>"] * 8))
                assert len(found) == 1
    finally:
        sys.setswitchinterval(interval)


def test_html_is_text() -> None:
    read = Reader(html(f"{EVIL}\n\n`{EVIL}`\n\n```\n{EVIL}\n```\n\n| {EVIL.replace('|', '')} |\n|---|\n"))
    assert read.open == [] and not {"script", "img"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on")]
    assert "\x1b" not in read.text and "\u202e" not in read.text


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("[a](../README.md)", '<a href="/k/conventions">a</a>'),
        ("[a](../s02_b/README.md#top)", '<a href="/k/stages/s02#top">a</a>'),
        ("[a](#here)", '<a href="#here">a</a>'),
        ("[a](numbers_.py)", "<span>a</span>"),
        ("[a](../../hidden/s01/solution.py)", "<span>a</span>"),
        ("[a](file:///etc/passwd)", "<p>[a](file:///etc/passwd)</p>"),
        ("[a](https://e.org/?a&b)", 'href="https://e.org/?a&amp;b" rel="noopener noreferrer" target="_blank">a</a>'),
        ("[a](javascript:alert(1))", "[a](javascript:alert(1))"),
        ("[a](data:text/html,x)", "[a](data:text/html,x)"),
    ],
)
def test_a_link_leads_within_the_course_or_to_an_address_of_its_own(link: str, expected: str) -> None:
    assert expected in html(link)


def test_pictures_are_those_of_the_page() -> None:
    assert '<img src="/k/p/stages/s01_a/pictures/x.svg" alt="a &quot;b&quot;" loading="lazy">' in html(
        '![a "b"](pictures/x.svg)'
    )
    assert "<em>Picture: secret</em>" in html("![secret](../../hidden/x.png)")
    assert "<em>Picture: far</em>" in html("![far](https://e.org/x.png)")


def test_only_pictures_within_the_folder_are_found(tmp_path: Path) -> None:
    folder = tmp_path / "stage"
    (folder / "pictures").mkdir(parents=True)
    for file in ("stage/pictures/a.svg", "stage/b.PNG", "stage/c.py", "out.svg"):
        (tmp_path / file).write_bytes(b"x")
    (folder / "link.svg").symlink_to(tmp_path / "out.svg")
    text = "\n".join(f"![x]({name})" for name in (
        "pictures/a.svg", "./b.PNG", "c.py", "../out.svg", "link.svg", "missing.svg", str(tmp_path / "out.svg"),
        "pictures/../../out.svg", "https://e.org/x.svg",
    ))  # fmt: skip
    assert sorted(pictures(text, folder)) == ["b.PNG", "pictures/a.svg"]


def test_formulas_are_mathml_with_their_plain_text() -> None:
    assert '<div class="scroll formula"><math' in html("$$R x = Q^\\top b$$\n") and "Qᵀ b" in html("$$Q^\\top b$$\n")
    fenced = html("```math\n\\frac{a}{b} < 1\n```\n")
    assert "<mfrac>" in fenced and "<mo>&lt;</mo>" in fenced and '<div class="scroll formula">' in fenced
    shown = html("so $x^2$ grows")
    assert shown.startswith("<p>so <math") and 'alttext="x²"' in shown and "</math> grows</p>" in shown


def test_a_long_formula_in_a_line_has_a_box_of_its_own() -> None:
    assert '<span class="scroll formula"><math' in html(f"so ${' + '.join('abcdefghijk')}$ is")


def test_a_wrong_formula_is_shown_as_it_is_written() -> None:
    assert "<p>so <code>\\unknown{&lt;b&gt;}</code> is</p>" in html("so $\\unknown{<b>}$ is")


def test_criteria_stay_as_they_are() -> None:
    rows = {"f gives QKᵀ/√d_k": "f"}
    assert "f gives QKᵀ/√d_k" in html_of("- [ ] f gives QKᵀ/√d_k\n", PageLocation("a.md", criterion=rows.get))


@pytest.mark.parametrize("text", ["$5 and $6", "`$x$`", "a $ b $ c", "\\$x\\$"])
def test_money_and_code_are_no_formulas(text: str) -> None:
    assert "<math" not in html(text)


def test_code_stays_code() -> None:
    assert "<math" not in html("```python\nx = y\n```\n\n    R x = b\n")


def test_headings_can_be_linked_to_as_on_github() -> None:
    assert '<h2 id="1-the-idea">' in html("## 1. The *idea*") and html("# A\n# A").count('id="a-1"') == 1
    assert Headings().name("???") == "section"


def test_boxes_to_tick_and_comments() -> None:
    shown = html("- [ ] open\n- [x] done\n\n<!-- step: 1 -->\n\n```html\n<!-- kept -->\n```\n")
    assert "○" in shown and "✓" in shown and "step: 1" not in shown and "&lt;!-- kept --&gt;" in shown


def test_an_empty_cell_of_a_head_is_no_heading() -> None:
    shown = html("| | a |\n|---|---|\n| b | c |\n")
    assert "<th></th>" not in shown and "<th>a</th>" in shown


def test_a_page_that_cannot_be_read_is_the_courses_fault(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"stages/a/README\.md cannot be read"):
        read_page(tmp_path / "README.md", "stages/a/README.md")


def test_every_page_of_the_course_becomes_html_whose_elements_close() -> None:
    pages = sorted(ROOT.glob("stages/*/README.md"))
    assert len(pages) > 20
    for page in pages:
        read = Reader(html_of(page.read_text(encoding="utf-8"), place()))
        assert read.open == [] and read.tags["h1"] == 1, page


def test_an_item_to_tick_has_the_sign_of_its_row_and_leads_to_it() -> None:
    rows = {"f doubles, x - 1": "double"}
    shown = html_of("- [ ] `f` doubles, x - 1\n- [x] no row\n", PageLocation("a.md", criterion=rows.get))
    assert shown.index('id="item-double"') < shown.index("<code>f</code> doubles") < shown.index('href="#row-double"')
    shown = html_of("- [ ] f doubles\n- [ ] no row\n", PageLocation("a.md", criterion={"f doubles": "double"}.get))
    assert 'id="item-double" class="kind not_started" data-sign="double"' in shown
    assert 'href="#row-double" data-state="double">not checked</a>' in shown
    assert shown.count("data-sign") == 1 and '<span aria-hidden="true">○</span> no row' in shown


def test_a_page_is_cut_at_its_headings_and_nothing_of_it_is_lost() -> None:
    text = "# A\n\nintro\n\n## B\n\none\n\n### Step 1: c\n\ntwo\n\n```text\n## no heading\n```\n\n## B\n\nthree\n"
    found = sections_of(text, place())
    assert [part.names for part in found] == [frozenset(), frozenset({"b", "step-1-c"}), frozenset({"b-1"})]
    assert found[0].heading == "" and found[2].heading == '<h2 id="b-1">B</h2>\n' and "three" in found[2].body
    assert "".join(part.heading + part.body for part in found) == html(text)
    assert [part.names for part in sections_of("no heading", place())] == [frozenset()]
