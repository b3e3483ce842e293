"""Uses of what a stage forbids in a module, the ways around names included, and the functions that those concern.

It is a help for learners and no wall: it reads names, and a program can be written whose names say nothing. Begin with
`read_forbidden`; `Layout` says where in the module a node stands.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from grader.course.stage import OPERATORS, Forbidden
from grader.submission.parsing import Problem, SourceFindings, and_more, bound_names, clipped, imported, root

BINDING = frozenset({
    ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
})  # fmt: skip
OPENING = frozenset({
    ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef, ast.ListComp, ast.SetComp, ast.DictComp,
    ast.GeneratorExp, ast.Assign, ast.AnnAssign,
})  # fmt: skip
_IDLE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)
_INERT = (
    ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Attribute, ast.Subscript, ast.Lambda,
    ast.expr_context,
)  # fmt: skip


def parts(node: ast.AST) -> list[ast.AST]:
    """The children of a node that can tell anything; a constant, an operator or a context cannot."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found += [part for part in value if isinstance(part, ast.AST) and not isinstance(part, _IDLE)]
        elif isinstance(value, ast.AST) and not isinstance(value, _IDLE):
            found.append(value)
    return found


def is_inert(expressions: Sequence[ast.expr]) -> bool:
    """Whether expressions only name things: to evaluate them calls nothing; the inside of a lambda is for later."""
    queue: list[ast.AST] = list(expressions)
    while queue:
        node = queue.pop()
        if not isinstance(node, _INERT):
            return False
        queue.extend(parts(node) if not isinstance(node, ast.Lambda) else ())
    return True


def surely_bound(body: Sequence[ast.stmt]) -> dict[str, int]:
    """Return the names that these statements bind whatever happens, with the line after which each is bound."""
    found: dict[str, int] = {}
    for node in body:
        match node:
            case ast.Assign(targets=targets):
                names = [target.id for target in targets if isinstance(target, ast.Name)]
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
                names = [name]
            case _:
                names = bound_names(node)
        for name in names:
            found.setdefault(name, node.end_lineno or node.lineno)
    return found


@dataclass(frozen=True)
class Way:
    """One way around names: what the check cannot see there, and what a learner writes instead."""

    unseen: str
    instead: str


_CODE = Way("code that stands in a string", "Write the code itself where the string is run.")
_IMPORT = Way("a module that is imported by a name in a string", "Write an import at the top, such as import math.")
_TABLE = Way("a name that is looked up in a table", "Write the name itself: math.sqrt. Or make a dict of your own.")
_ATTRIBUTE = Way(
    "an attribute whose name is made while the program runs", 'Write the name out: x.shape, or getattr(x, "shape").'
)
_PASSED = Way(
    "a function that looks up names, handed on as a value", "Call it where you need it, with the name written out."
)
_INSIDE = Way("what is reached through Python's own inside", "Write the names that you use themselves: math.sqrt.")
_HANDED_ON = Way(
    "what a module is used for once it is handed on as a value", "Write math.sqrt, for example, where you use it."
)
CROWDED = Way("which of the many things it stands for is meant", "Give each thing a name of its own.")
PATTERN = Way("an attribute that a pattern takes out", "Write the attribute itself, as in x.shape.")

