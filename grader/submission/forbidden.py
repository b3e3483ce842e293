"""Uses of what a stage forbids in a module, the ways around names included, and the functions that those concern.

It is a help for learners and no wall: it reads names, and a program can be written whose names say nothing. Begin with
`read_forbidden`; `Layout` says where in the module a node stands.

Scopes are worked out here and not by Python's `symtable`: from 3.12 on that has none for a comprehension, it knows
no lines, and a name that is bound somewhere in a module or a class may still be the builtin where it is used.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from grader.course.stage import OPERATORS, Forbidden
from grader.submission.parsing import Problem, SourceFindings, and_more, bound_names, clipped, imported, root

BINDING = frozenset({
    ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar,
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


def beginnings(path: str) -> Iterator[str]:
    """Yield the dotted names that a dotted name begins with: a, a.b, a.b.c."""
    return accumulate(path.split("."), "{}.{}".format)


def way_of(path: str) -> Way | None:
    """The way around names that a dotted name is, or that it begins with."""
    return next((PATHS[each] for each in beginnings(from_within(path, _HELD)) if each in PATHS), None)


def from_within(path: str, modules: Collection[str]) -> str:
    """The path from the last of these modules on, where another of Python's modules holds it: os.sys is sys."""
    first, *others = path.split(".")
    held = [place for place, part in enumerate(others) if part in modules]
    return ".".join(others[held[-1] :]) if held and first in sys.stdlib_module_names else path


class Names:
    """What a stage forbids, with what is the same under another name."""

    def __init__(self, forbidden: Forbidden) -> None:
        words = {_METHODS[symbol]: symbol for symbol in forbidden.operators}
        own = [name for name in forbidden.names if not name.startswith(".")]
        self.methods = {f"__{side}{word}__": symbol for word, symbol in words.items() for side in ("", "r", "i")}
        self.own_methods = frozenset(name[1:] for name in forbidden.names if name.startswith("."))
        self.array_methods = ARRAY_METHODS & {name.removeprefix("numpy.") for name in own}
        self.builtins = frozenset(name for name in own if hasattr(builtins, name))
        self.followed = FOLLOWED | {root(name) for name in own if "." in name}
        self._tops = _HELD | (sys.stdlib_module_names & {root(name) for name in own})
        self._tails = {name.rpartition(".")[2] for name in own if name.startswith("numpy.")}
        functions = [*self.methods, *(f"i{word}" for word in words), *(_KEYWORDS.get(word, word) for word in words)]
        twice = [f"{before}{name}" for name in own for before in ("_", "_py")]  # as C and Python write it once more
        self._names = {
            *(f"builtins.{name}" if name in self.builtins else name for name in own),
            *(f"{module}.{name}" for module in ("operator", "_operator") for name in functions),
            *(name for name in twice if root(name) in sys.stdlib_module_names),
        }
        self._holders = _MODULES.union(*(list(beginnings(name))[:-1] for name in self._names))

    def forbids(self, path: str) -> bool:
        """Whether a dotted name is forbidden itself, lies in a forbidden module, or is the same in NumPy's inside."""
        path = from_within(path, self._tops)
        if not self._names.isdisjoint(beginnings(path)):
            return True
        words = path.split(".")
        is_inner = any(word in _INNER or word.startswith("_") for word in words[1:-1])
        return words[0] == "numpy" and words[-1] in self._tails and is_inner

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
_NEVER = sys.maxsize  # the line after which a name is bound in a scope that binds it in one around it instead
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass(eq=False)
class Scope:
    """One scope, or part of one: owner is the function that reaches what is mentioned here.

    A use in what runs at import belongs to the module, whoever reaches it. bound says after which line a name is bound.
    Python goes on to the builtin of a name that a module or a class has not bound yet: is_body says that this is one,
    and only what is bound whatever happens is held there. In a function a name is bound in every line.
    """

    owner: str
    runs_at_import: bool
    kind: str  # module, class, function
    around: Scope | None = None  # where Python looks for a name that is not bound here
    own: set[str] | None = None  # in a method, the name of its own object, unless the method binds it anew
    bound: dict[str, int] = field(default_factory=dict)
    is_body: bool = False

    @property
    def user(self) -> str:
        return TOP_LEVEL if self.runs_at_import else self.owner

    def inner(self, owner: str, runs_at_import: bool) -> Scope:
        """A function's or comprehension's scope here; what a class binds is not seen in it."""
        is_class = self.is_body and self.around is not None
        return Scope(owner, runs_at_import, "function", self.around if is_class else self, self.own)

    def at_import(self, owner: str) -> Scope:
        """The same scope, for an expression that is evaluated at import and that another owner reaches."""
        return replace(self, owner=owner, runs_at_import=True)

    def binds(self, name: str, line: int) -> bool:
        """Whether a name in that line is bound here or around here."""
        scope: Scope | None = self
        while scope is not None:
            first = scope.bound.get(name, _NEVER)
            if first < line or (first < _NEVER and scope.kind == "module" and not self.runs_at_import):
                return True
            scope = scope.around
        return False


