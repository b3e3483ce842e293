"""Formulas in plain text as TeX: the table of signs, the tokens of a line, and what is no formula."""

from __future__ import annotations

import re
import unicodedata
from itertools import combinations, pairwise

import pytest

from grader.web import formulas
from grader.web.formulas import NEXT_LINE, NoFormulaError, formula, inline_formulas, tokens_of
from tests.support.places import ROOT


def test_no_sign_means_two_things() -> None:
    tables = [
        formulas.RAISED,
        formulas.LOWERED,
        formulas.RELATIONS,
        formulas.OPERATORS,
        formulas.SYMBOLS,
        formulas.GREEK,
        formulas.HATS,
    ]
    tables += [formulas.OPENING, formulas.CLOSING]
    for one, other in combinations(tables, 2):
        assert not set(one) & set(other)


def test_each_bracket_closes() -> None:
    assert set(formulas.PAIRS) == set(formulas.OPENING) and set(formulas.PAIRS.values()) == set(formulas.CLOSING)


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


BLOCK = re.compile(r"^```text\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("R x = Qᵀ b", r"R\,x = Q^{\top }\,b"),
        ("y = Q Kᵀ / √d_k", r"y = \frac{Q\,K^{\top }}{\sqrt{d_{k}}}"),
        (
            "p = exp(−z² / 2) / (std √(2π))",
            r"p = \frac{\operatorname{exp}\mathopen{}\left(-\frac{z^{2}}{2}\right)}{\operatorname{std}\,\sqrt{2\pi}}",
        ),
        ("s = q·k / √2", r"s = \frac{q\cdot k}{\sqrt{2}}"),
        ("s = 2 · k / √2", r"s = 2 \cdot  \frac{k}{\sqrt{2}}"),
        ("k = (a / b) / c", r"k = \frac{\frac{a}{b}}{c}"),
        ("y = a ∘ b  ∘ is the product", r"y = a \circ  b\qquad \circ \ \text{is}\ \text{the}\ \text{product}"),
        ("x = a / 4h²", r"x = \frac{a}{4h^{2}}"),
        ("w ← w − learning_rate · g", r"w \leftarrow  w - \text{learning\_rate} \cdot  g"),
        ("xᵢ = Rⱼ₋₁,ⱼ", r"x_{i} = R_{j-1,j}"),
        ("m̂ = m / (1 − beta1ᵗ)", r"\hat{m} = \frac{m}{1 - \text{beta1}^{t}}"),
        ("softmax(z)_k = z_k", r"\operatorname{softmax}(z)_{k} = z_{k}"),
        ("f'(x) ≤ 10000^(2i/d)", r"f'(x) \le  10000^{2i/d}"),
        ("W += 1e-5", r"W \mathrel{+{=}} \text{1e-5}"),
        ("score = log-probability", r"\text{score} = \text{log-probability}"),
        ("c ∈ {0, 1}", r"c \in  \{0,\ 1\}"),
        ("k = ⌈n / 2⌉", r"k = \lceil \frac{n}{2}\rceil"),
    ],
)
def test_each_sign_becomes_the_sign_of_tex(text: str, tex: str) -> None:
    assert formula(text) == tex


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("x = a / b c", "a / b"),  # of b, or of b c?
        ("x = log p / n", "p / n"),  # of the logarithm, or within it?
        ("x = Σ a / n", "a / n"),
        ("x = a / b / c", "b / c"),
        ("x = Kᵀ/√d", "/\\sqrt"),
        ("x = |v| / n", "/ n"),
        ("x = a / size", "a / "),
    ],
)
def test_a_quotient_that_may_be_read_in_two_ways_stays_a_stroke(text: str, kept: str) -> None:
    tex = formula(text)
    assert tex is not None and kept in tex.replace("\\,", " ").replace("  ", " ").replace("^{\\top }", "")
    assert "\\frac{a}{b}" not in tex and "\\frac{a}{n}" not in tex and "{p}{n}" not in tex


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a sentence without any formula",
        "    [1 2 0]\nA = [4 4 4]",  # laid out by columns
        "A = [1 2 0]",
        "x = 1  2  3\n1  0        1   0",
        "a = 2 ──┐",
        "layer = torch.nn.Linear(2, 3)",
        "for t = 1 … n: x = 2",
        "y = x @ W",
        'name = "value"',
        "x = (a + b",
        "x = a + b)",
        "x = ²",
        "x = ^2",
        "_ = x",
        "x = √",
        "\n".join(["x = y"] * 13),
        "x = " + "y + " * 60 + "z",
    ],
)
def test_what_is_no_formula_stays_text(text: str) -> None:
    assert formula(text) is None