GETTERS = frozenset({"operator.attrgetter", "operator.methodcaller"})
BUILTINS = {
    "eval": _CODE, "exec": _CODE, "compile": _CODE, "__import__": _IMPORT, "globals": _TABLE, "locals": _TABLE,
    "vars": _TABLE, "getattr": _PASSED, "__builtins__": _TABLE, "__loader__": _IMPORT, "__spec__": _IMPORT,
}  # fmt: skip
ATTRIBUTES = {
    "__dict__": _TABLE, "__globals__": _TABLE, "__builtins__": _TABLE, "f_globals": _TABLE, "f_locals": _TABLE,
    "f_builtins": _TABLE, "__getattribute__": _ATTRIBUTE, "__getattr__": _ATTRIBUTE, "__import__": _IMPORT,
    "__loader__": _IMPORT, "__spec__": _IMPORT, "__subclasses__": _INSIDE, "__code__": _INSIDE, "__self__": _INSIDE,
}  # fmt: skip
PATHS = {
    **dict.fromkeys(("importlib", "imp", "pkgutil", "runpy", "pydoc", "zipimport"), _IMPORT),
    **dict.fromkeys(("code", "codeop", "timeit", "profile", "cProfile", "trace", "bdb", "pdb", "doctest"), _CODE),
    **dict.fromkeys(("typing.get_type_hints", "typing.ForwardRef", "numpy.testing.runstring"), _CODE),
    **dict.fromkeys(("builtins", "sys.modules", "inspect.getmembers", "inspect.getmembers_static"), _TABLE),
    **dict.fromkeys(("operator.attrgetter", "operator.methodcaller"), _PASSED),
    **dict.fromkeys(("inspect.getattr_static", "string.Formatter"), _ATTRIBUTE),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._getframe"), _INSIDE),
    **dict.fromkeys(("sys._current_frames", "sys.settrace", "sys.setprofile", "types.CodeType"), _INSIDE),
    **dict.fromkeys(("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"), _INSIDE),
    **dict.fromkeys(("inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getmodule"), _INSIDE),
    **dict.fromkeys(("pickle", "_pickle", "marshal", "ctypes", "_ctypes", "unittest.mock", "numpy.load"), _INSIDE),
}  # fmt: skip
_PARTS = 3  # of the longest of them
_HELD = frozenset({"sys", "builtins"})  # as attributes of other modules
# Modules whose bare mention hands them on; others are arrays', functions' and arguments' names too often.
_MODULES = frozenset({"operator", "_operator", "sys", "builtins", "importlib"})
FOLLOWED = frozenset(path.partition(".")[0] for path in PATHS) | {"numpy", "operator", "_operator"}

_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_KEYWORDS = {"and": "and_", "or": "or_"}  # the functions of the operator module that Python's keywords would be
# Parts of NumPy that hold its functions once more, under the same last name.
_INNER = frozenset(
    {"core", "ma", "lib", "matlib", "emath", "dual", "compat", "polynomial", "fft", "testing", "np", "numpy"}
)


def way_of(path: str) -> Way | None:
    """The way around names that a dotted name is, or that it begins with."""
    path = from_within(path, _HELD)
    parts = path.split(".", _PARTS)[:_PARTS]
    known = (PATHS.get(".".join(parts[: count + 1])) for count in range(len(parts)))
    return next((way for way in known if way is not None), None)


def from_within(path: str, modules: Collection[str]) -> str:
    """The path from the last of these modules on, where another of Python's modules holds it: os.sys is sys."""
    first, *others = path.split(".")
    held = [place for place, part in enumerate(others) if part in modules]
    return ".".join(others[held[-1] :]) if held and first in sys.stdlib_module_names else path


class Names:
    """What a stage forbids, with what is the same under another name."""

    def __init__(self, forbidden: Forbidden) -> None:
        words = {_METHODS[symbol]: symbol for symbol in forbidden.operators}
        self.methods = {f"__{side}{word}__": symbol for word, symbol in words.items() for side in ("", "r", "i")}
        spelt = [*self.methods, *(f"i{word}" for word in words), *(_KEYWORDS.get(word, word) for word in words)]
        implied = [f"{module}.{name}" for module in ("operator", "_operator") for name in spelt]
        own = [name for name in forbidden.names if not name.startswith(".")]
        self.builtins = frozenset(name for name in own if hasattr(builtins, name))
        self.own_methods = frozenset(name[1:] for name in forbidden.names if name.startswith("."))
        implied += [f"builtins.{name}" for name in self.builtins]
        tops = {name.partition(".")[0] for name in own} & sys.stdlib_module_names
        self._tops = frozenset(tops | _HELD)
        inner = [f"{before}{top}" for top in tops for before in ("_", "_py")]  # the same, as C and Python write it
        known = sys.stdlib_module_names.intersection(inner)
        implied += [f"{b}{name}" for name in own for b in ("_", "_py") if f"{b}{name.partition('.')[0]}" in known]
        self._names = dict.fromkeys((*(name for name in own if name not in self.builtins), *implied))
        self._tails = {name.rpartition(".")[2] for name in forbidden.names if name.startswith("numpy.")}
        self._known: dict[str, bool] = {}
        self._holders = set(_MODULES)
        for name in self._names:
            while name := name.rpartition(".")[0]:
                self._holders.add(name)
        self.followed = FOLLOWED | {name.partition(".")[0] for name in own if "." in name}

    def forbids(self, path: str) -> bool:
        """Whether a dotted name is forbidden itself, lies in a forbidden module, or is the same in NumPy's inside."""
        known = self._known.get(path)
        if known is None:
            known = self._known[path] = self._forbids(path)
        return known

    def _forbids(self, path: str) -> bool:
        path = from_within(path, self._tops)
        if any(f"{path}.".startswith(f"{name}.") for name in self._names):
            return True
        parts = path.split(".")
        if parts[0] != "numpy" or parts[-1] not in self._tails:
            return False
        return any(part in _INNER or part.startswith("_") for part in parts[1:-1])

    def holds(self, path: str) -> bool:
        """Whether a dotted name is a module in which something forbidden lies."""
        return path in self._holders


