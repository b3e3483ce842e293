"""Formulas as READMEs have them, in blocks of plain text with Unicode's signs, turned into TeX sign by sign.

Nothing is left out, moved or simplified: only a quotient whose parts are plain to see is set as a fraction. A block
that holds anything else than formulas (a drawing, a matrix laid out in columns, code) stays the text that it is.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

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


_TOKEN = re.compile(
    r"(?P<space> )|(?P<number>\d+(?:\.\d+)?(?:e[-−]?\d+)?)|(?P<assign>[-+−*/]=)"
    r"|(?P<word>[A-Za-z][A-Za-z0-9]*(?:-[a-z]{3,})+|[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*(?:'s\b)?)"
    r"|(?P<dots>\.\.\.)|(?P<sign>.)",
    re.DOTALL,
)


@dataclass(frozen=True)
class Token:
    """A piece of a formula; kind says how it stands to its neighbours: word, letter, number, relation and so on."""

    kind: str
    tex: str
    text: str = ""


class NoFormulaError(Exception):
    """What a text has that no formula has."""


def tokens_of(text: str) -> list[Token]:
    """Return the tokens of one piece of a line; NoFormulaError for a sign that no formula has."""
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, piece = str(match.lastgroup), match[0]
        if kind == "space":
            found.append(Token("space", ""))
        elif kind == "number":
            found.append(Token("number", f"\\text{{{piece}}}" if "e" in piece else piece))
        elif kind == "assign":
            found.append(Token("relation", f"\\mathrel{{{OPERATORS[piece[0]]}{{=}}}}"))
        elif kind == "dots":
            found.append(Token("letter", "\\ldots "))
        elif kind == "word":
            found.append(_word(piece))
        elif piece == "_" or piece == "^" or piece == "√":
            found.append(Token(piece, piece))
        else:
            found.append(_sign(piece))
    return _articles(found)


def _articles(tokens: list[Token]) -> list[Token]:
    """Return tokens in which an "a" before a word is one, and no letter."""
    ahead = [*tokens[2:], *tokens[:2]]
    return [
        Token("word", "\\text{a}") if (token.tex, after.kind) == ("a", "word") and place + 2 < len(tokens) else token
        for place, (token, after) in enumerate(zip(tokens, ahead, strict=True))
    ]


def _sign(sign: str) -> Token:
    tables = (("relation", RELATIONS), ("operator", OPERATORS), ("open", OPENING), ("close", CLOSING),
              ("raised", RAISED), ("lowered", LOWERED), ("hat", HATS), ("symbol", SYMBOLS))  # fmt: skip
    for kind, table in tables:
        if sign in table:
            return Token(kind, table[sign], sign)
    if sign in GREEK:
        return Token("letter", f"{GREEK[sign]} ")
    raise NoFormulaError(sign)


def _word(name: str) -> Token:
    """Return a name: a letter, with what stands below it, in italics; a function or a word upright."""
    base, *below = name.split("_")
    if name in FUNCTIONS:
        return Token("function", f"\\operatorname{{{name}}}")
    if re.fullmatch(r"d?[A-Za-z]\d?|[a-z]{2}", base) and len(below) <= 1 and base not in SHORT:
        letter = re.sub(r"(\d)$", r"_{\1}", base) if not below else base
        under = "".join(part if len(part) == 1 else f"\\text{{{part}}}" for part in below)
        return Token("letter", f"{letter}_{{{under}}}" if under else letter)
    if len(below) == 1 and len(below[0]) == 1:
        return Token("name", f"\\text{{{base}}}_{{{below[0]}}}")
    quoted = name.replace("_", "\\_").replace("'", "’")
    return Token("name" if "_" in name else "word", f"\\text{{{quoted}}}")


TALL = "\\mathopen{}\\left(", "\\right)"
SPACED = (",", ";", ":")  # have room behind them
REACHING = ("Σ", "Π", "∂", "∇", "|", "‖")  # what follows them belongs to them, however far
NEXT_LINE = " \\newline "  # live.js sets what stands between by itself, so that it can wrap
MOST_LINES, MOST_COLUMNS = 12, 160
PROSE = 0.5  # a line of which more is words is a sentence
_GAP = re.compile(r" {2,}")
_CODE = re.compile(r"[A-Za-z_)]\.[A-Za-z_]|==|[@#`\"\\]|^(?:for|while|if|def|return|encode:|decode:)\b", re.MULTILINE)
_LONE = re.compile(r"(?:^|  )[−-]?\d[\d.]*(?=$|  )")  # a number in a column of its own
_AGAIN = re.compile(r"([Σ=≤≥←→]) {2,}")  # a sum, or a relation, that is set apart from what follows
_NUMBERS = re.compile(r"[\[(][^\[\]()=a-zA-Z]*\d +[−-]?\d[^\[\]()]*[\])]|(?<![\w.])\d[\d.]* +[−-]?\d")


def formula(block: str) -> str | None:
    """Return a block of plain text as TeX, a line below the other; None where it holds anything but formulas.

    >>> formula("y = Q Kᵀ / √d_k")
    'y = \\\\frac{Q\\\\,K^{\\\\top }}{\\\\sqrt{d_{k}}}'
    """
    lines = [line.rstrip() for line in unicodedata.normalize("NFD", block).rstrip().split("\n")]
    lines = [_composed(line) for line in lines if line]
    if not lines or len(lines) > MOST_LINES or _CODE.search(block):
        return None
    if any(line[0] == " " or len(line) > MOST_COLUMNS or len(_LONE.findall(line)) > 1 for line in lines):
        return None
    try:
        lines = [_AGAIN.sub(r"\1 ", line) for line in lines]
        lines = _split_alike(lines)
        rows = [[_segment(part) for part in _GAP.split(line)] for line in lines]
    except NoFormulaError:
        return None
    if not any(sign in RELATIONS for line in lines for sign in line):
        return None
    if len(rows) == 1:
        return "\\qquad ".join(rows[0])
    columns = max(map(len, rows))
    if sum(len(row) > 1 for row in rows) < 2 or not _is_aligned(lines):
        return NEXT_LINE.join("\\qquad ".join(row) for row in rows)
    body = " \\\\ ".join(" & \\quad ".join(row) for row in rows)
    return f"\\begin{{array}}{{{'l' * columns}}}{body}\\end{{array}}"


def _split_alike(lines: list[str]) -> list[str]:
    """Return lines that are set apart where others have a gap before the relation that stands in the same column."""
    places = {gap.end() for line in lines for gap in _GAP.finditer(line) if line[gap.end()] in RELATIONS}
    for place in sorted(places, reverse=True):
        if all(line[place - 1 : place] == " " and line[place : place + 1] in RELATIONS for line in lines):
            lines = [f"{line[:place]} {line[place:]}" for line in lines]
    return lines


def _is_aligned(lines: list[str]) -> bool:
    """Say whether the pieces of the lines stand below each other, as columns."""
    plain = [re.sub(f"[{''.join(HATS)}]", "", line) for line in lines]
    begins = [[gap.end() for gap in _GAP.finditer(line)] for line in plain]
    for place in range(max(map(len, begins))):
        here = {each[place] for each in begins if len(each) > place}
        shorter = (len(line) for line, each in zip(plain, begins, strict=True) if len(each) == place)
        if len(here) > 1 or any(length > min(here) for length in shorter):
            return False
    return True


def _composed(line: str) -> str:
    """Return a line with its accents composed, but for the hats that TeX puts on letters."""
    return "".join(
        piece if piece[-1:] in HATS else unicodedata.normalize("NFC", piece)
        for piece in re.findall(r"[^\W\d_][\u0302\u0303\u0304]|.", line)
    )


def _segment(text: str) -> str:
    """Return one piece of a line as TeX; NoFormulaError where it is something else."""
    if _NUMBERS.search(text):
        raise NoFormulaError("columns of numbers")
    tokens = tokens_of(text)
    words = sum(token.kind == "word" for token in tokens)
    rest = sum(token.kind not in ("word", "space") for token in tokens)
    if words > 2 and words > PROSE * (words + rest) and any(token.kind == "relation" for token in tokens):
        raise NoFormulaError("a sentence")
    found, rest_of = _group(tokens, None)
    if rest_of:
        raise NoFormulaError("a bracket that closes nothing")
    return found


def _group(tokens: list[Token], closing: str | None) -> tuple[str, list[Token]]:
    """Return tokens up to a closing bracket as TeX, and those behind it."""
    pieces: list[Token] = []
    while tokens:
        token, *tokens = tokens
        if token.kind == "close":
            if token.text != closing:
                raise NoFormulaError("brackets that do not match")
            return _joined(pieces), tokens
        if token.kind == "open":
            inner, tokens = _group(tokens, PAIRS[token.text])
            begin, end = token.tex, CLOSING[PAIRS[token.text]]
            if "\\frac" in inner and token.text == "(":  # as tall as the fraction, and no wider than before
                begin, end = TALL
            pieces.append(Token("group", f"{begin}{inner}{end}", inner))
        elif token.kind in ("√", "^", "_"):
            tokens = _bound(token.kind, pieces, tokens)
        elif token.kind in ("raised", "lowered", "hat"):
            tokens = _marked(token, pieces, tokens)
        else:
            pieces.append(token)
    if closing is not None:
        raise NoFormulaError("a bracket that is not closed")
    return _joined(pieces), []


def _bound(kind: str, pieces: list[Token], tokens: list[Token]) -> list[Token]:
    """Add a root, or what ^ raises and _ lowers, with the one thing behind it; return the tokens after that."""
    if not tokens or tokens[0].kind in ("space", "close", "relation", "operator"):
        raise NoFormulaError(f"nothing behind {kind}")
    first, *rest = tokens
    if first.kind == "open":
        inner, rest = _group(rest, PAIRS[first.text])
        whole = inner if first.text == "(" else f"{first.tex}{inner}{CLOSING[PAIRS[first.text]]}"
    else:
        own = [first]
        while rest and rest[0].kind in ("raised", "lowered", "hat") and kind == "√":
            own, rest = [Token("letter", _joined(own))], rest
            rest = _marked(rest[0], own, rest[1:])
        whole = _joined(own)
    if kind == "√":
        pieces.append(Token("letter", f"\\sqrt{{{whole}}}"))
    elif pieces and pieces[-1].kind != "space":
        before = pieces.pop()
        pieces.append(Token(_kept(before), f"{before.tex}{kind}{{{whole}}}"))
    else:
        raise NoFormulaError(f"nothing before {kind}")
    return rest


def _marked(first: Token, pieces: list[Token], tokens: list[Token]) -> list[Token]:
    """Add what stands raised or lowered, and all that follows likewise, to what is before it."""
    if not pieces or pieces[-1].kind in ("space", "operator", "relation"):
        raise NoFormulaError("a raised sign with nothing before it")
    before = pieces.pop()
    if first.kind == "hat":
        pieces.append(Token(_kept(before), f"{first.tex}{{{before.tex}}}"))
        return tokens
    inner = first.tex
    while tokens and (tokens[0].kind == first.kind or _comma_within(first.kind, tokens)):
        inner += "," if tokens[0].kind == "symbol" else tokens[0].tex
        tokens = tokens[1:]
    sign = "^" if first.kind == "raised" else "_"
    pieces.append(Token(_kept(before), f"{before.tex}{sign}{{{inner}}}"))
    return tokens


def _comma_within(kind: str, tokens: list[Token]) -> bool:
    return kind == "lowered" and tokens[0].text == "," and len(tokens) > 1 and tokens[1].kind == "lowered"


def _kept(before: Token) -> str:
    return "letter" if before.kind in ("raised", "symbol") else before.kind


def _joined(pieces: list[Token]) -> str:
    """Return pieces in a row, with room where the text has some, and fractions where it is plain what they are."""
    pieces = _fractions(pieces)
    found = ""
    for place, piece in enumerate(pieces):
        if piece.kind != "space":
            found += piece.tex
            continue
        before, after = pieces[place - 1] if place else None, pieces[place + 1] if place + 1 < len(pieces) else None
        if place == 1 and after is not None and (pieces[0].kind, after.kind) == ("operator", "word"):
            found += "\\ "  # the sign itself is spoken of
        elif before is None or after is None or {before.kind, after.kind} & {"relation", "operator"}:
            found += " "
        elif before.text in SPACED or {before.kind, after.kind} & {"word", "name"}:
            found += "\\ "
        else:
            found += "\\,"
    return found.strip()


def _fractions(pieces: list[Token]) -> list[Token]:
    """Set A / B, with room around the stroke, as a fraction: B is one thing, and what A consists of is multiplied."""
    for place, piece in enumerate(pieces):
        if piece.text != "/" or not _has_room(pieces, place):
            continue
        begin, end = _left(pieces, place - 1), _right(pieces, place + 2)
        if begin is None or end is None:
            continue
        above, below = _bare(pieces[begin : place - 1]), _bare(pieces[place + 2 : end])
        made = Token("letter", f"\\frac{{{above}}}{{{below}}}")
        return _fractions([*pieces[:begin], made, *pieces[end:]])
    return pieces


def _has_room(pieces: list[Token], place: int) -> bool:
    around = (place - 1, place + 1)
    return all(0 < each < len(pieces) - 1 and pieces[each].kind == "space" for each in around)


FACTORS = ("letter", "number", "group", "function", "space", "name", "hat")


def _left(pieces: list[Token], end: int) -> int | None:
    """Return where the factors before a stroke begin; None where a word stands among them, or none does."""
    begin = end
    while begin > 0 and (pieces[begin - 1].kind in FACTORS or _is_tight(pieces, begin - 1)):
        begin -= 1
    while begin < end and pieces[begin].kind == "space":
        begin += 1
    ends_well = (
        begin == 0 or pieces[begin - 1].kind in ("space", "relation", "operator") or pieces[begin - 1].text in SPACED
    )
    binds = [each for each in pieces[:begin] if each.kind != "space"][-1:]  # a sum, a word, or another quotient
    bound = any(each.text == "/" or each.kind in ("word", "name") or each.text in REACHING for each in binds)
    return begin if begin < end and ends_well and not bound and _is_product(pieces[begin:end]) else None


def _is_tight(pieces: list[Token], place: int) -> bool:
    """Say whether a piece multiplies its neighbours without any room, as in q·k: they belong together."""
    beside = pieces[max(place - 1, 0) : place + 2]
    return pieces[place].text == "·" and len(beside) == 3 and all(each.kind != "space" for each in beside)


def _is_product(pieces: list[Token]) -> bool:
    """Say whether pieces are multiplied, where each function has its argument in brackets."""
    reaches = (
        each.kind == "function" and len(pieces) > place + 1 and pieces[place + 1].kind != "group"
        for place, each in enumerate(pieces)
    )
    return not any(reaches)


def _right(pieces: list[Token], begin: int) -> int | None:
    """Return where the one thing behind a stroke ends; None where more is multiplied to it."""
    end = begin
    while end < len(pieces) and pieces[end].kind in ("letter", "number", "group", "function", "name"):
        end += 1
    behind = pieces[end + 1] if end + 1 < len(pieces) and pieces[end].kind == "space" else None
    more = behind is not None and (behind.kind not in ("relation", "operator") or behind.text == "/")
    stops = end == len(pieces) or pieces[end].kind == "space" or pieces[end].text in (",", ";", ":")
    return end if end > begin and stops and not more else None


def _bare(pieces: list[Token]) -> str:
    """Return what stands above or below a stroke, without brackets that the stroke makes superfluous."""
    one = pieces[0]
    bracketed = len(pieces) == 1 and one.kind == "group" and one.tex in (f"({one.text})", one.text.join(TALL))
    return one.text if bracketed else _joined(pieces)


_SUPS, _SUBS = re.escape("".join(RAISED)), re.escape("".join(LOWERED))
_MARKS = rf"[{_SUPS}]*[{_SUBS}]*[{_SUPS}]*"
_GREEK = re.escape("".join(GREEK))
_NUMBER = r"\d+(?:[.,]\d+)*(?![\w%])"
_NAME = rf"(?:d?[A-Za-z{_GREEK}]|seq)_(?:[A-Za-z0-9]|model|head|in|out)(?![A-Za-z0-9_])"
_LETTER = rf"(?:[∂∇]?(?:d(?=[A-Z]))?[A-Za-z{_GREEK}])(?![A-Za-z0-9_'’-])"
_CALL = rf"(?:{'|'.join(sorted(FUNCTIONS, key=len, reverse=True))})(?=\()"
_BASE = rf"(?:{_NAME}|{_LETTER}|{_NUMBER}|\d+(?=[A-Za-z√{_GREEK}]\b)|[Σ∞½])"
_FLAT = rf"[−-]?(?:√?(?:{_BASE}|(?<=√)\([^()\s]+\)){_MARKS})+"
_BESIDE = rf" (?=[√∂∇Σ]|{_NAME}|{_CALL}|(?![aAI] ){_LETTER})"  # a product, and no article
_SIGNS = "=≤≥<>≈≠∝∈←+−·×∘⊙±/"
_OPERATOR = rf"(?: [{_SIGNS}] |[·×∘⊙/]|{_BESIDE})"


def _nested(depth: int) -> str:
    """Return the pattern of formulas with so many brackets within each other."""
    if depth == 0:
        return rf"{_FLAT}(?:{_OPERATOR}{_FLAT})*"
    inner = _nested(depth - 1)
    group = rf"(?:{_CALL})?[(‖|]{inner}(?:, {inner})*[)‖|]{_MARKS}"
    piece = rf"(?:{_FLAT}(?:{group})?|√?{group})+"
    return rf"{piece}(?:{_OPERATOR}{piece})*"


_INLINE = re.compile(rf"(?<![\w.,/=_'’√{_SUPS}{_SUBS}-])(?:{_nested(2)})(?![\w_=\[]|\.\d)")
_TELLING = re.compile(rf"[{_SUPS}{_SUBS}{_GREEK}√Σ∂∇‖·×∘⊙≤≥≈≠∝∈]|[A-Za-z]_|[A-Za-z)] [=<>+−/] |[=<>+−/] [A-Za-z(√]")


def inline_formulas(text: str) -> list[tuple[str, str]]:
    """Return a text in pieces, each with its TeX if it is a formula in the middle of words, and else with nothing.

    >>> inline_formulas("divided by √d_k, as a K of (1 − w) has")
    [('divided by ', ''), ('√d_k', '\\\\sqrt{d_{k}}'), (', as a K of ', ''), ('(1 − w)', '(1 - w)'), (' has', '')]
    """
    pieces: list[tuple[str, str]] = []
    last = 0
    for found in _INLINE.finditer(text):
        if not _TELLING.search(found[0]) or not _is_whole(text, found) or found[0].endswith("Σ"):
            continue
        try:
            tex = _segment(_composed(unicodedata.normalize("NFD", found[0])))
        except NoFormulaError:
            continue
        pieces += [(text[last : found.start()], ""), (found[0], tex)]
        last = found.end()
    return [piece for piece in (*pieces, (text[last:], "")) if piece[0]]


def _is_whole(text: str, found: re.Match[str]) -> bool:
    """Say whether a formula does not go on in words before or behind it: half of one is worse than none."""
    before, behind = text[: found.start()], text[found.end() :]
    return not (
        re.search(rf"(?:[{_SIGNS}^*] ?|\bΣ\S* |[\w)] ?[(‖|])$", before)
        or re.match(rf" ?[{_SIGNS}^*‖|]| ?Σ|\(| [A-Za-z]'|[{_SUPS}{_SUBS}]", behind)
    )
