"""What installs an extra, by how the grader itself came here."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from grader import extras
from grader.extras import installs


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An environment in which the grader was installed from a package called courses."""
    home = tmp_path / "lib"
    described = home / "courses-1.0.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: courses\nVersion: 1.0\n", encoding="utf-8")
    (described / "RECORD").write_text("grader/__init__.py,,\n", encoding="utf-8")
    monkeypatch.setattr(extras, "HOME", home)
    monkeypatch.setattr(sys, "prefix", str(tmp_path))
    return tmp_path


def test_beside_its_sources_the_project_is_synced() -> None:
    assert installs("web", "jinja2", "markdown-it-py") == (
        "`uv sync --extra web` installs it; without uv: pip install jinja2 markdown-it-py."
    )
    assert installs("web") == "`uv sync --extra web` installs it."


def test_a_package_is_installed_with_the_extra_behind_its_name(installed: Path) -> None:
    said = installs("web", "jinja2")
    assert said.startswith("`pip install 'courses[web]'` installs it, or `uv sync --extra web` in this folder.")
    assert said.endswith("With uvx: --from 'courses[web]'.") and "jinja2" not in said


def test_a_tool_of_uv_is_installed_again(installed: Path) -> None:
    (installed / extras.RECEIPT).touch()
    assert installs("tui") == "`uv tool install 'courses[tui]'` installs it."


def test_another_package_beside_the_grader_is_not_taken_for_it(installed: Path) -> None:
    (installed / "lib" / "courses-1.0.dist-info" / "RECORD").write_text("other/__init__.py,,\n", encoding="utf-8")
    assert installs("tui") == "`uv sync --extra tui` installs it."
