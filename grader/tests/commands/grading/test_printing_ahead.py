"""On a terminal the checklist is printed while the cause is looked for; elsewhere all of it at the end."""

from __future__ import annotations

import io
import re
import sys
from dataclasses import replace

import pytest

from grader.commands.checking import Page
from grader.report.terminal.checklist import Style, verdict_lines
from grader.report.terminal.layout import Look
from grader.report.terminal.screen import SEARCHING, Ticker
from grader.tests.report.terminal.made import DIAGNOSIS, VERDICT, text_of

OPTIONS = ("grader check s15", False, None, False)
BARE = replace(
    VERDICT,
    criteria=tuple(
        replace(row, failures=tuple(replace(each, diagnosis=None, where=None) for each in row.failures))
        for row in VERDICT.criteria
    ),
)


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> pytest.CaptureFixture[str]:
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _: True)
    return capsys


def printed(terminal: pytest.CaptureFixture[str]) -> str:
    """Return what was printed meanwhile, without colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.readouterr().out)


def test_the_checklist_comes_first_and_once(terminal: pytest.CaptureFixture[str]) -> None:
    page, line = Page(*OPTIONS), io.StringIO()
    ahead = page.ahead(Ticker(line, "s15", Look(100)), lambda verdict: verdict)
    assert ahead is not None
    ahead(BARE)
    first = printed(terminal)
    assert "split_heads reshapes" in first and "split_heads(" not in first
    assert line.getvalue().rstrip().endswith(f"s15 · {SEARCHING}")
    page.show(VERDICT)
    rest = printed(terminal)
    assert first + rest == text_of(verdict_lines(VERDICT, Style(Look(100), *OPTIONS)))
    assert DIAGNOSIS.text in " ".join(rest.split())


def test_a_checklist_that_became_another_is_printed_again(terminal: pytest.CaptureFixture[str]) -> None:
    page = Page(*OPTIONS)
    ahead = page.ahead(Ticker(io.StringIO(), "s15", Look(100)), lambda verdict: verdict)
    assert ahead is not None
    ahead(replace(BARE, criteria=BARE.criteria[:2]))
    terminal.readouterr()
    page.show(VERDICT)
    assert printed(terminal) == text_of(verdict_lines(VERDICT, Style(Look(100), *OPTIONS)))


def test_what_may_not_be_told_is_not_told_ahead(terminal: pytest.CaptureFixture[str]) -> None:
    page = Page(*OPTIONS)
    ahead = page.ahead(Ticker(io.StringIO(), "s15", Look(100)), lambda verdict: replace(verdict, title="Lowered"))
    assert ahead is not None
    ahead(BARE)
    assert printed(terminal).startswith("s15 · Lowered")


def test_where_nobody_watches_nothing_is_printed_ahead(capsys: pytest.CaptureFixture[str]) -> None:
    ticker = Ticker(io.StringIO(), "s15", Look(100))
    assert Page(*OPTIONS).ahead(ticker, lambda verdict: verdict) is None  # a pipe
    assert Page(*OPTIONS).ahead(None, lambda verdict: verdict) is None
