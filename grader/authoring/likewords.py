"""Whether a sentence tells what a mutant changes: it has a name, number or operation that one line has, the other not.

A change of order alone is told by words of order; one that takes a whole statement away, by a name of it.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections import Counter

from grader.course.mutants import Mutant

WORDS = {
    "+": r"add|sum|plus", "-": r"subtract|minus|sign|negat|add", "*": r"multiply|multipli|times|product|factor|twice",
    "/": r"divid|quotient|factor|half", "**": r"power|squar|root|cube", "//": r"divid|round|whole",
    "%": r"remainder|modulo|divid", "@": r"product|multiply|multipli", "and": r"\band\b|\bor\b|either|both|condition",
    "or": r"\band\b|\bor\b|either|both|condition", "not": r"\bnot\b|condition", "&": r"both|either|\band\b|mask",
    "|": r"both|either|\bor\b|mask", ":": r"slice|first|last|entr|row|column|all|part|from|up to|end",
    "T": r"transpos", "True": r"always|condition|check|kept|keepdims", "False": r"never|condition|check|refus|skip",
    "-1": r"last", "sum": r"sum|add", "mean": r"mean|average", "sqrt": r"root",
}  # fmt: skip
COMPARED = {"<", "<=", ">", ">=", "==", "!=", "is", "in"}
OF_COMPARING = r"equal|less|great|small|large|least|most|more|strict|condition|compar|where|limit|bound|refus|accept"
OF_ORDER = r"order|swap|exchang|chang\w+ places|other way|turned|instead|where|used|first|before|behind"
PLAIN = {"pass", "(", ")", "[", "]", ",", ".", "=", "{", "}", "np", "self", "return", "if", "for", "while", "elif"}


def names_change(mutant: Mutant, sentence: str) -> bool:
    """Say whether a sentence names what differs between the line before and after a mutant's change."""
    before, after = _tokens(mutant.was), _tokens(mutant.now)
    differing = [token for token in (before - after) + (after - before) if token not in PLAIN]
    if not differing:
        return re.search(OF_ORDER, sentence, re.IGNORECASE) is not None
    return any(_is_told(token, sentence) for token in differing)


def _is_told(token: str, sentence: str) -> bool:
    if token in COMPARED:
        return re.search(OF_COMPARING, sentence, re.IGNORECASE) is not None
    if token in WORDS and re.search(WORDS[token], sentence, re.IGNORECASE):
        return True
    without_place = re.sub(r"\(lines? [\d and]+\)", "", sentence)
    return re.search(rf"(?<!\w){re.escape(token)}(?!\w)", without_place) is not None


def _tokens(line: str) -> Counter[str]:
    """Return the tokens of one line, each as often as it stands there."""
    kinds = (tokenize.NAME, tokenize.NUMBER, tokenize.OP, tokenize.STRING)
    found: Counter[str] = Counter()
    try:
        for each in tokenize.generate_tokens(io.StringIO(line).readline):
            if each.type in kinds:
                found[each.string.strip("'\"")] += 1
    except (tokenize.TokenError, IndentationError):  # a headline that goes on
        pass
    return found
