"""Formulas as plain text, which holds no TeX, and as MathML, in which nothing is obeyed; code is not touched."""

from __future__ import annotations

import pytest

from grader.course.formulas import formula, in_words, mathml, plain


@pytest.mark.parametrize(
    ("tex", "said"),
    [
        (r"\text{softmax}\left(\frac{Q K^\top}{\sqrt{d_k}}\right) V", "softmax(Q Kᵀ / √d_k) V"),
        (r"\partial w_i / \partial s_j = w_i (\delta_{ij} - w_j)", "∂wᵢ / ∂sⱼ = wᵢ (δᵢⱼ − wⱼ)"),
        (r"\frac{x - \mu}{\sqrt{\sigma^2 + \varepsilon}} \ge 10^{-6}", "(x − μ) / √(σ² + ε) ≥ 10⁻⁶"),
        (r"\frac{a}{2 n} \cdot \frac{1}{2} \cdot \frac{1}{2n} \cdot {}^\top", "a / (2 n) · 1/2 · 1/(2n) · ᵀ"),
        (r"\frac{(a + b) c}{d}", "(a + b) c / d"),
        (r"x^{0.93} + 10000^{2i/d_\text{model}} + e^{-x^2}", "x^0.93 + 10000^(2i/d_model) + e^(−x²)"),
        (r"e^\text{score} \qquad X_{ik} \quad \sum_k", "e^score        Xᵢₖ    Σ_k"),
        (r"\lVert x \rVert_2 \le \lvert y \rvert", "‖x‖₂ ≤ |y|"),
        (r"\lfloor n / 2 \rfloor = \lbrace 0, 1 \rbrace", "⌊n / 2⌋ = {0, 1}"),
        (r"\hat{y} \text{, the best, } \bar{x} \tilde z", "ŷ, the best, x̄ z̃"),
        (r"\sqrt{2\pi} + \sqrt 2 + \sqrt{f(x)}", "√(2π) + √2 + √(f(x))"),
        (r"\max(0, z) + f'(x)", "max(0, z) + f'(x)"),
        (r"W_Q^i x_", "W_Qⁱ x"),
        (r"a}b", "a"),
    ],
)
def test_a_formula_in_plain_text(tex: str, said: str) -> None:
    assert plain(tex) == said


def test_a_page_has_its_formulas_in_plain_text_and_its_code_as_it_is() -> None:
    page = "By $\\sqrt{d_k}$, not `$x$`:\n\n$$a = b^2$$\n\n$$c\\,d$$\n\nso\n\n```\n$x$ $$y$$\n```\n"
    shown = "By √d_k, not `$x$`:\n\n```text\na = b²\nc,d\n```\n\nso\n\n```\n$x$ $$y$$\n```\n"
    assert in_words(page.replace("\\,", ",")) == shown


def test_a_stroke_of_a_formula_parts_no_cells_of_a_table() -> None:
    assert in_words("| $\\lvert x \\rvert$ | 2 |\n\n$\\lvert x \\rvert$\n") == "| \\|x\\| | 2 |\n\n|x|\n"


@pytest.mark.parametrize("page", ["$5 and $6", "a $ b $ c", "\\$x\\$ or \\$", "US$a$b", "$ x$", "$x\ny$", "$$x"])
def test_money_and_names_are_no_formulas(page: str) -> None:
    assert in_words(page) == page


def test_a_formula_is_mathml_that_says_its_plain_text() -> None:
    made = mathml(r"\sqrt{d_k} \le \text{softmax}(x)")
    assert made is not None and made.startswith('<math xmlns="http://www.w3.org/1998/Math/MathML" display="inline"')
    assert 'alttext="√d_k ≤ softmax(x)"' in made and "<msqrt>" in made and "<mtext>softmax</mtext>" in made
    apart = mathml("x", is_apart=True)
    assert apart is not None and 'display="block"' in apart


def test_operators_and_brackets_have_the_room_of_operators() -> None:
    made = mathml(r"\pm \lfloor \infty x \rfloor")
    assert made is not None and "<mo>±</mo><mo>⌊</mo><mi>∞</mi><mi>x</mi><mo>⌋</mo>" in made


def test_the_sign_of_a_number_is_no_difference() -> None:
    made = mathml(r"[1, -2] = x - y \text{ from } -1")
    assert made is not None and made.count('<mo form="prefix">−</mo>') == 2 and made.count("<mo>−</mo>") == 1


def test_nothing_in_a_formula_is_obeyed() -> None:
    made = mathml(r"x < y \text{<script>\"}")
    assert made is None or "<script" not in made
    made = mathml(r"x < y \text{<script>}")
    assert made is not None and "<mtext>&lt;script&gt;</mtext>" in made and "<mo>&lt;</mo>" in made


@pytest.mark.parametrize("tex", [r"\unknown x", r"\frac{a", r"\frac{a}", "{x", "x_", "x_a_b", "a & b", r"\left( x", ""])
def test_a_wrong_formula_is_none(tex: str) -> None:
    assert mathml(tex) is None


def test_what_stands_apart_or_is_long_has_a_box_of_its_own() -> None:
    assert str(formula("x")).startswith("<math") and str(formula("x", is_apart=True)).startswith('<div class="scroll')
    assert str(formula(" + ".join("abcdefghijk"))).startswith('<span class="scroll formula"><math')
    assert formula("x_") is None
