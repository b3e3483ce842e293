"""How a value of the reference is called by somebody who has never seen it: its public name, or what it is made of."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.diagnosis.slips.wording.nouns import LIBRARIES, NOUNS, SYMBOLS, axis_named


def words_of(texts: Iterable[str]) -> frozenset[str]:
    """Return the names that stand in texts which a learner has: README, docstrings, signatures."""
    return frozenset(word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text))


MOST_QUOTED = 24  # characters of a part of an array
MOST_WRITTEN = 48  # of a term


@dataclass(frozen=True)
class Vocabulary:
    """What a learner knows by name: words of the texts, public functions, names of axes by function and argument.

    made is what each local name of one function was made of, where that is one assignment.
    """

    words: frozenset[str]
    functions: frozenset[str] = frozenset()
    axes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    parameters: frozenset[str] = frozenset()
    made: Mapping[str, ast.expr] = field(default_factory=dict)
    is_own: bool = False  # the text is the learner's, so that short parts of it can stand in a sentence

    def phrase(self, node: ast.AST | None, depth: int = 0) -> str | None:
        """Return how a value is called; None where nothing short and known says it."""
        match node:
            case ast.Constant(value=bool() | None):
                return str(node.value)
            case ast.Constant(value=int() | float()):
                return f"{node.value:g}" if isinstance(node.value, float) else str(node.value)
            case ast.Constant(value=str() as text):
                return text if text.isidentifier() else repr(text)
            case ast.Name():
                return self._name(node, depth)
            case ast.Attribute():
                return self._attribute(node, depth)
            case ast.Subscript():
                return self._subscript(node, depth)
            case ast.Call():
                return self._call(node, depth)
            case ast.UnaryOp(op=ast.USub()):
                inner = self.phrase(node.operand, depth + 1)
                return inner and f"-{inner}"
            case ast.UnaryOp(op=ast.Invert() | ast.Not()):
                inner = self.phrase(node.operand, depth + 1)
                return inner and f"not {inner}"
            case ast.BinOp():
                return self._operation(node, depth)
        return None

    def term(self, node: ast.AST | None) -> str | None:
        """Return how a value is called, else what is known in it: the term with grad_output and the mean."""
        said = self.phrase(node)
        if said or node is None:
            return said
        found: list[str] = []
        for each in ast.walk(node):
            name = self._name(each, 2) if isinstance(each, ast.Name) else None
            noun = NOUNS.get(called(each)) if isinstance(each, ast.Call) else None
            public = called(each) if isinstance(each, ast.Call) and called(each) in self.functions else None
            known = public or name or key_of(each) or noun
            found += [known] if known and known not in LIBRARIES and known != "self" else []
        names = list(dict.fromkeys(found))[:3]
        return f"the term with {' and '.join(names)}" if names else None

    def quote(self, node: ast.AST) -> str | None:
        """Return an expression as its author wrote it; None where it is long, or not the learner's own."""
        text = ast.unparse(node) if self.is_own else ""
        return f"`{text}`" if 0 < len(text) <= MOST_WRITTEN else None

    def names(self, node: ast.AST) -> str | None:
        """Return the one or two names that are known of an expression, such as a condition; None where none is."""
        named = (each for each in ast.walk(node) if isinstance(each, (ast.Name, ast.Attribute)))
        found = (self.phrase(each) for each in named)
        known = dict.fromkeys(
            said for said in found if said and " " not in said and said not in (*LIBRARIES, "len", "self")
        )
        return " and ".join(list(known)[:2]) or None

    def _name(self, node: ast.Name, depth: int) -> str | None:
        if not node.id.startswith("_") and (node.id in self.parameters or node.id in self.words):
            return node.id
        made = self.made.get(node.id)
        return self.phrase(made, depth + 1) if made is not None and depth < 2 else None

    def _attribute(self, node: ast.Attribute, depth: int) -> str | None:
        if isinstance(node.value, ast.Name) and node.value.id == "self":
            plain = node.attr.strip("_")
            known = not node.attr.startswith("_") or node.attr in self.words
            return node.attr if known else plain if plain in self.words else None
        if node.attr == "T":
            inner = self.phrase(node.value, depth + 1)
            return inner and f"{inner} transposed"
        if node.attr == "pi" and is_library(node.value):
            return "pi"
        if node.attr in ("size", "ndim", "shape"):
            inner = self.phrase(node.value, depth + 1)
            said = {"size": "the number of entries", "ndim": "the number of axes", "shape": "the shape"}[node.attr]
            return inner and f"{said} of {inner}"
        return node.attr if node.attr in self.words and not node.attr.startswith("_") else None

    def _subscript(self, node: ast.Subscript, depth: int) -> str | None:
        if key := key_of(node):
            return key
        place = constant_of(node.slice)
        if isinstance(node.value, ast.Attribute) and node.value.attr == "shape" and isinstance(place, int):
            inner = self.phrase(node.value.value, depth + 1)
            return f"the size of {axis_named(place)}{f' of {inner}' if inner else ''}"
        if self.is_own and isinstance(node.value, ast.Name) and len(text := ast.unparse(node)) <= MOST_QUOTED:
            return text
        inner = self.phrase(node.value, depth + 1)
        return inner and f"a part of {inner}" if depth else inner and f"that part of {inner}"

    def _call(self, node: ast.Call, depth: int) -> str | None:
        name = called(node)
        if name in self.functions:
            of = next(filter(None, map(self._main, node.args)), "")
            return f"the result of {name} for {of}" if of else f"the result of {name}"
        noun = NOUNS.get(name)
        if isinstance(node.func, ast.Name) and name in ("max", "min") and len(node.args) > 1 and self.is_own:
            return self.quote(node)  # of two numbers, one is no maximum of the other
        if name == "get" and node.args and isinstance(constant_of(node.args[0]), str):
            return f"what stood under {constant_of(node.args[0])} before"
        if noun is None:
            return None
        own = isinstance(node.func, ast.Attribute) and not is_library(node.func.value)
        source = (
            node.func.value if own and isinstance(node.func, ast.Attribute) else node.args[0] if node.args else None
        )
        inner = self.phrase(source, depth + 1) if depth < 2 else None
        return f"{noun} of {inner}" if inner and " of " not in inner else noun

    def _main(self, node: ast.expr) -> str:
        """Return the first argument or key of a dict that an expression is made of."""
        for each in ast.walk(node):
            if isinstance(each, ast.Name) and each.id in self.parameters:
                return each.id
            if key := key_of(each):
                return key
            if isinstance(each, ast.Name) and each.id in self.made and each is not self.made[each.id]:
                inner = self.made[each.id]
                return next((n.id for n in ast.walk(inner) if isinstance(n, ast.Name) and n.id in self.parameters), "")
        return ""

    def _operation(self, node: ast.BinOp, depth: int) -> str | None:
        if isinstance(node.op, ast.Pow) and constant_of(node.right) == 0.5:
            inner = self.phrase(node.left, depth + 1)
            return f"the square root of {inner}" if inner else "the square root"
        left, right = self.phrase(node.left, depth + 1), self.phrase(node.right, depth + 1)
        if depth > 1 or not left or not right:
            return None
        if isinstance(node.op, ast.MatMult):
            return f"the product of {left} and {right}"
        if " " in left or " " in right:
            said = {ast.Add: "sum", ast.Sub: "difference", ast.Mult: "product", ast.Div: "quotient"}.get(type(node.op))
            simple = said and " of " not in left + right
            return f"the {said} of {left} and {right}" if simple else None
        return f"({left} {SYMBOLS[type(node.op)]} {right})" if type(node.op) in SYMBOLS else None


