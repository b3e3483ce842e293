"""Uses of what a stage forbids in a module, the ways around names included, and the functions that those concern.

It is a help for learners and no wall: it reads names, and a program can be written whose names say nothing. Begin with
`read_forbidden`; `Layout` says where in the module a node stands.

A name that the text binds in a scope is the learner's own there, whatever the stage forbids under that name, as is a
method that a class defines; what is bound to something forbidden is found where it is bound. Scopes are worked out here
and not by Python's `symtable`: from 3.12 on that has none for a comprehension, and a module or a class reads the
builtin until it binds the name.
"""

from __future__ import annotations

import ast
import builtins
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate

from grader.course.stage import OPERATORS, Forbidden
from grader.submission.parsing import Problem, SourceFindings, and_more, bound_names, clipped, imported, root

BINDING = frozenset({
    ast.Name, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom,
    ast.ExceptHandler, ast.MatchAs, ast.MatchStar, ast.MatchMapping,
})  # fmt: skip
# Fields in the order in which Python evaluates them, where the tree has another one.
_EVALUATED = {
    ast.Assign: ("value", "targets"), ast.AnnAssign: ("annotation", "value", "target"),
    ast.For: ("iter", "target", "body", "orelse"), ast.AsyncFor: ("iter", "target", "body", "orelse"),
}  # fmt: skip
_IDLE = (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop, ast.boolop, ast.Constant)
_INERT = (
    ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.Set, ast.Attribute, ast.Subscript, ast.Lambda,
    ast.expr_context,
)  # fmt: skip


def parts(node: ast.AST) -> list[ast.AST]:
    """The children of a node that can tell anything, as they are evaluated; a constant or an operator cannot."""
    found: list[ast.AST] = []
    for name in _EVALUATED.get(type(node), node._fields):
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
    **dict.fromkeys(("code", "codeop", "profile", "cProfile", "trace", "bdb", "pdb", "doctest"), _CODE),
    **dict.fromkeys(("timeit.timeit", "timeit.repeat", "timeit.Timer", "timeit.main"), _CODE),
    **dict.fromkeys(("typing.get_type_hints", "typing.ForwardRef", "numpy.testing.runstring"), _CODE),
    **dict.fromkeys(("builtins", "sys.modules", "inspect.getmembers", "inspect.getmembers_static"), _TABLE),
    **dict.fromkeys(GETTERS, _PASSED),
    **dict.fromkeys(("inspect.getattr_static", "string.Formatter"), _ATTRIBUTE),
    **dict.fromkeys(("gc.get_objects", "gc.get_referrers", "gc.get_referents", "sys._getframe"), _INSIDE),
    **dict.fromkeys(("sys._current_frames", "sys.settrace", "sys.setprofile", "types.CodeType"), _INSIDE),
    **dict.fromkeys(("sys.meta_path", "sys.path_hooks", "sys.path_importer_cache"), _INSIDE),
    **dict.fromkeys(("inspect.currentframe", "inspect.stack", "inspect.trace", "inspect.getmodule"), _INSIDE),
    **dict.fromkeys(("pickle", "_pickle", "marshal", "ctypes", "_ctypes", "unittest.mock", "numpy.load"), _INSIDE),
}  # fmt: skip
_HELD = frozenset({"sys", "builtins", "numpy"})  # as attributes of other modules
# Modules whose bare mention hands them on; others are arrays', functions' and arguments' names too often.
_MODULES = frozenset({"operator", "_operator", "sys", "builtins", "importlib"})
FOLLOWED = frozenset(root(path) for path in PATHS) | {"numpy", "operator", "_operator"}

_METHODS = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
_KEYWORDS = {"and": "and_", "or": "or_"}  # the functions of the operator module that Python's keywords would be
# Parts of NumPy that hold its functions once more, under the same last name.
_INNER = frozenset({"core", "ma", "lib", "matlib", "emath", "dual", "compat", "polynomial", "fft", "testing", "linalg"})


