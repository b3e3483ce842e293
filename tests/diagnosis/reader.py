"""Reads what is said of a cause as a learner would: nothing foreign, nothing given away, nothing in another tense."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from grader.diagnosis.edits.base import is_small
from grader.diagnosis.module_text import MOST_SHOWN
from grader.diagnosis.stated import Stated, of_edits, of_text, of_tree

FORBIDDEN = (  # of every sentence, known mistakes included: STYLE's list of what is no English
    r"\bis told\b", r"\bstood where\b", r"\bnow so\b", r"\bnow otherwise\b", r"\bof now\b", r"\bthat there is\b",
    r"\bas if .{1,40} were\b", r"\bin each other's places\b", r"\btook no part\b", r"\bonly where it is not so\b",
    r"\bwhat was handed in\b", r"\bsave by\b",
)  # fmt: skip
PAST = (r"\bwas\b", r"\bwere\b", r"\bhad\b", r"\bdid\b", r"\bgave\b", r"\bcame\b", r"\btook\b", r"\bhas been\b")
QUOTED = re.compile(r"`([^`]+)`")


def complaints(text: str, fix: str, source: str, published: str = "", *, is_known: bool = False) -> list[str]:
    """Return what is wrong with the sentences of a cause; published is what README and stub say."""
    prose = QUOTED.sub("", f"{text} {fix}")
    wrong = [f"{pattern} in {prose!r}" for pattern in FORBIDDEN if re.search(pattern, prose, re.IGNORECASE)]
    if is_known:
        return wrong
    wrong += [f"{pattern} in {prose!r}" for pattern in PAST if re.search(pattern, prose)]
    stated = of_text(published) | of_text(source)
    wrong += [f"`{piece}` is not stated" for piece in QUOTED.findall(f"{text} {fix}") if not _is_stated(piece, stated)]
    return wrong + [f"`{piece}` gives the solution away" for piece in _given_away(text, source)]


def _is_stated(piece: str, stated: Stated) -> bool:
    """Say whether the names and numbers of a piece of code are those of a learner, the README, the stub or an edit."""
    own = of_text(piece.rstrip("…"))
    words = {word for word in own.words if not any(known.startswith(word) for known in stated.words)}
    near = {value + step for value in stated.numbers for step in (-1, 1)} | {0, 1, 2}
    is_cut = len(piece) >= MOST_SHOWN or "…" in piece
    return (is_cut or words <= of_edits()) and own.numbers <= stated.numbers | near


def _given_away(text: str, source: str) -> Iterator[str]:
    """Yield the formulas of a text that the learner did not write."""
    try:
        written = {ast.unparse(each) for each in ast.walk(ast.parse(source)) if isinstance(each, (ast.expr, ast.stmt))}
    except SyntaxError:
        return
    plain = re.sub(r"\s", "", source)
    for piece in QUOTED.findall(text):
        try:
            (statement,) = ast.parse(piece.strip()).body
        except (SyntaxError, ValueError):
            continue  # an operator, the head of a block, or what is cut short
        node = statement.value if isinstance(statement, ast.Expr) else statement
        if is_small(node) or ast.unparse(node) in written or re.sub(r"\s", "", piece) in plain:
            continue
        if not _is_call_of_nothing(node) and of_tree(node).words:
            yield piece


def _is_call_of_nothing(node: ast.AST) -> bool:
    """Say whether code is a keyword, a length, or a function without arguments: the name of a step, no formula."""
    if isinstance(node, ast.Assign):
        return is_small(node.value)
    is_length = isinstance(node, ast.Call) and ast.unparse(node.func) == "len" and all(map(is_small, node.args))
    return is_length or (isinstance(node, ast.Call) and all(isinstance(each, ast.Constant) for each in node.args))
