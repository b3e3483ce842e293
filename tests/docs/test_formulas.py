"""Formulas of the lessons: GitHub renders each, `serve` and the site do, and in a terminal none shows its TeX.

GitHub reads Markdown before it reads formulas: what Markdown would take out of one (a pair of `_` or `*`, a backslash
before a sign, a `|` of a table) never reaches MathJax. Sources: GitHub's page on mathematical expressions, and the
issues of github/markup on what may stand beside a dollar.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from grader.course.formulas import FORMULA, in_words, mathml, plain
from grader.web.markdown import PageLocation, html_of
from tests.support.places import ROOT

PAGES = sorted(path for folder in ("stages", "docs") for path in (ROOT / folder).rglob("*.md"))
LESSONS = sorted((ROOT / "stages").rglob("*.md"))
BEFORE, BEHIND = " \n(", " \n.,;:!?)'"  # what GitHub takes beside a dollar, and some that it does not is left out
# What stands in formulas alone. A · of a shape, a ± or − of a number and an arrow may stand in text.
SIGNS = re.compile("[ᵀ√ΣΠ∂∇∘⊙≤≥≈≠∝∈∞⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁺ⁿᵢⱼₖₜₙ₀₁₂₃₄₅₆₇₈₉‖⌊⌋⌈⌉α-ωΑ-Ω]")
ITEM = re.compile(r"^ *[-*] \[[ x]\] .*$", re.MULTILINE)  # says what the checklist in the terminal says
LINK = re.compile(r"\[[^]]*\]\([^)]*\)")


@cache
def text(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def formulas(page: Path) -> list[str]:
    """Return the formulas of a page with their dollars."""
    found = []
    for each in FORMULA.finditer(text(page)):
        if each["inline"] or each["block"]:
            found += [line for line in each[0].splitlines() if line] if each["block"] else [each[0]]
    return found


def read_by_markdown(page: Path) -> str:
    """Return the text of a page after Markdown alone has read it; what it took for code, a link or emphasis is cut."""
    lines = []
    for token in MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text(page)):
        pieces = [each.content if each.type == "text" else "\n" for each in token.children or ()]
        lines.append("".join(pieces))
    return "\n".join(lines)


def test_the_lessons_have_formulas() -> None:
    assert sum(len(formulas(page)) for page in LESSONS) > 2000


def test_each_formula_is_drawn_by_serve_and_the_site() -> None:
    for page in LESSONS:
        assert [each for each in formulas(page) if mathml(each.strip("$")) is None] == [], page
        shown = html_of(text(page), PageLocation(page.relative_to(ROOT).as_posix()))
        assert shown.count("<math") == len(formulas(page)), page
        assert "$" not in re.sub(r"(?s)<code>.*?</code>", "", shown), page


def test_each_formula_reaches_what_draws_it_on_github() -> None:
    for page in LESSONS:
        kept = read_by_markdown(page)
        assert [each for each in formulas(page) if each not in kept] == [], page
        assert [
            each for each in formulas(page) if not each.isascii() or re.search(r"<\w|\\operatorname", each)
        ] == [], page


def test_no_dollar_is_left_over_and_each_has_the_neighbours_that_github_wants() -> None:
    for page in LESSONS:
        assert "$" not in FORMULA.sub("", text(page)), page
        beside = [
            each[0] for each in FORMULA.finditer(f"\n{text(page)}\n") if each["inline"]
            and (each.string[each.start() - 1] not in BEFORE or each.string[each.end()] not in BEHIND)
        ]  # fmt: skip
        assert beside == [], page
        apart = [line for line in text(page).splitlines() if "$$" in line]
        assert [line for line in apart if not re.fullmatch(r"\$\$[^$ ](?:[^$]*[^$ ])?\$\$", line)] == [], page


def test_no_heading_has_a_formula_since_its_link_would_hold_tex() -> None:
    for page in LESSONS:
        prose = FORMULA.sub(lambda each: each[0] if each["inline"] else "", text(page))
        assert [line for line in prose.splitlines() if line.startswith("#") and "$" in line] == [], page


def test_no_formula_is_left_in_text() -> None:
    for page in LESSONS:
        prose = LINK.sub("", ITEM.sub("", FORMULA.sub("", text(page))))
        assert [line for line in prose.splitlines() if SIGNS.search(line)] == [], page


def test_a_terminal_shows_no_tex() -> None:
    for page in LESSONS:
        shown = [plain(each.strip("$")) for each in formulas(page)]
        assert [each for each in shown if re.search(r"[\\$]|[_^]\(?\{|[a-z]\{", each) or not each] == [], page
        assert "$" not in FORMULA.sub("", in_words(text(page))), page


@pytest.mark.parametrize("page", sorted(set(PAGES) - set(LESSONS)), ids=lambda page: page.name)
def test_pages_about_the_grader_have_no_formulas(page: Path) -> None:
    assert formulas(page) == []