def beginnings(path: str) -> Iterator[str]:
    """Yield the dotted names that a dotted name begins with: a, a.b, a.b.c."""
    return accumulate(path.split("."), "{}.{}".format)


def way_of(path: str) -> Way | None:
    """The way around names that a dotted name is, or that it begins with."""
    return next((PATHS[each] for each in beginnings(from_within(path, _HELD)) if each in PATHS), None)


def from_within(path: str, modules: Collection[str]) -> str:
    """The path from the last of these modules on, where a module of Python or NumPy holds it: os.sys is sys."""
    first, *others = path.split(".")
    others = ["numpy" if part == "np" else part for part in others]
    held = [place for place, part in enumerate(others) if part in modules]
    is_known = first == "numpy" or first in sys.stdlib_module_names
    return ".".join(others[held[-1] :]) if held and is_known else path


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
        return from_within(path, self._tops) in self._holders


TOP_LEVEL = ""  # the owner of what runs while the module is loaded
BODY = ":"  # ends the owner of what stands in a class and in none of its methods
# Classes that make no array and no module of what is derived from them.
_PLAIN_BASES = frozenset({
    "object", "ABC", "Protocol", "Generic", "NamedTuple", "Enum", "IntEnum", "StrEnum", "Exception", "ValueError",
})  # fmt: skip
# Python calls these while the class, or one derived from it, is made.
_AT_IMPORT = frozenset({"__init_subclass__", "__set_name__", "__class_getitem__", "__prepare__", "__mro_entries__"})
_Function = ast.FunctionDef | ast.AsyncFunctionDef
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


# What one name can stand for is bounded: `x = x.a`, `x = x.b` and so on doubles it with each line.
MAX_MEANINGS = 16
MAX_DOTS = 8


@dataclass(eq=False)
class Binding:
    """A name in the scope that binds it: by which nodes, and which dotted names it may stand for."""

    since: int = 0  # the number of the first of these nodes
    stays: bool = False  # it may be there once the module is loaded: more than `except` binds it
    nodes: list[ast.AST] = field(default_factory=list)
    paths: set[str] = field(default_factory=set)
    is_crowded: bool = False  # it may stand for more than is followed
    is_imported: bool = True  # and nothing else

    def may_be(self, path: str) -> None:
        """Let the name stand for one more dotted name, if that is not one too many."""
        if len(self.paths) < MAX_MEANINGS and path.count(".") <= MAX_DOTS:
            self.paths.add(path)
        elif path not in self.paths:
            self.is_crowded = True


@dataclass(eq=False)
class Scope:
    """One scope, or part of one: owner is the function that reaches what is mentioned here.

    A use in what runs at import belongs to the module, whoever reaches it. Python goes on outwards from a name that a
    module or a class has not bound yet: is_body says that this is one. In a function a name is bound in every line.
    """

    owner: str
    runs_at_import: bool
    kind: str  # module, class, function, comprehension, generator
    around: Scope | None = None  # where Python looks for a name that is not bound here
    bound: dict[str, Binding] = field(default_factory=dict)
    is_body: bool = False

    @property
    def user(self) -> str:
        return TOP_LEVEL if self.runs_at_import else self.owner

    def inner(self, owner: str, runs_at_import: bool, kind: str = "function") -> Scope:
        """A function's or comprehension's scope here; what a class binds is not seen in it."""
        is_class = self.is_body and self.around is not None
        return Scope(owner, runs_at_import, kind, self.around if is_class else self)

    def at_import(self, owner: str) -> Scope:
        """A module's or class's scope for an expression that is evaluated at import and that another owner reaches."""
        return replace(self, owner=owner, runs_at_import=True) if self.kind in ("module", "class") else self

    def binding(self, name: str, time: int) -> Binding | None:
        """What a name stands for where the node of that number stands; nothing where the text does not bind it."""
        is_later = not self.runs_at_import or self.kind in ("function", "generator")
        scope: Scope | None = self
        while scope is not None:
            if (found := scope.bound.get(name)) is not None:
                is_there = (scope is self or self.runs_at_import) and found.since < time
                if is_there or not scope.is_body or (is_later and scope is not self and found.stays):
                    return found if found.nodes else None  # none where it is declared global and never bound
            scope = scope.around
        return None