TOP_LEVEL = ""  # the owner of what runs while the module is loaded
BODY = ":"  # ends the owner of what stands in a class and in none of its methods
# Classes that make no array and no module of what is derived from them.
_PLAIN_BASES = frozenset({
    "object", "ABC", "Protocol", "Generic", "NamedTuple", "Enum", "IntEnum", "StrEnum", "Exception", "ValueError",
})  # fmt: skip
# Python calls these while the class, or one derived from it, is made.
_AT_IMPORT = frozenset({"__init_subclass__", "__set_name__", "__class_getitem__", "__prepare__", "__mro_entries__"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Self:
    """The name of a method's own object; lost where the method binds it anew."""

    name: str
    held: bool = True


@dataclass(eq=False)
class Scope:
    """One scope, or part of one: owner is the function that reaches what is mentioned here.

    A use in what runs at import belongs to the module, whoever reaches it. sure is None in a function; in a module or a
    class, where Python goes on to the builtin of a name that is not bound yet, it says after which line a name is.
    """

    owner: str
    runs_at_import: bool
    kind: str  # module, class, function
    parent: Scope | None = None
    own: Self | None = None
    bound: set[str] = field(default_factory=set)
    elsewhere: set[str] = field(default_factory=set)  # bound by what stands here, in a scope around it
    sure: dict[str, int] | None = None

    @property
    def user(self) -> str:
        return TOP_LEVEL if self.runs_at_import else self.owner

    def at_import(self, owner: str) -> Scope:
        """The same scope, for an expression that is evaluated at import and that another owner reaches."""
        return Scope(owner, True, self.kind, self.parent, self.own, self.bound, self.elsewhere, self.sure)

    def binds(self, name: str, line: int) -> bool:
        """Whether a name in that line is bound here or around here; a class's names are not seen in its methods."""
        place: Scope | None = self
        while place is not None:
            if name in place.bound and name not in place.elsewhere:
                if place.sure is None:
                    return True
                first, is_class = place.sure.get(name), place.parent is not None
                if first is not None and (first < line or not (is_class or self.runs_at_import)):
                    return place.bound is self.bound or not is_class
            place = place.parent
        return False


class Layout:
    """Every node of a module with its place, parents before their parts, and what the module defines."""

    def __init__(self, tree: ast.Module) -> None:
        self.body = tree.body
        self.nodes: list[ast.AST] = []
        self.places: list[Scope] = []
        self.binding: list[ast.AST] = []  # those of the nodes that bind names
        self.owners: set[str] = set()
        self.plain_classes: set[str] = set()
        self.edges: list[tuple[str, str]] = []  # who reaches whom, beside what is mentioned
        self.decorated: list[tuple[str, str]] = []  # owner, and the name that its decorator begins with
        module = Scope(TOP_LEVEL, True, "module", sure=surely_bound(tree.body))
        self._deleted: set[str] = set()
        self._queue: list[tuple[ast.AST, Scope]] = []
        self._push(tree.body, module)
        while self._queue:
            node, place = self._queue.pop()
            self.nodes.append(node)
            self.places.append(place)
            kind = type(node)
            if kind in BINDING:
                self._bind(node, place)
            elif isinstance(node, ast.Global):
                place.elsewhere.update(node.names)
            if kind in OPENING or place.kind == "class":
                self._open(node, place)
            else:
                self._push(parts(node), place)
        for place in self.places if self._deleted else ():
            place.elsewhere |= self._deleted & (place.sure or {}).keys()

    def __iter__(self) -> Iterator[tuple[ast.AST, Scope]]:
        return zip(self.nodes, self.places, strict=True)

    def _push(self, nodes: Iterable[ast.AST], place: Scope) -> None:
        self._queue.extend([(node, place) for node in reversed(list(nodes))])

    def _bind(self, node: ast.AST, place: Scope) -> None:
        names = bound_names(node)
        match node:
            case ast.Name(id=name, ctx=ast.Del()) | ast.arg(arg=name):
                names = [name]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names = [name]
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del):
            self._deleted.add(node.id)
        if names:
            self.binding.append(node)
        for name in names:
            if place.own is not None and name == place.own.name and not isinstance(node, ast.arg):
                place.own.held = False
            if name in BUILTINS or hasattr(builtins, name):
                place.bound.add(name)

    def _open(self, node: ast.AST, place: Scope) -> None:
        """Queue the parts of a node, each with its place."""
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                self._function(node, place)
            case ast.Lambda(args=arguments, body=body):
                self._arguments(arguments, place, inner := self._inner(place))
                self._push([body], inner)
            case ast.ClassDef():
                self._class(node, place)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                inner = Scope(place.owner, place.runs_at_import, "function", place, place.own)
                inner.elsewhere.update(each.target.id for each in ast.walk(node) if isinstance(each, ast.NamedExpr))
                self._push(parts(node), inner)
            case ast.Assign() | ast.AnnAssign() if place.kind != "function" and node.value is not None:
                self._assignment(node, node.value, place)
            case _ if place.kind == "class" and not isinstance(node, ast.expr):
                for part in reversed(list(parts(node))):
                    self._push([part], place.at_import(TOP_LEVEL) if isinstance(part, ast.expr) else place)
            case _:
                self._push(parts(node), place)

    def _inner(self, place: Scope) -> Scope:
        return Scope(place.owner, place.owner == TOP_LEVEL, "function", place, place.own)

    def _assignment(self, node: ast.Assign | ast.AnnAssign, value: ast.expr, place: Scope) -> None:
        """Of `name = other` at the top level, who uses the name reaches the other; where a call stands, it runs."""
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = [target.id for target in targets if isinstance(target, ast.Name)]
        if len(names) == len(targets) and is_inert([value]):
            owner = names[0] if place.kind == "module" else place.owner
            place, around = place.at_import(owner), place
            if around.kind == "module":
                self.owners.update(names)
                self.edges += [(name, owner) for name in names[1:]]
        elif place.kind == "class":
            place = place.at_import(TOP_LEVEL)
        self._push(parts(node), place)

    def _function(self, node: _Function, place: Scope) -> None:
        inner = self._inner(place)
        if place.kind != "function":
            within = place.owner.removesuffix(BODY)
            inner.owner = f"{within}.{node.name}" if place.kind == "class" else node.name
            inner.runs_at_import = False
            self._member(node.name, inner.owner, place)
            inner.own = self._own(node, within) if place.kind == "class" else None
        self._decorators(node.decorator_list, inner.owner, place)
        self._arguments(node.args, place, inner)
        self._header([node.returns], place, inner)
        self._push(node.body, inner)

    def _member(self, name: str, owner: str, place: Scope) -> None:
        self.owners.add(owner)
        if place.kind != "class":
            return
        # A class reaches its methods; a method what stands beside them, and what Python calls by itself.
        self.edges += [(place.owner.removesuffix(BODY), owner), (f".{name}", owner), (owner, place.owner)]
        if name.startswith("__"):
            self.edges.append((place.owner, owner))
        if name in _AT_IMPORT:
            self.edges.append((TOP_LEVEL, owner))

    def _own(self, node: _Function, within: str) -> Self | None:
        arguments = [*node.args.posonlyargs, *node.args.args]
        static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
        return Self(arguments[0].arg) if arguments and not static and within in self.plain_classes else None

    def _arguments(self, arguments: ast.arguments, place: Scope, inner: Scope) -> None:
        given = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        known = [each for each in given if each is not None]
        for each in known:
            self.nodes.append(each)
            self.places.append(inner)
            self._bind(each, inner)
        headers = [each.annotation for each in known]
        self._header([*headers, *arguments.defaults, *arguments.kw_defaults], place, inner)

    def _header(self, parts: Iterable[ast.expr | None], place: Scope, inner: Scope) -> None:
        """What is evaluated where a function is defined; what only names something is reached by the function."""
        for part in parts:
            if part is not None:
                outside = place.kind != "function" and inner.owner != TOP_LEVEL
                own = outside and is_inert([part])
                self._push([part], place.at_import(inner.owner if own else TOP_LEVEL) if outside else place)

    def _decorators(self, decorators: Iterable[ast.expr], owner: str, place: Scope) -> None:
        for decorator in decorators:
            begin = decorator
            while isinstance(begin, ast.Attribute | ast.Call):
                begin = begin.value if isinstance(begin, ast.Attribute) else begin.func
            if isinstance(begin, ast.Name) and place.kind != "function":
                self.decorated.append((owner, begin.id))
            self._push([decorator], place if place.kind == "function" else place.at_import(TOP_LEVEL))

    def _class(self, node: ast.ClassDef, place: Scope) -> None:
        if place.kind == "module":
            inner = Scope(f"{node.name}{BODY}", True, "class", place, sure=surely_bound(node.body))
            self.owners.add(node.name)
            self.edges.append((node.name, inner.owner))
            is_plain = not node.keywords and all(self._is_plain(base) for base in node.bases)
            (self.plain_classes.add if is_plain else self.plain_classes.discard)(node.name)
        else:  # it belongs to the class or function that it stands in
            inner = Scope(place.owner, place.runs_at_import, "function", place, place.own, sure=surely_bound(node.body))
        self._decorators(node.decorator_list, node.name if place.kind == "module" else inner.owner, place)
        inert = place.kind == "function" or (is_inert(node.bases) and not node.keywords)
        self._push([*node.bases, *node.keywords], inner if inert else place.at_import(TOP_LEVEL))
        self._push(node.body, inner)

    def _is_plain(self, base: ast.expr) -> bool:
        if isinstance(base, ast.Subscript):
            base = base.value
        match base:
            case ast.Name(id=name):
                return name in _PLAIN_BASES or name in self.plain_classes
            case ast.Attribute(attr=name):
                return name in _PLAIN_BASES
        return False


# What one name can stand for is bounded: `x = x.a`, `x = x.b` and so on doubles it with each line.
MAX_MEANINGS = 16
MAX_DOTS = 8


class Meanings:
    """The dotted names that an expression may stand for; assignments are followed for the modules that are named."""

    def __init__(self, layout: Layout, followed: frozenset[str]) -> None:
        self._imports: dict[str, set[str]] = {}
        self._crowded: set[str] = set()
        self._stars: list[str] = []
        self._bound: set[str] = set()
        self._made: set[str] = set()  # names that are assigned an object of one of the module's own classes
        defined = Counter(node.name for node in layout.binding if isinstance(node, ast.ClassDef))
        self._plain_classes = {name for name in layout.plain_classes if defined[name] == 1}
        for node in layout.binding:
            self._learn(node)
        self._plain_classes -= self._bound_otherwise(layout.binding)
        made: set[int] = set()
        for node in layout.nodes:
            if type(node) is not ast.Assign:
                continue
            match node:
                case ast.Assign(targets=targets, value=ast.Name() | ast.Attribute() as value):
                    paths = [path for path in self.paths(value) if root(path) in followed]
                    for target in targets if paths else ():
                        if isinstance(target, ast.Name):
                            self._add(target.id, paths)
                case ast.Assign(targets=[ast.Name(id=name) as target], value=ast.Call(func=ast.Name(id=maker))):
                    if maker in self._plain_classes:
                        self._made.add(name)
                        made.add(id(target))
        for node in layout.binding if self._made else ():
            match node:
                case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Store()) if id(node) not in made:
                    self._made.discard(name)

    def _bound_otherwise(self, binding: Iterable[ast.AST]) -> set[str]:
        """The names that something else than a class is bound to, anywhere in the module."""
        functions = {node.name for node in binding if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
        stored = {node.id for node in binding if isinstance(node, ast.Name)}
        given = {node.arg for node in binding if isinstance(node, ast.arg)}
        return functions | stored | given | self._imports.keys()

    def _add(self, name: str, paths: Iterable[str]) -> None:
        known = self._imports.setdefault(name, set())
        for path in paths:
            if path in known:
                continue
            if len(known) < MAX_MEANINGS and path.count(".") <= MAX_DOTS:
                known.add(path)
            else:
                self._crowded.add(name)

    def _learn(self, node: ast.AST) -> None:
        match node:
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                for alias, path in zip(aliases, imported(node), strict=True):
                    if alias.name == "*":
                        star = path.removesuffix(".*")
                        if star not in self._stars and len(self._stars) < MAX_MEANINGS:
                            self._stars.append(star)
                    elif isinstance(node, ast.Import) and not alias.asname:
                        self._add(root(path), [root(path)])
                    else:
                        self._add(alias.asname or alias.name, [path])
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

    def is_imported(self, node: ast.expr) -> bool:
        """Whether a name, dotted or not, begins with one that an import has bound."""
        begin = _begin(node)
        return begin is not None and begin.id in self._imports

    def only_imported(self, node: ast.expr) -> bool:
        """Whether it is imported, and the name that it begins with is bound by nothing else in the whole module."""
        begin = _begin(node)
        return begin is not None and begin.id in self._imports and begin.id not in self._bound

    def crowded(self, node: ast.expr) -> str | None:
        """The name that it begins with, where that may stand for more than is followed."""
        begin = _begin(node)
        return begin.id if begin is not None and begin.id in self._crowded else None

    def follows(self, node: ast.Assign) -> bool:
        """Whether each name that is assigned stands for what the value stands for."""
        paths = set(self.paths(node.value))
        return bool(paths) and all(
            isinstance(target, ast.Name) and paths <= self._imports.get(target.id, set()) for target in node.targets
        )

    def is_own(self, node: ast.expr, place: Scope) -> bool:
        """Whether it is an object or a class that the module itself defines: neither an array nor a module."""
        while True:
            match node:
                case ast.Name(id=name):
                    is_self = place.own is not None and place.own.held and name == place.own.name
                    return is_self or name in self._made or name in self._plain_classes
                case ast.Call(func=ast.Name(id="super")):
                    return place.own is not None
                case ast.Call(func=ast.Name(id=name), args=[one]) if name == "type":
                    node = one
                case ast.Call(func=ast.Name(id=name)):
                    return name in self._plain_classes
                case ast.Attribute(value=target, attr="__class__"):
                    node = target
                case _:
                    return False


def _begin(node: ast.expr) -> ast.Name | None:
    """The name that a dotted name begins with, also where getattr spells a part of it."""
    while True:
        match node:
            case ast.Attribute(value=inner) | ast.Call(func=ast.Name(id="getattr"), args=[inner, *_]):
                node = inner
            case ast.Name():
                return node
            case _:
                return None


# Functions of numpy that are methods of arrays too: forbidding numpy.dot forbids x.dot().
ARRAY_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "partition", "prod",
    "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "transpose", "var",
})  # fmt: skip
# The limits of a dtype are no methods of an array: np.finfo(float).max.
_LIMITS = frozenset({"numpy.finfo", "numpy.iinfo"})
_READ = frozenset({
    ast.BinOp, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Assign, ast.Call, ast.Name, ast.Attribute, ast.MatchClass,
})  # fmt: skip
_LOAD = "numpy.load"


