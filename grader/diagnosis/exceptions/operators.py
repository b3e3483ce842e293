"""Sentences about operators of a learner's own classes: which method is missing, or does not take such a value."""

from __future__ import annotations

import ast
import re

from grader.diagnosis.exceptions.place import Place
from grader.diagnosis.exceptions.sizes import Sentence

METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow",
}  # fmt: skip
UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def _between_two(found: re.Match[str], place: Place) -> str:
    sign = found[1].removesuffix(" or pow()").removesuffix("=")
    if sign not in METHODS:
        return ""
    left, right = found[2], found[3]
    own, reflected = f"__{METHODS[sign]}__", f"__r{METHODS[sign]}__"
    mine, theirs = _methods(left, place), _methods(right, place)
    if mine is not None and own not in mine:
        return f"{left} has no method {own}, which `a {sign} b` calls where a is a {left}. Write it in the class."
    if mine is not None:
        return f"{left}.{own} gave NotImplemented for {_one(right)}: it has to compute with {_one(right)}, too."
    if theirs is not None and reflected not in theirs:
        said = f"{right} has no method {reflected}, which `a {sign} b` calls where only b is a {right}."
        return f"{said} Write it in the class."
    return ""


def _before_one(found: re.Match[str], place: Place) -> str:
    own, kind = UNARY[found[1]], found[2]
    methods = _methods(kind, place)
    if methods is None or own in methods:
        return ""
    return f"{kind} has no method {own}, which `{found[1]}a` calls. Write it in the class."


def _one(kind: str) -> str:
    return f"an {kind}" if kind[0].lower() in "aeiou" else f"a {kind}"


def _methods(name: str, place: Place) -> set[str] | None:
    """Return what a class of the module defines, or is given outside; None where it is another's, or extends one."""
    classes = {node.name: node for node in place.tree.body if isinstance(node, ast.ClassDef)}
    found: set[str] = set()
    met = {"object"}
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name in met:  # a name may be defined again from a class that extends it
            continue
        met.add(name)
        if name not in classes or not all(isinstance(base, ast.Name) for base in classes[name].bases):
            return None
        waiting += [base.id for base in classes[name].bases if isinstance(base, ast.Name)]
        for node in classes[name].body:
            if isinstance(node, ast.FunctionDef):
                found.add(node.name)
            elif isinstance(node, ast.Assign):
                found |= {each.id for each in node.targets if isinstance(each, ast.Name)}
        if classes[name].decorator_list or any(_sets(node, name) for node in ast.walk(place.tree)):
            return None  # who knows what it has been given
    return found


def _sets(node: ast.AST, name: str) -> bool:
    """Say whether a node gives a class a method from outside."""
    match node:
        case ast.Attribute(value=ast.Name(id=owner), ctx=ast.Store()):
            return owner == name
        case ast.Call(func=ast.Name(id="setattr"), args=[ast.Name(id=owner), *_]):
            return owner == name
    return False


SENTENCES: tuple[tuple[re.Pattern[str], Sentence], ...] = (
    (re.compile(r"^unsupported operand type\(s\) for ([^:]+): '(\w+)' and '(\w+)'"), _between_two),
    (re.compile(r"^bad operand type for unary ([-+~]): '(\w+)'"), _before_one),
)
