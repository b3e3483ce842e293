"""Pages of the course as HTML, with what the extra `web` brings: markdown-it-py with its dollars, and Jinja2.

Raw HTML is shown as text. A link leads to another page of the course or, where it has an address of its own, out of it;
other links are their words. Pictures are those that lie in the page's folder; `pictures` names them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise
from pathlib import Path, PurePosixPath
from posixpath import normpath
from threading import Lock
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from grader.course.formulas import formula
from grader.errors import CourseError, UsageError, installs
from grader.report.terminal.layout import printable

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

_LINKS = "[text](address) <http://address/>"  # makes the tables of characters that links are read and written by
PACKAGES = {"markdown_it": "markdown-it-py", "mdit_py_plugins": "mdit-py-plugins"}  # by the modules that they bring
_lock = Lock()
_read: list[str] = []


def markdown_it() -> type[MarkdownIt]:
    """Return what reads Markdown, in several threads if need be; UsageError where a package of pages is missing.

    It makes its tables of characters with the first link, and a thread that reads meanwhile would find half of one.
    """
    with _lock:
        try:
            import latex2mathml.converter  # noqa: F401
            import mdit_py_plugins.dollarmath  # noqa: F401
            from markdown_it import MarkdownIt
        except ImportError as error:
            package = PACKAGES.get(str(error.name).partition(".")[0], str(error.name))
            what = f"pages need the package {package}, which is not installed"
            raise UsageError(what, installs("web", package)) from error
        if not _read:
            _read.append(str(MarkdownIt().render(_LINKS)))
    return MarkdownIt


PICTURES = (".svg", ".png")
MOST_BYTES = 4 << 20
_OUTSIDE = re.compile(r"https?://", re.IGNORECASE)
_TASK = re.compile(r"\[(?P<mark>[ xX])\] ")
_STEP = re.compile(r"Step +(\d+):")
_COMMENT = re.compile(r"^<!--.*?-->[ \t]*$\n?", re.MULTILINE | re.DOTALL)
_FENCE = re.compile(r"^(`{3,}|~{3,}).*?(?:^\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class PageLocation:
    """Where a page lies in the course, and what a link to a path of the course becomes; None where it leads nowhere.

    criterion gives the id of the one whose text an item has, None where there is none.

    path is that of the page below the course's root, as in stages/s01_numbers/README.md.
    """

    path: str
    page: Callable[[str], str | None] = lambda path: None
    picture: Callable[[str], str | None] = lambda path: None
    criterion: Callable[[str], str | None] = lambda text: None

    def target(self, link: str) -> str:
        """Return the path in the course that a link of this page names."""
        return normpath(str(PurePosixPath(self.path).parent / unquote(link.partition("#")[0])))


@dataclass
class Headings:
    """Names of headings as GitHub makes them, each once."""

    taken: dict[str, int] = field(default_factory=dict)

    def name(self, title: str) -> str:
        """Return the name of the next heading of that title."""
        plain = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") or "section"
        count = self.taken[plain] = self.taken.get(plain, -1) + 1
        return plain if not count else f"{plain}-{count}"


def html_of(text: str, place: PageLocation) -> str:
    """Return a page as HTML; whatever stands in it is shown, and nothing of it is obeyed."""
    return "".join(part.heading + part.body for part in sections_of(text, place))


@dataclass(frozen=True)
class PageSection:
    """A part of a page as HTML: its heading, and the rest; the first has no heading. names are those of headings."""

    heading: str
    body: str
    names: frozenset[str]


def sections_of(text: str, place: PageLocation) -> list[PageSection]:
    """Return the parts of a page: one for each heading of the second level, and before them what stands above these."""
    made = _reader()
    tokens = made.parse(_shown(text))
    _name_headings(tokens)
    _empty_cells(tokens)
    _find_criteria(tokens, place)

    def rendered(part: Sequence[Token]) -> str:
        return str(made.renderer.render(part, made.options, {"place": place}))

    begins = [at for at, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    found = [PageSection("", rendered(tokens[: begins[0] if begins else None]), frozenset())]
    for begin, end in pairwise([*begins, len(tokens)]):
        part = tokens[begin:end]
        names = frozenset(str(each.attrGet("id")) for each in part if each.type == "heading_open")
        found.append(PageSection(rendered(part[:3]), rendered(part[3:]), names))
    return found


def step_names(text: str) -> dict[int, str]:
    """Return the names of the headings of a page's steps, `Step 4: cut and join`, by their number; the first of two."""
    tokens = _reader().parse(_shown(text))
    _name_headings(tokens)
    found: dict[int, str] = {}
    for token, after in pairwise(tokens):
        if token.type == "heading_open" and (step := _STEP.match(_plain(after))) is not None:
            found.setdefault(int(step[1]), str(token.attrGet("id")))
    return found


def pictures(text: str, folder: Path) -> dict[str, Path]:
    """Return the pictures of a page that lie in its folder, by their path below it; no link leads out of it."""
    found: dict[str, Path] = {}
    root = folder.resolve()
    for token in _inner(_reader().parse(text)):
        link = normpath(unquote(str(token.attrGet("src") or ""))) if token.type == "image" else ""
        path = (folder / link).resolve()
        if link and not link.startswith("/") and path.suffix.lower() in PICTURES and path.is_relative_to(root):
            found |= {link: path} if path.is_file() and path.stat().st_size <= MOST_BYTES else {}
    return found


