"""What installs an extra: never the name of the grader's own package, which belongs to nobody in an index."""

from __future__ import annotations

from grader.extras import installs
from grader.setup.installed import project
from grader.tests.support.places import ROOT


def test_the_project_is_synced_or_the_packages_are_installed() -> None:
    said = installs("web", "jinja2", "markdown-it-py")
    assert "`uv sync --extra web`" in said and "pip install jinja2 markdown-it-py." in said
    assert project(ROOT)["project"]["name"] not in said
