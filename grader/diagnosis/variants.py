"""Many changed forms of a function in one definition: a number chooses which changes are in force.

Compiling a function once for each change takes half a second; one that holds all of them, behind switches, a twentieth.
Source: Untch, Offutt and Harrold 1993, mutation analysis using mutant schemata.
"""

from __future__ import annotations

import ast
import marshal
from collections.abc import Mapping, Sequence
from typing import Any

from grader.course.mutants import replaced
from grader.diagnosis.module_text import BODIES, Change, Function, ModuleText, needs_class, substitute
from grader.diagnosis.trees import placed

SWITCH = "_variant_on"  # the name, in a changed module, of the numbers of the changes in force
STEP = "_variant_step"  # of what each round of a loop and each call of a changed function calls first
PUT, NEW = "_variant_put", "_variant_new"
FILE = "<changed>"
LEFT = ("decorator_list", "annotation", "returns", "bases", "ctx", "op", "ops", "type_params", "args")
WITHIN = (ast.Slice, ast.keyword, ast.Starred, ast.comprehension, ast.JoinedStr, ast.FormattedValue, ast.withitem)
LOOPS = (ast.For, ast.While)


class Switched:
    """Builds the definition of one function with each change behind its switch."""

    def __init__(
        self, node: Function, changes: Sequence[tuple[int, Change]], watch: Mapping[int, Any] | None = None
    ) -> None:
        self._node = node
        self._at: dict[int, list[tuple[int, Any]]] = {}
        self._watch = watch or {}  # what wraps an expression, by the id of the node
        holders = _anchors(node, {id(old) for _, (old, _) in changes})
        for number, (old, new) in changes:
            anchor = holders.get(id(old))
            if anchor is None:
                continue
            made = new if anchor is old else substitute(anchor, old, new)
            if isinstance(anchor, ast.stmt) and not isinstance(made, list):
                made = [made]
            made = [_counted(each) for each in made] if isinstance(made, list) else made
            self._at.setdefault(id(anchor), []).append((number, made))

    def definition(self) -> Function:
        """Return the definition; what does not change is shared."""
        result: Function = replaced(self._node, body=[_step(), *self._body(self._node.body)])
        return result

    def _body(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        return [made for each in body for made in self._statement(each)]

    def _statement(self, node: ast.stmt) -> list[ast.stmt]:
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in BODIES and value:
                first = [_step()] if name == "body" and isinstance(node, LOOPS) else []
                fields[name] = [*first, *self._body(value)]
            elif name == "handlers" and value:
                fields[name] = [replaced(each, body=self._body(each.body)) for each in value]
            elif name not in LEFT and not isinstance(node, (ast.ClassDef, ast.Global, ast.Nonlocal)):
                fields[name] = self._any(value)
        made: list[ast.stmt] = [replaced(node, **fields)]
        for number, other in self._at.get(id(node), ()):
            made = [ast.If(_chosen(number), other or [ast.Pass()], made)]
        return made

    def _any(self, value: Any) -> Any:
        if isinstance(value, list):
            made = [self._any(each) for each in value]
            return made if any(a is not b for a, b in zip(made, value, strict=True)) else value
        return self._expression(value) if isinstance(value, ast.AST) else value

    def _expression(self, node: Any) -> Any:
        fields: dict[str, Any] = {}
        for name, value in ast.iter_fields(node):
            if name in LEFT and not (name == "args" and isinstance(node, ast.Call)):
                continue
            if isinstance(value, (ast.AST, list)):
                made = self._any(value)
                if made is not value:
                    fields[name] = made
        result = replaced(node, **fields) if fields else node
        for number, other in self._at.get(id(node), ()):
            result = ast.IfExp(_chosen(number), other, result)
        wrap = self._watch.get(id(node))
        return result if wrap is None else wrap(result)


def _anchors(node: Function, wanted: set[int]) -> dict[int, ast.AST]:
    """Return the nearest statement or expression that can stand behind a switch, for each node that is wanted."""
    found: dict[int, ast.AST] = {}

    def visit(each: ast.AST, anchor: ast.AST | None, is_fixed: bool) -> None:
        is_store = isinstance(getattr(each, "ctx", None), (ast.Store, ast.Del))
        own_fixed = is_fixed or is_store or isinstance(each, (ast.JoinedStr, ast.arguments))
        can = isinstance(each, ast.expr) and not own_fixed and not isinstance(each, WITHIN)
        if can and isinstance(each, ast.Tuple) and any(isinstance(e, (ast.Slice, ast.Starred)) for e in each.elts):
            can = False
        mine = each if isinstance(each, ast.stmt) or can else anchor
        if id(each) in wanted and mine is not None:
            found.setdefault(id(each), mine)
        inner_fixed = False if isinstance(each, ast.stmt) else own_fixed
        for child in ast.iter_child_nodes(each):
            fixed = inner_fixed or (isinstance(each, ast.FunctionDef) and child in each.decorator_list)
            visit(child, mine, fixed)

    for statement in node.body:
        visit(statement, None, False)
    return found


def _counted(node: ast.stmt) -> ast.stmt:
    """Return a statement of which each round of a loop is counted."""
    fields: dict[str, Any] = {}
    for name in BODIES:
        body = getattr(node, name, None)
        if isinstance(body, list) and body:
            first = [_step()] if name == "body" and isinstance(node, LOOPS) else []
            fields[name] = [*first, *map(_counted, body)]
    result: ast.stmt = replaced(node, **fields) if fields else node
    return result


def _step() -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name(STEP, ast.Load()), [], []))


def _chosen(number: int) -> ast.expr:
    return ast.Compare(ast.Constant(number), [ast.In()], [ast.Name(SWITCH, ast.Load())])


def code_of(module: ModuleText, definitions: Mapping[str, Function]) -> list[bytes]:
    """Return codes that put other definitions of functions in place, in a module that is loaded.

    Raises ValueError where one has to be compiled inside its class: then the whole module is loaded anew.
    """
    codes = []
    for name, definition in definitions.items():
        if needs_class(module.functions[name]):
            raise ValueError(f"{name} has to be compiled with its class")
        owner, _, own = name.rpartition(".")
        holder: ast.expr = ast.Name(owner, ast.Load()) if owner else ast.Constant(None)
        put = ast.Expr(ast.Call(ast.Name(PUT, ast.Load()), [holder, ast.Constant(own), ast.Name(NEW, ast.Load())], []))
        made = replaced(definition, name=NEW, decorator_list=module.functions[name].decorator_list)
        codes.append(compiled([made, put]))
    return codes


def compiled(body: Sequence[ast.stmt]) -> bytes:
    """Return the code of statements as marshal writes it."""
    for each in body:
        if not hasattr(each, "lineno"):
            each.lineno = each.end_lineno = 1
            each.col_offset = each.end_col_offset = 0
    return marshal.dumps(compile(ast.Module([placed(each) for each in body], []), FILE, "exec", dont_inherit=True))
