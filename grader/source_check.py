"""What can be said about a learner's module from its text alone: does it read, what does it import, what is forbidden.

Everything here looks at the syntax tree; nothing is run. What stands under `if __name__ == "__main__":` is left alone,
because it never runs when a stage is checked: that is the place for trying things out and for plots.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from grader.manifest import OPERATORS, Forbidden, Stage, public_names
from grader.submission import Snapshot

# Functions of numpy that are methods of arrays too: forbidding numpy.dot forbids x.dot().
ARRAY_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "partition", "prod",
    "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "transpose", "var",
})  # fmt: skip
_WIDTH = 76  # of a quoted line
_INDENTATION = "The lines of one block begin in the same column; indent by four spaces."
_TABS = "Tabs and spaces are mixed; indent by four spaces everywhere."


@dataclass(frozen=True)
class Problem:
    """Why a learner's module cannot be graded as it is; the message stands alone, hint says what to do."""

    kind: Literal["syntax", "encoding", "forbidden", "import", "import-error", "missing"]
    message: str
    line: int | None
    hint: str | None


def check_source(stage: Stage, snapshot: Snapshot) -> Problem | None:
    """The first thing that stands in the way: encoding, then syntax, then imports, then what the stage forbids."""
    tree = _parsed(snapshot.source)
    if isinstance(tree, Problem):
        return tree
    _drop_main_block(tree)
    nodes = list(ast.walk(tree))
    return _import_problem(nodes, stage.module) or _forbidden_problem(nodes, stage.forbidden)


def defined_names(source: bytes) -> set[str]:
    """Names that a module's top level binds, as far as its text shows; none where the text is no Python."""
    tree = _parsed(source)
    if isinstance(tree, Problem):
        return set()
    _drop_main_block(tree)
    return {name for statement in tree.body for name in _bound(statement)}


def missing_names(stage: Stage, snapshot: Snapshot) -> tuple[str, ...]:
    """Public names of the stage that the module's text does not define."""
    defined = defined_names(snapshot.source)
    return tuple(name for name in public_names(stage) if name not in defined)


def _bound(statement: ast.stmt) -> Iterator[str]:
    """Names that a statement binds around it; the inside of a function, class or comprehension is its own."""
    queue: list[ast.AST] = [statement]
    while queue:
        match node := queue.pop():
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or _root(alias.name) for alias in aliases)
            case ast.Name(id=name, ctx=ast.Store()):
                yield name
            case ast.AnnAssign(value=None) | ast.comprehension():
                continue
            case _:
                queue.extend(ast.iter_child_nodes(node))


def _parsed(source: bytes) -> ast.Module | Problem:
    text = _decoded(source)
    if isinstance(text, Problem):
        return text
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(source, "<submission>")
            compile(tree, "<submission>", "exec", dont_inherit=True)  # finds what parsing does not: a stray return
    except SyntaxError as error:
        return _syntax_problem(error, text)
    except (RecursionError, MemoryError):
        return Problem("syntax", "an expression or block is nested too deeply for Python to read", None, None)
    except (ValueError, OverflowError, SystemError) as error:
        return Problem("syntax", f"Python cannot read this module: {error}", None, None)
    return tree


def _decoded(source: bytes) -> str | Problem:
    """The text as Python would decode it: by byte order mark or declaration (PEP 263), else UTF-8."""
    if source.startswith((b"\xff\xfe", b"\xfe\xff")):
        return _encoding_problem("the file is saved as UTF-16", 1)
    if b"\0" in source:
        line = _line_at(source, source.index(b"\0"))
        return _encoding_problem(f"line {line} holds a null byte, which no Python text has", line)
    try:
        return source.decode(_encoding(source))
    except UnicodeDecodeError as error:
        line = _line_at(source, error.start)
        what = f"line {line} holds a byte (0x{source[error.start]:02x}) that is not {error.encoding.upper()} text"
        return _encoding_problem(what, line)
    except (SyntaxError, LookupError, UnicodeError) as error:
        return _encoding_problem(f"the encoding that the file declares cannot be used: {_clean(str(error))}", 1)