def read_page(path: Path, name: str) -> str:
    """Return the text of a page; CourseError where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CourseError(f"{name} cannot be read: {error}") from error


def _shown(text: str) -> str:
    """Return text without comments that stand on lines of their own, outside blocks of code, and signs spelt out."""
    parts, last = [], 0
    for fence in _FENCE.finditer(text):
        parts += [_COMMENT.sub("", text[last : fence.start()]), fence[0]]
        last = fence.end()
    return printable("".join([*parts, _COMMENT.sub("", text[last:])]))


def _reader() -> MarkdownIt:
    kind = markdown_it()
    from mdit_py_plugins.dollarmath import dollarmath_plugin

    made = kind("commonmark", {"html": False, "linkify": False}).enable(["table", "strikethrough"])
    dollarmath_plugin(made, allow_labels=False, allow_space=False)
    rules: Mapping[str, Any] = {
        "fence": _fence, "image": _image, "link_open": _link, "link_close": _link_close,
        "math_inline": _formula, "math_block": _formula,
        "table_open": _table, "table_close": lambda *_: "</table></div>\n", "text": _words,
        "criterion_state": _criterion_state,
    }  # fmt: skip
    for name, rule in rules.items():
        made.renderer.rules[name] = rule  # type: ignore[attr-defined]
    return made


def _inner(tokens: Sequence[Token]) -> list[Token]:
    return [inner for token in tokens for inner in (token, *_inner(token.children or ()))]


def _name_headings(tokens: Sequence[Token]) -> None:
    headings = Headings()
    for token, after in pairwise(tokens):
        if token.type == "heading_open":
            token.attrSet("id", headings.name(_plain(after)))


def _find_criteria(tokens: Sequence[Token], place: PageLocation) -> None:
    """Note at each item to tick which criterion of the checklist it is, and put what is known of that at its end."""
    from markdown_it.token import Token

    for token in tokens:
        task = _TASK.match(token.content) if token.type == "inline" else None
        criterion = place.criterion(_plain(token)[task.end() :]) if task is not None else None
        if token.children and criterion is not None:
            token.children[0].meta["criterion"] = criterion
            token.children.append(Token("criterion_state", "", 0, content=criterion))


def _empty_cells(tokens: Sequence[Token]) -> None:
    """Make cells of a table's head that are empty no headings of their columns."""
    for opened, inner, closed in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opened.type == "th_open" and not inner.content:
            opened.tag = closed.tag = "td"


def _plain(token: Token) -> str:
    return "".join(each.content for each in token.children or () if each.type in ("text", "code_inline"))


def _formula(tokens: Sequence[Token], at: int, options: object, environment: object) -> str:
    tex = tokens[at].content.strip()
    return formula(tex, is_apart=tokens[at].type != "math_inline") or f"<code>{escape(tex)}</code>"


def _fence(tokens: Sequence[Token], at: int, options: object, environment: object) -> str:
    if tokens[at].info.strip() == "math":
        return _formula(tokens, at, options, environment)
    return f'<div class="scroll code"><pre><code>{escape(tokens[at].content)}</code></pre></div>\n'


def _table(tokens: Sequence[Token], at: int, options: object, environment: object) -> str:
    return '<div class="scroll"><table>\n'


def _words(tokens: Sequence[Token], at: int, options: object, environment: object) -> str:
    """Return words; a box to tick at the beginning of an item is the sign of its criterion."""
    content = tokens[at].content
    task = _TASK.match(content) if at == 0 else None
    if task is None:
        return escape(content)
    mark, criterion = "○" if task["mark"] == " " else "✓", tokens[at].meta.get("criterion")
    if criterion is None:
        return f'<span aria-hidden="true">{mark}</span> {escape(content[task.end() :])}'
    sign = f'id="item-{escape(criterion)}" class="kind not_started" data-sign="{escape(criterion)}" aria-hidden="true"'
    return f"<span {sign}>○</span> {escape(content[task.end() :])}"


def _criterion_state(tokens: Sequence[Token], at: int, options: object, environment: object) -> str:
    """Return the link to a criterion, whose words the page keeps as they are."""
    criterion = escape(tokens[at].content)
    return f' <a class="small" href="#row-{criterion}" data-state="{criterion}">not checked</a>'


def _image(tokens: Sequence[Token], at: int, options: object, environment: Mapping[str, PageLocation]) -> str:
    token, place = tokens[at], environment["place"]
    link = str(token.attrGet("src") or "")
    source = None if ":" in link else place.picture(place.target(link))
    said = escape("".join(each.content for each in token.children or ()) or token.content)
    return f'<img src="{escape(source)}" alt="{said}" loading="lazy">' if source else f"<em>Picture: {said}</em>"


def _link(tokens: Sequence[Token], at: int, options: object, environment: Mapping[str, PageLocation]) -> str:
    link, place = str(tokens[at].attrGet("href") or ""), environment["place"]
    if link.startswith("#"):
        return f'<a href="{escape(link)}">'
    if _OUTSIDE.match(link):
        return f'<a href="{escape(link)}" rel="noopener noreferrer" target="_blank">'
    page = None if ":" in link else place.page(place.target(link))
    anchor = link[link.index("#") :] if "#" in link else ""
    if page is None:
        _closing(tokens, at).meta = {"tag": "span"}
        return "<span>"
    return f'<a href="{escape(page + anchor)}">'


def _closing(tokens: Sequence[Token], at: int) -> Token:
    level = tokens[at].level
    return next(each for each in tokens[at + 1 :] if each.type == "link_close" and each.level == level)


def _link_close(tokens: Sequence[Token], at: int, options: object, environment: object) -> str:
    return f"</{tokens[at].meta.get('tag', 'a')}>"
