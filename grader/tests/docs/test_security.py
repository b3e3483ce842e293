"""Each promise of SECURITY.md stands beside tests that show it, and each of these tests exists."""

from __future__ import annotations

import ast
import re
from functools import cache

import pytest

from grader.isolation import tier
from grader.tests.support.places import ROOT

TESTS = ROOT / "grader" / "tests"
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")
PROMISES = ("What is promised in every tier", "What a class adds")


def section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## )", TEXT, re.MULTILINE | re.DOTALL)
    assert found, f"SECURITY.md has no section {title!r}"
    return found[1]


def bullets(title: str) -> list[str]:
    return [each.strip() for each in re.split(r"^- ", section(title), flags=re.MULTILINE)[1:]]


@cache
def names_in(path: str) -> frozenset[str]:
    tree = ast.parse((TESTS / path).read_text(encoding="utf-8"))
    return frozenset(node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


@pytest.mark.parametrize("promise", [each for title in PROMISES for each in bullets(title)], ids=lambda text: text[:50])
def test_a_promise_names_the_tests_that_show_it(promise: str) -> None:
    assert NAMED.search(promise), f"no test is named beside: {promise}"


ROW = re.compile(r"^\| (?!\s|for whom|-)([^|]+) \|", re.MULTILINE)


@pytest.mark.parametrize("row", ROW.findall(section("What the tiers add")))
def test_a_row_of_the_table_of_tiers_is_shown_by_tests(row: str) -> None:
    shown = next((each for each in bullets("What the tiers add") if each.startswith(f"{row}:")), "")
    assert NAMED.search(shown), f"no test is named for the row {row!r}"


def test_the_table_of_tiers_says_what_each_tier_says_of_itself() -> None:
    found = [tier.registered()[name] for name in ("bubblewrap", "landlock", "process")]
    rows = [f"| {row} | {' | '.join(each.promises[row] for each in found)} |" for row in tier.ROWS]
    assert section("What the tiers add").strip().splitlines()[2 : 2 + len(rows)] == rows


@pytest.mark.parametrize(("path", "name"), sorted(set(NAMED.findall(TEXT))))
def test_a_test_that_is_named_exists(path: str, name: str) -> None:
    assert (TESTS / path).is_file(), f"there is no grader/tests/{path}"
    assert name in names_in(path)
