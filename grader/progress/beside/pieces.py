"""The functions and methods of a module's text, without their docstrings, and how each of them is written."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass

Function = ast.FunctionDef | ast.AsyncFunctionDef
LOOPS = (ast.For, ast.AsyncFor, ast.While)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True)
class Piece:
    """One function: its text without docstring, its first line in the module, and what it is made of.

    lines counts those with code; tools are the functions of NumPy that it uses and, as @, the matrix product; form is
    equal for two functions that differ in layout and comments only.
    """

    name: str
    text: str
    line: int
    lines: int
    loops: int
    comprehensions: int
    tools: tuple[str, ...]
    form: str


def pieces(text: str) -> dict[str, Piece]:
    """Return the functions and, as Class.method, the methods of a module, in their order.

    Raises SyntaxError or ValueError where it is no Python, RecursionError or MemoryError where it is too deep.
    """
    tree = ast.parse(text)
    lines = text.splitlines()
    numpy = _names_of_numpy(tree)
    return {name: _piece(name, node, lines, numpy) for name, node in _functions(tree.body)}


def _functions(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, Function]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{owner}{node.name}", node
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node.body, f"{owner}{node.name}.")


def _piece(name: str, node: Function, lines: list[str], numpy: dict[str, str]) -> Piece:
    first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
    body = node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body
    said = range(node.body[0].lineno, (node.body[0].end_lineno or 0) + 1) if body is not node.body else range(0)
    kept = [lines[n - 1] for n in range(first, (node.end_lineno or first) + 1) if n not in said and n <= len(lines)]
    inner = [each for statement in body for each in ast.walk(statement)]
    return Piece(
        name,
        textwrap.dedent("\n".join(kept)).strip("\n"),
        node.lineno,
        sum(bool(line.strip()) and not line.strip().startswith("#") for line in kept),
        sum(isinstance(each, LOOPS) for each in inner),
        sum(isinstance(each, COMPREHENSIONS) for each in inner),
        tuple(dict.fromkeys(_tools(body, numpy))),
        "\n".join([ast.dump(node.args), *map(ast.dump, node.decorator_list), *map(ast.dump, body)]),
    )


def _names_of_numpy(tree: ast.Module) -> dict[str, str]:
    """Return what the module calls NumPy and its functions, and what each of these names stands for."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "numpy":
                    found[alias.asname or "numpy"] = alias.name.replace("numpy", "np", 1) if alias.asname else "np"
        elif isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "numpy":
            module = (node.module or "").replace("numpy", "np", 1)
            found |= {alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names}
    return found


def _tools(body: list[ast.stmt], numpy: dict[str, str]) -> Iterator[str]:
    queue: list[ast.AST] = list(reversed(body))
    while queue:
        node = queue.pop()
        if isinstance(node, ast.MatMult):
            yield "@"
        elif isinstance(node, ast.Attribute) and (name := _dotted(node, numpy)):
            yield name
            continue
        elif isinstance(node, ast.Attribute) and node.attr == "dot":
            yield ".dot"
        elif isinstance(node, ast.Name) and numpy.get(node.id, "np") != "np":
            yield numpy[node.id]
        queue += reversed(list(ast.iter_child_nodes(node)))


def _dotted(node: ast.Attribute, numpy: dict[str, str]) -> str:
    """Return an attribute of NumPy in full, as np.linalg.solve; empty for any other."""
    parts: list[str] = []
    owner: ast.expr = node
    while isinstance(owner, ast.Attribute):
        parts.append(owner.attr)
        owner = owner.value
    if not isinstance(owner, ast.Name) or owner.id not in numpy:
        return ""
    return ".".join([numpy[owner.id], *reversed(parts)])
