"""The letters of einsum: two in each other's places, or one for another that the subscripts have as well."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import combinations

from grader.diagnosis.slips.wording.phrases import called

MOST = 60  # other subscripts of one call
_SUBSCRIPTS = re.compile(r"[A-Za-z]+(,[A-Za-z]+)*->[A-Za-z]*")


def letters(node: ast.AST, holder: ast.AST) -> Iterator[ast.AST]:
    """Yield other subscripts of a call of einsum that says what it gives: the result's letters first."""
    text = node.value if isinstance(node, ast.Constant) else None
    is_first = isinstance(holder, ast.Call) and called(holder) == "einsum" and holder.args[:1] == [node]
    if not isinstance(text, str) or not is_first or not _SUBSCRIPTS.fullmatch(plain := text.replace(" ", "")):
        return
    found = dict.fromkeys(each for each in _others(plain) if each != plain)
    yield from (ast.Constant(each) for each in list(found)[:MOST])


def _others(text: str) -> Iterator[str]:
    """Yield subscripts in which one part is another."""
    before, _, result = text.partition("->")
    operands = before.split(",")
    yield from (f"{before}->{each}" for each in _swapped(result))
    for place, operand in enumerate(operands):
        for other in (*_swapped(operand), *_exchanged(operand, sorted(set(before) - {","}))):
            joined = ",".join([*operands[:place], other, *operands[place + 1 :]])
            if set(result) <= set(joined):
                yield f"{joined}->{result}"


def _swapped(part: str) -> Iterator[str]:
    """Yield a part with two of its letters in each other's places."""
    for one, other in combinations(range(len(part)), 2):
        letters = list(part)
        letters[one], letters[other] = letters[other], letters[one]
        yield "".join(letters)


def _exchanged(part: str, known: list[str]) -> Iterator[str]:
    """Yield a part with one of its letters another that the subscripts have and it has not."""
    for place in range(len(part)):
        for letter in known:
            if letter not in part:
                yield part[:place] + letter + part[place + 1 :]
