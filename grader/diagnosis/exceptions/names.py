"""Sentences about names: a module that was not imported, a name that was mistyped, a variable without a value."""

from __future__ import annotations

import ast
import builtins
import difflib
import re
import sys
from collections.abc import Iterator

from grader.diagnosis.exceptions.place import Place, called
from grader.diagnosis.exceptions.sizes import Sentence

IMPORTS = {"np": "import numpy as np"}
ALIKE, LIKE_BUILTIN = 0.65, 0.8  # how alike a name has to be that may be meant
AT_PROMPT = ("quit", "exit", "copyright", "credits", "license")  # which Python has only where somebody types
BUILTINS = [name for name in dir(builtins) if not name.startswith("_")]
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "@": "matmul", "**": "pow",
}  # fmt: skip
UNARY = {"-": "__neg__", "+": "__pos__", "~": "__invert__"}


def _not_defined(found: re.Match[str], place: Place) -> str:
    name = found[1]
    if name in AT_PROMPT:
        end = " A function ends with `return`." if name in AT_PROMPT[:2] else ""
        return f"{name} is there only where somebody types at Python's prompt.{end}"
    is_module = name in IMPORTS or (name in sys.stdlib_module_names and _has_attribute(name, place))
    if is_module:
        return f"{name} was not imported: `{IMPORTS.get(name, f'import {name}')}` belongs at the top of the file."
    known = sorted(set(_names(place)) - {name})
    near = [each for each in known if each.lower() == name.lower()]
    near = near or difflib.get_close_matches(name, known, 2, ALIKE)
    near = near or [each for each in difflib.get_close_matches(name, BUILTINS, 2, LIKE_BUILTIN) if each != name]
    return f"Nothing is called {name} here. Is {near[0]} meant?" if len(near) == 1 else ""


def _without_value(found: re.Match[str], place: Place) -> str:
    name = found[1]
    if any(isinstance(node, ast.AugAssign) and ast.unparse(node.target) == name for node in place.nodes):
        return f"{name} has no value yet that could be changed here: set it before, such as before the loop."
    return f"{name} has no value yet: no line that sets it ran before this one, be it of a loop or a branch."


def _of_a_library(found: re.Match[str], place: Place) -> str:
    """Name what a module or a class of NumPy or the standard library has, where one name is close."""
    owner, name = found[1] or found[2], found[3]
    module, _, kind = (owner, "", "") if found[1] else owner.rpartition(".")
    if module.partition(".")[0] not in {"numpy", *sys.stdlib_module_names} or module not in sys.modules:
        return ""
    held = getattr(sys.modules[module], kind, None) if kind else sys.modules[module]
    public = [each for each in dir(held) if not each.startswith("_")]
    near = difflib.get_close_matches(name, public, 1, LIKE_BUILTIN)
    before = "." if kind else re.sub("^numpy", "np", owner) + "."
    what = "An array" if owner == "numpy.ndarray" else "NumPy" if module.startswith("numpy") else owner
    return f"{what} has no {before}{name}. Is {before}{near[0]} meant?" if near else ""


def _nobody_types(_: re.Match[str], place: Place) -> str:
    return "input() waits for somebody who types, and nobody does here: what a function needs are its arguments."


def _without_end(_: re.Match[str], place: Place) -> str:
    around = [
        node
        for node in ast.walk(place.tree)
        if isinstance(node, ast.FunctionDef) and node.lineno <= place.line <= (node.end_lineno or 0)
    ]
    inner = max(around, key=lambda node: node.lineno, default=None)
    if inner is None or not any(called(node) == inner.name for node in ast.walk(inner)):
        return "Functions call each other here without end: one of them needs a case in which it calls none."
    if not _may_end(inner):
        return f"{inner.name} calls itself without end: it needs a case that it answers without another call."
    return (
        f"{inner.name} calls itself too often: Python stops after about {sys.getrecursionlimit()} calls within one "
        "another. Check that the case without a call is reached, and sooner; a loop has no such limit."
    )


def _may_end(function: ast.FunctionDef) -> bool:
    """Say whether a function that calls itself has a way through it, or a value, without that call."""
    for node in ast.walk(function):
        match node:
            case ast.If(test, body, orelse) | ast.IfExp(test, body, orelse) if not _calls(test, function.name):
                ways = [each if isinstance(each, list) else [each] for each in (body, orelse)]
                if any(not any(_calls(each, function.name) for each in way) for way in ways):
                    return True
            case ast.BoolOp(values=[first, *_]) if not _calls(first, function.name):
                return True
            case ast.For() | ast.While() | ast.comprehension() | ast.Try() | ast.Match():
                return True
    return False


def _calls(node: ast.AST, name: str) -> bool:
    return any(called(each) == name for each in ast.walk(node))


def _has_attribute(name: str, place: Place) -> bool:
    return any(isinstance(node, ast.Attribute) and ast.unparse(node.value) == name for node in place.nodes)


def _names(place: Place) -> Iterator[str]:
    """Yield the names that the line may use: of the functions around it, and of the module."""
    yield from _set_in(place.tree.body)
    for node in ast.walk(place.tree):
        if isinstance(node, Scope) and node.lineno <= place.line <= (node.end_lineno or 0):
            arguments = node.args
            yield from (each.arg for each in ast.walk(arguments) if isinstance(each, ast.arg))
            yield from _set_in(node.body if isinstance(node.body, list) else [])


def _set_in(body: list[ast.stmt]) -> Iterator[str]:
    """Yield the names that statements set, without those within functions and classes."""
    queue: list[ast.AST] = list(body)
    while queue:
        node = queue.pop()
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.alias(name=name, asname=other):
                yield other or name.partition(".")[0]
        queue += ast.iter_child_nodes(node)


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
    (re.compile(r"^name '(\w+)' is not defined"), _not_defined),
    (re.compile(r"^(?:module '([\w.]+)'|'([\w.]+)' object) has no attribute '(\w+)'"), _of_a_library),
    (re.compile(r"^EOF when reading a line"), _nobody_types),
    (re.compile(r"^maximum recursion depth exceeded"), _without_end),
    (re.compile(r"^cannot access local variable '(\w+)' where it is not associated with a value"), _without_value),
    (re.compile(r"^unsupported operand type\(s\) for ([^:]+): '(\w+)' and '(\w+)'"), _between_two),
    (re.compile(r"^bad operand type for unary ([-+~]): '(\w+)'"), _before_one),
)