class Layout:
    """Every node of a module with its place, parents before their parts, and what the module defines."""

    def __init__(self, tree: ast.Module) -> None:
        self.nodes: list[ast.AST] = []
        self.places: list[Scope] = []
        self.bindings: list[Binding] = []
        self.binding_of: dict[ast.AST | None, Binding] = {}  # of each name that the text binds where it stands
        self.owners: set[str] = set()
        self.methods: set[str] = set()  # of any class, by name alone
        self.plain_classes: set[str] = set()
        self.own: set[ast.AST] = set()  # their definitions, and the arguments that are their own objects
        self._edges: list[tuple[str, str]] = []  # who reaches whom, beside what is mentioned
        self._decorated: list[tuple[str, str]] = []  # owner, and the name that its decorator begins with
        self._queue: list[tuple[ast.AST, Scope]] = []
        self._module = Scope(TOP_LEVEL, True, "module", is_body=True)
        self._push(tree.body, self._module)
        opening: Mapping[type[ast.AST], Callable[..., None]] = {
            ast.FunctionDef: self._function, ast.AsyncFunctionDef: self._function, ast.Lambda: self._lambda,
            ast.ClassDef: self._class, ast.Assign: self._assignment, ast.AnnAssign: self._assignment,
            ast.NamedExpr: self._walrus, ast.Global: self._declared, ast.Nonlocal: self._declared,
            **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), self._comprehension),
        }  # fmt: skip
        while self._queue:
            node, place = self._queue.pop()
            self.nodes.append(node)
            self.places.append(place)
            if type(node) in BINDING:
                self._bind(node, place)
            opening.get(type(node), self._parts)(node, place)
        for time, (node, place) in enumerate(self):
            if type(node) is ast.Name and (found := place.binding(node.id, time)) is not None:
                self.binding_of.setdefault(node, found)  # it has one where it is bound itself

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
        modules: set[ast.AST] = set()  # and their attributes, which are no methods of the module's own classes
        for node, place in zip(reversed(self.nodes), reversed(self.places), strict=True):
            match node:
                case ast.Name(id=name, ctx=ast.Load()):
                    binding = self.binding_of.get(node)
                    modules.update([node] if binding is not None and binding.is_imported else [])
                    if binding in (None, self._module.bound.get(name)):
                        found[name].add(place.owner)
                case ast.Attribute(value=value) if value in modules:
                    modules.add(node)
                case ast.Attribute(attr=name):
                    found[f".{name}"].add(place.owner)
                case ast.Global(names=names):
                    found[place.owner].update(names)
        return found

    def _push(self, nodes: Sequence[ast.AST], place: Scope) -> None:
        self._queue.extend([(node, place) for node in reversed(nodes)])

    def _bind(self, node: ast.AST, place: Scope) -> None:
        names = bound_names(node)
        match node:
            case ast.arg(arg=name) | ast.Name(id=name, ctx=ast.Del()) | ast.MatchMapping(rest=str(name)):
                names = [name]
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                names = [name]
        for name in names:
            binding = place.bound.setdefault(name, Binding())
            self._note(binding, node)
            binding.stays |= not isinstance(node, ast.ExceptHandler)

    def _note(self, binding: Binding, node: ast.AST) -> None:
        if not binding.nodes:
            binding.since = len(self.nodes) - 1
            self.bindings.append(binding)
        binding.nodes.append(node)
        binding.is_imported &= isinstance(node, ast.Import | ast.ImportFrom)
        self.binding_of[node] = binding  # of an import of several names the last: only names are asked for

    def _declared(self, node: ast.Global | ast.Nonlocal, place: Scope) -> None:
        """Names that are another scope's here too: the module's, or of the function around."""
        scope = self._module if isinstance(node, ast.Global) else place.around or place
        for name in node.names:
            place.bound[name] = scope.bound.setdefault(name, Binding())
            if isinstance(node, ast.Nonlocal):
                self._note(place.bound[name], node)

    def _parts(self, node: ast.AST, place: Scope) -> None:
        """Queue the parts of a node; an expression of a statement in a class runs where the class is made."""
        if place.kind != "class" or isinstance(node, ast.expr):
            self._push(parts(node), place)
            return
        for part in reversed(parts(node)):
            self._push([part], place.at_import(TOP_LEVEL) if isinstance(part, ast.expr) else place)

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
        elif isinstance(node, ast.AnnAssign) and place.kind != "function" and isinstance(node.target, ast.Name):
            self._push(
                # it says what a name will hold, and binds none
                [node.annotation],
                place.at_import(TOP_LEVEL) if place.kind == "class" else place,
            )  # binds nothing
        else:
            self._parts(node, place)

    def _comprehension(self, node: _Comprehension, place: Scope) -> None:
        """What a comprehension goes over first is evaluated around it, where its own names are not bound."""
        kind = "generator" if isinstance(node, ast.GeneratorExp) else "comprehension"
        inner = place.inner(place.owner, place.runs_at_import, kind)
        first, *others = node.generators
        results = [part for part in parts(node) if not isinstance(part, ast.comprehension)]
        self._push([first.target, *first.ifs, *others, *results], inner)
        self._push([first.iter], place)

    def _walrus(self, node: ast.NamedExpr, place: Scope) -> None:
        """A name is bound around the comprehensions that it stands in, and after its value is evaluated."""
        around = place
        while around.kind in ("comprehension", "generator") and around.around is not None:
            around = around.around
        self._push([node.target], around)
        self._push([node.value], place)

    def _lambda(self, node: ast.Lambda, place: Scope) -> None:
        inner = place.inner(place.owner, place.owner == TOP_LEVEL)
        self._arguments(node.args, place, inner)
        self._push([node.body], inner)

    def _function(self, node: _Function, place: Scope) -> None:
        inner = place.inner(place.owner, place.owner == TOP_LEVEL)
        self.methods.update([node.name] if place.is_body and place is not self._module else [])
        if place.kind != "function":
            within = place.owner.removesuffix(BODY)
            inner.owner = f"{within}.{node.name}" if place.kind == "class" else node.name
            inner.runs_at_import = False
            self.owners.add(inner.owner)
            if place.kind == "class":
                is_static = any(isinstance(by, ast.Name) and by.id == "staticmethod" for by in node.decorator_list)
                given = [*node.args.posonlyargs, *node.args.args]
                self.own.update(given[:1] if within in self.plain_classes and not is_static else [])
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
            self._push([part], place.at_import(inner.owner if is_inert([part]) else TOP_LEVEL))

    def _decorators(self, decorators: Iterable[ast.expr], owner: str, place: Scope) -> None:
        for decorator in decorators:
            begin = decorator
            while isinstance(begin, ast.Attribute | ast.Call):
                begin = begin.value if isinstance(begin, ast.Attribute) else begin.func
            if isinstance(begin, ast.Name) and place.kind != "function":
                self._decorated.append((owner, begin.id))
            self._push([decorator], place.at_import(TOP_LEVEL))

    def _class(self, node: ast.ClassDef, place: Scope) -> None:
        inner = place.inner(place.owner, place.runs_at_import)  # it belongs to the class or function that it stands in
        if place.kind == "module":
            inner = Scope(f"{node.name}{BODY}", True, "class", place)
            self.owners.add(node.name)
            self._edges.append((node.name, inner.owner))
            is_plain = not node.keywords and all(self._is_plain(base) for base in node.bases)
            (self.plain_classes.add if is_plain else self.plain_classes.discard)(node.name)
            self.own.update([node] if is_plain else [])
        self._decorators(node.decorator_list, node.name if place.kind == "module" else inner.owner, place)
        is_named = is_inert(node.bases) and not node.keywords
        self._push([*node.bases, *node.keywords], place.at_import(inner.owner if is_named else TOP_LEVEL))
        inner.is_body = True
        self._push(node.body, inner)

    def _is_plain(self, base: ast.expr) -> bool:
        match base:
            case ast.Subscript(value=inner):
                return self._is_plain(inner)
            case ast.Name(id=name):
                return name in _PLAIN_BASES or name in self.plain_classes
        return isinstance(base, ast.Attribute) and base.attr in _PLAIN_BASES


