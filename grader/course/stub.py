"""Stubs made from solutions: docstrings and signatures stay, bodies go, so that the contract cannot drift."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from grader.course.settings import UNSAID
from grader.course.stage import STAGES


def stub_of(solution: str, packages: Collection[str] = UNSAID) -> str:
    """Return the stub of a solution's text: the module's docstring, imports, and its public functions and classes.

    Of the imports those of packages stay, whole modules of the course's and whatever is taken from modules of other
    stages among them, and those that signatures, bases and decorators name. Each body
    becomes `raise NotImplementedError("name")`. Names with a leading underscore are left out, but for __init__; so are
    assignments, for a constant may give an answer away.
    """
    tree = ast.parse(solution)
    parts = [_docstring(tree, solution, "")] if ast.get_docstring(tree) is not None else []
    public = [
        node
        for node in tree.body
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_")
    ]
    named = {name for node in public for name in _named(node)}
    imports = [node for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    parts.append("\n".join(_kept(imports, named, packages)) + "\n")
    parts += ["\n" + "".join(_stripped(node, solution, "", "")) for node in public]
    return "\n".join(part for part in parts if part.strip())


def _kept(imports: list[ast.Import | ast.ImportFrom], named: set[str], packages: Collection[str]) -> Iterator[str]:
    """Yield the imports that a stub has, each as one line; the others may give an answer away."""
    modules = [name for name in packages if name.startswith(f"{STAGES}.")]
    stages = {*modules, *(name.rpartition(".")[0] for name in modules)}
    for node in imports:
        whole = packages if isinstance(node, ast.Import) else ()
        always = isinstance(node, ast.ImportFrom) and (node.module == "__future__" or node.module in stages)
        node.names = [
            each
            for each in node.names
            if always or (each.asname or each.name.partition(".")[0]) in named or each.name in whole
        ]
        if node.names:
            yield ast.unparse(node)


def _named(node: ast.FunctionDef | ast.ClassDef) -> Iterator[str]:
    """Yield the names that stand in what a stub keeps of a function or class, beside its body."""
    kept: list[ast.AST] = [*node.decorator_list]
    if isinstance(node, ast.FunctionDef):
        kept += [node.args, *filter(None, [node.returns])]
    else:
        kept += [*node.bases]
        children = [child for child in node.body if isinstance(child, ast.FunctionDef)]
        for child in children:
            if child.name == "__init__" or not child.name.startswith("_"):
                yield from _named(child)
    yield from (name.id for each in kept for name in ast.walk(each) if isinstance(name, ast.Name))


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
