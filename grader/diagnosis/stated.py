"""The names and numbers that a learner knows: those of the README, of the stub and of the learner's own text."""

from __future__ import annotations

import ast
import builtins
import inspect
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Any

from grader.course.formulas import in_words
from grader.course.stage import Stage
from grader.diagnosis.edits import MODULES
from grader.diagnosis.edits.base import number_in
from grader.diagnosis.module_text import ModuleText
from grader.diagnosis.trees import walk

_WORD, _NUMBER = re.compile(r"[A-Za-z_]\w*"), re.compile(r"(?<![\w.])\d+(?:\.\d*)?(?:e[+-]?\d+)?|\.\d+", re.IGNORECASE)
_QUOTED = re.compile(r'"([A-Za-z_]\w*)"')
_WRITTEN = re.compile(r'written\(\s*f?"([^"]*)"')
COMMON = frozenset((0, 1, 2))  # numbers that stand for themselves
MOST_EXPONENT = 4  # a larger exponent has to be stated


@dataclass(frozen=True)
class Stated:
    """What a text states: the names in it, and the numbers."""

    words: frozenset[str] = frozenset()
    numbers: frozenset[float] = frozenset()

    def __or__(self, other: Stated) -> Stated:
        return Stated(self.words | other.words, self.numbers | other.numbers)

    def allows(self, old: ast.AST, new: Any) -> bool:
        """Say whether what stands in the place of a node brings in only what is stated, or what the edits write."""
        news = new if isinstance(new, list) else [new]
        own, made = of_tree(old), Stated()
        for each in news:
            made |= of_tree(each)
        if not made.words - own.words <= self.words | of_edits():
            return False
        near = {value + step for value in own.numbers for step in (-1, 1) if float(value).is_integer()}
        if not made.numbers - own.numbers <= self.numbers | COMMON | near:
            return False
        powers = {each for node in news for each in _exponents(node)} - _exponents(old)
        return all(abs(each) <= MOST_EXPONENT or each in self.numbers for each in powers)


@cache
def of_edits() -> frozenset[str]:
    """Return the names that edits write of their own: those that stand in quotation marks in their modules."""
    found = {*dir(builtins), *(name for kind in (str, list, dict, set) for name in dir(kind))}
    for module in MODULES:
        source = inspect.getsource(module)
        found |= {*_QUOTED.findall(source), *_WORD.findall(" ".join(_WRITTEN.findall(source)))}
    return frozenset(found)


def of_text(text: str) -> Stated:
    """Return what prose or a program states."""
    return Stated(frozenset(_WORD.findall(text)), frozenset(float(each) for each in _NUMBER.findall(text)))


def of_tree(node: ast.AST) -> Stated:
    """Return the names, attributes, keywords and keys in a tree, and the numbers."""
    words: set[str] = set()
    numbers: set[float] = set()
    for each in walk(node):
        match each:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.arg(arg=word):
                words.add(word)
            case ast.keyword(arg=str(word)):
                words.add(word)
            case ast.Constant(value=str(word)) if "->" in word:  # each letter names an axis
                words |= set(word)
            case ast.Constant(value=str(word)):
                words |= set(_WORD.findall(word))
            case ast.Constant(value=value) if isinstance(value, (int, float)) and not isinstance(value, bool):
                numbers.add(value)
    return Stated(frozenset(words), frozenset(numbers))


def _exponents(node: ast.AST) -> set[float]:
    powers = (each.right for each in walk(node) if isinstance(each, ast.BinOp) and isinstance(each.op, ast.Pow))
    return {value for each in powers if (value := number_in(each)) is not None}


def known_to(stage: Stage, stub_text: str, module: ModuleText) -> Stated:
    """Return what the README, the stub and a learner's module state."""
    own = of_tree(module.tree)
    for name in module.functions:
        own |= Stated(frozenset(name.split(".")))
    return _published(str(stage.readme_path), stub_text) | own


@lru_cache(16)  # of the stage that is graded again and again
def _published(readme: str, stub_text: str) -> Stated:
    try:
        with open(readme, encoding="utf-8") as file:
            return of_text(stub_text) | of_text(in_words(file.read()))
    except OSError:
        return of_text(stub_text)
