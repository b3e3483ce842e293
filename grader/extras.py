"""What installs a package that a command needs and that is not always there: the extra of ours that brings it.

No hint names the grader's own package: in a folder of a course it comes from the wheel there, and from no index.
"""

from __future__ import annotations


def installs(extra: str, *packages: str) -> str:
    """Return a hint: how to install an extra; packages are what it brings, for an environment without uv.

    >>> installs("web", "jinja2")
    '`uv sync --extra web` installs it; without uv: pip install jinja2.'
    """
    return f"`uv sync --extra {extra}` installs it; without uv: pip install {' '.join(packages)}."
