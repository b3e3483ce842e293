"""Stubs made from solutions: docstrings and signatures stay, bodies go, so that the contract cannot drift."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def stub_of(solution: str) -> str:
    """Return the stub of a solution's text: the module's docstring, NumPy, and its public functions and classes.

    Each body becomes `raise NotImplementedError("name")`. Names with a leading underscore are left out, but for
    __init__; so are assignments, for a constant may give an answer away.
    """
    tree = ast.parse(solution)
    parts = [_docstring(tree, solution, "")] if ast.get_docstring(tree) is not None else []
    imports = [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    parts.append("\n".join(line for line in imports if line == "import numpy as np") + "\n")
    parts += [
        "\n" + "".join(_stripped(node, solution, "", ""))
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]
    return "\n".join(part for part in parts if part.strip())


def _stripped(node: ast.FunctionDef | ast.ClassDef, source: str, indent: str, prefix: str) -> Iterator[str]:
    name = prefix + node.name
    for decorator in node.decorator_list:
        yield f"{indent}@{ast.unparse(decorator)}\n"
    inner = indent + "    "
    if isinstance(node, ast.FunctionDef):
        yield _signature(node, source)
        yield _docstring(node, source, inner)
        yield f'{inner}raise NotImplementedError("{name}")\n'
        return
    bases = [ast.unparse(base) for base in node.bases]
    yield f"{indent}class {node.name}({', '.join(bases)}):\n" if bases else f"{indent}class {node.name}:\n"
    yield _docstring(node, source, inner)
    for child in node.body:
        if isinstance(child, ast.FunctionDef) and (child.name == "__init__" or not child.name.startswith("_")):
            yield "\n"
            yield from _stripped(child, source, inner, f"{name}.")


def _signature(node: ast.FunctionDef, source: str) -> str:
    """Return the lines of a function from def to the colon before its body, as they were written."""
    lines = source.splitlines(True)
    return "".join(lines[node.lineno - 1 : node.body[0].lineno - 1])


def _docstring(node: ast.Module | ast.FunctionDef | ast.ClassDef, source: str, indent: str) -> str:
    if ast.get_docstring(node) is None:
        return ""
    first = node.body[0]
    return "".join(source.splitlines(True)[first.lineno - 1 : first.end_lineno])