def _encoding(source: bytes) -> str:
    try:
        return tokenize.detect_encoding(io.BytesIO(source).readline)[0]
    except SyntaxError:
        source.decode()  # a bad byte says more than "invalid or missing encoding declaration"
        raise


def _encoding_problem(message: str, line: int) -> Problem:
    return Problem("encoding", message, line, "Save the file as UTF-8.")


def _line_at(source: bytes, position: int) -> int:
    return len(re.findall(rb"\r\n|\r|\n", source[:position])) + 1


def _syntax_problem(error: SyntaxError, text: str) -> Problem:
    hint = _TABS if isinstance(error, TabError) else _INDENTATION if isinstance(error, IndentationError) else None
    what = _clean(error.msg)
    lines = re.split(r"\r\n|\r|\n", text)
    if not error.lineno or error.lineno > len(lines):
        return Problem("syntax", what, error.lineno, hint)
    quoted = _quoted(lines[error.lineno - 1], (error.offset or 1) - 1)
    return Problem("syntax", f"line {error.lineno}: {what}\n{quoted}", error.lineno, hint)


def _quoted(line: str, column: int) -> str:
    """The learner's line with a caret below the column; of a long line, the part around it."""
    indent = len(line) - len(line.lstrip())
    column = min(max(column, indent), len(line))
    start = indent if column - indent < _WIDTH else column - _WIDTH // 2
    return f"    {_clean(line[start : start + _WIDTH]).rstrip()}\n    {' ' * (column - start)}^"


def _clean(text: str) -> str:
    """A learner's text as a terminal can show it, character for character."""
    return "".join(char if char.isprintable() else " " for char in text)


def _drop_main_block(tree: ast.Module) -> None:
    body: list[ast.stmt] = []
    for statement in tree.body:
        match statement:
            case ast.If(test=ast.Compare(left=left, ops=[ast.Eq()], comparators=[right]), orelse=otherwise):
                body += otherwise if _is_main(left, right) or _is_main(right, left) else [statement]
            case _:
                body.append(statement)
    tree.body = body


def _is_main(name: ast.expr, value: ast.expr) -> bool:
    match name, value:
        case ast.Name(id="__name__"), ast.Constant(value="__main__"):
            return True
    return False


def _import_problem(nodes: Sequence[ast.AST], module: str) -> Problem | None:
    """The first import of something that is not there when the module is checked."""
    foreign: dict[str, int] = {}
    statements = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    for line, name in sorted((node.lineno, name) for node in statements for name in _imported(node)):
        if _root(name) != "numpy" and _root(name) not in sys.stdlib_module_names:
            foreign.setdefault(_root(name) or name, line)
    if not foreign:
        return None
    name, line = next(iter(foreign.items()))
    message = f"line {line}: {name} is imported, but is not there when a stage is checked{_and_more(len(foreign) - 1)}"
    return Problem("import", message, line, _import_hint(name, module))


def _import_hint(name: str, module: str) -> str:
    if name == "grader":
        return "Remove the import: a stage needs nothing from the grader."
    if name == "stages" or name.startswith("."):
        return f"A stage is one file: copy what you need into {module}."
    return f"A stage uses NumPy and the standard library only: write, or copy into {module}, what you need from {name}."


def _and_more(count: int) -> str:
    return f" (and {count} more)" if count else ""


def _imported(node: ast.Import | ast.ImportFrom) -> list[str]:
    """The dotted names that an import statement names; a relative one begins with its dots."""
    names = [alias.name for alias in node.names]
    if isinstance(node, ast.Import):
        return names
    module = "." * node.level + (f"{node.module}." if node.module else "")
    return [module + name for name in names]


def _forbidden_problem(nodes: Sequence[ast.AST], forbidden: Forbidden) -> Problem | None:
    uses = sorted(set(_uses(nodes, forbidden))) if forbidden.operators or forbidden.names else []
    if not uses:
        return None
    (line, _, what), *others = uses
    hint = "Also " + ", ".join(f"{name} in line {at}" for at, _, name in others[:3]) if others else None
    message = f"line {line}: {what} is not allowed in this stage{_and_more(len(others))}. {forbidden.reason}"
    return Problem("forbidden", message, line, hint)


