"""Stubs made from solutions, and excerpts of a reference without docstrings."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

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
    parts.append(_sections(list(_kept(imports, named, packages))))
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


def _sections(imports: list[str]) -> str:
    """Return the imports line by line, those from other stages in a section of their own, as linters expect them."""
    of_stages = [line for line in imports if line.split()[1].partition(".")[0] == STAGES]
    others = [line for line in imports if line not in of_stages]
    return "\n\n".join("\n".join(section) for section in (others, of_stages) if section) + "\n"


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


Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
Import = ast.Import | ast.ImportFrom


@dataclass(frozen=True)
class Excerpt:
    """The text of some functions, in the order of the module, and the names of the helpers and constants in it."""

    text: str
    helpers: tuple[str, ...]


def excerpt_of(source: str, stub: str, names: Collection[str], others: Collection[str] = ()) -> Excerpt:
    """Return the functions, classes and methods (as Class.method) of these names, with what is private to them.

    What a learner has of them in the stub is left out: docstrings, and imports. others are methods that stay out where
    their class is named as a whole. No other public function or class is in it, though one of names may call it.
    """
    tree = ast.parse(source)
    chosen = {name.partition(".")[0]: _chosen(tree, name.partition(".")[0], names, others) for name in names}
    helpers: dict[str, ast.stmt] = {}
    queue: list[ast.AST] = [node for nodes in chosen.values() for node in nodes]
    used: set[str] = set()
    while queue:
        found = {each.id for each in ast.walk(queue.pop()) if isinstance(each, ast.Name)} - used
        used |= found
        for node in (node for node in tree.body if (bound := _bound(node)) & found and _is_helper(node)):
            helpers |= dict.fromkeys(sorted(bound & found), node)
            queue.append(node)
    lines = source.splitlines()
    parts = []
    for node in tree.body:
        if isinstance(node, Definition) and chosen.get(node.name):
            parts.append(_text(node, chosen[node.name], lines))
        elif node in helpers.values():
            parts.append("\n".join(lines[_first(node) - 1 : node.end_lineno]))
    imports = list(_imports(tree, used - {name for node in ast.parse(stub).body for name in _bound(node)}))
    return Excerpt("\n\n\n".join(["\n".join(imports), *parts] if imports else parts) + "\n", tuple(sorted(helpers)))


def _chosen(tree: ast.Module, owner: str, names: Collection[str], others: Collection[str]) -> list[ast.stmt]:
    """Return what belongs to an excerpt of a function (itself) or of a class (statements of its body)."""
    node = next((each for each in tree.body if isinstance(each, Definition) and each.name == owner), None)
    if node is None:
        return []
    if not isinstance(node, ast.ClassDef):
        return [node]
    methods = {each.name: each for each in node.body if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef)}
    wanted = [methods[each] for each in methods if f"{owner}.{each}" in names]
    if owner in names:
        own = {each for each in methods if f"{owner}.{each}" not in others and not _is_private(each)}
        wanted = [methods[each] for each in methods if each in own or f"{owner}.{each}" in names]
    queue = list(wanted)
    while queue:
        asked = {each.attr for each in ast.walk(queue.pop()) if isinstance(each, ast.Attribute)}
        more = [each for name, each in methods.items() if name in asked and _is_private(name) and each not in wanted]
        wanted += more
        queue += more
    docstring = node.body[:1] if ast.get_docstring(node) is not None else []
    fields = [each for each in node.body if each not in methods.values() and each not in docstring]
    return [each for each in node.body if each in wanted or (owner in names and each in fields)]


def _text(node: Definition, inside: list[ast.stmt], lines: list[str]) -> str:
    """Return a definition without its docstring; of a class the statements that belong to the excerpt."""
    if not isinstance(node, ast.ClassDef):
        return "\n".join(_without_docstring(node, lines))
    head = lines[_first(node) - 1 : _first(node.body[0]) - 1]
    head = head[: max(place for place, line in enumerate(head) if line.strip()) + 1]
    texts = ["\n".join(_without_docstring(each, lines)) for each in inside]
    return "\n".join(head) + "\n" + "\n\n".join(texts)


def _without_docstring(node: ast.stmt, lines: list[str]) -> list[str]:
    first, end = _first(node), node.end_lineno or node.lineno
    if not isinstance(node, Definition) or ast.get_docstring(node) is None or len(node.body) == 1:
        return lines[first - 1 : end]
    head, rest = lines[first - 1 : node.body[0].lineno - 1], lines[node.body[0].end_lineno or 0 : end]
    while rest and not rest[0].strip():
        rest = rest[1:]
    return head + rest


def _imports(tree: ast.Module, wanted: Collection[str]) -> Iterator[str]:
    """Yield the imports of these names, each as one line."""
    for node in tree.body:
        if isinstance(node, Import):
            names = [each for each in node.names if _name(each) in wanted]
            if names:
                node.names = names
                yield ast.unparse(node)


def _bound(node: ast.stmt) -> set[str]:
    """Return the names that a statement of a module gives a value."""
    if isinstance(node, Definition):
        return {node.name}
    if isinstance(node, Import):
        return {_name(each) for each in node.names}
    targets: Iterable[ast.expr] = ()
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AnnAssign):
        targets = (node.target,)
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _is_helper(node: ast.stmt) -> bool:
    """Say whether a statement is private to the module: the stub has neither such functions nor any constant."""
    if isinstance(node, Definition):
        return _is_private(node.name)
    return isinstance(node, ast.Assign | ast.AnnAssign)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__")


def _name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _first(node: ast.stmt) -> int:
    """Return the first line of a statement, that of a decorator where it has one."""
    decorators = node.decorator_list if isinstance(node, Definition) else []
    return min([node.lineno, *(each.lineno for each in decorators)])
