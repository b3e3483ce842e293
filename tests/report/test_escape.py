"""What a learner wrote stays text, whatever reads the report."""

from __future__ import annotations

import csv
import html
import io
import re
import xml.etree.ElementTree as ET

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from grader.report import escape
from grader.report.escape import Cell, csv_text
from grader.report.terminal.layout import printable
from tests.support.verdicts import TEXTS, obeyed_by_a_runner, unescaped

MARKDOWN = MarkdownIt("gfm-like", {"html": True, "linkify": False}).enable("table")


def test_the_lines_of_a_message_become_one_that_can_be_read() -> None:
    syntax = "line 2: expected ':'\n    while True\n              ^"
    assert escape.joined(syntax) == "line 2: expected ':'; while True"
    assert escape.joined("shape (3,) is right\n\nCopy it.\nOr not") == "shape (3,) is right; Copy it. Or not"
    assert escape.joined("^") == escape.joined("") == ""


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", r"\x3a:error::x"),
        ("a\n  ::notice::b", "a\n  \\x3a:notice::b"),
        ("a ::notice:: b", "a ::notice:: b"),
        ("x[::2]", "x[::2]"),
        ("say ##[group]a", r"say #\x23[group]a"),
        ("###[add-mask]1", r"##\x23[add-mask]1"),
        ("##vso[task]x", r"#\x23vso[task]x"),
        ("## heading", "## heading"),
        ("a\r::error::b", r"a\r::error::b"),
        ("\x1b[2J\u202e\u2066\x00\udc80", r"\x1b[2J\u202e\u2066\x00\udc80"),
        ("\u2028::error::x", r"\u2028::error::x"),
    ],
)
def test_plain_spells_out_what_acts(text: str, shown: str) -> None:
    assert escape.plain(text) == shown


@given(TEXTS)
def test_plain_text_is_obeyed_by_nobody(text: str) -> None:
    plain = escape.plain(text)
    assert obeyed_by_a_runner(plain) == []
    assert all(char == "\n" or char.isprintable() for char in plain)
    assert escape.plain(plain) == plain
    assert "\n" not in escape.one_line(text)


@given(TEXTS)
def test_markup_is_read_back_as_the_plain_text(text: str) -> None:
    escaped = escape.markup(text)
    assert escaped.isascii()
    assert html.unescape(escaped) == escape.plain(text)
    element = ET.fromstring(f'<a b="{escaped}">{escaped}</a>')
    assert (element.text or "", element.get("b"), len(element)) == (escape.plain(text), escape.plain(text), 0)


def tokens(text: str) -> list[str]:
    """The kinds of what Markdown finds in a text, block by block and within lines."""
    found = []
    for block in MARKDOWN.parse(text):
        found += [child.type for child in block.children] if block.children is not None else [block.type]
    return found


@given(TEXTS)
@example("</code></pre>\n# heading\n\n[a](b)")
def test_a_preformatted_block_is_one_block_that_holds_the_plain_text(text: str) -> None:
    block = escape.preformatted(text)
    assert tokens(f"{block}\n\nnext") == ["html_block", "paragraph_open", "text", "paragraph_close"]
    inside = re.fullmatch(r"<pre><code>([^<>]*)\n</code></pre>", block)
    assert inside is not None
    assert html.unescape(inside[1]) == escape.plain(text)


@given(TEXTS)
@example("``a`b")
def test_a_span_of_code_holds_the_text_on_one_line(text: str) -> None:
    span = escape.code_span(text)
    parts = MARKDOWN.parse(f"in {span}")[1].children
    if escape.one_line(text).strip():
        assert parts is not None
        assert [part.type for part in parts] == ["text", "code_inline"]
        assert parts[1].content.strip() == escape.one_line(text).strip()