def test_lines_that_stand_in_columns_keep_them() -> None:
    tex = formula("PE(pos, 2i)   = sin(x)\nPE(pos, 2i+1) = cos(x)")
    assert tex is not None and tex.startswith("\\begin{array}{ll}") and tex.count("&") == 2
    aligned = formula("v = 1      begins\np = 2 v    follows")
    assert aligned is not None and aligned.startswith("\\begin{array}{ll}")


def test_lines_that_do_not_are_below_each_other() -> None:
    tex = formula("Attention(Q, K, V) = softmax(Q Kᵀ / √d_k) V\n\nQ (n, d)      Kᵀ (d, n)")
    assert tex is not None and "array" not in tex
    first, second = tex.split(NEXT_LINE)
    assert first.endswith(r"\left(\frac{Q\,K^{\top }}{\sqrt{d_{k}}}\right)\,V")
    assert second == r"Q\,(n,\ d)\qquad K^{\top }\,(d,\ n)"  # in pieces that can wrap
    assert formula("a = b\ny = a ∘ b  ∘ is the product") == (
        r"a = b \newline y = a \circ  b\qquad \circ \ \text{is}\ \text{the}\ \text{product}"
    )  # a remark makes no columns


def names(text: str) -> list[str]:
    """Return the letters and digits of a text, in their order, without those of TeX's own words."""
    text = re.sub(r"\\begin\{array\}\{l+\}|\\end\{array\}", "", text)
    text = re.sub(r"\\(operatorname|text(?:style)?|mathrel|frac|sqrt|hat|bar|tilde)(?![a-z])", "", text)
    return re.findall(r"[A-Za-z0-9]", re.sub(r"\\[a-zA-Z]+", " ", text))


def test_nothing_of_any_formula_of_the_course_is_lost_or_moved() -> None:
    found = 0
    for page in sorted(ROOT.glob("stages/*/README.md")):
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            if (tex := formula(block)) is None:
                continue
            found += 1
            plain = unicodedata.normalize("NFKD", block)
            for greek in re.findall(r"[^\x00-\x7f]", plain):
                plain = plain.replace(greek, " ")
            raised = re.sub(r"\^\{\\top \}", "^{T}", tex)
            assert names(raised) == re.findall(r"[A-Za-z0-9]", plain), (page.parent.name, block, tex)
            assert tex.count("{") == tex.count("}")
    assert found > 80


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("so Q = X W_Q, K = X W_K, and", ["Q = X W_Q", "K = X W_K"]),
        ("of a weight w is w(1 − w), next", ["w(1 − w)"]),
        ("divided by √d_k, of (seq_q, d_k) numbers", ["√d_k", "(seq_q, d_k)"]),
        ("is ∂wᵢ/∂sⱼ = wᵢ(δᵢⱼ − wⱼ): a Jacobian", ["∂wᵢ/∂sⱼ = wᵢ(δᵢⱼ − wⱼ)"]),
        ("H = I − 2 v vᵀ mirrors", ["H = I − 2 v vᵀ"]),
        ("f(x) = x³ at x = 2", ["f(x) = x³", "x = 2"]),
        ("the mean(x²) + ε below", ["mean(x²) + ε"]),
    ],
)
def test_formulas_are_found_in_the_middle_of_words(text: str, found: list[str]) -> None:
    pieces = inline_formulas(text)
    assert [piece for piece, tex in pieces if tex] == found
    assert "".join(piece for piece, _ in pieces) == text


@pytest.mark.parametrize(
    "text",
    [
        "a word, and a K or an I of (batch, seq) words",
        "s01 to s05, 12 to 13 hours, 3/4 of all and/or 50 % of it",
        "num_heads and grad_output, read_page, x-axis, 3-dimensional",
        "f(x + h) ≈ f(x) + h f'(x)",  # half of a formula is worse than none
        "2026-11-21, v0.1.0, C++ and I/O",
        "it's Ada's, don't",
        "",
    ],
)
def test_words_are_no_formulas(text: str) -> None:
    assert [tex for _, tex in inline_formulas(text) if tex] == []


def test_no_page_has_half_of_a_formula() -> None:
    """A formula ends where words, a comma, a bracket or the end of a sentence follow."""
    from grader.web.markdown import _inner, _reader

    odd, count = [], 0
    for page in sorted((ROOT / "stages").glob("*/README.md")):
        for token in _inner(_reader().parse(page.read_text(encoding="utf-8"))):
            pieces = inline_formulas(token.content) if token.type == "text" else []
            for (_, tex), (behind, _) in pairwise(pieces):
                count += bool(tex)
                odd += [(tex, behind)] if tex and behind[0] not in " ,.;:)]?!'…%⌉⌋–" else []
    assert odd == [] and count > 500
