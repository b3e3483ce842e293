"""Which functions of a module do what they did in an earlier text of it, as far as both texts tell.

What a function does is decided by its own text and by that of everything it leads to, by name. It is a help and no
proof: names can be made up while a module runs. So a text that could do so, in ways that people use, tells nothing.
"""

from __future__ import annotations

import ast
import builtins
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set

from grader.course.stage import STAGES
from grader.submission.source.forbidden.places import BODY, MODULE, Layout
from grader.submission.source.forbidden.reach import mentions, reached
from grader.submission.source.imports import imported, root
from grader.submission.source.looking import laid_out

# Names, and attributes after a dot, by which a function is reached that is not mentioned.
ROUNDABOUT = frozenset({
    "globals", "locals", "vars", "dir", "eval", "exec", "compile", "__import__", "__builtins__",
    ".__dict__", ".__globals__", ".__code__", ".__closure__", ".__wrapped__", ".f_globals", ".f_locals", ".f_back",
    ".tb_frame", ".gi_frame", ".__subclasses__", ".__getattribute__",
})  # fmt: skip
# Packages that show a module nothing of itself; so do modules of earlier stages.
PLAIN = frozenset({
    "__future__", "abc", "bisect", "collections", "contextlib", "copy", "dataclasses", "enum", "fractions", "functools",
    "heapq", "itertools", "math", "numbers", "numpy", "operator", "random", "re", "string", "textwrap", "time", "types",
    "typing", "warnings", STAGES,
})  # fmt: skip
BUILT_IN = frozenset(dir(builtins))
Defined = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


class Unchanged:
    """What one text of a module has kept of another, by the names of its functions and classes."""

    def __init__(self, before: str | None, now: str | None) -> None:
        """Compare two texts; None stands for one that is not known to be read at once, of which nothing is told."""
        texts = [each for each in (before, now) if each is not None]
        layouts = [layout for text in texts if isinstance(layout := laid_out(text), Layout) and _is_plain(layout)]
        self._affected = _affected(list(zip(layouts, texts, strict=True))) if len(layouts) == 2 else None

    def holds(self, names: Iterable[str]) -> bool:
        """Say whether what has these names, methods by their class, does what it did; not so of no name."""
        asked = {_top(name) for name in names}
        return self._affected is not None and bool(asked) and self._affected.isdisjoint(asked)


def _affected(texts: Sequence[tuple[Layout, str]]) -> frozenset[str] | None:
    """Return the functions and classes that may do something else in the second of two texts; None: anything may."""
    before, now = (_pieces(layout, text) for layout, text in texts)
    changed = {name for name in before.keys() | now.keys() if before.get(name) != now.get(name)}
    both = before.keys() & now.keys()
    one, other = ([name for name in map(_name, layout.body) if name in both] for layout, _ in texts)
    if one != other or any(_acts(layout, changed) for layout, _ in texts):
        return None
    affected = set(changed)
    for layout, _ in texts:
        affected.update(reached(layout, {*changed, *(owner for owner in layout.owners if _top(owner) in changed)}))
    return None if MODULE in affected else frozenset(map(_top, affected))


def _acts(layout: Layout, changed: Set[str]) -> bool:
    """Say whether a function or class that changed does something while the module is loaded, beside being there.

    A decorator may keep it, a default may be drawn, a class may be told of those that are derived from it.
    """
    imported_names = {name for node in layout.binding for name in _imports(node)}
    known = (BUILT_IN | imported_names) - layout.owners
    owners = {id(node): place.owner for node, place in layout}
    has_hooks = any(owner.endswith((".__init_subclass__", ".__set_name__")) for owner in layout.owners)
    for statement in layout.body:
        if not isinstance(statement, Defined) or statement.name not in changed:
            continue
        if isinstance(statement, ast.ClassDef) and (has_hooks or statement.keywords):
            return True
        own = {each.name for each in statement.body if isinstance(each, Defined)}
        for node in ast.walk(statement):
            if owners.get(id(node)) != MODULE:
                continue
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known | own:
                return True
            if isinstance(node, ast.Attribute) and node.attr == "random":
                return True
    return False


def _imports(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Import | ast.ImportFrom):
        yield from (alias.asname or root(alias.name) for alias in node.names)


def _name(statement: ast.stmt) -> str:
    return statement.name if isinstance(statement, Defined) else MODULE


def _pieces(layout: Layout, text: str) -> Mapping[str, list[str]]:
    """Return the lines of each function and class of a module, and of what stands between them."""
    lines = text.split("\n")
    found: defaultdict[str, list[str]] = defaultdict(list)
    for statement in layout.body:
        first = [statement.lineno]
        if isinstance(statement, Defined):
            first += [each.lineno for each in statement.decorator_list]
        found[_name(statement)].append("\n".join(lines[min(first) - 1 : statement.end_lineno]))
    return found


def _top(owner: str) -> str:
    return owner.partition(".")[0].removesuffix(BODY)


def _is_plain(layout: Layout) -> bool:
    """Say whether all that a module leads to is mentioned in it."""
    loads = (node for node in layout.nodes if isinstance(node, ast.Import | ast.ImportFrom))
    return ROUNDABOUT.isdisjoint(mentions(layout)) and all(
        root(name) in PLAIN for node in loads for name in imported(node)
    )