@given(TEXTS)
@example("1. a")
@example("# a | b @octocat https://a.b")
def test_escaped_markdown_is_text_wherever_it_stands(text: str) -> None:
    escaped = escape.markdown(text)
    assert not re.search(r"(?<!&)#(?!\d+;)|[|@:/<>*_`\[\]~]", escaped)
    cell = f"| a |\n| --- |\n| {escaped} |"
    assert set(tokens(f"{cell}\n\n{escaped}\n\nx {escaped}")) <= {
        "table_open", "thead_open", "tr_open", "th_open", "text", "th_close", "tr_close", "thead_close", "tbody_open",
        "td_open", "td_close", "tbody_close", "table_close", "paragraph_open", "paragraph_close", "text_special",
    }  # fmt: skip
    assert html.unescape(escaped) == escape.one_line(text).strip()


@given(TEXTS)
@example("%0A%250A%")
def test_a_command_s_message_and_properties_come_back_as_they_were(text: str) -> None:
    data, value = escape.command_data(text), escape.command_property(text)
    assert not set("\r\n") & set(data + value)
    assert not set(":,") & set(value)
    assert unescaped(value) == escape.plain(text)
    for sign, code in (("\r", "%0D"), ("\n", "%0A"), ("%", "%25")):  # of a message the runner reads no more than these
        data = data.replace(code, sign)
    assert data == escape.plain(text)


def test_what_is_spelt_is_what_a_terminal_shows_of_it() -> None:
    assert (escape.spelt(":"), printable("\x1b")) == (r"\x3a", r"\x1b")


@given(TEXTS)
def test_a_name_that_may_break_holds_the_same_text_escaped(text: str) -> None:
    assert html.unescape(str(escape.breakable(text)).replace("<wbr>", "")) == printable(text)


def test_a_name_breaks_behind_underscores_and_dots_and_a_number_nowhere() -> None:
    assert str(escape.breakable("np.dot(a_b, 0.5)")) == "np.<wbr>dot(a_<wbr>b, 0.5)"
    assert str(escape.breakable(escape.commands("`a_b` <i>"))) == "<code>a_<wbr>b</code> &lt;i&gt;"


SIGNS = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
NUMBER = re.compile(r"""[ \xa0"']*[+-] *[0-9]* *["']?""")  # a sign alone, or before a number, is no formula
PIECES = st.sampled_from([*SIGNS, ";", ",", "\t", "|", "\r", "\n", '"', "'", " ", "\xa0", "1", "x", "é"])


def read(text: str, separator: str = ",") -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator))


def test_texts_are_quoted_and_numbers_and_empty_cells_are_not() -> None:
    written = csv_text([("student", "points"), ("ada", 2), ("12", 0.5), ('b"o', None), ("", True)])
    assert written == '"student","points"\r\n"ada",2\r\n"12",0.5\r\n"b""o",\r\n,True\r\n'


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("=1+1", "'=1+1"), ("x;=1+1", "x;'=1+1"), ("＝1+1", "'＝1+1"), ("x, －1", "x,' －1"), ("\t=1", "'\t'=1"),
        ('x;"=1;y', "x;'\"=1;y"), ("x\n@y", "x\n'@y"), ("x|+1", "x|'+1"), ("\rx", "'\rx"),
        ("values [0.5, -0.25, -1e-05]", "values [0.5, -0.25, -1e-05]"), ("O'Neil, -", "O'Neil, -"),
        ("x, -1+1", "x,' -1+1"), ("x, -f(1)", "x,' -f(1)"), ("x; -", "x;' -"),
        ("a-b = c; d + e, f@g.org", "a-b = c; d + e, f@g.org"),
    ],
)  # fmt: skip
def test_an_apostrophe_stands_where_a_formula_could_begin(text: str, told: str) -> None:
    assert read(csv_text([(text, "y")])) == [[told, "y"]]


@given(st.lists(st.lists(PIECES, max_size=12).map("".join), min_size=1, max_size=3))
def test_no_reader_finds_a_formula_and_the_right_one_finds_the_text(texts: list[str]) -> None:
    line: list[Cell] = [*texts, "end"]
    written = csv_text([line])
    for separator in ",;\t|":
        for cell in (cell for found in read(written, separator) for cell in found):
            if separator != "," or not NUMBER.fullmatch(cell):
                assert not cell.lstrip(' \xa0"').startswith(SIGNS)
    ((*found, _),) = read(written)
    assert [cell.replace("'", "") for cell in found] == [text.replace("'", "") for text in texts]