class Layout:
    """Every node of a module with its place, parents before their parts, and what the module defines."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes: list[ast.AST] = []
        self.places: list[Scope] = []
        self.binding: list[tuple[ast.AST, list[str]]] = []  # what defines, imports, assigns or takes names
        self.deleted: set[str] = set()
        self.owners: set[str] = set()
        self.plain_classes: set[str] = set()
        self._edges: list[tuple[str, str]] = []  # who reaches whom, beside what is mentioned
        self._decorated: list[tuple[str, str]] = []  # owner, and the name that its decorator begins with
        self._bodies: list[Scope] = []
        self._queue: list[tuple[ast.AST, Scope]] = []
        self._body(tree.body, Scope(TOP_LEVEL, True, "module"))
        opening: Mapping[type[ast.AST], Callable[..., None]] = {
            ast.FunctionDef: self._function, ast.AsyncFunctionDef: self._function, ast.Lambda: self._lambda,
            ast.ClassDef: self._class, ast.Assign: self._assignment, ast.AnnAssign: self._assignment,
            **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), self._comprehension),
        }  # fmt: skip
        while self._queue:
            node, place = self._queue.pop()
            self.nodes.append(node)
            self.places.append(place)
            if type(node) in BINDING:
                self._bind(node, place)
            elif isinstance(node, ast.Global) and place.around is not None:
                place.bound.update(dict.fromkeys(node.names, _NEVER))
            opening.get(type(node), self._parts)(node, place)
        for name in self.deleted:
            for body in self._bodies:
                body.bound.pop(name, None)

    def __iter__(self) -> Iterator[tuple[ast.AST, Scope]]:
        return zip(self.nodes, self.places, strict=True)

    @cached_property
    def mentioned_by(self) -> Mapping[str, set[str]]:
        """Who mentions each name; an attribute begins with a dot, and may be a method of any class of the module."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for owner, other in self._edges:
            found[other].add(owner)
        for owner, decorator in self._decorated:
            if decorator in self.owners:  # who gets a function may keep it anywhere
                found[owner].add(TOP_LEVEL)
        for node, place in self:
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    found[name].add(place.owner)
                case ast.Attribute(attr=name):
                    found[f".{name}"].add(place.owner)
                case ast.Global(names=names):
                    for name in names:
                        found[place.owner].add(name)
        return found

    def _push(self, nodes: Sequence[ast.AST], place: Scope) -> None:
        self._queue.extend([(node, place) for node in reversed(nodes)])

    def _bind(self, node: ast.AST, place: Scope) -> None:
        names = [node.arg] if isinstance(node, ast.arg) else bound_names(node)
        if names:
            self.binding.append((node, names))
        match node:
            case ast.Name(id=name, ctx=ast.Del()):
                self.deleted.add(name)
                names = [name]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names = [name]
        if place.own and not isinstance(node, ast.arg):
            place.own.difference_update(names)
        if not place.is_body:
            for name in names:
                place.bound.setdefault(name, 0)

    def _parts(self, node: ast.AST, place: Scope) -> None:
        """Queue the parts of a node; an expression of a statement in a class runs where the class is made."""
        if place.kind != "class" or isinstance(node, ast.expr):
            self._push(parts(node), place)
            return
        for part in reversed(parts(node)):
            self._push([part], place.at_import(TOP_LEVEL) if isinstance(part, ast.expr) else place)

    def _body(self, statements: Sequence[ast.stmt], scope: Scope) -> None:
        """Queue the statements of a module or a class."""
        scope.bound, scope.is_body = surely_bound(statements), True
        self._bodies.append(scope)
        self._push(statements, scope)

    def _assignment(self, node: ast.Assign | ast.AnnAssign, place: Scope) -> None:
        """Of `name = other` at the top level, who uses the name reaches the other; where a call stands, it runs."""
        if place.kind != "function" and node.value is not None:
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names = [target.id for target in targets if isinstance(target, ast.Name)]
            is_named = len(names) == len(targets) and is_inert([node.value])
            if is_named and place.kind == "module":
                self.owners.update(names)
                self._edges += [(name, names[0]) for name in names[1:]]
                place = place.at_import(names[0])
            elif place.kind == "class":
                place = place.at_import(place.owner if is_named else TOP_LEVEL)
            self._push(parts(node), place)
        else:
            self._parts(node, place)

    def _comprehension(self, node: _Comprehension, place: Scope) -> None:
        """What a comprehension goes over first is evaluated around it, where its own names are not bound."""
        inner = place.inner(place.owner, place.runs_at_import)
        inner.bound = {each.target.id: _NEVER for each in ast.walk(node) if isinstance(each, ast.NamedExpr)}
        first = node.generators[0]
        inside = [part for part in parts(node) if part is not first]
        self._push([*inside, first.target, *first.ifs], inner)
        self._push([first.iter], place)

    def _lambda(self, node: ast.Lambda, place: Scope) -> None:
        inner = place.inner(place.owner, place.owner == TOP_LEVEL)
        self._arguments(node.args, place, inner)
        self._push([node.body], inner)

    def _function(self, node: _Function, place: Scope) -> None:
        inner = place.inner(place.owner, place.owner == TOP_LEVEL)
        if place.kind != "function":
            within = place.owner.removesuffix(BODY)
            inner.owner = f"{within}.{node.name}" if place.kind == "class" else node.name
            inner.runs_at_import = False
            self.owners.add(inner.owner)
            if place.kind == "class":
                inner.own = self._own(node, within)
                self._method(node.name, inner.owner, place.owner)
        self._decorators(node.decorator_list, inner.owner, place)
        self._arguments(node.args, place, inner)
        self._header([node.returns], place, inner)
        self._push(node.body, inner)

    def _method(self, name: str, owner: str, body: str) -> None:
        # A class reaches its methods; a method what stands beside them, and what Python calls by itself.
        self._edges += [(body.removesuffix(BODY), owner), (f".{name}", owner), (owner, body)]
        if name.startswith("__"):
            self._edges.append((body, owner))
        if name in _AT_IMPORT:
            self._edges.append((TOP_LEVEL, owner))

    def _own(self, node: _Function, within: str) -> set[str] | None:
        arguments = [*node.args.posonlyargs, *node.args.args]
        static = any(isinstance(each, ast.Name) and each.id == "staticmethod" for each in node.decorator_list)
        return {arguments[0].arg} if arguments and not static and within in self.plain_classes else None

    def _arguments(self, arguments: ast.arguments, place: Scope, inner: Scope) -> None:
        given = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        known = [each for each in given if each is not None]
        for each in known:
            self.nodes.append(each)
            self.places.append(inner)
            self._bind(each, inner)
        self._header([each.annotation for each in known], place, inner)
        self._header([*arguments.defaults, *arguments.kw_defaults], place, inner)

    def _header(self, given: Iterable[ast.expr | None], place: Scope, inner: Scope) -> None:
        """What is evaluated where a function is defined; what only names something is reached by the function."""
        for part in filter(None, given):
            at_import = place.at_import(inner.owner if is_inert([part]) else TOP_LEVEL)
            self._push([part], place if place.kind == "function" else at_import)

    def _decorators(self, decorators: Iterable[ast.expr], owner: str, place: Scope) -> None:
        for decorator in decorators:
            begin = decorator
            while isinstance(begin, ast.Attribute | ast.Call):
                begin = begin.value if isinstance(begin, ast.Attribute) else begin.func
            if isinstance(begin, ast.Name) and place.kind != "function":
                self._decorated.append((owner, begin.id))
            self._push([decorator], place if place.kind == "function" else place.at_import(TOP_LEVEL))

    def _class(self, node: ast.ClassDef, place: Scope) -> None:
        inner = place.inner(place.owner, place.runs_at_import)  # it belongs to the class or function that it stands in
        if place.kind == "module":
            inner = Scope(f"{node.name}{BODY}", True, "class", place)
            self.owners.add(node.name)
            self._edges.append((node.name, inner.owner))
            is_plain = not node.keywords and all(self._is_plain(base) for base in node.bases)
            (self.plain_classes.add if is_plain else self.plain_classes.discard)(node.name)
        self._decorators(node.decorator_list, node.name if place.kind == "module" else inner.owner, place)
        inert = place.kind == "function" or (is_inert(node.bases) and not node.keywords)
        self._push([*node.bases, *node.keywords], inner if inert else place.at_import(TOP_LEVEL))
        self._body(node.body, inner)

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