_Found = tuple[str, Way | None]


@dataclass(frozen=True, order=True)
class ForbiddenUse:
    """One place where something forbidden is used, or, where unseen says so, where it may be."""

    line: int
    column: int
    name: str
    unseen: str = ""
    instead: str = ""


class _Search:
    """One way along the nodes of a module; parents come before their parts."""

    def __init__(self, layout: Layout, forbidden: Forbidden) -> None:
        self._layout = layout
        self._names = Names(forbidden)
        self._meanings = Meanings(layout, self._names.followed)
        self._operators = {OPERATORS[symbol]: symbol for symbol in forbidden.operators}
        self._methods = ARRAY_METHODS & {name.removeprefix("numpy.") for name in forbidden.names}
        self._within: set[ast.AST] = set()  # parts of a dotted name that are not the whole
        self._answered: set[ast.AST] = set()  # parts that may stand there, as the expression around them has shown
        self._called: set[ast.AST] = set()
        self._loads: set[ast.AST] = set()  # np.load where it can read arrays alone

    def run(self) -> Iterator[tuple[ForbiddenUse, Scope]]:
        """Yield every use in a module with its place; the same one may come more than once."""
        for node, place in self._layout:
            if type(node) not in _READ:
                continue
            at = node.cls if isinstance(node, ast.MatchClass) else node
            for name, way in self._found(node, place):
                if isinstance(at, ast.expr | ast.stmt):
                    yield (
                        ForbiddenUse(at.lineno, at.col_offset, name, *((way.unseen, way.instead) if way else ())),
                        place,
                    )

    def _found(self, node: ast.AST, place: Scope) -> Iterator[_Found]:
        match node:
            case ast.BinOp(op=op) if type(op) in self._operators:
                yield self._operators[type(op)], None
            case ast.AugAssign(op=op) if type(op) in self._operators:
                yield f"{self._operators[type(op)]}=", None
            case ast.Import() | ast.ImportFrom():
                yield from self._imported(node, place)
            case ast.Assign(value=value) if place.kind != "class" and self._meanings.follows(node):
                self._answered.add(value)
            case ast.Call():
                yield from self._call(node, place)
            case ast.Name(id=name, ctx=ast.Load()):
                if name in BUILTINS and node not in self._answered and not place.binds(name, node.lineno):
                    yield name, BUILTINS[name]
                elif name in self._names.builtins and not place.binds(name, node.lineno):
                    yield name, None
                else:
                    yield from self._dotted(node)
            case ast.Attribute():
                self._within.add(node.value)
                yield from self._attribute(node, place)
            case ast.MatchClass(kwd_attrs=names):
                yield from ((f".{name}", PATTERN) for name in names if self._is_refused(name))

    def _imported(self, node: ast.Import | ast.ImportFrom, place: Scope) -> Iterator[_Found]:
        for path in imported(node):
            if self._names.forbids(path):
                yield path, None
            elif place.kind == "class" and self._names.holds(path):
                yield path, _HANDED_ON

    def _dotted(self, node: ast.expr) -> Iterator[_Found]:
        """What a whole dotted name stands for: the first of its meanings that is forbidden, else a way around."""
        if node in self._within:
            return
        paths = self._meanings.paths(node)
        if (path := next(filter(self._names.forbids, paths), None)) is not None:
            yield path, None
            return
        if (crowded := self._meanings.crowded(node)) is not None:
            yield crowded, CROWDED
            return
        if not self._meanings.is_imported(node):
            paths = paths[1:]  # an unknown name for itself; the others are what `from module import *` may have given
        for path in paths:
            way = None if node in self._answered and path in GETTERS else way_of(path)
            way = None if node in self._loads and path == _LOAD else way
            if way is None and node not in self._answered and self._names.holds(path):
                way = _HANDED_ON
            if way is not None:
                yield path, way
                return

    def _call(self, node: ast.Call, place: Scope) -> Iterator[_Found]:
        function, given = node.func, node.args
        self._called.add(function)
        if (
            isinstance(function, ast.Name)
            and function.id in ("getattr", "hasattr", "vars")
            and not place.binds(function.id, function.lineno)
        ):
            self._answered.update(given[:1])
            if function.id == "getattr":
                self._answered.add(function)
                yield from self._getattr(node, place)
            elif function.id == "vars" and len(given) == 1 and self._meanings.is_own(given[0], place):
                self._answered.add(function)
        elif _LOAD in self._meanings.paths(function) and _reads_arrays(node):
            self._loads.add(function)
        elif getters := GETTERS.intersection(self._meanings.paths(function)):
            self._answered.add(function)
            yield from self._getter(node, min(getters))

    def _getattr(self, node: ast.Call, place: Scope) -> Iterator[_Found]:
        match node.args:
            case [target, ast.Constant(value=str(name)), *_]:
                dotted = list(self._dotted(node))
                yield from dotted or self._named(target, name, f".{name}()", place)
            case [target, *_] if not isinstance(target, ast.Starred) and self._meanings.is_own(target, place):
                return
            case _:
                yield "getattr", _ATTRIBUTE

    def _getter(self, node: ast.Call, path: str) -> Iterator[_Found]:
        names = node.args if path.endswith("attrgetter") else node.args[:1]
        for name in names:
            match name:
                case ast.Constant(value=str(text)):
                    yield from ((f"{path}({part!r})", None) for part in text.split(".") if self._is_refused(part))
                case _:
                    yield path, _ATTRIBUTE
                    return

    def _is_refused(self, name: str) -> bool:
        known = (self._methods, self._names.methods, self._names.own_methods, ATTRIBUTES)
        return any(name in names for names in known)

    def _attribute(self, node: ast.Attribute, place: Scope) -> Iterator[_Found]:
        dotted = list(self._dotted(node))
        yield from dotted
        if not dotted and isinstance(node.ctx, ast.Load) and self._is_refused(node.attr):
            yield from self._named(node.value, node.attr, f".{node.attr}{'()' * (node in self._called)}", place)

    def _named(self, target: ast.expr, name: str, shown: str, place: Scope) -> Iterator[_Found]:
        """An attribute of what may be an array or a module: not of the module's own object."""
        if self._meanings.is_own(target, place):
            return
        if (symbol := self._names.methods.get(name)) is not None:
            yield f"{shown} (the operator {symbol})", None
        elif (way := ATTRIBUTES.get(name)) is not None:
            yield shown, way
        elif self._is_method(target, name):
            yield shown, None

    def _is_method(self, target: ast.expr, name: str) -> bool:
        own = name in self._names.own_methods and not self._is_module(target)
        return own or (name in self._methods and self._may_be_array(target))

    def _is_module(self, target: ast.expr) -> bool:
        """Whether it is a module, as far as the imports tell: what is named there is a function and no method."""
        paths = self._meanings.paths(target)
        return bool(paths) and self._meanings.only_imported(target) and not any("." in path for path in paths)

    def _may_be_array(self, target: ast.expr) -> bool:
        """Not what stands for another module, nor the limits of a dtype, nor self."""
        match target:
            case ast.Name(id="self" | "cls"):
                return False
            case ast.Call(func=function) if not _LIMITS.isdisjoint(self._meanings.paths(function)):
                return False
        roots = {root(path) for path in self._meanings.paths(target)}
        return not roots or "numpy" in roots


