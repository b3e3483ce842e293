"""The page of s18 says what its tables reach, and how; the rows of its checklist ask for what follows from that."""

from __future__ import annotations

import importlib
import re

import pytest

from hidden.s18_decoder_and_generation import sentences, tables
from tests.support.places import ROOT

TEXT = sentences.TARGET.read_text(encoding="utf-8")
FOLDER = ROOT / "stages" / "s18_decoder_and_generation"
PAGE = (FOLDER / "README.md").read_text(encoding="utf-8")


def test_a_table_in_numbers() -> None:
    """Of a and b and c: a b twice, a c once; p(b | a) = (2 + 1) / (3 + 4), p(a | .) = 4/7, p(. | b) = 3/6."""
    found = tables.perplexity(["a b .", "a b .", "a c ."], ["a b ."], 2, 1)
    assert found == pytest.approx((3 / 7 * 4 / 7 * 3 / 6) ** (-1 / 3))


@pytest.mark.parametrize(("order", "name"), tables.NAMES.items())
def test_the_page_says_what_a_table_reaches_with_the_smoothing_that_was_chosen(order: int, name: str) -> None:
    smoothing, perplexity = tables.reached(TEXT, order)
    assert re.search(rf"^\| {name}\b.*\| {smoothing} \| {perplexity:.2f} \|$", PAGE, re.MULTILINE)


def test_the_rows_ask_for_less_than_the_pairs_reach() -> None:
    hidden = importlib.import_module("hidden.s18_decoder_and_generation.test_hidden_training")
    _, pairs = tables.reached(TEXT, 2)
    assert pytest.approx(0.8 * pairs, abs=0.005) == hidden.LEVEL
    public = (FOLDER / "tests" / "test_decoder.py").read_text(encoding="utf-8")
    assert f"bigram = {pairs:.3f}" in public


@pytest.mark.parametrize("page", ["README.md", "data/README.md"])
def test_the_sentences_that_a_page_shows_stand_in_the_text(page: str) -> None:
    shown = re.findall(r"^ *(the (?:\w+ )+\.)$", (FOLDER / page).read_text(encoding="utf-8"), re.MULTILINE)
    assert shown and set(shown) <= set(TEXT.splitlines())


def test_the_page_says_how_many_sentences_are_different() -> None:
    assert f"{len(set(TEXT.splitlines()))} of them are different" in PAGE