def spelt(node: ast.expr) -> tuple[str | None, str]:
    """The name that a dotted name begins with, and what follows it, also where getattr spells a part; else None."""
    rest: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=inner, attr=name):
                pass
            case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(name)), *_]):
                pass
            case ast.Name(id=name):
                return name, "".join(reversed(rest))
            case _:
                return None, ""
        node = inner
        rest.append(f".{name}")


class Meanings:
    """The dotted names that an expression may stand for; assignments are followed for the modules that are named."""

    def __init__(self, layout: Layout, followed: frozenset[str]) -> None:
        self.imports: dict[str, set[str]] = {}
        self.crowded: set[str] = set()  # names that may stand for more than is followed
        self.bound: set[str] = set()  # names that are assigned, passed or defined
        self._stars: list[str] = []
        defined: Counter[str] = Counter()  # how often a name is that of a function or class
        others: defaultdict[str, set[ast.AST]] = defaultdict(set)  # what else binds a name
        for node, names in layout.binding:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._import(node)
            else:
                self.bound.update(names)
            if isinstance(node, _Function | ast.ClassDef):
                defined.update(names)
            else:
                for name in names:
                    others[name].add(node)
        classes = layout.plain_classes - layout.deleted - others.keys()
        self._plain_classes = {name for name in classes if defined[name] == 1}
        made: set[ast.Name] = set()  # where an object of one of these classes is assigned
        for node in layout.nodes:
            match node if type(node) is ast.Assign else None:
                case ast.Assign(targets=targets, value=ast.Name() | ast.Attribute() as value):
                    paths = [path for path in self.paths(value) if root(path) in followed]
                    for target in targets if paths else ():
                        if isinstance(target, ast.Name):
                            self._add(target.id, paths)
                case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=ast.Name(id=maker))):
                    if maker in self._plain_classes:
                        made.add(target)
        self._made = {target.id for target in made if others[target.id] <= made}

    def _add(self, name: str, paths: Iterable[str]) -> None:
        known = self.imports.setdefault(name, set())
        for path in paths:
            if path in known:
                continue
            if len(known) < MAX_MEANINGS and path.count(".") <= MAX_DOTS:
                known.add(path)
            else:
                self.crowded.add(name)

    def _import(self, node: ast.Import | ast.ImportFrom) -> None:
        for alias, path in zip(node.names, imported(node), strict=True):
            if alias.name == "*":
                star = path.removesuffix(".*")
                if star not in self._stars and len(self._stars) < MAX_MEANINGS:
                    self._stars.append(star)
            elif isinstance(node, ast.Import) and not alias.asname:
                self._add(root(path), [root(path)])
            else:
                self._add(alias.asname or alias.name, [path])

    def paths(self, node: ast.expr) -> list[str]:
        """The dotted names that an expression may stand for; none for a value that the module computes."""
        begin, rest = spelt(node)
        if begin is None:
            return []
        if known := self.imports.get(begin):
            return [f"{path}{rest}" for path in sorted(known)]
        unknown = [begin, *(f"{star}.{begin}" for star in self._stars)]
        return [] if begin in self.bound else [f"{path}{rest}" for path in unknown]

    def follows(self, node: ast.Assign) -> bool:
        """Whether each name that is assigned stands for what the value stands for."""
        paths = set(self.paths(node.value))
        return bool(paths) and all(
            isinstance(target, ast.Name) and paths <= self.imports.get(target.id, set()) for target in node.targets
        )

    def is_own(self, node: ast.expr, place: Scope) -> bool:
        """Whether it is an object or a class that the module itself defines: neither an array nor a module."""
        while True:
            match node:
                case ast.Name(id=name):
                    return name in (place.own or ()) or name in self._made or name in self._plain_classes
                case ast.Call(func=ast.Name(id="super")):
                    return place.own is not None
                case ast.Call(func=ast.Name(id="type"), args=[inner]) | ast.Attribute(value=inner, attr="__class__"):
                    node = inner
                case ast.Call(func=ast.Name(id=name)):
                    return name in self._plain_classes
                case _:
                    return False