def _reads_arrays(call: ast.Call) -> bool:
    """Say whether a call of np.load names a file and no more, so that it unpickles nothing."""
    return len(call.args) == 1 and not isinstance(call.args[0], ast.Starred) and not call.keywords


def reached(layout: Layout, owners: Iterable[str]) -> Mapping[str, str]:
    """For each name of the module that reaches one of the owners, the first of them that it reaches."""
    mentioned_by = mentions(layout)
    found: dict[str, str] = {}
    for owner in owners:
        queue = [owner]
        while queue:
            name = queue.pop()
            if name not in found:
                found[name] = owner
                queue += mentioned_by.get(name, ())
    return found


def key_of(layout: Layout, function: str) -> str:
    """The name under which a function, class or `Class.method` of a stage stands in the module, if it does at all."""
    within = function.partition(".")[0]
    for name in (function, within):
        if name in layout.owners:
            return name
    return "__getattr__"  # Python asks it for what a module lacks


@lru_cache(4)
def mentions(layout: Layout) -> Mapping[str, set[str]]:
    """Who mentions each name; an attribute begins with a dot, and may be a method of any class of the module."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for owner, other in layout.edges:
        found[other].add(owner)
    for owner, decorator in layout.decorated:
        if decorator in layout.owners:  # who gets a function may keep it anywhere
            found[owner].add(TOP_LEVEL)
    for node, place in layout:
        match node:
            case ast.Name(id=name, ctx=ast.Load()):
                found[name].add(place.owner)
            case ast.Attribute(attr=name):
                found[f".{name}"].add(place.owner)
            case ast.Global(names=names):
                for name in names:
                    found[place.owner].add(name)
    return found


def read_forbidden(layout: Layout, forbidden: Forbidden, functions: Iterable[str] = ()) -> SourceFindings:
    """What is refused: the whole module, where the use runs when it is loaded, else the functions that reach it."""
    if not (forbidden.operators or forbidden.names):
        return SourceFindings()
    by_owner: dict[str, set[ForbiddenUse]] = {}
    for use, place in _Search(layout, forbidden).run():
        by_owner.setdefault(place.user, set()).add(use)
    if not by_owner:
        return SourceFindings()
    found = {owner: sorted(own) for owner, own in by_owner.items()}
    if TOP_LEVEL in found:
        return SourceFindings(
            _problem([*found.pop(TOP_LEVEL), *sorted(use for own in found.values() for use in own)], forbidden)
        )
    first = sorted(found, key=lambda owner: found[owner][0])
    concerned = reached(layout, first)
    if (owner := concerned.get(TOP_LEVEL)) is not None:
        return SourceFindings(_problem(found[owner], forbidden, f"{_shown(owner)} is used while the module is loaded."))
    refused: dict[str, Problem] = {}
    for function in functions:
        if (owner := concerned.get(key_of(layout, function))) is not None:
            through = "" if function in (owner, _shown(owner)) else f"{function} reaches it through {_shown(owner)}."
            refused[function] = _problem(found[owner], forbidden, through)
    unused = _problem(sorted(use for own in found.values() for use in own), forbidden)
    return SourceFindings(None, refused, unused)


def _shown(owner: str) -> str:
    return clipped(owner.removesuffix(":"))


def _problem(found: list[ForbiddenUse], forbidden: Forbidden, note: str = "") -> Problem:
    """The first use, and how many others there are; the hint says what to write instead, and where the others are."""
    first, *others = found
    more = and_more(len(others))
    name = clipped(first.name)
    what = f"{name} is not allowed in this stage{more}."
    if first.unseen:
        what = f"{name} is not allowed in this way{more}: the check reads names, and cannot see {first.unseen}."
    also = ", ".join(f"{clipped(use.name)} in line {use.line}" for use in others[:3])
    hints = [first.instead, note, f"Also {also}" if also else ""]
    message = f"line {first.line}: {what} {forbidden.reason}"
    return Problem("forbidden", message, first.line, " ".join(filter(None, hints)) or None)