def _uses(nodes: Sequence[ast.AST], forbidden: Forbidden) -> Iterator[tuple[int, int, str]]:
    """Line, column and name of each use of what is forbidden."""
    names = _Names(nodes)
    operators = {OPERATORS[symbol]: symbol for symbol in forbidden.operators}
    methods = ARRAY_METHODS & {name.removeprefix("numpy.") for name in forbidden.names}
    for node in _outermost(nodes):
        used: list[str] = []
        match node:
            case ast.BinOp(op=op) if type(op) in operators:
                used = [operators[type(op)]]
            case ast.AugAssign(op=op) if type(op) in operators:
                used = [f"{operators[type(op)]}="]
            case ast.Import() | ast.ImportFrom():
                used = _covered(forbidden, _imported(node))
            case ast.Call(func=function):
                used = _covered(forbidden, names.paths(node))[:1]
                if not used and not _covered(forbidden, names.paths(function)):
                    used = [f".{name}()" for name in names.array_methods(node) if name in methods]
            case ast.Name(ctx=ast.Load()) | ast.Attribute():
                used = _covered(forbidden, names.paths(node))[:1]
        if isinstance(node, ast.expr | ast.stmt):
            yield from ((node.lineno, node.col_offset, name) for name in used)


def _outermost(nodes: Sequence[ast.AST]) -> Iterator[ast.AST]:
    """Every node, but of a dotted name such as np.linalg.norm only the whole; parents come before their parts."""
    within: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, ast.Attribute):
            within.add(node.value)
        if node not in within or not isinstance(node, ast.Name | ast.Attribute):
            yield node


def _covered(forbidden: Forbidden, paths: Iterable[str]) -> list[str]:
    """Those of the dotted names that are forbidden themselves or lie in a forbidden module."""
    return [path for path in paths if any(f"{path}.".startswith(f"{name}.") for name in forbidden.names)]


class _Names:
    """What the names in a module stand for, as far as its imports and plain assignments tell."""

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._imports: dict[str, set[str]] = {}
        self._stars: list[str] = []
        self._bound: set[str] = set()
        for node in nodes:
            self._learn(node)
        for node in nodes:
            match node:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name() | ast.Attribute() as value):
                    self._imports.setdefault(name, set()).update(p for p in self.paths(value) if _root(p) == "numpy")

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias, path in zip(aliases, _imported(node), strict=True):
                    if alias.name == "*":
                        self._stars.append(path.removesuffix(".*"))
                    elif isinstance(node, ast.Import) and not alias.asname:
                        self._imports.setdefault(_root(path), set()).add(_root(path))
                    else:
                        self._imports.setdefault(alias.asname or alias.name, set()).add(path)
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()):
                self._bound.add(name)
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                self._bound.add(name)

    def paths(self, node: ast.expr) -> list[str]:
        """The dotted names that an expression may stand for; none for a value that the module computes."""
        attributes: list[str] = []
        while isinstance(node, ast.Attribute):
            attributes.append(node.attr)
            node = node.value
        bases: list[str] = []
        match node:
            case ast.Name(id=name):
                bases = self._of_name(name)
            case ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str(name)), *_]):
                bases = [f"{path}.{name}" for path in self.paths(target)]
        return [".".join((base, *reversed(attributes))) for base in bases]

    def _of_name(self, name: str) -> list[str]:
        if known := self._imports.get(name):
            return sorted(known)
        return [] if name in self._bound else [name, *(f"{star}.{name}" for star in self._stars)]

    def array_methods(self, node: ast.expr) -> list[str]:
        """The method that is called on what may be an array: not on the module's own object, nor on another module."""
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="self" | "cls"))):
                return []
            case (
                ast.Call(func=ast.Attribute(value=target, attr=name))
                | ast.Call(func=ast.Name(id="getattr"), args=[target, ast.Constant(value=str(name)), *_])
            ):
                roots = {_root(path) for path in self.paths(target)}
                return [name] if not roots or "numpy" in roots else []
        return []


def _root(path: str) -> str:
    return path.partition(".")[0]
