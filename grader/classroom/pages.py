"""Pages of a course in a learner's copy, with links to files that the copy has."""

from __future__ import annotations

import re
from collections.abc import Container
from posixpath import dirname, join, normpath

LINK = re.compile(r"!?\[(?P<text>(?:[^\]\[]|\[[^\]]*\])*)\]\((?P<target>[^)\s]+)\)")


def linked(page: bytes, name: str, files: Container[str]) -> bytes:
    """Return a page in which a link to a file that is not among the copy's is its text; name is the page's path.

    >>> linked(b"[a](a.md), [b](../b.md#top), [c](https://c.org)", "docs/x.md", {"b.md"})
    b'a, [b](../b.md#top), [c](https://c.org)'
    """

    def fitted(link: re.Match[str]) -> str:
        target = link["target"]
        path = normpath(join(dirname(name), target.partition("#")[0]))
        is_there = "://" in target or target.startswith("#") or path in files
        return link[0] if is_there else link["text"]

    return LINK.sub(fitted, page.decode()).encode()