# Functions of numpy that are methods of arrays too: forbidding numpy.dot forbids x.dot().
ARRAY_METHODS = frozenset({
    "all", "any", "argmax", "argmin", "argpartition", "argsort", "astype", "choose", "clip", "compress", "conj",
    "conjugate", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean", "min", "nonzero", "partition", "prod",
    "put", "ravel", "repeat", "reshape", "resize", "round", "searchsorted", "sort", "squeeze", "std", "sum", "swapaxes",
    "take", "trace", "transpose", "var",
})  # fmt: skip
# The limits of a dtype are no methods of an array: np.finfo(float).max.
_LIMITS = frozenset({"numpy.finfo", "numpy.iinfo"})
_READ = (
    ast.BinOp, ast.AugAssign, ast.Import, ast.ImportFrom, ast.Assign, ast.Call, ast.Name, ast.Attribute, ast.MatchClass,
)  # fmt: skip
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
        self._within: set[ast.AST] = set()  # parts of a dotted name that are not the whole
        self._answered: set[ast.AST] = set()  # parts that may stand there, as the expression around them has shown
        self._called: set[ast.AST] = set()
        self._loads: set[ast.AST] = set()  # np.load where it can read arrays alone

    def run(self) -> Iterator[tuple[ForbiddenUse, Scope]]:
        """Yield every use in a module with its place; the same one may come more than once."""
        for node, place in self._layout:
            if not isinstance(node, _READ):
                continue
            for name, way in self._found(node, place):
                told = (way.unseen, way.instead) if way else ()
                yield ForbiddenUse(node.lineno, node.col_offset, name, *told), place

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
        begin, _ = spelt(node)
        if begin in self._meanings.crowded:
            yield begin, CROWDED
            return
        if begin not in self._meanings.imports:
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
        known = (self._names.array_methods, self._names.methods, self._names.own_methods, ATTRIBUTES)
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
        return own or (name in self._names.array_methods and self._may_be_array(target))

    def _is_module(self, target: ast.expr) -> bool:
        """Whether it is a module, as far as the imports tell: what is named there is a function and no method."""
        paths = self._meanings.paths(target)
        begin, _ = spelt(target)
        is_other = begin not in self._meanings.imports or begin in self._meanings.bound
        return bool(paths) and not is_other and not any("." in path for path in paths)

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
    found: dict[str, str] = {}
    for owner in owners:
        queue = [owner]
        while queue:
            name = queue.pop()
            if name not in found:
                found[name] = owner
                queue += layout.mentioned_by.get(name, ())
    return found


