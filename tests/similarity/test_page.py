"""The page: whatever students wrote is text, it needs nothing from elsewhere, and every link leads somewhere."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser

import pytest

from grader.similarity.compare import SimilarPair, SubmittedModule, compared, text
from grader.similarity.page import MOST_COLUMNS, MOST_COPIES, MOST_LINES, Shown, groups, page, shown, side
from tests.similarity.test_compare import program

EVIL = "</pre><script>alert(1)</script><img src=x onerror=alert(1)> {{ 7*7 }} \u202e\x1b[31m & \"'"
VOID = {"meta", "link", "img", "br", "input", "wbr"}


class Reader(HTMLParser):
    """What a browser would see: tags that are balanced, ids, links and text."""

    def __init__(self, document: str) -> None:
        super().__init__()
        self.tags: Counter[str] = Counter()
        self.attributes: list[tuple[str, str | None]] = []
        self.open: list[str] = []
        self.text = ""
        self.feed(document)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags[tag] += 1
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture(scope="module")
def document() -> str:
    source = f"a = '{EVIL}'\n" + program(0, 200)
    both = [text(EVIL, source.encode()), text("bob", source.encode()), text("eve", b"x = (")]
    lacking = [SubmittedModule(EVIL, why=f"{EVIL} is a link")]
    return page(compared(both), lacking, "s15 · <Attention>", 0.3)


def test_what_students_wrote_is_text(document: str) -> None:
    read = Reader(document)
    assert read.open == []
    assert not {"script", "img", "iframe", "object", "link"} & set(read.tags)
    assert not [name for name, _ in read.attributes if name.startswith("on") or name in ("src", "style")]
    assert "alert(1)" in read.text and "{{ 7*7 }}" in read.text
    assert "\u202e" not in document and "\x1b" not in document
    assert "\\u202e" in document


def test_it_needs_nothing_from_elsewhere_and_may_run_nothing(document: str) -> None:
    assert not re.search(r"https?://|url\(|@import", document)
    assert "default-src 'none'" in document


def test_every_link_leads_to_a_place_of_the_page(document: str) -> None:
    attributes = Reader(document).attributes
    ids = [value for name, value in attributes if name == "id"]
    links = [value for name, value in attributes if name == "href"]
    assert len(ids) == len(set(ids))
    assert links and {str(link).removeprefix("#") for link in links} <= set(map(str, ids))


def test_it_can_be_read_with_the_keyboard_in_the_dark_and_on_paper(document: str) -> None:
    read = Reader(document)
    assert read.tags["details"] == read.tags["summary"] == 1
    scrolling = read.attributes.count(("role", "region"))
    assert read.attributes.count(("tabindex", "0")) == scrolling > read.tags["pre"] > 0
    assert "prefers-color-scheme: dark" in document and "@media print" in document


def test_it_says_what_was_compared_and_what_was_not(document: str) -> None:
    words = " ".join(Reader(document).text.split())
    assert "3 submissions were compared. 1 pair shares 30 % or more." in words
    assert "A share is a reason to look, and no finding" in words
    assert "eve is not valid Python" in words
    assert "was not compared:" in words


def test_a_class_without_pairs_has_a_page(document: str) -> None:
    words = " ".join(Reader(page(compared([text("a", b""), text("b", b"")]), [], "s15", 0.3)).text.split())
    assert "2 submissions were compared. 0 pairs share 30 % or more." in words


def test_copies_of_the_course_s_own_solution_come_first_and_their_number_is_bounded() -> None:
    own = text("solution.py", program(0).encode())
    class_of = [text(f"x{at:02}", program(0).encode()) for at in range(MOST_COPIES + 2)]
    found = compared(class_of, [own])
    document = page(found, [], "s15", 0.3)
    read = Reader(document)
    words = " ".join(read.text.split())
    assert f"{MOST_COPIES + 2} of {MOST_COPIES + 2} handed in one of the course's own solutions" in words
    assert read.tags["details"] == MOST_COPIES and f"x{MOST_COPIES + 1}" in words
    assert "could not be read" not in words and "could not be read" in page(compared(class_of), [], "s15", 0.3)


def test_a_list_that_was_cut_says_so() -> None:
    found = compared([text(name, program(0).encode()) for name in "abc"], most=1)
    assert "3 pairs share 30 % or more; the first 1 are shown." in " ".join(page(found, [], "s15", 0.3).split())


def test_a_long_passage_is_shown_in_part() -> None:
    found = side(text("ada", b"x\n" * 500), 11, 400)
    assert (found.first, len(found.lines), found.more, found.last) == (11, MOST_LINES, 390 - MOST_LINES, 400)


def test_a_long_line_is_cut() -> None:
    assert shown("x" * 10**6, MOST_COLUMNS) == "x" * MOST_COLUMNS + "…"


def pair(left: str, right: str, number: int) -> Shown:
    one, other = (text(name, b"x = 1") for name in (left, right))
    return Shown(SimilarPair(one, other, 0.9, 0.9, ()), f"pair-{number}")


def test_pairs_that_share_a_submission_are_one_group_and_the_largest_comes_first() -> None:
    pairs = [pair(each[0], each[1], number) for number, each in enumerate(("xy", "ab", "cd", "bc"))]
    found = groups(pairs)
    assert [each.names for each in found] == [("a", "b", "c", "d"), ("x", "y")]
    assert [[each.anchor for each in group.pairs] for group in found] == [["pair-1", "pair-2", "pair-3"], ["pair-0"]]
    assert groups([]) == ()


def test_of_each_group_one_comparison_is_open() -> None:
    source = program(0, 200)
    found = page(compared([text(name, source.encode()) for name in ("amy", "bob", "cy", "di")]), [], "s15", 0.3)
    assert found.count("<details") == 7 and len(re.findall(r"<details[^>]* open", found)) == 1
    assert "4 submissions: amy, bob, cy, di" in found and "5 more pairs of this group" in found


def test_each_passage_has_a_label_of_its_own() -> None:
    three = [text(name, program(0, 200).encode()) for name in ("ada", "bob", "carla")]
    read = Reader(page(compared(three), [], "s15", 0.3))
    labels = [value for name, value in read.attributes if name == "aria-label" and "lines" in (value or "")]
    assert len(labels) == len(set(labels)) == 6
