"""What pages need that is not always installed, the extra `web`: Jinja2, and markdown-it-py."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

from grader.errors import UsageError
from grader.extras import installs

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt


_LINKS = "[text](address) <http://address/>"  # makes the tables of characters that links are read and written by
_lock = Lock()
_read: list[str] = []


def markdown_it() -> type[MarkdownIt]:
    """Return what reads Markdown, in several threads if need be; UsageError where it is not installed.

    It makes its tables of characters with the first link, and a thread that reads meanwhile would find half of one.
    """
    with _lock:
        try:
            from markdown_it import MarkdownIt
        except ImportError as error:
            raise _lacking("markdown-it-py") from error
        if not _read:
            _read.append(str(MarkdownIt().render(_LINKS)))
    return MarkdownIt


def environment(folder: object, finalize: Any) -> Environment:
    """Return what fills the templates of a folder, and escapes all that is put into them; UsageError without it."""
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise _lacking("jinja2") from error
    return Environment(
        loader=FileSystemLoader(str(folder)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=finalize,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _lacking(package: str) -> UsageError:
    what = f"pages need the package {package}, which is not installed"
    return UsageError(what, installs("web", "jinja2", "markdown-it-py"))
