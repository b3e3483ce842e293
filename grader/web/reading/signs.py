"""What the signs of a formula in plain text are called in TeX."""

from __future__ import annotations

RAISED = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁽⁾ⁿⁱᵗᵏʰˡᵐˢᵀ", [*"0123456789+-()nitkhlms", "\\top "], strict=True))
LOWERED = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₍₎ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ", "0123456789+-()aehijklmnoprstuvx", strict=True))
RELATIONS = {
    "=": "=", "≤": "\\le ", "≥": "\\ge ", "<": "<", ">": ">", "≈": "\\approx ", "≠": "\\ne ", "←": "\\leftarrow ",
    "∝": "\\propto ", "∈": "\\in ", "→": "\\to ", "≡": "\\equiv ",
}  # fmt: skip
OPERATORS = {
    "+": "+", "−": "-", "-": "-", "·": "\\cdot ", "×": "\\times ", "∘": "\\circ ", "/": "/", "⊙": "\\odot ",
    "±": "\\pm ", "*": "*",
}  # fmt: skip
SYMBOLS = {
    "Σ": "\\textstyle\\sum ", "Π": "\\textstyle\\prod ", "∞": "\\infty ", "…": "\\ldots ", "∂": "\\partial ",
    "∇": "\\nabla ", "|": "|", "‖": "\\|", ":": "{:}", ";": ";", ",": ",", ".": ".", "%": "\\%", "!": "!",
    "½": "\\tfrac12 ", "?": "?", "–": "\\text{–}", "'": "'",
}  # fmt: skip
OPENING = {"(": "(", "[": "[", "{": "\\{", "⌈": "\\lceil ", "⌊": "\\lfloor "}
CLOSING = {")": ")", "]": "]", "}": "\\}", "⌉": "\\rceil ", "⌋": "\\rfloor "}
PAIRS = {"(": ")", "[": "]", "{": "}", "⌈": "⌉", "⌊": "⌋"}
GREEK = {
    "α": "\\alpha", "β": "\\beta", "γ": "\\gamma", "δ": "\\delta", "ε": "\\varepsilon", "ζ": "\\zeta", "η": "\\eta",
    "θ": "\\theta", "ι": "\\iota", "κ": "\\kappa", "λ": "\\lambda", "μ": "\\mu", "ν": "\\nu", "ξ": "\\xi",
    "π": "\\pi", "ρ": "\\rho", "σ": "\\sigma", "τ": "\\tau", "υ": "\\upsilon", "φ": "\\varphi", "χ": "\\chi",
    "ψ": "\\psi", "ω": "\\omega", "Γ": "\\Gamma", "Δ": "\\Delta", "Θ": "\\Theta", "Λ": "\\Lambda", "Ξ": "\\Xi",
    "Φ": "\\Phi", "Ψ": "\\Psi", "Ω": "\\Omega",
}  # fmt: skip
HATS = {"\u0302": "\\hat", "\u0304": "\\bar", "\u0303": "\\tilde"}  # combining marks behind a letter
# Words of two letters, which are no products.
SHORT = frozenset((
    "an", "as", "at", "be", "by", "do", "he", "if", "in", "is", "it", "me", "my", "no", "of", "on", "or", "so",
    "to", "up", "us", "we",
))  # fmt: skip
FUNCTIONS = frozenset((
    "softmax", "exp", "log", "ln", "sin", "cos", "tan", "tanh", "max", "min", "mean", "sqrt", "sign", "erf",
    "floor", "ceil", "sum", "std", "var", "sigmoid", "relu", "argmax", "diag",
))  # fmt: skip