def key_of(layout: Layout, function: str) -> str:
    """The name under which a function, class or `Class.method` of a stage stands in the module, if it does at all."""
    within = function.partition(".")[0]
    for name in (function, within):
        if name in layout.owners:
            return name
    return "__getattr__"  # Python asks it for what a module lacks


def read_forbidden(layout: Layout, forbidden: Forbidden, functions: Iterable[str] = ()) -> SourceFindings:
    """What is refused: the whole module, where the use runs when it is loaded, else the functions that reach it."""
    if not (forbidden.operators or forbidden.names):
        return SourceFindings()
    by_owner: defaultdict[str, set[ForbiddenUse]] = defaultdict(set)
    for use, place in _Search(layout, forbidden).run():
        by_owner[place.user].add(use)
    if not by_owner:
        return SourceFindings()
    at_import = sorted(by_owner.pop(TOP_LEVEL, ()))
    found = {owner: sorted(uses) for owner, uses in by_owner.items()}
    later = sorted(use for uses in found.values() for use in uses)
    if at_import:
        return SourceFindings(_problem([*at_import, *later], forbidden))
    concerned = reached(layout, sorted(found, key=lambda owner: found[owner][0]))
    if (owner := concerned.get(TOP_LEVEL)) is not None:
        return SourceFindings(_problem(found[owner], forbidden, f"{_shown(owner)} is used while the module is loaded."))
    refused: dict[str, Problem] = {}
    for function in functions:
        if (owner := concerned.get(key_of(layout, function))) is not None:
            through = "" if function in (owner, _shown(owner)) else f"{function} reaches it through {_shown(owner)}."
            refused[function] = _problem(found[owner], forbidden, through)
    return SourceFindings(None, refused, _problem(later, forbidden))


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
