"""What pages need beside the grader: without it, they say which extra brings it."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import pytest

from grader.errors import UsageError
from grader.web.extra import environment, markdown_it


@pytest.mark.parametrize(
    ("module", "package", "use"),
    [("jinja2", "jinja2", lambda: environment(".", str)), ("markdown_it", "markdown-it-py", markdown_it)],
)
def test_without_a_package_the_extra_is_named(
    module: str, package: str, use: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def lacking(name: str, *more: Any) -> Any:
        if name.split(".")[0] == module:
            raise ImportError(name)
        return real(name, *more)

    monkeypatch.setattr(builtins, "__import__", lacking)
    with pytest.raises(UsageError, match=f"pages need the package {package}") as caught:
        use()
    assert "uv sync --extra web" in str(caught.value.hint)


def test_what_is_put_into_a_template_is_escaped_and_what_is_missing_is_an_error(tmp_path: Any) -> None:
    (tmp_path / "a.html").write_text("<p>{{ text }}</p>", encoding="utf-8")
    made = environment(tmp_path, lambda value: value)
    assert made.get_template("a.html").render(text="<b>") == "<p>&lt;b&gt;</p>"
    with pytest.raises(Exception, match="'text' is undefined"):
        made.get_template("a.html").render()