def pair_of(said: Sequence[str | None]) -> str:
    """Return "K and V" for two known values, the results of one function by what they are for; empty for others."""
    if len(said) != 2 or not said[0] or not said[1] or said[0] == said[1]:
        return ""
    results = [re.fullmatch(r"the result of (\w+) for (\w+)", each) for each in said if each]
    if all(results) and len({each[1] for each in results if each}) == 1:
        return " and ".join(each[2] for each in results if each)
    return f"{said[0]} and {said[1]}"


def constant_of(node: ast.AST | None) -> object:
    """Return the number or text that a node is, a minus sign included; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        return -number if isinstance(number, (int, float)) else None
    return None


def key_of(node: ast.AST) -> str:
    """Return the text that a subscript looks up, such as a key of params; empty for anything else."""
    key = node.slice if isinstance(node, ast.Subscript) else None
    return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""


def called(node: ast.AST | None) -> str:
    """Return the last part of the name that a call calls; empty for what is no call."""
    function = node.func if isinstance(node, ast.Call) else None
    return str(getattr(function, "attr", getattr(function, "id", "")))


def is_library(node: ast.expr) -> bool:
    """Say whether an expression is a module such as np or np.linalg."""
    if isinstance(node, ast.Name):
        return node.id in LIBRARIES
    return isinstance(node, ast.Attribute) and node.attr in LIBRARIES and is_library(node.value)
