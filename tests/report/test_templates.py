"""Templates of HTML pages: what is put into one is shown and never obeyed, and what is missing is an error."""

from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pytest

from grader.errors import UsageError
from grader.report.templates import MOST_TEXT, cut, environment


def test_what_is_put_into_a_template_is_escaped_and_what_is_missing_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<p>{{ text }}</p>", encoding="utf-8")
    made = environment(tmp_path, "web")
    assert made.get_template("a.html").render(text="<b>") == "<p>&lt;b&gt;</p>"
    with pytest.raises(Exception, match="'text' is undefined"):
        made.get_template("a.html").render()


@pytest.mark.parametrize("extra", ["web", "class"])
def test_without_jinja_it_says_what_to_install(extra: str, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def lacking(name: str, *more: Any) -> Any:
        if name == "jinja2":
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(UsageError, match="pages need the package jinja2") as caught:
        environment(Path(), extra)
    assert f"uv sync --extra {extra}" in str(caught.value.hint)


def test_a_long_text_is_cut() -> None:
    assert cut("x" * MOST_TEXT) == "x" * MOST_TEXT and len(cut("x" * (MOST_TEXT + 1))) == MOST_TEXT + 1
