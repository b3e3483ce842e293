"""Tokens of formulas: names keep what stands below them, words stay words, and a foreign sign is refused."""

from __future__ import annotations

import pytest

from grader.web.reading.tokens import NoFormulaError, tokens_of


@pytest.mark.parametrize(
    ("text", "kind", "tex"),
    [
        ("W_Q", "letter", "W_{Q}"),
        ("K_block", "letter", "K_{\\text{block}}"),
        ("W1", "letter", "W_{1}"),
        ("dX", "letter", "dX"),
        ("dW_O", "letter", "dW_{O}"),
        ("ab", "letter", "ab"),
        ("of", "word", "\\text{of}"),
        ("head_1", "name", "\\text{head}_{1}"),
        ("grad_output", "name", "\\text{grad\\_output}"),
        ("softmax", "function", "\\operatorname{softmax}"),
        ("row's", "word", "\\text{row’s}"),
        ("0.25", "number", "0.25"),
        ("γ", "letter", "\\gamma "),
        ("...", "letter", "\\ldots "),
    ],
)
def test_a_piece_is_what_it_looks_like(text: str, kind: str, tex: str) -> None:
    (token,) = tokens_of(text)
    assert (token.kind, token.tex) == (kind, tex)


def test_an_a_before_a_word_is_an_article() -> None:
    assert tokens_of("a number")[0].tex == "\\text{a}"
    assert tokens_of("a b")[0].tex == "a"
    assert tokens_of("a")[0].tex == "a"


@pytest.mark.parametrize("sign", ["│", "@", "$", "\\", "🙂", "&"])
def test_a_sign_that_no_formula_has_is_refused(sign: str) -> None:
    with pytest.raises(NoFormulaError):
        tokens_of(f"x {sign}")