def spelt(node: ast.expr) -> tuple[ast.Name | None, str]:
    """The name that a dotted name begins with, and what follows it, also where getattr spells a part; else None."""
    rest: list[str] = []
    while True:
        match node:
            case ast.Attribute(value=inner, attr=name):
                pass
            case ast.Call(func=ast.Name(id="getattr"), args=[inner, ast.Constant(value=str(name)), *_]):
                pass
            case ast.Name():
                return node, "".join(reversed(rest))
            case _:
                return None, ""
        node = inner
        rest.append(f".{name}")


class Meanings:
    """The dotted names that an expression may stand for; assignments are followed for the modules that are named."""

    def __init__(self, layout: Layout, followed: frozenset[str]) -> None:
        self._layout = layout
        self._stars: list[str] = []
        own = set(layout.own)
        classes = [binding for binding in layout.bindings if isinstance(binding.nodes[0], ast.ClassDef)]
        self._classes = {binding for binding in classes if own.issuperset(binding.nodes)}
        for node, place in layout:
            match node:
                case ast.Import() | ast.ImportFrom():
                    self._import(node, place)
                case ast.Assign(targets=targets, value=ast.Name() | ast.Attribute() as value):
                    names = [target for target in targets if isinstance(target, ast.Name)]
                    for path in self.paths(value) if names else ():
                        for target in names if root(path) in followed else ():
                            layout.binding_of[target].may_be(path)
                case ast.Assign(targets=[ast.Name() as target], value=ast.Call(func=ast.Name() as maker)):
                    own |= {target} if self.binding(maker) in self._classes else set()
        self._own = {binding for binding in layout.bindings if own.issuperset(binding.nodes)}

    def _import(self, node: ast.Import | ast.ImportFrom, place: Scope) -> None:
        for alias, name, path in zip(node.names, bound_names(node), imported(node), strict=True):
            if alias.name == "*":
                star = path.removesuffix(".*")
                if star not in self._stars and len(self._stars) < MAX_MEANINGS:
                    self._stars.append(star)
            else:
                place.bound[name].may_be(path if alias.asname or isinstance(node, ast.ImportFrom) else name)

    def binding(self, node: ast.expr) -> Binding | None:
        """What binds the name that a dotted name begins with."""
        return self._layout.binding_of.get(spelt(node)[0])

    def paths(self, node: ast.expr) -> list[str]:
        """The dotted names that an expression may stand for; none for a value that the module computes."""
        begin, rest = spelt(node)
        if begin is None:
            return []
        if (binding := self._layout.binding_of.get(begin)) is not None:
            return [f"{path}{rest}" for path in sorted(binding.paths)]
        return [f"{path}{rest}" for path in (begin.id, *(f"{star}.{begin.id}" for star in self._stars))]

    def follows(self, node: ast.Assign) -> bool:
        """Whether each name that is assigned stands for what the value stands for."""
        paths = set(self.paths(node.value))
        return bool(paths) and all(
            isinstance(target, ast.Name) and paths <= self._layout.binding_of[target].paths for target in node.targets
        )

    def is_own(self, node: ast.expr, place: Scope) -> bool:
        """Whether it is an object or a class that the module itself defines: neither an array nor a module."""
        while True:
            match node:
                case ast.Name():
                    return self.binding(node) in self._own
                case ast.Call(func=ast.Name(id="super")):
                    return root(place.owner) in self._layout.plain_classes
                case ast.Call(func=ast.Name(id="type"), args=[inner]) | ast.Attribute(value=inner, attr="__class__"):
                    node = inner
                case ast.Call(func=ast.Name() as maker):
                    return self.binding(maker) in self._classes
                case _:
                    return False

    def is_module(self, node: ast.expr) -> bool:
        """Whether it is a module, as far as the imports tell: what is named there is a function and no method."""
        binding = self.binding(node)
        return binding is not None and binding.is_imported and not any("." in path for path in self.paths(node))


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
        self._builtins = BUILTINS | dict.fromkeys(self._names.builtins)
        self._operators = {OPERATORS[symbol]: symbol for symbol in forbidden.operators}
        self._within: set[ast.AST] = set()  # parts of a dotted name that are not the whole
        self._answered: set[ast.AST] = set()  # parts that may stand there, as the expression around them has shown
        self._called: set[ast.AST] = set()

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
                if node in self._layout.binding_of or name not in self._builtins:
                    yield from self._dotted(node)
                elif (way := self._builtins[name]) is None or node not in self._answered:
                    yield name, way
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
        binding = self._layout.binding_of.get(begin)
        if begin is not None and binding is not None and binding.is_crowded:
            yield begin.id, CROWDED
            return
        if binding is None:
            paths = paths[1:]  # an unknown name for itself; the others are what `from module import *` may have given
        for path in paths:
            way = None if node in self._answered and path in (*GETTERS, _LOAD) else way_of(path)
            if way is None and node not in self._answered and self._names.holds(path):
                way = _HANDED_ON
            if way is not None:
                yield path, way
                return

    def _call(self, node: ast.Call, place: Scope) -> Iterator[_Found]:
        function, given = node.func, node.args
        paths = self._meanings.paths(function)
        self._called.add(function)
        is_builtin = function not in self._layout.binding_of
        name = function.id if isinstance(function, ast.Name) and is_builtin else ""
        if name in ("getattr", "hasattr", "vars"):
            self._answered.update(given[:1])
            if name == "getattr":
                self._answered.add(function)
                yield from self._getattr(node, place)
            elif name == "vars" and len(given) == 1 and self._meanings.is_own(given[0], place):
                self._answered.add(function)
        elif _LOAD in paths and len(given) == 1 and not (node.keywords or isinstance(given[0], ast.Starred)):
            self._answered.add(function)  # it names a file and no more, so that it unpickles nothing
        elif getters := GETTERS.intersection(paths):
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
        elif self._is_method(target, name, place):
            yield shown, None

    def _is_method(self, target: ast.expr, name: str, place: Scope) -> bool:
        """Whether it is the method that is forbidden; not where it may be one that the text defines under that name."""
        is_inside = place.owner.endswith(f".{name}")  # a method that hands on to another one of its name
        if name in self._layout.methods and not is_inside and not self._meanings.paths(target):
            return False
        own = name in self._names.own_methods and not self._meanings.is_module(target)
        return own or (name in self._names.array_methods and self._may_be_array(target))

    def _may_be_array(self, target: ast.expr) -> bool:
        """Not what stands for another module, nor the limits of a dtype, nor self."""
        match target:
            case ast.Name(id="self" | "cls"):
                return False
            case ast.Call(func=function) if not _LIMITS.isdisjoint(self._meanings.paths(function)):
                return False
        roots = {root(path) for path in self._meanings.paths(target)}
        return not roots or "numpy" in roots


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
    for name in (function, root(function)):
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
